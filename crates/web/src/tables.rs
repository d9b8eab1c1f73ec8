//! Tables: matches between several people and players.
//!
//! A table stores the moves made and the choices for the next one, which nobody sees until
//! all roles have chosen. Each person has a key. Anyone who knows the table's name may
//! watch, unless the rules hide what others do.

pub(super) mod views;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::answer::{ApiError, JsonBody};
use super::events::{self, Permit};
use super::game_store::{blocking, find};
use super::session::{Visitor, locked, secret, seed};
use super::turns::{Turn, Turns};
use super::{AppState, Shared, WebLimits};
use ggp_answers::LoadedGame;
use ggp_answers::think::{self, ThinkTask};
use ggp_engine::machine::Machine;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Move;
use ggp_play::AgentSpec;

/// The seat of a person.
const PERSON: &str = "person";

/// The request for a new table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewTable {
    game: String,
    #[serde(default)]
    moves: Vec<Vec<String>>,
    seats: Vec<String>,
}

/// A new table.
#[derive(Serialize)]
pub(super) struct CreatedTable {
    table: String,
    keys: Vec<Option<String>>,
}

/// A person's choice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Chosen {
    key: String,
    ply: usize,
    #[serde(rename = "move")]
    action: String,
}

/// The request for another match of the same players, once a match is over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Rematch {
    key: String,
    /// Whether each player moves on by one seat.
    #[serde(default)]
    swap: bool,
}

/// The key of whoever follows a table, if it has one.
#[derive(Debug, Deserialize)]
pub(super) struct Follower {
    key: Option<String>,
}

/// A table as everyone sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct TableView {
    table: String,
    game: String,
    name: String,
    seats: Vec<String>,
    moves: Vec<Vec<String>>,
    chosen: Vec<bool>,
    over: bool,
    failed: Option<String>,
    /// The table of the next match of the same players, who keep their keys.
    next: Option<String>,
    /// The seat of whoever follows the table.
    seat: Option<usize>,
}

/// A table.
#[derive(Debug)]
struct Table {
    game: Arc<LoadedGame>,
    limits: WebLimits,
    /// The visitor that created it.
    owner: Visitor,
    _turn: Turn,
    /// The keys by role; `None` for programs.
    keys: Vec<Option<String>>,
    players: Vec<Option<AgentSpec>>,
    state: Mutex<MatchState>,
    seen: watch::Sender<TableView>,
    heard: Mutex<Instant>,
    /// Held while players choose, one after the other.
    turns: tokio::sync::Mutex<()>,
}

/// The state of a match.
#[derive(Clone, Debug)]
struct MatchState {
    moves: Vec<Vec<String>>,
    legal: Vec<Vec<String>>,
    chosen: Vec<Option<String>>,
    over: bool,
    failed: Option<String>,
}

/// All tables.
#[derive(Debug)]
pub(super) struct Tables {
    known: Mutex<HashMap<String, Arc<Table>>>,
    places: Arc<Turns>,
}

impl Tables {
    /// No tables, with places for new ones.
    pub(super) fn new(places: Arc<Turns>) -> Self {
        Tables {
            known: Mutex::default(),
            places,
        }
    }

    fn find(&self, name: &str) -> Result<Arc<Table>, ApiError> {
        let table = locked(&self.known).get(name).map(Arc::clone);
        let table = table.ok_or_else(|| ApiError::missing("this table no longer exists"))?;
        *locked(&table.heard) = Instant::now();
        Ok(table)
    }

    /// Drops tables that were inactive for `idle` and that nobody watches.
    pub(super) fn forget(&self, idle: Duration) {
        let is_used = |table: &Arc<Table>| {
            table.seen.receiver_count() > 0 || locked(&table.heard).elapsed() < idle
        };
        locked(&self.known).retain(|_, table| is_used(table));
    }
}

impl MatchState {
    /// The state after moves.
    fn new(
        game: &LoadedGame,
        moves: Vec<Vec<String>>,
        turn: &Turn,
        limits: &WebLimits,
    ) -> Result<Self, ApiError> {
        let mut reached = game.reach(&moves, &turn.allowance(limits))?;
        let over = reached.machine.is_terminal(&reached.state)?;
        let mut state = MatchState {
            moves,
            legal: Vec::new(),
            chosen: vec![None; game.game.role_count()],
            over,
            failed: None,
        };
        if !over {
            for (role, chosen) in game.game.roles().zip(&mut state.chosen) {
                let mut legal = Vec::new();
                match reached.machine.legal(&reached.state, role, &mut legal) {
                    // Everyone sees the position in which the match ends.
                    Err(error) if error.fault().is_some() => {
                        state.failed.get_or_insert(error.summary());
                    }
                    legal => legal?,
                }
                let terms = reached.machine.terms();
                let text = |action: &Move| game.game.text(terms, action.term());
                let legal: Vec<String> = legal.iter().map(text).collect();
                if let [only] = &legal[..] {
                    *chosen = Some(only.clone());
                }
                state.legal.push(legal);
            }
        }
        Ok(state)
    }
}

impl Table {
    /// Sends the state to everyone who watches.
    fn show(&self, state: &MatchState) {
        self.seen.send_modify(|seen| {
            seen.moves.clone_from(&state.moves);
            seen.chosen = state.chosen.iter().map(Option::is_some).collect();
            seen.over = state.over;
            seen.failed.clone_from(&state.failed);
        });
    }

    /// The seat of a key.
    fn seat(&self, key: &str) -> Option<usize> {
        let mut keys = self.keys.iter();
        keys.position(|own| own.as_deref() == Some(key))
    }

    /// Records a choice, and makes the joint move if no other choice is missing. The state is
    /// not locked while that takes time.
    fn take(&self, role: usize, ply: usize, action: &str, turn: &Turn) -> Result<(), ApiError> {
        let mut next = {
            let mut state = locked(&self.state);
            let conflict = |message: String| Err(ApiError::new(StatusCode::CONFLICT, message));
            if state.over {
                return conflict("the game is over".to_owned());
            }
            if ply != state.moves.len() {
                let made = state.moves.len();
                return conflict(format!(
                    "the number of joint moves made is {made}, not {ply}"
                ));
            }
            let legal = &state.legal[role];
            let Some(action) = legal.iter().find(|legal| *legal == action).cloned() else {
                return Err(ApiError::wrong(format!("{action} is not legal here")));
            };
            state.chosen[role] = Some(action);
            if state.chosen.iter().any(Option::is_none) {
                self.show(&state);
                return Ok(());
            }
            state.clone()
        };
        self.advance(&mut next, turn)?;
        let mut state = locked(&self.state);
        if state.moves.len() == ply {
            *state = next;
            self.show(&state);
        }
        Ok(())
    }

    /// Makes joint moves while all roles have chosen.
    fn advance(&self, state: &mut MatchState, turn: &Turn) -> Result<(), ApiError> {
        // A match in which nobody has a choice may go on forever.
        for _ in 0..FORCED {
            if state.over || state.chosen.iter().any(Option::is_none) {
                return Ok(());
            }
            let joint = state.chosen.iter().flatten().cloned().collect();
            let mut moves = state.moves.clone();
            moves.push(joint);
            *state = MatchState::new(&self.game, moves, turn, &self.limits)?;
        }
        Ok(())
    }

    /// The players that must choose now, with the ply.
    fn waiting(&self) -> (usize, Vec<(usize, AgentSpec)>) {
        let state = locked(&self.state);
        if state.over || state.failed.is_some() {
            return (state.moves.len(), Vec::new());
        }
        let players = self.players.iter().zip(&state.chosen).enumerate();
        let waiting = players.filter_map(|(role, (player, chosen))| {
            let player = player.as_ref().filter(|_| chosen.is_none())?;
            Some((role, player.clone()))
        });
        (state.moves.len(), waiting.collect())
    }

    /// Lets the players choose until it is a person's turn.
    async fn play(self: &Arc<Self>, app: &Arc<AppState>) {
        let _turns = self.turns.lock().await;
        loop {
            let (ply, waiting) = self.waiting();
            let Some((role, spec)) = waiting.into_iter().next() else {
                return;
            };
            let Some(turn) = app.jobs.take(&self.owner.asker).await else {
                return;
            };
            let permit = Permit::of(app, turn);
            let moves = locked(&self.state).moves.clone();
            // In games that hide, nobody may foresee what a player draws.
            let game = Arc::clone(&self.game);
            let task = ThinkTask::of(game, moves, role, spec, Some(seed()));
            let table = Arc::clone(self);
            let work =
                move |permit: &Permit| Ok(task.choose(&permit.allowance(&table.limits), None)?);
            let result = events::run(permit, work, None).await;
            let result = result.unwrap_or_else(|| Err(ApiError::rules("the player was stopped")));
            let table = Arc::clone(self);
            let taken = blocking(app, &self.owner, move |turn| {
                table.take(role, ply, result?.chosen(), turn)
            })
            .await;
            if let Err(error) = taken {
                let mut state = locked(&self.state);
                state.failed = Some(error.message);
                self.show(&state);
                return;
            }
        }
    }
}

/// Maximum number of consecutive joint moves without a choice.
const FORCED: usize = 1_000;

/// Creates a table, and lets its players begin. Without `keys`, persons get new ones.
async fn lay(
    app: &Arc<AppState>,
    visitor: &Visitor,
    game: Arc<LoadedGame>,
    asked: NewTable,
    keys: Option<Vec<Option<String>>>,
) -> Result<Arc<Table>, ApiError> {
    let place = app.tables.places.try_take(&visitor.asker);
    let place = place.ok_or_else(|| {
        let most = app.limits.tables_each;
        ApiError::busy(format!(
            "there are too many tables, in all or of yours ({most} at most): try again later"
        ))
    })?;
    let (owner, limits) = (visitor.clone(), app.limits.clone());
    let table = blocking(app, visitor, move |turn| {
        let mut players = Vec::new();
        for (role, seat) in asked.seats.iter().enumerate() {
            players.push(match &seat[..] {
                PERSON => None,
                player => Some(think::spec(player, role, &game)?),
            });
        }
        let mut state = MatchState::new(&game, asked.moves, turn, &limits)?;
        let key = |player: &Option<AgentSpec>| player.is_none().then(secret);
        let seen = TableView {
            table: secret(),
            game: game.rules.id.clone(),
            name: game.game.name(),
            seats: asked.seats,
            moves: Vec::new(),
            chosen: Vec::new(),
            over: false,
            failed: None,
            next: None,
            seat: None,
        };
        let table = Table {
            keys: keys.unwrap_or_else(|| players.iter().map(key).collect()),
            players,
            owner,
            _turn: place,
            seen: watch::Sender::new(seen),
            heard: Mutex::new(Instant::now()),
            turns: tokio::sync::Mutex::default(),
            state: Mutex::new(MatchState {
                moves: Vec::new(),
                legal: Vec::new(),
                chosen: Vec::new(),
                over: false,
                failed: None,
            }),
            game,
            limits,
        };
        table.advance(&mut state, turn)?;
        table.show(&state);
        *locked(&table.state) = state;
        Ok(Arc::new(table))
    })
    .await?;
    let name = table.seen.borrow().table.clone();
    locked(&app.tables.known).insert(name, Arc::clone(&table));
    let (app, playing) = (Arc::clone(app), Arc::clone(&table));
    tokio::spawn(async move { playing.play(&app).await });
    Ok(table)
}

/// Creates a table.
pub(super) async fn create(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<NewTable>,
) -> Result<Json<CreatedTable>, ApiError> {
    let game = find(&app, &visitor, &asked.game).await?;
    if asked.seats.len() != game.game.role_count() {
        let roles = game.game.role_count();
        return Err(ApiError::wrong(format!(
            "the game has {}: name a seat for each",
            counted(roles, "role")
        )));
    }
    let table = lay(&app, &visitor, game, asked, None).await?;
    let (keys, table) = (table.keys.clone(), table.seen.borrow().table.clone());
    Ok(Json(CreatedTable { table, keys }))
}

/// Creates the table of the next match, unless there is one.
pub(super) async fn again(
    State(app): Shared,
    Path(name): Path<String>,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<Rematch>,
) -> Result<Json<TableView>, ApiError> {
    let table = app.tables.find(&name)?;
    table.seat(&asked.key).ok_or_else(no_seat)?;
    let seen = table.seen.borrow().clone();
    if !seen.over {
        let message = "the match is not over".to_owned();
        return Err(ApiError::new(StatusCode::CONFLICT, message));
    }
    if seen.next.is_none() {
        let (mut seats, mut keys) = (seen.seats, table.keys.clone());
        if asked.swap {
            let roles = table.game.roles().into_iter().enumerate();
            let places = roles.filter(|(_, role)| !role.random);
            let places: Vec<usize> = places.map(|(place, _)| place).collect();
            for pair in places.windows(2).rev() {
                seats.swap(pair[0], pair[1]);
                keys.swap(pair[0], pair[1]);
            }
        }
        let asked = NewTable {
            game: seen.game,
            moves: Vec::new(),
            seats,
        };
        let game = Arc::clone(&table.game);
        let next = lay(&app, &visitor, game, asked, Some(keys)).await?;
        let next = next.seen.borrow().table.clone();
        table.seen.send_modify(|seen| {
            // Two may ask at once.
            seen.next.get_or_insert(next);
        });
    }
    let seen = table.seen.borrow().clone();
    Ok(Json(seen))
}

fn no_seat() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "this key does not belong to a seat at this table",
    )
}

/// Sends the state of a table, and each change.
pub(super) async fn follow(
    State(app): Shared,
    Path(name): Path<String>,
    Query(follower): Query<Follower>,
) -> Result<Response, ApiError> {
    let table = app.tables.find(&name)?;
    let seat = follower.key.and_then(|key| table.seat(&key));
    let mut seen = table.seen.subscribe();
    let (sender, response) = events::channel();
    let is_hidden = table.game.game.is_hidden();
    tokio::spawn(async move {
        let mut last = None;
        loop {
            let now = seen.borrow_and_update().clone();
            let now = now.of_seat(seat, is_hidden);
            // A choice that is hidden must not show by a message.
            if last.as_ref() != Some(&now) && !sender.send("table", &now).await {
                return;
            }
            last = Some(now);
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
    State(app): Shared,
    Path(name): Path<String>,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<Chosen>,
) -> Result<Json<TableView>, ApiError> {
    let table = app.tables.find(&name)?;
    let role = table.seat(&asked.key).ok_or_else(no_seat)?;
    let taken = Arc::clone(&table);
    blocking(&app, &visitor, move |turn| {
        taken.take(role, asked.ply, &asked.action, turn)
    })
    .await?;
    let seen = table.seen.borrow().clone();
    let seen = seen.of_seat(Some(role), table.game.game.is_hidden());
    tokio::spawn(async move { table.play(&app).await });
    Ok(Json(seen))
}
