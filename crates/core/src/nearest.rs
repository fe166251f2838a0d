//! The known name nearest to what somebody typed: the fewest letters put in, taken out, replaced,
//! or swapped with a neighbour (the optimal string alignment distance). Beginnings come first, so that
//! `eps` is `epsilon`.

/// Names that are told to somebody who typed another.
const TOLD: usize = 3;

/// The nearest of the names; the first of several that are as near. Empty where there are none.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    nearest_names(typed, names).first().copied().unwrap_or_default()
}

/// The nearest of the names, nearest first: at most three, those behind the first no farther from it
/// than half of what was typed. None where there are no names.
pub fn nearest_names<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let letters: Vec<char> = typed.chars().take(64).collect();
    let far = |name: &str| {
        let name = name.to_lowercase();
        let begins = !typed.is_empty() && name.starts_with(&typed);
        // Names may come from anywhere, and be as long as they like.
        let name: Vec<char> = name.chars().take(64).collect();
        let distance = distance(&letters, &name);
        // In a long name, a few letters are little.
        let share = 1000 * distance / letters.len().max(name.len()).max(1);
        (!begins, share, distance)
    };
    let mut found: Vec<_> = names.map(|name| (far(name), name)).collect();
    found.sort_by_key(|(far, _)| *far);
    let near = |(place, ((behind, _, distance), _)): &(usize, ((bool, usize, usize), &str))| {
        *place == 0 || !behind || 2 * distance <= letters.len()
    };
    let near = found.into_iter().enumerate().filter(near);
    near.map(|(_, (_, name))| name).take(TOLD).collect()
}

/// ` (did you mean NAME?)` where a name is near enough to be meant, else nothing; for the middle of a sentence.
pub fn did_you_mean<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let name = nearest(typed, names);
    let lower = |text: &str| text.to_lowercase().chars().take(64).collect::<Vec<_>>();
    let (letters, found) = (lower(typed), lower(name));
    let begins = !letters.is_empty() && found.starts_with(&letters);
    // Two thirds of the longer one may differ: `ecee` is `ece_mass`.
    let near = 3 * distance(&letters, &found) <= 2 * letters.len().max(found.len());
    match !found.is_empty() && (begins || near) {
        true => format!(" (did you mean {name}?)"),
        false => String::new(),
    }
}

fn distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut above) = (vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>());
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        (before, above) = (above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        let names = || ["soft", "multipass", "majority", "sls"].into_iter();
        for (typed, meant) in [
            ("sfot", "soft"),
            ("Multi-pass", "multipass"),
            ("majorty", "majority"),
            ("ssl", "sls"),
            ("multi", "multipass"),
            ("SOFT", "soft"),
        ] {
            assert_eq!(nearest(typed, names()), meant);
        }
        assert_eq!(nearest("x", std::iter::empty()), "");
        let metrics = ["soft_nll", "hard_nll", "kl", "soft_brier"];
        let near = |typed| nearest_names(typed, metrics.into_iter());
        assert_eq!(near("soft"), ["soft_nll", "soft_brier"]);
        assert_eq!(near("art_nll"), ["hard_nll", "soft_nll"]);
        assert_eq!(near("x"), ["kl"], "far from all: one, not three");
        let metrics = ["kl", "ece_mass", "soft_nll"];
        assert_eq!(nearest("ecee", metrics.into_iter()), "ece_mass");
        let datasets = ["svhn", "cifar10h", "cifar10n", "blends"];
        let guess = |typed: &str| did_you_mean(typed, datasets.into_iter());
        assert_eq!(guess("cifar10-h"), " (did you mean cifar10h?)");
        assert_eq!((guess("mnist"), guess("")), (String::new(), String::new()));
    }
}
