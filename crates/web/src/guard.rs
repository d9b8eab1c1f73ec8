//! Access control: requests from this page and from programs are allowed, those from other
//! sites' pages are not.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;

use super::AppState;
use super::answer::{ApiError, BodyLimits};
use super::connections::Connection;

/// The content security policy.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; connect-src 'self'; form-action 'none'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Rejects requests from other sites, and attaches the session to all others.
pub(super) async fn guard(
    State(app): State<Arc<AppState>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(error) = check(request.version(), request.headers(), &app.limits.hosts) {
        return error.into_response();
    }
    let busy = connection.begin();
    let visitor = app.sessions.visitor(request.headers(), connection.address);
    let cookie = (visitor.is_new).then(|| app.sessions.cookie(&visitor.session));
    request.extensions_mut().insert(visitor);
    request.extensions_mut().insert(BodyLimits {
        time: app.limits.receive,
        bytes: app.limits.request_bytes,
    });
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    match kind.is_some_and(|kind| kind == "text/event-stream") {
        false => response,
        // Its connection is busy until the last event.
        true => response.map(|events| {
            Body::new(events.map_frame(move |frame| {
                let _busy = &busy;
                frame
            }))
        }),
    }
}

/// Checks that the request names this host and, if a page sends it, comes from this host's
/// page.
///
/// A browser always names a host. Simple programs, such as those that check whether a server
/// is alive, may leave it out in HTTP/1.0.
///
/// A page of another site can make its own name resolve to this machine, and then read the
/// answers (DNS rebinding). So only names that nobody else can have are accepted: addresses,
/// `localhost`, and those that the user gives.
fn check(version: Version, headers: &HeaderMap, hosts: &[String]) -> Result<(), ApiError> {
    let forbidden = |message: &str| ApiError::new(StatusCode::FORBIDDEN, message);
    let origin = headers.get(header::ORIGIN);
    let mut named = headers.get_all(header::HOST).iter();
    let host = match (named.next(), named.next()) {
        (None, _) if version < Version::HTTP_11 && origin.is_none() => return Ok(()),
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return Err(ApiError::wrong(
            "the request must name this host in one `Host` header",
        ));
    };
    let name = host.host().trim_matches(['[', ']']);
    let is_own = |own: &str| name.eq_ignore_ascii_case(own);
    let known = hosts.iter().any(|own| is_own(own));
    if !known && !is_own("localhost") && name.parse::<IpAddr>().is_err() {
        return Err(forbidden(&format!(
            "this server does not know the name `{name}`; \
             if it is meant, start it with `ggp web --host {name}`"
        )));
    }
    let is_own_page = match origin.map(HeaderValue::to_str) {
        None => true,
        Some(Ok(origin)) => origin
            .split_once("://")
            .is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host.as_str())),
        Some(Err(_)) => false,
    };
    match is_own_page {
        true => Ok(()),
        false => Err(forbidden(
            "this server answers only its own page and programs",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_own(host: &str, origin: Option<&str>, hosts: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        if let Some(origin) = origin {
            let origin = HeaderValue::from_str(origin).expect("a header");
            headers.insert(header::ORIGIN, origin);
        }
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        check(Version::HTTP_11, &headers, &hosts).is_ok()
    }

    #[test]
    fn a_request_names_one_host() {
        let headers = |lines: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, HeaderValue::from_static(value));
            }
            headers
        };
        let status = |version, lines: &[_]| {
            let found = check(version, &headers(lines), &[]);
            found.map_err(|error| error.into_response().status().as_u16())
        };
        let own = ("host", "localhost");
        for version in [Version::HTTP_10, Version::HTTP_11] {
            assert_eq!(status(version, &[own]), Ok(()));
            assert_eq!(status(version, &[own, own]), Err(400));
            assert_eq!(status(version, &[own, ("host", "evil.example")]), Err(400));
            assert_eq!(status(version, &[("host", "a b")]), Err(400));
            assert_eq!(status(version, &[("host", "")]), Err(400));
            let from_page = ("origin", "http://localhost");
            assert_eq!(status(version, &[from_page]), Err(400));
        }
        assert_eq!(status(Version::HTTP_10, &[]), Ok(()));
        assert_eq!(status(Version::HTTP_11, &[]), Err(400));
    }

    #[test]
    fn other_sites_are_refused() {
        assert!(is_own("127.0.0.1:80", None, &[]));
        assert!(is_own("localhost:80", Some("http://localhost:80"), &[]));
        assert!(is_own("[::1]:80", Some("http://[::1]:80"), &[]));
        assert!(is_own("192.0.2.1:80", Some("http://192.0.2.1:80"), &[]));
        assert!(!is_own("evil.example:80", None, &[]));
        assert!(!is_own("localhost:80", Some("http://evil.example"), &[]));
        assert!(!is_own("localhost:80", Some("http://localhost:81"), &[]));
        assert!(!is_own("localhost:80", Some("null"), &[]));
        let (page, own) = (Some("https://games.example"), &["Games.example"]);
        assert!(is_own("games.example", page, own));
        assert!(!is_own("games.example", page, &[]));
        assert!(!is_own("other.example", None, own));
        assert!(!is_own("games.example", Some("https://evil.example"), own));
    }
}
