//! Slots of the language's keywords: roles, facts of the state, and moves.
//!
//! In: lists with positions. Out: the names in such slots, without their arguments.

use ggp_gdl::check::Keyword;
use ggp_gdl::rewrite::{NameKind, Use};
use ggp_gdl::span::Sources;
use ggp_gdl::syntax::{Sexp, SexpKind};

/// The role of an argument of a keyword.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Role,
    Fact,
    Move,
}

impl Slot {
    /// The slot of an argument, counted from 0, of a name.
    pub fn of(name: &str, argument: usize) -> Option<Slot> {
        use Keyword::{Base, Does, Goal, Init, Input, Legal, Next, Role, Sees, True};
        match (Keyword::of(name)?, argument) {
            (True | Init | Next | Base, 0) => Some(Slot::Fact),
            (Legal | Does | Input, 1) => Some(Slot::Move),
            (Role | Legal | Does | Input | Goal | Sees, 0) => Some(Slot::Role),
            _ => None,
        }
    }
}

/// The names in slots, in the order of the text.
pub(super) fn fillers(forms: &[Sexp], sources: &Sources) -> Vec<(Slot, Use)> {
    let mut found = Vec::new();
    let mut open: Vec<&Sexp> = forms.iter().rev().collect();
    while let Some(sexp) = open.pop() {
        let SexpKind::List(members) = &sexp.kind else {
            continue;
        };
        open.extend(members.iter().rev());
        let Some((first, arguments)) = members.split_first() else {
            continue;
        };
        for (number, argument) in arguments.iter().enumerate() {
            let slot = Slot::of(sources.text(first.span), number);
            found.extend(slot.zip(named(argument, NameKind::Term)));
        }
    }
    found
}

/// The name of a term or literal.
pub(super) fn named(sexp: &Sexp, kind: NameKind) -> Option<Use> {
    let (span, arity) = match &sexp.kind {
        SexpKind::Variable => return None,
        SexpKind::Symbol => (sexp.span, 0),
        SexpKind::List(members) => match members.first() {
            Some(first) if first.kind == SexpKind::Symbol => (first.span, members.len() - 1),
            _ => return None,
        },
    };
    Some(Use { span, kind, arity })
}
