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
    /// Data that does not fit the network or itself.
    #[error("{0}")]
    Data(String),
    /// A device that cannot be used.
    #[error("{0}")]
    Device(String),
}
