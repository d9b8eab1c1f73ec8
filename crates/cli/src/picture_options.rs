//! The picture of a game: the file that configures it, and the picture made from the rules.

use std::path::PathBuf;

use super::Context;
use super::rule_files::{self, RuleOptions};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_engine::propnet::possible_facts;
use ggp_gdl::datalog::Bounds;
use ggp_gdl::game::Game;
use ggp_picture::Picture;

/// The option that names a picture file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PictureOptions {
    /// Draw as configured in this file [default: GAME.picture.toml next to GAME.kif, if it
    /// exists]
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Read names as people do: colours, chess men, walls, places such as a1
    #[arg(long)]
    pub names: bool,
}

/// Maximum size of a picture file in bytes.
const LONGEST: usize = 1 << 20;

impl PictureOptions {
    /// The configuration of a game's picture, from the given file or the one next to the
    /// rules.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or names symbols that the rules do not have.
    pub fn read(
        &self,
        rules: &RuleOptions,
        game: &Game,
        context: &Context,
    ) -> anyhow::Result<ggp_picture::PictureOptions> {
        let beside = rules
            .files
            .iter()
            .map(|file| file.with_extension("picture.toml"));
        let found = match &self.picture {
            Some(path) => Some(path.clone()),
            None => beside.into_iter().find(|path| path.is_file()),
        };
        let mut options = match found {
            Some(path) => {
                let text = rule_files::read_text(&path, LONGEST, context)?;
                ggp_picture::read_options(&rule_files::shown_name(&path), &text, game)?
            }
            None => ggp_picture::PictureOptions::default(),
        };
        options.reads_names = self.names;
        Ok(options)
    }
}

/// Maximum number of rows examined to find the facts that can ever hold.
const POSSIBLE_WORK: u64 = 5_000_000;

/// The picture of a machine's game with the given configuration, from the states of
/// `samples` random moves.
///
/// # Errors
///
/// As [`ggp_picture::sample`].
pub fn picture(
    machine: &mut AnyMachine,
    samples: usize,
    picture_options: ggp_picture::PictureOptions,
) -> Result<Picture, PlayError> {
    let states = ggp_picture::sample(machine, samples)?;
    let start = machine.initial()?;
    let possible = match machine.network(&start) {
        Some((network, _)) => Some(network.facts().to_vec()),
        None => {
            let bounds = Bounds {
                work: POSSIBLE_WORK,
                ..Bounds::default()
            };
            possible_facts(machine.game(), bounds)
        }
    };
    // The shared table of terms may have grown.
    machine.terms_mut().refresh();
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::with(
        game,
        terms,
        &states,
        possible.as_deref(),
        picture_options,
    ))
}
