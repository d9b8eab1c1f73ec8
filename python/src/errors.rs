//! Errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;

use ggp_engine::machine::PlayError;
use ggp_gdl::check::Reading;

create_exception!(
    ggp,
    Error,
    PyException,
    "Base of all errors of this package."
);
create_exception!(
    ggp,
    RulesError,
    Error,
    "Rules that cannot be used.\n\n`findings` lists what is wrong with them: dictionaries with \
     `code`, `severity`, `message`, `place`, `notes` and `help`."
);
create_exception!(
    ggp,
    MatchError,
    Error,
    "A move that is not legal, or a fault of the rules that shows up during play.\n\n`details` is \
     a dictionary; its `error` is the kind."
);
create_exception!(
    ggp,
    LimitError,
    Error,
    "The rules derive more than the limits allow, or have no network where one is needed."
);

/// A value as Python reads it from JSON.
///
/// # Errors
///
/// If the value is not JSON.
pub fn from_json<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| Error::new_err(format!("a value is not JSON: {error}")))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// The findings about rules, as dictionaries.
///
/// # Errors
///
/// None, unless Python has no memory.
pub fn findings<'py>(py: Python<'py>, reading: &Reading) -> PyResult<Bound<'py, PyList>> {
    let records = reading.findings.iter();
    let records = records.map(|finding| finding.to_record(&reading.sources));
    let list = records.map(|record| from_json(py, &record));
    PyList::new(py, list.collect::<PyResult<Vec<_>>>()?)
}

/// The exception for rules that cannot be used.
pub fn rules_error(py: Python<'_>, reading: &Reading) -> PyErr {
    let error = RulesError::new_err(reading.to_string());
    let set = findings(py, reading).and_then(|list| error.value(py).setattr("findings", list));
    set.err().unwrap_or(error)
}

/// The exception for a failure during play.
pub fn play_error(py: Python<'_>, error: &PlayError) -> PyErr {
    match error {
        PlayError::Interrupted => PyKeyboardInterrupt::new_err(()),
        PlayError::TooLarge(_) => LimitError::new_err(error.to_string()),
        _ => {
            let raised = MatchError::new_err(error.to_string());
            let details = from_json(py, error);
            let set = details.and_then(|value| raised.value(py).setattr("details", value));
            set.err().unwrap_or(raised)
        }
    }
}
