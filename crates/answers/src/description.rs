//! Games as they are described to clients.

use serde::Serialize;

use crate::loaded_game::LoadedGame;
use crate::rule_set::{File, Finding};

/// Maximum number of characters of the description on a card.
const ABOUT: usize = 900;

/// A game as it is described to clients.
#[derive(Debug, Serialize)]
pub struct GameDescription<'g> {
    id: &'g str,
    name: String,
    about: String,
    bundled: bool,
    /// Whether roles may not know the state: the rules have `sees`.
    hidden: bool,
    roles: Vec<Role>,
    files: &'g [File],
    picture: Option<&'g str>,
    findings: &'g [Finding],
}

impl<'g> GameDescription<'g> {
    /// The description of a game.
    pub fn new(game: &'g LoadedGame) -> Self {
        GameDescription {
            id: &game.rules.id,
            name: game.name(),
            about: game.about(),
            bundled: game.rules.is_bundled,
            hidden: game.game.is_hidden(),
            roles: game.roles(),
            files: &game.rules.set.files,
            picture: game.rules.set.picture.as_deref(),
            findings: &game.findings,
        }
    }
}

impl LoadedGame {
    /// The heading of the last file, or else the description in the first one.
    pub fn about(&self) -> String {
        let paragraphs = |file: &File| -> Vec<String> {
            let lines = file.text.lines().map(str::trim);
            let comment = lines.take_while(|line| line.starts_with(';'));
            let words = comment.map(|line| line.trim_start_matches(';').trim());
            let whole = words.collect::<Vec<_>>().join("\n");
            let parts = whole.split("\n\n").map(|part| part.trim().to_owned());
            parts.filter(|part| !part.is_empty()).collect()
        };
        let files = &self.rules.set.files;
        let heading = files
            .last()
            .and_then(|file| paragraphs(file).into_iter().next());
        let rest = files
            .first()
            .and_then(|file| paragraphs(file).into_iter().nth(1));
        let parts: Vec<String> = [heading, rest].into_iter().flatten().collect();
        let about = parts.join("\n");
        match about.char_indices().nth(ABOUT) {
            Some((end, _)) => format!("{}…", &about[..end]),
            None => about,
        }
    }

    /// The name of a bundled game, or else that of the first file.
    pub fn name(&self) -> String {
        match self.rules.is_bundled {
            true => self.rules.id.clone(),
            false => self.game.name(),
        }
    }

    /// The roles.
    pub fn roles(&self) -> Vec<Role> {
        let roles = self.game.roles();
        let role = |role| Role {
            name: self.game.role_name(role).to_owned(),
            random: self.game.is_random(role),
        };
        roles.map(role).collect()
    }
}

/// A role.
#[derive(Debug, Serialize)]
pub struct Role {
    name: String,
    /// Whether it moves by chance.
    pub random: bool,
}
