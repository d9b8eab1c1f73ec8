//! The result of solving.

use ggp_gdl::counted::counted;
use pyo3::prelude::*;

use crate::errors::Error;

/// The result of `Game.solve`.
#[pyclass(frozen, module = "ggp")]
pub struct Solution {
    /// `solved`, `unsolvable`, `no solution within` (a depth) or `out of budget`.
    #[pyo3(get)]
    pub verdict: String,
    /// The plans, each a list of moves.
    #[pyo3(get)]
    pub plans: Vec<Vec<String>>,
    /// True if it is proved that no plan is shorter.
    #[pyo3(get)]
    pub optimal: bool,
    /// The score of `best`.
    #[pyo3(get)]
    pub score: Option<u8>,
    /// Without a plan: the moves to the best end that was met, if its score is above 0.
    #[pyo3(get)]
    pub best: Option<Vec<String>>,
    /// The method that gave the verdict, and why it was chosen.
    #[pyo3(get)]
    pub method: String,
    pub record: Option<serde_json::Result<String>>,
}

#[pymethods]
impl Solution {
    /// The first plan, or `None`.
    #[getter]
    fn plan(&self) -> Option<Vec<String>> {
        self.plans.first().cloned()
    }

    /// The answer as a dictionary, for `Game.verify` and, as a JSON file, for `ggp verify`; `None` if
    /// there is no plan and no proof was asked for.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(record) = &self.record else {
            return Ok(None);
        };
        let text = record
            .as_ref()
            .map_err(|error| Error::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,)).map(Some)
    }

    fn __repr__(&self) -> String {
        match self.plans.first() {
            Some(plan) => format!("<{} in {}>", self.verdict, counted(plan.len(), "move")),
            None => format!("<{}>", self.verdict),
        }
    }
}
