//! What a page opens with: the question, the claim that answers it with its test, and the figure that
//! shows it.
//!
//! A study names them. Where it does not, the first claim that compares arms is taken, or the first of
//! all, and the first figure that shows its metric.

use super::escape::prose;
use crate::book::Book;
use crate::claims::{Answer, ClaimKind, ClaimSpec, Verdict, answer};
use crate::figures::{Figure, FigureKind, FigureSpec};

/// The opening of a page.
pub(super) struct Opening<'b> {
    /// The question; empty for none.
    pub(super) question: &'b str,
    /// The answer with its test, as markup; empty for none.
    pub(super) answer: String,
    /// The place of the figure.
    pub(super) figure: Option<usize>,
}

impl<'b> Opening<'b> {
    pub(super) fn of(book: &'b Book, figures: &[Figure]) -> Self {
        let claim = claim(book);
        Self {
            question: &book.opening.question,
            answer: claim.map_or(String::new(), |claim| written(book, claim)),
            figure: figure(book, figures, claim),
        }
    }
}

/// The claim that the study names; otherwise the first that compares arms, or the first of all.
fn claim(book: &Book) -> Option<&ClaimSpec> {
    let named = |name: &String| book.claims.iter().find(|claim| claim.name == *name);
    let compares = |claim: &&ClaimSpec| {
        let kinds = [ClaimKind::Below, ClaimKind::Above, ClaimKind::Better, ClaimKind::Parity];
        kinds.contains(&claim.kind) && claim.than.is_some()
    };
    let first = || book.claims.iter().find(compares).or(book.claims.first());
    book.opening.claim.as_ref().and_then(named).or_else(first)
}

/// The place of the figure that the study names; otherwise of the first that shows all arms of the
/// claim by its metric, or of the first of all.
fn figure(book: &Book, figures: &[Figure], claim: Option<&ClaimSpec>) -> Option<usize> {
    let place = |name: &str| figures.iter().position(|figure| figure.name == name);
    let shows = |figure: &&FigureSpec| {
        let kind = matches!(figure.kind, FigureKind::Points | FigureKind::Lines);
        claim.is_some_and(|claim| {
            let mut arms = claim.arms.iter().chain(&claim.than);
            kind && claim.metrics.iter().any(|metric| figure.metrics.contains(metric))
                && (figure.arms.is_empty() || arms.all(|arm| figure.arms.contains(arm)))
        })
    };
    let of_claim = || book.figures.iter().filter(shows).find_map(|figure| place(&figure.name));
    let named = book.opening.figure.as_deref().and_then(place);
    named.or_else(of_claim).or((!figures.is_empty()).then_some(0))
}

/// The answer as markup; empty where there is none.
fn written(book: &Book, claim: &ClaimSpec) -> String {
    let Ok(Answer { heading, sentence, verdict }) = answer(claim, book) else {
        return String::new();
    };
    let class = match (verdict, heading) {
        (Verdict::Holds, "Holds") => "holds",
        (Verdict::Partly, _) => "partly",
        (Verdict::Fails, "Does not hold") => "fails",
        _ => "none",
    };
    let sentence = prose(&sentence);
    format!("<p class=\"answer\"><strong class=\"{class}\">{heading}:</strong> {sentence}</p>\n")
}
