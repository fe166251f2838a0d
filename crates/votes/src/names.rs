//! Names that columns go by in files of votes: which role a name is known for, and which names say that a
//! column is made of the others or is about something else.

/// The words of a name, in lower case: `Worker_ID`, `workerId` and `worker id` are `worker`, `id`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in name.chars() {
        let new = !last.is_alphanumeric() || (c.is_uppercase() && last.is_lowercase());
        if c.is_alphanumeric() {
            if new {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        last = c;
    }
    words
}

/// A name without case, spaces and punctuation.
pub(crate) fn plain(name: &str) -> String {
    words(name).concat()
}

/// Nouns whose ids are the ids of items.
const THINGS: [&str; 56] = [
    "item",
    "task",
    "instance",
    "example",
    "sample",
    "question",
    "image",
    "img",
    "doc",
    "document",
    "text",
    "unit",
    "subject",
    "subjects",
    "hit",
    "pair",
    "comment",
    "tweet",
    "post",
    "row",
    "sentence",
    "sent",
    "segment",
    "utterance",
    "dialog",
    "dialogue",
    "conversation",
    "message",
    "msg",
    "review",
    "rev",
    "patient",
    "case",
    "video",
    "clip",
    "audio",
    "record",
    "entry",
    "stimulus",
    "object",
    "paragraph",
    "passage",
    "claim",
    "statement",
    "snippet",
    "headline",
    "article",
    "prompt",
    "query",
    "term",
    "phrase",
    "orig",
    "data",
    "datapoint",
    "problem",
    "scenario",
];

/// Names of items without `id`, the surest first.
const ITEMS: [&str; 24] = [
    "item", "task", "instance", "example", "uid", "sample", "question", "image", "document", "doc",
    "unit", "subject", "subjects", "hit", "stimulus", "qid", "idx", "index", "key", "id", "guid",
    "uuid", "reiz", "objekt",
];

/// Words for a person who votes.
const PEOPLE: [&str; 26] = [
    "annotator",
    "worker",
    "user",
    "rater",
    "labeler",
    "labeller",
    "coder",
    "judge",
    "participant",
    "reviewer",
    "expert",
    "performer",
    "turker",
    "turk",
    "respondent",
    "assessor",
    "evaluator",
    "volunteer",
    "crowdworker",
    "grader",
    "versuchsperson",
    "teilnehmer",
    "proband",
    "annotateur",
    "anotador",
    "annotatore",
];

/// What may stand before such a word and what behind it.
const BEFORE: [&str; 12] = [
    "amt",
    "mturk",
    "anon",
    "anonymized",
    "anonymised",
    "anonymous",
    "hashed",
    "unique",
    "crowd",
    "human",
    "prolific",
    "golden",
];
const BEHIND: [&str; 9] = ["id", "ids", "name", "hash", "code", "no", "nr", "number", "key"];

const LABELS: [&str; 33] = [
    "label",
    "annotation",
    "answer",
    "vote",
    "class",
    "category",
    "rating",
    "response",
    "choice",
    "judgment",
    "judgement",
    "verdict",
    "score",
    "value",
    "val",
    "labels",
    "grade",
    "decision",
    "selection",
    "selectedlabel",
    "selectedanswer",
    "workerlabel",
    "workeranswer",
    "workerresponse",
    "annotatorlabel",
    "raterlabel",
    "userlabel",
    "userresponse",
    "crowdlabel",
    "humanlabel",
    "assignedlabel",
    "bewertung",
    "urteil",
];

/// Names of a column that says how many votes a row stands for.
const COUNTS: [&str; 14] = [
    "count",
    "counts",
    "n",
    "len",
    "size",
    "freq",
    "frequency",
    "votes",
    "nvotes",
    "numvotes",
    "votecount",
    "votescount",
    "times",
    "occurrences",
];

/// How sure a name is for an item: the lower, the surer.
pub(crate) fn item(name: &str) -> Option<usize> {
    let mut words = words(name);
    let plain = words.concat();
    if let Some(place) = ITEMS.iter().position(|known| *known == plain) {
        // `Id` is any id, one of a thing is surer.
        return Some(if plain == "id" { usize::MAX } else { place });
    }
    let last = words.pop()?;
    let thing = match (last.as_str(), words.as_slice()) {
        ("id" | "ids" | "idx" | "index" | "key", [thing]) => thing.clone(),
        (other, []) => other.strip_suffix("id").or_else(|| other.strip_suffix("ids"))?.to_owned(),
        _ => return None,
    };
    let place = THINGS.iter().position(|known| *known == thing)?;
    Some(ITEMS.len() + place)
}

/// Whether a name is known for annotators.
pub(crate) fn annotator(name: &str) -> bool {
    let words = words(name);
    let plain = words.concat();
    if matches!(plain.as_str(), "prolificid" | "prolificpid") {
        return true;
    }
    let mut rest: &[String] = &words;
    while let [first, more @ ..] = rest
        && BEFORE.contains(&first.as_str())
        && !more.is_empty()
    {
        rest = more;
    }
    if let [more @ .., last] = rest
        && BEHIND.contains(&last.as_str())
        && !more.is_empty()
    {
        rest = more;
    }
    let word = rest.concat();
    let is_person = |word: &str| PEOPLE.contains(&word);
    is_person(&word)
        || word.strip_suffix("id").is_some_and(is_person)
        || word.strip_suffix("name").is_some_and(is_person)
}

/// How sure a name is for a label: the lower, the surer.
pub(crate) fn label(name: &str) -> Option<usize> {
    let plain = plain(name);
    LABELS.iter().position(|known| *known == plain)
}

/// Whether a name is known for numbers of votes.
pub(crate) fn count(name: &str) -> bool {
    COUNTS.contains(&plain(name).as_str())
}

/// Whether a name says that a column is made of the votes: their majority, their mean, their number, a
/// reference.
pub(crate) fn derived(name: &str) -> bool {
    const MADE: [&str; 44] = [
        "gold",
        "golden",
        "truth",
        "groundtruth",
        "true",
        "reference",
        "ref",
        "majority",
        "maj",
        "mode",
        "consensus",
        "adjudicated",
        "adjudication",
        "adjudicator",
        "aggregated",
        "aggregate",
        "aggregation",
        "agg",
        "final",
        "mean",
        "avg",
        "average",
        "median",
        "std",
        "stdev",
        "stddev",
        "sd",
        "var",
        "variance",
        "total",
        "sum",
        "agreement",
        "entropy",
        "kappa",
        "alpha",
        "soft",
        "hard",
        "fraction",
        "frac",
        "proportion",
        "percent",
        "ratio",
        "expected",
        "correct",
    ];
    let words = words(name);
    let of_people = words.len() > 1
        && words.iter().any(|w| matches!(w.as_str(), "n" | "num" | "number" | "count"))
        && words
            .iter()
            .any(|w| PEOPLE.contains(&w.trim_end_matches('s')) || w.starts_with("annotat"));
    of_people
        || words.iter().any(|word| MADE.contains(&word.as_str()))
        || matches!(
            plain(name).as_str(),
            "goldlabel" | "majorityvote" | "meangrade" | "truelabel" | "correctlabel"
        )
}

/// Whether a column says whether a vote counts.
pub(crate) fn state(name: &str) -> bool {
    const STATES: [&str; 24] = [
        "status",
        "state",
        "answer_state",
        "assignmentstatus",
        "assignment_status",
        "rejected",
        "reject",
        "approved",
        "accepted",
        "is_spam",
        "spam",
        "is_valid",
        "valid",
        "excluded",
        "exclude",
        "deleted",
        "is_deleted",
        "deleted_at",
        "cancelled",
        "was_cancelled",
        "skipped",
        "passed_check",
        "attention_check",
        "flagged",
    ];
    STATES.contains(&name.trim().to_lowercase().replace([' ', '-'], "_").as_str())
}

/// Whether a name says that a column is about the circumstances or the person, or is a remark: it is no
/// answer to a question about the item.
pub(crate) fn about(name: &str) -> bool {
    const ABOUT: [&str; 87] = [
        "time",
        "timestamp",
        "date",
        "duration",
        "seconds",
        "secs",
        "sec",
        "ms",
        "start",
        "end",
        "started",
        "created",
        "submitted",
        "updated",
        "finished",
        "age",
        "gender",
        "sex",
        "race",
        "ethnicity",
        "country",
        "city",
        "region",
        "state",
        "education",
        "occupation",
        "nationality",
        "language",
        "lang",
        "locale",
        "religion",
        "political",
        "ideology",
        "employment",
        "student",
        "device",
        "browser",
        "ip",
        "channel",
        "trust",
        "tainted",
        "approval",
        "reward",
        "status",
        "phase",
        "batch",
        "round",
        "order",
        "position",
        "rank",
        "index",
        "trial",
        "page",
        "platform",
        "system",
        "model",
        "source",
        "split",
        "fold",
        "dataset",
        "domain",
        "version",
        "confidence",
        "certainty",
        "difficulty",
        "comment",
        "comments",
        "reason",
        "explanation",
        "justification",
        "rationale",
        "url",
        "link",
        "email",
        "name",
        "id",
        "ids",
        "code",
        "latitude",
        "longitude",
        "attention",
        "weight",
        "session",
        "subreddit",
        "author",
        "community",
        "prediction",
    ];
    words(name).iter().any(|word| ABOUT.contains(&word.as_str()))
}

/// A name as a word and a number or letter behind it: `rater_1` is `rater` and `1`, `A3` is `a` and `3`.
pub(crate) fn series(name: &str) -> Option<(String, String)> {
    let trimmed = name.trim();
    let stem = trimmed.trim_end_matches(|c: char| c.is_ascii_digit());
    let (stem, tail) = match stem.len() < trimmed.len() {
        true => (stem, &trimmed[stem.len()..]),
        false => {
            let (stem, tail) = trimmed.rsplit_once(['_', '-', ' ', '.', '#'])?;
            (tail.chars().count() == 1).then_some((stem, tail))?
        }
    };
    let stem = plain(stem);
    (!stem.is_empty()).then(|| (stem, tail.to_owned()))
}

/// Whether the stem of a series is known for annotators: `rater_1`, `Ann 12`, `worker-a`.
pub(crate) fn annotator_stem(stem: &str) -> bool {
    matches!(stem, "ann" | "anno" | "annot") || annotator(stem)
}

/// Whether the stem of a series is known for labels: `label_1`, `rating2`.
pub(crate) fn label_stem(stem: &str) -> bool {
    LABELS.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_in_any_spelling() {
        for name in [
            "Worker ID",
            "workerId",
            "!amt_worker_ids",
            "anon_user",
            "rater",
            "User_Name",
            "turk_id",
        ] {
            assert!(annotator(name), "{name}");
        }
        for name in ["user_ip", "rater_gender", "workers_total", "n_annotators", "expertise"] {
            assert!(!annotator(name), "{name}");
        }
        for name in
            ["task_id", "ImageID", "orig_id", "# subject_ids", "rev_id", "patient_id", "doc"]
        {
            assert!(item(name).is_some(), "{name}");
        }
        for name in ["assignment_id", "classification_id", "label", "session", "aid"] {
            assert!(item(name).is_none(), "{name}");
        }
        assert!(item("task") < item("id") && label("Label") < label("score"));
    }

    #[test]
    fn derived_and_about() {
        for name in
            ["gold", "Majority", "safety_gold", "meanGrade", "n_annotators", "smooth_fraction"]
        {
            assert!(derived(name), "{name}");
        }
        assert!(!derived("label") && !derived("response") && !derived("goal"));
        assert!(about("answer_time_ms") && about("rater_gender") && !about("toxicity"));
        assert_eq!(series("rater_12"), Some(("rater".into(), "12".into())));
        assert_eq!(series("worker-a"), Some(("worker".into(), "a".into())));
        assert_eq!(series("label"), None);
    }
}
