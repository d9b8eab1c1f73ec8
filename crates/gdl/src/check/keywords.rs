//! The words that GDL reserves.

use crate::symbol::Symbols;

macro_rules! keywords {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal / $arity:expr;)*) => {
        /// A word that GDL reserves; recognised in any letter case.
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

            /// What it says, after how it is written.
            pub fn meaning(self) -> &'static str {
                match self { $(Keyword::$name => concat!($($doc),*).trim_ascii(),)* }
            }

            /// Number of arguments; nothing for connectives that take any.
            pub fn arity(self) -> Option<usize> {
                match self { $(Keyword::$name => $arity,)* }
            }
        }
    };
}

keywords! {
    /// `(role r)`: r takes part.
    Role = "role" / Some(1);
    /// `(init f)`: f holds at first.
    Init = "init" / Some(1);
    /// `(true f)`: f holds now.
    True = "true" / Some(1);
    /// `(next f)`: f holds after the moves made.
    Next = "next" / Some(1);
    /// `(legal r m)`: r may make move m.
    Legal = "legal" / Some(2);
    /// `(does r m)`: r makes move m.
    Does = "does" / Some(2);
    /// `(goal r n)`: r scores n.
    Goal = "goal" / Some(2);
    /// `terminal`: the game is over.
    Terminal = "terminal" / Some(0);
    /// `(base f)`: f may hold at some time.
    Base = "base" / Some(1);
    /// `(input r m)`: r may make move m at some time.
    Input = "input" / Some(2);
    /// `(sees r p)`: r is told p (GDL-II).
    Sees = "sees" / Some(2);
    /// `(distinct s t)`: the terms differ.
    Distinct = "distinct" / Some(2);
    /// `(not l)`: l does not hold.
    Not = "not" / Some(1);
    /// `(or l ...)`: one of them holds.
    Or = "or" / None;
    /// `(and l ...)`: all of them hold.
    And = "and" / None;
}

impl Keyword {
    /// The keyword that a name spells, in any letter case.
    pub fn of(name: &str) -> Option<Keyword> {
        // The longest keyword has eight letters; most names fail on the first.
        if name.len() > 8 {
            return None;
        }
        Keyword::ALL
            .iter()
            .copied()
            .find(|keyword| keyword.as_str().eq_ignore_ascii_case(name))
    }

    /// Whether the word builds formulas rather than naming a relation.
    pub fn is_connective(self) -> bool {
        matches!(
            self,
            Keyword::Distinct | Keyword::Not | Keyword::Or | Keyword::And
        )
    }

    /// How the keyword is written, for messages.
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

/// The text under which a name is interned: keywords in lower case, whatever
/// the treatment of other names.
pub(super) fn interned_form<'n>(name: &'n str, symbols: &Symbols) -> &'n str {
    match symbols.case() {
        crate::symbol::Case::Fold => name,
        crate::symbol::Case::Keep => match Keyword::of(name) {
            Some(keyword) => keyword.as_str(),
            None if name.eq_ignore_ascii_case("random") => "random",
            None => name,
        },
    }
}
