//! The picture of a game: the file that configures it, and the picture made from the rules.

use std::path::PathBuf;

use super::Context;
use super::rule_files::{self, RuleOptions};
use ggp_gdl::game::Game;

/// The option that names a picture file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PictureOptions {
    /// Draw as configured in this file [default: GAME.picture.toml next to GAME.kif, if it
    /// exists]
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Whether names are read as people do: colours, chess men, walls, places such as a1
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    #[arg(hide_possible_values = true)]
    names: Names,
}

/// Whether names have a meaning.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Names {
    #[default]
    Yes,
    No,
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
        options.ignores_names = self.names == Names::No;
        Ok(options)
    }
}
