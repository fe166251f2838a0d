//! Stores in a bucket of an S3 server. `clusters/s3/run` starts one, behind a proxy that fails often.

#![cfg(feature = "cloud")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/workers.rs"]
mod workers;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use common::finish;
use dissensus_remote::{Remote, SyncOptions};
use dissensus_store::Store;
use workers::{eight_workers, sync};

/// The bucket of this test below a prefix; `None` where there is no server.
fn bucket(prefix: &str) -> Option<String> {
    match std::env::var("DISSENSUS_TEST_BUCKET") {
        Ok(bucket) => Some(format!("s3://{bucket}/{prefix}")),
        Err(_) => {
            dissensus_testing::skipped("s3", "there is no S3 server; clusters/s3/run starts one")
        }
    }
}

#[test]
fn eight_workers_push_at_once_through_a_network_that_fails() {
    let Some(url) = bucket("workers/a") else { return };
    let conditional = std::env::var("AWS_CONDITIONAL_PUT").as_deref() != Ok("disabled");
    eight_workers(&url, conditional);
}

#[test]
fn two_results_of_one_run_are_refused() {
    let Some(url) = bucket("conflict") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    finish(&Store::create_or_open(path("a")).unwrap(), 1, 1.0);
    finish(&Store::create_or_open(path("b")).unwrap(), 1, 1.5);
    assert!(!sync(&path("a"), &url).has_problems());
    let synced = sync(&path("b"), &url);
    assert_eq!((synced.conflicts.len(), synced.pushed.runs, synced.has_problems()), (1, 0, true));
}

#[test]
fn a_bucket_that_does_not_exist_is_said_without_keys() {
    let Some(_) = bucket("") else { return };
    let folder = tempfile::tempdir().unwrap();
    let remote = Remote::open("s3://no-such-bucket/x").unwrap();
    let error = remote.sync(&folder.path().join("a"), &SyncOptions::default()).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("404 Not Found: NoSuchBucket"), "{text}");
    assert!(!text.to_lowercase().contains("hunter2") && !text.contains("http"), "{text}");
}

/// A server that refuses, and repeats all that it was sent.
#[test]
fn what_a_server_repeats_is_not_printed() {
    let Some(_) = bucket("") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), vec![0; 1 << 16]);
            let read = stream.read(&mut request).unwrap();
            let said = String::from_utf8_lossy(&request[..read]).into_owned();
            assert!(said.contains("AKIAXHUNTER2"), "the request is signed: {said}");
            let body = format!("<Error><Code>AccessDenied</Code><Message>{said}</Message></Error>");
            let head = "HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: ";
            write!(stream, "{head}{}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    // Another process, as the environment is the whole process's.
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(["--exact", "refused_by_the_endpoint", "--ignored", "--nocapture"])
        .env("AWS_ENDPOINT", endpoint)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("the server answers 403 Forbidden: AccessDenied"), "{text}");
    for secret in ["HUNTER2", "hunter2", "Signature", "Credential", "127.0.0.1"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

/// Run by the test above, with an endpoint that refuses.
#[test]
#[ignore = "part of another test"]
fn refused_by_the_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let remote = Remote::open("s3://lab/x").unwrap();
    let error = remote.sync(&folder.path().join("a"), &SyncOptions::default()).unwrap_err();
    println!("{error} {error:?}");
}
