use super::*;
use crate::Direction;
use crate::testing::{self, K, uniform};

fn run(name: &str, input: &OodInput<'_>, settings: OodSettings) -> Result<Vec<f64>, MeasureError> {
    (score(name).unwrap().compute)(input, &settings)
}

fn assert_golden(name: &str, scores: &[f64], golden: [f64; 4]) {
    let last = scores.len() - 1;
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    for (ours, theirs) in [scores[0], scores[1], scores[last], mean].into_iter().zip(golden) {
        assert!((ours - theirs).abs() < 1e-14, "{name}: {ours} {theirs}");
    }
}

/// reference/measure/small.py (numpy 2.4.6, scipy 1.17.1), the scores of the first two and the
/// last item, and the mean:
///
/// ```python
/// z = logits(); q = softmax(z, axis=1); top = np.sort(z, axis=1)
/// {"energy": -logsumexp(z, axis=1), "energy T=2": -2 * logsumexp(z / 2, axis=1),
///  "msp": -q.max(1), "entropy": scipy.stats.entropy(q, axis=1), "margin": top[:, -2] - top[:, -1]}
/// ```
#[test]
fn as_scipy() {
    let logits = testing::logits();
    let matrix = Matrix::new(&logits, K).unwrap();
    let input = OodInput { predictions: Some(ModelOutput::Logits(matrix)), ..Default::default() };
    let warm = OodSettings { temperature: 2.0, ..Default::default() };
    for (name, golden) in LOGIT_SCORES {
        assert_golden(name, &run(name, &input, OodSettings::default()).unwrap(), golden);
    }
    assert_golden("energy T=2", &run("energy", &input, warm).unwrap(), WARM_ENERGY);
}

/// reference/measure/small.py (scikit-learn 1.9.1 for the neighbours, numpy 2.4.6 for the distance):
///
/// ```python
/// features = uniform(6, 700 * 9).reshape(700, 9) - 0.5
/// unit = features / np.linalg.norm(features, axis=1, keepdims=True)
/// at = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(unit[:600]).kneighbors(unit[600:])[1]
/// d = np.sqrt(((unit[600:] - unit[at[:, -1]]) ** 2).sum(1))
/// ```
#[test]
fn neighbours_as_scikit_learn() {
    let features: Vec<f64> = uniform(6, 700 * 9).iter().map(|u| u - 0.5).collect();
    let input = OodInput {
        features: Some(Matrix::new(&features[600 * 9..], 9).unwrap()),
        training: Some(Matrix::new(&features[..600 * 9], 9).unwrap()),
        ..Default::default()
    };
    for (neighbours, golden) in KNN {
        let settings = OodSettings { neighbours, ..Default::default() };
        assert_golden("knn", &run("knn", &input, settings).unwrap(), golden);
    }
    // Every training item is its own nearest, at no distance whatever its length.
    let longer: Vec<f64> = features[..600 * 9].iter().map(|f| f * 4.0).collect();
    let own = OodInput { features: Some(Matrix::new(&longer, 9).unwrap()), ..input };
    let settings = OodSettings { neighbours: 1, ..Default::default() };
    assert!(run("knn", &own, settings).unwrap().iter().all(|&d| d == 0.0));
    let settings = OodSettings { neighbours: 600, ..Default::default() };
    assert!(run("knn", &own, settings).unwrap().iter().all(|&d| d > 1.5 && d <= 2.0));
}

/// A sure item is inside and a doubtful, or distant, one outside: by every score.
#[test]
fn higher_is_out() {
    let logits = [9.0, 0.0, 0.0, 0.1, 0.2, 0.0];
    let features = [1.0, 0.1, -0.5, 1.0];
    let training = [1.0, 0.0, 1.0, 0.2, 0.9, 0.1];
    let input = OodInput {
        predictions: Some(ModelOutput::Logits(Matrix::new(&logits[..], 3).unwrap())),
        perturbed: Some(Matrix::new(&logits[..], 3).unwrap()),
        features: Some(Matrix::new(&features[..], 2).unwrap()),
        training: Some(Matrix::new(&training[..], 2).unwrap()),
    };
    for score in SCORES {
        assert_eq!(score.about.direction, Direction::HigherIsOut);
        let settings = OodSettings { neighbours: 2, ..Default::default() };
        let scores = (score.compute)(&input, &settings).unwrap();
        assert!(scores[0] < scores[1], "{}: {scores:?}", score.about.name);
        let found = detect(&scores[..1], &scores[1..]).unwrap();
        assert_eq!(found.auroc, Some(1.0));
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let nothing = OodInput::default();
    for score in SCORES {
        let error = (score.compute)(&nothing, &OodSettings::default()).unwrap_err();
        assert!(matches!(error, MeasureError::Missing { .. }), "{error}");
    }
    let rows = [0.5, 0.5];
    let probabilities = Some(ModelOutput::Probabilities(Matrix::new(&rows[..], 2).unwrap()));
    let input = OodInput { predictions: probabilities, ..nothing };
    assert!(run("msp", &input, OodSettings::default()).is_ok());
    assert!(run("energy", &input, OodSettings::default()).is_err());
    let rows = [0.5, f64::NAN];
    let one_class = ModelOutput::Logits(Matrix::new(&rows[..1], 1).unwrap());
    let input = OodInput { predictions: Some(one_class), ..nothing };
    assert!(run("margin", &input, OodSettings::default()).is_err());
    let nan = ModelOutput::Logits(Matrix::new(&rows[..], 2).unwrap());
    let input = OodInput { predictions: Some(nan), ..nothing };
    for name in ["energy", "msp", "entropy", "margin"] {
        let error = run(name, &input, OodSettings::default()).unwrap_err();
        assert!(matches!(error, MeasureError::NotFinite { row: 0, column: 1, .. }), "{error}");
    }
    let perturbed = OodInput { perturbed: Some(Matrix::new(&rows[..], 2).unwrap()), ..input };
    let error = run("odin", &perturbed, OodSettings::default()).unwrap_err();
    let text = "logits of perturbed inputs, row 0, column 1: NaN; expected a finite number";
    assert_eq!(error.to_string(), text);
    let one_class = OodInput { perturbed: Some(Matrix::new(&rows[..1], 1).unwrap()), ..input };
    assert!(run("odin", &one_class, OodSettings::default()).is_err());
    for temperature in [0.0, -1.0, f64::NAN] {
        let settings =
            OodSettings { temperature, odin_temperature: temperature, ..Default::default() };
        let error = run("energy", &input, settings).unwrap_err();
        assert!(matches!(error, MeasureError::Setting { name: "temperature", .. }), "{error}");
        let error = run("odin", &perturbed, settings).unwrap_err();
        assert!(matches!(error, MeasureError::Setting { name: "odin_temperature", .. }), "{error}");
    }
    let zeros = [1.0, 0.0, 0.0, 0.0];
    let matrix = Matrix::new(&zeros[..], 2).unwrap();
    let input = OodInput { features: Some(matrix), training: Some(matrix), ..nothing };
    let one = OodSettings { neighbours: 1, ..Default::default() };
    let error = run("knn", &input, one).unwrap_err();
    assert_eq!(error, MeasureError::ZeroVector { what: "training features", row: 1 });
    let error = run("knn", &input, OodSettings::default()).unwrap_err();
    assert!(matches!(error, MeasureError::Setting { name: "neighbours", .. }), "{error}");
}

const LOGIT_SCORES: [(&str, [f64; 4]); 4] = [
    ("energy", [-2.8776613185302584, -3.12300558267702, -3.295771645972293, -2.9121973125863554]),
    ("msp", [-0.539277056638693, -0.459376407892769, -0.30391966447873453, -0.5817666222958442]),
    ("entropy", [1.3080031264160463, 1.222278942712363, 1.403461725555582, 1.071609853218421]),
    (
        "margin",
        [-1.2297311361108139, -0.5807022341968087, -0.03923417752796876, -1.0926897573417635],
    ),
];
const WARM_ENERGY: [f64; 4] =
    [-4.338448154997251, -4.485336526979902, -4.764511453479923, -4.197359563573211];
const KNN: [(usize, [f64; 4]); 3] = [
    (1, [0.6723924655200206, 0.5024436450184669, 0.5926270185964146, 0.5545069480444221]),
    (7, [0.7815231626513276, 0.7795855643274653, 0.7394367938890598, 0.7586949905468339]),
    (50, [1.0136772134708973, 0.9994277868422328, 1.0247653444099545, 1.0255025034981555]),
];
