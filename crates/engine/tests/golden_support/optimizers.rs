//! Optimizers alone (`reference/engine/optimizers.py`): ten given gradients, and the parameters
//! after steps 1, 2 and 10.

use dissensus_engine::network::Shape;
use dissensus_engine::{Optimizer, Real};

use super::{Golden, network, nothing, runner};

fn optimizer(golden: &Golden) -> Optimizer {
    let weight_decay = golden.number("weight_decay");
    match golden.setting("betas").as_array() {
        None => {
            Optimizer::Sgd { momentum: golden.number("momentum"), nesterov: false, weight_decay }
        }
        Some(betas) => Optimizer::Adam {
            beta1: betas[0].as_f64().unwrap(),
            beta2: betas[1].as_f64().unwrap(),
            epsilon: golden.number("eps"),
            weight_decay,
        },
    }
}

/// The file's `a` and `b` are a weight and a bias here; the other two parameters are 0 and have no
/// gradient, so that they must stay 0.
pub(crate) fn steps<F: Real>(golden: &Golden) {
    let [a, b] = ["params/a", "params/b"].map(|key| golden.tensor(key).shape.clone());
    let network = network(Shape::Flat { width: a[1] }, |builder| {
        let x = builder.linear("a", 0, a[0]);
        builder.linear("b", x, b[0]);
    });
    let vector = |key: &str, step: Option<usize>| -> Vec<F> {
        let find = |name: &str| {
            let own = |letter: &str| {
                let tensor = golden.tensor(&format!("{key}/{letter}"));
                step.map_or_else(|| tensor.clone(), |step| tensor.at(step))
            };
            let (shape, values) = match name {
                "a.weight" => (a.clone(), own("a").values),
                "b.bias" => (b.clone(), own("b").values),
                "a.bias" => (vec![a[0]], vec![0.0; a[0]]),
                _ => (vec![b[0], a[0]], vec![0.0; b[0] * a[0]]),
            };
            Some((shape, values.into_iter().map(F::of).collect()))
        };
        network.import(find).unwrap()
    };
    let (data, optimizer) = (nothing(network.input()), optimizer(golden));
    let mut runner = runner::<F>(&network, &data, 1, optimizer, vector("params", None));
    let rates = golden.setting("rates").as_array().unwrap();
    assert_eq!(rates.len(), 10);
    for (step, rate) in rates.iter().enumerate() {
        runner.apply(&vector("grads", Some(step)), rate.as_f64().unwrap()).unwrap();
        if golden.has(&format!("after/{}/a", step + 1)) {
            for tensor in network.export(&runner.current().parameters) {
                match tensor.name.as_str() {
                    "a.weight" => {
                        golden.assert_near(&format!("after/{}/a", step + 1), &tensor.values)
                    }
                    "b.bias" => {
                        golden.assert_near(&format!("after/{}/b", step + 1), &tensor.values)
                    }
                    name => {
                        assert!(tensor.values.iter().all(|w| *w == F::ZERO), "{name} moved");
                    }
                }
            }
        }
    }
}
