//! Copies a file from a local mirror, with the checks of a download.

use std::fs::File;
use std::path::Path;

use dissensus_core::Progress;

use super::place::{Place, Spill, pour};
use super::progress::Transfer;
use super::{Outcome, judge, sizes_in_words};
use crate::Error;
use crate::catalogue::{RemoteFile, Variant};
use crate::digest::Tally;

pub(super) fn copy(
    file: &RemoteFile,
    mirror: &Path,
    place: &Place,
    progress: &dyn Progress,
) -> Result<(Variant, Outcome), Error> {
    let from = mirror.join(file.path);
    let name = from.display().to_string();
    let fail = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => {
            Error::MirrorMissing { file: file.path.to_owned(), looked: from.clone() }
        }
        _ => Error::io("reading", &from, e),
    };
    let source = File::open(&from).map_err(fail)?;
    let bytes = source.metadata().map_err(fail)?.len();
    let sizes: Vec<u64> = file.accepted.iter().map(|v| v.bytes).collect();
    let wrong_size = |got: String| Error::Size {
        file: file.path.to_owned(),
        from: name.clone(),
        expected: sizes_in_words(&sizes),
        got,
    };
    if !sizes.contains(&bytes) {
        return Err(wrong_size(bytes.to_string()));
    }

    let transfer = Transfer::start(progress, file.path);
    transfer.total(bytes);
    // A copy is never resumed, so it must not meet a part that a download left.
    place.discard();
    let mut part = place.create_part()?;
    let mut tally = Tally::default();
    let verified = pour(source, &mut part, place, &mut tally, bytes, &transfer)
        .map_err(|spill| match spill {
            Spill::Read(e) => fail(e),
            Spill::Write(e) => e,
            Spill::TooLong => wrong_size(format!("more than {bytes}")),
        })
        .and_then(|()| judge(file, &tally.finish(), &name))
        .and_then(|variant| place.commit(&part).map(|()| variant));
    match verified {
        Ok(variant) => {
            transfer.finish();
            Ok((variant, Outcome::Copied { from }))
        }
        Err(e) => {
            place.discard();
            Err(e)
        }
    }
}
