//! One public source of a file: downloads it, or the archive that holds it, and checks the bytes.

use std::fs;
use std::path::PathBuf;

use dissensus_core::Progress;

use super::archive::{ARCHIVE_LIMIT, Member};
use super::download::{Downloaded, Wanted, download};
use super::place::Place;
use super::progress::Transfer;
use super::request::Client;
use super::{Options, Outcome, judge};
use crate::Error;
use crate::catalogue::{Archive, RemoteFile, Source, Variant};

/// Archives that this fetch has downloaded, so that many members cost one download.
#[derive(Debug, Default)]
pub(super) struct Stash {
    archives: Vec<(&'static str, Place, Option<u64>)>,
}

impl Stash {
    /// Removes them; their members are in the cache, or are wrong.
    pub(super) fn clear(&mut self) {
        for (_, place, _) in self.archives.drain(..) {
            place.discard();
            // Gone if it is empty; another fetch's part may be in it.
            if let Some(folder) = place.dest.parent() {
                let _ = fs::remove_dir(folder);
            }
        }
    }
}

/// Gets `file` from one of its sources into its place.
pub(super) fn get(
    file: &RemoteFile,
    source: &Source,
    place: &Place,
    client: &Client,
    options: &Options,
    stash: &mut Stash,
    progress: &dyn Progress,
) -> Result<(Variant, Outcome), Error> {
    let sizes: Vec<u64> = file.accepted.iter().map(|v| v.bytes).collect();
    let limit = sizes.iter().copied().max().unwrap_or(0);
    let (variant, resumed_from) = match *source {
        Source::Direct { url } => {
            let transfer = Transfer::start(progress, file.path);
            let wanted = Wanted { name: file.path, url, secret: None, sizes, limit };
            let (downloaded, variant) =
                get_judged(&wanted, place, client, options, &transfer, |d| {
                    judge(file, &d.digest, url)
                })?;
            place.commit(&downloaded.part)?;
            transfer.finish();
            (variant, downloaded.resumed_from)
        }
        Source::Member { archive, member } => {
            let (path, resumed_from) = stashed(archive, client, options, stash, progress)?;
            let from = format!("{} ({member})", archive.url);
            let transfer = Transfer::start(progress, file.path);
            let member = Member { archive, path: &path, name: member, limit };
            let (digest, part) = member.extract(place, &transfer)?;
            let variant = judge(file, &digest, &from).inspect_err(|_| place.discard())?;
            place.commit(&part)?;
            transfer.finish();
            (variant, resumed_from)
        }
    };
    let outcome = Outcome::Downloaded { url: source.url().to_owned(), resumed_from };
    Ok((variant, outcome))
}

/// The archive as a complete part in the cache, and from where it was resumed.
fn stashed(
    archive: &'static Archive,
    client: &Client,
    options: &Options,
    stash: &mut Stash,
    progress: &dyn Progress,
) -> Result<(PathBuf, Option<u64>), Error> {
    if let Some((_, place, resumed)) = stash.archives.iter().find(|(url, ..)| *url == archive.url) {
        return Ok((place.part.clone(), *resumed));
    }
    // The folder begins with a dot so that it is never taken for a dataset's.
    let place = Place::new(&options.cache_dir, &format!(".archives/{}", archive.file));
    place.prepare()?;
    if options.force {
        place.discard();
    }
    let transfer = Transfer::start(progress, archive.file);
    let wanted = Wanted {
        name: archive.file,
        url: archive.url,
        secret: None,
        sizes: archive.known.iter().map(|(bytes, _)| *bytes).collect(),
        limit: archive.known.map_or(ARCHIVE_LIMIT, |(bytes, _)| bytes),
    };
    let judged = get_judged(&wanted, &place, client, options, &transfer, |d| match archive.known {
        Some((_, sha256)) if sha256 != d.digest.sha256 => Err(Error::Checksum {
            file: archive.file.to_owned(),
            from: archive.url.to_owned(),
            expected: sha256.to_owned(),
            got: d.digest.sha256.clone(),
        }),
        _ => Ok(()),
    });
    if judged.is_err() && !place.part.exists() {
        // Nothing to resume, so leave no empty folder either.
        let _ = place.dest.parent().map(fs::remove_dir);
    }
    let (downloaded, ()) = judged?;
    transfer.finish();
    let part = place.part.clone();
    let resumed_from = downloaded.resumed_from;
    stash.archives.push((archive.url, place, resumed_from));
    Ok((part, resumed_from))
}

/// Downloads and judges. What was resumed and is wrong is fetched once more from the start, as
/// the first half may be at fault; what is wrong even so is removed.
pub(super) fn get_judged<T>(
    wanted: &Wanted<'_>,
    place: &Place,
    client: &Client,
    options: &Options,
    transfer: &Transfer<'_>,
    judge: impl Fn(&Downloaded) -> Result<T, Error>,
) -> Result<(Downloaded, T), Error> {
    let first = download(wanted, place, client, options, transfer)?;
    match judge(&first) {
        Ok(verdict) => return Ok((first, verdict)),
        Err(error) => {
            place.discard();
            if first.resumed_from.is_none() {
                return Err(error);
            }
            transfer.retry(1, std::time::Duration::ZERO, &error);
        }
    }
    let second = download(wanted, place, client, options, transfer)?;
    match judge(&second) {
        Ok(verdict) => Ok((second, verdict)),
        Err(error) => {
            place.discard();
            Err(error)
        }
    }
}
