//! The reference implementation: a slow and obvious state machine.
//!
//! Each query derives the whole model from scratch, by trying every rule on all
//! facts in the order of the text until no new facts result. It shares no plans,
//! indexes, orderings or rewriting with the fast evaluator, only the rules.

use std::sync::Arc;

use ggp_stop::Stop;
use rustc_hash::FxHashSet;

use super::answers::Answers;
use super::{Excess, Limits, MOVES_TEXT, Machine, PlayError, STATE_TEXT, check_text};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::program::strata::{Group, stratify};
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, Term};
use ggp_gdl::terms::{TermId, Terms};

/// A machine that uses the naive evaluator.
#[derive(Clone, Debug)]
pub struct NaiveMachine {
    game: Game,
    terms: Terms,
    groups: Arc<[Group]>,
    limits: Limits,
    /// The last model and the state and moves that it was derived from.
    last: Option<(Vec<TermId>, Vec<Move>, Arc<Model>)>,
}

/// All facts that hold, by relation, in the order of their derivation.
#[derive(Clone, Debug, Default)]
struct Model {
    facts: Vec<Vec<Arc<[TermId]>>>,
    known: FxHashSet<(RelationId, Arc<[TermId]>)>,
}

impl Model {
    fn insert(&mut self, relation: RelationId, fact: Arc<[TermId]>) -> bool {
        let is_new = self.known.insert((relation, Arc::clone(&fact)));
        if is_new {
            self.facts[relation.index()].push(fact);
        }
        is_new
    }
}

impl NaiveMachine {
    /// A machine for a game.
    pub fn new(game: &Game, limits: Limits) -> Self {
        let groups = stratify(game.rules(), game.terms()).expect("a game is stratified");
        NaiveMachine {
            game: game.clone(),
            terms: game.terms().clone(),
            groups: groups.into(),
            limits,
            last: None,
        }
    }

    /// All facts that hold in a state when the moves are made.
    fn model(&mut self, state: &[TermId], joint: &[Move]) -> Result<Arc<Model>, PlayError> {
        if self.limits.stop.is_over() {
            return Err(PlayError::Interrupted);
        }
        if let Some((facts, moves, model)) = &self.last
            && facts == state
            && moves == joint
        {
            return Ok(Arc::clone(model));
        }
        let given = state.iter().copied().chain(joint.iter().map(|m| m.term()));
        if given.into_iter().any(|term| !self.terms.knows(term)) {
            self.terms.refresh();
        }
        let game = self.game.clone();
        let rules = game.rules();
        let mut model = Model {
            facts: vec![Vec::new(); rules.arity.len()],
            known: FxHashSet::default(),
        };
        for fact in &rules.facts {
            model.insert(fact.relation, fact.arguments[..].into());
        }
        if let Some(relation) = game.keyword(Keyword::True) {
            for &fact in state {
                model.insert(relation, [fact].into());
            }
        }
        if let Some(relation) = game.keyword(Keyword::Does) {
            for (role, chosen) in game.roles().zip(joint) {
                model.insert(relation, [game.role_term(role), chosen.term()].into());
            }
        }
        let mut work = 0;
        for group in self.groups.iter() {
            loop {
                let mut grown = false;
                for &rule in &group.rules {
                    let rule = &rules.rules[rule];
                    let mut derivation = Derivation {
                        game: &game,
                        rule,
                        model: &model,
                        terms: &mut self.terms,
                        limits: &self.limits,
                        work: &mut work,
                        found: FxHashSet::default(),
                    };
                    let outcome =
                        derivation.match_literals(0, &mut vec![None; rule.variables.len()]);
                    let found = derivation.found;
                    outcome.map_err(|error| error.at(&game, Some(rule.span)))?;
                    for fact in found {
                        grown |= model.insert(rule.head.relation, fact);
                    }
                }
                if !grown {
                    break;
                }
            }
        }
        let model = Arc::new(model);
        self.last = Some((state.to_vec(), joint.to_vec(), Arc::clone(&model)));
        Ok(model)
    }

    /// The facts of a state: the first arguments of a unary keyword's facts, each
    /// once, ascending.
    fn singles(&self, model: &Model, keyword: Keyword) -> Result<Arc<[TermId]>, PlayError> {
        let mut found: Vec<TermId> = match self.game.keyword(keyword) {
            Some(relation) => model.facts[relation.index()].iter().map(|f| f[0]).collect(),
            None => Vec::new(),
        };
        let all = found.iter().copied();
        check_text(&self.terms, all, STATE_TEXT, self.limits.symbols)?;
        found.sort_unstable();
        Ok(found.into())
    }

    /// The second arguments of a role's facts of a binary keyword.
    fn of_role(&self, model: &Model, keyword: Keyword, role: RoleId) -> Vec<TermId> {
        let name = self.game.role_term(role);
        match self.game.keyword(keyword) {
            Some(relation) => model.facts[relation.index()]
                .iter()
                .filter(|fact| fact[0] == name)
                .map(|fact| fact[1])
                .collect(),
            None => Vec::new(),
        }
    }
}

impl Machine for NaiveMachine {
    type State = Arc<[TermId]>;

    fn game(&self) -> &Game {
        &self.game
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn terms_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn stop(&self) -> &Stop {
        &self.limits.stop
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.limits.stop = stop.clone();
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        let model = self.model(&[], &[])?;
        self.singles(&model, Keyword::Init)
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        let model = self.model(state, &[])?;
        let terminal = self.game.keyword(Keyword::Terminal);
        Ok(terminal.is_some_and(|relation| !model.facts[relation.index()].is_empty()))
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        let model = self.model(state, &[])?;
        if let Some(relation) = self.game.keyword(Keyword::Legal) {
            let all = model.facts[relation.index()].iter().map(|fact| fact[1]);
            check_text(&self.terms, all, MOVES_TEXT, self.limits.symbols)?;
        }
        let moves = self.of_role(&model, Keyword::Legal, role);
        out.clear();
        out.extend(moves.into_iter().map(Move::new));
        out.sort_by(|a, b| self.game.compare_terms(&self.terms, a.term(), b.term()));
        if out.is_empty() && !self.is_terminal(state)? {
            return Err(self.no_legal_move(state, role));
        }
        Ok(())
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        let model = self.model(state, joint)?;
        self.singles(&model, Keyword::Next)
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        let model = self.model(state, &[])?;
        let mut values = self.of_role(&model, Keyword::Goal, role);
        values.sort_by(|a, b| self.game.compare_terms(&self.terms, *a, *b));
        Ok(values)
    }

    fn percepts(
        &mut self,
        state: &Self::State,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        let model = self.model(state, joint)?;
        *out = self.of_role(&model, Keyword::Sees, role);
        out.sort_by(|a, b| self.game.compare_terms(&self.terms, *a, *b));
        Ok(())
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        state.to_vec()
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        let mut facts = facts.to_vec();
        facts.sort_unstable();
        facts.dedup();
        Ok(facts.into())
    }
}

/// One rule being matched against a model.
struct Derivation<'a> {
    game: &'a Game,
    rule: &'a Rule,
    model: &'a Model,
    terms: &'a mut Terms,
    limits: &'a Limits,
    work: &'a mut u64,
    found: FxHashSet<Arc<[TermId]>>,
}

type Bindings = Vec<Option<TermId>>;

impl Derivation<'_> {
    /// Tries all facts for the positive literals from `position` on, then tests the
    /// other literals, and collects the heads.
    fn match_literals(
        &mut self,
        position: usize,
        bindings: &mut Bindings,
    ) -> Result<(), PlayError> {
        let Some(literal) = self.rule.body.get(position) else {
            for literal in &self.rule.body {
                if !self.holds(literal, bindings)? {
                    return Ok(());
                }
            }
            let head = self.ground(&self.rule.head, bindings)?;
            let fact = (self.rule.head.relation, head);
            if !self.model.known.contains(&fact) {
                self.found.insert(fact.1);
            }
            if self.model.known.len() + self.found.len() > self.limits.facts {
                let limit = self.limits.facts as u64;
                return Err(Excess::new("facts in one state", limit).into());
            }
            return Ok(());
        };
        let Literal::Positive(atom) = literal else {
            return self.match_literals(position + 1, bindings);
        };
        let model = self.model;
        for fact in &model.facts[atom.relation.index()] {
            *self.work += 1;
            if *self.work > self.limits.work {
                let limit = self.limits.work;
                return Err(Excess::new("matches tried in one state", limit).into());
            }
            if self.work.is_multiple_of(4096) && self.limits.stop.is_over() {
                return Err(PlayError::Interrupted);
            }
            let before = bindings.clone();
            let pairs = atom.arguments.iter().zip(fact.iter());
            if pairs
                .into_iter()
                .all(|(term, value)| self.unify(term, *value, bindings))
            {
                self.match_literals(position + 1, bindings)?;
            }
            *bindings = before;
        }
        Ok(())
    }

    fn unify(&self, term: &Term, value: TermId, bindings: &mut Bindings) -> bool {
        match term {
            Term::Ground(id) => *id == value,
            Term::Variable(v) => match bindings[v.index()] {
                Some(bound) => bound == value,
                None => {
                    bindings[v.index()] = Some(value);
                    true
                }
            },
            Term::Apply(functor, arguments) => {
                self.terms.functor(value) == *functor
                    && arguments
                        .iter()
                        .zip(self.terms.arguments(value))
                        .all(|(term, value)| self.unify(term, *value, bindings))
            }
        }
    }

    fn holds(&mut self, literal: &Literal, bindings: &Bindings) -> Result<bool, PlayError> {
        Ok(match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                let fact = (atom.relation, self.ground(atom, bindings)?);
                let wanted = matches!(literal, Literal::Positive(_));
                self.model.known.contains(&fact) == wanted
            }
            Literal::Distinct(left, right, _) => {
                self.value(left, bindings)? != self.value(right, bindings)?
            }
            Literal::Same(left, right, _) => {
                self.value(left, bindings)? == self.value(right, bindings)?
            }
            Literal::Any(branches) => {
                for branch in branches {
                    let mut all = true;
                    for literal in branch {
                        all = all && self.holds(literal, bindings)?;
                    }
                    if all {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    fn ground(&mut self, atom: &Atom, bindings: &Bindings) -> Result<Arc<[TermId]>, PlayError> {
        atom.arguments
            .iter()
            .map(|term| self.value(term, bindings))
            .collect()
    }

    fn value(&mut self, term: &Term, bindings: &Bindings) -> Result<TermId, PlayError> {
        match term {
            Term::Ground(id) => Ok(*id),
            Term::Variable(v) => Ok(bindings[v.index()].expect("a safe rule binds it")),
            Term::Apply(functor, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|term| self.value(term, bindings))
                    .collect::<Result<Vec<_>, _>>()?;
                let term = self.terms.intern(*functor, &arguments);
                term.map_err(|overflow| Excess::of_terms(self.game, overflow).into())
            }
        }
    }
}
