//! Tables: several people, and players, at one game.
//!
//! A table keeps the moves made and what was chosen for the next one, which nobody sees
//! until all roles have chosen. Each person has a key; whoever has the table's name may
//! watch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::answer::{Asked, Refusal};
use super::events;
use super::game_store::{Loaded, blocking, find};
use super::session::{Session, locked, secret};
use super::think::{self, Task};
use super::{House, Shared};
use ggp_engine::machine::Machine;
use ggp_gdl::game::Move;
use ggp_play::AgentSpec;

/// Who sits at a table as itself.
const PERSON: &str = "person";

/// What is asked for a new table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTable {
    game: String,
    #[serde(default)]
    moves: Vec<Vec<String>>,
    seats: Vec<String>,
}

/// A new table.
#[derive(Serialize)]
pub(super) struct Laid {
    table: String,
    keys: Vec<Option<String>>,
}

/// A person's choice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chosen {
    key: String,
    ply: usize,
    #[serde(rename = "move")]
    action: String,
}

/// A table as all see it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Seen {
    table: String,
    game: String,
    name: String,
    seats: Vec<String>,
    moves: Vec<Vec<String>>,
    chosen: Vec<bool>,
    over: bool,
    failed: Option<String>,
}

/// A table.
#[derive(Debug)]
struct Table {
    game: Arc<Loaded>,
    /// By role; none for programs.
    keys: Vec<Option<String>>,
    players: Vec<Option<AgentSpec>>,
    state: Mutex<Standing>,
    seen: watch::Sender<Seen>,
    heard: Mutex<Instant>,
    /// Held while players choose, one after the other.
    turns: tokio::sync::Mutex<()>,
}

/// How a table stands.
#[derive(Debug)]
struct Standing {
    moves: Vec<Vec<String>>,
    legal: Vec<Vec<String>>,
    chosen: Vec<Option<String>>,
    over: bool,
    failed: Option<String>,
}

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<HashMap<String, Arc<Table>>>);

impl Tables {
    fn find(&self, name: &str) -> Result<Arc<Table>, Refusal> {
        let table = locked(&self.0).get(name).map(Arc::clone);
        let table = table.ok_or_else(|| {
            Refusal::missing("there is no such table; one that nobody plays at is cleared away")
        })?;
        *locked(&table.heard) = Instant::now();
        Ok(table)
    }

    /// Clears tables away at which nothing happened for some time and nobody looks on.
    pub(super) fn forget(&self, idle: Duration) {
        let is_used = |table: &Arc<Table>| {
            table.seen.receiver_count() > 0 || locked(&table.heard).elapsed() < idle
        };
        locked(&self.0).retain(|_, table| is_used(table));
    }
}

impl Standing {
    /// The standing after some moves.
    fn new(game: &Loaded, moves: Vec<Vec<String>>) -> Result<Self, Refusal> {
        let mut reached = game.reach(&moves)?;
        let over = reached.machine.is_terminal(&reached.state)?;
        let mut standing = Standing {
            moves,
            legal: Vec::new(),
            chosen: vec![None; game.game.role_count()],
            over,
            failed: None,
        };
        if !over {
            for (role, chosen) in game.game.roles().zip(&mut standing.chosen) {
                let mut legal = Vec::new();
                reached.machine.legal(&reached.state, role, &mut legal)?;
                let terms = reached.machine.terms();
                let text = |action: &Move| game.game.canonical(terms, action.term());
                let legal: Vec<String> = legal.iter().map(text).collect();
                if let [only] = &legal[..] {
                    *chosen = Some(only.clone());
                }
                standing.legal.push(legal);
            }
        }
        Ok(standing)
    }
}

impl Table {
    /// Tells all who look on how it stands.
    fn show(&self, standing: &Standing) {
        self.seen.send_modify(|seen| {
            seen.moves.clone_from(&standing.moves);
            seen.chosen = standing.chosen.iter().map(Option::is_some).collect();
            seen.over = standing.over;
            seen.failed.clone_from(&standing.failed);
        });
    }

    /// Takes a choice, and makes the joint move if it was the last one that was missing.
    fn take(&self, role: usize, ply: usize, action: &str) -> Result<(), Refusal> {
        let mut standing = locked(&self.state);
        let conflict = |told: String| Err(Refusal::new(StatusCode::CONFLICT, told));
        if standing.over {
            return conflict("the game is over".to_owned());
        }
        if ply != standing.moves.len() {
            let made = standing.moves.len();
            return conflict(format!("{made} joint moves are made by now, not {ply}"));
        }
        let legal = &standing.legal[role];
        let Some(action) = legal.iter().find(|legal| *legal == action).cloned() else {
            return Err(Refusal::wrong(format!("{action} is not legal here")));
        };
        standing.chosen[role] = Some(action);
        self.advance(&mut standing)?;
        self.show(&standing);
        Ok(())
    }

    /// Makes joint moves while all have chosen.
    fn advance(&self, standing: &mut Standing) -> Result<(), Refusal> {
        // Play that goes on without anybody having a choice may go on for ever.
        for _ in 0..FORCED {
            if standing.over || standing.chosen.iter().any(Option::is_none) {
                return Ok(());
            }
            let joint = standing.chosen.iter().flatten().cloned().collect();
            let mut moves = standing.moves.clone();
            moves.push(joint);
            *standing = Standing::new(&self.game, moves)?;
        }
        Ok(())
    }

    /// The players that are to choose now, with the ply.
    fn waiting(&self) -> (usize, Vec<(usize, AgentSpec)>) {
        let standing = locked(&self.state);
        if standing.over || standing.failed.is_some() {
            return (standing.moves.len(), Vec::new());
        }
        let players = self.players.iter().zip(&standing.chosen).enumerate();
        let waiting = players.filter_map(|(role, (player, chosen))| {
            let player = player.as_ref().filter(|_| chosen.is_none())?;
            Some((role, player.clone()))
        });
        (standing.moves.len(), waiting.collect())
    }

    /// Lets the players choose until a person has to.
    async fn play(self: &Arc<Self>, house: &Arc<House>) {
        let _turns = self.turns.lock().await;
        loop {
            let (ply, waiting) = self.waiting();
            let Some((role, spec)) = waiting.into_iter().next() else {
                return;
            };
            let turn = Arc::clone(&house.jobs).acquire_owned().await;
            let task = Task {
                game: Arc::clone(&self.game),
                moves: locked(&self.state).moves.clone(),
                role,
                spec,
                seconds: None,
                most: house.limits.thought,
                memory_bytes: house.limits.memory_bytes,
                tree: 0,
            };
            let work = move |stop: &_| {
                let _turn = turn;
                task.choose(stop, None)
            };
            let came = events::run(work, None).await;
            let came = came.unwrap_or_else(|| Err(Refusal::rules("it was given up")));
            let table = Arc::clone(self);
            let taken = blocking(house, move || table.take(role, ply, &came?.action)).await;
            if let Err(refusal) = taken {
                let mut standing = locked(&self.state);
                standing.failed = Some(refusal.message);
                self.show(&standing);
                return;
            }
        }
    }
}

/// Joint moves that are made without anybody having a choice.
const FORCED: usize = 1_000;

/// Lays a table.
pub(super) async fn lay(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Asked(asked): Asked<NewTable>,
) -> Result<Json<Laid>, Refusal> {
    let game = find(&house, &session, &asked.game).await?;
    if asked.seats.len() != game.game.role_count() {
        let roles = game.game.role_count();
        return Err(Refusal::wrong(format!(
            "the game has {roles} roles: name a seat for each"
        )));
    }
    if locked(&house.tables.0).len() >= house.limits.tables {
        return Err(Refusal::busy("all tables are taken: try again later"));
    }
    let table = blocking(&house, move || {
        let mut players = Vec::new();
        for (role, seat) in asked.seats.iter().enumerate() {
            players.push(match &seat[..] {
                PERSON => None,
                player => Some(think::spec(player, role, &game)?),
            });
        }
        let mut standing = Standing::new(&game, asked.moves)?;
        let key = |player: &Option<AgentSpec>| player.is_none().then(secret);
        let seen = Seen {
            table: secret(),
            game: game.id.clone(),
            name: game.game.name(),
            seats: asked.seats,
            moves: Vec::new(),
            chosen: Vec::new(),
            over: false,
            failed: None,
        };
        let table = Table {
            keys: players.iter().map(key).collect(),
            players,
            seen: watch::Sender::new(seen),
            heard: Mutex::new(Instant::now()),
            turns: tokio::sync::Mutex::default(),
            state: Mutex::new(Standing {
                moves: Vec::new(),
                legal: Vec::new(),
                chosen: Vec::new(),
                over: false,
                failed: None,
            }),
            game,
        };
        table.advance(&mut standing)?;
        table.show(&standing);
        *locked(&table.state) = standing;
        Ok(Arc::new(table))
    })
    .await?;
    let name = table.seen.borrow().table.clone();
    let keys = table.keys.clone();
    locked(&house.tables.0).insert(name.clone(), Arc::clone(&table));
    tokio::spawn(async move { table.play(&house).await });
    Ok(Json(Laid { table: name, keys }))
}

/// Sends how a table stands, and each change.
pub(super) async fn follow(
    State(house): Shared,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let table = house.tables.find(&name)?;
    let mut seen = table.seen.subscribe();
    let (sender, response) = events::channel();
    tokio::spawn(async move {
        loop {
            let now = seen.borrow_and_update().clone();
            if !sender.send("table", &now).await {
                return;
            }
            tokio::select! {
                changed = seen.changed() => if changed.is_err() {
                    return;
                },
                () = sender.closed() => return,
            }
        }
    });
    Ok(response)
}

/// Chooses a move.
pub(super) async fn choose(
    State(house): Shared,
    Path(name): Path<String>,
    Asked(asked): Asked<Chosen>,
) -> Result<Json<Seen>, Refusal> {
    let table = house.tables.find(&name)?;
    let is_key = |key: &Option<String>| key.as_ref() == Some(&asked.key);
    let role = table.keys.iter().position(is_key);
    let role = role.ok_or_else(|| {
        Refusal::new(
            StatusCode::FORBIDDEN,
            "that is the key of no seat at this table",
        )
    })?;
    let taken = Arc::clone(&table);
    blocking(&house, move || taken.take(role, asked.ply, &asked.action)).await?;
    let seen = table.seen.borrow().clone();
    tokio::spawn(async move { table.play(&house).await });
    Ok(Json(seen))
}
