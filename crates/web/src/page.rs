//! The files of the page, embedded in the program.

use std::io::Write;
use std::sync::{LazyLock, OnceLock};

use axum::extract::Path;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use hmac_sha256::Hash as Sha256;
use include_dir::{Dir, File, include_dir};
use rustc_hash::FxHashMap;

use super::answer::ApiError;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/served");

/// The description of the interface in OpenAPI format.
const OPENAPI: &str = include_str!("openapi.json");

/// The files of the page, by path.
pub(super) fn files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let files = FILES.files();
    files.filter_map(|file| Some((file.path().to_str()?, file.contents())))
}

/// A file as it is served.
struct Asset {
    content: &'static [u8],
    kind: &'static str,
    /// A name of the content that changes with it.
    tag: String,
    /// The compressed content, if it is smaller. Made at the first request.
    gzip: OnceLock<Option<Vec<u8>>>,
}

/// All files by their paths.
static ASSETS: LazyLock<FxHashMap<&str, Asset>> = LazyLock::new(|| {
    let named = |file: &'static File<'static>| {
        let path = file.path().to_str()?;
        Some((path, Asset::new(kind(path), file.contents())))
    };
    FILES.files().filter_map(named).collect()
});

static DESCRIPTION: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("application/json", OPENAPI.as_bytes()));

/// The media type of a file, by its extension.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

impl Asset {
    fn new(kind: &'static str, content: &'static [u8]) -> Self {
        let digest = Sha256::hash(content);
        Asset {
            content,
            kind,
            tag: digest[..12]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            gzip: OnceLock::new(),
        }
    }

    fn gzip(&'static self) -> Option<&'static [u8]> {
        let compressed = self.gzip.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(self.content).ok()?;
            let bytes = encoder.finish().ok()?;
            (bytes.len() < self.content.len()).then_some(bytes)
        });
        compressed.as_deref()
    }

    /// The answer to a request with these headers: compressed if the browser accepts that, and
    /// empty if it has the content.
    fn answer(&'static self, asked: &HeaderMap) -> Response {
        let gzip = accepts_gzip(asked).then(|| self.gzip()).flatten();
        let tag = match gzip {
            Some(_) => format!("\"{}-gzip\"", self.tag),
            None => format!("\"{}\"", self.tag),
        };
        let known = asked.get_all(header::IF_NONE_MATCH).iter();
        let mut known = known.filter_map(|tags| tags.to_str().ok());
        let is_known = known.any(|tags| {
            let mut tags = tags
                .split(',')
                .map(|one| one.trim().trim_start_matches("W/"));
            tags.any(|one| one == tag || one == "*")
        });
        let headers = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, "no-cache".to_owned()),
            (header::VARY, "accept-encoding".to_owned()),
        ];
        if is_known {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        let kind = [(header::CONTENT_TYPE, self.kind)];
        match gzip {
            Some(bytes) => {
                let encoding = [(header::CONTENT_ENCODING, "gzip")];
                (headers, kind, encoding, bytes).into_response()
            }
            None => (headers, kind, self.content).into_response(),
        }
    }
}

/// Returns whether a request accepts an answer in the format of gzip.
fn accepts_gzip(asked: &HeaderMap) -> bool {
    let accepted = asked.get_all(header::ACCEPT_ENCODING).iter();
    let mut accepted = accepted.filter_map(|list| list.to_str().ok());
    accepted.any(|list| {
        list.split(',').any(|one| {
            let (name, quality) = one.split_once(';').unwrap_or((one, ""));
            let quality = quality.trim().strip_prefix("q=").unwrap_or("1");
            name.trim().eq_ignore_ascii_case("gzip")
                && quality
                    .trim()
                    .parse()
                    .is_ok_and(|quality: f32| quality > 0.0)
        })
    })
}

/// Serves the page.
pub(super) async fn index(asked: HeaderMap) -> Response {
    asset(Path("index.html".to_owned()), asked).await
}

/// Serves a file of the page.
pub(super) async fn asset(Path(path): Path<String>, asked: HeaderMap) -> Response {
    match ASSETS.get(&path[..]) {
        Some(asset) => asset.answer(&asked),
        None => ApiError::missing(format!("there is no file {path}")).into_response(),
    }
}

pub(super) async fn openapi(asked: HeaderMap) -> Response {
    DESCRIPTION.answer(&asked)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_accepted_is_compressed() {
        let accepts = |list: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, list.parse().expect("a header"));
            accepts_gzip(&headers)
        };
        assert!(accepts("gzip, deflate, br") && accepts("br;q=1.0, GZIP;q=0.5"));
        assert!(!accepts("br") && !accepts("gzip;q=0, br") && !accepts("x-gzip"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
