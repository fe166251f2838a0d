//! What is sent, and what is made of good answers.

use dissensus_embed::{EmbedError, Encoder, Endpoint, EndpointError, Kind};
use serde_json::json;

use super::server::{How, Reply, Server, answer, asked, good, input, vectors};
use super::{KEY, encode, endpoint, endpoint_error, settings};

#[test]
fn a_request_is_what_openai_describes() {
    let server = Server::start(|_, request| good(request));
    let (small, pauses) = endpoint(settings(&server));
    assert_eq!(
        (small.kind(), small.width(), small.identity().name.as_str()),
        (Kind::Text, None, "small")
    );
    assert_eq!(encode(&small, &["one", "zwei ü"]).unwrap(), vectors(&["one", "zwei ü"]));
    assert_eq!(small.width(), Some(3));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(format!("{} {}", requests[0].method, requests[0].path), "POST /v1/embeddings");
    assert_eq!(requests[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body = json!({"model": "small", "input": ["one", "zwei ü"], "encoding_format": "float"});
    assert_eq!(asked(&requests[0]), body);
    assert!(pauses.list().is_empty());
    assert!(!format!("{small:?}").contains(KEY));
    assert!(encode(&small, &[]).unwrap().is_empty());
}

#[test]
fn dimensions_are_asked_for_and_checked() {
    let server = Server::start(|_, request| good(request));
    let mut three = settings(&server);
    (three.dimensions, three.key_variable) = (Some(3), None);
    let (three, _) = endpoint(three);
    assert_eq!(three.width(), Some(3));
    encode(&three, &["one"]).unwrap();
    assert_eq!(asked(&server.requests()[0])["dimensions"], 3);
    assert_eq!(server.requests()[0].header("authorization"), None);
    let mut two = settings(&server);
    two.dimensions = Some(2);
    let error = endpoint_error(encode(&endpoint(two).0, &["one"]).unwrap_err()).to_string();
    assert!(error.contains("expected vectors of 2 numbers, number 0 has 3"), "{error}");
}

#[test]
fn texts_are_sent_in_batches() {
    let server = Server::start(|_, request| good(request));
    let mut settings = settings(&server);
    (settings.batch_texts, settings.batch_characters) = (3, 10);
    let (endpoint, _) = endpoint(settings);
    let texts = ["a", "b", "c", "d", "eeeeeeee", "fff", "gggggggggggggggg", "h"];
    let mut told = Vec::new();
    let vectors_of = endpoint.texts(&texts, &mut |n| {
        told.push(n);
        true
    });
    assert_eq!(vectors_of.unwrap(), vectors(&texts));
    let sent: Vec<usize> = server.requests().iter().map(|r| input(r).len()).collect();
    assert_eq!(sent, [3, 2, 1, 1, 1]);
    assert_eq!(told, sent);
}

#[test]
fn indices_decide_the_order() {
    let server = Server::start(|_, request| {
        let mut answer = answer(&input(request));
        answer["data"].as_array_mut().unwrap().reverse();
        Reply::new(200, answer.to_string())
    });
    let (endpoint, _) = endpoint(settings(&server));
    assert_eq!(encode(&endpoint, &["a", "bb", "ccc"]).unwrap(), vectors(&["a", "bb", "ccc"]));
}

#[test]
fn chunked_answers_are_read() {
    let server = Server::start(|_, request| good(request).how(How::Chunked));
    let (endpoint, pauses) = endpoint(settings(&server));
    assert_eq!(encode(&endpoint, &["a", "bb"]).unwrap(), vectors(&["a", "bb"]));
    assert!(pauses.list().is_empty());
}

#[test]
fn an_empty_text_is_not_sent() {
    let server = Server::start(|_, request| good(request));
    let error = encode(&endpoint(settings(&server)).0, &["a", ""]).unwrap_err();
    assert!(matches!(&error, EmbedError::Input(text) if text.contains("text 1 is empty")));
    assert!(server.requests().is_empty());
}

#[test]
fn a_missing_key_is_said_before_anything_is_sent() {
    let server = Server::start(|_, request| good(request));
    let mut settings = settings(&server);
    settings.key_variable = Some("DISSENSUS_NO_SUCH_VARIABLE".to_owned());
    let error = endpoint_error(Endpoint::new(settings).unwrap_err());
    assert!(matches!(error, EndpointError::NoKey { .. }), "{error}");
}

/// What is done stays done, and is handed over.
#[test]
fn the_caller_may_stop_it() {
    let server = Server::start(|_, request| good(request));
    let mut settings = settings(&server);
    settings.batch_texts = 2;
    let (endpoint, _) = endpoint(settings);
    match endpoint.texts(&["a", "b", "c", "d", "e"], &mut |_| false).unwrap_err() {
        EmbedError::Partly { done, why } => {
            assert_eq!((done.rows, done.vectors), (2, vectors(&["a", "b"])));
            assert!(matches!(*why, EmbedError::Stopped));
        }
        other => panic!("{other}"),
    }
    assert_eq!(server.requests().len(), 1);
    assert!(endpoint.texts(&["a", "b"], &mut |_| false).is_ok(), "nothing was left to stop");
}
