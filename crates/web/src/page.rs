//! The files of the page, embedded in the program.

use axum::extract::Path;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use include_dir::{Dir, include_dir};

use super::answer::ApiError;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/served");

/// The description of the interface in OpenAPI format.
const OPENAPI: &str = include_str!("openapi.json");

/// The media type of a file, by its extension.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// Serves the page.
pub(super) async fn index() -> Response {
    asset(Path("index.html".to_owned())).await
}

/// Serves a file of the page.
pub(super) async fn asset(Path(path): Path<String>) -> Response {
    match FILES.get_file(&path) {
        Some(file) => {
            let headers = [
                (header::CONTENT_TYPE, kind(&path)),
                (header::CACHE_CONTROL, "no-cache"),
            ];
            (headers, file.contents()).into_response()
        }
        None => ApiError::missing(format!("there is no file {path}")).into_response(),
    }
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// Answers requests for unknown addresses.
pub(super) async fn missing(uri: Uri) -> Response {
    let message = format!(
        "there is nothing at {}; see /api/openapi.json for all addresses",
        uri.path()
    );
    ApiError::new(StatusCode::NOT_FOUND, message).into_response()
}

/// Answers requests with a method that the address does not have.
pub(super) async fn wrong_method(method: Method, uri: Uri) -> Response {
    let message = format!(
        "{} does not answer {method}; see /api/openapi.json for the requests it answers",
        uri.path()
    );
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message).into_response()
}
