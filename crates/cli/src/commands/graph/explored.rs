//! Exploration of a game's graph.

use std::cell::Cell;

use anyhow::bail;
use rustc_hash::FxHashMap;

use super::{Drawing, DrawnArc, DrawnNode, Options, counted};
use crate::Context;
use crate::commands::legal::find_role;
use crate::commands::solve::{Progress, PruneChoice, Report};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId, Score};
use ggp_gdl::terms::{TermId, Terms};
use ggp_picture::{Picture, PictureOptions as DrawingOptions};
use ggp_search::graph::{Explore, Graph, Merge, explore};
use ggp_search::{Budget, BudgetKind, Problem, Stats, Status};
use ggp_solver::solve::{GameProblem, Joint, JointProblem, Keys, joint_text};

type State = <AnyMachine as Machine>::State;

/// An explored graph with its states.
pub(super) struct Explored {
    pub drawing: Drawing,
    pub states: Vec<State>,
    /// The limit that was reached.
    pub stopped: Option<BudgetKind>,
    /// The number of nodes that do not fit into a picture.
    pub left_out: usize,
}

/// Explores the game of a machine.
///
/// # Errors
///
/// If the position or the role is invalid, or the rules cannot be evaluated.
pub(super) fn explored(
    options: &Options,
    machine: &mut AnyMachine,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<Explored> {
    let start = options.position.state(machine, &options.rules, context)?;
    let game = machine.game().clone();
    let role = role(&game, options.role.as_deref())?;
    let target = Score::new(options.goal).unwrap_or(Score::MAX);
    let is_alone = game.role_count() == 1;
    if !is_alone {
        let problem = JointProblem {
            machine: machine.clone(),
            start,
            role,
            target,
        };
        let (problem, graph) = explore_with(options, problem, Merge::State, budget, context)?;
        machine.terms_mut().refresh();
        let terms = machine.terms();
        let said = |joint: &Joint| joint_text(&game, terms, joint);
        let facts = |state: &State| problem.machine.facts(state);
        return put(
            &game,
            terms,
            options,
            graph,
            (&facts, &facts, &said),
            context,
        );
    }
    let keys = match options.is_exact() || options.tree {
        true => Keys::Exact,
        false => Keys::Harmless,
    };
    let problem = GameProblem::new(machine, &start, target, keys)?;
    let merge = match options.is_exact() {
        true => Merge::State,
        false => Merge::Key,
    };
    let (problem, graph) = explore_with(options, problem, merge, budget, context)?;
    machine.terms_mut().refresh();
    // Made now, since it reads the terms of all states.
    let stripped = GameProblem::new(machine, &start, target, Keys::Harmless)?;
    let terms = machine.terms();
    let facts = |state: &State| problem.compared_facts(state);
    let keys = |state: &State| stripped.compared_facts(state);
    let said = |chosen: &Move| text(&game, terms, *chosen);
    let mut explored = put(
        &game,
        terms,
        options,
        graph,
        (&facts, &keys, &said),
        context,
    )?;
    explored.drawing.is_stripped = problem.stripped_count() > 0;
    Ok(explored)
}

/// The role of this name; by default the first that is not chance.
///
/// # Errors
///
/// If there is no such role.
pub(super) fn role(game: &Game, name: Option<&str>) -> anyhow::Result<RoleId> {
    match name {
        Some(name) => find_role(game, name),
        None => Ok(game.first_player()),
    }
}

fn text(game: &Game, terms: &Terms, chosen: Move) -> String {
    game.text(terms, chosen.term())
}

/// Explores a problem and returns its graph.
type Found<P> = (P, Graph<<P as Problem>::State, <P as Problem>::Action>);

fn explore_with<P: Problem<Error = PlayError>>(
    options: &Options,
    mut problem: P,
    merge: Merge,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<Found<P>> {
    let how = Explore {
        merge: match options.tree {
            true => Merge::Nothing,
            false => merge,
        },
        prune: PruneChoice::combined(&options.prune),
        ..Explore::default()
    };
    let mut stats = Stats::default();
    let mut progress = Progress::new(Report::default(), context);
    let graph = explore(&mut problem, &how, budget, &mut stats, &mut progress);
    progress.finish();
    go_on(context)?;
    Ok((problem, graph?))
}

/// Stops on an interrupt: an incomplete graph would look complete.
fn go_on(context: &Context) -> Result<(), PlayError> {
    match context.is_interrupted() {
        true => Err(PlayError::Interrupted),
        false => Ok(()),
    }
}

/// A state's displayed facts, its facts that distinguish nodes, and the text of a move.
type Spoken<'s, A> = (
    &'s dyn Fn(&State) -> Vec<TermId>,
    &'s dyn Fn(&State) -> Vec<TermId>,
    &'s dyn Fn(&A) -> String,
);

fn put<A>(
    game: &Game,
    terms: &Terms,
    options: &Options,
    graph: Graph<State, A>,
    (facts, key, said): Spoken<'_, A>,
    context: &Context,
) -> anyhow::Result<Explored> {
    let mut firsts: FxHashMap<Vec<TermId>, usize> = FxHashMap::default();
    let most = options.budget_memory.saturating_mul(1 << 20);
    let size = Cell::new(0_u64);
    let on = || !context.is_interrupted() && size.get() <= most;
    let count = |text: &str| size.set(size.get() + text.len() as u64);
    let mut known: FxHashMap<TermId, u32> = FxHashMap::default();
    let mut texts: Vec<String> = Vec::new();
    let nodes = graph.nodes().iter().enumerate().take_while(|_| on());
    let nodes = nodes.map(|(number, node)| {
        let facts = facts(&node.state).into_iter().take_while(|_| on());
        let facts = facts.map(|fact| {
            let number = *known.entry(fact).or_insert_with(|| {
                texts.push(game.text(terms, fact));
                texts.len() as u32 - 1
            });
            count(&texts[number as usize]);
            number
        });
        let facts = facts.collect();
        DrawnNode {
            level: node.level,
            status: node.status,
            expanded: node.expanded,
            facts,
            same: *firsts.entry(key(&node.state)).or_insert(number),
            value: None,
        }
    });
    let mut nodes: Vec<DrawnNode> = nodes.collect();
    let texts = in_order(texts, &mut nodes);
    let arcs = graph.arcs().iter().take_while(|_| on());
    let arcs = arcs.map(|arc| {
        let chosen = said(&arc.action);
        count(&chosen);
        DrawnArc {
            from: arc.from,
            to: arc.to,
            chosen,
        }
    });
    let arcs = arcs.collect();
    go_on(context)?;
    if size.get() > most {
        bail!(
            "the texts of the positions have more than {} MB; set --depth or --budget-nodes, \
             or raise --budget-memory",
            options.budget_memory
        );
    }
    Ok(Explored {
        drawing: Drawing {
            name: game.name(),
            texts,
            nodes,
            arcs,
            is_complete: graph.is_complete(),
            is_tree: options.tree,
            is_alone: game.role_count() == 1,
            is_stripped: false,
            valued: None,
        },
        states: graph
            .nodes()
            .iter()
            .map(|node| node.state.clone())
            .collect(),
        stopped: graph.stopped(),
        left_out: 0,
    })
}

/// Sorts the texts, and the numbers of facts in each node accordingly.
fn in_order(texts: Vec<String>, nodes: &mut [DrawnNode]) -> Vec<String> {
    let mut sorted: Vec<(String, usize)> = texts.into_iter().zip(0..).collect();
    sorted.sort_unstable();
    let mut places = vec![0; sorted.len()];
    for (place, (_, number)) in sorted.iter().enumerate() {
        places[*number] = place as u32;
    }
    for node in nodes {
        for fact in &mut node.facts {
            *fact = places[*fact as usize];
        }
        node.facts.sort_unstable();
    }
    sorted.into_iter().map(|(text, _)| text).collect()
}

impl Explored {
    /// Leaves out late steps until at most `most` nodes are left; the first step and its
    /// moves stay.
    pub fn cut(&mut self, most: usize) {
        let drawing = &mut self.drawing;
        if drawing.nodes.len() <= most {
            return;
        }
        let last = drawing.nodes[most].level.max(2) - 1;
        let kept = drawing.nodes.partition_point(|node| node.level <= last);
        self.left_out = drawing.nodes.len() - kept;
        drawing.nodes.truncate(kept);
        self.states.truncate(kept);
        drawing.arcs.retain(|arc| arc.from < kept && arc.to < kept);
        for node in &mut drawing.nodes {
            node.expanded &= node.level < last;
        }
        drawing.arcs.retain(|arc| drawing.nodes[arc.from].expanded);
        drawing.is_complete = false;
    }

    /// The drawings of the nodes' states.
    ///
    /// # Errors
    ///
    /// If random games cannot be played.
    pub fn boards(
        &self,
        machine: &mut AnyMachine,
        drawing_options: DrawingOptions,
    ) -> Result<Vec<ggp_picture::Drawing>, PlayError> {
        let picture = Picture::of(machine, drawing_options)?;
        let drawn = |state: &State| {
            let facts = machine.facts(state);
            picture.draw(
                machine.terms(),
                &facts,
                ggp_picture::DrawingLimits::default(),
            )
        };
        Ok(self.states.iter().map(drawn).collect())
    }
}

impl Drawing {
    /// A description of the graph, in lines.
    pub fn words(&self, options: &Options, left_out: usize) -> Vec<String> {
        let merged = match (options.tree, self.is_stripped) {
            (true, _) => "each path is a separate position",
            (_, false) => "equal positions are merged",
            (_, true) => "positions that differ only in step counters are merged",
        };
        let mut first = format!(
            "{}, {}; {merged}",
            counted(self.nodes.len(), "position"),
            counted(self.arcs.len(), "move"),
        );
        let pruned = PruneChoice::combined(&options.prune);
        match (pruned.cycle, pruned.dead_leaf) {
            (true, true) => first.push_str("; repetitions and dead leaves are pruned"),
            (true, false) => first.push_str("; repetitions are pruned"),
            (false, true) => first.push_str("; dead leaves are pruned"),
            (false, false) => {}
        }
        if left_out > 0 {
            first.push_str(&format!("; {left_out} of later steps are left out"));
        }
        let mut lines = vec![first];
        if let Some((moves, plans)) = self.plans() {
            lines.push(match plans {
                1 => format!(
                    "one shortest solution, {} long",
                    counted(moves as usize, "move")
                ),
                _ => format!(
                    "{plans} shortest solutions, {} long",
                    counted(moves as usize, "move")
                ),
            });
        }
        lines
    }

    /// The length of shortest plans, and their number in the graph.
    fn plans(&self) -> Option<(u32, u64)> {
        let nodes = &self.nodes;
        let solved = |node: &&DrawnNode| node.status == Status::Solved;
        let nearest = nodes.iter().filter(solved).map(|node| node.level).min()?;
        let mut ways = vec![0u64; nodes.len()];
        ways[0] = 1;
        for arc in &self.arcs {
            if nodes[arc.from].level + 1 == nodes[arc.to].level {
                ways[arc.to] = ways[arc.to].saturating_add(ways[arc.from]);
            }
        }
        let ends = nodes.iter().zip(&ways);
        let ends = ends.filter(|(node, _)| node.status == Status::Solved && node.level == nearest);
        let plans = ends.fold(0u64, |sum, (_, ways)| sum.saturating_add(*ways));
        Some((nearest, plans))
    }
}
