//! A player thinks about a move, and says what it thinks meanwhile.

use ggp_stop::Stop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{Asked, Refusal};
use super::events::{self, Sender};
use super::game_store::{Loaded, blocking, find};
use super::session::Session;
use ggp_engine::machine::Machine;
use ggp_gdl::game::Move;
use ggp_gdl::terms::Terms;
use ggp_play::{Advice, AgentSpec, Answer, Brief, Origin, Seat};
use ggp_search::mcts::Excerpt;
use ggp_solver::solve::joint_text;

/// Candidates that are told.
const CANDIDATES: usize = 50;
/// Joint moves of a line that are told.
const LINE: usize = 100;
/// Positions of a tree that are told, at most.
const MOST_NODES: usize = 5_000;
/// How long the last tree may wait until it is sent.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Think {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    role: usize,
    player: String,
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    tree: usize,
}

/// What a player thinks.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Thought {
    #[serde(rename = "move")]
    pub(super) action: String,
    value: Option<f64>,
    bounds: (f64, f64),
    nodes: u64,
    seconds: f64,
    by_chance: bool,
    candidates: Vec<Candidate>,
    line: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Candidate {
    #[serde(rename = "move")]
    action: String,
    visits: u64,
    value: f64,
    bounds: (f64, f64),
}

/// A part of a player's tree.
#[derive(Serialize)]
struct Tree {
    nodes: Vec<TreeNode>,
    all: usize,
}

#[derive(Serialize)]
struct TreeNode {
    from: Option<usize>,
    #[serde(rename = "move")]
    action: String,
    way: Vec<String>,
    visits: u64,
    value: f64,
    ended: bool,
}

/// A choice that is to be made.
pub(super) struct Task {
    pub(super) game: Arc<Loaded>,
    pub(super) moves: Vec<Vec<String>>,
    pub(super) role: usize,
    pub(super) spec: AgentSpec,
    pub(super) seconds: Option<f64>,
    pub(super) most: Duration,
    pub(super) memory_bytes: u64,
    /// Positions of the player's tree that are told.
    pub(super) tree: usize,
}

/// Reads the name of a player.
///
/// # Errors
///
/// If there is none of that name, or its options are wrong.
pub(super) fn spec(player: &str, role: usize, game: &Loaded) -> Result<AgentSpec, Refusal> {
    let spec: AgentSpec = player.parse().map_err(Refusal::wrong)?;
    let role = game.game.roles().nth(role);
    let role = role.ok_or_else(|| Refusal::no_role(&game.game))?;
    // Its options are looked at only when it is made.
    spec.agent(Brief::new(&game.game, role))
        .map_err(Refusal::wrong)?;
    Ok(spec)
}

impl Task {
    /// Chooses a move, in this thread; a listener is told what is thought of it meanwhile.
    ///
    /// # Errors
    ///
    /// If the moves are wrong, or the player fails.
    pub(super) fn choose(self, stop: &Stop, listener: Option<&Sender>) -> Result<Thought, Refusal> {
        let mut reached = self.game.reach(&self.moves)?;
        if reached.machine.is_terminal(&reached.state)? {
            return Err(Refusal::wrong(
                "the game is over: there is no move to choose",
            ));
        }
        let role = self
            .game
            .game
            .roles()
            .nth(self.role)
            .expect("it was looked at");
        let mut brief = Brief::new(&self.game.game, role);
        brief.limits = Loaded::limits();
        brief.limits.stop = stop.clone();
        brief.memory_bytes = self.memory_bytes;
        brief.seed = self.moves.len() as u64;
        brief.tree = self.tree;
        let began = Instant::now();
        let (deadline, nodes) = self.limits(began);
        brief.play_clock = Some(deadline - began);
        let mut seat = Seat::new(brief, &self.spec).map_err(Refusal::wrong)?;
        let mut teller = Teller {
            game: self.game,
            terms: reached.machine.terms().clone(),
            began,
            told: None,
        };
        let mut tell = |advice: Advice| {
            if let Some(listener) = listener {
                listener.offer("thought", &teller.thought(&advice, false));
                if let Some(tree) = teller.tree(&advice) {
                    listener.offer("tree", &tree);
                }
            }
        };
        let answer = seat.choose_and_tell(&reached.joints, Some(deadline), nodes, &mut tell);
        if let (Some(advice), Some(listener)) = (&answer.advice, listener)
            && let Some(tree) = teller.tree(advice)
        {
            listener.press("tree", &tree, Instant::now() + PATIENCE);
        }
        said(answer, &mut teller)
    }

    /// Until when, and for how many iterations.
    fn limits(&self, now: Instant) -> (Instant, Option<u64>) {
        let asked = self
            .seconds
            .map(|seconds| now + Duration::from_secs_f64(seconds));
        let (deadline, nodes) = self.spec.limits(asked);
        let last = now + self.most;
        (deadline.map_or(last, |deadline| deadline.min(last)), nodes)
    }
}

fn said(answer: Answer, teller: &mut Teller) -> Result<Thought, Refusal> {
    if let (Some(error), Origin::Chance) = (&answer.error, answer.origin) {
        return Err(Refusal::rules(error.to_string()));
    }
    match answer.advice {
        Some(advice) => Ok(teller.thought(&advice, answer.origin == Origin::Chance)),
        None => Err(Refusal::rules("nobody could say in time what is legal")),
    }
}

/// Says what players think in words.
struct Teller {
    game: Arc<Loaded>,
    terms: Terms,
    began: Instant,
    /// The tree that was told last.
    told: Option<Arc<Excerpt<Move>>>,
}

impl Teller {
    fn thought(&mut self, advice: &Advice, by_chance: bool) -> Thought {
        self.terms.refresh();
        let text = |action: Move| self.game.game.canonical(&self.terms, action.term());
        let candidates = advice.candidates.iter().take(CANDIDATES);
        let candidates = candidates.map(|candidate| Candidate {
            action: text(candidate.action),
            visits: candidate.visits,
            value: candidate.value,
            bounds: candidate.bounds,
        });
        Thought {
            action: text(advice.chosen),
            value: advice.value,
            bounds: advice.bounds,
            nodes: advice.nodes,
            seconds: self.began.elapsed().as_secs_f64(),
            by_chance,
            candidates: candidates.collect(),
            line: (advice.line.iter().take(LINE))
                .map(|joint| joint_text(&self.game.game, &self.terms, joint))
                .collect(),
        }
    }

    /// The tree, if it is another one than before.
    fn tree(&mut self, advice: &Advice) -> Option<Tree> {
        let tree = advice.tree.as_ref()?;
        if self
            .told
            .as_ref()
            .is_some_and(|told| Arc::ptr_eq(told, tree))
        {
            return None;
        }
        self.told = Some(Arc::clone(tree));
        self.terms.refresh();
        let (game, terms) = (&self.game.game, &self.terms);
        let nodes = tree.nodes.iter().map(|node| TreeNode {
            from: node.from,
            action: joint_text(game, terms, &node.joint),
            way: (node.joint.iter())
                .map(|(action, _)| game.canonical(terms, action.term()))
                .collect(),
            visits: node.visits,
            value: node.value,
            ended: node.is_end,
        });
        Some(Tree {
            nodes: nodes.collect(),
            all: tree.all,
        })
    }
}

/// Lets a player think.
pub(super) async fn think(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
    Asked(asked): Asked<Think>,
) -> Result<Response, Refusal> {
    let game = find(&house, &session, &id).await?;
    let (named, player, role) = (Arc::clone(&game), asked.player, asked.role);
    let spec = blocking(&house, move || spec(&player, role, &named)).await?;
    if asked
        .seconds
        .is_some_and(|seconds| !(seconds > 0.0 && seconds < 1e6))
    {
        return Err(Refusal::wrong(
            "seconds are more than 0 and less than a million",
        ));
    }
    if asked.tree > MOST_NODES {
        return Err(Refusal::wrong(format!(
            "`tree` is a number of positions up to {MOST_NODES}, 0 for none"
        )));
    }
    let permit = events::permit(&house, &session)?;
    let task = Task {
        game,
        moves: asked.moves,
        role,
        spec,
        seconds: asked.seconds,
        most: house.limits.thought,
        memory_bytes: house.limits.memory_bytes,
        tree: asked.tree,
    };
    let work = |stop: &_, sender: &_| task.choose(stop, Some(sender));
    Ok(events::told(permit, "move", work))
}
