//! What to do about an error of the library, in the words of the command line. The library's errors
//! carry data and name no option; this is the one place that turns them into advice.

use std::error::Error;

use dissensus::cluster::ClusterError;
use dissensus::core::MatchError;
use dissensus::data::Error as FetchError;
use dissensus::embed::onnx::{LIBRARY_VARIABLE, RuntimeError};
use dissensus::engine::EngineError;
use dissensus::examine::ExamineError;
use dissensus::inputs::InputError;
use dissensus::io::{FileError, Problem, ReadError, ReadOption};
use dissensus::predictions::{AlignError, PredictionError};
use dissensus::remote::RemoteError;
use dissensus::store::{Remedy, StoreError};
use dissensus::studies::StudyError;
use dissensus::train::{ConfigError, Place};
use dissensus::votes::write::WriteError;
use dissensus::{ScoreError, SourceError};

/// The hint for an error that consists of these, from the outside.
pub(crate) fn hint_of(causes: &[&(dyn Error + 'static)]) -> Option<String> {
    let study = causes.iter().any(|cause| cause.downcast_ref::<StudyError>().is_some());
    causes.iter().find_map(|cause| {
        let of = Cause(*cause);
        of.hint(|error: &ReadError| read_hint(&error.problem))
            .or_else(|| of.hint(prediction_hint))
            .or_else(|| of.hint(|e: &AlignError| Some(flags(&e.remedy(), e.options()))))
            .or_else(|| of.hint(store_hint))
            .or_else(|| of.hint(config_hint))
            .or_else(|| of.hint(|error| fetch_hint(error, study)))
            .or_else(|| of.hint(|error| Some(runtime_hint(error))))
            .or_else(|| of.hint(examine_hint))
            .or_else(|| of.hint(write_hint))
            .or_else(|| of.hint(library_hint))
            .or_else(|| {
                of.hint(|error: &SourceError| match error {
                    SourceError::NothingToEncode => {
                        Some("`dissensus embed --text COLUMN` names the column of texts".to_owned())
                    }
                    _ => None,
                })
            })
            .or_else(|| of.hint(score_hint))
            .or_else(|| of.hint(engine_hint))
            .or_else(|| of.hint(remote_hint))
            .or_else(|| {
                of.hint(|error: &FileError| match error {
                    FileError::Exists { .. } => Some("--force replaces it".to_owned()),
                    FileError::Occupied { .. } => Some(
                        "name a new folder, or write there by --force, which replaces files of the \
                         same names"
                            .to_owned(),
                    ),
                    _ => None,
                })
            })
            .or_else(|| of.hint(input_hint))
            .or_else(|| of.hint(cluster_hint))
            .or_else(|| {
                of.hint(|error: &StudyError| match error {
                    StudyError::Run { id, .. } => {
                        Some(format!("`dissensus runs rm {id}` removes it; it then starts again"))
                    }
                    StudyError::Unusable { runs } => {
                        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
                        Some(format!(
                            "restore the files from a copy; or `dissensus runs rm {}` removes the runs, \
                             which then start again",
                            ids.join(" ")
                        ))
                    }
                    _ => None,
                })
            })
    })
}

/// One of the errors that an error consists of.
struct Cause<'a>(&'a (dyn Error + 'static));

impl Cause<'_> {
    fn hint<E: Error + 'static>(&self, of: impl FnOnce(&E) -> Option<String>) -> Option<String> {
        self.0.downcast_ref().and_then(of)
    }
}

fn library_hint(error: &dissensus::Error) -> Option<String> {
    use dissensus::Error as E;
    Some(match error {
        E::NotFound { .. } => {
            "give the spec or study that it was trained with, as in --spec study.toml".to_owned()
        }
        E::OtherData { .. } => {
            "give the spec or study that it was trained with, and check that its files have not changed"
                .to_owned()
        }
        E::NoStudy { store, name, known } if known.contains(name) => {
            format!("run it first: `dissensus study run {name} --store {}`", store.display())
        }
        E::OneStudy { store, known } if known.is_empty() => format!(
            "`dissensus study run NAME --store {}` makes one, and `dissensus study list` lists those \
             that come with the program",
            store.display()
        ),
        E::OneStudy { .. } => "choose one with --study".to_owned(),
        _ => return None,
    })
}

fn remote_hint(error: &RemoteError) -> Option<String> {
    match error {
        RemoteError::NoCloud { .. } => Some(
            "use the Python package, or build the program with `cargo build --release \
             --features cloud`; file:///FOLDER works without"
                .to_owned(),
        ),
        RemoteError::Request { .. } | RemoteError::Settings { .. } => Some(
            "`dissensus store sync --help` lists the variables that credentials and endpoints come from"
                .to_owned(),
        ),
        _ => None,
    }
}

fn engine_hint(error: &EngineError) -> Option<String> {
    let advice = "train fewer runs at a time (--jobs N), with a smaller training.batch_size, or on a GPU \
                  that no other program uses";
    matches!(error, EngineError::Memory { .. }).then(|| advice.to_owned())
}

fn prediction_hint(PredictionError { problem, .. }: &PredictionError) -> Option<String> {
    problem.remedy().map(|text| flags(text, problem.options()))
}

fn score_hint(error: &ScoreError) -> Option<String> {
    match error {
        ScoreError::UnknownMetric { nearest, .. } => Some(metric_hint(nearest)),
        ScoreError::WithoutVotes { .. } => {
            Some("remove these items from the predictions first".to_owned())
        }
        ScoreError::NotPaired { .. } => {
            Some("give --a and --b as many files; they are paired in order".to_owned())
        }
        _ => None,
    }
}

/// The metrics nearest to an unknown one, and where all are listed.
pub(crate) fn metric_hint(nearest: &[String]) -> String {
    format!("did you mean {}? `dissensus metrics list` lists the metrics", nearest.join(" or "))
}

fn input_hint(error: &InputError) -> Option<String> {
    let id = "name the column or array of the votes' ids with --inputs-id";
    let order = "--inputs-by-position if the rows are in the order of the votes";
    match error {
        InputError::Dataset { name, .. } => Some(format!("dissensus data fetch {name} --force")),
        InputError::Match { source: MatchError::NoIds { .. }, .. } => {
            Some(format!("{order} (`inputs_by_position = true` in a file's [data])"))
        }
        InputError::Match { source: MatchError::RowNumbers { .. }, .. }
        | InputError::UnclearIds { .. } => Some(format!(
            "{id}, or say {order} (`inputs_id` or `inputs_by_position` in a file's [data])"
        )),
        _ => None,
    }
}

fn cluster_hint(error: &ClusterError) -> Option<String> {
    Some(match error {
        ClusterError::Needs { system: "ssh", .. } => "--hosts a,b names them".to_owned(),
        ClusterError::Needs { system: "kubernetes", .. } => {
            "--image names the image, and --claim the claim of a volume".to_owned()
        }
        ClusterError::NoCommand { .. } => {
            "use a machine with the commands of Slurm; --dry-run prints the scripts anywhere"
                .to_owned()
        }
        ClusterError::InQueue { .. } => {
            "`dissensus study status` shows them, and `dissensus study cancel` removes them"
                .to_owned()
        }
        ClusterError::NotSubmitted { .. } => "--store names another store".to_owned(),
        _ => return None,
    })
}

fn config_hint(error: &ConfigError) -> Option<String> {
    let ConfigError::IsStudy { place, .. } = error else { return None };
    let file = match place {
        Place::File { name, .. } => name.as_str(),
        _ => "FILE",
    };
    Some(format!("`dissensus study run {file}` runs it"))
}

/// What can be done about an error of a store.
pub(crate) fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error.remedy()? {
        Remedy::RemoveRun(id) => {
            format!("`dissensus runs rm {id}` removes it; it then starts again")
        }
        Remedy::RestoreRun(id) => {
            format!("put the run's own file back, from a copy, or `dissensus runs rm {id}`")
        }
        Remedy::KeepOne(id) => {
            format!("keep one of them in another store, or `dissensus runs rm {id}`")
        }
        Remedy::ListRuns => "`dissensus runs` lists them".to_owned(),
        Remedy::Words(words) => words.to_owned(),
    })
}

/// A text of a library with its options as flags: `` `values = counts` `` is `--values counts`, and
/// `` `header = true` `` is `--header`.
pub(crate) fn flags(text: &str, options: &[ReadOption]) -> String {
    let is_option = |part: &str| options.iter().any(|o| part.split(" = ").next() == Some(o.name()));
    let word = |(i, part): (usize, &str)| match i % 2 {
        0 => part.to_owned(),
        _ if is_option(part) => match part.split_once(" = ") {
            Some((name, "true")) => format!("--{}", name.replace('_', "-")),
            Some((name, "false")) => format!("--no-{}", name.replace('_', "-")),
            Some((name, value)) => format!("--{} {value}", name.replace('_', "-")),
            None => format!("--{}", part.replace('_', "-")),
        },
        _ => format!("`{part}`"),
    };
    text.split('`').enumerate().map(word).collect()
}

fn read_hint(problem: &Problem) -> Option<String> {
    match problem {
        Problem::UnknownFormat { .. } => Some(
            "force one with --format (`dissensus votes formats` lists them), or name the columns \
             with --item, --annotator and --label, or with --annotators where each annotator has one"
                .to_owned(),
        ),
        Problem::NoSuchFormat { .. } => Some("`dissensus votes formats` lists them".to_owned()),
        _ => problem.remedy().map(|text| flags(text, problem.options())),
    }
}

fn write_hint(error: &WriteError) -> Option<String> {
    match error {
        WriteError::UnknownTarget { .. } => {
            Some("use the extension .csv, .parquet or .npz, or give --to".to_owned())
        }
        WriteError::Texts { .. } => Some(
            "write .csv or .parquet, which hold them, or leave them out with --without-texts"
                .to_owned(),
        ),
        WriteError::NoVotes { .. } => Some("write .npz, which holds probabilities".to_owned()),
        _ => None,
    }
}

fn examine_hint(error: &ExamineError) -> Option<String> {
    Some(match error {
        ExamineError::NotFinished { .. } => "train its spec again until it is finished".to_owned(),
        ExamineError::NoWeights { id, .. } => format!(
            "remove the run (`dissensus runs rm {id}`) and train its spec again, or unpack it with \
             its weights"
        ),
        ExamineError::OtherData { .. } => {
            "give the spec or study that it was trained with, as in --spec study.toml".to_owned()
        }
        _ => return None,
    })
}

/// What to do when data are missing or cannot be downloaded.
fn fetch_hint(error: &FetchError, study: bool) -> Option<String> {
    const BY_HAND: &str = "download the file by hand, put it into a folder with the layout of the \
                           cache, and give that folder with --from DIR";
    Some(match error {
        FetchError::NotInCache { name, .. } if study => format!(
            "run `dissensus data fetch {name}`, or give --fetch to `dissensus study run`, which \
             downloads everything that the study needs"
        ),
        FetchError::NotInCache { name, .. } | FetchError::Damaged { name, .. } => {
            format!("run `dissensus data fetch {name}`")
        }
        FetchError::NoSource { name, file, made_by: Some(script), .. } => format!(
            "make it with `python3 {script} DIR/{file}` (a script of the source repository), then \
             run `dissensus data fetch {name} --from DIR`"
        ),
        FetchError::NoSource { .. } | FetchError::NoMember { .. } => BY_HAND.to_owned(),
        FetchError::Checksum { .. } | FetchError::Size { .. } => {
            format!(
                "try again; if the error persists, the publisher has changed the file: {BY_HAND}"
            )
        }
        FetchError::BrokeOff { .. } => {
            "run the same command again to resume the download".to_owned()
        }
        FetchError::Http { status: 408 | 429 | 500..=599, .. } => {
            "the server is busy or broken; try again later".to_owned()
        }
        FetchError::Http { .. } => format!("the file may have moved; {BY_HAND}"),
        FetchError::Transport { .. }
        | FetchError::AllSources { .. }
        | FetchError::BadArchive { .. } => {
            format!("check the network and try again; or {BY_HAND}")
        }
        FetchError::HubName { .. } => {
            "a model is named hf:OWNER/NAME, or hf:OWNER/NAME@COMMIT with all 40 digits".to_owned()
        }
        FetchError::HubMissing { file: None, .. } => {
            "check the owner, the name and the commit at https://huggingface.co".to_owned()
        }
        FetchError::HubMissing { .. } => {
            "encoders are read from config.json and model.safetensors; use a model that has both"
                .to_owned()
        }
        FetchError::HubAccess { .. } => {
            "check the name; for a private or gated model, agree to its terms on its page and set \
             HF_TOKEN to a token that may read it"
                .to_owned()
        }
        _ => return None,
    })
}

/// How to get an ONNX Runtime that can be used.
fn runtime_hint(error: &RuntimeError) -> String {
    let install = "`pip install --upgrade onnxruntime`";
    match error {
        RuntimeError::NotFound { .. } => format!(
            "{install} brings it, in the active virtual environment or for python3; or set \
             {LIBRARY_VARIABLE} to the library's file; the encoders minilm and \
             hf:facebook/dinov2-small need no ONNX Runtime"
        ),
        _ => format!("{install}, or set {LIBRARY_VARIABLE} to the file of another one"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus::embed::EmbedError;

    #[test]
    fn options_become_flags() {
        let text = "say `values = counts`, or name the `label` of a column `id`";
        let wanted = "say --values counts, or name the --label of a column `id`";
        assert_eq!(flags(text, &[ReadOption::Values, ReadOption::Label]), wanted);
        let text = "`one_hot`, `header = true` or `header = false`";
        let wanted = "--one-hot, --header or --no-header";
        assert_eq!(flags(text, &[ReadOption::OneHot, ReadOption::Header]), wanted);
    }

    #[test]
    fn a_file_that_is_made_comes_with_its_script() {
        let made_by = Some("scripts/make.py");
        let (name, file, homepage) = ("m".into(), "m/m.onnx".into(), "h".into());
        let none = FetchError::NoSource { name, file, homepage, made_by };
        let hint = hint_of(&[&none]).unwrap();
        assert!(hint.contains("`python3 scripts/make.py DIR/m/m.onnx`"), "{hint}");
    }

    #[test]
    fn a_missing_library_comes_with_how_to_get_it() {
        let missing = EmbedError::from(RuntimeError::NotFound { searched: Vec::new() });
        let hint = hint_of(&dissensus::causes(&missing)).unwrap();
        assert!(hint.contains("pip install --upgrade onnxruntime"), "{hint}");
        assert!(hint.contains("ORT_DYLIB_PATH"), "{hint}");
    }
}
