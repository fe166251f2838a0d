//! Files and the network, one way each: numpy arrays, files that are written whole or not at all,
//! locks between processes, and one HTTP client. Nothing here knows of votes or models.

pub mod http;
