//! Initial parameters: Philox of (seed, parameter), one draw after another in our layout.

use dissensus_core::philox::Stream;

use crate::network::{Network, Start};
use crate::random::INIT;
use crate::scalar::Real;

/// The parameters of a network before training.
pub(crate) fn parameters<F: Real>(network: &Network, seed: u64) -> Vec<F> {
    let mut flat = vec![F::ZERO; network.parameter_count()];
    for (number, parameter) in network.parameters().iter().enumerate() {
        let mut stream = Stream::new([seed, INIT], [number as u64, 0, 0]);
        for value in &mut flat[parameter.range()] {
            *value = F::of(match parameter.start {
                Start::Constant(value) => value,
                Start::Normal(deviation) => deviation * stream.normal(),
                Start::Uniform(bound) => bound * (2.0 * stream.unit() - 1.0),
            });
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;
    use crate::network::Shape;

    #[test]
    fn starts_have_their_spread() {
        let input = Shape::Map { height: 8, width: 8, channels: 3 };
        let network = Model::named("resnet18")
            .unwrap()
            .with("width", 32_u64)
            .unwrap()
            .network(input, 10)
            .unwrap();
        let flat: Vec<f64> = parameters(&network, 3);
        for p in network.parameters() {
            let own = &flat[p.range()];
            let square = own.iter().map(|v| v * v).sum::<f64>() / own.len() as f64;
            let wanted = match p.start {
                Start::Constant(value) => value * value,
                Start::Normal(deviation) => deviation * deviation,
                Start::Uniform(bound) => bound * bound / 3.0,
            };
            // Five standard errors of a mean square; normal numbers have the larger one.
            let tolerance = 5.0 * wanted * (2.0 / own.len() as f64).sqrt();
            assert!((square - wanted).abs() <= tolerance, "{}: {square}, not {wanted}", p.name);
        }
        assert_ne!(parameters::<f64>(&network, 3), parameters::<f64>(&network, 4));
        assert_eq!(parameters::<f64>(&network, 3), flat);
    }
}
