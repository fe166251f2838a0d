//! Eight workers push to a bucket of a server in the same process, which fails often: it answers 500 or 503 instead of
//! doing what it is asked, does it and answers 500, or nothing, or half, or late. The server is one of S3, and of the four
//! requests of Google's XML API that are made: it has the same lists, and another header for a conditional create.

#[path = "../../../crates/remote/tests/common/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod common;
#[path = "../../../crates/remote/tests/common/workers.rs"]
mod workers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::dto::{
    ETagCondition, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput,
    ListObjectsV2Input, ListObjectsV2Output, Object, PutObjectInput, PutObjectOutput,
    StreamingBlob,
};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3, S3Request, S3Response, S3Result, s3_error};

/// Objects by name, and how often each was written.
type Objects = Arc<Mutex<BTreeMap<String, (Bytes, usize)>>>;

struct Memory(Objects);

impl Memory {
    fn find(&self, key: &str) -> S3Result<Bytes> {
        let found = self.0.lock().unwrap().get(key).map(|(content, _)| content.clone());
        found.ok_or_else(|| s3_error!(NoSuchKey))
    }
}

/// A page of a list is short, so that lists have several.
const PAGE: usize = 20;

#[async_trait::async_trait]
impl S3 for Memory {
    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let PutObjectInput { key, body, if_none_match, .. } = request.input;
        let Some(body) = body else { return Err(s3_error!(IncompleteBody)) };
        let parts: Result<Vec<Bytes>, _> = body.try_collect().await;
        let content = Bytes::from(parts.map_err(|_| s3_error!(IncompleteBody))?.concat());
        let mut objects = self.0.lock().unwrap();
        if matches!(if_none_match, Some(ETagCondition::Any)) && objects.contains_key(&key) {
            return Err(s3_error!(PreconditionFailed));
        }
        let object = objects.entry(key).or_default();
        *object = (content, object.1 + 1);
        Ok(S3Response::new(PutObjectOutput {
            e_tag: Some(s3s::dto::ETag::Strong("1".into())),
            ..Default::default()
        }))
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let content = self.find(&request.input.key)?;
        Ok(S3Response::new(GetObjectOutput {
            content_length: Some(content.len() as i64),
            last_modified: Some(SystemTime::now().into()),
            e_tag: Some(s3s::dto::ETag::Strong("1".into())),
            body: Some(StreamingBlob::from(Body::from(content))),
            ..Default::default()
        }))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let content = self.find(&request.input.key)?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(content.len() as i64),
            last_modified: Some(SystemTime::now().into()),
            e_tag: Some(s3s::dto::ETag::Strong("1".into())),
            ..Default::default()
        }))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let ListObjectsV2Input { prefix, continuation_token, bucket, .. } = request.input;
        let (prefix, after) = (prefix.unwrap_or_default(), continuation_token.unwrap_or_default());
        let objects = self.0.lock().unwrap();
        let rest = objects.iter().filter(|(key, _)| key.starts_with(&prefix) && **key > after);
        let rest: Vec<_> = rest.take(PAGE + 1).collect();
        let object = |(key, (content, _)): &(&String, &(Bytes, usize))| Object {
            key: Some((*key).clone()),
            size: Some(content.len() as i64),
            last_modified: Some(SystemTime::now().into()),
            e_tag: Some(s3s::dto::ETag::Strong("1".into())),
            ..Default::default()
        };
        let contents: Vec<Object> = rest.iter().take(PAGE).map(object).collect();
        let more = rest.len() > PAGE;
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(bucket),
            prefix: Some(prefix),
            is_truncated: Some(more),
            next_continuation_token: contents
                .last()
                .filter(|_| more)
                .and_then(|last| last.key.clone()),
            contents: Some(contents),
            ..Default::default()
        }))
    }
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// 500, and nothing is done.
    Refused,
    /// 503, and nothing is done.
    Unavailable,
    /// Done, and the connection ends without an answer.
    Lost,
    /// Done, and half of the answer.
    Cut,
    /// Done, and 500.
    Replaced,
    /// Done a while later.
    Slow,
}

/// Eight of twenty requests fail. 20 and 7 have no common divisor, so that every fault comes once in 20 requests.
fn next_fault(count: &AtomicUsize) -> Fault {
    use Fault::*;
    const FAULTS: [Fault; 8] = [Refused, Refused, Unavailable, Lost, Lost, Cut, Replaced, Slow];
    let place = count.fetch_add(1, Ordering::Relaxed) * 7 % 20;
    FAULTS.get(place).copied().unwrap_or(None)
}

fn status(code: u16, name: &str) -> http::Response<Body> {
    let body = format!("<Error><Code>{name}</Code></Error>");
    http::Response::builder().status(code).body(Body::from(body)).unwrap()
}

async fn answer(
    service: S3Service,
    fault: Fault,
    request: http::Request<hyper::body::Incoming>,
) -> Result<http::Response<Body>, std::io::Error> {
    match fault {
        Fault::Refused => return Ok(status(500, "InternalError")),
        Fault::Unavailable => return Ok(status(503, "SlowDown")),
        Fault::Slow => tokio::time::sleep(Duration::from_millis(300)).await,
        _ => {}
    }
    let failed = |error: String| std::io::Error::other(error);
    let answer = hyper::service::Service::call(&service, request)
        .await
        .map_err(|error| failed(format!("{error:?}")))?;
    match fault {
        Fault::Lost => Err(failed("lost".to_owned())),
        Fault::Replaced => Ok(status(500, "InternalError")),
        Fault::Cut => {
            let (mut head, body) = answer.into_parts();
            let parts: Result<Vec<Bytes>, _> = body.into_stream().try_collect().await;
            let whole = Bytes::from(parts.map_err(|error| failed(error.to_string()))?.concat());
            head.headers.insert(http::header::CONTENT_LENGTH, (whole.len() + 1).into());
            let half = stream::iter([Ok(whole.slice(..whole.len() / 2))]);
            let end = stream::once(async { Err(std::io::Error::other("cut")) });
            Ok(http::Response::from_parts(head, Body::from(StreamingBlob::wrap(half.chain(end)))))
        }
        _ => Ok(answer),
    }
}

/// A request of Google's XML API as one of S3: without its token, and with the condition that there be no object of this
/// name in S3's words. What else is asked of the two has the same words.
fn as_s3(
    mut request: http::Request<hyper::body::Incoming>,
) -> http::Request<hyper::body::Incoming> {
    let headers = request.headers_mut();
    if let Some(generation) = headers.remove("x-goog-if-generation-match") {
        assert_eq!(generation, "0");
        headers.insert(http::header::IF_NONE_MATCH, http::HeaderValue::from_static("*"));
    }
    if headers.get("authorization").is_some_and(|value| value.as_bytes().starts_with(b"Bearer")) {
        headers.remove("authorization");
    }
    request
}

/// A server with a bucket, which fails often.
struct Server {
    address: String,
    objects: Objects,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn start(runtime: &tokio::runtime::Runtime, auth: Option<SimpleAuth>) -> Self {
        let (objects, requests) = (Objects::default(), Arc::new(AtomicUsize::new(0)));
        let mut builder = S3ServiceBuilder::new(Memory(Arc::clone(&objects)));
        if let Some(auth) = auth {
            builder.set_auth(auth);
        }
        let (service, counted) = (builder.build(), Arc::clone(&requests));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (service, counted) = (service.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    let each = hyper::service::service_fn(|request| {
                        answer(service.clone(), next_fault(&counted), as_s3(request))
                    });
                    // An end that is cut is an error here.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), each)
                        .await;
                });
            }
        });
        Self { address, objects, requests }
    }

    /// Conditional creates: nothing was written twice, however often it was sent.
    fn check(&self, name: &str) {
        let objects = self.objects.lock().unwrap();
        assert_eq!(objects.len(), 2 * workers::RUNS);
        assert!(objects.values().all(|(_, writes)| *writes == 1));
        println!(
            "{name}: {} requests, 8 of 20 of which failed",
            self.requests.load(Ordering::Relaxed)
        );
    }
}

/// An account without tokens.
const ACCOUNT: &str =
    r#"{"private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": true}"#;

/// Both at once, in one test: it sets variables, which are the whole process's.
#[test]
fn eight_workers_and_servers_that_fail() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let s3 = Server::start(&runtime, Some(SimpleAuth::from_single("key", "secret")));
    let google = Server::start(&runtime, None);
    let settings = [
        ("AWS_ENDPOINT", &*s3.address),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("GOOGLE_BASE_URL", &google.address),
        ("GOOGLE_ALLOW_HTTP", "true"),
        ("GOOGLE_SERVICE_ACCOUNT_KEY", ACCOUNT),
    ];
    for (name, value) in settings {
        // SAFETY: the threads of the servers read no variables, and this is the only test.
        unsafe { std::env::set_var(name, value) };
    }
    std::thread::scope(|scope| {
        scope.spawn(|| workers::eight_workers("s3://lab/mine", true));
        workers::eight_workers("gs://lab/mine", true);
    });
    s3.check("S3");
    google.check("Google");
}
