//! What can go wrong in the engine.

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("unknown model `{name}`; known: {known}")]
    UnknownModel { name: String, known: String },
    #[error("model `{model}`: {problem}")]
    Model {
        model: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
    #[error("this network cannot be built: {0}")]
    Network(String),
    #[error(
        "maps are what the last pooling reads, in a network that ends in pooling and a linear \
         layer; this one ends in {ends}"
    )]
    NoMaps { ends: String },
    #[error("the weights lack the tensor `{name}`")]
    MissingTensor { name: String },
    #[error("the tensor `{name}` has the shape {found:?}; this model needs {expected:?}")]
    TensorShape { name: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("{what} need {needs}; this network is trained by the loss `{loss}`")]
    OtherLoss { what: &'static str, needs: &'static str, loss: &'static str },
    #[error("{0}")]
    Data(String),
    #[error("{0}")]
    Device(String),
    #[error(
        "the GPU has too little free memory: {}{} of {} are free",
        .needed.map_or_else(String::new, |needed| format!("{} more are needed at once, ", gib(needed))),
        gib(*.free),
        gib(*.total)
    )]
    Memory {
        /// Bytes that were asked for at once, where that is known.
        needed: Option<u64>,
        free: u64,
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
