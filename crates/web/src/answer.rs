//! Error responses, and the JSON bodies of requests.

use std::time::Duration;

use axum::Json;
use axum::body::HttpBody;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use ggp_answers::Refusal;
use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;

/// The reason why a request fails, and a remedy.
#[derive(Clone, Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    pub(super) message: String,
    /// The number of moves of the request that are legal, if the error is about one of
    /// them.
    made: Option<usize>,
}

#[derive(Serialize)]
struct Said<'m> {
    message: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<usize>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        ApiError {
            status,
            message: message.into(),
            made: None,
        }
    }

    /// An error of the request.
    pub(super) fn wrong(message: impl Into<String>) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// The requested thing does not exist.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        ApiError::new(StatusCode::NOT_FOUND, message)
    }

    /// The rules do not allow an answer.
    pub(super) fn rules(message: impl Into<String>) -> Self {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// The server is overloaded.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, message)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.kind.status());
        ApiError {
            status: status.expect("a number of HTTP"),
            message: refusal.message,
            made: refusal.made,
        }
    }
}

impl From<PlayError> for ApiError {
    fn from(error: PlayError) -> Self {
        Refusal::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let said = Said {
            message: &self.message,
            made: self.made,
        };
        let mut response = (self.status, Json(said)).into_response();
        // The rest of the body is not read, so the connection cannot be used again.
        if [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::REQUEST_TIMEOUT].contains(&self.status) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response
    }
}

/// The limits of the body of a request.
#[derive(Copy, Clone, Debug)]
pub(super) struct BodyLimits {
    /// Maximum time to arrive.
    pub time: Duration,
    /// Maximum size.
    pub bytes: usize,
}

/// A body that is too large by at most this factor is read to its end, so that its sender, who
/// may look for an answer only then, gets one.
const IGNORED: usize = 16;

/// A byte order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The body of a request as JSON. A malformed body is an [`ApiError`].
#[derive(Debug)]
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let limits: BodyLimits = *request.extensions().get().expect("the guard sets it");
        let time = limits.time;
        let read = async {
            let request = received(request, limits.bytes).await?;
            let body = Json::<T>::from_request(request, state).await;
            body.map_err(|rejection| error(&rejection))
        };
        match tokio::time::timeout(time, read).await {
            Ok(Ok(Json(body))) => Ok(JsonBody(body)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                format!(
                    "the request did not arrive within {}",
                    counted(time.as_secs_f64(), "second")
                ),
            )),
        }
    }
}

/// The request with its whole body, which must have at most `most` bytes. A byte order mark at
/// the beginning of the body is left out.
async fn received(request: Request, most: usize) -> Result<Request, ApiError> {
    let too_large = || {
        Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the request is larger than the server accepts; `ggp web --max-request` sets the limit",
        ))
    };
    let (parts, mut body) = request.into_parts();
    // A sender that waits for permission gets none: reading the body would give it.
    let waits = parts.headers.contains_key(header::EXPECT);
    if waits && body.size_hint().lower() > most as u64 {
        return too_large();
    }
    let (mut bytes, mut size) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::wrong("the request ended early"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        size = size.saturating_add(data.len());
        if size > most.saturating_mul(IGNORED) {
            break;
        }
        if size > most {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(&data);
        }
    }
    if size > most {
        return too_large();
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    Ok(Request::from_parts(parts, bytes.into()))
}

fn error(rejection: &JsonRejection) -> ApiError {
    match rejection.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ApiError::wrong("the body must be JSON: send it with `content-type: application/json`")
        }
        _ => {
            let mut cause: &dyn std::error::Error = rejection;
            while let Some(deeper) = cause.source() {
                cause = deeper;
            }
            let what = match rejection {
                JsonRejection::JsonDataError(_) => "the body does not fit this request",
                _ => "the body is not JSON",
            };
            ApiError::wrong(format!("{what}: {cause}"))
        }
    }
}
