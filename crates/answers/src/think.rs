//! A player chooses a move and reports its search meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::allowance::{Allowance, Listener};
use crate::loaded_game::{LoadedGame, Reached};
use crate::locked;
use crate::refusal::Refusal;
use crate::values::fits;
use ggp_engine::machine::Machine;
use ggp_gdl::game::Move;
use ggp_gdl::terms::Terms;
use ggp_play::{
    Advice, AgentAnswer, AgentSpec, AgentThread, Brief, Observation, Origin, Pace, reasons,
};
use ggp_search::mcts::TreeSummary;
use ggp_solver::solve::joint_text;
use ggp_stop::Instant;

/// Maximum number of candidate moves in a report.
const CANDIDATES: usize = 50;
/// Maximum number of joint moves of a principal variation in a report.
const LINE: usize = 100;
/// Maximum number of tree nodes in a report.
const MOST_NODES: usize = 5_000;
/// The shortest time between two reports.
const REPORT: Duration = Duration::from_millis(100);
/// The longest time that the last tree may wait to be sent.
const PATIENCE: Duration = Duration::from_secs(1);

/// The request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Think {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    role: usize,
    player: String,
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    tree: usize,
    /// The seed of the player's choices; the number of moves made by default.
    #[serde(default)]
    seed: Option<u64>,
}

/// The report of a player.
#[derive(Clone, Debug, Serialize)]
pub struct Thought {
    #[serde(rename = "move")]
    action: String,
    value: Option<f64>,
    bounds: (f64, f64),
    nodes: u64,
    seconds: f64,
    by_chance: bool,
    candidates: Vec<Candidate>,
    line: Vec<String>,
    /// The reasons for the move, once it is chosen.
    why: Vec<String>,
}

impl Thought {
    /// The chosen move.
    pub fn chosen(&self) -> &str {
        &self.action
    }
}

#[derive(Clone, Debug, Serialize)]
struct Candidate {
    #[serde(rename = "move")]
    action: String,
    visits: u64,
    value: f64,
    bounds: (f64, f64),
    /// The number of joint moves to the end, if it is known.
    distance: Option<u16>,
}

/// The least time of compiling that is reported.
const NOTED: Duration = Duration::from_millis(100);

/// The event before the first thought, while the rules are still prepared.
#[derive(Serialize)]
struct Preparing {
    seconds: f64,
}

impl Preparing {
    fn new(time: Duration) -> Self {
        Preparing {
            seconds: (time.as_secs_f64() * 10.0).round() / 10.0,
        }
    }
}

/// A part of a player's search tree.
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
    joint: Vec<String>,
    visits: u64,
    value: f64,
    ended: bool,
}

/// A choice to be made.
#[derive(Debug)]
pub struct ThinkTask {
    game: Arc<LoadedGame>,
    moves: Vec<Vec<String>>,
    role: usize,
    spec: AgentSpec,
    seconds: Option<f64>,
    /// Maximum number of tree nodes to report.
    tree: usize,
    seed: Option<u64>,
}

/// Reads a player specification.
///
/// # Errors
///
/// If there is no player of that name, or its options are wrong.
pub fn spec(player: &str, role: usize, game: &LoadedGame) -> Result<AgentSpec, Refusal> {
    let spec = player.parse::<AgentSpec>();
    let spec = spec.map_err(|error| Refusal::wrong(error.to_string()))?;
    let role = game.game.roles().nth(role);
    let role = role.ok_or_else(|| Refusal::no_role(&game.game))?;
    // The options are checked only when the player is created.
    spec.agent(Brief::new(&game.game, role))
        .map_err(|error| Refusal::wrong(error.to_string()))?;
    Ok(spec)
}

impl ThinkTask {
    /// The choice of a player after moves, without limits of its own.
    pub fn of(
        game: Arc<LoadedGame>,
        moves: Vec<Vec<String>>,
        role: usize,
        spec: AgentSpec,
        seed: Option<u64>,
    ) -> Self {
        ThinkTask {
            game,
            moves,
            role,
            spec,
            seconds: None,
            tree: 0,
            seed,
        }
    }

    /// The choice that a request asks for.
    ///
    /// # Errors
    ///
    /// If there is no such player or role, or a number is out of range.
    pub fn new(game: Arc<LoadedGame>, asked: Think) -> Result<Self, Refusal> {
        let spec = spec(&asked.player, asked.role, &game)?;
        if asked
            .seconds
            .is_some_and(|seconds| !(seconds > 0.0 && seconds < 1e6))
        {
            return Err(Refusal::wrong(
                "`seconds` must be more than 0 and less than a million",
            ));
        }
        if asked.tree > MOST_NODES {
            return Err(Refusal::wrong(format!(
                "`tree` is a number of positions up to {MOST_NODES}; 0 means no tree"
            )));
        }
        Ok(ThinkTask {
            seconds: asked.seconds,
            tree: asked.tree,
            ..ThinkTask::of(game, asked.moves, asked.role, spec, asked.seed)
        })
    }

    /// Chooses a move on this thread, and reports to `listener` meanwhile.
    ///
    /// # Errors
    ///
    /// If the moves are wrong, or the player fails.
    pub fn choose(
        self,
        allowance: &Allowance,
        listener: Option<&Arc<dyn Listener>>,
    ) -> Result<Thought, Refusal> {
        // Preparing the rules does not count as thinking.
        let prepares = |time| {
            if let Some(listener) = listener {
                listener.offer("preparing", &Preparing::new(time));
            }
        };
        if self.spec.thinks() {
            self.game.prepare(allowance, prepares)?;
        }
        let mut reached = self.game.reach(&self.moves, allowance)?;
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
            .expect("the role was checked above");
        let mut brief = Brief::new(&self.game.game, role);
        brief.limits = self.game.limits(allowance.stop);
        brief.memory_bytes = allowance.memory_bytes;
        brief.seed = self.seed.unwrap_or(self.moves.len() as u64);
        brief.tree = self.tree;
        brief.tables = Arc::clone(allowance.tables);
        brief.machine = Some(reached.machine.clone());
        let is_parallel = allowance.background.is_parallel();
        if self.spec.thinks() && is_parallel && self.game.wants_code(self.spec.name()) {
            // An agent that chooses nothing compiles the code, which the machine keeps for all.
            let began = Instant::now();
            let first = AgentThread::new(brief.clone(), &self.spec);
            let mut first = first.map_err(|error| Refusal::wrong(error.to_string()))?;
            // An error comes again when a move is chosen.
            first.begin_and_report(None, || match began.elapsed() {
                time if time < NOTED => {}
                time => prepares(time),
            });
        }
        let began = Instant::now();
        let (deadline, nodes) = self.limits(began, allowance.time);
        brief.play_clock = Some(deadline - began);
        let reporter = Arc::new(Mutex::new(ThoughtReporter {
            game: Arc::clone(&self.game),
            terms: reached.machine.terms().clone(),
            began,
            last_tree: None,
            last: None,
        }));
        let tell = {
            let (reporter, listener) = (Arc::clone(&reporter), listener.cloned());
            move |advice: &Advice| {
                if let Some(listener) = &listener {
                    locked(&reporter).report(advice, &**listener);
                }
            }
        };
        let start = reached.machine.initial()?;
        let observation = Observation::of_match(&reached.machine, role, start, &reached.joints)?;
        // Reasons speak of the state, which the role does not know.
        let has_reasons = observation.joint_moves().is_some();
        let answer = match allowance.background.is_parallel() {
            true => {
                let agent = AgentThread::new(brief, &self.spec);
                let mut agent = agent.map_err(|error| Refusal::wrong(error.to_string()))?;
                let mut tell = |advice: Advice| tell(&advice);
                agent.choose_and_report(&observation, Some(deadline), nodes, &mut tell)
            }
            false => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(brief.seed);
                let agent = self.spec.agent(brief);
                let mut agent = agent.map_err(|error| Refusal::wrong(error.to_string()))?;
                let pace = Pace::within(allowance.stop, Some(deadline), nodes).heard_by(tell);
                let mut fallback = || {
                    let mut legal = Vec::new();
                    let Reached { machine, state, .. } = &mut reached;
                    machine.legal(state, role, &mut legal).ok()?;
                    let drawn = legal[random.random_range(0..legal.len())];
                    Some(Advice::blind(drawn, &legal))
                };
                AgentAnswer::of(agent.choose(&observation, &pace), &pace, &mut fallback)
            }
        };
        let mut reporter = locked(&reporter);
        if let (Some(advice), Some(listener)) = (&answer.advice, listener)
            && let Some(tree) = reporter.tree(advice)
        {
            listener.send_before("tree", &tree, Instant::now() + PATIENCE);
        }
        let why = match (&answer.advice, listener) {
            (Some(advice), Some(_)) if has_reasons && !advice.is_blind => {
                reached.machine.terms_mut().refresh();
                let Reached { machine, state, .. } = &mut reached;
                let learned = reporter.game.learned();
                let values = learned.as_ref().map(|learned| &learned.values);
                let net = machine.network(state).map(|(net, _)| net);
                let values = values.filter(|values| net.is_some_and(|net| fits(values, net)));
                // A move is good without reasons.
                reasons(machine, state, role, advice, values).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let thought = final_thought(answer, &mut reporter)?;
        Ok(Thought { why, ..thought })
    }

    /// The deadline and the number of iterations.
    fn limits(&self, now: Instant, most: Duration) -> (Instant, Option<u64>) {
        let asked = self
            .seconds
            .map(|seconds| now + Duration::from_secs_f64(seconds));
        let (deadline, nodes) = self.spec.limits(asked);
        let last = now + most;
        (deadline.map_or(last, |deadline| deadline.min(last)), nodes)
    }
}

fn final_thought(answer: AgentAnswer, reporter: &mut ThoughtReporter) -> Result<Thought, Refusal> {
    if let (Some(error), Origin::Random) = (&answer.error, answer.origin) {
        return Err(Refusal::rules(error.to_string()));
    }
    match answer.advice {
        Some(advice) => Ok(reporter.thought(&advice, advice.is_blind)),
        None => Err(Refusal::rules(
            "the player had no time to read the rules; give it more seconds",
        )),
    }
}

/// Converts the reports of players to text.
struct ThoughtReporter {
    game: Arc<LoadedGame>,
    terms: Terms,
    began: Instant,
    /// The time of the last report.
    last: Option<Instant>,
    /// The last tree that was sent.
    last_tree: Option<Arc<TreeSummary<Move>>>,
}

impl ThoughtReporter {
    /// Reports a move and the tree, unless a report was sent just before.
    fn report(&mut self, advice: &Advice, listener: &dyn Listener) {
        if self.last.is_some_and(|last| last.elapsed() < REPORT) {
            return;
        }
        self.last = Some(Instant::now());
        listener.offer("thought", &self.thought(advice, false));
        if let Some(tree) = self.tree(advice) {
            listener.offer("tree", &tree);
        }
    }

    fn thought(&mut self, advice: &Advice, by_chance: bool) -> Thought {
        self.terms.refresh();
        let text = |action: Move| self.game.game.text(&self.terms, action.term());
        let candidates = advice.candidates.iter().take(CANDIDATES);
        let candidates = candidates.map(|candidate| Candidate {
            action: text(candidate.action),
            visits: candidate.visits,
            value: candidate.value,
            bounds: candidate.bounds,
            distance: candidate.distance,
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
            why: Vec::new(),
        }
    }

    /// The tree, if it has changed.
    fn tree(&mut self, advice: &Advice) -> Option<Tree> {
        let tree = advice.tree.as_ref()?;
        if self
            .last_tree
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, tree))
        {
            return None;
        }
        self.last_tree = Some(Arc::clone(tree));
        self.terms.refresh();
        let (game, terms) = (&self.game.game, &self.terms);
        let nodes = tree.nodes.iter().map(|node| TreeNode {
            from: node.parent,
            action: joint_text(game, terms, &node.joint),
            joint: (node.joint.iter())
                .map(|(action, _)| game.text(terms, action.term()))
                .collect(),
            visits: node.visits,
            value: node.value,
            ended: node.is_end,
        });
        Some(Tree {
            nodes: nodes.collect(),
            all: tree.total,
        })
    }
}
