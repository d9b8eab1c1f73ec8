//! Rule sets: the bundled games, and those that sessions upload.

use ggp_stop::Stop;
use std::error::Error as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::answer::{ApiError, JsonBody};
use super::bundled;
use super::session::{Session, locked};
use super::{AppState, Shared};
use ggp_engine::machine::{self, AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_engine::machine::{PropnetMachine, PropnetState};
use ggp_engine::propnet::GroundLimits;
use ggp_gdl::check::{ReadOptions, Reading, read_until};
use ggp_gdl::diagnostic::DiagnosticRecord;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::SyntaxLimits;
use ggp_picture::{Picture, PictureOptions};
use ggp_play::{Backends, Brief};

/// Time limit for reading rules.
const READING: Duration = Duration::from_secs(10);
/// Time limit for building a network, which happens in the background.
const GROUNDING: Duration = Duration::from_secs(60);
/// Maximum number of matches tried in one state.
const WORK: u64 = 50_000_000;
/// Maximum number of facts derived in one state.
const FACTS: usize = 1_000_000;
/// Maximum number of cached positions.
const KNOWN: usize = 512;
/// Maximum size of a picture file in bytes.
const PICTURE: usize = 1 << 20;
/// Limits for a network that is built only for a card: rows and matches, and work.
const CARD: (usize, u64) = (5_000, 2_000_000);
/// Maximum number of characters of the description on a card.
const ABOUT: usize = 900;

/// The bundled games, each read when it is first requested.
#[derive(Debug, Default)]
pub(super) struct GameStore {
    read: Mutex<FxHashMap<String, Arc<LoadedGame>>>,
}

impl GameStore {
    /// A bundled game.
    fn game(&self, id: &str) -> Option<Arc<LoadedGame>> {
        if let Some(game) = locked(&self.read).get(id) {
            return Some(Arc::clone(game));
        }
        let files = bundled::files(id).into_iter().map(|name| {
            let text = bundled::text(&name)?;
            Some(File { name, text })
        });
        let set = RuleSet {
            files: files.collect::<Option<Vec<File>>>()?,
            picture: bundled::picture(id, bundled::text),
        };
        let game = LoadedGame::new(set, Some(id), &Stop::new()).ok()?;
        let mut read = locked(&self.read);
        let game = read.entry(id.to_owned()).or_insert_with(|| Arc::new(game));
        Some(Arc::clone(game))
    }
}

/// A rule file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    text: String,
}

/// A rule set as uploaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSet {
    files: Vec<File>,
    #[serde(default)]
    picture: Option<String>,
}

impl RuleSet {
    /// An identifier derived from the content.
    fn id(&self) -> String {
        let mut digest = Sha256::new();
        let files = self.files.iter().flat_map(|file| [&file.name, &file.text]);
        for text in files.chain(&self.picture) {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        }
        let bytes = digest.finalize();
        bytes[..12]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn read(&self, stop: &Stop) -> Reading {
        let files = self.files.iter();
        let sources = files.map(|file| Source::new(file.name.clone(), file.text.clone()));
        let options = ReadOptions {
            syntax: SyntaxLimits {
                bytes: 4 << 20,
                ..SyntaxLimits::default()
            },
            rules: 500_000,
            size: 4_000_000,
            ..ReadOptions::default()
        };
        read_until(Sources::new(sources.collect()), &options, stop)
    }
}

/// A game that is ready for use.
#[derive(Debug)]
pub(super) struct LoadedGame {
    pub(super) id: String,
    pub(super) game: Game,
    set: RuleSet,
    findings: Vec<DiagnosticRecord>,
    is_bundled: bool,
    cache: Mutex<Option<PositionCache>>,
    card: OnceLock<Result<String, PlayError>>,
}

/// The machine of a game, and a cache of positions.
#[derive(Debug)]
pub(super) struct PositionCache {
    backends: Backends,
    pub(super) picture: Arc<Picture>,
    /// The cached states, by a hash of the moves.
    known: FxHashMap<u64, PropnetState>,
    hasher: RandomState,
    picture_options: PictureOptions,
}

/// Moves that were made, and the state that they lead to.
pub(super) struct Reached {
    pub(super) machine: AnyMachine,
    pub(super) picture: Arc<Picture>,
    pub(super) joints: Vec<Vec<Move>>,
    pub(super) state: PropnetState,
}

impl LoadedGame {
    fn new(set: RuleSet, name: Option<&str>, stop: &Stop) -> Result<Self, CheckReport> {
        let reading = set.read(stop);
        let Some(game) = reading.game.clone() else {
            return Err(CheckReport::of(&reading));
        };
        Ok(LoadedGame {
            id: name.map_or_else(|| set.id(), str::to_owned),
            findings: CheckReport::of(&reading).findings,
            game,
            set,
            is_bundled: name.is_some(),
            cache: Mutex::default(),
            card: OnceLock::new(),
        })
    }

    /// Limits for machines that answer one request.
    pub(super) fn limits() -> Limits {
        let mut limits = Limits {
            facts: FACTS,
            work: WORK,
            ..Limits::default()
        };
        limits.ground.time = Some(GROUNDING);
        limits
    }

    fn picture_options(&self) -> PictureOptions {
        let text = self.set.picture.as_deref().unwrap_or_default();
        let picture_options = ggp_picture::read_options("picture.toml", text, &self.game);
        // The picture file was checked when the game was loaded.
        picture_options.unwrap_or_default()
    }

    /// The position after moves, which are checked.
    ///
    /// # Errors
    ///
    /// If one of them is not a legal move, or the rules cannot be evaluated.
    pub(super) fn reach(&self, moves: &[Vec<String>]) -> Result<Reached, ApiError> {
        let mut cache = locked(&self.cache);
        if cache.is_none() {
            *cache = Some(PositionCache::new(self)?);
        }
        let cache = cache.as_mut().expect("it was created above");
        if cache.backends.poll() {
            cache.known.clear();
            cache.picture = Arc::new(drawn(
                cache.backends.machine(),
                cache.picture_options.clone(),
            )?);
        }
        cache.reach(moves)
    }

    /// A drawing of the initial position.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub(super) fn card(&self) -> Result<String, PlayError> {
        let card = self.card.get_or_init(|| {
            // A small network gives the cells that boards have.
            let mut limits = LoadedGame::limits();
            limits.ground = GroundLimits {
                facts: CARD.0,
                instances: CARD.0 as u64,
                work: CARD.1,
                ..GroundLimits::default()
            };
            let network = PropnetMachine::new(&self.game, limits);
            let mut machine = match network {
                Ok(network) => AnyMachine::Propnet(Box::new(network)),
                Err(_) => AnyMachine::new(&self.game, Backend::Datalog, LoadedGame::limits())?,
            };
            let machine = &mut machine;
            let picture = drawn(machine, self.picture_options())?;
            let start = machine.initial()?;
            let facts = machine.facts(&start);
            let drawing = picture.draw(
                machine.terms(),
                &facts,
                ggp_picture::DrawingLimits::default(),
            );
            Ok(ggp_picture::svg(&drawing, &self.game.name()))
        });
        card.clone()
    }

    /// The heading of the last file, or else the description in the first one.
    fn about(&self) -> String {
        let paragraphs = |file: &File| -> Vec<String> {
            let lines = file.text.lines().map(str::trim);
            let comment = lines.take_while(|line| line.starts_with(';'));
            let words = comment.map(|line| line.trim_start_matches(';').trim());
            let whole = words.collect::<Vec<_>>().join("\n");
            let parts = whole.split("\n\n").map(|part| part.trim().to_owned());
            parts.filter(|part| !part.is_empty()).collect()
        };
        let files = &self.set.files;
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

    fn name(&self) -> String {
        match self.is_bundled {
            true => self.id.clone(),
            false => self.game.name(),
        }
    }

    fn roles(&self) -> Vec<Role> {
        let roles = self.game.roles();
        let role = |role| Role {
            name: self.game.role_name(role).to_owned(),
            random: self.game.is_random(role),
        };
        roles.map(role).collect()
    }

    fn description(&self) -> GameDescription<'_> {
        GameDescription {
            id: &self.id,
            name: self.name(),
            about: self.about(),
            bundled: self.is_bundled,
            roles: self.roles(),
            files: &self.set.files,
            picture: self.set.picture.as_deref(),
            findings: &self.findings,
        }
    }
}

fn first_role(game: &Game) -> RoleId {
    game.roles().next().expect("a game has a role")
}

fn drawn(machine: &mut AnyMachine, picture_options: PictureOptions) -> Result<Picture, PlayError> {
    let states = ggp_picture::sample(machine, ggp_picture::SAMPLE_STATES)?;
    let start = machine.initial()?;
    let possible = machine.network(&start).map(|(net, _)| net.facts().to_vec());
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::with(
        game,
        terms,
        &states,
        possible.as_deref(),
        picture_options,
    ))
}

impl PositionCache {
    fn new(loaded: &LoadedGame) -> Result<Self, PlayError> {
        let mut brief = Brief::new(&loaded.game, first_role(&loaded.game));
        brief.limits = LoadedGame::limits();
        let mut backends = Backends::new(&brief)?;
        let picture_options = loaded.picture_options();
        let picture = drawn(backends.machine(), picture_options.clone())?;
        Ok(PositionCache {
            backends,
            picture: Arc::new(picture),
            known: FxHashMap::default(),
            hasher: RandomState::new(),
            picture_options,
        })
    }

    /// The position after moves. Roles with a single legal move may be left out.
    fn reach(&mut self, moves: &[Vec<String>]) -> Result<Reached, ApiError> {
        let game = self.backends.machine().game().clone();
        let mut joints = Vec::with_capacity(moves.len());
        let mut hashes = vec![0];
        for (ply, texts) in (1..).zip(moves) {
            let terms = self.backends.machine().terms_mut();
            let parsed = texts
                .iter()
                .map(|text| game.parse_term(terms, text).map(Move::new));
            let joint: Result<Vec<Move>, _> = parsed.collect();
            let mut joint =
                joint.map_err(|error| of_move(ply, ApiError::wrong(error.to_string())))?;
            if joint.len() != game.role_count() {
                let state = self.state(&joints, &hashes)?;
                joint = machine::completed(self.backends.machine(), &state, joint)
                    .map_err(|error| of_move(ply, error))?;
            }
            hashes.push(self.hasher.hash_one((hashes[ply - 1], &joint)));
            joints.push(joint);
        }
        let state = self.state(&joints, &hashes)?;
        Ok(Reached {
            machine: self.backends.machine().clone(),
            picture: Arc::clone(&self.picture),
            joints,
            state,
        })
    }

    /// The state after moves; `hashes` are those of their prefixes.
    fn state(&mut self, joints: &[Vec<Move>], hashes: &[u64]) -> Result<PropnetState, ApiError> {
        let machine = self.backends.machine();
        let known = |ply: &usize| self.known.contains_key(&hashes[*ply]);
        let first = (0..=joints.len()).rev().find(known);
        let mut state = match first {
            Some(ply) => self.known[&hashes[ply]].clone(),
            None => machine.initial()?,
        };
        for (ply, joint) in (1..).zip(joints).skip(first.unwrap_or(0)) {
            state = machine
                .play(&state, joint)
                .map_err(|error| of_move(ply, error))?;
        }
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(hashes[joints.len()], state.clone());
        Ok(state)
    }
}

/// Adds the number of the move to an error.
fn of_move(ply: usize, error: impl Into<ApiError>) -> ApiError {
    let mut error = error.into();
    error.made = Some(ply - 1);
    error.message = format!("move {ply}: {}", error.message);
    error
}

/// A game as it is described to clients.
#[derive(Serialize)]
struct GameDescription<'g> {
    id: &'g str,
    name: String,
    about: String,
    bundled: bool,
    roles: Vec<Role>,
    files: &'g [File],
    picture: Option<&'g str>,
    findings: &'g [DiagnosticRecord],
}

#[derive(Serialize)]
struct Role {
    name: String,
    random: bool,
}

/// A game in a list.
#[derive(Serialize)]
pub(super) struct Card {
    id: String,
    name: String,
    about: String,
    roles: Vec<Role>,
}

/// The errors and warnings about rules.
#[derive(Debug, Serialize)]
pub(super) struct CheckReport {
    right: bool,
    findings: Vec<DiagnosticRecord>,
    omitted: usize,
}

impl CheckReport {
    fn of(reading: &Reading) -> Self {
        let findings = reading.findings.iter();
        CheckReport {
            right: reading.game.is_some(),
            findings: findings
                .map(|finding| finding.to_record(&reading.sources))
                .collect(),
            omitted: reading.omitted,
        }
    }
}

/// A bundled game, or a game of the session.
///
/// # Errors
///
/// If there is no such game.
pub(super) async fn find(
    app: &Arc<AppState>,
    session: &Session,
    id: &str,
) -> Result<Arc<LoadedGame>, ApiError> {
    if let Some(game) = session.game(id) {
        return Ok(game);
    }
    let (app, name) = (Arc::clone(app), id.to_owned());
    let found = tokio::task::spawn_blocking(move || app.shelf.game(&name)).await;
    let found = found.ok().flatten();
    found.ok_or_else(|| {
        ApiError::missing(format!(
            "there is no game `{id}`; your own rules expire after a while: please load them again"
        ))
    })
}

/// Runs work that may take a while on a thread.
///
/// # Errors
///
/// Those of the work.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<AppState>,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let turn = Arc::clone(&app.questions).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.unwrap_or_else(|_| {
        Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the server is still running",
        ))
    })
}

/// The bundled games.
pub(super) async fn games(State(app): Shared) -> Result<Json<Vec<Card>>, ApiError> {
    let all = Arc::clone(&app);
    let cards = blocking(&app, move || {
        let names = bundled::names();
        let games = names.iter().filter_map(|name| all.shelf.game(name));
        // Rules that need an instance are not a complete game; they have findings.
        let games = games.filter(|game| game.findings.is_empty());
        let card = |game: Arc<LoadedGame>| Card {
            id: game.id.clone(),
            name: game.name(),
            about: game.about(),
            roles: game.roles(),
        };
        Ok(games.map(card).collect())
    });
    Ok(Json(cards.await?))
}

/// Reads rules within a time limit, after checking the form of the upload.
async fn reading<T: Send + 'static>(
    app: &Arc<AppState>,
    set: RuleSet,
    read: impl FnOnce(RuleSet, &Stop) -> T + Send + 'static,
) -> Result<T, ApiError> {
    if set.files.is_empty() || set.files.len() > 64 {
        return Err(ApiError::wrong("a rule set has 1 to 64 files"));
    }
    if set
        .picture
        .as_ref()
        .is_some_and(|text| text.len() > PICTURE)
    {
        return Err(ApiError::wrong(format!(
            "a picture file has at most {PICTURE} bytes"
        )));
    }
    let stop = Stop::new();
    let raised = stop.clone();
    let watch = tokio::spawn(async move {
        tokio::time::sleep(READING).await;
        raised.raise();
    });
    let read = blocking(app, move || {
        let read = read(set, &stop);
        match stop.is_raised() {
            true => Err(ApiError::rules(format!(
                "the rules were not read within {} seconds",
                READING.as_secs()
            ))),
            false => Ok(read),
        }
    });
    let read = read.await;
    watch.abort();
    read
}

/// Checks rules.
pub(super) async fn check(
    State(app): Shared,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Json<CheckReport>, ApiError> {
    let check = reading(&app, set, |set, stop| CheckReport::of(&set.read(stop)));
    Ok(Json(check.await?))
}

/// Stores rules, if they have no errors.
pub(super) async fn load(
    State(app): Shared,
    Extension(session): Extension<Arc<Session>>,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Response, ApiError> {
    let read = reading(&app, set, |set, stop| LoadedGame::new(set, None, stop)).await?;
    let loaded = match read {
        Ok(loaded) => Arc::new(loaded),
        Err(check) => return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(check)).into_response()),
    };
    if let Some(text) = &loaded.set.picture {
        let picture_options = ggp_picture::read_options("picture.toml", text, &loaded.game);
        picture_options.map_err(|error| match error.source() {
            Some(source) => ApiError::wrong(format!("{error}: {source}")),
            None => ApiError::wrong(error.to_string()),
        })?;
    }
    session.keep(Arc::clone(&loaded), app.limits.games);
    Ok(Json(loaded.description()).into_response())
}

/// Describes a game.
pub(super) async fn game(
    State(app): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let game = find(&app, &session, &id).await?;
    Ok(Json(game.description()).into_response())
}
