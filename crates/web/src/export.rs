//! The page as files for any server that only sends files: with the engine in WebAssembly, and
//! with what `ggp web` would answer about the bundled games.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hmac_sha256::Hash as Sha256;
use serde::Serialize;

use super::bundled;
use super::game_store::{Card, GameStore};
use super::page;
use super::questions::found_traits;
use ggp_answers::position::{Moves, position};
use ggp_answers::{Allowance, Content, GameDescription, NoBackground, players, solving};
use ggp_engine::machine::PlayError;
use ggp_stop::Stop;

/// The scripts that answer instead of a server.
const SCRIPTS: [(&str, &str); 2] = [
    ("engine/local.js", include_str!("exported/local.js")),
    ("engine/worker.js", include_str!("exported/worker.js")),
];
/// The script that keeps the files for use without a network.
const KEEPER: (&str, &str) = ("keep.js", include_str!("exported/keep.js"));

/// The content security policy of the exported page, and the script that answers instead of a
/// server. The engine is compiled by the browser.
const HEAD: &str = r#"<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'">
<meta name="engine" content="engine/local.js">
<link rel="modulepreload" href="engine/local.js">"#;

/// The engine for browsers, as `.ci/wasm` makes it.
#[derive(Clone, Debug)]
pub struct Engine {
    script: Cow<'static, [u8]>,
    module: Cow<'static, [u8]>,
}

/// The engine that is part of this program.
#[cfg(has_engine)]
const OWN: Option<Engine> = Some(Engine {
    script: Cow::Borrowed(include_bytes!(concat!(env!("GGP_ENGINE"), "/engine.js"))),
    module: Cow::Borrowed(include_bytes!(concat!(env!("GGP_ENGINE"), "/engine.wasm"))),
});
#[cfg(not(has_engine))]
const OWN: Option<Engine> = None;

impl Engine {
    /// The engine that is part of this program, if it was built with one.
    pub fn own() -> Option<Self> {
        OWN
    }

    /// The engine in a folder.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, ExportError> {
        let file = |name| {
            let path = folder.join(name);
            fs::read(&path).map_err(|error| ExportError::io(&path, error))
        };
        Ok(Engine {
            script: file("engine.js")?.into(),
            module: file("engine.wasm")?.into(),
        })
    }
}

/// The size of an exported page.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Exported {
    /// Number of games.
    pub games: usize,
    /// Number of files.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
}

/// The reason why the page was not exported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The folder exists and is not empty.
    NotEmpty(PathBuf),
    /// A file or folder cannot be read or written.
    Io(PathBuf, io::Error),
    /// A game cannot be drawn.
    Game(String, Box<dyn Error + Send + Sync>),
    /// The export was stopped.
    Stopped,
}

impl ExportError {
    fn io(path: &Path, error: io::Error) -> Self {
        ExportError::Io(path.to_owned(), error)
    }

    fn of_game(id: &str, error: PlayError) -> Self {
        match error {
            PlayError::Interrupted => ExportError::Stopped,
            error => ExportError::Game(id.to_owned(), Box::new(error)),
        }
    }
}

impl Display for ExportError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::NotEmpty(path) => write!(
                f,
                "{} is not an empty folder: name one that does not exist, or empty it",
                path.display()
            ),
            ExportError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            ExportError::Game(id, error) => write!(f, "the game {id}: {error}"),
            ExportError::Stopped => f.write_str("the export was stopped; nothing was written"),
        }
    }
}

impl Error for ExportError {}

/// A folder that is emptied unless all is in it.
struct Draft {
    folder: PathBuf,
    /// True if the folder was there before.
    was_there: bool,
    is_complete: bool,
    paths: Vec<String>,
    digest: Sha256,
    size: Exported,
}

impl Draft {
    /// A folder that does not exist or is empty.
    fn new(folder: &Path) -> Result<Self, ExportError> {
        let was_there = match fs::read_dir(folder) {
            Ok(mut entries) => match entries.next() {
                None => true,
                Some(_) => return Err(ExportError::NotEmpty(folder.to_owned())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(ExportError::io(folder, error)),
        };
        fs::create_dir_all(folder).map_err(|error| ExportError::io(folder, error))?;
        Ok(Draft {
            folder: folder.to_owned(),
            was_there,
            is_complete: false,
            paths: Vec::new(),
            digest: Sha256::new(),
            size: Exported::default(),
        })
    }

    fn write(&mut self, path: &str, content: &[u8]) -> Result<(), ExportError> {
        let file = self.folder.join(path);
        let parent = file.parent().expect("it is in the folder");
        fs::create_dir_all(parent).map_err(|error| ExportError::io(parent, error))?;
        fs::write(&file, content).map_err(|error| ExportError::io(&file, error))?;
        self.paths.push(path.to_owned());
        self.digest.update(content);
        self.size.files += 1;
        self.size.bytes += content.len() as u64;
        Ok(())
    }

    fn json(&mut self, path: &str, content: &impl Serialize) -> Result<(), ExportError> {
        self.write(path, content.json().as_bytes())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        // What cannot be deleted now was not written or is in use.
        if !self.was_there {
            let _ = fs::remove_dir_all(&self.folder);
            return;
        }
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

/// Writes the page into a folder, which must not exist or be empty. If it fails, the folder is
/// as before.
///
/// # Errors
///
/// If the folder is not empty or cannot be written, a game cannot be drawn, or the stop is
/// raised.
pub fn export(folder: &Path, engine: &Engine, stop: &Stop) -> Result<Exported, ExportError> {
    let mut draft = Draft::new(folder)?;
    for (path, content) in page::files() {
        match path {
            "index.html" => {
                let text = String::from_utf8_lossy(content);
                let text = text.replacen(r#"<meta charset="utf-8">"#, HEAD, 1);
                draft.write(path, text.as_bytes())?;
            }
            _ => draft.write(&format!("page/{path}"), content)?,
        }
    }
    for (path, text) in SCRIPTS {
        draft.write(path, text.as_bytes())?;
    }
    draft.write("engine/engine.js", &engine.script)?;
    draft.write("engine/engine.wasm", &engine.module)?;
    games(&mut draft, stop)?;
    // The paths come last.
    let version = draft.digest.finalize()[..8]
        .iter()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let keeper = KEEPER.1.replacen("[/* paths */]", &draft.paths.json(), 1);
    let keeper = keeper.replacen("/* version */", &format!("{version:016x}"), 1);
    draft.write(KEEPER.0, keeper.as_bytes())?;
    if stop.is_over() {
        return Err(ExportError::Stopped);
    }
    draft.is_complete = true;
    Ok(draft.size)
}

/// Writes the answers about the bundled games.
fn games(draft: &mut Draft, stop: &Stop) -> Result<(), ExportError> {
    let store = GameStore::new(usize::MAX, None);
    let mut cards = Vec::new();
    for game in store.complete(stop) {
        if stop.is_over() {
            return Err(ExportError::Stopped);
        }
        let id = &game.rules.id;
        // The name of rules that need an instance is that of their first.
        let rules = bundled::rules_of(id).filter(|rules| bundled::playable(rules) == *id);
        for name in rules.into_iter().chain([id.as_str()]) {
            let path = format!("api/games/{name}.json");
            draft.json(&path, &GameDescription::new(&game))?;
        }
        let preview = game
            .preview(stop)
            .map_err(|error| ExportError::of_game(id, error))?;
        draft.write(
            &format!("api/games/{id}/picture.svg"),
            preview.svg.as_bytes(),
        )?;
        let allowance = Allowance {
            stop,
            memory_bytes: 0,
            time: Duration::MAX,
            tables: &Arc::default(),
            background: &NoBackground,
        };
        let first = position(&game, &Moves::default(), &allowance);
        let first = first.map_err(|refusal| match stop.is_over() {
            true => ExportError::Stopped,
            false => ExportError::Game(id.to_owned(), refusal.message.into()),
        })?;
        for name in rules.into_iter().chain([id.as_str()]) {
            draft.json(&format!("api/games/{name}/first.json"), &first)?;
        }
        let card = Card::new(&game);
        if card.is_featured() {
            let film = game
                .film(stop)
                .map_err(|error| ExportError::of_game(id, error))?;
            draft.write(&format!("api/games/{id}/film.svg"), film.as_bytes())?;
        }
        cards.push(card);
    }
    // A stop leaves games out.
    if stop.is_over() {
        return Err(ExportError::Stopped);
    }
    draft.size.games = cards.len();
    draft.json("api/games.json", &cards)?;
    draft.json("api/players.json", &players::kinds())?;
    draft.json("api/methods.json", &solving::methods())?;
    let traits = found_traits(&store, stop).map_err(|_| ExportError::Stopped)?;
    draft.json("api/traits.json", &traits)
}
