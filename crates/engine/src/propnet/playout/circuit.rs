//! The computation of one phase of playouts, as tapes.
//!
//! In: a game's network, the relevant facts, and those that are constant in the
//! phase. Out: three tapes. The first examines a state: whether the playout is
//! over, and the number of each role's moves. Then random numbers are drawn. The
//! second tape finds the moves with these numbers and the next state; it reuses
//! values that the first one computed. The third computes the scores of terminal
//! states, if that is too much work for the first; it has banks of its own.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::decisive::Tactics;
use super::dependency::{Search, depends};
use crate::propnet::Propnet;
use crate::propnet::network::{Builder, Literal, Network};
use crate::propnet::rewrite::{copy, live, same_gate, transcribe};
use crate::propnet::select::Count;
use crate::propnet::tape::{Place, Tape};

/// Facts before the joint move.
pub(in crate::propnet) const STATE: u8 = 0;
/// Facts after it.
pub(in crate::propnet) const NEXT: u8 = 1;
/// Results of the first tape.
pub(in crate::propnet) const LOOK: u8 = 2;
/// Values of the first tape that the second reads.
pub(super) const KEPT: u8 = 3;
/// Inputs from outside: [`REFILL`], then random numbers.
pub(in crate::propnet) const DRAWN: u8 = 4;
/// Inputs that guide choices: by role, the lanes in which it chooses at random;
/// then by role, move and bit, the level of the move in all lanes.
pub(in crate::propnet) const GUIDE: u8 = 5;
/// By role and move: the lanes in which it is chosen.
pub(in crate::propnet) const CHOSEN: u8 = 6;
/// The number of banks.
pub(in crate::propnet) const BANKS: usize = 7;

/// Rows of [`LOOK`]: the playout ends here, for one of the following reasons; the
/// game is over; a role has no legal move. The scores follow, unless the third tape
/// computes them.
pub(in crate::propnet) const OVER: usize = 0;
pub(in crate::propnet) const TERMINAL: usize = 1;
pub(in crate::propnet) const STUCK: usize = 2;
pub(in crate::propnet) const SCORES: usize = 3;
/// Row of [`DRAWN`]: the lane restarts.
pub(super) const REFILL: usize = 0;

/// The number of moves from which the gates that choose one are not sought among the known ones.
const MANY_MOVES: usize = 4_000;

/// The properties that the circuits of all phases share.
#[derive(Debug)]
pub(super) struct Frame<'n> {
    pub net: &'n Propnet,
    /// By fact: its row; `None` if it is irrelevant or constant in a phase.
    pub rows: Vec<Option<usize>>,
    /// By fact: its value in the start state.
    pub start: &'n [bool],
    pub extras: Extras,
}

/// Optional features of the tapes.
#[derive(Copy, Clone, Default, Debug)]
pub(in crate::propnet) struct Extras {
    /// The bits of a move's level: roles choose among their legal moves of the
    /// highest level.
    pub level_bits: usize,
    pub record: Record,
    /// True if roles prefer moves that win at once or prevent it.
    pub decisive: bool,
}

/// The statistics kept about moves.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub enum Record {
    /// None.
    #[default]
    Nothing,
    /// The moves that are made.
    Moves,
}

/// The rows of a random number and of its limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::propnet) struct Choice {
    pub role: usize,
    /// Rows of [`LOOK`].
    pub counts: Range<usize>,
    /// Rows of [`LOOK`].
    pub masks: Range<usize>,
    /// Rows of [`DRAWN`].
    pub numbers: Range<usize>,
}

/// One phase.
#[derive(Debug)]
pub(super) struct Circuit {
    pub look: Tape,
    pub play: Tape,
    /// `None` if the first tape computes the scores.
    pub score: Option<Score>,
    /// By role that must choose.
    pub choices: Vec<Choice>,
    /// By role and goal value: the index among the rows of scores that is set if
    /// this is the only value.
    pub goals: Vec<Vec<usize>>,
    /// The number of rows of scores.
    pub scores: usize,
    /// Rows of [`CHOSEN`].
    pub chosen: Vec<usize>,
}

/// One phase as gates, from which its tapes are made.
#[derive(Debug)]
pub(super) struct Blueprint {
    network: Network,
    state: Vec<Given>,
    drawn: Vec<Given>,
    guide: Vec<Given>,
    look: Vec<Output>,
    play: Vec<Output>,
    scores: Vec<Literal>,
    choices: Vec<Choice>,
    goals: Vec<Vec<usize>>,
    chosen: Vec<usize>,
}

/// The scores of terminal states. The tape reads bank 0, which has a row for each
/// source, and writes bank 1.
#[derive(Debug)]
pub(super) struct Score {
    pub tape: Tape,
    pub sources: Vec<Place>,
}

impl Frame<'_> {
    /// The facts that any answer depends on, now or later.
    pub fn relevant(net: &Propnet) -> Vec<bool> {
        let mut roots: Vec<usize> = net.legal.iter().flatten().map(|l| l.node()).collect();
        roots.push(net.terminal.node());
        roots.extend(net.goals.iter().flatten().map(|goal| goal.1.node()));
        let facts = net.facts.len();
        let mut relevant = vec![false; facts];
        let mut search = Search::new(&net.network);
        while !roots.is_empty() {
            let found = search.from(roots.drain(..), |_| true);
            let inputs = found
                .iter()
                .filter_map(|&node| net.network.input_number(node));
            for fact in inputs.filter(|&input| input < facts) {
                if !std::mem::replace(&mut relevant[fact], true) {
                    roots.push(net.next[fact].node());
                }
            }
        }
        relevant
    }

    /// The number of rows of a state.
    pub fn state_rows(&self) -> usize {
        self.rows.iter().flatten().count()
    }
}

/// A node, and the place that its value comes from.
type Given = (usize, Place);
/// A literal, and the place that its value goes to.
type Output = (Literal, Place);

fn place(bank: u8, row: usize) -> Place {
    Place {
        bank,
        index: row as u32,
    }
}

impl Blueprint {
    /// `constants`: by fact, its value if it is constant in this phase. `refill`:
    /// true if lanes may restart after this phase.
    pub fn new(
        frame: &Frame,
        constants: &[Option<bool>],
        refill: bool,
        tactics: Tactics<'_>,
    ) -> Blueprint {
        let net = frame.net;
        let mut builder = Builder::with_room(frame.state_rows(), net.network.len());
        let facts = frame.rows.iter().zip(constants).map(|(row, constant)| {
            let constant = Literal::FALSE.negated_if(constant == &Some(true));
            row.map_or(constant, |row| builder.input(row))
        });
        let mut inputs: Vec<Literal> = facts.collect();
        inputs.resize(net.network.inputs(), Literal::FALSE);

        // The part that depends on the state alone.
        let mut roots: Vec<Literal> = net.legal.iter().flatten().copied().collect();
        roots.push(net.terminal);
        roots.extend(net.goals.iter().flatten().map(|goal| goal.1));
        let first = live(&net.network, roots);
        let seen = copy(&net.network, &first, &inputs, &mut builder);
        let of = |became: &[Literal], old: Literal| became[old.node()].negated_if(old.is_negated());

        // The selection of moves.
        let refilled = builder.add_input();
        let mut number_rows = vec![refilled.node()];
        let mut guide = Guide::new(frame.extras.level_bits);
        let mut choosers = Vec::new();
        let mut any = Vec::new();
        let legal = net.legal.iter();
        let legal = legal.map(|legal| legal.iter().map(|&l| of(&seen, l)).collect());
        let legal: Vec<Vec<Literal>> = legal.collect();
        let preferred = tactics.preferred(net, &mut builder, &inputs, &legal);
        for (role, legal) in legal.iter().enumerate() {
            let moves = match &preferred {
                Some((chooser, moves)) if *chooser == role => moves,
                _ => legal,
            };
            let candidates = guide.candidates(&mut builder, role, net, moves);
            builder.share(candidates.len() < MANY_MOVES);
            let count = Count::new(&mut builder, &candidates);
            any.push(match candidates == *legal {
                true => count.any(&mut builder),
                false => builder.or(legal),
            });
            let number: Vec<Literal> = (0..count.number_bits())
                .map(|_| builder.add_input())
                .collect();
            for (index, chosen) in count.choose(&mut builder, &number).into_iter().enumerate() {
                inputs[net.move_input(role, index)] = chosen;
            }
            builder.share(true);
            let start = number_rows.len();
            number_rows.extend(number.iter().map(|literal| literal.node()));
            choosers.push((count, start..number_rows.len()));
        }

        // The next state. Gates that depend on the state alone are reused.
        let mut moves = vec![false; net.network.inputs()];
        moves[net.facts.len()..].fill(true);
        let moved = depends(&net.network, &moves);
        let varying = || (0..frame.rows.len()).filter(|&fact| frame.rows[fact].is_some());
        let second = live(&net.network, varying().map(|fact| net.next[fact]));
        let next = transcribe(
            &net.network,
            &second,
            &inputs,
            &mut builder,
            |b, node, reads| match first[node] && !moved[node] {
                true => seen[node],
                false => same_gate(&net.network, b, node, reads),
            },
        );
        let begin = |builder: &mut Builder, next: Literal, start: bool| match (refill, start) {
            (false, _) => next,
            (true, true) => builder.or(&[next, refilled]),
            (true, false) => builder.and(&[next, !refilled]),
        };
        let mut play_outputs: Vec<Output> = Vec::new();
        for fact in varying() {
            let literal = begin(&mut builder, of(&next, net.next[fact]), frame.start[fact]);
            let row = frame.rows[fact].expect("a varying fact has a row");
            play_outputs.push((literal, place(NEXT, row)));
        }

        // The outputs.
        let terminal = of(&seen, net.terminal);
        let all = builder.and(&any);
        let stuck = builder.and(&[!terminal, !all]);
        let over = builder.or(&[terminal, stuck]);
        let mut look_outputs: Vec<Output> = vec![
            (over, place(LOOK, OVER)),
            (terminal, place(LOOK, TERMINAL)),
            (stuck, place(LOOK, STUCK)),
        ];
        let (goals, score_outputs) = score(net, &mut builder, |old| of(&seen, old));
        let scores = score_outputs.len();
        let mut row = SCORES + scores;
        let is_used = live(
            builder.network(),
            play_outputs.iter().map(|output| output.0),
        );
        let mut choices = Vec::new();
        let mut recorded = Vec::new();
        for (role, (count, numbers)) in choosers.iter().enumerate() {
            // A choice without effect is not made.
            if !number_rows[numbers.clone()]
                .iter()
                .any(|&node| is_used[node])
            {
                continue;
            }
            let mut rows = |literals: &[Literal]| {
                let start = row;
                for &literal in literals {
                    look_outputs.push((literal, place(LOOK, row)));
                    row += 1;
                }
                start..row
            };
            let counts = rows(count.bits());
            let masks = rows(&count.mask(&mut builder));
            choices.push(Choice {
                role,
                counts,
                masks,
                numbers: numbers.clone(),
            });
            if frame.extras.record == Record::Moves {
                for index in 0..net.legal[role].len() {
                    let input = net.move_input(role, index);
                    let row = input - net.facts.len();
                    play_outputs.push((inputs[input], place(CHOSEN, row)));
                    recorded.push(row);
                }
            }
        }

        let state_rows = 0..frame.state_rows();
        let state: Vec<Given> = state_rows
            .map(|row| (builder.input(row).node(), place(STATE, row)))
            .collect();
        let drawn = (0..).zip(number_rows);
        let drawn: Vec<Given> = drawn.map(|(row, node)| (node, place(DRAWN, row))).collect();
        Blueprint {
            network: builder.into_network(),
            state,
            drawn,
            guide: guide.given,
            look: look_outputs,
            play: play_outputs,
            scores: score_outputs,
            choices,
            goals,
            chosen: recorded,
        }
    }

    /// The number of two-input gates of a pass, without those for scores.
    pub fn gates(&self) -> usize {
        let outputs = self.look.iter().chain(&self.play);
        let live = live(&self.network, outputs.map(|output| output.0));
        let live = (0..self.network.len()).filter(|&node| live[node]);
        live.map(|node| self.network.reads(node).len().saturating_sub(1))
            .sum()
    }

    /// Makes the tapes.
    pub fn circuit(self) -> Circuit {
        let (look, play, score) = split(
            &self.network,
            [&[self.state, self.guide].concat(), &self.drawn],
            [self.look, self.play],
            &self.scores,
        );
        Circuit {
            look,
            play,
            score,
            choices: self.choices,
            goals: self.goals,
            scores: self.scores.len(),
            chosen: self.chosen,
        }
    }
}

/// The inputs that guide choices.
struct Guide {
    bits: usize,
    given: Vec<Given>,
}

impl Guide {
    fn new(bits: usize) -> Guide {
        let given = Vec::new();
        Guide { bits, given }
    }

    /// The legal moves of the highest level, or all legal moves in lanes where the
    /// role chooses at random.
    fn candidates(
        &mut self,
        builder: &mut Builder,
        role: usize,
        net: &Propnet,
        legal: &[Literal],
    ) -> Vec<Literal> {
        let mut left = legal.to_vec();
        if self.bits == 0 {
            return left;
        }
        let mut guide = |builder: &mut Builder, row: usize| {
            let literal = builder.add_input();
            self.given.push((literal.node(), place(GUIDE, row)));
            literal
        };
        let random = guide(builder, role);
        let first = level_row(net, self.bits, role, 0);
        for bit in (0..self.bits).rev() {
            let high: Vec<Literal> = (0..left.len())
                .map(|index| guide(builder, first + self.bits * index + bit))
                .collect();
            let both = left.iter().zip(&high);
            let both: Vec<Literal> = both.map(|(&l, &h)| builder.and(&[l, h])).collect();
            let any = builder.or(&both);
            let narrow = builder.and(&[any, !random]);
            for (left, high) in left.iter_mut().zip(high) {
                let stays = builder.or(&[high, !narrow]);
                *left = builder.and(&[*left, stays]);
            }
        }
        left
    }
}

/// The row of [`GUIDE`] with the lowest bit of a move's level.
pub(in crate::propnet) fn level_row(
    net: &Propnet,
    bits: usize,
    role: usize,
    index: usize,
) -> usize {
    net.legal.len() + bits * (net.move_input(role, index) - net.facts.len())
}

/// The literals that are true if a goal value is a role's only one, without
/// repetition, and the index of that literal by role and value.
fn score(
    net: &Propnet,
    builder: &mut Builder,
    of: impl Fn(Literal) -> Literal,
) -> (Vec<Vec<usize>>, Vec<Literal>) {
    let mut rows: FxHashMap<Literal, usize> = FxHashMap::default();
    let mut literals = Vec::new();
    let mut goals = Vec::new();
    for role in &net.goals {
        let values: Vec<Literal> = role.iter().map(|goal| of(goal.1)).collect();
        let (mut some, mut several) = (Literal::FALSE, Literal::FALSE);
        for &literal in &values {
            let both = builder.and(&[some, literal]);
            several = builder.or(&[several, both]);
            some = builder.or(&[some, literal]);
        }
        let mut of_role = Vec::new();
        for &literal in &values {
            let alone = builder.and(&[literal, !several]);
            of_role.push(*rows.entry(alone).or_insert_with(|| {
                literals.push(alone);
                literals.len() - 1
            }));
        }
        goals.push(of_role);
    }
    (goals, literals)
}

/// The tapes for two lists of outputs and for the scores. All read the state and
/// the values kept by the first tape; the second also reads the random numbers. The
/// first tape computes the scores if that is hardly more work.
fn split(
    network: &Network,
    [state, drawn]: [&[Given]; 2],
    [mut look, play]: [Vec<Output>; 2],
    scores: &[Literal],
) -> (Tape, Tape, Option<Score>) {
    let outputs = |bank: u8, first: usize| -> Vec<Output> {
        let rows = (first..).zip(scores);
        rows.map(|(row, &literal)| (literal, place(bank, row)))
            .collect()
    };
    let known = |look: &[Output]| live(network, look.iter().map(|output| output.0));
    let mut seen = known(&look);
    // Starting from known values takes fewer gates, starting from the state fewer
    // rows.
    let near = boundary(network, &seen, scores.iter().copied());
    let far = boundary(network, &vec![false; seen.len()], scores.iter().copied());
    let at_once = near.gates;
    let scored = [near, far].into_iter().min_by_key(Boundary::work_apart);
    let scored = scored.filter(|scored| scored.work_apart() < at_once);
    if scored.is_none() {
        look.extend(outputs(LOOK, SCORES));
        seen = known(&look);
    }
    let mut kept = boundary(network, &seen, play.iter().map(|output| output.0)).nodes;
    kept.extend(scored.iter().flat_map(|scored| &scored.nodes));
    kept.retain(|&node| network.input_number(node).is_none());
    kept.sort_unstable();
    kept.dedup();
    let kept = (0..).zip(kept);
    let kept: Vec<Given> = kept.map(|(row, node)| (node, place(KEPT, row))).collect();
    look.extend(kept.iter().map(|&(node, place)| (Literal::of(node), place)));
    let score = scored.map(|scored| {
        let places: FxHashMap<usize, Place> = state.iter().chain(&kept).copied().collect();
        let rows = (0..).zip(&scored.nodes);
        let given: Vec<Given> = rows.map(|(row, &node)| (node, place(0, row))).collect();
        Score {
            tape: Tape::new(network, &given, &outputs(1, 0)),
            sources: scored.nodes.iter().map(|node| places[node]).collect(),
        }
    });
    let all = [state, drawn, &kept].concat();
    (
        Tape::new(network, state, &look),
        Tape::new(network, &all, &play),
        score,
    )
}

/// The nodes from which some literals are computed.
struct Boundary {
    /// Nodes that are already known, and inputs.
    nodes: Vec<usize>,
    /// The number of gates between these and the literals.
    gates: usize,
}

impl Boundary {
    /// An estimate of the work, in gates of a pass, if the nodes are kept each time
    /// and the literals are computed once all lanes have ended.
    fn work_apart(&self) -> usize {
        64 + 4 * self.nodes.len() + self.gates / 8
    }
}

fn boundary(
    network: &Network,
    known: &[bool],
    literals: impl IntoIterator<Item = Literal>,
) -> Boundary {
    let mut nodes = Vec::new();
    let mut gates = 0;
    let literals = literals.into_iter().map(Literal::node);
    Search::new(network).from(literals, |node| {
        if Literal::of(node).is_constant() {
            return false;
        }
        if known[node] || network.input_number(node).is_some() {
            nodes.push(node);
            return false;
        }
        gates += network.reads(node).len().saturating_sub(1);
        true
    });
    Boundary { nodes, gates }
}
