//! Servers that fail.

use std::time::{Duration, Instant};

use dissensus_embed::endpoint::Settings;
use dissensus_embed::{EmbedError, Encoder, EndpointError};
use serde_json::json;

use super::server::{How, Reply, Request, Server, answer, good, input, vectors};
use super::{KEY, encode, endpoint, endpoint_error, settings};

const SECOND: Duration = Duration::from_secs(1);

/// Fails in this way as often, then answers well. How often it was asked, and the pauses.
fn after(times: usize, bad: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Vec<Duration> {
    after_within(30 * SECOND, times, bad)
}

fn after_within(
    timeout: Duration,
    times: usize,
    bad: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> Vec<Duration> {
    let server = Server::start(move |n, r| if n < times { bad(r) } else { good(r) });
    let (endpoint, pauses) = endpoint(Settings { timeout, ..settings(&server) });
    assert_eq!(encode(&endpoint, &["a", "bb"]).unwrap(), vectors(&["a", "bb"]));
    assert_eq!(server.requests().len(), times + 1);
    assert_eq!(endpoint.spent().requests, times as u64 + 1);
    pauses.list()
}

/// The error of a server that always answers so, and how often it was asked.
fn always(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (EndpointError, usize) {
    let server = Server::start(move |_, request| reply(request));
    let (endpoint, _) = endpoint(settings(&server));
    let error = endpoint_error(encode(&endpoint, &["a", "bb"]).unwrap_err());
    (error, server.requests().len())
}

#[test]
fn what_passes_is_tried_again() {
    for status in [408, 429, 500, 502, 503, 504] {
        let pauses = after(2, move |_| Reply::new(status, "busy"));
        // A second, then two, each less a random half at most.
        assert_eq!(pauses.len(), 2, "{status}");
        assert!((SECOND / 2..=SECOND).contains(&pauses[0]), "{pauses:?}");
        assert!((SECOND..=2 * SECOND).contains(&pauses[1]), "{pauses:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_pauses() {
    let run = || after(3, |_| Reply::new(500, ""));
    assert_eq!(run(), run());
}

#[test]
fn a_server_that_names_a_pause_gets_it() {
    let pauses = after(1, |_| Reply::new(429, "").header("Retry-After", "17"));
    assert_eq!(pauses, [17 * SECOND]);
    // Less than we would wait anyway.
    let pauses = after(1, |_| Reply::new(503, "").header("Retry-After", "0"));
    assert!(pauses[0] >= SECOND / 2);
    let (error, asked) = always(|_| Reply::new(429, "").header("Retry-After", "3600"));
    assert!(
        matches!(error, EndpointError::Wait { asked, .. } if asked == 3600 * SECOND),
        "{error}"
    );
    assert_eq!(asked, 1);
}

#[test]
fn an_empty_account_is_not_asked_again() {
    let body = r#"{"error": {"message": "You exceeded it", "code": "insufficient_quota"}}"#;
    let (error, asked) = always(move |_| Reply::new(429, body));
    assert!(error.to_string().contains("nothing left to spend"), "{error}");
    assert_eq!(asked, 1);
}

#[test]
fn a_server_that_hangs_is_given_up_and_asked_again() {
    let began = Instant::now();
    after_within(2 * SECOND, 1, |_| Reply::new(200, "").how(How::Silent).stall(60 * SECOND));
    // Bytes keep coming, but not fast enough.
    after_within(2 * SECOND, 1, |r| good(r).how(How::Drip(SECOND / 2)));
    assert!(began.elapsed() < 30 * SECOND);
}

#[test]
fn broken_answers_are_asked_for_again() {
    // Closed within the body, and before any of it.
    after(1, |r| good(r).cut(20));
    after(2, |r| good(r).cut(0));
    after(1, |_| Reply::new(200, "").how(How::Silent));
    // Whole by HTTP's account, but JSON that stops.
    after(1, |r| {
        let body = answer(&input(r)).to_string();
        Reply::new(200, &body.as_bytes()[..body.len() / 2])
    });
}

#[test]
fn in_the_end_it_is_given_up() {
    let (error, asked) = always(|_| Reply::new(500, r#"{"error": {"message": "our fault"}}"#));
    assert_eq!(asked, 4);
    let text = error.to_string();
    assert!(matches!(error, EndpointError::Unreachable { attempts: 4, .. }), "{text}");
    assert!(text.contains("answers 500: our fault") && text.contains("finished vectors are kept"));
}

#[test]
fn nobody_there_is_tried_again_and_costs_nothing() {
    let gone = Server::start(|_, request| good(request));
    let settings = settings(&gone);
    drop(gone);
    let (endpoint, pauses) = endpoint(settings);
    let error = endpoint_error(encode(&endpoint, &["a"]).unwrap_err());
    assert!(matches!(error, EndpointError::Unreachable { attempts: 4, .. }), "{error}");
    assert_eq!((pauses.list().len(), endpoint.spent().tokens), (3, 0));
}

#[test]
fn what_would_fail_again_is_asked_once() {
    for (status, words) in [
        (400, "no text longer than it takes?"),
        (401, "does not accept the key in CARGO_PKG_NAME; set another one"),
        (403, "may not use this model"),
        (404, "usually ends with /v1"),
        (413, "too large; lower the number"),
        (418, "an answer we do not know"),
    ] {
        let body = r#"{"error": {"message": "maximum context length is 8192 tokens"}}"#;
        let (error, asked) = always(move |_| Reply::new(status, body));
        let text = error.to_string();
        assert!(matches!(error, EndpointError::Refused { status: s, .. } if s == status), "{text}");
        assert!(text.contains(words), "{text}");
        assert_eq!(text.contains("8192 tokens"), status != 401, "{text}");
        assert_eq!(asked, 1, "{status}");
    }
}

/// A request that follows would carry the texts, and perhaps the key, to somebody else.
#[test]
fn redirects_are_not_followed() {
    for status in [301, 302, 307, 308] {
        let (error, asked) =
            always(move |_| Reply::new(status, "").header("Location", "https://else.where/v2"));
        assert!(error.to_string().contains("redirects to https://else.where/v2"), "{error}");
        assert_eq!(asked, 1);
    }
}

/// `endpoint_error` looks for the key in every error of these tests; here the server repeats it.
#[test]
fn a_key_that_the_server_repeats_is_not_shown() {
    for status in [400, 401, 403, 404, 500, 302] {
        let (error, _) = always(move |request| {
            let sent = request.header("authorization").unwrap().to_owned();
            assert!(sent.contains(KEY));
            Reply::new(status, json!({"error": {"message": sent}}).to_string())
                .header("Location", format!("https://else.where/?{sent}"))
        });
        assert_eq!(error.to_string().contains("[secret]"), status != 401, "{error}");
    }
    always(|request| {
        let sent = request.header("authorization").unwrap().to_owned();
        Reply::new(200, json!({"data": [{"index": 0, "embedding": [sent]}]}).to_string())
    });
}

#[test]
fn answers_to_something_else_are_refused() {
    let wrong = |change: fn(&mut serde_json::Value), words: &str| {
        let (error, asked) = always(move |request| {
            let mut answer = answer(&input(request));
            change(&mut answer);
            Reply::new(200, answer.to_string())
        });
        let text = error.to_string();
        assert!(matches!(error, EndpointError::Answer { .. }) && text.contains(words), "{text}");
        assert_eq!(asked, 1, "it would be paid for again");
    };
    wrong(|a| drop(a["data"].as_array_mut().unwrap().pop()), "expected 2 vectors, found 1");
    wrong(|a| a["data"][1]["index"] = json!(0), "index 0 twice");
    wrong(|a| a["data"][1]["index"] = json!(7), "index 7");
    wrong(|a| a["data"][1]["embedding"] = json!([1.0]), "expected vectors of 3 numbers");
    wrong(|a| a["data"][1]["embedding"] = json!([1.0, "x", 2.0]), "invalid type: string");
    wrong(|a| a["data"][1]["embedding"] = json!([1.0, null, 2.0]), "invalid type: null");
    wrong(|a| a["data"][1]["embedding"] = json!([1.0, 1e300, 2.0]), "not a finite f32");
    wrong(|a| *a = json!({"error": {"message": "not a model for this"}}), "not a model for this");
    let (error, asked) = always(|request| {
        let text = answer(&input(request)).to_string().replace("-0.25", "NaN");
        Reply::new(200, text)
    });
    assert!(matches!(error, EndpointError::Answer { .. }), "{error}");
    assert_eq!(asked, 1);
    let (error, _) = always(|_| Reply::new(200, "<html>Log in</html>"));
    assert!(error.to_string().contains("is it an embeddings endpoint"), "{error}");
}

#[test]
fn a_width_that_changes_is_refused() {
    let server = Server::start(|n, request| {
        let mut answer = answer(&input(request));
        if n == 1 {
            answer["data"][0]["embedding"] = json!([1.0, 2.0]);
        }
        Reply::new(200, answer.to_string())
    });
    let (endpoint, _) = endpoint(settings(&server));
    encode(&endpoint, &["a"]).unwrap();
    let error = endpoint_error(encode(&endpoint, &["b"]).unwrap_err()).to_string();
    assert!(error.contains("expected vectors of 3 numbers, number 0 has 2"), "{error}");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let server = Server::start(|_, _| Reply::new(200, "").how(How::Flood));
    let mut settings = settings(&server);
    (settings.largest_answer, settings.timeout) = (100_000, 30 * SECOND);
    let (endpoint, _) = endpoint(settings);
    let error = endpoint_error(encode(&endpoint, &["a"]).unwrap_err()).to_string();
    assert!(error.contains("more than 100000 bytes"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

/// Also while it waits to try again.
#[test]
fn the_caller_may_stop_a_pause() {
    let server = Server::start(|_, _| Reply::new(503, ""));
    let (endpoint, pauses) = endpoint(settings(&server));
    let error = endpoint.texts(&["a"], &mut |_| false).unwrap_err();
    assert!(matches!(error, EmbedError::Stopped), "{error}");
    assert_eq!((server.requests().len(), pauses.list().len()), (1, 1));
}
