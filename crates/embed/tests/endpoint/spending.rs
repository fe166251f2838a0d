//! The cap on spending, and going on through the cache.

use dissensus_embed::endpoint::{Cap, Spent};
use dissensus_embed::{Cache, Cached, EmbedError, Encoder, EndpointError};
use serde_json::json;

use super::server::{Reply, Server, answer, good, input, vectors};
use super::{encode, endpoint, endpoint_error, settings};

/// A token a unit of money.
fn cap(most: f64) -> Option<Cap> {
    Some(Cap { price: 1e6, most })
}

/// A text of one letter may take 9 tokens and takes 1: with 20 to spend, requests are sent as long
/// as 11 or less are spent.
#[test]
fn no_request_is_sent_that_could_pass_the_cap() {
    let server = Server::start(|_, request| good(request));
    let mut settings = settings(&server);
    (settings.batch_texts, settings.cap) = (1, cap(20.0));
    let (endpoint, _) = endpoint(settings);
    let texts: Vec<String> = ('a'..='z').map(String::from).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let error = encode(&endpoint, &texts).unwrap_err();
    match &error {
        EmbedError::Partly { done, .. } => {
            assert_eq!((done.rows, &done.vectors), (12, &vectors(&texts[..12])));
        }
        other => panic!("{other}"),
    }
    assert!(matches!(endpoint_error(error), EndpointError::Cap { spent: 12, next: 9, .. }));
    assert_eq!(endpoint.spent(), Spent { requests: 12, tokens: 12 });
    assert_eq!(endpoint.spent().cost(1e6), 12.0);
    assert_eq!(server.requests().len(), 12);
    // It stays so.
    assert!(matches!(
        endpoint_error(encode(&endpoint, &["z"]).unwrap_err()),
        EndpointError::Cap { .. }
    ));
    assert_eq!(server.requests().len(), 12);
}

#[test]
fn a_cap_of_nothing_sends_nothing() {
    let server = Server::start(|_, request| good(request));
    let mut settings = settings(&server);
    settings.cap = cap(0.0);
    let error = endpoint_error(encode(&endpoint(settings).0, &["a"]).unwrap_err());
    let text = error.to_string();
    assert!(text.contains("the cap on spending is 0") && text.contains("raise the cap"), "{text}");
    assert!(server.requests().is_empty());
}

/// Whether work was done for a request without an answer is not known, so it counts in full.
#[test]
fn what_may_have_been_charged_counts() {
    let spent = |reply: fn(usize, &super::server::Request) -> Reply| {
        let server = Server::start(reply);
        let (endpoint, _) = endpoint(settings(&server));
        let _ = encode(&endpoint, &["a"]);
        endpoint.spent().tokens
    };
    assert_eq!(spent(|_, r| good(r)), 1);
    assert_eq!(spent(|n, r| if n == 0 { Reply::new(500, "") } else { good(r) }), 1);
    assert_eq!(spent(|n, r| if n == 0 { good(r).cut(9) } else { good(r) }), 10);
    assert_eq!(spent(|_, _| Reply::new(401, "")), 0);
    assert_eq!(spent(|_, _| Reply::new(200, json!({"data": []}).to_string())), 9);
    // No usage in the answer.
    let silent = |_: usize, r: &super::server::Request| {
        let mut answer = answer(&input(r));
        answer.as_object_mut().unwrap().remove("usage");
        Reply::new(200, answer.to_string())
    };
    assert_eq!(spent(silent), 9);
    // More than we thought possible.
    let greedy = |_: usize, r: &super::server::Request| {
        let mut answer = answer(&input(r));
        answer["usage"]["total_tokens"] = json!(500);
        Reply::new(200, answer.to_string())
    };
    assert_eq!(spent(greedy), 500);
}

/// The server fails for good in the third request; when it is well again, only what is missing is
/// asked for.
#[test]
fn nothing_is_asked_twice() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let texts: Vec<String> = (0..11).map(|i| format!("text {i}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.push("text 3");
    let server = Server::start(|n, request| match n {
        2 => Reply::new(400, "too long"),
        _ => good(request),
    });
    let mut settings = settings(&server);
    settings.batch_texts = 2;
    let cached = || Cached::new(Box::new(endpoint(settings.clone()).0), &cache).unwrap();
    let first = cached();
    let error = endpoint_error(first.texts(&texts, &mut |_| true).unwrap_err());
    assert!(matches!(error, EndpointError::Refused { status: 400, .. }), "{error}");
    assert_eq!(first.stats().misses, 4);

    let second = cached();
    assert_eq!(second.width(), Some(3));
    let mut told = 0;
    let vectors_of = second.texts(&texts, &mut |n| {
        told += n;
        true
    });
    assert_eq!(vectors_of.unwrap(), vectors(&texts));
    assert_eq!(told, 12);
    assert_eq!((second.stats().hits, second.stats().misses), (5, 7));
    let mut asked: Vec<String> = Vec::new();
    for (n, request) in server.requests().iter().enumerate() {
        if n != 2 {
            asked.extend(input(request));
        }
    }
    asked.sort();
    let distinct = asked.len();
    asked.dedup();
    assert_eq!((asked.len(), distinct), (11, 11));

    // And again: all is there.
    let before = server.requests().len();
    assert_eq!(cached().texts(&texts, &mut |_| true).unwrap(), vectors(&texts));
    assert_eq!(server.requests().len(), before);
}
