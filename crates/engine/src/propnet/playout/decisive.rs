//! Moves that win at once, and moves that prevent the other role from doing so, as gates.
//!
//! In: a network, and the facts that are constant in each phase of playouts. Out: for a phase in
//! which one role chooses and each other role has a single move, the moves among which that role
//! chooses: those that win at once; failing these, those that remove a way in which the role
//! of the next phase could win if it were to move now; failing these, all legal moves. What
//! takes many gates to recognize is left out, so this is a preference and no proof.
//!
//! Source: Teytaud and Teytaud, "On the huge benefit of decisive moves in Monte-Carlo tree search
//! algorithms", 2010.

mod conditions;

use rustc_hash::FxHashSet;

use crate::propnet::Propnet;
use crate::propnet::network::{Builder, Literal, Network};
use crate::propnet::rewrite::{copy, copy_changes, live};
pub(super) use conditions::Allowance;
use conditions::{Condition, cheapest, disjuncts, needed};

/// The most nodes that are visited to find the conditions of a phase.
const MOST_VISITS: usize = 4_000_000;
/// The most gates that are made to find the winning moves of a phase. Of all known rule sets in
/// which such moves are found, none needs more than 100,658.
const MOST_GATES: usize = 200_000;
/// The most conditions of one move.
const MOST_CONDITIONS: usize = 1_024;

/// The winning moves of the role that chooses in a phase.
#[derive(Debug)]
pub(super) struct Wins {
    /// Its inputs are the facts.
    network: Network,
    live: Vec<bool>,
    role: usize,
    /// By move: true only if the move is legal, ends the game, and gives the role its best score.
    by_move: Vec<Literal>,
}

/// The winning moves that matter to the choice in a phase.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Tactics<'a> {
    /// The winning moves of the phase.
    pub own: Option<&'a Wins>,
    /// Those of the next phase, and the facts that are constant there.
    pub next: Option<(&'a Wins, &'a [Option<bool>])>,
    /// For moves that prevent these.
    pub most: Allowance,
}

/// A state in which one role chooses.
struct Chosen<'n> {
    net: &'n Propnet,
    role: usize,
    /// By role and move.
    legal: &'n [Vec<Literal>],
    /// By input of the network: its literal. The role that chooses makes no move; the others
    /// make their only one.
    inputs: Vec<Literal>,
    /// By node: whether the facts that are asked for depend on it.
    changes: Vec<bool>,
    /// By node of these: its literal if the role that chooses makes no move.
    unmoved: Vec<Literal>,
    /// The facts that are asked for.
    facts: Vec<usize>,
}

/// The role that chooses, if it is the only one and chance does not play it.
fn chooser(net: &Propnet, legal: &[Vec<Literal>]) -> Option<usize> {
    let is_possible = |legal: &&Literal| **legal != Literal::FALSE;
    let possible = |role: usize| legal[role].iter().filter(is_possible).count();
    let mut choosing = (0..legal.len()).filter(|&role| possible(role) > 1);
    let (role, other) = (choosing.next()?, choosing.next());
    let game = net.game();
    let is_chance = game
        .roles()
        .nth(role)
        .is_some_and(|role| game.is_random(role));
    let is_small = legal[role].len() * net.network.len() <= MOST_VISITS;
    let is_acyclic = net.network.regions().is_empty();
    (other.is_none() && !is_chance && is_small && is_acyclic).then_some(role)
}

impl<'n> Chosen<'n> {
    /// `facts`: by fact, its literal. `asked`: the facts that matter after the move.
    fn new(
        builder: &mut Builder,
        net: &'n Propnet,
        role: usize,
        facts: &[Literal],
        legal: &'n [Vec<Literal>],
        asked: Vec<usize>,
    ) -> Chosen<'n> {
        let mut inputs = facts[..net.facts.len()].to_vec();
        inputs.resize(net.network.inputs(), Literal::FALSE);
        for other in (0..legal.len()).filter(|&other| other != role) {
            for (index, &literal) in legal[other].iter().enumerate() {
                let is_made = literal != Literal::FALSE;
                inputs[net.move_input(other, index)] = Literal::FALSE.negated_if(is_made);
            }
        }
        let changes = live(&net.network, asked.iter().map(|&fact| net.next[fact]));
        Chosen {
            net,
            role,
            legal,
            unmoved: copy(&net.network, &changes, &inputs, builder),
            inputs,
            changes,
            facts: asked,
        }
    }

    /// The moves that may be legal.
    fn moves(&self) -> impl Iterator<Item = (usize, Literal)> + use<'n> {
        let legal = self.legal[self.role].iter().copied().enumerate();
        legal.filter(|&(_, legal)| legal != Literal::FALSE)
    }

    /// By fact: its literal if the role makes no move, as if it could, where it is asked for.
    fn without_move(&self) -> Vec<Literal> {
        self.facts_after(&self.unmoved)
    }

    /// By fact: its literal after a move, if it is asked for.
    fn after(&mut self, builder: &mut Builder, index: usize) -> Vec<Literal> {
        let (network, unmoved) = (&self.net.network, &self.unmoved);
        let input = self.net.move_input(self.role, index);
        self.inputs[input] = Literal::TRUE;
        let became = copy_changes(network, &self.changes, unmoved, &self.inputs, builder);
        self.inputs[input] = Literal::FALSE;
        self.facts_after(&became)
    }

    fn facts_after(&self, became: &[Literal]) -> Vec<Literal> {
        let mut after = vec![Literal::FALSE; self.net.network.inputs()];
        for &fact in &self.facts {
            after[fact] = of(became, self.net.next[fact]);
        }
        after
    }
}

impl Wins {
    /// The winning moves of a phase. `constants`: by fact, its value if it is constant. The
    /// conditions take at most `most` gates; `None` without any, or if it takes too many gates to
    /// find them.
    pub fn find(net: &Propnet, constants: &[Option<bool>], most: Allowance) -> Option<Wins> {
        let network = &net.network;
        let mut builder = Builder::new(net.facts.len());
        let facts = (0..net.facts.len()).map(|fact| builder.input(fact));
        let mut inputs = with_constants(&facts.collect::<Vec<Literal>>(), constants);
        inputs.resize(network.inputs(), Literal::FALSE);
        let roots = net.legal.iter().flatten().copied().chain([net.terminal]);
        let seen = copy(network, &live(network, roots), &inputs, &mut builder);
        let legal = net.legal.iter();
        let legal = legal.map(|legal| legal.iter().map(|&legal| of(&seen, legal)).collect());
        let legal: Vec<Vec<Literal>> = legal.collect();
        let role = chooser(net, &legal)?;
        let best = best(net, role)?;
        let ends = live(network, [net.terminal, best]);
        let is_read = |fact: &usize| ends[network.input(*fact).node()];
        let asked = (0..net.facts.len()).filter(is_read).collect();
        // No game is over where a role still chooses.
        let terminal = of(&seen, net.terminal);
        let refuted = disjuncts(builder.network(), terminal);
        let all = legal.iter().flatten().copied().chain([terminal]);
        let none = FxHashSet::default();
        let (known, _) = needed(builder.network(), all, &none, usize::MAX);
        let mut chosen = Chosen::new(&mut builder, net, role, &inputs, &legal, asked);
        let unmoved = copy(network, &ends, &chosen.without_move(), &mut builder);
        let mut conditions = Vec::new();
        for (index, is_legal) in chosen.moves() {
            let after = chosen.after(&mut builder, index);
            let became = copy_changes(network, &ends, &unmoved, &after, &mut builder);
            let alternatives = |builder: &Builder, old: Literal| {
                let found = disjuncts(builder.network(), of(&became, old));
                let mut found: Vec<Literal> = found.difference(&refuted).copied().collect();
                found.sort_unstable();
                found
            };
            let over = alternatives(&builder, net.terminal);
            let wins = alternatives(&builder, best);
            if builder.network().gates() > MOST_GATES {
                return None;
            }
            if over.len().max(wins.len()) > MOST_CONDITIONS {
                continue;
            }
            for wins in wins {
                let over = match over.binary_search(&wins) {
                    Ok(_) => Literal::TRUE,
                    Err(_) => builder.or(&over),
                };
                let literal = builder.and(&[is_legal, over, wins]);
                conditions.push(Condition { index, literal });
            }
        }
        let count = legal[role].len();
        let by_move = cheapest(&mut builder, conditions, known, count, most)?;
        // What the conditions do not need is left out.
        let mut compact = Builder::new(net.facts.len());
        let facts = (0..net.facts.len()).map(|fact| compact.input(fact));
        let facts: Vec<Literal> = facts.collect();
        let whole = builder.network();
        let needed = live(whole, by_move.iter().copied());
        let became = copy(whole, &needed, &facts, &mut compact);
        let by_move: Vec<Literal> = by_move.iter().map(|&wins| of(&became, wins)).collect();
        let network = compact.into_network();
        Some(Wins {
            live: live(&network, by_move.iter().copied()),
            network,
            role,
            by_move,
        })
    }

    /// By node: its literal where the facts are these literals.
    fn copy(&self, facts: &[Literal], builder: &mut Builder) -> Vec<Literal> {
        copy(&self.network, &self.live, facts, builder)
    }

    /// As [`Wins::copy`], given its result for other facts.
    fn copy_changes(
        &self,
        before: &[Literal],
        facts: &[Literal],
        builder: &mut Builder,
    ) -> Vec<Literal> {
        copy_changes(&self.network, &self.live, before, facts, builder)
    }

    /// By move: whether it wins, given the literals of nodes.
    fn moves<'b>(&'b self, became: &'b [Literal]) -> impl Iterator<Item = Literal> + 'b {
        self.by_move.iter().map(|&wins| of(became, wins))
    }
}

impl Tactics<'_> {
    /// The moves among which the role that chooses does so, with the number of the role. `facts`:
    /// by fact, its literal. `legal`: by role and move.
    pub fn preferred(
        &self,
        net: &Propnet,
        builder: &mut Builder,
        facts: &[Literal],
        legal: &[Vec<Literal>],
    ) -> Option<(usize, Vec<Literal>)> {
        if self.own.is_none() && self.next.is_none() {
            return None;
        }
        let role = chooser(net, legal)?;
        let mut moves = legal[role].clone();
        if let Some(answers) = self.answers(net, builder, role, facts, legal) {
            moves = prefer(builder, &moves, &answers);
        }
        if let Some(own) = self.own {
            let became = own.copy(&facts[..net.facts.len()], builder);
            let wins: Vec<Literal> = own.moves(&became).collect();
            moves = prefer(builder, &moves, &wins);
        }
        Some((role, moves))
    }

    /// By move: whether it removes a way in which the role of the next phase could win if it
    /// were to move now.
    fn answers(
        &self,
        net: &Propnet,
        builder: &mut Builder,
        role: usize,
        facts: &[Literal],
        legal: &[Vec<Literal>],
    ) -> Option<Vec<Literal>> {
        let (threats, constants) = self.next.filter(|(threats, _)| threats.role != role)?;
        let facts = &facts[..net.facts.len()];
        let now = threats.copy(&with_constants(facts, constants), builder);
        let now: Vec<Literal> = threats.moves(&now).collect();
        let is_read = |fact: &usize| threats.live[threats.network.input(*fact).node()];
        let asked = (0..facts.len()).filter(is_read).collect();
        let all = legal.iter().flatten().copied();
        let none = FxHashSet::default();
        let (known, _) = needed(builder.network(), all, &none, usize::MAX);
        let mut chosen = Chosen::new(builder, net, role, facts, legal, asked);
        let unmoved = with_constants(&chosen.without_move()[..facts.len()], constants);
        let unmoved = threats.copy(&unmoved, builder);
        let mut conditions = Vec::new();
        for (index, is_legal) in chosen.moves() {
            let after = chosen.after(builder, index);
            let after = with_constants(&after[..facts.len()], constants);
            let became = threats.copy_changes(&unmoved, &after, builder);
            for (&threat, later) in now.iter().zip(threats.moves(&became)) {
                if threat != later {
                    let literal = builder.and(&[is_legal, threat, !later]);
                    conditions.push(Condition { index, literal });
                }
            }
        }
        cheapest(builder, conditions, known, legal[role].len(), self.most)
    }
}

/// The literal of an old one.
fn of(became: &[Literal], old: Literal) -> Literal {
    became[old.node()].negated_if(old.is_negated())
}

/// Facts, with those that are constant in a phase replaced by their values.
fn with_constants(facts: &[Literal], constants: &[Option<bool>]) -> Vec<Literal> {
    let both = facts.iter().zip(constants);
    let replaced = both.map(|(&fact, constant)| match constant {
        Some(value) => Literal::FALSE.negated_if(*value),
        None => fact,
    });
    replaced.collect()
}

/// The goal with the best score of a role.
fn best(net: &Propnet, role: usize) -> Option<Literal> {
    let (game, terms) = (net.game(), net.terms());
    let scored = net.goals[role]
        .iter()
        .filter_map(|&(value, literal)| Some((game.score(&terms, value).ok()?.get(), literal)));
    Some(scored.max_by_key(|(score, _)| *score)?.1)
}

/// The better ones of these moves, if there are any, otherwise all.
fn prefer(builder: &mut Builder, moves: &[Literal], better: &[Literal]) -> Vec<Literal> {
    let any = builder.or(better);
    let both = moves.iter().zip(better);
    let stays = both.map(|(&possible, &better)| {
        let otherwise = builder.and(&[possible, !any]);
        builder.or(&[better, otherwise])
    });
    stays.collect()
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

    /// The numbers of literals that hold in a state.
    fn holding(network: &Network, literals: &[Literal], state: &[u64]) -> Vec<usize> {
        let facts = (0..network.inputs()).map(|fact| u64::from(holds(state, fact)));
        let values = network.evaluate(&facts.collect::<Vec<u64>>());
        let all = (0..literals.len()).filter(|&index| read(literals[index], &values) & 1 == 1);
        all.collect()
    }

    /// A state with its answers by the network.
    struct Oracle<'n> {
        net: &'n Propnet,
        best: [Literal; 2],
    }

    impl Oracle<'_> {
        fn legal(&self, state: &[u64], role: usize) -> Vec<usize> {
            let is = evaluate(self.net, state, &[]);
            let legal = &self.net.legal[role];
            (0..legal.len()).filter(|&index| is(legal[index])).collect()
        }

        fn is_over(&self, state: &[u64]) -> bool {
            evaluate(self.net, state, &[])(self.net.terminal)
        }

        /// The state after a move of the role whose turn it is.
        fn after(&self, state: &[u64], role: usize, chosen: usize) -> Packed {
            let joint = (0..2).map(|other| match other == role {
                true => chosen,
                false => self.legal(state, other)[0],
            });
            after(self.net, state, &joint.collect::<Vec<usize>>())
        }

        fn wins(&self, state: &[u64], role: usize) -> Vec<usize> {
            let wins = |chosen: &usize| {
                let next = self.after(state, role, *chosen);
                self.is_over(&next) && evaluate(self.net, &next, &[])(self.best[role])
            };
            self.legal(state, role).into_iter().filter(wins).collect()
        }

        /// The moves among which a role is to choose.
        fn preferred(&self, state: &[u64], role: usize, turned: &[u64]) -> Vec<usize> {
            let wins = self.wins(state, role);
            let threats = self.wins(turned, 1 - role);
            let prevents = |chosen: &usize| {
                let later = self.wins(&self.after(state, role, *chosen), 1 - role);
                threats.iter().any(|threat| !later.contains(threat))
            };
            let legal = self.legal(state, role);
            let answers: Vec<usize> = legal.iter().copied().filter(prevents).collect();
            match (wins.is_empty(), answers.is_empty()) {
                (false, _) => wins,
                (true, false) => answers,
                (true, true) => legal,
            }
        }
    }

    #[test]
    fn moves_that_win_at_once_or_prevent_it_are_preferred() {
        let net = net();
        let [_, phases] = Phases::find(&net, &net.initial, 8);
        assert_eq!(phases.len(), 2);
        let oracle = Oracle {
            net: &net,
            best: [0, 1].map(|role| best(&net, role).expect("a role can win")),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for (each, all, is_complete) in [(32, 10_000, true), (32, 12, false), (1, 10_000, false)] {
            let most = Allowance { each, all };
            let wins: Vec<Wins> = phases
                .values
                .iter()
                .map(|constants| Wins::find(&net, constants, most).expect("moves can win"))
                .collect();
            let preferred: Vec<(Builder, Vec<Literal>)> = (0..2)
                .map(|phase| {
                    let mut builder = Builder::new(net.facts.len());
                    let facts = (0..net.facts.len()).map(|fact| builder.input(fact));
                    let facts: Vec<Literal> = facts.collect();
                    let mut inputs = with_constants(&facts, &phases.values[phase]);
                    inputs.resize(net.network.inputs(), Literal::FALSE);
                    let roots = net.legal.iter().flatten().copied();
                    let live = live(&net.network, roots);
                    let seen = copy(&net.network, &live, &inputs, &mut builder);
                    let legal = net.legal.iter();
                    let legal = legal.map(|legal| legal.iter().map(|&l| of(&seen, l)).collect());
                    let legal: Vec<Vec<Literal>> = legal.collect();
                    let tactics = Tactics {
                        own: Some(&wins[phase]),
                        next: Some((&wins[1 - phase], &phases.values[1 - phase])),
                        most,
                    };
                    let found = tactics.preferred(&net, &mut builder, &inputs, &legal);
                    let (role, moves) = found.expect("one role chooses");
                    assert_eq!(role, phase);
                    (builder, moves)
                })
                .collect();
            let (mut winning, mut restricted, mut missed) = (0, 0, 0);
            for _ in 0..200 {
                let mut state: Packed = pack(net.initial.iter().copied());
                for ply in 0.. {
                    if oracle.is_over(&state) {
                        break;
                    }
                    let role = ply % 2;
                    let known = holding(&wins[role].network, &wins[role].by_move, &state);
                    let expected = oracle.wins(&state, role);
                    assert!(known.iter().all(|chosen| expected.contains(chosen)));
                    winning += expected.len();
                    missed += expected.len() - known.len();
                    let legal = oracle.legal(&state, role);
                    let (builder, moves) = &preferred[role];
                    let moves = holding(builder.network(), moves, &state);
                    assert!(!moves.is_empty());
                    assert!(moves.iter().all(|chosen| legal.contains(chosen)));
                    if is_complete {
                        let mut turned = state.clone();
                        for (fact, value) in phases.values[1 - role].iter().enumerate() {
                            if let Some(value) = value {
                                turned[fact / 64] &= !(1 << (fact % 64));
                                turned[fact / 64] |= u64::from(*value) << (fact % 64);
                            }
                        }
                        let expected = oracle.preferred(&state, role, &turned);
                        assert_eq!(moves, expected, "{state:?}");
                        restricted += usize::from(moves.len() < legal.len());
                    }
                    let chosen = legal[random.random_range(0..legal.len())];
                    state = oracle.after(&state, role, chosen);
                }
            }
            assert!(winning > 100 && (missed == 0) == is_complete);
            assert!(restricted > 100 || !is_complete);
        }
    }
}
