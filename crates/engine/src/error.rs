//! What can go wrong in the engine.

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A model that does not exist.
    #[error("unknown model `{name}`; known: {known}")]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A setting of a model that cannot be.
    #[error("model `{model}`: {problem}")]
    Model {
        /// The model.
        model: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A network that cannot be built.
    #[error("this network cannot be built: {0}")]
    Network(String),
    /// Maps of a network that has none before its last layer.
    #[error(
        "maps are what the last pooling reads, in a network that ends in pooling and a linear \
         layer; this one ends in {ends}"
    )]
    NoMaps {
        /// Its last operations.
        ends: String,
    },
    /// A tensor that is not there.
    #[error("the weights lack the tensor `{name}`")]
    MissingTensor {
        /// Its name.
        name: String,
    },
    /// A tensor of another shape.
    #[error("the tensor `{name}` has the shape {found:?}; this model needs {expected:?}")]
    TensorShape {
        /// Its name.
        name: String,
        /// What the model needs.
        expected: Vec<usize>,
        /// What came.
        found: Vec<usize>,
    },
    /// What is not defined for the loss of a network.
    #[error("{what} need {needs}; this network is trained by the loss `{loss}`")]
    OtherLoss {
        /// What was asked for.
        what: &'static str,
        /// The networks that have it.
        needs: &'static str,
        /// The name of the loss.
        loss: &'static str,
    },
    /// Data that does not fit the network or itself.
    #[error("{0}")]
    Data(String),
    /// A device that cannot be used.
    #[error("{0}")]
    Device(String),
    /// A device without enough memory.
    #[error(
        "the GPU has too little free memory: {}{} of {} are free",
        .needed.map_or_else(String::new, |needed| format!("{} more are needed at once, ", gib(needed))),
        gib(*.free),
        gib(*.total)
    )]
    Memory {
        /// Bytes that were asked for at once, where that is known.
        needed: Option<u64>,
        /// Bytes that were free then.
        free: u64,
        /// Bytes of the device.
        total: u64,
    },
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::EngineError;

    #[test]
    fn memory_is_told_in_numbers() {
        let (free, total) = (3 << 29, 8 << 30);
        let known = EngineError::Memory { needed: Some(2 << 30), free, total };
        let text = "the GPU has too little free memory: 2.00 GiB more are needed at once, 1.50 GiB of \
                    8.00 GiB are free";
        assert_eq!(known.to_string(), text);
        let unknown = EngineError::Memory { needed: None, free, total };
        let text = "the GPU has too little free memory: 1.50 GiB of 8.00 GiB are free";
        assert_eq!(unknown.to_string(), text);
    }
}
