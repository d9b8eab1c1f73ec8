//! Grounding of the rules, written apart from the grounding of the engine.
//!
//! In: a game of one role and the facts of its first state. Out: a [`Program`] of all rule
//! instances that can matter. Relations that do not depend on the state are evaluated. Of
//! the others, every row that may ever hold is derived by delete relaxation: facts that can
//! hold next may hold, moves that can be legal may be made, and negative literals about the
//! state are ignored.

mod join;

use rustc_hash::FxHashMap;

use crate::Limits;
use crate::program::{Fact, Input, Move, Program};
use crate::rows::{Bindings, Indexes, Rows, unify_all};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::strata::stratify;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, reach};
use ggp_gdl::terms::{TermId, TermOverflow, Terms};
use join::Plan;

/// The most rows examined per permitted instance.
const ROWS_AN_INSTANCE: u64 = 200;

/// The reason why the rules were not grounded.
pub(crate) enum TooLarge {
    Limit(&'static str),
    Interrupted,
}

impl From<TermOverflow> for TooLarge {
    fn from(_: TermOverflow) -> Self {
        TooLarge::Limit("terms")
    }
}

/// Grounds a game of one role.
pub(crate) fn ground(game: &Game, start: &[TermId], limits: &Limits) -> Result<Program, TooLarge> {
    let mut terms = game.terms().clone();
    terms.refresh();
    let rules = game.rules();
    let needed = needed(game);
    let mut grounder = Grounder {
        game,
        terms,
        rows: (0..rules.arity.len()).map(|_| Rows::default()).collect(),
        indexes: Indexes::default(),
        moving: moving(game),
        limits,
        work: 0,
        instances: Instances::default(),
    };
    for fact in &rules.facts {
        if needed[fact.relation.index()] {
            grounder.rows[fact.relation.index()].insert(&fact.arguments);
        }
    }
    grounder.settle(&needed)?;
    grounder.relax(&needed, start)?;
    grounder.instances(&needed)?;
    Ok(grounder.program(start))
}

/// For each relation: whether legality, successors or goals depend on it.
fn needed(game: &Game) -> Vec<bool> {
    let wanted = [
        Keyword::Next,
        Keyword::Legal,
        Keyword::Terminal,
        Keyword::Goal,
        Keyword::True,
        Keyword::Does,
    ];
    let wanted = wanted.iter().filter_map(|&word| game.keyword(word));
    reach::needed(game.rules(), wanted)
}

/// For each relation: whether it depends on the state or on moves, or is queried.
fn moving(game: &Game) -> Vec<bool> {
    let inputs = [
        Keyword::Next,
        Keyword::Legal,
        Keyword::Terminal,
        Keyword::Goal,
        Keyword::True,
        Keyword::Does,
    ];
    let inputs = inputs.iter().filter_map(|&word| game.keyword(word));
    reach::dependents(game.rules(), inputs)
}

/// The bodies of rule instances, in one list.
#[derive(Default)]
struct Instances {
    heads: Vec<u32>,
    ends: Vec<u32>,
    literals: Vec<i32>,
    /// The atom of each disjunction.
    any: FxHashMap<Vec<Vec<i32>>, u32>,
    atoms: u32,
}

impl Instances {
    fn push(&mut self, head: u32, body: &[i32]) {
        self.heads.push(head);
        self.literals.extend(body);
        self.ends.push(self.literals.len() as u32);
    }
}

struct Grounder<'g> {
    game: &'g Game,
    terms: Terms,
    rows: Vec<Rows>,
    indexes: Indexes,
    moving: Vec<bool>,
    limits: &'g Limits,
    work: u64,
    instances: Instances,
}

impl Grounder<'_> {
    /// Evaluates the relations that do not depend on the state.
    fn settle(&mut self, needed: &[bool]) -> Result<(), TooLarge> {
        let game = self.game.clone();
        let rules = &game.rules().rules;
        let groups = stratify(game.rules(), game.terms()).expect("a game is stratified");
        for group in groups {
            let still = |&&rule: &&usize| {
                let head = rules[rule].head.relation.index();
                !self.moving[head] && needed[head]
            };
            let still: Vec<usize> = group.rules.iter().filter(still).copied().collect();
            loop {
                let mut grown = false;
                for &rule in &still {
                    let rule = &rules[rule];
                    let plan = self.plan(rule, None);
                    for row in self.heads(rule, &plan, &mut vec![None; rule.variables.len()])? {
                        grown |= self.rows[rule.head.relation.index()].insert(&row);
                    }
                }
                if !grown || !group.recursive {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Derives every row that may ever hold of the relations that depend on the state.
    fn relax(&mut self, needed: &[bool], start: &[TermId]) -> Result<(), TooLarge> {
        let game = self.game.clone();
        let keyword = |word| game.keyword(word).map(RelationId::index);
        let (now, next) = (keyword(Keyword::True), keyword(Keyword::Next));
        let (does, legal) = (keyword(Keyword::Does), keyword(Keyword::Legal));
        let role = game.role_term(game.roles().next().expect("there is one"));
        let rules: Vec<&Rule> = (game.rules().rules.iter())
            .filter(|rule| {
                let head = rule.head.relation.index();
                self.moving[head] && needed[head]
            })
            .collect();
        // For each relation: the rules that read it, and the position in their bodies.
        let mut readers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.rows.len()];
        for (number, rule) in rules.iter().enumerate() {
            for (place, literal) in rule.body.iter().enumerate() {
                if let Literal::Positive(atom) = literal
                    && self.moving[atom.relation.index()]
                {
                    readers[atom.relation.index()].push((number, place));
                }
            }
        }
        if let Some(now) = now {
            start.iter().for_each(|&fact| {
                self.rows[now].insert(&[fact]);
            });
        }
        for rule in &rules {
            let reads = |literal: &Literal| matches!(literal, Literal::Positive(atom) if self.moving[atom.relation.index()]);
            if !rule.body.iter().any(reads) {
                let plan = self.plan(rule, None);
                for row in self.heads(rule, &plan, &mut vec![None; rule.variables.len()])? {
                    self.rows[rule.head.relation.index()].insert(&row);
                }
            }
        }
        let mut plans: FxHashMap<(usize, usize), Plan> = FxHashMap::default();
        let mut seen = vec![0; self.rows.len()];
        loop {
            let relation = (0..seen.len()).find(|&relation| {
                self.moving[relation] && seen[relation] < self.rows[relation].len()
            });
            let Some(relation) = relation else {
                return Ok(());
            };
            let row: Box<[TermId]> = self.rows[relation].row(seen[relation]).into();
            seen[relation] += 1;
            if Some(relation) == next
                && let Some(now) = now
            {
                self.rows[now].insert(&row);
            }
            if Some(relation) == legal
                && row[0] == role
                && let Some(does) = does
            {
                self.rows[does].insert(&row);
            }
            for &(number, place) in &readers[relation] {
                let rule = rules[number];
                let Literal::Positive(atom) = &rule.body[place] else {
                    unreachable!("only these are readers");
                };
                let mut bindings = vec![None; rule.variables.len()];
                if !unify_all(&atom.arguments, &row, &self.terms, &mut bindings) {
                    continue;
                }
                let plan = match plans.remove(&(number, place)) {
                    Some(plan) => plan,
                    None => self.plan(rule, Some(place)),
                };
                for row in self.heads(rule, &plan, &mut bindings)? {
                    self.rows[rule.head.relation.index()].insert(&row);
                }
                plans.insert((number, place), plan);
            }
            let rows: usize = self.rows.iter().map(Rows::len).sum();
            if rows > self.limits.instances {
                return Err(TooLarge::Limit("facts"));
            }
        }
    }

    /// Collects the instances of the rules.
    fn instances(&mut self, needed: &[bool]) -> Result<(), TooLarge> {
        let mut first = vec![0; self.rows.len()];
        for relation in (0..self.rows.len()).filter(|&relation| self.moving[relation]) {
            first[relation] = self.instances.atoms;
            self.instances.atoms += self.rows[relation].len() as u32;
        }
        let game = self.game.clone();
        for fact in &game.rules().facts {
            let relation = fact.relation.index();
            if self.moving[relation] && needed[relation] {
                let row = self.rows[relation]
                    .find(&fact.arguments)
                    .expect("it was put there");
                self.instances.push(first[relation] + row as u32, &[]);
            }
        }
        for rule in &game.rules().rules {
            let head = rule.head.relation.index();
            if !self.moving[head] || !needed[head] {
                continue;
            }
            let plan = self.plan(rule, None);
            let mut bindings = vec![None; rule.variables.len()];
            self.matches(rule, &plan, 0, &mut bindings, &mut |grounder, bindings| {
                grounder.instance(rule, bindings, &first)
            })?;
        }
        Ok(())
    }

    fn instance(
        &mut self,
        rule: &Rule,
        bindings: &Bindings,
        first: &[u32],
    ) -> Result<(), TooLarge> {
        if self.instances.heads.len() >= self.limits.instances {
            return Err(TooLarge::Limit("instances of rules"));
        }
        let Some(head) = self.atom(&rule.head, bindings, first)? else {
            unreachable!("it was derived");
        };
        if let Some(body) = self.body(&rule.body, bindings, first)? {
            self.instances.push(head, &body);
        }
        Ok(())
    }

    /// The atoms of a body that may hold, plus 1 each and negated for negative literals.
    fn body(
        &mut self,
        literals: &[Literal],
        bindings: &Bindings,
        first: &[u32],
    ) -> Result<Option<Vec<i32>>, TooLarge> {
        let mut body = Vec::new();
        for literal in literals {
            match literal {
                Literal::Positive(atom) if self.moving[atom.relation.index()] => {
                    match self.atom(atom, bindings, first)? {
                        Some(atom) => body.push(atom as i32 + 1),
                        None => return Ok(None),
                    }
                }
                Literal::Negative(atom) if self.moving[atom.relation.index()] => {
                    let atom = self.atom(atom, bindings, first)?;
                    body.extend(atom.map(|atom| -(atom as i32 + 1)));
                }
                Literal::Any(branches) => {
                    let mut any = Vec::new();
                    for branch in branches {
                        any.extend(self.body(branch, bindings, first)?);
                    }
                    any.sort_unstable();
                    any.dedup();
                    match any.len() {
                        0 => return Ok(None),
                        _ if any[0].is_empty() => {}
                        1 => body.append(&mut any[0]),
                        _ => body.push(self.any(any) as i32 + 1),
                    }
                }
                literal if self.holds(literal, bindings)? => {}
                _ => return Ok(None),
            }
        }
        body.sort_unstable();
        body.dedup();
        Ok(Some(body))
    }

    /// The atom of a disjunction.
    fn any(&mut self, branches: Vec<Vec<i32>>) -> u32 {
        if let Some(&atom) = self.instances.any.get(&branches) {
            return atom;
        }
        let atom = self.instances.atoms;
        self.instances.atoms += 1;
        for branch in &branches {
            self.instances.push(atom, branch);
        }
        self.instances.any.insert(branches, atom);
        atom
    }

    fn atom(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
        first: &[u32],
    ) -> Result<Option<u32>, TooLarge> {
        let row = self.row(atom, bindings)?;
        let relation = atom.relation.index();
        let found = self.rows[relation].find(&row);
        Ok(found.map(|number| first[relation] + number as u32))
    }

    fn program(self, start: &[TermId]) -> Program {
        let game = self.game;
        let role = game.role_term(game.roles().next().expect("there is one"));
        let mut before = 0;
        let mut atoms_of: Vec<u32> = vec![0; self.rows.len()];
        for relation in (0..self.rows.len()).filter(|&relation| self.moving[relation]) {
            atoms_of[relation] = before;
            before += self.rows[relation].len() as u32;
        }
        let rows = |word| {
            let relation = game.keyword(word).map(RelationId::index);
            let rows = relation.into_iter().flat_map(|relation| {
                let rows = self.rows[relation].iter().enumerate();
                rows.map(move |(number, row)| (relation, number, row))
            });
            rows.map(|(relation, number, row)| (atoms_of[relation] + number as u32, row))
        };
        let mut inputs = vec![Input::None; self.instances.atoms as usize];
        let next: FxHashMap<TermId, u32> = rows(Keyword::Next)
            .map(|(atom, row)| (row[0], atom))
            .collect();
        let mut facts = Vec::new();
        for (atom, row) in rows(Keyword::True) {
            inputs[atom as usize] = Input::Fact(facts.len() as u32);
            facts.push(Fact {
                term: row[0],
                now: atom,
                next: next.get(&row[0]).copied(),
                holds: start.contains(&row[0]),
            });
        }
        let made: FxHashMap<TermId, u32> = rows(Keyword::Does)
            .map(|(atom, row)| (row[1], atom))
            .collect();
        let mut moves = Vec::new();
        for (legal, row) in rows(Keyword::Legal).filter(|(_, row)| row[0] == role) {
            let made = made.get(&row[1]).copied();
            if let Some(made) = made {
                inputs[made as usize] = Input::Move(moves.len() as u32);
            }
            moves.push(Move {
                term: row[1],
                legal,
                made,
            });
        }
        let goals = rows(Keyword::Goal).filter(|(_, row)| row[0] == role);
        let goals = goals.map(|(atom, row)| (row[1], atom)).collect();
        let terminal = rows(Keyword::Terminal).map(|(atom, _)| atom).next();
        let Instances {
            heads,
            ends,
            literals,
            ..
        } = &self.instances;
        let rules = heads.iter().enumerate().map(|(number, &head)| {
            let from = number
                .checked_sub(1)
                .map_or(0, |before| ends[before] as usize);
            (head, &literals[from..ends[number] as usize])
        });
        Program::new(rules.collect(), inputs, facts, moves, goals, terminal)
    }
}
