//! From filled shards to one table: items in the order of the rows that first name them.

use super::BuildError;
use super::shard::Shard;
use crate::votes::{NOBODY, sets_of_several};
use crate::{Counts, Ids, Votes};

/// For each shard, the place of each of its items in the table: items in the order of the rows
/// that first name them. Within a shard they stand in that order already.
pub(super) fn item_places(shards: &[Shard]) -> Vec<Vec<u32>> {
    let mut places: Vec<Vec<u32>> =
        shards.iter().map(|s| Vec::with_capacity(s.first_rows.len())).collect();
    let total: usize = shards.iter().map(|s| s.first_rows.len()).sum();
    for place in 0..total as u32 {
        let next = |s: usize| shards[s].first_rows.get(places[s].len());
        let first = (0..shards.len()).filter_map(|s| Some((next(s)?, s))).min();
        if let Some((_, shard)) = first {
            places[shard].push(place);
        }
    }
    places
}

/// The class of a label's number.
fn class(class_of: &[u16], label: u16) -> Result<u16, BuildError> {
    let unknown = BuildError::NoSuchNumber { what: "label", number: label.into() };
    class_of.get(usize::from(label)).copied().ok_or(unknown)
}

/// The (shard, item in it) of every place of the table.
fn homes(places: &[Vec<u32>], items: usize) -> Vec<(u16, u32)> {
    let mut homes = vec![(0, 0); items];
    for (shard, places) in places.iter().enumerate() {
        for (item, &place) in places.iter().enumerate() {
            homes[place as usize] = (shard as u16, item as u32);
        }
    }
    homes
}

pub(super) fn ordered_items(shards: &[Shard], places: &[Vec<u32>]) -> Ids {
    let items = places.iter().map(Vec::len).sum();
    let name = |(shard, item): (u16, u32)| shards[shard as usize].items.get(item as usize);
    Ids::from_different(homes(places, items).into_iter().filter_map(name))
}

pub(super) fn merge_counts(
    shards: &[Shard],
    places: &[Vec<u32>],
    items: usize,
    class_of: &[u16],
) -> Result<Counts, BuildError> {
    let mut more: Vec<(u32, u16, u32)> = Vec::new();
    for (shard, places) in shards.iter().zip(places) {
        for (&key, &votes) in &shard.tally.more {
            more.push((places[(key >> 16) as usize], class(class_of, key as u16)?, votes));
        }
    }
    more.sort_unstable();
    let cells = shards.iter().flat_map(|shard| &shard.tally.rows);
    let mut counts = Counts::with_room(items, cells.filter(|n| **n > 0).count() + more.len());
    let mut more = more.into_iter().peekable();
    let mut entries: Vec<(u16, u32)> = Vec::new();
    for (place, (shard, item)) in homes(places, items).into_iter().enumerate() {
        let tally = &shards[shard as usize].tally;
        let start = (item as usize * tally.width).min(tally.rows.len());
        let end = (start + tally.width).min(tally.rows.len());
        entries.clear();
        for (label, &votes) in tally.rows[start..end].iter().enumerate() {
            if votes > 0 {
                entries.push((class(class_of, label as u16)?, u32::from(votes)));
            }
        }
        while let Some((_, class, votes)) = more.next_if(|m| m.0 as usize == place) {
            entries.push((class, votes));
        }
        entries.sort_unstable();
        // Two labels may be one class (`1` and `1.0`), and a count may be in two places.
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 = if same { kept.1.saturating_add(next.1) } else { kept.1 };
            same
        });
        counts.push_sorted(entries.drain(..).filter(|e| e.1 > 0));
    }
    Ok(counts)
}

pub(super) fn merge_votes(
    shards: Vec<Shard>,
    places: &[Vec<u32>],
    items: usize,
    class_of: &[u16],
    people: usize,
) -> Result<Votes, BuildError> {
    let mut starts = vec![0usize; items + 1];
    for (shard, places) in shards.iter().zip(places) {
        shard.vote_items.iter().for_each(|&i| starts[places[i as usize] as usize + 1] += 1);
    }
    for i in 0..items {
        starts[i + 1] += starts[i];
    }
    let total = starts[items];
    let column = |wanted: bool| if wanted { total } else { 0 };
    let named = shards.iter().any(|s| !s.vote_annotators.is_empty());
    let weighted = shards.iter().any(|s| !s.vote_weights.is_empty());
    let rows = shards.iter().any(|s| !s.vote_rows.is_empty());
    let several = shards.iter().any(|s| !s.vote_ends.is_empty());
    let mut votes = Votes {
        labels: vec![0; column(!several)],
        annotators: vec![NOBODY; column(named)],
        weights: vec![1.0; column(weighted)],
        rows: vec![0; column(rows)],
        ..Votes::default()
    };
    // Where votes are for several labels: the (shard, vote in it) of every vote of the table, and the
    // labels of the shards.
    let mut sources = vec![(0, 0); column(several)];
    let mut labels = Vec::new();
    let mut next = starts.clone();
    for (home, (shard, places)) in shards.into_iter().zip(places).enumerate() {
        for (i, &item) in shard.vote_items.iter().enumerate() {
            let cursor = &mut next[places[item as usize] as usize];
            let at = *cursor;
            *cursor += 1;
            match several {
                true => sources[at] = (home, i),
                false => votes.labels[at] = class(class_of, shard.vote_labels[i])?,
            }
            if let Some(&annotator) = shard.vote_annotators.get(i) {
                if annotator as usize >= people && annotator != NOBODY {
                    return Err(BuildError::NoSuchNumber { what: "annotator", number: annotator });
                }
                votes.annotators[at] = annotator;
            }
            if let Some(&weight) = shard.vote_weights.get(i) {
                votes.weights[at] = weight;
            }
            if let Some(&row) = shard.vote_rows.get(i) {
                votes.rows[at] = row;
            }
        }
        if several {
            labels.push((shard.vote_labels, shard.vote_ends));
        }
    }
    if several {
        (votes.labels, votes.sets) = merge_sets(&labels, &sources, class_of)?;
    }
    votes.starts = starts;
    Ok(votes)
}

/// The labels of all votes in the order of the table, and where each vote's labels end. Labels of one
/// class are one.
fn merge_sets(
    shards: &[(Vec<u16>, Vec<usize>)],
    sources: &[(usize, usize)],
    class_of: &[u16],
) -> Result<(Vec<u16>, Vec<usize>), BuildError> {
    let (mut labels, mut sets) = (Vec::new(), vec![0]);
    let mut set = Vec::new();
    for &(shard, vote) in sources {
        let (all, ends) = &shards[shard];
        let own = match ends.get(vote) {
            Some(&end) => vote.checked_sub(1).map_or(0, |before| ends[before])..end,
            None => vote..vote + 1,
        };
        for &label in &all[own] {
            set.push(class(class_of, label)?);
        }
        set.sort_unstable();
        set.dedup();
        labels.append(&mut set);
        sets.push(labels.len());
    }
    Ok((labels, sets_of_several(sets)))
}
