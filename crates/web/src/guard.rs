//! Access control: requests from this page and from programs are allowed, those from other
//! sites' pages are not.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::AppState;
use super::answer::ApiError;
use super::session::Session;

/// The content security policy.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; connect-src 'self'; form-action 'none'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Rejects requests from other sites, and attaches the session to all others.
pub(super) async fn guard(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_own(request.headers(), app.address) {
        let message = "this server answers only requests for its own address, from its own page or from programs";
        return ApiError::new(StatusCode::FORBIDDEN, message).into_response();
    }
    let session = app.sessions.session(request.headers());
    let is_new = session.is_new();
    let cookie = is_new.then(|| app.sessions.cookie(&session));
    request.extensions_mut().insert::<Arc<Session>>(session);
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
    response
}

/// Returns whether the request names this host and, if a page sends it, comes from this
/// host's page. If only this machine is served, other host names that resolve to it are
/// rejected: otherwise another site's page could read the answers.
fn is_own(headers: &HeaderMap, address: IpAddr) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return false;
    };
    let name = host.host().trim_matches(['[', ']']);
    let is_loopback =
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if address.is_loopback() && !is_loopback {
        return false;
    }
    match headers.get(header::ORIGIN).map(HeaderValue::to_str) {
        None => true,
        Some(Ok(origin)) => origin
            .split_once("://")
            .is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host.as_str())),
        Some(Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>, address: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        if let Some(origin) = origin {
            let origin = HeaderValue::from_str(origin).expect("a header");
            headers.insert(header::ORIGIN, origin);
        }
        is_own(&headers, address.parse().expect("an address"))
    }

    #[test]
    fn other_sites_are_refused() {
        assert!(check("127.0.0.1:80", None, "127.0.0.1"));
        assert!(check(
            "localhost:80",
            Some("http://localhost:80"),
            "127.0.0.1"
        ));
        assert!(check("[::1]:80", Some("http://[::1]:80"), "::1"));
        assert!(!check("evil.example:80", None, "127.0.0.1"));
        assert!(!check(
            "localhost:80",
            Some("http://evil.example"),
            "127.0.0.1"
        ));
        assert!(!check(
            "localhost:80",
            Some("http://localhost:81"),
            "127.0.0.1"
        ));
        assert!(!check("localhost:80", Some("null"), "127.0.0.1"));
        assert!(check(
            "games.example",
            Some("https://games.example"),
            "0.0.0.0"
        ));
        assert!(!check(
            "games.example",
            Some("https://evil.example"),
            "0.0.0.0"
        ));
    }
}
