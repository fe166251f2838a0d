//! `[data]` as a file writes it.

use dissensus_inputs::Layout;
use dissensus_votes::options::Given;
use toml::Value;

use super::{Data, DataSource, GivenSplit, Pair, Votes};

impl Data {
    /// The keys of `[data]` that say the same, one per line; defaults are left out.
    pub fn to_toml(&self) -> String {
        let mut keys = Keys::default();
        match &self.source {
            DataSource::Dataset(name) => keys.add("dataset", name.as_str()),
            DataSource::Files { votes, reading } => {
                keys.add("votes", votes.display().to_string());
                for (option, given) in reading.values() {
                    keys.add(option.name(), written(given));
                }
            }
        }
        keys.given("inputs", self.inputs.as_ref().map(|path| path.display().to_string()));
        let how = &self.inputs_reading;
        keys.given("inputs_key", how.key.clone());
        let layout = |layout| match layout {
            Layout::Nhwc => "nhwc",
            Layout::Nchw => "nchw",
        };
        keys.given("inputs_layout", how.layout.map(layout));
        keys.given("inputs_id", how.id.clone());
        keys.given("inputs_by_position", how.by_position.then_some(true));
        let size = |size: [usize; 2]| size.map(|n| i64::try_from(n).unwrap_or(i64::MAX)).to_vec();
        keys.given("inputs_resize", how.resize.map(size));
        keys.given("encoder", self.encoder.clone());
        keys.given("pair", Some(self.pair.name()).filter(|_| self.pair != Pair::default()));
        keys.given("evaluate_on", self.evaluate_on.clone());
        match &self.split {
            Some(GivenSplit::Column(column)) => keys.add("split_column", column.as_str()),
            Some(GivenSplit::Files(files)) => {
                let file = |(part, path): (&String, &std::path::PathBuf)| {
                    (part.clone(), Value::from(path.display().to_string()))
                };
                let files: toml::Table = files.iter().map(file).collect();
                keys.add("split_files", files);
            }
            None => {}
        }
        if self.votes != [Votes::All] {
            let votes = self.votes.iter().map(|votes| match votes {
                Votes::All => Value::from("all"),
                Votes::Drawn { per_item, .. } => Value::from(i64::from(*per_item)),
            });
            keys.add("votes_per_item", votes.collect::<Vec<_>>());
        }
        let again = |votes: &Votes| matches!(votes, Votes::Drawn { replacement: false, .. });
        keys.given("replacement", self.votes.iter().any(again).then_some(false));
        let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        keys.given("items", self.items.map(whole));
        if let Some(subset) = self.subset {
            keys.add("subset", "entropy-bins");
            keys.add("bins", whole(subset.bins as u64));
            keys.add("per_bin", whole(subset.per_bin as u64));
            keys.add("subset_seed", whole(subset.seed));
        }
        keys.0
    }
}

fn written(given: Given) -> Value {
    match given {
        Given::Text(text) => text.into(),
        Given::List(list) => list.into(),
        Given::Flag(flag) => flag.into(),
    }
}

/// Lines of keys.
#[derive(Default)]
struct Keys(String);

impl Keys {
    fn add(&mut self, key: &str, value: impl Into<Value>) {
        self.0 += &format!("{key} = {}\n", value.into());
    }

    fn given(&mut self, key: &str, value: Option<impl Into<Value>>) {
        value.into_iter().for_each(|value| self.add(key, value));
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;

    #[test]
    fn what_is_written_reads_back() {
        let files = "votes = \"a b.csv\"\nformat = \"long\"\nlabel = \"x\"\nannotators = [\"r_*\"]\n\
                     classes = [\"a\", \"b\"]\nscale = \"ordinal\"\nmissing = [\"\", \"NA\"]\n\
                     values = \"counts\"\nmultilabel = \"only=a\"\nseparator = \"|\"\n\
                     delimiter = \"tab\"\nheader = false\ninputs = \"i.npz\"\ninputs_key = \"k\"\n\
                     inputs_layout = \"nchw\"\ninputs_id = \"id\"\ninputs_by_position = true\n\
                     inputs_resize = [32, 48]\nencoder = \"minilm\"\npair = \"both\"\n\
                     votes_per_item = [5, \"all\"]\nreplacement = false\nitems = 20\n\
                     subset = \"entropy-bins\"\nbins = 3\nper_bin = 4\nsubset_seed = 7\n";
        let split = "votes = \"v.csv\"\ninputs = \"i.npz\"\n\
                     split_files = { test = \"b.txt\", train = \"a.txt\" }\n";
        let known = "dataset = \"cifar10n\"\nevaluate_on = \"cifar10h\"\n";
        for keys in [files, split, known] {
            let text = format!("[data]\n{keys}[delivery]\nmethods = \"soft\"\n");
            let data = Spec::parse(&text, "test", &[]).unwrap().data;
            assert_eq!(data.to_toml(), keys);
        }
    }
}
