use super::*;
use crate::{Settings, testing};

/// numpy 2.4.6, reference/measure/metrics.py:
///
/// ```python
/// print(brier_parts(q[:, 2], p[:, 2], 15), ((q - p)[:, 2] ** 2).mean())
/// ```
#[test]
fn as_numpy() {
    let judged = testing::judged();
    let views = Scorer::new(&judged, Settings::default()).unwrap().classes();
    let near = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-15, "{ours} {theirs}");
    let parts = views[2].parts;
    let ours = [parts.reliability, parts.resolution, parts.uncertainty, parts.within];
    ours.into_iter().zip(BRIER_CLASS_2).for_each(|(ours, theirs)| near(ours, theirs));
    near(parts.total(), 0.04738170714028211);
}

#[test]
fn the_parts_add_up() {
    let judged = testing::judged();
    for bins in [1, 2, 15, 1000] {
        let scorer = Scorer::new(&judged, Settings { bins, clip: None }).unwrap();
        let brier = (crate::metric("soft_brier").unwrap().compute)(&scorer).value.unwrap();
        assert!((scorer.brier_parts().unwrap().total() - brier).abs() < 1e-14);
    }
}

/// With 0/1 outcomes and one forecast to a bin, Murphy's three parts are all there is.
#[test]
fn without_spread_within_bins_nothing_is_left_over() {
    let votes = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    let logits = [2.0, 0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0];
    let judged = testing::judge(&votes, &logits, 2, None);
    let scorer = Scorer::new(&judged, Settings::default()).unwrap();
    let parts = scorer.brier_parts().unwrap();
    assert!(parts.within.abs() < 1e-15);
    assert!((parts.uncertainty - 2.0 * 0.25).abs() < 1e-15);
}

#[test]
fn no_items_no_views() {
    let judged = testing::judge(&[], &[], 3, None);
    let scorer = Scorer::new(&judged, Settings::default()).unwrap();
    assert_eq!((scorer.classes(), scorer.brier_parts()), (vec![], None));
}

const BRIER_CLASS_2: [f64; 4] =
    [0.006136180653259034, 0.027653533574729668, 0.06988920170135589, -0.0009901416396031367];
