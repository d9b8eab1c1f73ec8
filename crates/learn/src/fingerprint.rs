//! A number that identifies rules without their names.
//!
//! In: a game. Out: a [`Fingerprint`], which is the same for rules that differ only in
//! names, comments and layout, and the codes of facts. The order of forms matters.
//! Names are replaced by the order of their first appearance; keywords and integers
//! stay.

use std::fmt;
use std::str::FromStr;

use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, FunctorId, Literal, RelationId, Term};
use ggp_gdl::terms::TermId;
#[cfg(feature = "files")]
use ggp_gdl::terms::Terms;

/// A number that identifies rules without their names.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of a game.
    pub fn of(game: &Game) -> Fingerprint {
        let mut digest = Digest {
            game,
            value: 0xcbf2_9ce4_8422_2325,
        };
        let rules = game.rules();
        for fact in &rules.facts {
            digest.mark(Mark::Fact);
            digest.relation(fact.relation);
            fact.arguments.iter().for_each(|&term| digest.ground(term));
        }
        for rule in &rules.rules {
            digest.mark(Mark::Rule);
            digest.atom(&rule.head);
            rule.body.iter().for_each(|literal| digest.literal(literal));
        }
        for role in game.roles() {
            digest.number(usize::from(game.is_random(role)));
        }
        Fingerprint(digest.value)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Fingerprint)
    }
}

/// The functors of a term in prefix order, by number of first appearance. Each has a
/// fixed number of arguments, so different terms have different codes.
#[cfg(feature = "files")]
pub(crate) fn code(terms: &Terms, term: TermId) -> Vec<u32> {
    let mut code = vec![terms.functor(term).index() as u32];
    for &argument in terms.arguments(term) {
        code.append(&mut self::code(terms, argument));
    }
    code
}

/// The beginning of each part of the rules.
#[derive(Copy, Clone)]
enum Mark {
    Fact,
    Rule,
    Positive,
    Negative,
    Distinct,
    Same,
    Any,
    Branch,
    Variable,
    Name,
    Text,
}

/// A running digest (FNV-1a).
struct Digest<'g> {
    game: &'g Game,
    value: u64,
}

impl Digest<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.value = (self.value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.bytes(&[mark as u8]);
    }

    fn number(&mut self, number: usize) {
        self.bytes(&(number as u64).to_le_bytes());
    }

    fn functor(&mut self, functor: FunctorId) {
        let known = self.game.functors().functor(functor);
        let name = self.game.symbols().name(known.name);
        // Goal values have a meaning, and names are not always changed together.
        match name.parse::<i64>() {
            Ok(_) => {
                self.mark(Mark::Text);
                self.bytes(name.as_bytes());
            }
            Err(_) => {
                self.mark(Mark::Name);
                self.number(functor.index());
            }
        }
        self.number(known.arity());
    }

    fn relation(&mut self, relation: RelationId) {
        self.functor(self.game.relation_functor(relation));
        // The order in which keywords appear does not tell which they are.
        let keywords = ggp_gdl::check::Keyword::ALL.iter();
        let place = keywords
            .copied()
            .position(|keyword| self.game.keyword(keyword) == Some(relation));
        self.number(place.map_or(0, |place| place + 1));
    }

    fn ground(&mut self, term: TermId) {
        let game = self.game;
        self.functor(game.terms().functor(term));
        let arguments = game.terms().arguments(term).iter();
        arguments.for_each(|&argument| self.ground(argument));
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Variable(variable) => {
                self.mark(Mark::Variable);
                self.number(variable.index());
            }
            Term::Ground(term) => self.ground(*term),
            Term::Apply(functor, arguments) => {
                self.functor(*functor);
                arguments.iter().for_each(|argument| self.term(argument));
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        self.relation(atom.relation);
        atom.arguments.iter().for_each(|term| self.term(term));
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Positive(atom) => {
                self.mark(Mark::Positive);
                self.atom(atom);
            }
            Literal::Negative(atom) => {
                self.mark(Mark::Negative);
                self.atom(atom);
            }
            Literal::Distinct(left, right, _) => {
                self.mark(Mark::Distinct);
                self.term(left);
                self.term(right);
            }
            Literal::Same(left, right, _) => {
                self.mark(Mark::Same);
                self.term(left);
                self.term(right);
            }
            Literal::Any(branches) => {
                self.mark(Mark::Any);
                self.number(branches.len());
                for branch in branches {
                    self.mark(Mark::Branch);
                    branch.iter().for_each(|literal| self.literal(literal));
                }
            }
        }
    }
}
