//! The files of the page, in the program itself.

use axum::extract::Path;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use super::answer::Refusal;

#[derive(RustEmbed)]
#[folder = "src/served"]
struct Files;

/// What the page asks, as OpenAPI says it.
const OPENAPI: &str = include_str!("openapi.json");

/// The kind of a file, by its ending.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// The page.
pub(super) async fn index() -> Response {
    asset(Path("index.html".to_owned())).await
}

/// A file of the page.
pub(super) async fn asset(Path(path): Path<String>) -> Response {
    match Files::get(&path) {
        Some(file) => {
            let headers = [
                (header::CONTENT_TYPE, kind(&path)),
                (header::CACHE_CONTROL, "no-cache"),
            ];
            (headers, file.data).into_response()
        }
        None => Refusal::missing(format!("there is no file {path} here")).into_response(),
    }
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// Anything else.
pub(super) async fn missing(uri: Uri) -> Response {
    let told = format!(
        "there is nothing at {}; /api/openapi.json has what there is",
        uri.path()
    );
    Refusal::new(StatusCode::NOT_FOUND, told).into_response()
}
