//! The requests of the `object_store` crate, sent by the client that sends all others.
//!
//! An answer is read whole before it is given back, so one that is cut is a failed request, which is
//! tried again as any other.

use std::time::Duration;

use async_trait::async_trait;
use dissensus_io::http::{Client, HttpErrorKind as Kind, Settings};
use http_body_util::BodyExt as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};

use super::LARGEST;

/// How long an answer may take, and a transfer may stand still. Every one is tried again.
const STANDSTILL: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let settings = Settings {
            connect_timeout: CONNECT,
            read_timeout: Some(STANDSTILL),
            redirects: 0,
            ..Settings::default()
        };
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let allow_http = allow_http.as_deref() == Some("true");
        Ok(HttpClient::new(Service { client: Client::new(&settings), allow_http }))
    }
}

#[derive(Debug)]
struct Service {
    client: Client,
    allow_http: bool,
}

/// Why there was no answer; without its address, which may be signed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoAnswer(pub(super) Kind);

#[async_trait]
impl HttpService for Service {
    /// Blocks: every thread has a runtime of its own, and one request at a time.
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        if head.uri.scheme_str() != Some("https") && !self.allow_http {
            let reason = "the endpoint is not encrypted, and that is not allowed".to_owned();
            return Err(HttpError::new(HttpErrorKind::Unknown, NoAnswer(Kind::Failed(reason))));
        }
        // An unconditional one and a create under the name of a content are both safe to repeat.
        let request = HttpRequest::from_parts(head, Vec::<u8>::new().into()).map(|_| &*body);
        let answer = self.client.exchange(request, LARGEST).map_err(|error| {
            let kind = match error.kind.is_transient() {
                true => HttpErrorKind::Request,
                false => HttpErrorKind::Unknown,
            };
            HttpError::new(kind, NoAnswer(error.kind))
        })?;
        Ok(answer.map(Into::into))
    }
}
