//! Which column of predictions belongs to which class of the votes: by name where there are names
//! on both sides, by position where one side has none, and otherwise not at all.

use std::collections::BTreeMap;

use dissensus_core::ClassSet;

use crate::note::ClassesMatched;
use crate::options::{ClassMap, ClassOrder};

/// Why columns are not matched with classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// The columns have no names of classes, only numbers or nothing.
    Unnamed,
    /// Their names are others.
    Names,
}

/// The column of each class, in the order of the votes.
pub(crate) fn match_classes(
    votes: &[String],
    names: Option<&[String]>,
    by_position: bool,
) -> Result<(Vec<usize>, ClassesMatched), Unmatched> {
    let in_order = || (0..votes.len()).collect::<Vec<_>>();
    if by_position {
        return Ok((in_order(), ClassesMatched::ByPosition));
    }
    let Some(names) = names else {
        // Classes of votes that are numbered from 0, as columns are.
        let numbered = votes.iter().enumerate().all(|(at, class)| *class == at.to_string());
        return if numbered {
            Ok((in_order(), ClassesMatched::Unnamed))
        } else {
            Err(Unmatched::Unnamed)
        };
    };
    if let Some(order) = permutation(votes, names) {
        return Ok((order, ClassesMatched::ByName));
    }
    let bare = without_common(names);
    let wanted = spelled(votes);
    let numbers = numbers_in(names).unwrap_or_default();
    for spelled in [spelled(names), spelled(&bare), numbers] {
        if let Some(order) = permutation(&wanted, &spelled) {
            return Ok((order, ClassesMatched::BySpelling));
        }
    }
    Err(if numbered(names).is_some() { Unmatched::Unnamed } else { Unmatched::Names })
}

/// The columns in the order of their numbers, where they are numbered from 0 or 1 and not named: `c0`,
/// `p_1`, `LABEL_2`.
pub(crate) fn numbered(names: &[String]) -> Option<Vec<usize>> {
    let bare = numbers_in(names).unwrap_or_else(|| without_common(names));
    let numbers =
        |from: usize| (from..from + names.len()).map(|n| n.to_string()).collect::<Vec<_>>();
    permutation(&numbers(0), &bare).or_else(|| permutation(&numbers(1), &bare))
}

/// For each class of the votes its column, where the user says the order of the classes; `None` where
/// that names other classes.
pub(crate) fn said_order(
    votes: &[String],
    names: Option<&[String]>,
    said: &ClassOrder,
) -> Option<Vec<usize>> {
    let classes = match said {
        ClassOrder::List(classes) => classes.clone(),
        ClassOrder::ByName => ClassSet::sorted(votes.to_vec()).ok()?.names().to_vec(),
    };
    let places = permutation(votes, &classes)
        .or_else(|| permutation(&spelled(votes), &spelled(&classes)))?;
    let columns = names.and_then(numbered);
    Some(places.into_iter().map(|at| columns.as_ref().map_or(at, |columns| columns[at])).collect())
}

/// The numbers of names that differ in nothing else but a plural: `1 star`, `2 stars`.
pub(crate) fn numbers_in(names: &[String]) -> Option<Vec<String>> {
    let parts = |name: &String| {
        let name = name.trim().to_lowercase();
        let begin = name.find(|c: char| c.is_ascii_digit())?;
        let end =
            begin + name[begin..].find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len() - begin);
        let rest = format!("{}#{}", &name[..begin], &name[end..]);
        let rest = rest.strip_suffix('s').map(str::to_owned).unwrap_or(rest);
        let plain = !rest.contains(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        plain.then(|| (name[begin..end].to_owned(), rest))
    };
    let parts: Vec<(String, String)> = names.iter().map(parts).collect::<Option<_>>()?;
    let (_, first) = parts.first()?;
    parts
        .iter()
        .all(|(_, rest)| rest == first)
        .then(|| parts.iter().map(|(n, _)| n.clone()).collect())
}

/// A name without what spellings differ in: case, spaces around it, and the point of a whole number.
pub(crate) fn plain(name: &str) -> String {
    let plain = name.trim().to_lowercase();
    match plain.strip_suffix(".0") {
        Some(whole) if whole.parse::<i64>().is_ok() => whole.to_owned(),
        _ => plain,
    }
}

fn spelled(names: &[String]) -> Vec<String> {
    names.iter().map(|name| plain(name)).collect()
}

/// How columns say their classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// By the names of the votes, perhaps with one beginning and end for all.
    Names,
    /// By names that begin with those of the votes, or the other way round.
    Initials,
    /// By numbers only.
    Numbers,
}

/// Columns of a table that are the classes of the votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// What all of their names begin with, in lower case.
    pub(crate) prefix: String,
    /// Their places, ascending.
    pub(crate) columns: Vec<usize>,
    pub(crate) written: Written,
}

/// Words that columns of predictions begin or end with, beside the class.
const AFFIXES: [&str; 24] = [
    "prob",
    "probs",
    "proba",
    "probas",
    "probability",
    "probabilities",
    "p",
    "pr",
    "logit",
    "logits",
    "score",
    "scores",
    "pred",
    "preds",
    "predicted",
    "prediction",
    "softmax",
    "output",
    "class",
    "label",
    "y",
    "conf",
    "confidence",
    "share",
];

/// The affixes of a column's name beside a class's, where the name says the class.
type Test = fn(&str, &str) -> Option<(String, String)>;

/// The groups of columns that have one column for every class of the votes, written in the surest way
/// in which there are any.
pub(crate) fn groups(classes: &[String], columns: &[(usize, &str)]) -> Vec<Group> {
    use Written::{Initials, Names, Numbers};
    let wanted = spelled(classes);
    let numbers = |from: usize| (from..from + classes.len()).map(|n| n.to_string()).collect();
    let (from_zero, from_one): (Vec<String>, Vec<String>) = (numbers(0), numbers(1));
    let tries: [(Written, Test, &[String]); 4] = [
        (Names, affixes, &wanted),
        (Initials, initial, &wanted),
        (Numbers, affixes, &from_zero),
        (Numbers, affixes, &from_one),
    ];
    for (written, test, wanted) in tries {
        // By affixes, the columns of each class.
        let mut found: BTreeMap<(String, String), Vec<Vec<usize>>> = BTreeMap::new();
        for (column, name) in columns {
            let name = plain(name);
            for (class, wanted) in wanted.iter().enumerate() {
                if let Some(key) = test(&name, wanted) {
                    let of_key =
                        found.entry(key).or_insert_with(|| vec![Vec::new(); classes.len()]);
                    of_key[class].push(*column);
                }
            }
        }
        let whole = |(key, of_class): ((String, String), Vec<Vec<usize>>)| {
            let mut columns: Vec<usize> = of_class.iter().flatten().copied().collect();
            columns.sort_unstable();
            columns.dedup();
            let one_each = of_class.iter().all(|columns| columns.len() == 1);
            (one_each && columns.len() == classes.len()).then_some(Group {
                prefix: key.0,
                columns,
                written,
            })
        };
        let groups: Vec<Group> = found.into_iter().filter_map(whole).collect();
        if !groups.is_empty() {
            return groups;
        }
    }
    Vec::new()
}

/// The only class that a name says, as a whole or as one of its words; the longest of those within
/// each other.
pub(crate) fn class_in<'a>(classes: &'a [String], name: &str) -> Option<&'a String> {
    let name = plain(name);
    let mut found: Vec<&String> =
        classes.iter().filter(|class| affixes(&name, &plain(class)).is_some()).collect();
    found.sort_by_key(|class| std::cmp::Reverse(class.len()));
    match found[..] {
        [] => None,
        [longest, ref others @ ..] => {
            others.iter().all(|other| plain(longest).contains(&plain(other))).then_some(longest)
        }
    }
}

/// What stands before and behind a class in a column's name, as a word of its own.
fn affixes(name: &str, class: &str) -> Option<(String, String)> {
    let boundary = |left: Option<char>, right: Option<char>| match (left, right) {
        (Some(left), Some(right)) => {
            let letters = left.is_alphabetic() && right.is_alphabetic();
            let digits = left.is_ascii_digit() && right.is_ascii_digit();
            !(letters || digits)
        }
        _ => true,
    };
    let fits = |at: &usize| {
        let (before, rest) = name.split_at(*at);
        let behind = &rest[class.len()..];
        boundary(before.chars().last(), class.chars().next())
            && boundary(class.chars().last(), behind.chars().next())
    };
    // The last place: `label_1_of_1` is class 1 of `label_1_of_`.
    let at = name.rmatch_indices(class).map(|(at, _)| at).find(fits)?;
    Some((name[..at].to_owned(), name[at + class.len()..].to_owned()))
}

/// The affixes of a column whose name begins with a class's, or the other way round: `logit_entailment`
/// for `e`. Numbers are no such names.
fn initial(name: &str, class: &str) -> Option<(String, String)> {
    let letters = |text: &str| text.chars().next().is_some_and(char::is_alphabetic);
    let is_affix =
        |word: &str| AFFIXES.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    let separator = |c: char| matches!(c, '_' | '-' | ' ' | '.' | '(' | ':');
    let begin =
        name.find(separator).map(|at| at + 1).filter(|&at| is_affix(&name[..at])).unwrap_or(0);
    let rest = &name[begin..];
    let end = rest.rfind(['_', '-', ' ', '.', ')']).filter(|&at| {
        rest[at..].trim_matches(|c: char| !c.is_alphanumeric()).is_empty() || is_affix(&rest[at..])
    });
    let (core, behind) = rest.split_at(end.unwrap_or(rest.len()));
    let alike = core.starts_with(class) || class.starts_with(core);
    (alike && letters(core) && letters(class))
        .then(|| (name[..begin].to_owned(), behind.to_owned()))
}

/// For each of `wanted` its place in `names`, where both are the same names.
fn permutation(wanted: &[String], names: &[String]) -> Option<Vec<usize>> {
    let place = |class: &String| {
        let mut places = names.iter().enumerate().filter(|(_, name)| *name == class);
        let (first, second) = (places.next(), places.next());
        first.filter(|_| second.is_none()).map(|(place, _)| place)
    };
    let order: Vec<usize> = wanted.iter().map(place).collect::<Option<_>>()?;
    let mut seen = vec![false; names.len()];
    let all_new = order.iter().all(|&place| !std::mem::replace(&mut seen[place], true));
    (names.len() == wanted.len() && all_new).then_some(order)
}

/// Names without what all of them begin with, and without what all of them end with.
fn without_common(names: &[String]) -> Vec<String> {
    let [first, others @ ..] = names else { return Vec::new() };
    let shared = |a: &str, b: &str| {
        let same = a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b);
        same.last().map_or(0, |((at, c), _)| at + c.len_utf8())
    };
    let begin = others.iter().fold(first.len(), |n, name| n.min(shared(first, name)));
    let cut: Vec<&str> = names.iter().map(|name| name.get(begin..).unwrap_or("")).collect();
    let backwards: Vec<String> = cut.iter().map(|name| name.chars().rev().collect()).collect();
    let end =
        backwards.iter().fold(backwards[0].len(), |n, name| n.min(shared(&backwards[0], name)));
    cut.iter().map(|name| name.get(..name.len() - end).unwrap_or(name).to_owned()).collect()
}

/// A class map that may be meant, where each name of the file begins with one of the votes' names or
/// the other way round: `entailment=e,neutral=n`.
pub(crate) fn suggest_map(votes: &[String], names: &[String]) -> Option<ClassMap> {
    let columns: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
    let group =
        groups(votes, &columns).into_iter().find(|group| group.columns.len() == names.len())?;
    if group.written != Written::Initials {
        return None;
    }
    let class =
        |name: &String| votes.iter().find(|class| initial(&plain(name), &plain(class)).is_some());
    let pair = |name: &String| Some((name.clone(), class(name)?.clone()));
    ClassMap::new(names.iter().map(pair).collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn names_decide_and_other_names_are_refused() {
        use ClassesMatched::{ByName, BySpelling};
        use Unmatched::{Names, Unnamed as NoNames};
        let cases = [
            ("cat,dog,fox", "cat,dog,fox", Ok((vec![0, 1, 2], ByName))),
            ("cat,dog,fox", "fox,cat,dog", Ok((vec![1, 2, 0], ByName))),
            ("cat,dog,fox", "Fox,Cat,Dog", Ok((vec![1, 2, 0], BySpelling))),
            ("cat,dog,fox", "prob_dog,prob_cat,prob_fox", Ok((vec![1, 0, 2], BySpelling))),
            ("cat,dog,fox", "P(cat),P(dog),P(fox)", Ok((vec![0, 1, 2], BySpelling))),
            ("cat,dog,fox", "LABEL_0,LABEL_1,LABEL_2", Err(NoNames)),
            ("cat,dog,fox", "p2,p1,p3", Err(NoNames)),
            ("1,2,3", "p1,p2,p3", Ok((vec![0, 1, 2], BySpelling))),
            ("0,1,2", "cat,dog,fox", Err(Names)),
            ("3,1,2", "2,3,1", Ok((vec![1, 2, 0], ByName))),
            ("1,2", "p_2.0,p_1.0", Ok((vec![1, 0], BySpelling))),
            ("1,2,3", "cat,dog,fox", Err(Names)),
            ("1,2,3", "3 stars,2 stars,1 star", Ok((vec![2, 1, 0], BySpelling))),
            ("1,2,3", "0 stars,1 star,2 stars", Err(NoNames)),
            ("1,2,3", "0,1,2", Err(NoNames)),
            ("0,1,2", "p1,p2,p3", Err(NoNames)),
            ("e,n,c", "contradiction,neutral,entailment", Err(Names)),
            ("cat,dog,fox", "cat,dog,emu", Err(Names)),
            ("cat,dog,fox", "cat,cat,dog", Err(Names)),
        ];
        for (votes, file, wanted) in cases {
            let found = match_classes(&names(votes), Some(&names(file)), false);
            assert_eq!(found, wanted, "{votes} and {file}");
        }
        let said = match_classes(&names("e,n"), Some(&names("x,y")), true);
        assert_eq!(said, Ok((vec![0, 1], ClassesMatched::ByPosition)));
    }

    #[test]
    fn a_map_is_suggested_where_first_letters_agree() {
        let suggest =
            |votes: &str, file: &str| suggest_map(&names(votes), &names(file)).map(String::from);
        let wanted = "contradiction=c,neutral=n,entailment=e";
        assert_eq!(suggest("e,n,c", "contradiction,neutral,entailment").unwrap(), wanted);
        let wanted = "logit_entailment=e,logit_neutral=n";
        assert_eq!(suggest("e,n", "logit_entailment,logit_neutral").unwrap(), wanted);
        assert_eq!(suggest("cat,cow", "c,d"), None);
        assert_eq!(suggest("1,2", "10,20"), None);
    }

    #[test]
    fn an_order_that_is_said_follows_the_numbers_of_columns() {
        let said = |votes: &str, file: Option<&str>, order: &str| {
            let file = file.map(names);
            said_order(&names(votes), file.as_deref(), &order.parse().unwrap())
        };
        assert_eq!(said("e,n,c", None, "c,n,e").unwrap(), [2, 1, 0]);
        assert_eq!(said("e,n,c", None, "by name").unwrap(), [1, 2, 0]);
        assert_eq!(said("10,9", None, "by name").unwrap(), [1, 0]);
        assert_eq!(said("e,n,c", Some("LABEL_2,LABEL_0,LABEL_1"), "c,n,e").unwrap(), [0, 2, 1]);
        assert_eq!(said("e,n,c", None, "c,n"), None);
    }

    #[test]
    fn columns_of_classes_are_found_beside_others() {
        let found = |classes: &str, columns: &str| {
            let columns = names(columns);
            let columns: Vec<(usize, &str)> =
                columns.iter().map(String::as_str).enumerate().collect();
            let groups = groups(&names(classes), &columns);
            groups.into_iter().map(|g| (g.prefix, g.columns, g.written)).collect::<Vec<_>>()
        };
        use Written::{Initials, Names, Numbers};
        let one = |prefix: &str, columns: &[usize], written| {
            vec![(prefix.to_owned(), columns.to_vec(), written)]
        };
        assert_eq!(found("cat,dog", "id,dog,cat,n"), one("", &[1, 2], Names));
        assert_eq!(found("hate,not_hate", "prob_not_hate,prob_hate"), one("prob_", &[0, 1], Names));
        assert_eq!(found("0,1", "x_1,P(0),P(1)"), one("p(", &[1, 2], Names));
        assert_eq!(found("e,n,c", "k1,neutral,contra,entailment"), one("", &[1, 2, 3], Initials));
        assert_eq!(found("1,2,3", "prob_0,prob_1,prob_2,k"), one("prob_", &[0, 1, 2], Numbers));
        assert_eq!(found("e,n", "LABEL_1,LABEL_0"), one("label_", &[0, 1], Numbers));
        let two = found("a,b", "bert_a,bert_b,t5_b,t5_a");
        assert_eq!(two.iter().map(|group| group.0.as_str()).collect::<Vec<_>>(), ["bert_", "t5_"]);
        assert_eq!(found("a,b", "a,c"), []);
    }
}
