//! The game graph from a position on, reported while it is explored.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::allowance::{Allowance, Listener};
use crate::loaded_game::LoadedGame;
use crate::refusal::Refusal;
use crate::solving::moves;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId, Score};
use ggp_gdl::terms::TermId;
use ggp_play::Tables;
use ggp_search::graph::{self, GraphOf, explore_with_progress};
use ggp_search::{Budget, BudgetKind, Problem, Stats};
use ggp_solver::solve::{GameProblem, Joint, JointProblem, Keys, joint_text};
use ggp_solver::table::{FactOrder, Table};
use ggp_stop::Instant;

/// The default and the maximum number of nodes.
const NODES: usize = 2_000;
const MOST_NODES: usize = 20_000;
/// Number of arcs at which exploration ends.
const MOST_ARCS: usize = 200_000;
/// Maximum number of arcs in one event.
const PART: usize = 200;
/// The longest time between events while exploration goes on.
const PAUSE: Duration = Duration::from_millis(50);

/// The request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Explore {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    #[serde(default)]
    merge: Merge,
    #[serde(default)]
    depth: Option<u32>,
    #[serde(default)]
    most: Option<usize>,
    #[serde(default)]
    role: Option<usize>,
}

/// The equivalence that decides which positions are one node.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Merge {
    /// Positions that differ only in step counters are one node.
    #[default]
    Stripped,
    /// Equal positions are one node.
    State,
    /// Each path is a node.
    Tree,
}

/// The nodes and arcs found since the last event.
#[derive(Serialize)]
struct GraphPart {
    level: u32,
    nodes: Vec<GrownNode>,
    arcs: Vec<GrownArc>,
}

#[derive(Serialize)]
struct GrownNode {
    id: usize,
    level: u32,
    status: &'static str,
    same: usize,
    from: Option<usize>,
    joint: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<NodeValue>,
}

/// The value of a position for the role, from a file of `ggp tabulate`.
#[derive(Serialize)]
struct NodeValue {
    least: u8,
    most: u8,
    /// Number of joint moves to the end, if it is known.
    distance: Option<u16>,
}

/// Looks values up for a role.
struct Values {
    table: Arc<Table>,
    order: FactOrder,
    player: usize,
}

impl Values {
    /// None if there is no file for the game, or it cannot be used.
    fn new(
        tables: &Tables,
        machine: &AnyMachine,
        state: &PropnetState,
        role: RoleId,
    ) -> Option<Self> {
        let game = machine.game();
        let table = tables.of(game)?;
        let name = game.role_name(role);
        let player = table.header().players.iter().position(|own| own == name)?;
        let order = table.order_of(machine, state).ok()?;
        Some(Values {
            table,
            order,
            player,
        })
    }

    fn of(&self, machine: &AnyMachine, state: &PropnetState) -> Option<NodeValue> {
        let found = self.table.value_of(&self.order, machine, state).ok()?;
        let [least, most] = found.scores[self.player];
        Some(NodeValue {
            least,
            most,
            distance: found.distance,
        })
    }
}

#[derive(Serialize)]
struct GrownArc {
    from: usize,
    to: usize,
    #[serde(rename = "move")]
    action: String,
}

/// The summary of the complete graph.
#[derive(Debug, Serialize)]
pub struct GraphSummary {
    nodes: usize,
    arcs: usize,
    levels: Vec<usize>,
    complete: bool,
    said: String,
    dead: Vec<usize>,
    seconds: f64,
}

/// A game that can be explored and reported.
trait ReportedGame: Problem<State = PropnetState, Error = PlayError> {
    fn machine(&self) -> &AnyMachine;
    /// The part of a state that remains without step counters.
    fn stripped(&self, state: &PropnetState) -> Vec<TermId>;
    fn joint(action: &Self::Action) -> Joint;
}

impl ReportedGame for GameProblem<AnyMachine> {
    fn machine(&self) -> &AnyMachine {
        GameProblem::machine(self)
    }

    fn stripped(&self, state: &PropnetState) -> Vec<TermId> {
        self.compared_facts(state)
    }

    fn joint(action: &Move) -> Joint {
        vec![(*action, true)]
    }
}

impl ReportedGame for JointProblem<AnyMachine> {
    fn machine(&self) -> &AnyMachine {
        &self.machine
    }

    fn stripped(&self, state: &PropnetState) -> Vec<TermId> {
        self.machine.facts(state)
    }

    fn joint(action: &Joint) -> Joint {
        action.clone()
    }
}

/// Reports a graph while it grows.
struct GraphReporter<'t> {
    game: &'t Game,
    listener: &'t dyn Listener,
    /// The time at which undelivered events are given up.
    until: Instant,
    last: Instant,
    /// Number of nodes and arcs reported.
    nodes: usize,
    arcs: usize,
    values: Option<Values>,
    /// The first of the nodes that differ only in step counters.
    firsts: FxHashMap<Vec<TermId>, usize>,
}

impl GraphReporter<'_> {
    /// Reports new nodes and arcs if they fill an event or if they are the last ones.
    fn report<P: ReportedGame>(
        &mut self,
        problem: &P,
        graph: &GraphOf<P>,
        is_all: bool,
    ) -> ControlFlow<()> {
        if self.nodes == 0 {
            let start = self.node(problem, graph, 0, None);
            self.send(0, vec![start], Vec::new())?;
        }
        loop {
            let fresh = &graph.arcs()[self.arcs..];
            let Some(first) = fresh.first() else {
                return ControlFlow::Continue(());
            };
            // All arcs of an event lead to one level.
            let level = |arc: &graph::Arc<P::Action>| graph.nodes()[arc.from].level + 1;
            let part = fresh.iter().take(PART);
            let count = part.take_while(|arc| level(arc) == level(first)).count();
            let is_whole = count == PART || count < fresh.len();
            if !(is_whole || is_all || self.last.elapsed() >= PAUSE) {
                return ControlFlow::Continue(());
            }
            let (mut nodes, mut arcs) = (Vec::new(), Vec::new());
            for arc in &fresh[..count] {
                if arc.to == self.nodes {
                    nodes.push(self.node(problem, graph, arc.to, Some(arc)));
                }
                let joint = P::joint(&arc.action);
                arcs.push(GrownArc {
                    from: arc.from,
                    to: arc.to,
                    action: joint_text(self.game, problem.machine().terms(), &joint),
                });
            }
            self.arcs += count;
            self.send(level(first), nodes, arcs)?;
        }
    }

    /// The next node, and the arc by which it was first reached.
    fn node<P: ReportedGame>(
        &mut self,
        problem: &P,
        graph: &GraphOf<P>,
        id: usize,
        arc: Option<&graph::Arc<P::Action>>,
    ) -> GrownNode {
        let node = &graph.nodes()[id];
        let terms = problem.machine().terms();
        let text = |(action, _): &(Move, bool)| self.game.text(terms, action.term());
        let joint = arc.map_or_else(Joint::new, |arc| P::joint(&arc.action));
        self.nodes += 1;
        GrownNode {
            id,
            level: node.level,
            status: node.status.name(),
            from: arc.map(|arc| arc.from),
            joint: joint.iter().map(text).collect(),
            value: (self.values.as_ref())
                .and_then(|values| values.of(problem.machine(), &node.state)),
            same: *(self.firsts.entry(problem.stripped(&node.state))).or_insert(id),
        }
    }

    /// Sends an event; ends the exploration if the client does not take it.
    fn send(&mut self, level: u32, nodes: Vec<GrownNode>, arcs: Vec<GrownArc>) -> ControlFlow<()> {
        let grown = GraphPart { level, nodes, arcs };
        self.last = Instant::now();
        match self.listener.send_before("grown", &grown, self.until) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// An exploration to be run.
#[derive(Debug)]
pub struct GraphTask {
    game: Arc<LoadedGame>,
    moves: Vec<Vec<String>>,
    merge: Merge,
    depth: Option<u32>,
    most: usize,
    role: RoleId,
    time: Duration,
}

impl GraphTask {
    /// The exploration that a request asks for, in at most the time given.
    ///
    /// # Errors
    ///
    /// If the number of positions or the role is wrong.
    pub fn new(game: Arc<LoadedGame>, asked: Explore, most: Duration) -> Result<Self, Refusal> {
        let nodes = asked.most.unwrap_or(NODES);
        if !(1..=MOST_NODES).contains(&nodes) {
            return Err(Refusal::wrong(format!(
                "`most` is a number of positions from 1 to {MOST_NODES}, not {nodes}"
            )));
        }
        let role = match asked.role {
            Some(role) => game.game.roles().nth(role),
            None => Some(game.game.first_player()),
        };
        let role = role.ok_or_else(|| Refusal::no_role(&game.game))?;
        Ok(GraphTask {
            game,
            moves: asked.moves,
            merge: asked.merge,
            depth: asked.depth,
            most: nodes,
            role,
            time: most,
        })
    }

    /// Explores the game.
    ///
    /// # Errors
    ///
    /// If the moves are wrong, or the rules cannot be evaluated.
    pub fn run(
        self,
        allowance: &Allowance,
        listener: &dyn Listener,
    ) -> Result<GraphSummary, Refusal> {
        let began = Instant::now();
        let reached = self.game.reach(&self.moves, allowance)?;
        let (machine, start) = (reached.machine, reached.state);
        let values = Values::new(allowance.tables, &machine, &start, self.role);
        let game = machine.game();
        if game.role_count() > 1 || game.is_random(self.role) {
            let problem = JointProblem {
                machine,
                start,
                role: self.role,
                target: Score::MAX,
            };
            return self.explore(problem, values, began, allowance, listener);
        }
        let problem = GameProblem::new(&machine, &start, Score::MAX, Keys::Harmless);
        let problem = problem.map_err(|error| Refusal::rules(error.to_string()))?;
        self.explore(problem, values, began, allowance, listener)
    }

    fn explore<P: ReportedGame>(
        &self,
        mut problem: P,
        values: Option<Values>,
        began: Instant,
        allowance: &Allowance,
        listener: &dyn Listener,
    ) -> Result<GraphSummary, Refusal> {
        let how = graph::Explore {
            merge: match self.merge {
                Merge::Stripped => graph::Merge::Key,
                Merge::State => graph::Merge::State,
                Merge::Tree => graph::Merge::Nothing,
            },
            most: self.most,
            ..graph::Explore::default()
        };
        let budget = Budget {
            depth: self.depth.unwrap_or(u32::MAX),
            time: Some(self.time.saturating_sub(began.elapsed())),
            // The other half is for reporting.
            memory_bytes: allowance.memory_bytes / 2,
            stop: allowance.stop.clone(),
            ..Budget::default()
        };
        let mut reporter = GraphReporter {
            game: &self.game.game,
            listener,
            until: began + self.time,
            last: began,
            nodes: 0,
            arcs: 0,
            values,
            firsts: FxHashMap::default(),
        };
        let mut report = |problem: &P, graph: &GraphOf<P>| {
            reporter.report(problem, graph, false)?;
            match graph.arcs().len() < MOST_ARCS {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        let (stats, watch) = (&mut Stats::default(), &mut ());
        let graph = explore_with_progress(&mut problem, &how, &budget, stats, watch, &mut report)?;
        if graph.nodes().is_empty() {
            // It was stopped before the first position was known.
            return Err(PlayError::Interrupted.into());
        }
        // A client that has disconnected needs no answer.
        let _ = reporter.report(&problem, &graph, true);
        let complete = graph.is_complete();
        Ok(GraphSummary {
            nodes: graph.nodes().len(),
            arcs: graph.arcs().len(),
            levels: graph.levels().iter().map(ExactSizeIterator::len).collect(),
            complete,
            said: self.said(complete, graph.stopped()),
            dead: match complete {
                true => graph.hopeless(),
                false => Vec::new(),
            },
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// The reason why exploration ended, as a sentence.
    fn said(&self, is_complete: bool, stopped: Option<BudgetKind>) -> String {
        let (most, seconds) = (self.most, self.time.as_secs_f64());
        match (stopped, self.depth) {
            (None, _) if is_complete => {
                "complete: all reachable positions were explored".to_owned()
            }
            (None, depth) => {
                let depth = depth.unwrap_or_default();
                format!(
                    "positions more than {} away were not explored",
                    moves(depth.into())
                )
            }
            (Some(BudgetKind::Nodes), _) => {
                format!("there are more than {}", counted(most, "position"))
            }
            (Some(BudgetKind::Time), _) => {
                format!(
                    "the time limit of {} was reached",
                    counted(seconds, "second")
                )
            }
            (Some(BudgetKind::Memory), _) => "the memory limit was reached".to_owned(),
            (Some(_), _) => format!("the limit of {MOST_ARCS} moves was reached"),
        }
    }
}
