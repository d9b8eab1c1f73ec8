//! Moves that win at once, as gates.
//!
//! In: the literals of a state, in which one role chooses and each other role has a single
//! move. Out: for each move of that role, a literal that is true only if the move is legal, ends
//! the game, and gives the role its best score. It may be false for some such moves: conditions
//! that take many gates are left out.
//!
//! Source: Teytaud and Teytaud, "On the huge impact of decisive moves", 2010.

use rustc_hash::FxHashSet;

use crate::propnet::Propnet;
use crate::propnet::network::{Builder, Literal, Network, Node};
use crate::propnet::rewrite::{copy, live};

/// The most nodes that are visited to find the conditions.
const MOST_VISITS: usize = 30_000_000;
/// The most conditions of one move.
const MOST_CONDITIONS: usize = 1_024;
/// The most gates of one condition.
const MOST_GATES: usize = 32;

/// The literals of a state.
#[derive(Copy, Clone, Debug)]
pub(super) struct Position<'a> {
    /// By input of the network: the literal of the fact. Those of moves are not used.
    pub inputs: &'a [Literal],
    /// By role and move.
    pub legal: &'a [Vec<Literal>],
    pub terminal: Literal,
}

/// A condition under which a move wins.
struct Condition {
    index: usize,
    literal: Literal,
    gates: usize,
}

/// By move of the role that chooses: whether it wins at once. The result has the number of the
/// role. `None` if several roles choose, or no condition is found. All conditions together take
/// at most `most` gates.
pub(super) fn decisive(
    net: &Propnet,
    builder: &mut Builder,
    position: Position<'_>,
    most: usize,
) -> Option<(usize, Vec<Literal>)> {
    let is_possible = |legal: &&Literal| **legal != Literal::FALSE;
    let possible = |role: &Vec<Literal>| role.iter().filter(is_possible).count();
    let (game, terms) = (net.game(), net.terms());
    let mut choosing =
        (0..position.legal.len()).filter(|&role| possible(&position.legal[role]) > 1);
    let role = choosing.next()?;
    let network = &net.network;
    if choosing.next().is_some()
        || !network.regions().is_empty()
        || game
            .roles()
            .nth(role)
            .is_some_and(|role| game.is_random(role))
    {
        return None;
    }
    let goals = &net.goals[role];
    let best = goals
        .iter()
        .filter_map(|&(value, literal)| Some((game.score(&terms, value).ok()?.get(), literal)))
        .max_by_key(|(score, _)| *score)?
        .1;
    let facts = net.facts.len();
    let ends = live(network, [net.terminal, best]);
    // The facts on which the end depends, after the move.
    let read: Vec<usize> = (0..facts)
        .filter(|&fact| ends[network.input(net.fact_input(fact)).node()])
        .collect();
    let changes = live(network, read.iter().map(|&fact| net.next[fact]));
    if position.legal[role].len() * network.len() > MOST_VISITS {
        return None;
    }
    let mut inputs = position.inputs.to_vec();
    for (other, legal) in position.legal.iter().enumerate() {
        for (index, &literal) in legal.iter().enumerate() {
            let is_made = other != role && literal != Literal::FALSE;
            inputs[net.move_input(other, index)] = Literal::FALSE.negated_if(is_made);
        }
    }
    // No game is over where a role still chooses.
    let mut refuted = FxHashSet::default();
    disjuncts(builder.network(), position.terminal, &mut refuted);
    let legal = position.legal.iter().flatten().copied();
    let all = legal.chain([position.terminal]);
    let (mut known, _) = needed(builder.network(), all, &FxHashSet::default(), usize::MAX);
    let of = |became: &[Literal], old: Literal| became[old.node()].negated_if(old.is_negated());
    let mut conditions = Vec::new();
    let mut after = vec![Literal::FALSE; network.inputs()];
    for (index, &is_legal) in position.legal[role].iter().enumerate() {
        if is_legal == Literal::FALSE {
            continue;
        }
        let input = net.move_input(role, index);
        inputs[input] = Literal::TRUE;
        let became = copy(network, &changes, &inputs, builder);
        inputs[input] = Literal::FALSE;
        for &fact in &read {
            after[net.fact_input(fact)] = of(&became, net.next[fact]);
        }
        let became = copy(network, &ends, &after, builder);
        let (over, wins) = (of(&became, net.terminal), of(&became, best));
        let alternatives = |builder: &Builder, literal: Literal| {
            let mut found = FxHashSet::default();
            disjuncts(builder.network(), literal, &mut found);
            let mut found: Vec<Literal> = found.difference(&refuted).copied().collect();
            found.sort_unstable();
            found
        };
        let (ends, wins) = (alternatives(builder, over), alternatives(builder, wins));
        if ends.len().max(wins.len()) > MOST_CONDITIONS {
            continue;
        }
        for wins in wins {
            let ends = match ends.binary_search(&wins) {
                Ok(_) => Literal::TRUE,
                Err(_) => builder.or(&ends),
            };
            let literal = builder.and(&[is_legal, ends, wins]);
            let (_, gates) = needed(builder.network(), [literal], &known, MOST_GATES);
            if literal != Literal::FALSE && gates <= MOST_GATES {
                conditions.push(Condition {
                    index,
                    literal,
                    gates,
                });
            }
        }
    }
    conditions.sort_by_key(|condition| (condition.gates, condition.index, condition.literal));
    let mut by_move = vec![Vec::new(); position.legal[role].len()];
    let mut left = most;
    for condition in conditions {
        let (nodes, gates) = needed(builder.network(), [condition.literal], &known, left);
        if gates > left {
            break;
        }
        left -= gates;
        known.extend(nodes);
        by_move[condition.index].push(condition.literal);
    }
    if by_move.iter().all(Vec::is_empty) {
        return None;
    }
    let any = |conditions: &Vec<Literal>| builder.or(conditions);
    Some((role, by_move.iter().map(any).collect()))
}

/// The moves that win at once, if there are any, otherwise all legal moves.
pub(super) fn prefer(builder: &mut Builder, legal: &[Literal], wins: &[Literal]) -> Vec<Literal> {
    let any = builder.or(wins);
    let both = legal.iter().zip(wins);
    let stays = both.map(|(&legal, &wins)| {
        let otherwise = builder.and(&[legal, !any]);
        builder.or(&[wins, otherwise])
    });
    stays.collect()
}

/// Adds literals of which one at least is true if `literal` is.
fn disjuncts(network: &Network, literal: Literal, found: &mut FxHashSet<Literal>) {
    let mut open = vec![literal];
    while let Some(literal) = open.pop() {
        match network.node(literal.node()) {
            Node::And(_) if literal.is_negated() => {
                open.extend(
                    network
                        .operands(literal.node())
                        .iter()
                        .map(|&operand| !operand),
                );
            }
            _ if literal == Literal::FALSE => {}
            _ => {
                found.insert(literal);
            }
        }
    }
}

/// The nodes that some literals need and that are not known, and the number of their two-input
/// gates. The search ends when that number exceeds `most`.
fn needed(
    network: &Network,
    literals: impl IntoIterator<Item = Literal>,
    known: &FxHashSet<usize>,
    most: usize,
) -> (FxHashSet<usize>, usize) {
    let mut open: Vec<usize> = literals.into_iter().map(Literal::node).collect();
    let (mut found, mut gates) = (FxHashSet::default(), 0);
    while let Some(node) = open.pop().filter(|_| gates <= most) {
        if !known.contains(&node) && found.insert(node) {
            let reads = network.reads(node);
            gates += reads.len().saturating_sub(1);
            open.extend(reads.iter().map(|literal| literal.node()));
        }
    }
    (found, gates)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::propnet::GroundLimits;
    use crate::propnet::batch::tests::{after, evaluate};
    use crate::propnet::batch::{Packed, holds, pack};
    use crate::propnet::network::read;
    use crate::propnet::playout::phase::Phases;
    use ggp_gdl::game::Game;

    /// Two roles mark cells of three by three in turn. A line wins, and so does the last mark of
    /// a full board for the second role.
    const LINES: &str = "
        (role x) (role o) (init (turn x)) (other x o) (other o x)
        (index 1) (index 2) (index 3)
        (<= (init (empty ?i ?j)) (index ?i) (index ?j))
        (<= (legal ?r (mark ?i ?j)) (true (turn ?r)) (true (empty ?i ?j)))
        (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
        (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
        (<= (next (has ?i ?j ?r)) (does ?r (mark ?i ?j)))
        (<= (next (has ?i ?j ?r)) (true (has ?i ?j ?r)))
        (<= (next (empty ?i ?j)) (true (empty ?i ?j)) (not (marked ?i ?j)))
        (<= (marked ?i ?j) (does ?r (mark ?i ?j)))
        (<= (line ?r) (true (has ?i 1 ?r)) (true (has ?i 2 ?r)) (true (has ?i 3 ?r)))
        (<= (line ?r) (true (has 1 ?j ?r)) (true (has 2 ?j ?r)) (true (has 3 ?j ?r)))
        (<= (line ?r) (true (has 1 1 ?r)) (true (has 2 2 ?r)) (true (has 3 3 ?r)))
        (<= (line ?r) (true (has 1 3 ?r)) (true (has 2 2 ?r)) (true (has 3 1 ?r)))
        (<= open (true (empty ?i ?j)))
        (<= (goal ?r 100) (line ?r))
        (<= (goal ?r 50) (role ?r) (not (line x)) (not (line o)))
        (<= (goal ?r 0) (line ?s) (other ?s ?r))
        (<= terminal (line ?r))
        (<= terminal (not open))";

    fn net() -> Propnet {
        let game = Game::from_text("lines.kif", LINES).expect("the rules are valid");
        let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
        net.simplify();
        net
    }

    /// The winning moves of a phase, as gates on the facts.
    fn found(
        net: &Propnet,
        constants: &[Option<bool>],
        most: usize,
    ) -> (Builder, usize, Vec<Literal>) {
        let mut builder = Builder::new(net.facts.len());
        let facts = constants.iter().enumerate();
        let facts = facts.map(|(fact, constant)| match constant {
            Some(value) => Literal::FALSE.negated_if(*value),
            None => builder.input(fact),
        });
        let mut inputs: Vec<Literal> = facts.collect();
        inputs.resize(net.network.inputs(), Literal::FALSE);
        let roots = net.legal.iter().flatten().copied().chain([net.terminal]);
        let seen = copy(
            &net.network,
            &live(&net.network, roots),
            &inputs,
            &mut builder,
        );
        let of = |old: &Literal| seen[old.node()].negated_if(old.is_negated());
        let legal = net.legal.iter().map(|legal| legal.iter().map(of).collect());
        let legal: Vec<Vec<Literal>> = legal.collect();
        let position = Position {
            inputs: &inputs,
            legal: &legal,
            terminal: of(&net.terminal),
        };
        let (role, wins) = decisive(net, &mut builder, position, most).expect("moves can win");
        (builder, role, wins)
    }

    #[test]
    fn moves_that_win_at_once_are_known() {
        let net = net();
        let phases = Phases::find(&net, &net.initial, 8);
        assert_eq!(phases.len(), 2);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let terms = net.terms();
        let best = |role: usize| {
            let mut goals = net.goals[role].iter();
            let is_best =
                |goal: &&(_, Literal)| net.game.score(&terms, goal.0).is_ok_and(|s| s.get() == 100);
            goals.find(is_best).expect("a role can win").1
        };
        for (most, is_complete) in [(10_000, true), (20, false)] {
            let of_phase: Vec<_> = phases.values.iter().map(|c| found(&net, c, most)).collect();
            let (mut winning, mut missed) = (0, 0);
            for _ in 0..300 {
                let mut state: Packed = pack(net.initial.iter().copied());
                for ply in 0.. {
                    let is = evaluate(&net, &state, &[]);
                    if is(net.terminal) {
                        break;
                    }
                    let (builder, role, wins) = &of_phase[ply % 2];
                    let facts = 0..net.facts.len();
                    let facts: Vec<u64> =
                        facts.map(|fact| u64::from(holds(&state, fact))).collect();
                    let values = builder.network().evaluate(&facts);
                    let legal = |role: usize| {
                        let legal = (0..net.legal[role].len()).filter(|&m| is(net.legal[role][m]));
                        legal.collect::<Vec<usize>>()
                    };
                    let joint = |chosen: usize| {
                        let joint = (0..2).map(|other| match other == *role {
                            true => chosen,
                            false => legal(other)[0],
                        });
                        joint.collect::<Vec<usize>>()
                    };
                    let moves = legal(*role);
                    for chosen in 0..net.legal[*role].len() {
                        let expected = moves.contains(&chosen) && {
                            let next = after(&net, &state, &joint(chosen));
                            let is = evaluate(&net, &next, &[]);
                            is(net.terminal) && is(best(*role))
                        };
                        let known = read(wins[chosen], &values) & 1 == 1;
                        assert!(expected || !known, "{state:?} {chosen}");
                        assert!(known == expected || !is_complete, "{state:?} {chosen}");
                        winning += usize::from(expected);
                        missed += usize::from(expected && !known);
                    }
                    let chosen = moves[random.random_range(0..moves.len())];
                    state = after(&net, &state, &joint(chosen));
                }
            }
            assert!(winning > 100 && (missed == 0) == is_complete);
        }
    }
}
