//! Where parameters lie on the device.
//!
//! Convolutions come first, as \[out\]\[ky\]\[kx\]\[in\] with inputs and outputs padded to multiples of
//! eight (what padding adds is zero and stays zero); then everything else, as on the host.

use crate::network::{Layout, Network};

/// A multiple of eight.
pub(super) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(8)
}

/// A parameter on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) conv: bool,
}

/// All parameters on the device.
pub(super) struct Places {
    pub(super) of: Vec<Place>,
    /// Numbers of all convolutions, and of everything.
    pub(super) convs: usize,
    pub(super) len: usize,
    /// For every number of the host, its place on the device.
    map: Vec<u32>,
}

impl Places {
    pub(super) fn new(network: &Network) -> Self {
        let parameters = network.parameters();
        let blank = Place { offset: 0, len: 0, conv: false };
        let mut of = vec![blank; parameters.len()];
        let mut map = vec![0; network.parameter_count()];
        let (mut at, mut convs) = (0, 0);
        for conv in [true, false] {
            for (place, parameter) in of.iter_mut().zip(parameters) {
                let is_conv = matches!(parameter.layout, Layout::Conv { .. });
                if is_conv != conv {
                    continue;
                }
                let host = &mut map[parameter.range()];
                let len = match parameter.layout {
                    Layout::Conv { kernel, inputs, outputs } => {
                        let (ins, outs) = (padded(inputs), padded(outputs));
                        let taps = kernel * kernel;
                        for (from, to) in host.iter_mut().enumerate() {
                            let (o, i) = (from % outputs, from / outputs % inputs);
                            let tap = from / (outputs * inputs);
                            *to = (at + (o * taps + tap) * ins + i) as u32;
                        }
                        outs * taps * ins
                    }
                    // A norm of padded channels has padded vectors.
                    Layout::Vector { width } => {
                        host.iter_mut().enumerate().for_each(|(i, to)| *to = (at + i) as u32);
                        padded(width)
                    }
                    Layout::Linear { inputs, outputs } => {
                        host.iter_mut().enumerate().for_each(|(i, to)| *to = (at + i) as u32);
                        inputs * outputs
                    }
                };
                *place = Place { offset: at, len, conv };
                at += len.next_multiple_of(8);
            }
            if conv {
                convs = at;
            }
        }
        Self { of, convs, len: at, map }
    }

    /// For every number of the host, its place on the device.
    pub(super) fn map(&self) -> &[u32] {
        &self.map
    }

    /// Numbers of the host as the device has them.
    pub(super) fn to_device(&self, host: &[f32]) -> Vec<f32> {
        let mut device = vec![0.0; self.len];
        for (&value, &to) in host.iter().zip(&self.map) {
            device[to as usize] = value;
        }
        device
    }

    /// Numbers of the device as the host has them.
    pub(super) fn to_host(&self, device: &[f32]) -> Vec<f32> {
        self.map.iter().map(|&from| device[from as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;
    use crate::network::Shape;

    #[test]
    fn parameters_go_there_and_back() {
        for (name, width, channels) in [("resnet18", 8_u64, 3), ("smallcnn", 6, 1)] {
            let model = Model::named(name).unwrap().with("width", width).unwrap();
            let input = Shape::Map { height: 8, width: 8, channels };
            let network = model.network(input, 10).unwrap();
            let places = Places::new(&network);
            let host: Vec<f32> = (1..=network.parameter_count()).map(|i| i as f32).collect();
            let device = places.to_device(&host);
            assert_eq!(places.to_host(&device), host);
            assert_eq!(device.iter().filter(|value| **value != 0.0).count(), host.len());
            // Stretches do not overlap, and convolutions come first.
            let mut stretches: Vec<Place> = places.of.clone();
            stretches.sort_by_key(|place| place.offset);
            assert!(stretches.windows(2).all(|w| w[0].offset + w[0].len <= w[1].offset));
            assert!(stretches.iter().all(|place| place.conv == (place.offset < places.convs)));
        }
    }

    #[test]
    fn a_kernel_lies_by_output_tap_and_input() {
        let input = Shape::Map { height: 8, width: 8, channels: 3 };
        let network = Model::named("smallcnn")
            .unwrap()
            .with("width", 8_u64)
            .unwrap()
            .network(input, 10)
            .unwrap();
        let places = Places::new(&network);
        // Output 5, tap 4 (the middle), input 2 of the first convolution.
        let host = (4 * 3 + 2) * 8 + 5;
        assert_eq!(places.map[host], (5 * 9 + 4) * 8 + 2);
    }
}
