//! The keywords of GDL.

use crate::symbol::Symbols;

macro_rules! keywords {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal / $arity:expr;)*) => {
        /// A reserved word of GDL, recognized in any letter case.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Keyword {
            $($(#[doc = $doc])* $name,)*
        }

        impl Keyword {
            /// Every keyword.
            pub const ALL: &[Keyword] = &[$(Keyword::$name,)*];

            /// The word, in lower case.
            pub fn as_str(self) -> &'static str {
                match self { $(Keyword::$name => $text,)* }
            }

            /// The syntax of the keyword and its meaning, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Keyword::$name => concat!($($doc),*).trim_ascii(),)* }
            }

            /// Number of arguments, or `None` for connectives that take any number.
            pub fn arity(self) -> Option<usize> {
                match self { $(Keyword::$name => $arity,)* }
            }
        }
    };
}

keywords! {
    /// `(role r)`: r is a role of the game.
    Role = "role" / Some(1);
    /// `(init f)`: f is true in the initial state.
    Init = "init" / Some(1);
    /// `(true f)`: f is true in the current state.
    True = "true" / Some(1);
    /// `(next f)`: f is true in the next state.
    Next = "next" / Some(1);
    /// `(legal r m)`: role r may make move m.
    Legal = "legal" / Some(2);
    /// `(does r m)`: role r makes move m.
    Does = "does" / Some(2);
    /// `(goal r n)`: role r scores n.
    Goal = "goal" / Some(2);
    /// `terminal`: the game is over.
    Terminal = "terminal" / Some(0);
    /// `(base f)`: f can be true in some state.
    Base = "base" / Some(1);
    /// `(input r m)`: role r can have move m in some state.
    Input = "input" / Some(2);
    /// `(sees r p)`: role r receives percept p (GDL-II).
    Sees = "sees" / Some(2);
    /// `(distinct s t)`: the terms s and t differ.
    Distinct = "distinct" / Some(2);
    /// `(not l)`: l does not hold.
    Not = "not" / Some(1);
    /// `(or l ...)`: at least one of the literals holds.
    Or = "or" / None;
    /// `(and l ...)`: all of the literals hold.
    And = "and" / None;
}

impl Keyword {
    /// The keyword that a name spells, in any letter case.
    pub fn of(name: &str) -> Option<Keyword> {
        // The longest keyword has eight letters; most other names are excluded by
        // their first letter.
        if name.len() > 8 {
            return None;
        }
        Keyword::ALL
            .iter()
            .copied()
            .find(|keyword| keyword.as_str().eq_ignore_ascii_case(name))
    }

    /// True if the word connects literals instead of naming a relation.
    pub fn is_connective(self) -> bool {
        matches!(
            self,
            Keyword::Distinct | Keyword::Not | Keyword::Or | Keyword::And
        )
    }

    /// The syntax of the keyword, for messages.
    pub fn form(self) -> &'static str {
        match self {
            Keyword::Role => "(role NAME)",
            Keyword::Init => "(init FACT)",
            Keyword::True => "(true FACT)",
            Keyword::Next => "(next FACT)",
            Keyword::Legal => "(legal ROLE MOVE)",
            Keyword::Does => "(does ROLE MOVE)",
            Keyword::Goal => "(goal ROLE VALUE)",
            Keyword::Terminal => "terminal",
            Keyword::Base => "(base FACT)",
            Keyword::Input => "(input ROLE MOVE)",
            Keyword::Sees => "(sees ROLE PERCEPT)",
            Keyword::Distinct => "(distinct TERM TERM)",
            Keyword::Not => "(not LITERAL)",
            Keyword::Or => "(or LITERAL ...)",
            Keyword::And => "(and LITERAL ...)",
        }
    }
}

/// The text under which a name is interned: keywords in lower case, even if letter
/// case distinguishes other names.
pub(super) fn interned_form<'n>(name: &'n str, symbols: &Symbols) -> &'n str {
    match symbols.case() {
        crate::symbol::Case::Fold => name,
        crate::symbol::Case::Keep => match Keyword::of(name) {
            Some(keyword) => keyword.as_str(),
            None if is_chance(name) => "random",
            None => name,
        },
    }
}

/// Whether a role of this name draws its moves (Thielscher, A General Game Description Language for
/// Incomplete Information Games, AAAI 2010).
pub(crate) fn is_chance(name: &str) -> bool {
    name.eq_ignore_ascii_case("random")
}
