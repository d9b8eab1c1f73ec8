//! The option that names a picture file, and the search for the file next to the rules.

use std::path::PathBuf;

use super::Context;
use super::rules::{self, RuleOptions};
use ggp_gdl::game::Game;

/// The options that name a picture file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PictureOptions {
    /// The picture file [default: GAME.picture.toml next to GAME.kif, if it exists]
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// Maximum size of a picture file in bytes.
const LONGEST: usize = 1 << 20;

impl PictureOptions {
    /// The options for the picture of a game, from the given file or from the one next to
    /// the rules; the default options if there is no file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or uses a name that the rules do not have.
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
        match found {
            Some(path) => {
                let text = rules::read_text(&path, LONGEST, context)?;
                Ok(ggp_picture::read_options(
                    &rules::shown_name(&path),
                    &text,
                    game,
                )?)
            }
            None => Ok(ggp_picture::PictureOptions::default()),
        }
    }
}
