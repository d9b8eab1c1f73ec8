//! Rule sets: those that come with the program, and those that sessions give.

use ggp_stop::Stop;
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

use super::answer::{Asked, Refusal};
use super::bundled;
use super::session::{Session, locked};
use super::{House, Shared};
use ggp_engine::machine::{self, AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_engine::machine::{PropnetMachine, PropnetState};
use ggp_engine::propnet::GroundLimits;
use ggp_gdl::check::{ReadOptions, Reading, read_until};
use ggp_gdl::diagnostic::DiagnosticRecord;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::SyntaxLimits;
use ggp_picture::{Picture, Wishes};
use ggp_play::{Backends, Brief};

/// Time to read rules.
const READING: Duration = Duration::from_secs(10);
/// Time for a network, which is made beside everything else.
const GROUNDING: Duration = Duration::from_secs(60);
/// Matches tried in one state.
const WORK: u64 = 50_000_000;
/// Facts derived in one state.
const FACTS: usize = 1_000_000;
/// Positions that are kept.
const KNOWN: usize = 512;
/// Bytes of a picture file.
const PICTURE: usize = 1 << 20;
/// Of a network that is made for a card alone.
/// Rows and matches of a network that is made for a card alone, and work for it.
const CARD: (usize, u64) = (5_000, 2_000_000);
/// Letters of what is said of a game on its card.
const ABOUT: usize = 900;

/// The bundled games, each read when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct GameStore {
    read: Mutex<FxHashMap<String, Arc<Loaded>>>,
}

impl GameStore {
    /// A bundled game.
    fn game(&self, id: &str) -> Option<Arc<Loaded>> {
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
        let game = Loaded::new(set, Some(id), &Stop::new()).ok()?;
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

/// A rule set as it is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSet {
    files: Vec<File>,
    #[serde(default)]
    picture: Option<String>,
}

impl RuleSet {
    /// What tells it from others.
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

/// A game that is ready.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) id: String,
    pub(super) game: Game,
    set: RuleSet,
    findings: Vec<DiagnosticRecord>,
    is_bundled: bool,
    desk: Mutex<Option<Desk>>,
    card: OnceLock<Result<String, PlayError>>,
}

/// The machine of a game, and the positions that were asked for.
#[derive(Debug)]
pub(super) struct Desk {
    backends: Backends,
    pub(super) picture: Arc<Picture>,
    /// By a hash of the moves.
    known: FxHashMap<u64, PropnetState>,
    hasher: RandomState,
    wishes: Wishes,
}

/// Moves that were made, and where they lead.
pub(super) struct Reached {
    pub(super) machine: AnyMachine,
    pub(super) picture: Arc<Picture>,
    pub(super) joints: Vec<Vec<Move>>,
    pub(super) state: PropnetState,
}

impl Loaded {
    fn new(set: RuleSet, name: Option<&str>, stop: &Stop) -> Result<Self, Check> {
        let reading = set.read(stop);
        let Some(game) = reading.game.clone() else {
            return Err(Check::of(&reading));
        };
        Ok(Loaded {
            id: name.map_or_else(|| set.id(), str::to_owned),
            findings: Check::of(&reading).findings,
            game,
            set,
            is_bundled: name.is_some(),
            desk: Mutex::default(),
            card: OnceLock::new(),
        })
    }

    /// What machines for it may spend on one question.
    pub(super) fn limits() -> Limits {
        let mut limits = Limits {
            facts: FACTS,
            work: WORK,
            ..Limits::default()
        };
        limits.ground.time = Some(GROUNDING);
        limits
    }

    fn wishes(&self) -> Wishes {
        let text = self.set.picture.as_deref().unwrap_or_default();
        let wishes = ggp_picture::wishes("picture.toml", text, &self.game);
        // It was read before.
        wishes.unwrap_or_default()
    }

    /// The position after some moves, which are checked.
    ///
    /// # Errors
    ///
    /// If one of them is no legal move, or the rules cannot be evaluated.
    pub(super) fn reach(&self, moves: &[Vec<String>]) -> Result<Reached, Refusal> {
        let mut desk = locked(&self.desk);
        if desk.is_none() {
            *desk = Some(Desk::new(self)?);
        }
        let desk = desk.as_mut().expect("it was just made");
        if desk.backends.poll() {
            desk.known.clear();
            desk.picture = Arc::new(drawn(desk.backends.machine(), desk.wishes.clone())?);
        }
        desk.reach(moves)
    }

    /// The first position drawn.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub(super) fn card(&self) -> Result<String, PlayError> {
        let card = self.card.get_or_init(|| {
            // A small network tells which places there are.
            let mut limits = Loaded::limits();
            limits.ground = GroundLimits {
                facts: CARD.0,
                instances: CARD.0 as u64,
                work: CARD.1,
                ..GroundLimits::default()
            };
            let network = PropnetMachine::new(&self.game, limits);
            let mut machine = match network {
                Ok(network) => AnyMachine::Propnet(Box::new(network)),
                Err(_) => AnyMachine::new(&self.game, Backend::Datalog, Loaded::limits())?,
            };
            let machine = &mut machine;
            let picture = drawn(machine, self.wishes())?;
            let start = machine.initial()?;
            let facts = machine.facts(&start);
            let drawing = picture.draw(machine.terms(), &facts, ggp_picture::Limits::default());
            Ok(ggp_picture::svg(&drawing, &self.game.name()))
        });
        card.clone()
    }

    /// The heading of what stands last, and what the first file says next of itself.
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

    fn told(&self) -> Told<'_> {
        Told {
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

fn drawn(machine: &mut AnyMachine, wishes: Wishes) -> Result<Picture, PlayError> {
    let states = ggp_picture::sample(machine, ggp_picture::ENOUGH)?;
    let start = machine.initial()?;
    let possible = machine.network(&start).map(|(net, _)| net.facts().to_vec());
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::with(
        game,
        terms,
        &states,
        possible.as_deref(),
        wishes,
    ))
}

impl Desk {
    fn new(loaded: &Loaded) -> Result<Self, PlayError> {
        let mut brief = Brief::new(&loaded.game, first_role(&loaded.game));
        brief.limits = Loaded::limits();
        let mut backends = Backends::new(&brief)?;
        let wishes = loaded.wishes();
        let picture = drawn(backends.machine(), wishes.clone())?;
        Ok(Desk {
            backends,
            picture: Arc::new(picture),
            known: FxHashMap::default(),
            hasher: RandomState::new(),
            wishes,
        })
    }

    /// Roles with a single legal move may be left out.
    fn reach(&mut self, moves: &[Vec<String>]) -> Result<Reached, Refusal> {
        let game = self.backends.machine().game().clone();
        let mut joints = Vec::with_capacity(moves.len());
        let mut hashes = vec![0];
        for (ply, texts) in (1..).zip(moves) {
            let terms = self.backends.machine().terms_mut();
            let parsed = texts
                .iter()
                .map(|text| game.parse_term(terms, text).map(Move::new));
            let joint: Result<Vec<Move>, _> = parsed.collect();
            let mut joint = joint.map_err(|told| of_move(ply, Refusal::wrong(told.to_string())))?;
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

    /// The state after moves, whose beginnings have these hashes.
    fn state(&mut self, joints: &[Vec<Move>], hashes: &[u64]) -> Result<PropnetState, Refusal> {
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

/// What is wrong with a move.
fn of_move(ply: usize, refusal: impl Into<Refusal>) -> Refusal {
    let mut refusal = refusal.into();
    refusal.made = Some(ply - 1);
    refusal.message = format!("move {ply}: {}", refusal.message);
    refusal
}

/// A game as it is told of.
#[derive(Serialize)]
struct Told<'g> {
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

/// What is wrong with rules.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    right: bool,
    findings: Vec<DiagnosticRecord>,
    omitted: usize,
}

impl Check {
    fn of(reading: &Reading) -> Self {
        let findings = reading.findings.iter();
        Check {
            right: reading.game.is_some(),
            findings: findings
                .map(|finding| finding.to_record(&reading.sources))
                .collect(),
            omitted: reading.omitted,
        }
    }
}

/// A game that is bundled, or one of the session.
///
/// # Errors
///
/// If there is none.
pub(super) async fn find(
    house: &Arc<House>,
    session: &Session,
    id: &str,
) -> Result<Arc<Loaded>, Refusal> {
    if let Some(game) = session.game(id) {
        return Ok(game);
    }
    let (house, name) = (Arc::clone(house), id.to_owned());
    let found = tokio::task::spawn_blocking(move || house.shelf.game(&name)).await;
    let found = found.ok().flatten();
    found.ok_or_else(|| {
        Refusal::missing(format!(
            "there is no game `{id}` here; rules of your own are kept for a while only: load them again"
        ))
    })
}

/// Does something in a thread where it may take a while.
///
/// # Errors
///
/// What it fails with.
pub(super) async fn blocking<T: Send + 'static>(
    house: &Arc<House>,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let turn = Arc::clone(&house.questions).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.unwrap_or_else(|_| {
        Err(Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this is a fault of the server; the rest of it goes on",
        ))
    })
}

/// The bundled games.
pub(super) async fn games(State(house): Shared) -> Result<Json<Vec<Card>>, Refusal> {
    let all = Arc::clone(&house);
    let cards = blocking(&house, move || {
        let names = bundled::names();
        let games = names.iter().filter_map(|name| all.shelf.game(name));
        // Rules that lack an instance are no game yet, and say so.
        let games = games.filter(|game| game.findings.is_empty());
        let card = |game: Arc<Loaded>| Card {
            id: game.id.clone(),
            name: game.name(),
            about: game.about(),
            roles: game.roles(),
        };
        Ok(games.map(card).collect())
    });
    Ok(Json(cards.await?))
}

/// Reads rules within a time, unless there is something wrong with how they are given.
async fn reading<T: Send + 'static>(
    house: &Arc<House>,
    set: RuleSet,
    read: impl FnOnce(RuleSet, &Stop) -> T + Send + 'static,
) -> Result<T, Refusal> {
    if set.files.is_empty() || set.files.len() > 64 {
        return Err(Refusal::wrong(
            "a rule set has one file at least, and 64 at most",
        ));
    }
    if set
        .picture
        .as_ref()
        .is_some_and(|text| text.len() > PICTURE)
    {
        return Err(Refusal::wrong(format!(
            "a picture file has {PICTURE} bytes at most"
        )));
    }
    let stop = Stop::new();
    let raised = stop.clone();
    let watch = tokio::spawn(async move {
        tokio::time::sleep(READING).await;
        raised.raise();
    });
    let read = blocking(house, move || {
        let read = read(set, &stop);
        match stop.is_raised() {
            true => Err(Refusal::rules(format!(
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

/// Says what is wrong with rules.
pub(super) async fn check(
    State(house): Shared,
    Asked(set): Asked<RuleSet>,
) -> Result<Json<Check>, Refusal> {
    let check = reading(&house, set, |set, stop| Check::of(&set.read(stop)));
    Ok(Json(check.await?))
}

/// Keeps rules, if they are right.
pub(super) async fn load(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Asked(set): Asked<RuleSet>,
) -> Result<Response, Refusal> {
    let read = reading(&house, set, |set, stop| Loaded::new(set, None, stop)).await?;
    let loaded = match read {
        Ok(loaded) => Arc::new(loaded),
        Err(check) => return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(check)).into_response()),
    };
    if let Some(text) = &loaded.set.picture {
        let wishes = ggp_picture::wishes("picture.toml", text, &loaded.game);
        wishes.map_err(|told| Refusal::wrong(format!("{told:#}")))?;
    }
    session.keep(Arc::clone(&loaded), house.limits.games);
    Ok(Json(loaded.told()).into_response())
}

/// A game.
pub(super) async fn game(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let game = find(&house, &session, &id).await?;
    Ok(Json(game.told()).into_response())
}
