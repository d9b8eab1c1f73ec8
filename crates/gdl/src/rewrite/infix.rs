//! GDL in infix notation, as the book "General Game Playing" by Genesereth and
//! Thielscher writes it: `legal(P,take(N)) :- true(heap(M)) & ~over`.
//!
//! In: a [`Tree`](super::Tree), or text. Out: the other. What is written is read as
//! exactly the same forms:
//!
//! - `?x` is `X`, `?X` is `_X`, `?_x` is `_x`; other variables are quoted, `?'x+'`.
//!   In text, each `_` alone is a variable of its own.
//! - Names of letters, digits and `_` that begin with a small letter or a digit stand
//!   as they are, as do negative integers; others are quoted, `'map+'`, with `\'` and
//!   `\\`. Keywords are written in small letters.
//! - `(<= h a b)` is `h :- a & b`, `(not a)` is `~a`, `(or a b)` is `(a | b)` and
//!   `(and a b)` within a body `(a & b)`; connectives with other numbers of arguments
//!   are written as relations are, `or(a)`. `p` is `p`, `(p)` is `p()`.
//! - Clauses may end with a full stop; `(<= h)` must, `h :- .`. Without it nothing follows
//!   a rule on its line, or further right on the next one.
//! - Comments begin with `%` or `;`.

mod read;
mod tell;
mod write;

pub use read::from_infix;
pub use tell::tells_infix;
pub use write::{to_infix, unwritable};

#[cfg(test)]
mod tests;
