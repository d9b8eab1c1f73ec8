//! Symmetry between roles.
//!
//! In: a game. Out: whether a renaming of constants maps the rules to themselves and one
//! role to another. The rules are turned into a coloured graph of constants, terms, atoms
//! and rules. The order of arguments matters, that of literals and rules does not. Keywords
//! and goal values are fixed.

use rustc_hash::FxHashMap;

use ggp_engine::automorphism::{Graph, generators};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, parse_score};
use ggp_gdl::program::{Atom, FunctorId, Literal, Rule, Term};
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;

/// Maximum number of vertices and edges, and of edges visited.
const MOST_SIZE: usize = 400_000;
const MOST_WORK: usize = 20_000_000;

/// Returns whether every role but that of chance can be mapped to every other one, and the constants that change
/// then. `None` if the rules are too large to decide.
pub(super) fn role_symmetry(game: &Game, with_start: bool, stop: &Stop) -> Option<RoleSymmetry> {
    let mut drawing = Drawing {
        game,
        graph: Graph::default(),
        functors: FxHashMap::default(),
        terms: FxHashMap::default(),
        fixed: fixed(game),
    };
    drawing.rules(with_start)?;
    let players = game.roles().filter(|role| !game.is_random(*role));
    let roles: Vec<u32> = players
        .map(|role| drawing.functor(game.terms().functor(game.role_term(role))))
        .collect();
    let found = generators(&drawing.graph, MOST_WORK, stop);
    // The orbit of the first role.
    let mut orbit = vec![roles[0]];
    let mut next = 0;
    while next < orbit.len() {
        for generator in &found {
            let to = generator[orbit[next] as usize];
            if !orbit.contains(&to) {
                orbit.push(to);
            }
        }
        next += 1;
    }
    let names = drawing.functors.iter();
    let mut names: Vec<(FunctorId, u32)> =
        names.map(|(functor, vertex)| (*functor, *vertex)).collect();
    names.sort_unstable();
    let by_vertex: FxHashMap<u32, FunctorId> = names
        .iter()
        .map(|(functor, vertex)| (*vertex, *functor))
        .collect();
    let name = |functor: FunctorId| {
        game.symbols()
            .name(game.functors().functor(functor).name)
            .to_owned()
    };
    let exchange = found
        .iter()
        .find(|generator| roles.iter().any(|role| generator[*role as usize] != *role));
    let exchanged = exchange.map(|generator| {
        let moved = names
            .iter()
            .filter(|(_, vertex)| generator[*vertex as usize] != *vertex);
        moved
            .map(|(functor, vertex)| {
                (
                    name(*functor),
                    name(by_vertex[&generator[*vertex as usize]]),
                )
            })
            .collect()
    });
    Some(RoleSymmetry {
        all: roles.iter().all(|role| orbit.contains(role)),
        exchanged: exchanged.unwrap_or_default(),
    })
}

/// The symmetry between roles.
pub(super) struct RoleSymmetry {
    pub(super) all: bool,
    /// A renaming that moves roles, as pairs (from, to).
    pub(super) exchanged: Vec<(String, String)>,
}

/// The colour of a vertex.
#[derive(Copy, Clone)]
enum Colour {
    Rule,
    Fact,
    Head,
    Positive,
    Negative,
    Distinct,
    Same,
    Any,
    Branch,
    Variable,
    Application,
    /// The first of the other colours: constants by arity, arguments by position, fixed
    /// constants.
    Others,
}

const COLUMNS: u32 = 1 << 10;

struct Drawing<'g> {
    game: &'g Game,
    graph: Graph,
    functors: FxHashMap<FunctorId, u32>,
    terms: FxHashMap<TermId, u32>,
    /// Functors that are fixed.
    fixed: Vec<bool>,
}

/// Keywords, the role of chance and everything that may be a goal value.
fn fixed(game: &Game) -> Vec<bool> {
    let count = game.functors().len();
    let name = |functor: FunctorId| game.symbols().name(game.functors().functor(functor).name);
    let goal = game.keyword(Keyword::Goal);
    let set = game.rules();
    let values = set
        .rules
        .iter()
        .filter(|rule| Some(rule.head.relation) == goal);
    let mut any = false;
    let mut stays: Vec<bool> = (0..count)
        .map(|functor| Keyword::of(name(FunctorId::new(functor))).is_some())
        .collect();
    for rule in values {
        match rule.head.arguments.get(1) {
            Some(Term::Ground(value)) => stays[game.terms().functor(*value).index()] = true,
            _ => any = true,
        }
    }
    for chance in game.roles().filter(|role| game.is_random(*role)) {
        stays[game.terms().functor(game.role_term(chance)).index()] = true;
    }
    for fact in set.facts.iter().filter(|fact| Some(fact.relation) == goal) {
        stays[game.terms().functor(fact.arguments[1]).index()] = true;
    }
    if any {
        for (functor, stays) in stays.iter_mut().enumerate() {
            *stays |= parse_score(name(FunctorId::new(functor))).is_ok();
        }
    }
    stays
}

impl Drawing<'_> {
    fn vertex(&mut self, colour: Colour) -> u32 {
        self.graph.vertex(colour as u32)
    }

    fn functor(&mut self, functor: FunctorId) -> u32 {
        if let Some(known) = self.functors.get(&functor) {
            return *known;
        }
        let arity = self.game.functors().functor(functor).arity() as u32;
        let others = Colour::Others as u32;
        let colour = match self.fixed[functor.index()] {
            true => others + 2 * COLUMNS + functor.index() as u32,
            false => others + arity.min(COLUMNS - 1),
        };
        let vertex = self.graph.vertex(colour);
        self.functors.insert(functor, vertex);
        vertex
    }

    /// Attaches arguments to a vertex, in their order.
    fn argument(&mut self, of: u32, place: usize, term: u32) {
        let colour = Colour::Others as u32 + COLUMNS + (place as u32).min(COLUMNS - 1);
        let link = self.graph.vertex(colour);
        self.graph.edge(of, link);
        self.graph.edge(link, term);
    }

    fn ground(&mut self, term: TermId) -> u32 {
        if let Some(known) = self.terms.get(&term) {
            return *known;
        }
        let game = self.game;
        let functor = self.functor(game.terms().functor(term));
        let arguments = game.terms().arguments(term);
        let vertex = match arguments {
            [] => functor,
            arguments => {
                let vertex = self.vertex(Colour::Application);
                self.graph.edge(vertex, functor);
                for (place, argument) in arguments.iter().enumerate() {
                    let argument = self.ground(*argument);
                    self.argument(vertex, place, argument);
                }
                vertex
            }
        };
        self.terms.insert(term, vertex);
        vertex
    }

    fn term(&mut self, term: &Term, variables: &[u32]) -> u32 {
        match term {
            Term::Variable(variable) => variables[variable.index()],
            Term::Ground(term) => self.ground(*term),
            Term::Apply(functor, arguments) => {
                let vertex = self.vertex(Colour::Application);
                let functor = self.functor(*functor);
                self.graph.edge(vertex, functor);
                for (place, argument) in arguments.iter().enumerate() {
                    let argument = self.term(argument, variables);
                    self.argument(vertex, place, argument);
                }
                vertex
            }
        }
    }

    fn atom(&mut self, colour: Colour, atom: &Atom, above: u32, variables: &[u32]) {
        let vertex = self.vertex(colour);
        self.graph.edge(above, vertex);
        let name = self.functor(self.game.relation_functor(atom.relation));
        self.graph.edge(vertex, name);
        for (place, argument) in atom.arguments.iter().enumerate() {
            let argument = self.term(argument, variables);
            self.argument(vertex, place, argument);
        }
    }

    fn literal(&mut self, literal: &Literal, above: u32, variables: &[u32]) {
        match literal {
            Literal::Positive(atom) => self.atom(Colour::Positive, atom, above, variables),
            Literal::Negative(atom) => self.atom(Colour::Negative, atom, above, variables),
            Literal::Distinct(left, right, _) | Literal::Same(left, right, _) => {
                let colour = match literal {
                    Literal::Distinct(..) => Colour::Distinct,
                    _ => Colour::Same,
                };
                let vertex = self.vertex(colour);
                self.graph.edge(above, vertex);
                for side in [left, right] {
                    let side = self.term(side, variables);
                    self.graph.edge(vertex, side);
                }
            }
            Literal::Any(branches) => {
                let any = self.vertex(Colour::Any);
                self.graph.edge(above, any);
                for branch in branches {
                    let vertex = self.vertex(Colour::Branch);
                    self.graph.edge(any, vertex);
                    for literal in branch {
                        self.literal(literal, vertex, variables);
                    }
                }
            }
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let vertex = self.vertex(Colour::Rule);
        let variables: Vec<u32> = (rule.variables.iter())
            .map(|_| {
                let variable = self.graph.vertex(Colour::Variable as u32);
                self.graph.edge(vertex, variable);
                variable
            })
            .collect();
        self.atom(Colour::Head, &rule.head, vertex, &variables);
        for literal in &rule.body {
            self.literal(literal, vertex, &variables);
        }
    }

    /// Adds all rules and facts; `None` if they are too many.
    fn rules(&mut self, with_start: bool) -> Option<()> {
        let set = self.game.rules();
        let init = self.game.keyword(Keyword::Init);
        let counts = |relation| with_start || Some(relation) != init;
        for fact in set.facts.iter().filter(|fact| counts(fact.relation)) {
            let vertex = self.vertex(Colour::Fact);
            let name = self.functor(self.game.relation_functor(fact.relation));
            self.graph.edge(vertex, name);
            for (place, argument) in fact.arguments.iter().enumerate() {
                let argument = self.ground(*argument);
                self.argument(vertex, place, argument);
            }
            if self.graph.size() > MOST_SIZE {
                return None;
            }
        }
        for rule in set.rules.iter().filter(|rule| counts(rule.head.relation)) {
            self.rule(rule);
            if self.graph.size() > MOST_SIZE {
                return None;
            }
        }
        Some(())
    }
}
