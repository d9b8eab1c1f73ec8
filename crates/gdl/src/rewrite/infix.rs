//! GDL in infix notation, as in the book "General Game Playing" by Genesereth and
//! Thielscher: `legal(P,take(N)) :- true(heap(M)) & ~over`.
//!
//! In: a [`Tree`](super::Tree) or text. Out: the other one. Written text is read back
//! as exactly the same forms:
//!
//! - `?x` is `X`, `?X` is `_X`, `?_x` is `_x`; other variables are quoted, `?'x+'`.
//!   In text, each `_` alone is a separate variable.
//! - Names of letters, digits and `_` that begin with a lower-case letter or a digit
//!   are not quoted, nor are negative integers; others are quoted, `'map+'`, with
//!   `\'` and `\\`. Keywords are written in lower case.
//! - `(<= h a b)` is `h :- a & b`, `(not a)` is `~a`, `(or a b)` is `(a | b)` and
//!   `(and a b)` within a body `(a & b)`; connectives with other numbers of arguments
//!   are written like relations, `or(a)`. `p` is `p`, `(p)` is `p()`.
//! - Clauses may end with a full stop; `(<= h)` must, `h :- .`. Without one, no text
//!   may follow a rule on its line, nor on the next line if that is indented further.
//! - Comments begin with `%` or `;`. A `;` in a clause that has no full stop yet must not be
//!   followed by literals or by nothing, since `;` means "or" in Prolog.
//! - `not p` and `\+ p` are read like `~p`, and `a \= b` and `a != b` like `distinct(a,b)`.

mod detect;
mod or;
mod read;
mod write;

pub use detect::{NOT_KIF, detect_infix, infix_finding};
pub use read::from_infix;
pub use write::{to_infix, unwritable};

#[cfg(test)]
mod tests;
