//! Answers to questions why.

use pyo3::prelude::*;

use crate::errors::Error;

/// The answer of `State.why`.
#[pyclass(frozen, module = "ggp")]
pub struct Explanation {
    pub text: String,
    pub trees: serde_json::Result<String>,
}

#[pymethods]
impl Explanation {
    /// The explanation as nested dictionaries, one for each matching fact.
    #[getter]
    fn trees<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self
            .trees
            .as_ref()
            .map_err(|error| Error::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    fn __str__(&self) -> String {
        self.text.clone()
    }

    fn __repr__(&self) -> String {
        self.text.clone()
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let escaped: String = py
            .import("html")?
            .call_method1("escape", (&self.text,))?
            .extract()?;
        Ok(format!("<pre>{escaped}</pre>"))
    }
}
