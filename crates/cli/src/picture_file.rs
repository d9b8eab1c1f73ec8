//! A small file beside the rules that says how states are drawn: which one it is.

use std::path::PathBuf;

use super::Context;
use super::rules::{self, RuleOptions};
use ggp_gdl::game::Game;
use ggp_picture::Wishes;

/// Where wishes for pictures are.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PictureOptions {
    /// Draw as this file says [default: GAME.picture.toml beside GAME.kif, if there is one]
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// Bytes of a file.
const LONGEST: usize = 1 << 20;

impl PictureOptions {
    /// What is wished for the picture of a game, by the file given or that beside the
    /// rules.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or names what the rules do not have.
    pub fn wishes(
        &self,
        rules: &RuleOptions,
        game: &Game,
        context: &Context,
    ) -> anyhow::Result<Wishes> {
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
                ggp_picture::wishes(&rules::shown_name(&path), &text, game)
            }
            None => Ok(Wishes::default()),
        }
    }
}
