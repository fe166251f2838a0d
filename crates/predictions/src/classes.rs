//! Which column of predictions belongs to which class of the votes: by name where there are names
//! on both sides, by position where one side has none, and otherwise not at all.

use crate::note::ClassesMatched;

/// The column of each class, in the order of the votes; `None` for names that differ.
pub(crate) fn match_classes(
    votes: &[String],
    names: Option<&[String]>,
    by_position: bool,
) -> Option<(Vec<usize>, ClassesMatched)> {
    let in_order = || (0..votes.len()).collect::<Vec<_>>();
    if by_position {
        return Some((in_order(), ClassesMatched::ByPosition));
    }
    let Some(names) = names else {
        return Some((in_order(), ClassesMatched::Unnamed));
    };
    if let Some(order) = permutation(votes, names) {
        return Some((order, ClassesMatched::ByName));
    }
    let bare = without_common(names);
    let lower =
        |names: &[String]| names.iter().map(|n| n.trim().to_lowercase()).collect::<Vec<_>>();
    let wanted = lower(votes);
    for spelled in [lower(names), lower(&bare)] {
        if let Some(order) = permutation(&wanted, &spelled) {
            return Some((order, ClassesMatched::BySpelling));
        }
    }
    let is_number = |name: &String| name.parse::<usize>().is_ok();
    // Columns such as c0, p_1 or LABEL_2 are numbered and not named.
    if !votes.iter().all(is_number) {
        let numbers =
            |from: usize| (from..from + votes.len()).map(|n| n.to_string()).collect::<Vec<_>>();
        let order = permutation(&numbers(0), &bare).or_else(|| permutation(&numbers(1), &bare));
        return order.map(|order| (order, ClassesMatched::Unnamed));
    }
    // Classes of votes without names are numbered from 0.
    let unnamed = votes.iter().enumerate().all(|(i, class)| *class == i.to_string());
    let named = !bare.iter().any(is_number);
    (unnamed && named).then(|| (in_order(), ClassesMatched::Unnamed))
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
pub(crate) fn suggest_map(votes: &[String], names: &[String]) -> Option<String> {
    let mut taken = vec![false; votes.len()];
    let mut pairs = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        let begins = |class: &String| {
            let class = class.to_lowercase();
            lower.starts_with(&class) || class.starts_with(&lower)
        };
        let mut places = (0..votes.len()).filter(|&at| begins(&votes[at]));
        let (Some(place), None) = (places.next(), places.next()) else { return None };
        if std::mem::replace(&mut taken[place], true) {
            return None;
        }
        pairs.push(format!("{name}={}", votes[place]));
    }
    (pairs.len() == votes.len()).then(|| pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn names_decide_and_other_names_are_refused() {
        use ClassesMatched::{ByName, BySpelling, Unnamed};
        let cases = [
            ("cat,dog,fox", "cat,dog,fox", Some((vec![0, 1, 2], ByName))),
            ("cat,dog,fox", "fox,cat,dog", Some((vec![1, 2, 0], ByName))),
            ("cat,dog,fox", "Fox,Cat,Dog", Some((vec![1, 2, 0], BySpelling))),
            ("cat,dog,fox", "prob_dog,prob_cat,prob_fox", Some((vec![1, 0, 2], BySpelling))),
            ("cat,dog,fox", "P(cat),P(dog),P(fox)", Some((vec![0, 1, 2], BySpelling))),
            ("cat,dog,fox", "LABEL_0,LABEL_1,LABEL_2", Some((vec![0, 1, 2], Unnamed))),
            ("cat,dog,fox", "p2,p1,p3", Some((vec![1, 0, 2], Unnamed))),
            ("1,2,3", "p1,p2,p3", Some((vec![0, 1, 2], BySpelling))),
            ("0,1,2", "cat,dog,fox", Some((vec![0, 1, 2], Unnamed))),
            ("1,2,3", "cat,dog,fox", None),
            ("1,2,3", "0,1,2", None),
            ("0,1,2", "p1,p2,p3", None),
            ("e,n,c", "contradiction,neutral,entailment", None),
            ("cat,dog,fox", "cat,dog,emu", None),
            ("cat,dog,fox", "cat,cat,dog", None),
        ];
        for (votes, file, wanted) in cases {
            let found = match_classes(&names(votes), Some(&names(file)), false);
            assert_eq!(found, wanted, "{votes} and {file}");
        }
        let said = match_classes(&names("e,n"), Some(&names("x,y")), true);
        assert_eq!(said, Some((vec![0, 1], ClassesMatched::ByPosition)));
    }

    #[test]
    fn a_map_is_suggested_where_first_letters_agree() {
        let suggest = |votes: &str, file: &str| suggest_map(&names(votes), &names(file));
        let wanted = "contradiction=c,neutral=n,entailment=e";
        assert_eq!(suggest("e,n,c", "contradiction,neutral,entailment").unwrap(), wanted);
        assert_eq!(suggest("cat,cow", "c,d"), None);
    }
}
