//! A bucket of S3 (or a server that speaks it), Google Cloud Storage or Azure.
//!
//! Credentials, endpoint and region are taken from the environment by the `object_store` crate
//! (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` and
//! others). Requests that get no answer or one of a failing server (5xx, 429) are tried again, with
//! growing pauses; a bad certificate is not.

use std::error::Error as _;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::HttpError;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, RetryConfig,
};

use super::http::{Connector, NoAnswer};
use super::{Created, LARGEST, Object, Objects};
use crate::RemoteError;

/// How often a create is tried again that was refused because of an object that is not there: another
/// process began to create it, and did not.
const CREATES: usize = 5;

pub(super) struct Cloud {
    store: Arc<dyn ObjectStore>,
    /// The bucket with its scheme, for messages.
    bucket: String,
    prefix: String,
    /// Whether the server has refused a condition.
    unconditional: AtomicBool,
}

impl Cloud {
    pub(super) fn open(
        scheme: &'static str,
        bucket: String,
        prefix: String,
    ) -> Result<Self, RemoteError> {
        let store = build(scheme, &bucket).map_err(|error| RemoteError::Settings {
            scheme,
            bucket: bucket.clone(),
            reason: redacted(&error.to_string(), std::env::vars()),
        })?;
        let bucket = format!("{scheme}://{bucket}");
        Ok(Self { store, bucket, prefix, unconditional: AtomicBool::new(false) })
    }

    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}{name}", self.prefix))
    }

    fn fail(&self, doing: &'static str, name: &str, error: &Error) -> RemoteError {
        let (object, bucket) = (format!("{}{name}", self.prefix), self.bucket.clone());
        RemoteError::Request { doing, object, bucket, reason: reason(error) }
    }
}

impl Objects for Cloud {
    fn list(&self, folder: &str) -> Result<Vec<Object>, RemoteError> {
        let path = self.path(folder);
        let objects = self.store.list(Some(&path)).try_filter_map(|about| async move {
            let name = about.location.as_ref().strip_prefix(&self.prefix);
            Ok(name.map(|name| Object { name: name.to_owned(), bytes: about.size }))
        });
        wait(objects.try_collect()).map_err(|error| self.fail("listing", folder, &error))
    }

    fn get(&self, name: &str) -> Result<Vec<u8>, RemoteError> {
        let path = self.path(name);
        let got = wait(async {
            let got = self.store.get(&path).await?;
            let bytes = got.meta.size;
            if bytes > LARGEST {
                return Ok(Err(bytes));
            }
            got.bytes().await.map(Ok)
        });
        match got.map_err(|error| self.fail("reading", name, &error))? {
            Ok(content) => Ok(content.into()),
            Err(bytes) => {
                Err(RemoteError::TooLarge { object: name.to_owned(), bytes, most: LARGEST })
            }
        }
    }

    fn create(&self, name: &str, content: Vec<u8>) -> Result<Created, RemoteError> {
        let (path, content) = (self.path(name), PutPayload::from(content));
        let fail = |error: Error| self.fail("writing", name, &error);
        for attempt in 1.. {
            if self.unconditional.load(Ordering::Relaxed) {
                break;
            }
            let put = self.store.put_opts(&path, content.clone(), PutMode::Create.into());
            match wait(put) {
                Ok(_) => return Ok(Created::New),
                Err(error) if is_unknown_condition(&error) => {
                    self.unconditional.store(true, Ordering::Relaxed);
                }
                Err(error @ Error::AlreadyExists { .. }) => match wait(self.store.head(&path)) {
                    Ok(_) => return Ok(Created::Exists),
                    Err(Error::NotFound { .. }) if attempt < CREATES => {
                        std::thread::sleep(Duration::from_millis(100 << attempt));
                    }
                    Err(Error::NotFound { .. }) => return Err(fail(error)),
                    Err(error) => return Err(fail(error)),
                },
                Err(error) => return Err(fail(error)),
            }
        }
        match wait(self.store.head(&path)) {
            Ok(_) => return Ok(Created::Exists),
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(fail(error)),
        }
        wait(self.store.put(&path, content)).map_err(fail)?;
        Ok(Created::Unconditionally)
    }
}

fn build(scheme: &str, bucket: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        },
        max_retries: 10,
        retry_timeout: Duration::from_secs(120),
    };
    Ok(match scheme {
        "gs" => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_http_connector(Connector)
                .with_retry(retry)
                .build()?,
        ),
        "az" => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_http_connector(Connector)
                .with_retry(retry)
                .build()?,
        ),
        _ => Arc::new(
            AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_http_connector(Connector)
                .with_retry(retry)
                .build()?,
        ),
    })
}

/// Runs to the end on this thread.
fn wait<T>(work: impl Future<Output = object_store::Result<T>>) -> object_store::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let failed = |error| Error::Generic { store: "runtime", source: Box::new(error) };
    runtime.map_err(failed)?.block_on(work)
}

/// Whether a server says that it does not know conditions.
fn is_unknown_condition(error: &Error) -> bool {
    matches!(error, Error::NotImplemented { .. } | Error::NotSupported { .. })
        || status(&error.to_string()).is_some_and(|status| status.starts_with("501"))
}

/// What happened, in words that have neither addresses nor keys: the server's answer may repeat both,
/// so only its status and the code of its error are taken.
fn reason(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(NoAnswer(kind)) = inner.downcast_ref() {
            return kind.to_string();
        }
        if let Some(http) = inner.downcast_ref::<HttpError>()
            && http.source().is_none_or(|source| !source.is::<NoAnswer>())
        {
            return format!("no usable answer ({:?})", http.kind());
        }
        cause = inner.source();
    }
    let text = error.to_string();
    let code = between(&text, "<Code>", "</Code>").filter(|code| is_word(code));
    let status = status(&text).map(str::trim);
    match (error, status, code) {
        (_, Some(status), Some(code)) => format!("the server answers {status}: {code}"),
        (_, Some(status), None) => format!("the server answers {status}"),
        (Error::NotFound { .. }, ..) => "not found".to_owned(),
        (Error::PermissionDenied { .. }, ..) => "permission denied".to_owned(),
        (Error::Unauthenticated { .. }, ..) => "no valid credentials".to_owned(),
        (Error::AlreadyExists { .. }, ..) => {
            "the server says that it exists, and then that it does not".to_owned()
        }
        _ => redacted(&text, std::env::vars()),
    }
}

/// The status in a message, as in `403 Forbidden`.
fn status(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.split(':').next().filter(|status| status.len() < 60)
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inner, _)| inner)
}

fn is_word(text: &str) -> bool {
    text.len() < 60 && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A text without the values of variables that hold secrets, and without what follows a question mark.
fn redacted(text: &str, variables: impl Iterator<Item = (String, String)>) -> String {
    const SECRET: [&str; 6] = ["KEY", "SECRET", "TOKEN", "PASSWORD", "SAS", "CREDENTIAL"];
    let mut text = text.to_owned();
    for (name, value) in variables {
        let name = name.to_uppercase();
        let ours = ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start));
        if ours && value.len() > 3 && SECRET.iter().any(|word| name.contains(word)) {
            text = text.replace(&value, "…");
        }
    }
    match text.split_once('?') {
        Some((before, _)) => format!("{before}?…"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_no_keys_and_no_addresses() {
        let body = "Error performing PUT https://lab/x?X-Amz-Signature=hunter2 in 3ms - Server returned \
                    non-2xx status code: 403 Forbidden: <?xml?><Error><Code>SignatureDoesNotMatch</Code>\
                    <AWSAccessKeyId>AKIAhunter2</AWSAccessKeyId></Error>";
        let error = Error::PermissionDenied { path: "x".into(), source: body.into() };
        assert_eq!(reason(&error), "the server answers 403 Forbidden: SignatureDoesNotMatch");
        let body = "non-2xx status code: 500 Internal Server Error: <Code>hunter2 and more</Code>";
        let error = Error::Generic { store: "S3", source: body.into() };
        assert_eq!(reason(&error), "the server answers 500 Internal Server Error");
        let variables = [("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_REGION", "region")];
        let variables = || variables.iter().map(|(n, v)| (n.to_string(), v.to_string()));
        let text = redacted("bad hunter2 in region of https://x?sig=abc", variables());
        assert_eq!(text, "bad … in region of https://x?…");
    }

    #[test]
    fn a_server_without_conditions_is_known_by_its_answer() {
        let error = |text: &str| Error::Generic { store: "S3", source: text.to_owned().into() };
        assert!(is_unknown_condition(&error("non-2xx status code: 501 Not Implemented: ")));
        assert!(!is_unknown_condition(&error("non-2xx status code: 500 Internal: 501")));
    }
}
