//! Downloads against servers that behave, break off, change their mind, and lie.

use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{
    NOTHING, Reply, Server, content, dataset, direct, file, files_below, options, serving, sha256,
    single,
};
use dissensus_core::{Event, Progress, Silent, Unit};
use dissensus_data::catalogue::{Dataset, Kind};
use dissensus_data::fetch::{FetchedFile, Outcome};
use dissensus_data::{Error, Options, fetch};

fn fetch_one(dataset: &Dataset, options: &Options) -> Result<FetchedFile, Error> {
    fetch(dataset, options, &Silent).map(|mut f| f.files.remove(0))
}

fn downloaded(resumed_from: Option<u64>) -> Outcome {
    Outcome::Downloaded { url: "https://example.org/data.bin".into(), resumed_from }
}

/// Remembers what was reported.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for Log {
    fn report(&self, event: Event<'_>) {
        let mut lines = self.0.lock().unwrap();
        let line = match event {
            Event::Started { task, total: None, unit: Unit::Bytes } => format!("started {task}"),
            Event::Advanced { task, done, total, detail: "" } => {
                // Only where it is: how often it is reported is not promised.
                lines.pop_if(|line| line.starts_with("at "));
                format!("at {done} of {total:?} {task}")
            }
            Event::Advanced { done, detail, .. } => format!("{detail} {done}"),
            Event::Finished { task } => format!("finished {task}"),
            Event::Warning(line) => format!("warning: {line}"),
            other => format!("{other:?}"),
        };
        lines.push(line);
    }
}

#[test]
fn a_plain_download_arrives_and_is_not_repeated() {
    let body = content(300_000, 1);
    let server = serving(&body, move |body, _, _| Reply::ok(body));
    let cache = tempfile::tempdir().unwrap();
    let (data, options) = (single(&body), options(cache.path(), Some(&server)));

    let log = Log::default();
    let fetched = fetch(&data, &options, &log).unwrap();
    assert_eq!(fetched.name, "made-up");
    assert_eq!(fetched.files[0].outcome, downloaded(None));
    assert_eq!(fetched.files[0].variant.sha256, sha256(&body));
    assert_eq!(fs::read(&fetched.files[0].path).unwrap(), body);
    assert_eq!(files_below(cache.path()), [cache.path().join("a/data.bin")]);
    assert_eq!(
        log.lines(),
        ["started a/data.bin", "at 300000 of Some(300000) a/data.bin", "finished a/data.bin"]
    );

    let log = Log::default();
    let again = fetch(&data, &options, &log).unwrap();
    assert_eq!(again.files[0].outcome, Outcome::Present);
    assert!(log.lines().is_empty(), "what is there already is not reported");
    assert_eq!(server.requests().len(), 1, "the second fetch asks for nothing");

    let forced = Options { force: true, ..options };
    assert_eq!(fetch_one(&data, &forced).unwrap().outcome, downloaded(None));
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.requests()[0].path, "/data.bin");
}

#[test]
fn a_spoilt_file_in_the_cache_is_replaced() {
    let body = content(1000, 2);
    let server = serving(&body, move |body, _, _| Reply::ok(body));
    let cache = tempfile::tempdir().unwrap();
    let dest = cache.path().join("a/data.bin");
    fs::create_dir(dest.parent().unwrap()).unwrap();
    // Of the right size, so that only the digest tells.
    fs::write(&dest, content(1000, 3)).unwrap();
    fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fs::read(&dest).unwrap(), body);
}

#[test]
fn a_broken_transfer_is_resumed_and_only_the_rest_is_sent_again() {
    let body = content(500_000, 4);
    let server = serving(&body, move |body, n, request| {
        let reply = Reply::ranged(body, "\"v1\"", request);
        if n == 0 { reply.cut(200_000) } else { reply }
    });
    let cache = tempfile::tempdir().unwrap();
    let log = Log::default();
    let options = options(cache.path(), Some(&server));
    let fetched = fetch(&single(&body), &options, &log).unwrap();
    assert_eq!(fetched.files[0].outcome, downloaded(Some(200_000)));
    assert_eq!(fs::read(&fetched.files[0].path).unwrap(), body);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].from(), requests[1].from()), (None, Some(200_000)));
    assert_eq!(requests[1].header("if-range"), Some("\"v1\""));
    assert!(log.lines().contains(&"resumed 200000".to_owned()), "{:?}", log.lines());
    assert_eq!(files_below(cache.path()).len(), 1, "neither part nor note is left");
}

#[test]
fn a_later_run_resumes_what_an_earlier_one_left() {
    let body = content(100_000, 5);
    let half = {
        let body = body.clone();
        Server::start(move |_, request| Reply::ranged(&body, "\"v1\"", request).cut(40_000))
    };
    let cache = tempfile::tempdir().unwrap();
    let first = Options { retries: 0, ..options(cache.path(), Some(&half)) };
    let error = fetch_one(&single(&body), &first).unwrap_err();
    assert!(matches!(error, Error::BrokeOff { announced: 100_000, got: 40_000, .. }), "{error}");
    assert_eq!(files_below(cache.path()).len(), 2, "part and note are kept");

    let whole = {
        let body = body.clone();
        Server::start(move |_, request| Reply::ranged(&body, "\"v1\"", request))
    };
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&whole))).unwrap();
    assert_eq!(fetched.outcome, downloaded(Some(40_000)));
    assert_eq!(fs::read(fetched.path).unwrap(), body);
}

#[test]
fn a_part_that_is_whole_needs_no_request() {
    let body = content(1000, 6);
    let cache = tempfile::tempdir().unwrap();
    fs::create_dir(cache.path().join("a")).unwrap();
    fs::write(cache.path().join("a/data.bin.part"), &body).unwrap();
    let note = r#"{"url":"https://example.org/data.bin","etag":"\"1\"","last_modified":null,"total":1000}"#;
    fs::write(cache.path().join("a/data.bin.part.json"), note).unwrap();
    let server = Server::start(|_, _| Reply::new(500, ""));
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), body);
    assert_eq!(server.requests(), []);
}

#[test]
fn a_part_that_went_bad_on_disk_is_fetched_afresh() {
    let body = content(1000, 7);
    let cache = tempfile::tempdir().unwrap();
    fs::create_dir(cache.path().join("a")).unwrap();
    fs::write(cache.path().join("a/data.bin.part"), content(400, 8)).unwrap();
    let note = r#"{"url":"https://example.org/data.bin","etag":"\"1\"","last_modified":null,"total":1000}"#;
    fs::write(cache.path().join("a/data.bin.part.json"), note).unwrap();
    let server = serving(&body, move |body, _, request| Reply::ranged(body, "\"1\"", request));
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fetched.outcome, downloaded(None));
    assert_eq!(fs::read(fetched.path).unwrap(), body);
    let asked: Vec<_> = server.requests().iter().map(|r| r.from()).collect();
    assert_eq!(asked, [Some(400), None]);
}

#[test]
fn a_server_that_ignores_ranges_starts_over() {
    let body = content(100_000, 9);
    let server = serving(&body, move |body, n, _| {
        let reply = Reply::ok(body).header("ETag", "\"v1\"");
        if n == 0 { reply.cut(60_000) } else { reply }
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fetched.outcome, downloaded(None));
    assert_eq!(fs::read(fetched.path).unwrap(), body);
    assert_eq!(server.requests()[1].from(), Some(60_000), "it was asked for a range");
}

#[test]
fn a_server_without_validators_is_never_resumed() {
    let body = content(100_000, 10);
    let server = serving(&body, move |body, n, _| {
        // A weak tag promises likeness, not the same bytes.
        let reply = Reply::ok(body).header("ETag", "W/\"v1\"");
        if n == 0 { reply.cut(60_000) } else { reply }
    });
    let cache = tempfile::tempdir().unwrap();
    fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(server.requests()[1].from(), None);
}

#[test]
fn the_date_of_modification_serves_where_there_is_no_tag() {
    let body = content(100_000, 11);
    let date = "Wed, 21 Oct 2015 07:28:00 GMT";
    let server = serving(&body, move |body, n, request| {
        let reply = Reply::ranged(body, date, request);
        let mut reply = reply.header("Last-Modified", date);
        reply.headers.retain(|(name, _)| *name != "ETag");
        if n == 0 { reply.cut(60_000) } else { reply }
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fetched.outcome, downloaded(Some(60_000)));
    assert_eq!(server.requests()[1].header("if-range"), Some(date));
}

#[test]
fn content_that_changes_in_between_starts_over() {
    let (old, new) = (content(100_000, 12), content(100_000, 13));
    let server = Server::start({
        let (old, new) = (old.clone(), new.clone());
        move |n, request| match n {
            0 => Reply::ranged(&old, "\"old\"", request).cut(50_000),
            _ => Reply::ranged(&new, "\"new\"", request),
        }
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&new), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fetched.outcome, downloaded(None));
    assert_eq!(fs::read(fetched.path).unwrap(), new);
    assert_eq!(server.requests().len(), 2, "If-Range made the server send all of it at once");
}

#[test]
fn a_partial_answer_of_another_version_is_not_glued_on() {
    let (old, new) = (content(100_000, 14), content(100_000, 15));
    let server = Server::start({
        let (old, new) = (old.clone(), new.clone());
        move |n, request| match n {
            0 => Reply::ranged(&old, "\"old\"", request).cut(50_000),
            // Ignores If-Range, and sends the end of the new file.
            1 => Reply::new(206, &new[50_000..])
                .header("ETag", "\"new\"")
                .header("Content-Range", "bytes 50000-99999/100000"),
            _ => Reply::ranged(&new, "\"new\"", request),
        }
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&new), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), new);
    let asked: Vec<_> = server.requests().iter().map(|r| r.from()).collect();
    assert_eq!(asked, [None, Some(50_000), None]);
}

#[test]
fn a_refused_range_starts_over() {
    let body = content(100_000, 16);
    let server = serving(&body, move |body, n, request| match n {
        0 => Reply::ranged(body, "\"v1\"", request).cut(50_000),
        1 => Reply::new(416, "").header("Content-Range", "bytes */100000"),
        _ => Reply::ranged(body, "\"v1\"", request),
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fs::read(fetched.path).unwrap(), body);
    assert_eq!(server.requests()[2].from(), None);
}

#[test]
fn a_length_that_is_never_delivered_is_an_error() {
    let body = content(1000, 17);
    // Announces the right length, but has only 900 bytes, whatever is asked.
    let server =
        serving(&body, move |body, _, _| Reply::ok(body).header("ETag", "\"v1\"").cut(900));
    let cache = tempfile::tempdir().unwrap();
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap_err();
    assert!(matches!(error, Error::BrokeOff { announced: 1000, got: 900, .. }), "{error}");
    assert_eq!(server.requests().len(), 4, "once, and three retries");
    assert!(!cache.path().join("a/data.bin").exists());
}

#[test]
fn a_wrong_announced_length_is_refused_before_the_body() {
    for announced in [900, 1100] {
        let body = content(1000, 18);
        let server = serving(&body, move |body, _, _| Reply {
            length: Some(Some(announced)),
            ..Reply::ok(body)
        });
        let cache = tempfile::tempdir().unwrap();
        let error = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::Size { .. }), "{message}");
        assert!(message.contains(&format!("has {announced} bytes; expected 1000")), "{message}");
        assert_eq!(files_below(cache.path()), NOTHING);
        assert_eq!(server.requests().len(), 1, "no retry can help");
    }
}

#[test]
fn a_body_without_length_is_bounded_and_checked() {
    let body = content(1000, 19);
    let unannounced =
        |sent: Vec<u8>| Server::start(move |_, _| Reply { length: Some(None), ..Reply::ok(&sent) });
    let cache = tempfile::tempdir().unwrap();

    let longer = unannounced(content(300_000, 20));
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&longer))).unwrap_err();
    assert!(error.to_string().contains("has more than 1000 bytes"), "{error}");
    assert_eq!(files_below(cache.path()), NOTHING);

    let shorter = unannounced(body[..700].to_vec());
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&shorter))).unwrap_err();
    assert!(matches!(error, Error::BrokeOff { announced: 1000, got: 700, .. }), "{error}");

    let right = unannounced(body.clone());
    fetch_one(&single(&body), &options(cache.path(), Some(&right))).unwrap();
}

#[test]
fn wrong_bytes_leave_nothing_behind() {
    let (right, wrong) = (content(1000, 21), content(1000, 22));
    let server = serving(&wrong, move |wrong, _, _| Reply::ok(wrong).header("ETag", "\"v1\""));
    let cache = tempfile::tempdir().unwrap();
    let error = fetch_one(&single(&right), &options(cache.path(), Some(&server))).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::Checksum { .. }), "{message}");
    for part in ["a/data.bin", "https://example.org/data.bin", &sha256(&right), &sha256(&wrong)] {
        assert!(message.contains(part), "{part} is not in: {message}");
    }
    assert_eq!(files_below(cache.path()), NOTHING);
}

#[test]
fn a_missing_file_is_an_error_at_once_and_a_broken_server_is_tried_again() {
    let body = content(1000, 23);
    let cache = tempfile::tempdir().unwrap();

    let missing = Server::start(|_, _| Reply::new(404, "gone"));
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&missing))).unwrap_err();
    assert!(matches!(error, Error::Http { status: 404, .. }), "{error}");
    assert_eq!(missing.requests().len(), 1);

    let broken = Server::start(|_, _| Reply::new(500, "oops"));
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&broken))).unwrap_err();
    assert!(matches!(error, Error::Http { status: 500, .. }), "{error}");
    assert_eq!(broken.requests().len(), 4);
    assert_eq!(files_below(cache.path()), NOTHING);

    let mending = serving(&body, move |body, n, _| {
        if n < 2 { Reply::new(503, "").header("Retry-After", "0") } else { Reply::ok(body) }
    });
    let log = Log::default();
    fetch(&single(&body), &options(cache.path(), Some(&mending)), &log).unwrap();
    assert_eq!(
        log.lines().iter().filter(|l| l.starts_with("warning: a/data.bin: attempt")).count(),
        2
    );
}

#[test]
fn redirects_are_followed_also_when_resuming() {
    let body = content(100_000, 24);
    let server = serving(&body, move |body, n, request| match request.path.as_str() {
        "/data.bin" => Reply::new(302, "").header("Location", "/elsewhere/x"),
        _ if n == 1 => Reply::ranged(body, "\"v1\"", request).cut(30_000),
        _ => Reply::ranged(body, "\"v1\"", request),
    });
    let cache = tempfile::tempdir().unwrap();
    let fetched = fetch_one(&single(&body), &options(cache.path(), Some(&server))).unwrap();
    assert_eq!(fetched.outcome, downloaded(Some(30_000)));
    assert_eq!(fs::read(fetched.path).unwrap(), body);

    let looping = Server::start(|_, _| Reply::new(302, "").header("Location", "/data.bin"));
    let cache = tempfile::tempdir().unwrap();
    let error = fetch_one(&single(&body), &options(cache.path(), Some(&looping))).unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
}

#[test]
fn a_transfer_that_stands_still_is_given_up() {
    let body = content(1000, 25);
    let server =
        serving(&body, move |body, _, _| Reply::ok(body).cut(100).stall(Duration::from_secs(60)));
    let cache = tempfile::tempdir().unwrap();
    let options = Options {
        read_timeout: Duration::from_secs(1),
        retries: 0,
        ..options(cache.path(), Some(&server))
    };
    let began = std::time::Instant::now();
    let error = fetch_one(&single(&body), &options).unwrap_err();
    assert!(matches!(error, Error::BrokeOff { got: 100, .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn nobody_listening_is_a_named_error() {
    // Bound and dropped: nothing listens there now.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cache = tempfile::tempdir().unwrap();
    let options = Options {
        base_url: Some(format!("http://127.0.0.1:{port}")),
        ..options(cache.path(), None)
    };
    let error = fetch_one(&single(b"x"), &options).unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error}");
}

#[test]
fn the_next_home_is_tried_when_one_fails() {
    let body = content(1000, 26);
    let server = serving(&body, move |body, _, request| match request.path.as_str() {
        "/good" => Reply::ok(body),
        "/wrong" => Reply::ok(&content(1000, 27)),
        _ => Reply::new(404, ""),
    });
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), Some(&server));
    let homes = |urls: &[&'static str]| {
        dataset(vec![file("x.bin", &body, urls.iter().map(|u| direct(u)).collect())])
    };

    let gone = homes(&["https://a.org/gone", "https://b.org/wrong"]);
    let message = fetch_one(&gone, &options).unwrap_err().to_string();
    assert!(
        message.contains("(1) https://a.org/gone answered")
            && message.contains("(2) x.bin from https://b.org/wrong has"),
        "{message}"
    );
    assert_eq!(files_below(cache.path()), NOTHING);

    let found = homes(&["https://a.org/gone", "https://b.org/wrong", "https://c.org/good"]);
    fetch_one(&found, &options).unwrap();

    let none = dataset(vec![file("y.bin", b"y", vec![])]);
    let error = fetch_one(&none, &options).unwrap_err();
    assert!(matches!(error, Error::NoSource { made_by: None, .. }), "{error}");
    assert!(error.to_string().contains("https://example.org/home"), "{error}");
}

#[test]
fn other_schemes_are_refused() {
    let cache = tempfile::tempdir().unwrap();
    let data = dataset(vec![file("x", b"x", vec![direct("ftp://example.org/x")])]);
    let error = fetch_one(&data, &options(cache.path(), None)).unwrap_err();
    assert!(matches!(error, Error::BadUrl { .. }), "{error}");
}

#[test]
fn two_fetches_at_once_cost_one_download() {
    let body = content(50_000, 28);
    let server = serving(&body, move |body, _, _| {
        // Long enough that the other fetch has begun.
        std::thread::sleep(Duration::from_millis(100));
        Reply::ok(body)
    });
    let cache = tempfile::tempdir().unwrap();
    let (data, options) = (single(&body), options(cache.path(), Some(&server)));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| fetch_one(&data, &options).unwrap());
        }
    });
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_cache_that_cannot_be_made_is_a_named_error() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("file");
    fs::write(&blocked, b"not a directory").unwrap();
    let error = fetch_one(&single(b"x"), &options(&blocked.join("cache"), None)).unwrap_err();
    assert!(error.to_string().contains("creating the cache directory"), "{error}");
}

#[test]
fn generated_data_is_not_fetched() {
    let cache = tempfile::tempdir().unwrap();
    let made = Dataset { kind: Kind::Generated, files: &[], ..single(b"x") };
    let error = fetch(&made, &options(cache.path(), None), &Silent).unwrap_err();
    assert!(matches!(error, Error::Generated { .. }), "{error}");
}
