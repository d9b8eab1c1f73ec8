//! The extension module of the Python package `ggp`.
//!
//! In: rules, actions and arrays of Python. Out: the answers of the library, and its errors as
//! exceptions. Long work runs without the lock of the interpreter, and Ctrl-C ends it.

mod batch;
mod belief;
mod buffers;
mod errors;
mod explanation;
mod game;
mod interrupt;
mod knowledge;
mod matches;
mod player;
mod reading;
mod shared;
mod solution;
mod state;
mod tournament;
mod view;

use std::ffi::OsString;

use pyo3::prelude::*;

use ggp_engine::propnet::batch::{CUT, STUCK, TERMINAL, UNSCORED};

/// Runs the command `ggp` with these arguments, the first of which is its name, and returns its exit
/// code. The process may end at once, as after `--help`.
#[pyfunction]
fn _main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ggp_cli::run(arguments))
}

#[pymodule]
fn _ggp(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", py.get_type::<errors::Error>())?;
    module.add("RulesError", py.get_type::<errors::RulesError>())?;
    module.add("MatchError", py.get_type::<errors::MatchError>())?;
    module.add("LimitError", py.get_type::<errors::LimitError>())?;
    module.add("CHANCE", state::CHANCE)?;
    module.add("SIMULTANEOUS", state::SIMULTANEOUS)?;
    module.add("OVER", state::OVER)?;
    module.add("TERMINAL", TERMINAL)?;
    module.add("CUT", CUT)?;
    module.add("STUCK", STUCK)?;
    module.add("UNSCORED", UNSCORED)?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<belief::Belief>()?;
    module.add_class::<game::Game>()?;
    module.add_class::<solution::Solution>()?;
    module.add_class::<player::Player>()?;
    module.add_class::<explanation::Explanation>()?;
    module.add_class::<state::State>()?;
    module.add_class::<tournament::Cup>()?;
    module.add_class::<view::View>()?;
    module.add_function(wrap_pyfunction!(_main, module)?)?;
    module.add_function(wrap_pyfunction!(reading::_load_texts, module)?)?;
    module.add_function(wrap_pyfunction!(reading::check, module)?)?;
    module.add_function(wrap_pyfunction!(reading::games, module)?)?;
    module.add_function(wrap_pyfunction!(reading::load, module)?)?;
    module.add_function(wrap_pyfunction!(matches::play, module)?)?;
    module.add_function(wrap_pyfunction!(tournament::tournament, module)?)?;
    Ok(())
}
