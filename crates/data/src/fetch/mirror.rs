//! Copies a file from a local mirror, with the checks of a download.

use std::fs::File;
use std::io;
use std::path::Path;

use dissensus_core::Progress;

use super::place::{Place, Spill, pour};
use super::progress::Transfer;
use super::{Outcome, judge, sizes_in_words};
use crate::Error;
use crate::catalogue::{RemoteFile, Variant};
use crate::digest::{Digest, Tally};

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
    let source = open_plain(&from).map_err(fail)?;
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
    let judged = |poured: Poured| match poured {
        Poured::TooLong => Err(wrong_size(format!("more than {bytes}"))),
        Poured::Whole(digest) => judge(file, &digest, &name),
    };
    let transfer = Transfer::start(progress, file.path);
    let variant = pour_into(source, &from, bytes, place, &transfer, judged)?;
    Ok((variant, Outcome::Copied { from }))
}

/// Opens a plain file; anything else (a pipe, say) might never answer.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    match path.metadata()?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a plain file")),
    }
}

/// What came of pouring a file into its place.
pub(super) enum Poured {
    Whole(Digest),
    /// There is more than it should have.
    TooLong,
}

/// Copies an opened file of so many bytes to its place, where it stays if `judge` says so.
pub(super) fn pour_into<T>(
    from: File,
    path: &Path,
    bytes: u64,
    place: &Place,
    transfer: &Transfer<'_>,
    judge: impl FnOnce(Poured) -> Result<T, Error>,
) -> Result<T, Error> {
    transfer.total(bytes);
    // A copy is never resumed, so it must not meet a part that a download left.
    place.discard();
    let (mut part, mut tally) = (place.create_part()?, Tally::default());
    let poured = match pour(from, &mut part, place, &mut tally, bytes, transfer) {
        Ok(()) => Ok(Poured::Whole(tally.finish())),
        Err(Spill::TooLong) => Ok(Poured::TooLong),
        Err(Spill::Read(error)) => Err(Error::io("reading", path, error)),
        Err(Spill::Write(error)) => Err(error),
    };
    let judged = poured.and_then(judge).and_then(|good| place.commit(&part).map(|()| good));
    match &judged {
        Ok(_) => transfer.finish(),
        Err(_) => place.discard(),
    }
    judged
}
