//! Members streamed out of archives, and archives that are hostile or broken.

use std::fs;
use std::io::Write as _;

use crate::support::{
    NOTHING, Reply, Server, content, dataset, file, files_below, member, options, serving,
};
use dissensus_core::Silent;
use dissensus_data::catalogue::{Dataset, Format};
use dissensus_data::{Error, fetch};
use flate2::Compression;
use flate2::write::GzEncoder;

fn tar_gz(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn offering(archive: &[u8]) -> Server {
    let archive = archive.to_vec();
    Server::start(move |_, request| Reply::ranged(&archive, "\"v1\"", request))
}

/// A dataset of `a.bin` and `b.bin`, members of one archive.
fn pair(format: Format, known: Option<&[u8]>, a: &[u8], b: &[u8]) -> Dataset {
    dataset(vec![
        file("set/a.bin", a, vec![member(format, known, "folder/a.bin")]),
        file("set/b.bin", b, vec![member(format, known, "folder/b.bin")]),
    ])
}

#[test]
fn members_come_out_of_both_formats_for_one_download() {
    let (a, b) = (content(200_000, 1), content(300_000, 2));
    let entries: [(&str, &[u8]); 3] =
        [("folder/b.bin", &b), ("folder/junk", b"junk"), ("folder/a.bin", &a)];
    for (format, archive) in [(Format::TarGz, tar_gz(&entries)), (Format::Zip, zip(&entries))] {
        for known in [None, Some(archive.as_slice())] {
            let server = offering(&archive);
            let cache = tempfile::tempdir().unwrap();
            let data = pair(format, known, &a, &b);
            let fetched = fetch(&data, &options(cache.path(), Some(&server)), &Silent).unwrap();
            assert_eq!(fs::read(&fetched.files[0].path).unwrap(), a);
            assert_eq!(fs::read(&fetched.files[1].path).unwrap(), b);
            assert_eq!(server.requests().len(), 1, "{format:?}");
            assert_eq!(
                files_below(cache.path()),
                [cache.path().join("set/a.bin"), cache.path().join("set/b.bin")],
                "the archive is gone"
            );
        }
    }
}

#[test]
fn a_broken_download_of_an_archive_is_resumed() {
    let a = content(100_000, 3);
    let archive = tar_gz(&[("folder/a.bin", &a)]);
    let middle = archive.len() / 2;
    let server = serving(&archive, move |archive, n, request| {
        let reply = Reply::ranged(archive, "\"v1\"", request);
        if n == 0 { reply.cut(middle) } else { reply }
    });
    let cache = tempfile::tempdir().unwrap();
    let data = dataset(vec![file(
        "a.bin",
        &a,
        vec![member(Format::TarGz, Some(&archive), "folder/a.bin")],
    )]);
    fetch(&data, &options(cache.path(), Some(&server)), &Silent).unwrap();
    assert_eq!(server.requests()[1].from(), Some(middle));
}

#[test]
fn a_wrong_archive_or_member_leaves_nothing_behind() {
    let (a, b) = (content(1000, 4), content(1000, 5));
    let archive = zip(&[("folder/a.bin", &a), ("folder/b.bin", &a)]);
    let server = offering(&archive);
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), Some(&server));

    // The archive's own digest is wrong.
    let mut other = archive.clone();
    other[0] ^= 1;
    let error = fetch(&pair(Format::Zip, Some(&other), &a, &b), &options, &Silent).unwrap_err();
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
    assert_eq!(files_below(cache.path()), NOTHING);

    // Only the second member is wrong; the first stays, being right.
    let error = fetch(&pair(Format::Zip, None, &a, &b), &options, &Silent).unwrap_err();
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
    assert!(error.to_string().contains("set/b.bin"), "{error}");
    assert_eq!(files_below(cache.path()), [cache.path().join("set/a.bin")]);
}

#[test]
fn a_missing_member_is_named_with_its_like() {
    let a = content(1000, 6);
    let entries: [(&str, &[u8]); 2] = [("elsewhere/a.bin", &a), ("__MACOSX/a.bin", b"x")];
    for (format, archive) in [(Format::TarGz, tar_gz(&entries)), (Format::Zip, zip(&entries))] {
        let server = offering(&archive);
        let cache = tempfile::tempdir().unwrap();
        let data = pair(format, None, &a, &a);
        let error = fetch(&data, &options(cache.path(), Some(&server)), &Silent).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::NoMember { .. }), "{message}");
        assert!(message.contains("but it has elsewhere/a.bin)"), "{message}");
        assert_eq!(files_below(cache.path()), NOTHING);
    }
}

#[test]
fn a_bomb_is_not_unpacked() {
    // 2 MB of zeros, in an archive of some kilobytes, where 1,000 bytes are expected.
    let (a, zeros) = (content(1000, 7), vec![0; 2_000_000]);
    let entries: [(&str, &[u8]); 1] = [("folder/a.bin", &zeros)];
    for (format, archive) in [(Format::TarGz, tar_gz(&entries)), (Format::Zip, zip(&entries))] {
        assert!(archive.len() < 20_000);
        let server = offering(&archive);
        let cache = tempfile::tempdir().unwrap();
        let error =
            fetch(&pair(format, None, &a, &a), &options(cache.path(), Some(&server)), &Silent)
                .unwrap_err();
        assert!(matches!(error, Error::TooBig { limit: 1000, .. }), "{error}");
        assert_eq!(files_below(cache.path()), NOTHING);
    }
}

#[test]
fn a_bomb_that_lies_about_its_size_is_stopped_while_unpacking() {
    let (a, zeros) = (content(1000, 8), vec![0; 2_000_000]);
    let mut archive = zip(&[("folder/a.bin", &zeros)]);
    // Write the expected 1,000 over the true size, in both of the headers.
    let (size, claim) = (2_000_000_u32.to_le_bytes(), 1000_u32.to_le_bytes());
    let places: Vec<usize> =
        (0..archive.len() - 4).filter(|&i| archive[i..i + 4] == size).collect();
    assert_eq!(places.len(), 2);
    for at in places {
        archive[at..at + 4].copy_from_slice(&claim);
    }
    let server = offering(&archive);
    let cache = tempfile::tempdir().unwrap();
    let error =
        fetch(&pair(Format::Zip, None, &a, &a), &options(cache.path(), Some(&server)), &Silent)
            .unwrap_err();
    // Whether the reader or our limit notices first is the reader's affair.
    assert!(
        matches!(error, Error::TooBig { .. } | Error::BadArchive { .. } | Error::Checksum { .. }),
        "{error}"
    );
    assert_eq!(files_below(cache.path()), NOTHING);
}

#[test]
fn what_is_no_archive_is_a_named_error() {
    let page = b"<!doctype html><title>Sign in</title>";
    let truncated = {
        let mut bytes = tar_gz(&[("folder/a.bin", &content(50_000, 9))]);
        bytes.truncate(bytes.len() / 2);
        bytes
    };
    for (format, body) in [
        (Format::Zip, &page[..]),
        (Format::TarGz, &page[..]),
        (Format::TarGz, &truncated[..]),
        (Format::Zip, b""),
    ] {
        let server = offering(body);
        let cache = tempfile::tempdir().unwrap();
        let a = content(50_000, 9);
        let error =
            fetch(&pair(format, None, &a, &a), &options(cache.path(), Some(&server)), &Silent)
                .unwrap_err();
        assert!(matches!(error, Error::BadArchive { .. }), "{format:?}: {error}");
        assert_eq!(files_below(cache.path()), NOTHING);
    }
}
