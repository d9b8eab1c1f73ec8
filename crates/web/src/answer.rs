//! What is said of a request that cannot be answered.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use ggp_engine::machine::PlayError;
use ggp_gdl::game::Game;

/// Why there is no answer, and what to do.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    pub(super) message: String,
    /// How many of the moves that were asked about can be made, if it is about one of them.
    pub(super) made: Option<usize>,
}

#[derive(Serialize)]
struct Said<'m> {
    message: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<usize>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal {
            status,
            message: message.into(),
            made: None,
        }
    }

    /// The request is wrong.
    pub(super) fn wrong(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    /// The game has no such role.
    pub(super) fn no_role(game: &Game) -> Self {
        let roles = game.role_count();
        Refusal::wrong(format!("the game has {roles} roles, counted from 0"))
    }

    /// There is no such thing.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    /// The rules do not allow an answer.
    pub(super) fn rules(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Too much is going on.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, message)
    }
}

impl From<PlayError> for Refusal {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::IllegalMove { .. }
            | PlayError::GameOver
            | PlayError::WrongMoveCount { .. } => Refusal::wrong(error.to_string()),
            _ => Refusal::rules(error.to_string()),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let said = Said {
            message: &self.message,
            made: self.made,
        };
        (self.status, Json(said)).into_response()
    }
}

/// The body of a request, read as JSON; what is wrong with it is a [`Refusal`].
#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Asked(body)),
            Err(rejection) => Err(refusal(&rejection)),
        }
    }
}

fn refusal(rejection: &JsonRejection) -> Refusal {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "that is more than the server takes at once; `ggp web --max-request` sets how much",
        ),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            Refusal::wrong("the body is JSON: send it with `content-type: application/json`")
        }
        _ => Refusal::wrong(rejection.body_text()),
    }
}
