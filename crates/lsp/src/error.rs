//! The reasons why a request fails.

use std::fmt;
use std::time::Duration;

use ggp_gdl::counted::counted;
use ggp_gdl::rewrite::NOT_KIF;
use lsp_server::{ErrorCode, RequestId, Response};

/// The reason why a request fails.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The server does not support this method.
    UnsupportedMethod(String),
    /// The parameters do not have the form that the protocol demands.
    InvalidParams(serde_json::Error),
    /// The answer cannot be written as JSON.
    Internal(serde_json::Error),
    /// The text was edited before it was checked.
    Changed,
    /// An earlier request with the same identifier has no answer yet.
    IdInUse,
    /// The session has not begun.
    NotInitialized,
    /// The client has shut the server down.
    ShutDown,
    /// The session ended before the answer.
    Ended,
    /// The document with this URI is not open.
    NotOpen(String),
    /// A command has no URI as its argument.
    MissingUri,
    /// There is no command of this name.
    UnknownCommand(String),
    /// The rules of the document have errors.
    RulesHaveErrors,
    /// The text is in infix notation.
    Infix,
    /// The text cannot be parsed; this is the first error.
    Syntax(String),
    /// There is no name at the position.
    NoName,
    /// The new name is not a variable.
    NotAVariable(String),
    /// The rule has a variable of the new name.
    VariableTaken(String),
    /// The name cannot be renamed, for this reason.
    CannotRename(String),
    /// A command was not done within its time.
    TimeOver(Duration),
    /// A command failed, for this reason.
    Failed(String),
}

impl RequestError {
    /// The error code of the protocol.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            RequestError::UnsupportedMethod(_) => ErrorCode::MethodNotFound,
            RequestError::InvalidParams(_) => ErrorCode::InvalidParams,
            RequestError::Internal(_) => ErrorCode::InternalError,
            RequestError::Changed => ErrorCode::ContentModified,
            RequestError::NotInitialized => ErrorCode::ServerNotInitialized,
            RequestError::IdInUse | RequestError::ShutDown => ErrorCode::InvalidRequest,
            RequestError::Ended => ErrorCode::RequestCanceled,
            _ => ErrorCode::RequestFailed,
        }
    }

    /// The answer to a request.
    pub(super) fn answer(&self, id: RequestId) -> Response {
        Response::new_err(id, self.code() as i32, self.to_string())
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::UnsupportedMethod(method) => {
                write!(f, "the method {method} is not supported")
            }
            RequestError::InvalidParams(error) | RequestError::Internal(error) => error.fmt(f),
            RequestError::Changed => f.write_str("the text has changed meanwhile"),
            RequestError::IdInUse => {
                f.write_str("a request with this identifier has no answer yet; choose another")
            }
            RequestError::NotInitialized => f.write_str("the first request must be initialize"),
            RequestError::ShutDown => f.write_str("only exit can follow shutdown"),
            RequestError::Ended => f.write_str("the session ends"),
            RequestError::NotOpen(uri) => write!(f, "{uri} is not open"),
            RequestError::MissingUri => {
                f.write_str("the argument must be the URI of an open document")
            }
            RequestError::UnknownCommand(command) => write!(f, "there is no command {command}"),
            RequestError::RulesHaveErrors => f.write_str("the rules have errors; fix them first"),
            RequestError::Infix => f.write_str(NOT_KIF),
            RequestError::Syntax(message)
            | RequestError::CannotRename(message)
            | RequestError::Failed(message) => f.write_str(message),
            RequestError::NoName => f.write_str("there is no name at this position"),
            RequestError::NotAVariable(name) => {
                write!(f, "{name:?} is not a variable: write ? and a name")
            }
            RequestError::VariableTaken(name) => {
                write!(f, "{name} is already a variable of this rule")
            }
            RequestError::TimeOver(time) => {
                write!(
                    f,
                    "not done within {}",
                    counted(time.as_secs_f64(), "second")
                )
            }
        }
    }
}
