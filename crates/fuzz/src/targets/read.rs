//! Rules are read: messages are short, findings have places, and errors prevent a game.

use std::time::Duration;

use ggp_gdl::check::{ReadOptions, Reading, read_until};
use ggp_gdl::diagnostic::{Style, has_errors};
use ggp_gdl::span::{Source, Sources};
use ggp_stop::Stop;

/// The most bytes of one message.
const MESSAGE: usize = 20_000;

/// Reads rules with a limit of time.
pub fn reading(text: &str) -> Reading {
    let sources = Sources::from(Source::new("input.kif", text));
    read_until(
        sources,
        &ReadOptions::default(),
        &Stop::after(Duration::from_secs(5)),
    )
}

pub fn run(text: &str, _: u64) -> Result<u64, String> {
    let reading = reading(text);
    if reading.game.is_some() && has_errors(&reading.findings) {
        return Err("there is a game in spite of errors".to_owned());
    }
    for finding in &reading.findings {
        for style in [Style::Plain, Style::Colour] {
            let shown = finding.render(&reading.sources, style);
            if shown.len() > MESSAGE {
                return Err(format!("a message of {} bytes", shown.len()));
            }
        }
    }
    Ok(reading.findings.len() as u64)
}
