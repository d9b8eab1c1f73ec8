//! The propositional network of a game, evaluated for hundreds of positions at
//! once.
//!
//! In: a game's rules, grounded. Out: a literal for every fact that may ever hold
//! (its next value), for every move (its legality), for the terminal condition and
//! for every goal value, all as gates of one [`network::Network`].

pub mod batch;
#[cfg(feature = "cache")]
mod cache;
#[cfg(not(feature = "cache"))]
#[path = "propnet/no_cache.rs"]
mod cache;
#[doc(hidden)]
pub mod clauses;
pub mod code;
mod constants;
mod cycles;
mod dead_gates;
mod decompose;
pub mod differential;
mod equivalence;
mod factor;
mod free_columns;
pub mod function_graph;
mod grounding;
mod grounding_methods;
mod interpret;
mod invariants;
pub mod lanes;
#[cfg(all(target_arch = "x86_64", feature = "jit"))]
mod native;
mod nested_columns;
pub mod network;
mod passes;
pub mod perft;
pub mod playout;
mod possible;
mod relax;
pub mod rewrite;
pub mod rollouts;
mod sample;
pub mod select;
mod shape;
pub mod streams;
pub mod tape;
mod unique_values;
mod used_rows;
#[cfg(any(test, all(target_family = "wasm", feature = "jit")))]
mod webassembly;

pub use cache::NetworkCache;
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::{TermId, Terms};
pub use grounding_methods::{Approach, GroundError, GroundLimits, Grounded, Rewrites};
pub use invariants::Exclusive;
use network::{Builder, Literal, Network, Node};
pub use passes::{Pass, Passes, UsefulPasses};
pub use possible::possible_facts;

/// A game as a network of gates.
///
/// The first inputs of the network are the facts, in the order of
/// [`Propnet::facts`]. The moves follow, role by role, in the order of
/// [`Propnet::moves`].
#[derive(Clone, Debug)]
pub struct Propnet {
    pub(crate) game: Game,
    pub(crate) network: Network,
    pub(crate) facts: Vec<TermId>,
    pub(crate) moves: Vec<Vec<Move>>,
    pub(crate) initial: Vec<bool>,
    pub(crate) next: Vec<Literal>,
    pub(crate) legal: Vec<Vec<Literal>>,
    pub(crate) terminal: Literal,
    pub(crate) goals: Vec<Vec<(TermId, Literal)>>,
    pub(crate) assumed: Vec<(usize, Literal)>,
    pub(crate) exclusive: Vec<Exclusive>,
}

impl Propnet {
    /// Grounds a game.
    ///
    /// # Errors
    ///
    /// [`GroundError`] if a limit is exceeded or grounding is interrupted.
    pub fn ground(game: &Game, limits: &GroundLimits) -> Result<(Propnet, Grounded), GroundError> {
        grounding_methods::ground(game, limits)
    }

    /// Grounds a game and simplifies its network, or takes it from [`GroundLimits::cache`].
    ///
    /// # Errors
    ///
    /// As [`Propnet::ground`].
    pub fn simplified(game: &Game, limits: &GroundLimits) -> Result<Propnet, GroundError> {
        let mut limits = limits.clone();
        if let Some(useful) = &limits.useful {
            limits.passes = useful.among(limits.passes);
        }
        let limits = &limits;
        let make = || {
            let (mut net, _) = Propnet::ground(game, limits)?;
            let done = net.simplify_until(limits.passes, &limits.stop);
            if let Some(useful) = limits.useful.as_ref().filter(|_| !limits.stop.is_over()) {
                useful.note(&net, &done);
            }
            Ok(net)
        };
        match &limits.cache {
            Some(cache) => cache.outcome(game, limits, true, make),
            None => make(),
        }
    }

    /// The simplified network of a game in which nobody has a goal, without the rules that only goals
    /// need, or that of an earlier run from [`GroundLimits::cache`].
    ///
    /// # Errors
    ///
    /// As [`Propnet::ground`].
    pub(crate) fn without_goals(
        game: &Game,
        limits: &GroundLimits,
    ) -> Result<Propnet, GroundError> {
        let make = || {
            let (mut net, _) = grounding_methods::ground_without_goals(game, limits)?;
            net.simplify_until(limits.passes, &limits.stop);
            Ok(net)
        };
        match &limits.cache {
            Some(cache) => cache.outcome(game, limits, false, make),
            None => make(),
        }
    }

    /// The simplified network of a game, if an earlier run left it in [`GroundLimits::cache`].
    pub fn kept(game: &Game, limits: &GroundLimits) -> Option<Propnet> {
        limits.cache.as_ref()?.kept(game, limits)
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// All gates.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Every fact that may ever be true, ordered by [`Game::compare_terms`].
    pub fn facts(&self) -> &[TermId] {
        &self.facts
    }

    /// By role: every move that may ever be legal, ordered by
    /// [`Game::compare_terms`].
    pub fn moves(&self) -> &[Vec<Move>] {
        &self.moves
    }

    /// By fact: true if the fact is true in the initial state.
    pub fn initial(&self) -> &[bool] {
        &self.initial
    }

    /// By fact: true if the fact is true after the joint move. Depends on facts and
    /// moves.
    pub fn next(&self) -> &[Literal] {
        &self.next
    }

    /// By role and move: true if the move is legal. Depends on facts only.
    pub fn legal(&self) -> &[Vec<Literal>] {
        &self.legal
    }

    /// True if the game is over. Depends on facts only.
    pub fn terminal(&self) -> Literal {
        self.terminal
    }

    /// By role: each goal value as the rules write it, and the condition under
    /// which the role gets it. Depends on facts only.
    pub fn goals(&self) -> &[Vec<(TermId, Literal)>] {
        &self.goals
    }

    /// By role: whether it is chance.
    pub(crate) fn chance(&self) -> Vec<bool> {
        let roles = self.game.roles();
        roles.map(|role| self.game.is_random(role)).collect()
    }

    /// Facts that equal a constant or another fact in every reachable state, each
    /// with that constant or fact. The gates rely on these equalities. They hold in
    /// the initial state and every move of [`Propnet::moves`] preserves them; a
    /// state from outside must be checked with [`Propnet::admits`].
    pub fn assumed(&self) -> &[(usize, Literal)] {
        &self.assumed
    }

    /// Groups of facts that exclude each other in every reachable state. The gates
    /// rely on them too.
    pub fn exclusive(&self) -> &[Exclusive] {
        &self.exclusive
    }

    /// Replaces the initial state.
    #[doc(hidden)]
    pub fn set_initial(&mut self, initial: Vec<bool>) {
        assert_eq!(initial.len(), self.facts.len());
        self.initial = initial;
    }

    /// Makes all other facts false in every state. No fact that is kept may depend on them, nor may
    /// anything else that matters.
    #[doc(hidden)]
    pub fn keep_facts(&mut self, is_kept: impl Fn(usize) -> bool) {
        for fact in (0..self.facts.len()).filter(|fact| !is_kept(*fact)) {
            self.next[fact] = Literal::FALSE;
            self.initial[fact] = false;
        }
        let network = &self.network;
        let is_kept_literal = |literal: Literal| match network.node(literal.node()) {
            Node::Input(fact) => is_kept(fact),
            _ => true,
        };
        self.assumed
            .retain(|&(fact, equal)| is_kept(fact) && is_kept_literal(equal));
        self.exclusive
            .retain(|group| group.facts.iter().all(|fact| is_kept(*fact)));
    }

    /// Makes a goal value of the first role the only one, under the condition
    /// `goal`, and replaces the condition under which the game is over.
    #[doc(hidden)]
    pub fn set_end(&mut self, value: usize, goal: Literal, terminal: Literal) {
        self.goals[0] = vec![(self.goals[0][value].0, goal)];
        self.terminal = terminal;
    }

    /// Makes all moves of a role for which `is_forbidden` is true illegal in every
    /// state.
    #[doc(hidden)]
    pub fn forbid(&mut self, role: usize, is_forbidden: impl Fn(usize) -> bool) {
        for (chosen, legal) in self.legal[role].iter_mut().enumerate() {
            if is_forbidden(chosen) {
                *legal = Literal::FALSE;
            }
        }
    }

    /// The terms, including those of all facts, moves and goal values.
    pub fn terms(&self) -> Terms {
        let mut terms = self.game.terms().clone();
        terms.refresh();
        terms
    }

    /// All output literals of the network.
    pub fn roots(&self) -> Vec<Literal> {
        let mut roots = self.next.clone();
        roots.extend(self.legal.iter().flatten());
        roots.push(self.terminal);
        roots.extend(self.goals.iter().flatten().map(|goal| goal.1));
        roots
    }

    /// True if the network covers a state, given the value of each fact.
    pub fn admits(&self, holds: &[bool]) -> bool {
        let equal = self.assumed.iter().all(|&(fact, equal)| {
            let value = match self.network.node(equal.node()) {
                Node::Input(other) => holds[other],
                _ => false,
            };
            holds[fact] == (value != equal.is_negated())
        });
        equal
            && self.exclusive.iter().all(|group| {
                let count = group.facts.iter().filter(|&&fact| holds[fact]).count();
                count == 1 || count == 0 && !group.exact
            })
    }

    /// Applies a change to every output literal.
    fn for_each_root(&mut self, mut change: impl FnMut(&mut Literal)) {
        self.next.iter_mut().for_each(&mut change);
        self.legal.iter_mut().flatten().for_each(&mut change);
        change(&mut self.terminal);
        for goal in self.goals.iter_mut().flatten() {
            change(&mut goal.1);
        }
    }

    /// Replaces the network by a rewritten one. `became` is the new literal of each
    /// old node.
    #[doc(hidden)]
    pub fn rebuilt(&mut self, builder: Builder, became: &[Literal]) {
        self.network = builder.into_network();
        self.for_each_root(|root| *root = became[root.node()].negated_if(root.is_negated()));
    }

    /// The input of a fact, given its index in [`Propnet::facts`].
    pub fn fact_input(&self, fact: usize) -> usize {
        fact
    }

    /// The input of a role's move, given its index in [`Propnet::moves`].
    pub fn move_input(&self, role: usize, chosen: usize) -> usize {
        let before: usize = self.moves[..role].iter().map(Vec::len).sum();
        self.facts.len() + before + chosen
    }
}
