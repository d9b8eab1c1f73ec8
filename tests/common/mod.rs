//! The games that tests run over.

pub mod battleships;
pub mod host;
pub mod names;
pub mod sources;
pub mod spread;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use ggp_gdl::game::Game;
use ggp_solver::planning::breadth_first::Processes;

/// Runs the program in the repository's folder.
pub fn ggp(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("GGP_CORPUS")
        .args(arguments)
        .output()
        .expect("the program was built")
}

/// The folder that `GGP_CORPUS` names: public rule files and puzzles, which are not part of this
/// repository. CONTRIBUTING.md says what it has. Tests that need it are in `corpus.rs`.
pub fn corpus() -> PathBuf {
    let folder = env::var_os("GGP_CORPUS").expect("GGP_CORPUS names the folder of public games");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    assert!(folder.is_dir(), "there is no folder {}", folder.display());
    folder
}

/// The games that take seconds in tests of all games: those on boards of full size.
const LARGE: [&str; 7] = [
    "chess",
    "draughts",
    "go",
    "gomoku",
    "hex_large",
    "lattaque",
    "reversi",
];

/// Returns whether a game, or its file, is one of the [`LARGE`] ones.
pub fn is_large(name: &str) -> bool {
    LARGE.contains(&name.strip_suffix(".kif").unwrap_or(name))
}

/// Name and text of the public games of the corpus, in the order of their names. Only games that can
/// be played.
pub fn public_games() -> Vec<(String, Game)> {
    games_in(std::iter::once(corpus().join("conformance/games")))
}

/// Name and text of the bundled games; the [`LARGE`] ones with `GGP_THOROUGH=1` only.
pub fn own_games() -> Vec<(String, Game)> {
    let mut games = games_in(std::iter::once(own_folder()));
    games.retain(|(name, _)| sized(!is_large(name), true));
    games
}

/// One of `each` of our games, or all with `GGP_THOROUGH=1`.
pub fn some_own_games(each: usize) -> Vec<(String, Game)> {
    let games = own_games().into_iter();
    games.step_by(sized(each, 1)).collect()
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("games")
}

fn games_in(folders: impl Iterator<Item = PathBuf>) -> Vec<(String, Game)> {
    let mut games = Vec::new();
    for folder in folders {
        let mut files = Vec::new();
        rule_files(&folder, &mut files);
        files.sort();
        for file in files {
            let name = file.strip_prefix(&folder).unwrap().display().to_string();
            let bytes = fs::read(&file).expect("a rule file can be read");
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(game) = Game::from_text(&name, &text) {
                games.push((name, game));
            }
        }
    }
    games
}

fn rule_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            rule_files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "kif") {
            out.push(path);
        }
    }
}

/// A number for random choices: `GGP_SEED`, or always the same one.
pub fn seed() -> u64 {
    let given = env::var("GGP_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("GGP_SEED is a number"))
}

/// The size of a test: `all` with `GGP_THOROUGH=1`, as in `.ci/nightly`, otherwise `some`.
pub fn sized<T>(some: T, all: T) -> T {
    match env::var_os("GGP_THOROUGH").is_some_and(|value| value == "1") {
        true => all,
        false => some,
    }
}

/// Calls a function for each of these games, on as many threads as there are cores;
/// panics with the first message in the order of the games.
pub fn for_each(
    games: &[(String, Game)],
    check: impl Fn(&str, &Game) -> Result<(), String> + Sync,
) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((name, game)) = games.get(index) else {
                        return;
                    };
                    if let Err(message) = check(name, game) {
                        let message = format!("{name}: {message}");
                        failures.lock().unwrap().push((index, message));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    let messages: Vec<_> = failures.into_iter().map(|(_, message)| message).collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

/// Processes that can connect, as threads of this one.
pub fn in_processes(count: usize) -> Vec<Processes> {
    // All are kept until all are known, so that they differ.
    let listeners = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let listeners: Vec<_> = listeners.collect();
    let addresses = listeners
        .iter()
        .map(|one| one.local_addr().unwrap().to_string());
    let addresses: Vec<_> = addresses.collect();
    let process = |index| Processes {
        index,
        addresses: addresses.clone(),
        secret: "secret".to_owned(),
        goes_on: false,
    };
    (0..count).map(process).collect()
}
