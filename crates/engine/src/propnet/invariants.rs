//! Facts that exclude each other: a cell has one value, a counter one number.
//!
//! In: a network. Out: groups of facts of which at most one, or exactly one, is
//! true in every reachable state. A group consists of all facts of one functor that
//! agree in some of their arguments, or all facts of several functors. Candidates
//! are groups that hold in the states of a few playouts. All candidates are proved
//! together by induction: a SAT solver searches for a state in which they hold, and
//! legal moves after which one does not. Violated candidates are dropped until the
//! solver finds nothing.
//!
//! Source: candidates and mutual induction as in Flanagan and Leino, Houdini, an
//! annotation assistant for ESC/Java (2001); groups as in Helmert, Concise
//! finite-domain representations for PDDL planning tasks (2009).

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Propnet;
use super::clauses::{Clauses, Frame};
use ggp_gdl::terms::{TermId, Terms};
use ggp_stop::Stop;

/// Facts of which at most one is true.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exclusive {
    /// Their indexes in [`Propnet::facts`], ascending.
    pub facts: Vec<usize>,
    /// True if one of them always is.
    pub exact: bool,
}

/// The maximum number of arguments considered.
const MOST_COLUMNS: usize = 8;
/// The maximum number of groupings per functor that are tried one after the other.
const MOST_GROUPINGS: usize = 4;
/// The nodes of the network, times the queries to the solver.
const EFFORT: usize = 100_000;
/// The minimum number of queries for which the analysis is tried.
const MIN_QUERIES: usize = 50;
/// The maximum number of conflicts for all groups together, in small networks and in others.
const CONFLICTS: (i32, i32) = (500, 150);
/// The maximum number of gates of a small network.
const SMALL: usize = 2_000;
/// The maximum number of conflicts for one group alone.
const CONFLICTS_ALONE: i32 = 60;

/// Groups of facts that exclude each other in every reachable state. The candidates
/// are derived from states of [`sample`](super::sample). Empty for a network that
/// is too large to analyse, and fewer than there are after a stop. The effort is `times` the usual one.
pub(super) fn exclusive(
    net: &Propnet,
    states: &[Vec<u64>],
    times: u16,
    stop: &Stop,
) -> Vec<Exclusive> {
    if !is_analysed(net, times) || stop.is_over() {
        return Vec::new();
    }
    let mut queries = queries(net, times);
    let mut groupings = candidates(net, states);
    // Writing the clauses takes long, and many games have no candidates.
    let mut induction = None;
    let mut proved: Vec<Exclusive> = Vec::new();
    for _ in 0..MOST_GROUPINGS {
        let mut groups = proved.clone();
        groups.extend(groupings.iter_mut().filter_map(Vec::pop).flatten());
        if groups.len() == proved.len() {
            break;
        }
        let induction = induction.get_or_insert_with(|| Induction::new(net, times, stop));
        let Some(more) = induction.prove(groups, &mut queries) else {
            break;
        };
        proved = more;
        // Facts in a proved group are complete.
        let mut done = vec![false; net.facts.len()];
        proved
            .iter()
            .flat_map(|group| &group.facts)
            .for_each(|&fact| done[fact] = true);
        groupings.retain(|groupings| {
            let mut facts = groupings.iter().flatten().flat_map(|group| &group.facts);
            !facts.any(|&fact| done[fact])
        });
    }
    proved.sort_by(|a, b| a.facts.cmp(&b.facts));
    proved
}

/// The maximum number of queries to the solver with `times` the usual effort.
fn queries(net: &Propnet, times: u16) -> usize {
    usize::from(times) * EFFORT / net.network.len()
}

/// True if a network is small enough for [`exclusive`] to analyse it.
pub(super) fn is_analysed(net: &Propnet, times: u16) -> bool {
    queries(net, times) >= MIN_QUERIES
}

/// By functor: groupings of its facts that hold in all states of a few playouts;
/// the last is tried first.
fn candidates(net: &Propnet, states: &[Vec<u64>]) -> Vec<Vec<Vec<Exclusive>>> {
    let terms = net.terms();
    let mut by_functor: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for (fact, &term) in net.facts.iter().enumerate() {
        by_functor
            .entry(terms.functor(term))
            .or_default()
            .push(fact);
    }
    let mut by_functor: Vec<Vec<usize>> = by_functor.into_values().collect();
    by_functor.sort_unstable();
    // If only one fact of each functor is true at a time, the functors may exclude
    // each other.
    let mut merged: Vec<Exclusive> = Vec::new();
    let mut all = Vec::new();
    for facts in by_functor {
        if let Some(whole) = excluding(states, &facts) {
            let joined = merged.iter_mut().find_map(|group| {
                let facts = [group.facts.as_slice(), &facts].concat();
                excluding(states, &facts).map(|joined| *group = joined)
            });
            if joined.is_none() {
                merged.push(whole);
            }
        }
        all.push(groupings(net, &terms, states, &facts));
    }
    merged.retain(|group| group.facts.len() > 1);
    all.push(vec![merged]);
    all
}

/// The groupings of the facts of one functor; the last is the one with the fewest
/// groups.
fn groupings(
    net: &Propnet,
    terms: &Terms,
    states: &[Vec<u64>],
    facts: &[usize],
) -> Vec<Vec<Exclusive>> {
    let arity = terms.arguments(net.facts[facts[0]]).len();
    let mut columns: Vec<u32> = (1..1 << arity.min(MOST_COLUMNS)).collect();
    columns.sort_by_key(|columns| columns.count_ones());
    let mut least: Vec<(u32, Vec<Exclusive>)> = Vec::new();
    let mut others = Vec::new();
    for columns in columns {
        let mut groups: FxHashMap<Vec<TermId>, Vec<usize>> = FxHashMap::default();
        for &fact in facts {
            let arguments = terms.arguments(net.facts[fact]).iter().enumerate();
            let shared = arguments.filter(|(column, _)| columns & 1 << column != 0);
            let shared = shared.map(|(_, argument)| *argument).collect();
            groups.entry(shared).or_default().push(fact);
        }
        let groups = groups.values().filter(|facts| facts.len() > 1);
        let groups: Option<Vec<Exclusive>> = groups.map(|facts| excluding(states, facts)).collect();
        if let Some(groups) = groups
            && !groups.is_empty()
        {
            match least.iter().any(|(fewer, _)| fewer & !columns == 0) {
                true => others.push(groups),
                false => least.push((columns, groups)),
            }
        }
    }
    others.reverse();
    others.push(least.into_iter().flat_map(|(_, groups)| groups).collect());
    others
}

/// A group, if at most one of the facts is true in each of the states.
fn excluding(states: &[Vec<u64>], facts: &[usize]) -> Option<Exclusive> {
    let mut exact = true;
    for state in states {
        let (mut one, mut two) = (0, 0);
        for &fact in facts {
            two |= one & state[fact];
            one |= state[fact];
        }
        if two != 0 {
            return None;
        }
        exact &= one == u64::MAX;
    }
    let mut facts = facts.to_vec();
    facts.sort_unstable();
    Some(Exclusive { facts, exact })
}

/// A state, legal moves, and the state after them.
struct Induction {
    clauses: Clauses,
    now: Vec<i32>,
    next: Vec<i32>,
    /// The maximum number of conflicts for all groups together.
    conflicts: i32,
    /// The maximum number for one group alone.
    conflicts_alone: i32,
    stop: Stop,
}

impl Induction {
    fn new(net: &Propnet, times: u16, stop: &Stop) -> Self {
        let mut clauses = Clauses::for_short_questions();
        clauses.set_stop(stop);
        let inputs: Vec<i32> = (0..net.network.inputs())
            .map(|_| clauses.variable())
            .collect();
        let mut frame = Frame::new(&net.network, &inputs, &clauses);
        for &(fact, equal) in &net.assumed {
            let equal = frame.literal(equal, &mut clauses);
            clauses.add(&[inputs[fact], -equal]);
            clauses.add(&[-inputs[fact], equal]);
        }
        for (role, legal) in net.legal.iter().enumerate() {
            let mut moves = Vec::with_capacity(legal.len());
            for (number, &legal) in legal.iter().enumerate() {
                let chosen = inputs[net.move_input(role, number)];
                let legal = frame.literal(legal, &mut clauses);
                clauses.add(&[-chosen, legal]);
                moves.push(chosen);
            }
            let (one, two) = clauses.one_and_two(&moves);
            clauses.add(&[one]);
            clauses.add(&[-two]);
        }
        let next = &net.next;
        let next = next.iter().map(|&next| frame.literal(next, &mut clauses));
        let next = next.collect();
        let now = inputs[..net.facts.len()].to_vec();
        let conflicts = match net.network.gates() <= SMALL {
            true => CONFLICTS.0,
            false => CONFLICTS.1,
        };
        let times = i32::from(times);
        Induction {
            clauses,
            now,
            next,
            conflicts: times * conflicts,
            conflicts_alone: times * CONFLICTS_ALONE,
            stop: stop.clone(),
        }
    }

    /// The groups that prove each other, or `None` if that takes too many queries or is
    /// stopped.
    fn prove(&mut self, groups: Vec<Exclusive>, queries: &mut usize) -> Option<Vec<Exclusive>> {
        let mut open: Vec<Claim> = groups.into_iter().map(|group| self.claim(group)).collect();
        let mut together = true;
        loop {
            if self.stop.is_over() {
                return None;
            }
            let assumed: Vec<i32> = open.iter().flat_map(Claim::assumed).collect();
            *queries = queries.checked_sub(if together { 1 } else { open.len() })?;
            if together {
                let broken: Vec<i32> = open.iter().map(Claim::broken).collect();
                let mut assumptions = assumed.clone();
                assumptions.push(self.clauses.any(&broken));
                match self.clauses.solve(&assumptions, self.conflicts) {
                    Some(false) => break,
                    Some(true) => open.retain_mut(|claim| claim.survives(&self.clauses)),
                    None => together = false,
                }
                continue;
            }
            let alone = self.conflicts_alone;
            let proved = |claim: &Claim| {
                let mut assumptions = assumed.clone();
                assumptions.push(claim.broken());
                self.clauses.solve(&assumptions, alone) == Some(false)
            };
            let proved: Vec<bool> = open.iter().map(proved).collect();
            if !proved.contains(&false) {
                break;
            }
            let mut proved = proved.into_iter();
            open.retain_mut(|claim| proved.next().expect("one for each") || claim.weaken());
        }
        Some(open.into_iter().map(|claim| claim.group).collect())
    }

    fn claim(&mut self, group: Exclusive) -> Claim {
        let of = |variables: &[i32]| -> Vec<i32> {
            group.facts.iter().map(|&fact| variables[fact]).collect()
        };
        let (now, next) = (of(&self.now), of(&self.next));
        let now = self.clauses.one_and_two(&now);
        let next = self.clauses.one_and_two(&next);
        let inexact = self.clauses.any(&[-next.0, next.1]);
        Claim {
            group,
            now,
            next,
            inexact,
        }
    }
}

/// The claim that facts exclude each other, now and next.
struct Claim {
    group: Exclusive,
    /// The variables for "at least one is true" and "at least two are".
    now: (i32, i32),
    next: (i32, i32),
    /// The variable for "none or at least two are true next".
    inexact: i32,
}

impl Claim {
    fn assumed(&self) -> impl Iterator<Item = i32> {
        let one = self.group.exact.then_some(self.now.0);
        [-self.now.1].into_iter().chain(one)
    }

    fn broken(&self) -> i32 {
        match self.group.exact {
            true => self.inexact,
            false => self.next.1,
        }
    }

    /// Weakens the claim, if possible.
    fn weaken(&mut self) -> bool {
        std::mem::replace(&mut self.group.exact, false)
    }

    /// Weakens the claim to what the model satisfies; returns false if nothing
    /// remains.
    fn survives(&mut self, model: &Clauses) -> bool {
        if model.holds(self.next.1) {
            return false;
        }
        self.group.exact &= model.holds(self.next.0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propnet::GroundLimits;
    use crate::propnet::sample::sample;
    use ggp_gdl::game::Game;

    fn ground(text: &str) -> Propnet {
        let game = Game::from_text("test.kif", text).expect("the rules are valid");
        Propnet::ground(&game, &GroundLimits::default())
            .expect("it is small")
            .0
    }

    /// The groups of a game's network, each as its facts, `!` before exact ones.
    fn groups(text: &str) -> Vec<String> {
        let net = ground(text);
        let game = &net.game;
        let terms = net.terms();
        let shown = |group: &Exclusive| {
            let fact = |&fact: &usize| game.text(&terms, net.facts[fact]);
            let mut facts: Vec<String> = group.facts.iter().map(fact).collect();
            facts.sort();
            let exact = if group.exact { "!" } else { "" };
            format!("{exact}{}", facts.join(" "))
        };
        let stop = Stop::new();
        let states = sample(&net, &stop);
        let mut shown: Vec<String> = exclusive(&net, &states, 1, &stop)
            .iter()
            .map(shown)
            .collect();
        shown.sort();
        shown
    }

    #[test]
    fn groups_preserved_by_moves_are_proved() {
        let rules = "
            (role r) (init (at 1)) (init (seen 1)) (init (lamp a off)) (init (lamp b off))
            (next-to 1 2) (next-to 2 3) (next-to 3 1)
            (<= (legal r (go ?y)) (true (at ?x)) (next-to ?x ?y))
            (<= (legal r (flip ?l)) (true (lamp ?l ?v)))
            (other on off) (other off on)
            (<= (next (at ?x)) (does r (go ?x)))
            (<= (next (at ?x)) (true (at ?x)) (does r (flip ?l)))
            (<= (next (seen ?x)) (true (seen ?x)))
            (<= (next (seen ?x)) (does r (go ?x)))
            (<= (next (lamp ?l ?w)) (does r (flip ?l)) (true (lamp ?l ?v)) (other ?v ?w))
            (<= (next (lamp ?l ?v)) (true (lamp ?l ?v)) (not (does r (flip ?l))))
            (<= terminal (true (seen 3)))
            (<= (goal r 100) (true (at 3)))";
        assert_eq!(
            groups(rules),
            [
                "!(at 1) (at 2) (at 3)",
                "!(lamp a off) (lamp a on)",
                "!(lamp b off) (lamp b on)",
            ]
        );
    }

    #[test]
    fn groups_violated_only_late_are_not_claimed() {
        // Only 30 `up` in a row light a second lamp, or remove the last token: no
        // short playout shows either.
        let mut rules = String::from(
            "(role r) (init (n 0)) (init (lamp a)) (init (token a))
             (legal r up) (legal r down) (legal r stay)
             (<= (next (n 0)) (not (does r up)))
             (<= (next (lamp a)) (true (lamp a)))
             (<= (next (lamp b)) (true (n 30)))
             (<= (next (token a)) (true (token a)) (not (true (n 30))))
             (<= (next (token b)) (true (token b)))
             (<= (next (token b)) (true (lamp c)))
             (<= terminal (true (n 31)))
             (<= (goal r 100) (true (lamp b)))
             (<= (next (n ?y)) (does r up) (true (n ?x)) (after ?x ?y))",
        );
        for number in 0..31 {
            rules.push_str(&format!("(after {number} {})", number + 1));
        }
        let found = groups(&rules);
        let numbers = found
            .iter()
            .filter(|group| group.contains("(n 30)"))
            .count();
        assert_eq!(numbers, 1, "{found:?}");
        assert!(
            !found.iter().any(|group| group.contains("lamp")),
            "{found:?}"
        );
        assert!(
            !found.iter().any(|group| group.contains("token")),
            "{found:?}"
        );
    }

    #[test]
    fn most_values_of_a_cell_become_the_negation_of_the_others() {
        let mut net = ground(
            "(role r) (init (at a)) (place a) (place b) (place c) (place d)
             (<= (legal r (go ?y)) (place ?y) (not (true (at ?y))))
             (<= (next (at ?y)) (does r (go ?y)))
             (<= away (true (at b))) (<= away (true (at c))) (<= away (true (at d)))
             (<= terminal away) (<= (goal r 100) away)",
        );
        net.simplify();
        let away = !net.network.input(0);
        assert_eq!(net.terminal, away);
        // A state that is not reachable is not covered by the network.
        assert!(net.admits(&[false, true, false, false]));
        assert!(!net.admits(&[false, true, true, false]));
        assert!(!net.admits(&[false; 4]));
    }
}
