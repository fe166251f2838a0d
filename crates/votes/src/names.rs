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
const THINGS: &[&str] = &[
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
    "beitrag",
    "satz",
    "bild",
    "dokument",
    "aufgabe",
];

/// Names of items without `id`, the surest first.
const ITEMS: &[&str] = &[
    "item",
    "task",
    "instance",
    "example",
    "uid",
    "sample",
    "question",
    "image",
    "document",
    "doc",
    "unit",
    "subject",
    "subjects",
    "hit",
    "stimulus",
    "qid",
    "idx",
    "index",
    "key",
    "id",
    "guid",
    "uuid",
    "reiz",
    "objekt",
    "aufgabe",
    "bild",
    "beitrag",
    "satz",
    "dokument",
    "élément",
    "tâche",
    "elemento",
    "tarea",
    "tarefa",
    "compito",
    "задание",
    "задача",
    "объект",
    "任务",
    "编号",
    "样本",
];

/// Words for a person who votes.
const PEOPLE: &[&str] = &[
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
    "kodierer",
    "kodiererin",
    "bewerter",
    "nutzer",
    "benutzer",
    "gutachter",
    "évaluateur",
    "juge",
    "evaluador",
    "avaliador",
    "valutatore",
    "beoordelaar",
    "исполнитель",
    "аннотатор",
    "разметчик",
    "标注者",
    "标注员",
    "annotatör",
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

const LABELS: &[&str] = &[
    "label",
    "annotation",
    "answer",
    "vote",
    "class",
    "classname",
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
    "labelname",
    "labelid",
    "kategorie",
    "klasse",
    "etikett",
    "antwort",
    "étiquette",
    "catégorie",
    "réponse",
    "etiqueta",
    "categoría",
    "categoria",
    "respuesta",
    "resposta",
    "clase",
    "classe",
    "rótulo",
    "etichetta",
    "risposta",
    "antwoord",
    "ответ",
    "метка",
    "класс",
    "оценка",
    "标签",
    "答案",
    "类别",
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
    const STATES: [&str; 33] = [
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
        "flag",
        "is_gold",
        "is_golden",
        "golden",
        "is_test",
        "is_test_question",
        "gold_question",
        "is_attention_check",
        "is_attn_check",
    ];
    STATES.contains(&name.trim().to_lowercase().replace([' ', '-'], "_").as_str())
}

/// Whether a row with this value in a column that says so (see [`state`]) is a vote that counts; `None` where the value
/// does not tell.
pub(crate) fn counts_as_vote(name: &str, value: &str) -> Option<bool> {
    const BAD: [&str; 22] = [
        "rejected",
        "reject",
        "discarded",
        "deleted",
        "skipped",
        "skip",
        "cancelled",
        "canceled",
        "draft",
        "failed",
        "fail",
        "spam",
        "invalid",
        "excluded",
        "expired",
        "returned",
        "abandoned",
        "ignored",
        "timedout",
        "incomplete",
        "removed",
        "flagged",
    ];
    const GOOD: [&str; 16] = [
        "accepted",
        "accept",
        "approved",
        "submitted",
        "complete",
        "completed",
        "done",
        "valid",
        "pass",
        "passed",
        "ok",
        "finished",
        "active",
        "kept",
        "included",
        "good",
    ];
    let value = plain(value);
    let known = |list: &[&str]| list.contains(&value.as_str());
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let of_bad = has(&[
        "spam",
        "deleted",
        "excluded",
        "exclude",
        "rejected",
        "reject",
        "skipped",
        "flagged",
        "flag",
        "cancelled",
    ]) || (has(&["is"]) && has(&["attention", "attn"]));
    let yes = known(&["true", "1", "yes", "y", "t", "x"]);
    let no = known(&["false", "0", "no", "n", "f", ""]);
    match (known(&BAD), known(&GOOD)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ if of_bad && yes => Some(false),
        _ if of_bad && no => Some(true),
        // When something was deleted.
        _ if has(&["deleted"]) && words.last().is_some_and(|word| word == "at") => Some(false),
        _ if has(&["valid", "approved", "accepted", "passed"]) && yes => Some(true),
        _ if has(&["valid", "approved", "accepted", "passed"]) && no && !value.is_empty() => {
            Some(false)
        }
        _ => None,
    }
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

/// Whether the last word of a name, or the one before `id`, is one of these.
fn ends_with(name: &str, known: &[&str]) -> bool {
    let mut words = words(name);
    let behind = ["id", "ids", "no", "nr", "num", "number", "index", "idx", "name", "type", "key"];
    while words.len() > 1 && words.last().is_some_and(|word| behind.contains(&word.as_str())) {
        words.pop();
    }
    let last = words.last().map_or("", String::as_str);
    let of_one_word = words.len() == 1
        && known.iter().any(|known| {
            last.strip_prefix(known).is_some_and(|rest| rest == "id" || rest == "no" || rest == "s")
        });
    known.contains(&last) || of_one_word
}

/// Whether a name says that a column holds which question a row answers.
pub(crate) fn question(name: &str) -> bool {
    const QUESTIONS: [&str; 20] = [
        "question",
        "aspect",
        "criterion",
        "criteria",
        "dimension",
        "variable",
        "attribute",
        "metric",
        "measure",
        "trait",
        "facet",
        "category",
        "task",
        "subtask",
        "property",
        "quality",
        "frage",
        "kriterium",
        "dimensione",
        "pregunta",
    ];
    ends_with(name, &QUESTIONS)
}

/// Whether a name says that a column holds a part of an item, whose numbers begin anew in every item: a sentence, a
/// turn, the system whose output it is.
pub(crate) fn part(name: &str) -> bool {
    const PARTS: [&str; 42] = [
        "doc",
        "document",
        "sent",
        "sentence",
        "segment",
        "seg",
        "paragraph",
        "para",
        "turn",
        "utterance",
        "line",
        "frame",
        "chunk",
        "passage",
        "clause",
        "token",
        "word",
        "candidate",
        "response",
        "output",
        "summary",
        "system",
        "model",
        "modelname",
        "method",
        "generator",
        "version",
        "variant",
        "side",
        "position",
        "page",
        "scene",
        "region",
        "box",
        "object",
        "span",
        "statement",
        "claim",
        "reply",
        "message",
        "step",
        "satz",
    ];
    ends_with(name, &PARTS)
}

/// Whether a name says that a column holds a group of items, in which ids may begin anew.
pub(crate) fn group(name: &str) -> bool {
    const GROUPS: [&str; 34] = [
        "split",
        "fold",
        "dataset",
        "corpus",
        "source",
        "lang",
        "language",
        "locale",
        "topic",
        "domain",
        "subset",
        "file",
        "filename",
        "system",
        "model",
        "task",
        "condition",
        "phase",
        "batch",
        "set",
        "part",
        "section",
        "genre",
        "experiment",
        "arm",
        "version",
        "partition",
        "collection",
        "project",
        "sprache",
        "thema",
        "year",
        "platform",
        "site",
    ];
    let of_person = words(name)
        .iter()
        .any(|word| PEOPLE.contains(&word.as_str()) || word.starts_with("annotat"));
    !of_person && ends_with(name, &GROUPS)
}

/// Whether a name says when or how often somebody voted.
pub(crate) fn round(name: &str) -> bool {
    const ROUNDS: [&str; 14] = [
        "round",
        "phase",
        "wave",
        "session",
        "trial",
        "attempt",
        "iteration",
        "pass",
        "timepoint",
        "batch",
        "condition",
        "arm",
        "runde",
        "repetition",
    ];
    ends_with(name, &ROUNDS)
}

/// Whether a name says that a label is one of two for the same vote: before or after a review.
pub(crate) fn other_label(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "final",
        "reviewed",
        "review",
        "adjudicated",
        "corrected",
        "revised",
        "old",
        "new",
        "previous",
        "prev",
        "original",
        "orig",
        "initial",
        "first",
        "second",
        "updated",
        "resolved",
        "fixed",
    ];
    let words = words(name);
    words.len() > 1
        && words.iter().any(|word| WORDS.contains(&word.as_str()))
        && words.iter().any(|word| LABELS.contains(&word.as_str()))
}

/// Whether an annotator's name says that it is none: a reference, or what was made of the votes.
pub(crate) fn reference_annotator(name: &str) -> bool {
    const KNOWN: [&str; 17] = [
        "gold",
        "golden",
        "goldstandard",
        "groundtruth",
        "truth",
        "majority",
        "majorityvote",
        "mean",
        "average",
        "median",
        "consensus",
        "adjudicated",
        "adjudicator",
        "adjudication",
        "final",
        "aggregated",
        "aggregate",
    ];
    KNOWN.contains(&plain(name).as_str())
}

/// Whether an annotator's name says that it is a model.
pub(crate) fn model_annotator(name: &str) -> bool {
    const MODELS: [&str; 23] = [
        "gpt",
        "chatgpt",
        "openai",
        "llama",
        "claude",
        "gemini",
        "mistral",
        "mixtral",
        "qwen",
        "deepseek",
        "gemma",
        "davinci",
        "palm",
        "vicuna",
        "alpaca",
        "bert",
        "roberta",
        "deberta",
        "llm",
        "model",
        "classifier",
        "baseline",
        "flan",
    ];
    let words = words(name);
    words.first().is_some_and(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        MODELS.contains(&word)
    })
}

/// Common first names.
const PEOPLE_CALLED: &str = "ahmed alejandro alex alexander ali alice amy ana andrea andreas anja ann anna anne antonio barbara \
     ben benjamin bernd bert birgit bob brian carla carlos carmen carol caroline charlie chen chloe chris \
     christian christina claire clara cleo dan daniel david diana diego dirk elena eliza elizabeth emily \
     emma eric erik eva fatima felix francesca frank fritz gabriel georg george giulia grace hanna hannah \
     hans heike helen helena henry hugo ida ines ingrid isabel jack jakob james jan jana jane jean jens \
     jim joan joe johanna john jonas jose juan julia julian kai karen karin karl kate katharina katja \
     kevin kim klaus lars laura lea lena leo lin linda lisa lucas lucia luigi luis lukas magda manuel \
     marco maria marie mark marta martin mary matt matthias max mei mia michael miguel mike mohamed \
     monika natalia nathan nick nicole nina noah olga oliver oscar otto pablo paola patricia paul paula \
     pedro peter petra pia pierre rachel ralf robert rosa ruth sam samuel sandra sara sarah sebastian \
     silvia simon sofia sophie stefan steve susan susanne sven tanja thomas tim tina tobias tom ulrike \
     ursula uwe valentina vera victor wang wei wolfgang xavier yan yuki yusuf zhang zoe";

/// Whether a name is a common first name.
pub(crate) fn first_name(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    PEOPLE_CALLED.split_whitespace().any(|known| known == name)
}

/// Whether names are those of results of games or comparisons: wins, draws, losses.
pub(crate) fn results<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
    const RESULTS: [&str; 20] = [
        "w", "d", "l", "t", "win", "wins", "won", "draw", "draws", "drawn", "tie", "ties", "tied",
        "loss", "losses", "lost", "lose", "loses", "gp", "played",
    ];
    names.clone().count() > 1 && names.all(|name| RESULTS.contains(&plain(name).as_str()))
}

/// Whether a name is the one of a sum: of a column of totals, or of a row of them.
pub(crate) fn total(name: &str) -> bool {
    let known = [
        "total",
        "totals",
        "all",
        "sum",
        "grandtotal",
        "overall",
        "gesamt",
        "summe",
        "margin",
        "insgesamt",
    ];
    known.contains(&plain(name).as_str())
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
