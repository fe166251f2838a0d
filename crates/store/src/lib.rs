//! The run store: a folder of runs, each named by what it is.
//!
//! ```text
//! STORE/store.json                       the format, and who made it
//! STORE/runs/ID/spec.json                the resolved spec; ID is the start of its SHA-256
//!              /about.json               format, full digest, time, what the caller says of the code
//!              /status.json              running, interrupted, finished or failed; how far; when it is
//!                                        finished, the SHA-256 of all other files
//!              /checkpoint.safetensors   what an unfinished run continues from
//!              /history.jsonl            one line per epoch
//!              /best.safetensors         weights of the selected epoch, by plain names
//!              /last.safetensors         weights at the end
//!              /predictions/best.npz     `logits` (items × classes), `ids`, `classes`; and last.npz
//!              /events/                  for TensorBoard, where asked for
//!              /result.json              the final figures
//!              /lock                     held while a process trains the run
//! STORE/studies/NAME/                    what a study comes to: any files, by plain names
//!              /stages/STAGE/ID.csv      what was computed from a run, and beside it ID.csv.made: from what
//! ```
//!
//! ```
//! use dissensus_store::{Begun, Store};
//! use serde_json::json;
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::create_or_open(folder.path())?;
//! let (spec, about) = (json!({"model": "mlp", "seed": 1}), json!({"code": "0.1.0"}));
//! let Begun::Run(run) = store.begin(&spec, &about, 5)? else { panic!("a new run") };
//! run.finish(&json!({"accuracy": 0.9}))?;
//! assert!(matches!(store.begin(&spec, &about, 5)?, Begun::Finished(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Store::begin`] gives an [`ActiveRun`] that alone may write, or says that the run is finished;
//! [`RunInfo`] is what anyone reads. Every file is replaced whole by a rename, so a process may be
//! killed at any moment: what it wrote last is there, old or new, never half. The lock is the
//! operating system's and goes with its process; a run that says `running` and is not locked was
//! interrupted, and is told as such.
//!
//! Every file of a run is bound to it: the name of its folder derives from the spec; status, checkpoint and
//! weights carry the id; and the status of a finished run has the checksums of all other files, which are
//! checked when they are used. So no file of one run passes for that of another. Runs of format 1 are
//! less bound; a store has some only where its `store.json` says so, and [`has_read_older`] tells.
//!
//! [`pack`] puts a store into one file, to be carried to another machine, and [`unpack`] merges such
//! a file into a store. An [`Item`] is what is carried alone, as a pack of its own.
//!
//! This is the only crate that knows the layout.

mod active;
mod begin;
mod canonical;
mod checkpoint;
mod error;
mod files;
mod item;
mod layout;
mod lock;
mod older;
mod pack;
mod run;
mod status;
mod store;
mod study;
pub mod tensorboard;
mod tensors;
mod weights;

pub use active::ActiveRun;
pub use begin::Begun;
pub use canonical::{RunId, canonical_json, digest};
pub use checkpoint::{Checkpoint, read_tensor_bytes, tensor_bytes};
pub use dissensus_io::Durability;
pub use dissensus_predictions::Logits;
pub use error::{Remedy, StoreError};
pub use files::{replace_file, write_output_file};
pub use item::{Item, Items};
pub use layout::{FORMAT, Which};
pub use older::has_read_older;
pub use pack::{PackOptions, Packed, StudyMerge, Unpacked, pack, unpack};
pub use run::{Continued, RunInfo};
pub use status::{State, Status};
pub use store::{Broken, Listing, Store};
pub use study::{Made, MadeFile, MadeOf, StudyFolder, sealed, study_folder};
pub use tensors::{Tensor, Tensors};
