//! A game that is ready for use: the machine that answers for it, and the positions that it
//! remembers.

use std::error::Error as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::allowance::Allowance;
use crate::film;
use crate::locked;
use crate::network::Network;
use crate::preview::{Preview, small_machine};
use crate::refusal::Refusal;
use crate::rule_set::{CheckReport, Finding, MOST_TERMS, Rules};
use crate::seat::Beliefs;
use ggp_engine::machine::PropnetState;
use ggp_engine::machine::{self, AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_engine::propnet::NetworkCache;
use ggp_gdl::game::{Game, Move};
use ggp_learn::Learned;
use ggp_picture::{Examples, Picture, PictureOptions, SAMPLE_STATES};
use ggp_stop::Stop;

/// Time limit for building a network, which happens in the background.
const GROUNDING: Duration = Duration::from_secs(60);
/// The time to wait for the network before a Datalog machine is made.
const PATIENCE: Duration = Duration::from_millis(100);
/// The time that a player waits for the network, from the start of grounding on.
const PREPARING: Duration = Duration::from_secs(15);
/// The interval of reports to a player that waits.
const TICK: Duration = Duration::from_millis(50);
/// Maximum size in bytes of the rows and gates of one game.
const NETWORK: usize = 256 << 20;
/// Maximum number of matches tried in one state.
pub const WORK: u64 = 50_000_000;
/// Maximum number of facts derived in one state.
pub const FACTS: usize = 1_000_000;
/// Maximum number of remembered positions, and of their size in bytes.
const KNOWN: (usize, usize) = (512, 4 << 20);
/// The number of terms at which a game is read anew. Requests may name any number of terms
/// that no position has, and all requests for a game share them.
const STALE: usize = MOST_TERMS / 2;
/// Approximate size in bytes of all that is kept for a byte of rules, for a term, and for a
/// gate with what runs it, as measured with public games from 5 to 20 KB.
const SIZES: (usize, usize, usize) = (40, 80, 1_000);

/// A game that is ready for use.
#[derive(Debug)]
pub struct LoadedGame {
    /// The rules as they were uploaded.
    pub rules: Arc<Rules>,
    /// The rules as they are used.
    pub game: Game,
    /// The warnings about the rules.
    pub findings: Vec<Finding>,
    /// Maximum size in bytes of the rows and gates.
    network: usize,
    networks: Option<NetworkCache>,
    cache: Mutex<Option<PositionCache>>,
    preview: Mutex<Option<Arc<Preview>>>,
    film: Mutex<Option<Arc<str>>>,
    learned: Mutex<Option<Arc<Learned>>>,
    pub(crate) beliefs: Mutex<Option<Beliefs>>,
    /// The approximate size without learned values.
    bytes: AtomicUsize,
    is_stale: AtomicBool,
}

/// The machine of a game, and a cache of positions.
#[derive(Debug)]
struct PositionCache {
    machine: AnyMachine,
    pictures: Arc<Pictures>,
    /// The number of machines before this one, whose states it cannot use.
    generation: u32,
    network: Network,
    /// The kinds of players that have compiled the code of the machine.
    compiled: FxHashSet<&'static str>,
    /// The cached states, by a hash of the moves.
    known: FxHashMap<u64, PropnetState>,
    hasher: RandomState,
}

/// Moves that were made, and the state that they lead to.
pub struct Reached {
    /// The machine, with a stop.
    pub machine: AnyMachine,
    /// The pictures of the game.
    pub pictures: Arc<Pictures>,
    /// The joint moves, with those that were left out.
    pub joints: Vec<Vec<Move>>,
    /// The state after them.
    pub state: PropnetState,
}

impl LoadedGame {
    /// Reads rules. `bytes` is the size of all games together.
    ///
    /// # Errors
    ///
    /// The report about them, if they have errors.
    pub fn new(rules: Arc<Rules>, bytes: usize, stop: &Stop) -> Result<Self, CheckReport> {
        let (game, report) = rules.set.read(stop)?;
        Ok(LoadedGame {
            bytes: AtomicUsize::new(SIZES.0 * rules.bytes()),
            rules,
            findings: report.findings,
            game,
            network: NETWORK.min(bytes / 2),
            networks: None,
            cache: Mutex::default(),
            preview: Mutex::default(),
            film: Mutex::default(),
            learned: Mutex::default(),
            beliefs: Mutex::default(),
            is_stale: AtomicBool::new(false),
        })
    }

    /// The same, with the networks of other runs.
    #[must_use]
    pub fn with_networks(self, networks: Option<NetworkCache>) -> Self {
        LoadedGame { networks, ..self }
    }

    /// The approximate size in bytes of all that is remembered for the game.
    pub fn bytes(&self) -> usize {
        let learned = self.learned().map_or(0, |learned| learned.values.bytes());
        let preview = locked(&self.preview)
            .as_ref()
            .map_or(0, |one| one.svg.len());
        let film = locked(&self.film).as_ref().map_or(0, |film| film.len());
        self.bytes.load(Ordering::Relaxed) + learned + preview + film
    }

    /// True if the game must be read anew.
    pub fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Relaxed)
    }

    /// Limits for machines that answer one request.
    pub fn limits(&self, stop: &Stop) -> Limits {
        let mut limits = Limits {
            facts: FACTS,
            work: WORK,
            ..Limits::default()
        };
        limits.ground.time = Some(GROUNDING);
        limits.ground.memory = self.network;
        limits.ground.cache.clone_from(&self.networks);
        limits.stop = stop.clone();
        limits.ground.stop = stop.clone();
        limits
    }

    /// The values that were learned for this game, if they were.
    pub fn learned(&self) -> Option<Arc<Learned>> {
        locked(&self.learned).clone()
    }

    /// Keeps learned values, unless those at hand are from more games. Returns what is kept.
    pub fn keep(&self, fresh: Learned) -> Arc<Learned> {
        let mut learned = locked(&self.learned);
        let known = learned
            .take()
            .filter(|known| known.progress.games > fresh.progress.games);
        Arc::clone(learned.insert(known.unwrap_or_else(|| Arc::new(fresh))))
    }

    /// True if a network may still be made in the background.
    pub fn awaits_network(&self) -> bool {
        let cache = locked(&self.cache);
        cache
            .as_ref()
            .is_none_or(|cache| !matches!(cache.network, Network::Settled))
    }

    /// Waits until the network is ready, if it is being built and was begun a short time ago.
    /// `report` receives the time since then.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub fn prepare(
        &self,
        allowance: &Allowance,
        mut report: impl FnMut(Duration),
    ) -> Result<(), Refusal> {
        loop {
            let began = self.grounding_time(allowance)?;
            let Some(time) = began.filter(|time| *time < PREPARING && !allowance.stop.is_over())
            else {
                return Ok(());
            };
            report(time);
            allowance.background.wait(TICK);
        }
    }

    /// The time since grounding began, if it has not ended.
    fn grounding_time(&self, allowance: &Allowance) -> Result<Option<Duration>, Refusal> {
        let mut cache = locked(&self.cache);
        let cache = PositionCache::ready(&mut cache, self, allowance)?;
        Ok(match &cache.network {
            Network::Grounding(grounding) => Some(grounding.began.elapsed()),
            Network::Wanted | Network::Settled => None,
        })
    }

    /// Whether no player of a kind has compiled the code of the machine before.
    pub(crate) fn wants_code(&self, kind: &'static str) -> bool {
        let mut cache = locked(&self.cache);
        cache
            .as_mut()
            .is_some_and(|cache| cache.compiled.insert(kind))
    }

    /// Checks the picture file.
    ///
    /// # Errors
    ///
    /// If it does not fit the rules.
    pub fn check_picture(&self) -> Result<(), Refusal> {
        let Some(text) = &self.rules.set.picture else {
            return Ok(());
        };
        match ggp_picture::read_options("picture.toml", text, &self.game) {
            Ok(_) => Ok(()),
            Err(error) => Err(match error.source() {
                Some(source) => Refusal::wrong(format!("{error}: {source}")),
                None => Refusal::wrong(error.to_string()),
            }),
        }
    }

    /// The options of the picture file, or the default ones.
    pub(crate) fn picture_options(&self) -> PictureOptions {
        let text = self.rules.set.picture.as_deref().unwrap_or_default();
        let picture_options = ggp_picture::read_options("picture.toml", text, &self.game);
        // The picture file was checked when the game was loaded.
        picture_options.unwrap_or_default()
    }

    /// The position after moves, which are checked. Roles with a single legal move may be
    /// left out.
    ///
    /// # Errors
    ///
    /// If one of them is not a legal move, or the rules cannot be evaluated.
    pub fn reach(&self, moves: &[Vec<String>], allowance: &Allowance) -> Result<Reached, Refusal> {
        let (mut machine, pictures, generation, hasher) = {
            let mut cache = locked(&self.cache);
            let cache = PositionCache::ready(&mut cache, self, allowance)?;
            let (machine, hasher) = (cache.machine.clone(), cache.hasher.clone());
            (
                machine,
                Arc::clone(&cache.pictures),
                cache.generation,
                hasher,
            )
        };
        machine.set_stop(allowance.stop);
        // The cache is not locked while moves are made, which may take long.
        let mut path = Path {
            loaded: self,
            generation,
            joints: Vec::with_capacity(moves.len()),
            hashes: vec![0],
            state: None,
        };
        for (ply, texts) in (1..).zip(moves) {
            let joint = path.read(&mut machine, ply, texts)?;
            path.hashes
                .push(hasher.hash_one((path.hashes[ply - 1], &joint)));
            path.joints.push(joint);
        }
        let state = path.state(&mut machine)?;
        let mut cache = locked(&self.cache);
        if let Some(cache) = cache
            .as_mut()
            .filter(|cache| cache.generation == generation)
        {
            cache.remember(path.hashes[moves.len()], &state);
        }
        let known = cache.as_ref().map_or(0, PositionCache::bytes);
        drop(cache);
        self.bytes.store(
            SIZES.0 * self.rules.bytes() + machine_bytes(&machine) + known,
            Ordering::Relaxed,
        );
        if machine.terms().len() > STALE {
            self.is_stale.store(true, Ordering::Relaxed);
        }
        Ok(Reached {
            machine,
            pictures,
            joints: path.joints,
            state,
        })
    }

    /// The preview of the game, which is made once.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated.
    pub fn preview(&self, stop: &Stop) -> Result<Arc<Preview>, PlayError> {
        if let Some(preview) = &*locked(&self.preview) {
            return Ok(Arc::clone(preview));
        }
        let preview = Arc::new(Preview::new(self, stop)?);
        Ok(Arc::clone(locked(&self.preview).insert(preview)))
    }

    /// An animation of a match between programs, which is made once.
    ///
    /// # Errors
    ///
    /// If the rules cannot be evaluated, or the match cannot be played in time.
    pub fn film(&self, stop: &Stop) -> Result<Arc<str>, PlayError> {
        if let Some(film) = &*locked(&self.film) {
            return Ok(Arc::clone(film));
        }
        let film = Arc::from(film::made(self, stop)?);
        Ok(Arc::clone(locked(&self.film).insert(film)))
    }
}

/// The pictures of a game.
#[derive(Debug)]
pub struct Pictures {
    /// From the structure of the rules alone.
    pub plain: Picture,
    /// Also from the names in them.
    pub named: Picture,
}

/// The pictures of a game, found in sample states of a machine.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn drawn(machine: &mut AnyMachine, options: PictureOptions) -> Result<Pictures, PlayError> {
    let examples = Examples::of(machine, SAMPLE_STATES)?;
    let plain = PictureOptions {
        ignores_names: true,
        ..options.clone()
    };
    Ok(Pictures {
        plain: examples.picture(machine, plain),
        named: examples.picture(machine, options),
    })
}

impl PositionCache {
    fn new(loaded: &LoadedGame, allowance: &Allowance) -> Result<Self, PlayError> {
        let mut network = Network::Wanted;
        let ready = match allowance.background.is_parallel() {
            true => {
                network.start(loaded, allowance);
                network.wait(PATIENCE, allowance)
            }
            false => match small_machine(loaded, allowance.stop)? {
                AnyMachine::Propnet(small) => {
                    network = Network::Settled;
                    Some(AnyMachine::Propnet(small))
                }
                _ => None,
            },
        };
        let mut machine = match ready {
            Some(machine) => machine,
            None => {
                let limits = loaded.limits(allowance.stop);
                AnyMachine::new(&loaded.game, Backend::Datalog, limits)?
            }
        };
        let pictures = drawn(&mut machine, loaded.picture_options())?;
        Ok(PositionCache {
            machine,
            pictures: Arc::new(pictures),
            generation: 0,
            network,
            compiled: FxHashSet::default(),
            known: FxHashMap::default(),
            hasher: RandomState::new(),
        })
    }

    /// The cache with the best machine so far.
    fn ready<'c>(
        cache: &'c mut Option<Self>,
        loaded: &LoadedGame,
        allowance: &Allowance,
    ) -> Result<&'c mut Self, PlayError> {
        if cache.is_none() {
            *cache = Some(PositionCache::new(loaded, allowance)?);
        }
        let cache = cache.as_mut().expect("it was created above");
        cache.poll(loaded, allowance)?;
        Ok(cache)
    }

    /// Switches to the network if it is ready.
    fn poll(&mut self, loaded: &LoadedGame, allowance: &Allowance) -> Result<(), PlayError> {
        self.network.start(loaded, allowance);
        let Some(machine) = self.network.take(allowance) else {
            return Ok(());
        };
        // The pictures do not depend on the machine.
        self.machine = machine;
        self.known.clear();
        self.compiled.clear();
        self.generation += 1;
        Ok(())
    }

    fn remember(&mut self, hash: u64, state: &PropnetState) {
        if self.known.len() >= KNOWN.0 || self.bytes() >= KNOWN.1 {
            self.known.clear();
        }
        self.known.insert(hash, state.clone());
    }

    /// The size of the remembered states, if all are as large as one of them.
    fn bytes(&self) -> usize {
        let state = match self.known.values().next() {
            None => 0,
            Some(PropnetState::Packed(words) | PropnetState::Mixed(words)) => {
                size_of_val(&words[..])
            }
            Some(PropnetState::Facts(facts)) => size_of_val(&facts[..]),
        };
        self.known.len() * (state + 64)
    }
}

/// Moves that are read one after the other, and the last state that was needed for it.
struct Path<'l> {
    loaded: &'l LoadedGame,
    generation: u32,
    joints: Vec<Vec<Move>>,
    /// Hashes of the moves so far, from none on.
    hashes: Vec<u64>,
    /// A state on the way, with its ply.
    state: Option<(usize, PropnetState)>,
}

impl Path<'_> {
    /// Reads a joint move, and adds the only legal moves of roles that are left out.
    fn read(
        &mut self,
        machine: &mut AnyMachine,
        ply: usize,
        texts: &[String],
    ) -> Result<Vec<Move>, Refusal> {
        let game = &self.loaded.game;
        let mut joint = Vec::with_capacity(texts.len());
        for text in texts {
            let term = game.parse_term(machine.terms_mut(), text);
            let term = term.map_err(|error| of_move(ply, Refusal::wrong(error.to_string())))?;
            joint.push(Move::new(term));
        }
        if joint.len() != game.role_count() {
            let state = self.state(machine)?;
            joint =
                machine::completed(machine, &state, joint).map_err(|error| of_move(ply, error))?;
        }
        Ok(joint)
    }

    /// The state after all moves so far.
    fn state(&mut self, machine: &mut AnyMachine) -> Result<PropnetState, Refusal> {
        let from = self.state.as_ref().map_or(0, |(ply, _)| *ply);
        let known = {
            let cache = locked(&self.loaded.cache);
            let cache = cache
                .as_ref()
                .filter(|cache| cache.generation == self.generation);
            cache.and_then(|cache| {
                let plies = (from + 1..=self.joints.len()).rev();
                let mut known = plies.filter_map(|ply| {
                    let state = cache.known.get(&self.hashes[ply])?;
                    Some((ply, state.clone()))
                });
                known.next()
            })
        };
        let (first, mut state) = match known.or_else(|| self.state.take()) {
            Some(known) => known,
            None => (0, machine.initial()?),
        };
        for (ply, joint) in (1..).zip(&self.joints).skip(first) {
            // A move may take too little time to look at the stop.
            if machine.stop().is_over() {
                return Err(PlayError::Interrupted.into());
            }
            state = (machine.play(&state, joint)).map_err(|error| of_move(ply, error))?;
        }
        self.state = Some((self.joints.len(), state.clone()));
        Ok(state)
    }
}

/// The approximate size of a machine in bytes, with its terms.
fn machine_bytes(machine: &AnyMachine) -> usize {
    let gates = match machine {
        AnyMachine::Propnet(machine) => machine.net().network().len(),
        AnyMachine::Mixed(machine) => machine.moves().net().network().len(),
        _ => 0,
    };
    SIZES.1 * machine.terms().len() + SIZES.2 * gates
}

/// Adds the number of the move to an error.
fn of_move(ply: usize, error: impl Into<Refusal>) -> Refusal {
    let mut error = error.into();
    error.made = Some(ply - 1);
    error.message = format!("move {ply}: {}", error.message);
    error
}
