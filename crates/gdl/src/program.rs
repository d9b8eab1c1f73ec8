//! Rules as values: the abstract syntax of a rule set.
//!
//! # The meaning of GDL
//!
//! A rule set is a logic program with negation and function terms. Its model in a
//! given state is the least set of facts, stratum by stratum, closed under the rules,
//! where `(true f)` holds for the facts `f` of the state and `(does r m)` for the
//! moves made. Then
//!
//! - the *roles* are the `r` of the facts `(role r)`, in the order of the file;
//! - the *initial state* is the set of `f` with `(init f)`;
//! - role `r` may make move `m` if `(legal r m)` holds;
//! - the *next state* is the set of `f` with `(next f)`; all other facts become
//!   false;
//! - the game is over if `terminal` holds;
//! - role `r` then has the score `n` with `(goal r n)`.
//!
//! Source: Love, Hinrichs, Haley, Schkufza, Genesereth: General Game Playing: Game
//! Description Language Specification, LG-2006-01.
//!
//! Nothing here knows a keyword: a [`RuleSet`] is a plain logic program, and a
//! [`Game`](crate::game::Game) knows the relations of the keywords.

pub mod reach;
pub mod rule;
pub mod strata;
pub mod term;
#[doc(hidden)]
pub mod unify;

pub use rule::{Atom, Fact, Literal, RelationId, Rule, RuleSet};
pub use term::{Functor, FunctorId, Functors, Shape, Term, Variable};
