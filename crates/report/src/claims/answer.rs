//! A claim as the answer to a question, which says no more than its test.

use dissensus_stats::LEVEL;

use super::{ClaimKind, ClaimSide, ClaimSpec, Judged, Verdict, judge};
use crate::ReportError;
use crate::book::Book;

/// An answer in one sentence: `Holds: soft labels are below the majority label (…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The verdict, which comes first, so that a claim is not read as a fact.
    pub heading: &'static str,
    /// The claim with its numbers and test, or with what is missing.
    pub sentence: String,
    /// What the heading comes to.
    pub verdict: Verdict,
}

/// What the results say of a claim. A claim about a difference that has no `level` is decided at 0.05;
/// at a scale of the study it is not decided at all.
pub fn answer(spec: &ClaimSpec, book: &Book) -> Result<Answer, ReportError> {
    let sided = matches!(spec.kind, ClaimKind::Below | ClaimKind::Above | ClaimKind::Better);
    let tested = sided && spec.than.is_some() && spec.side != ClaimSide::None;
    let level = if tested { spec.level.or(Some(LEVEL)) } else { spec.level };
    let mut judged = judge(&ClaimSpec { level, ..spec.clone() }, book)?;
    if let Some(scale) = &book.scale {
        judged.verdict =
            Verdict::Open(format!("these are the runs at scale {scale}, not those of the study"));
    }
    let by_means = (sided && !tested)
        || matches!(
            spec.kind,
            ClaimKind::Between
                | ClaimKind::Ordering
                | ClaimKind::Monotone
                | ClaimKind::Highest
                | ClaimKind::Lowest
                | ClaimKind::Gain
                | ClaimKind::Change
        );
    let not_found = spec.kind == ClaimKind::Parity && spec.within.is_none();
    let undecided = tested && judged.undecided > 0 && judged.undecided == judged.against.len();
    let heading = match judged.verdict {
        Verdict::Open(_) => "Not decided",
        Verdict::Holds if not_found => "No significant difference",
        Verdict::Holds if by_means => "Holds for the means",
        Verdict::Holds => "Holds",
        Verdict::Partly => "Holds in part",
        Verdict::Fails if undecided => "Not significant",
        Verdict::Fails => "Does not hold",
    };
    let sentence = sentence(&judged);
    Ok(Answer { heading, sentence, verdict: judged.verdict })
}

/// The claim, without the number that it has in a list, and what is said of it.
fn sentence(judged: &Judged) -> String {
    let numbered = judged.text.split_once(". ");
    let numbered = numbered.filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()));
    let text = numbered.map_or(judged.text.as_str(), |(_, text)| text).trim_end_matches('.');
    let said = match &judged.verdict {
        Verdict::Open(why) => why,
        _ => &judged.told,
    };
    if said.is_empty() { format!("{text}.") } else { format!("{text} ({said}).") }
}
