//! A resumable download into a part file.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::time::Duration;

use dissensus_io::http::{Backoff, Secret};

use super::part::Begun;
use super::place::{Place, Spill, pour};
use super::progress::Transfer;
use super::request::{Again, Client, Fault};
use super::{Options, sizes_in_words};
use crate::Error;
use crate::digest::{Digest, Tally};

const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What is to be downloaded.
pub(super) struct Wanted<'a> {
    /// How messages call it.
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    /// Sent to the address itself, never to where it redirects.
    pub(super) secret: Option<&'a Secret>,
    /// The sizes it may have; empty when unknown.
    pub(super) sizes: Vec<u64>,
    /// More than this is never taken.
    pub(super) limit: u64,
}

/// A complete part, not yet judged.
pub(super) struct Downloaded {
    pub(super) digest: Digest,
    pub(super) part: File,
    /// The byte from which it was resumed, if it was.
    pub(super) resumed_from: Option<u64>,
}

/// Downloads to the part of `place`, taking up broken transfers where they broke off.
pub(super) fn download(
    wanted: &Wanted<'_>,
    place: &Place,
    client: &Client,
    options: &Options,
    transfer: &Transfer<'_>,
) -> Result<Downloaded, Error> {
    let retry = |attempt, wait, why: &Error| transfer.retry(attempt, wait, why);
    with_retries(options, retry, || attempt_once(wanted, place, client, transfer))
}

/// Attempts something until it succeeds, cannot succeed, or was tried often enough; `retry` is
/// told of every further attempt.
pub(super) fn with_retries<T>(
    options: &Options,
    retry: impl Fn(u32, Duration, &Error),
    attempt: impl Fn() -> Result<T, Fault>,
) -> Result<T, Error> {
    let backoff = Backoff { first: options.backoff, longest: LONGEST_BACKOFF };
    let mut failed = 0;
    loop {
        let fault = match attempt() {
            Ok(done) => return Ok(done),
            Err(fault) => fault,
        };
        failed += 1;
        let wait = match fault.again {
            Again::No => return Err(fault.error),
            _ if failed > options.retries => return Err(fault.error),
            Again::Now => Duration::ZERO,
            Again::Later(asked) => backoff.pause(failed, 1.0).max(asked.unwrap_or_default()),
        };
        retry(failed, wait, &fault.error);
        std::thread::sleep(wait);
    }
}

fn attempt_once(
    wanted: &Wanted<'_>,
    place: &Place,
    client: &Client,
    transfer: &Transfer<'_>,
) -> Result<Downloaded, Fault> {
    let begun = Begun::find(place, wanted.url);
    if let Some(begun) = &begun
        && begun.is_whole()
    {
        // A run that ended between the last byte and the rename.
        let (part, tally) = reopen(place, begun.bytes)?;
        transfer.total(begun.bytes);
        transfer.resumed(begun.bytes);
        return Ok(Downloaded { digest: tally.finish(), part, resumed_from: Some(begun.bytes) });
    }

    let answer = client.get(wanted.url, wanted.secret, begun.as_ref()).inspect_err(|fault| {
        if fault.again == Again::Now {
            place.discard();
        }
    })?;
    let total = answer.note.total;
    if let Some(total) = total {
        check_announced(wanted, place, total)?;
        transfer.total(total);
    }
    let (mut part, mut tally) = if answer.offset > 0 {
        transfer.resumed(answer.offset);
        reopen(place, answer.offset)?
    } else {
        (place.create_part()?, Tally::default())
    };
    transfer.advance(answer.offset);
    answer.note.save(place)?;

    let body = answer.response.into_reader();
    let end = pour(body, &mut part, place, &mut tally, wanted.limit, transfer);
    let got = tally.bytes();
    // Where the size is known only from the catalogue, its largest is what was to come.
    let announced = total.or_else(|| wanted.sizes.iter().copied().max());
    let broke_off =
        |announced| Fault::passing(Error::BrokeOff { url: wanted.url.to_owned(), announced, got });
    match end {
        Ok(()) => {}
        Err(Spill::Write(error)) => {
            // A full disk is not helped by the half of a file.
            place.discard();
            return Err(error.into());
        }
        Err(Spill::TooLong) => {
            place.discard();
            return Err(wrong_size(wanted, &format!("more than {}", wanted.limit)).into());
        }
        Err(Spill::Read(error)) => {
            place.sync(&part)?;
            return Err(match announced {
                Some(announced) if got < announced => broke_off(announced),
                _ => Fault::passing(Error::Transport {
                    url: wanted.url.to_owned(),
                    why: error.to_string(),
                }),
            });
        }
    }
    // Without a length, a transfer that breaks off looks like one that ends.
    match announced {
        Some(announced) if got < announced && !(total.is_none() && wanted.sizes.contains(&got)) => {
            place.sync(&part)?;
            Err(broke_off(announced))
        }
        _ => Ok(Downloaded {
            digest: tally.finish(),
            part,
            resumed_from: (answer.offset > 0).then_some(answer.offset),
        }),
    }
}

/// Refuses a size that cannot be right before a byte of it is read.
fn check_announced(wanted: &Wanted<'_>, place: &Place, total: u64) -> Result<(), Error> {
    let fits = match wanted.sizes.as_slice() {
        [] => total <= wanted.limit,
        sizes => sizes.contains(&total),
    };
    if fits {
        return Ok(());
    }
    place.discard();
    Err(wrong_size(wanted, &total.to_string()))
}

fn wrong_size(wanted: &Wanted<'_>, got: &str) -> Error {
    Error::Size {
        file: wanted.name.to_owned(),
        from: wanted.url.to_owned(),
        expected: match wanted.sizes.as_slice() {
            [] => format!("at most {}", wanted.limit),
            sizes => sizes_in_words(sizes),
        },
        got: got.to_owned(),
    }
}

/// Opens a part to go on after its first `bytes`, with their digest.
fn reopen(place: &Place, bytes: u64) -> Result<(File, Tally), Error> {
    let fail = |e| Error::io("reading", &place.part, e);
    let mut part = OpenOptions::new().read(true).write(true).open(&place.part).map_err(fail)?;
    part.set_len(bytes).map_err(fail)?;
    let mut tally = Tally::default();
    tally.drain(&part).map_err(fail)?;
    part.seek(SeekFrom::Start(bytes)).map_err(fail)?;
    Ok((part, tally))
}
