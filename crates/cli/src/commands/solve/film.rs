//! Animated pictures of plans.

use ggp_gdl::counted::counted;
use std::path::PathBuf;

use super::texts;
use crate::Context;
use crate::picture_options::PictureOptions;
use crate::rule_files::RuleOptions;
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_picture::{DrawingLimits, Picture};
use ggp_search::Verdict;
use ggp_solver::solve::Answer;

/// The file and the style of an animated picture.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct FilmOptions {
    /// Draw the plan, position by position, as an animated picture in this file (.svg)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "suite", "count"])]
    #[arg(value_parser = parse_output)]
    animate: Option<PathBuf>,
    #[command(flatten)]
    picture: PictureOptions,
}

fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
    {
        true => Ok(path),
        false => Err("the name of an animated picture must end in .svg".to_owned()),
    }
}

impl FilmOptions {
    /// Refuses impossible options before the search.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn can_write(&self) -> anyhow::Result<()> {
        match &self.animate {
            Some(path) => Context::can_write(path),
            None => Ok(()),
        }
    }

    /// Writes the animated picture of an answer if it is requested.
    ///
    /// # Errors
    ///
    /// If the picture file is invalid, or the file cannot be written.
    pub fn write(
        &self,
        rules: &RuleOptions,
        machine: &AnyMachine,
        start: &<AnyMachine as Machine>::State,
        answer: &Answer,
        context: &Context,
    ) -> anyhow::Result<()> {
        let Some(path) = &self.animate else {
            return Ok(());
        };
        let plan = match (&answer.verdict, &answer.best) {
            (Verdict::Solved { plans, .. }, _) => &plans[0],
            (_, Some(best)) => &best.plan,
            _ => {
                let path = path.display();
                context.note(format_args!(
                    "{path} is not written: there is no plan to draw"
                ));
                return Ok(());
            }
        };
        let mut machine = machine.clone();
        let drawing_options = self.picture.read(rules, machine.game(), context)?;
        let picture = Picture::of(&mut machine, drawing_options)?;
        let said = texts(&machine, plan);
        let mut state = start.clone();
        let mut frames = Vec::with_capacity(plan.len() + 1);
        let frame = |machine: &AnyMachine, state: &_, caption: String| {
            let facts = machine.facts(state);
            (
                picture.draw(machine.terms(), &facts, DrawingLimits::default()),
                caption,
            )
        };
        frames.push(frame(
            &machine,
            &state,
            format!("0 of {}", counted(plan.len(), "move")),
        ));
        for (number, (chosen, said)) in plan.iter().zip(&said).enumerate() {
            state = machine.next(&state, &[*chosen])?;
            machine.terms_mut().refresh();
            let caption = format!("{} of {}: {said}", number + 1, plan.len());
            frames.push(frame(&machine, &state, caption));
        }
        let film = ggp_picture::film(&frames, &machine.game().name());
        context.write_file(path, film.as_bytes())
    }
}
