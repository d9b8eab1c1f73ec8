//! A proof that the game is over whenever certain goals hold.
//!
//! In: a game and a score. Out: true if it is proved, false if not. The body of each
//! goal rule is taken as all that is known about a state; `terminal` must follow from
//! it. If it does not follow directly, one condition is replaced by its definitions.

use ggp_stop::Stop;

use super::chase::{Chase, GaveUp, World};
use super::resolve::Body;
use crate::check::Keyword;
use crate::game::{Game, Score, parse_score};
use crate::program::reach::needed;
use crate::program::{Atom, Functor, Literal, RelationId, Rule, Shape, Term, Variable};
use crate::span::Span;
use crate::terms::{TermId, Terms};

/// Maximum number of bodies examined.
const MAX_BODIES: usize = 100;
/// Maximum number of matches tried for one body.
const WORK: u64 = 100_000;
/// Maximum depth to which definitions are unfolded.
const DEPTH: usize = 3;

/// True if a goal with these arguments can have a value of `target` or more.
pub(super) fn may_reward(game: &Game, arguments: &[Term], target: Score) -> bool {
    let Term::Ground(value) = arguments[1] else {
        return true;
    };
    let functor = game.functors().functor(game.terms().functor(value));
    functor.shape == Shape::Bare
        && parse_score(game.symbols().name(functor.name)).is_ok_and(|score| score >= target)
}

/// True if it is proved that every state in which some role has a goal of `target` or
/// more is terminal, from the conditions of that goal alone.
pub(super) fn goal_implies_terminal(game: &Game, target: Score, stop: &Stop) -> bool {
    let Some(goal) = game.keyword(Keyword::Goal) else {
        // Without goal rules no state has a goal.
        return true;
    };
    let Some(terminal) = game.keyword(Keyword::Terminal) else {
        return false;
    };
    let mut prover = Prover {
        game,
        terminal,
        needed: needed(game.rules(), [terminal]),
        terms: game.terms().clone(),
        bodies: 0,
        stop,
    };
    prover
        .rewards(target)
        .into_iter()
        .all(|value| prover.follows_from_goal(goal, value))
}

struct Prover<'g> {
    game: &'g Game,
    terminal: RelationId,
    /// By relation: true if `terminal` is derived from it.
    needed: Vec<bool>,
    terms: Terms,
    bodies: usize,
    stop: &'g Stop,
}

impl Prover<'_> {
    /// The terms of the rules that are scores of `target` or more.
    fn rewards(&mut self, target: Score) -> Vec<TermId> {
        let game = self.game;
        let is_reward = |functor: &Functor| {
            functor.shape == Shape::Bare
                && parse_score(game.symbols().name(functor.name)).is_ok_and(|s| s >= target)
        };
        let functors = game.functors().iter();
        let names: Vec<_> = functors
            .filter(|(_, functor)| is_reward(functor))
            .map(|(id, _)| id)
            .collect();
        names
            .into_iter()
            .filter_map(|name| self.terms.intern(name, &[]).ok())
            .collect()
    }

    /// True if `terminal` follows from every derivation of the goal value for some
    /// role.
    fn follows_from_goal(&mut self, goal: RelationId, value: TermId) -> bool {
        let atom = Atom {
            relation: goal,
            arguments: vec![Term::Variable(Variable::new(0)), Term::Ground(value)],
            span: Span::default(),
        };
        let body = Body {
            literals: vec![Literal::Positive(atom)],
            known: Vec::new(),
            variables: 1,
        };
        let ways = body.split(self.game, 0, MAX_BODIES, &mut self.terms);
        ways.is_some_and(|ways| ways.iter().all(|way| self.follows(way, DEPTH)))
    }

    fn follows(&mut self, body: &Body, depth: usize) -> bool {
        self.bodies += 1;
        if self.bodies > MAX_BODIES || self.stop.is_over() {
            return false;
        }
        if self.follows_at_once(body).unwrap_or(false) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        (0..body.literals.len()).any(|index| {
            // There is no use in more bodies than may be examined.
            let most = MAX_BODIES.saturating_sub(self.bodies);
            if most == 0 || self.stop.is_over() {
                return false;
            }
            let split = body.split(self.game, index, most, &mut self.terms);
            split.is_some_and(|bodies| bodies.iter().all(|body| self.follows(body, depth - 1)))
        })
    }

    fn follows_at_once(&self, body: &Body) -> Result<bool, GaveUp> {
        let rules = self.game.rules();
        let mut refuted = rustc_hash::FxHashSet::default();
        let mut apart = Vec::new();
        for literal in &body.literals {
            match literal {
                Literal::Negative(atom) => {
                    refuted.insert((atom.relation, atom.arguments.clone()));
                }
                Literal::Distinct(left, right, _) => apart.push((left.clone(), right.clone())),
                Literal::Positive(_) | Literal::Same(..) | Literal::Any(_) => {}
            }
        }
        let world = World::Open { refuted, apart };
        let mut chase = Chase::new(self.game, rules.arity.len(), world, WORK, self.stop);
        for fact in &rules.facts {
            if self.needed[fact.relation.index()] {
                let arguments = fact.arguments.iter().map(|t| Term::Ground(*t)).collect();
                chase.add(fact.relation, arguments);
            }
        }
        let positive = body.literals.iter().filter_map(|literal| match literal {
            Literal::Positive(atom) => Some(atom),
            _ => None,
        });
        for atom in positive.chain(&body.known) {
            chase.add(atom.relation, atom.arguments.clone());
        }
        let needed = |rule: &&Rule| self.needed[rule.head.relation.index()];
        chase.close(rules.rules.iter().filter(needed))?;
        Ok(!chase.of(self.terminal).is_empty())
    }
}
