//! The known name nearest to what somebody typed: the fewest letters put in, taken out, replaced,
//! or swapped with a neighbour (the optimal string alignment distance). Beginnings come first, so that
//! `eps` is `epsilon`.

/// The nearest of the names; the first of several that are as near. Empty where there are none.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    let typed = typed.to_lowercase();
    let letters: Vec<char> = typed.chars().take(64).collect();
    let far = |name: &&str| {
        let name = name.to_lowercase();
        let begins = !typed.is_empty() && name.starts_with(&typed);
        // Names may come from anywhere, and be as long as they like.
        (!begins, distance(&letters, &name.chars().take(64).collect::<Vec<_>>()))
    };
    names.min_by_key(far).unwrap_or_default()
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
    }
}
