//! Finding and renaming of names in rule text.
//!
//! In: lists with places. Out: edits of the text, so that the rest of it does not
//! change.

use strsim::damerau_levenshtein;

use super::words::is_reserved;
use crate::check::Keyword;
use crate::counted::counted;
use crate::span::{Sources, Span};
use crate::symbol::Case;
use crate::syntax::{Sexp, SexpKind};

/// The role of a name in a form.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NameKind {
    /// A relation: the name of a fact, a head or a literal.
    Relation,
    /// A function or a constant: the name of a term.
    Term,
}

/// An occurrence of a name.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Use {
    /// The place of the name alone.
    pub span: Span,
    /// The role of the name.
    pub kind: NameKind,
    /// Number of its arguments.
    pub arity: usize,
}

/// All names in forms, in the order of the text. The arrow and connectives are
/// excluded; other keywords are relations.
pub fn uses(forms: &[Sexp], sources: &Sources) -> Vec<Use> {
    let mut walk = Walk {
        sources,
        uses: Vec::new(),
    };
    for form in forms {
        match &form.kind {
            SexpKind::List(members) if walk.is_arrow(members) => {
                for member in &members[1..] {
                    walk.formula(member);
                }
            }
            _ => walk.formula(form),
        }
    }
    walk.uses
}

struct Walk<'s> {
    sources: &'s Sources,
    uses: Vec<Use>,
}

impl Walk<'_> {
    fn is_arrow(&self, members: &[Sexp]) -> bool {
        members
            .first()
            .is_some_and(|first| self.text(first) == Some("<="))
    }

    fn text(&self, sexp: &Sexp) -> Option<&str> {
        (sexp.kind == SexpKind::Symbol).then(|| self.sources.text(sexp.span))
    }

    fn formula(&mut self, sexp: &Sexp) {
        if let SexpKind::List(members) = &sexp.kind {
            let first = members.first().and_then(|first| self.text(first));
            match first.and_then(Keyword::of) {
                Some(Keyword::Not | Keyword::Or | Keyword::And) => {
                    return members[1..].iter().for_each(|member| self.formula(member));
                }
                Some(Keyword::Distinct) => {
                    return members[1..]
                        .iter()
                        .for_each(|member| self.named(member, NameKind::Term));
                }
                _ => {}
            }
        }
        self.named(sexp, NameKind::Relation);
    }

    fn named(&mut self, sexp: &Sexp, kind: NameKind) {
        let mut add = |span, arity| self.uses.push(Use { span, kind, arity });
        match &sexp.kind {
            SexpKind::Variable => {}
            SexpKind::Symbol => add(sexp.span, 0),
            SexpKind::List(members) => {
                let arguments = match members.first() {
                    Some(first) if first.kind == SexpKind::Symbol => {
                        add(first.span, members.len() - 1);
                        &members[1..]
                    }
                    _ => &members[..],
                };
                for argument in arguments {
                    self.named(argument, NameKind::Term);
                }
            }
        }
    }
}

/// A selection of the occurrences of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The name.
    pub name: String,
    /// If given, only occurrences with this number of arguments.
    pub arity: Option<usize>,
    /// If given, only occurrences in this role.
    pub kind: Option<NameKind>,
}

/// The reason why a name cannot be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenameError {
    /// The new name is not a valid name.
    InvalidName(String),
    /// The word is reserved.
    Reserved(String),
    /// The word is a number, and numbers can be scores.
    Number(String),
    /// The new name is in use, at this place.
    Taken(String, Span),
    /// The old name does not occur; the second name is a similar one that does.
    Unknown(String, Option<String>),
    /// The old name occurs, but not as the pattern requires; an occurrence is given.
    Mismatch(Pattern, Use),
}

impl RenameError {
    /// The message for users.
    pub fn message(&self, sources: &Sources) -> String {
        match self {
            RenameError::InvalidName(name) => format!(
                "{name:?} is not a valid name: it must not be empty, begin with ?, or contain blanks, brackets or ;"
            ),
            RenameError::Reserved(name) => format!("{name} is a reserved word"),
            RenameError::Number(name) => {
                format!("{name} is a number, and numbers can be scores")
            }
            RenameError::Taken(name, place) => {
                format!(
                    "the name {name} is already used, at {}",
                    sources.place(*place)
                )
            }
            RenameError::Unknown(name, near) => match near {
                Some(near) => format!("the name {name} does not occur; did you mean {near}?"),
                None => format!("the name {name} does not occur"),
            },
            RenameError::Mismatch(asked, found) => {
                let kind = |kind| match kind {
                    NameKind::Relation => "relation",
                    NameKind::Term => "term",
                };
                let count = |arity| counted(arity, "argument");
                let wanted = match (asked.kind, asked.arity) {
                    (Some(wanted), Some(arity)) => {
                        format!("{} with {}", kind(wanted), count(arity))
                    }
                    (Some(wanted), None) => kind(wanted).to_owned(),
                    (None, arity) => format!("name with {}", count(arity.unwrap_or_default())),
                };
                format!(
                    "{} is not a {wanted}: it is a {} with {}, at {}",
                    asked.name,
                    kind(found.kind),
                    count(found.arity),
                    sources.place(found.span)
                )
            }
        }
    }
}

/// The places to be renamed.
///
/// # Errors
///
/// [`RenameError`] if the new name would change the meaning of the rules, or the old
/// name does not occur.
pub fn renamed(
    forms: &[Sexp],
    sources: &Sources,
    old: &Pattern,
    new: &str,
    case: Case,
) -> Result<Vec<Span>, RenameError> {
    let key = |name: &str| match case {
        Case::Fold => name.to_lowercase(),
        Case::Keep => name.to_owned(),
    };
    for name in [&old.name, new] {
        let is_blank = |c: char| c.is_whitespace() || "();\u{feff}".contains(c);
        if name.is_empty() || name.starts_with('?') || name.contains(is_blank) {
            return Err(RenameError::InvalidName(name.to_owned()));
        }
        if is_reserved(&name.to_lowercase()) {
            return Err(RenameError::Reserved(name.to_owned()));
        }
        if name.parse::<i64>().is_ok() {
            return Err(RenameError::Number(name.to_owned()));
        }
    }
    let uses = uses(forms, sources);
    let (from, to) = (key(&old.name), key(new));
    let mut places = Vec::new();
    let mut taken = None;
    for found in &uses {
        let name = key(sources.text(found.span));
        let fits = old.arity.is_none_or(|arity| arity == found.arity)
            && old.kind.is_none_or(|kind| kind == found.kind);
        if name == from && fits {
            places.push(found.span);
        } else if name == to && from != to && taken.is_none() {
            taken = Some(found.span);
        }
    }
    if places.is_empty() {
        let is_it = |found: &&Use| key(sources.text(found.span)) == from;
        if let Some(found) = uses.iter().find(is_it) {
            return Err(RenameError::Mismatch(old.clone(), *found));
        }
        let others = uses.iter().map(|found| sources.text(found.span));
        let near = others
            .filter(|name| !is_reserved(&name.to_lowercase()))
            .map(|name| (damerau_levenshtein(&key(name), &from), name))
            .filter(|(distance, _)| *distance > 0 && 3 * *distance <= from.len())
            .min();
        return Err(RenameError::Unknown(
            old.name.clone(),
            near.map(|(_, name)| name.to_owned()),
        ));
    }
    match taken {
        Some(place) => Err(RenameError::Taken(new.to_owned(), place)),
        None => Ok(places),
    }
}

/// The text of a file with some places replaced. The places are in order and do not
/// overlap.
pub fn edited<'e>(
    sources: &Sources,
    file: usize,
    edits: impl IntoIterator<Item = (Span, &'e str)>,
) -> String {
    let text = sources.files()[file].text();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, new) in edits {
        if span.file as usize == file {
            out.push_str(&text[at..span.start as usize]);
            out.push_str(new);
            at = span.end as usize;
        }
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Source;
    use crate::syntax::{SyntaxLimits, read};

    const RULES: &str = "(role ann) ; ann\n(p a) (q (a p 1))\n(<= (Q ?p) (or (not (p ?p)) p))";

    fn rename(old: &str, arity: Option<usize>, kind: Option<NameKind>, new: &str) -> String {
        let sources = Sources::from(Source::new("t", RULES));
        let (forms, _) = read(&sources, SyntaxLimits::default());
        let name = old.to_owned();
        let old = Pattern { name, arity, kind };
        match renamed(&forms, &sources, &old, new, Case::Fold) {
            Ok(places) => edited(&sources, 0, places.into_iter().map(|span| (span, new))),
            Err(error) => error.message(&sources),
        }
    }

    #[test]
    fn a_name_is_renamed_everywhere_or_where_selected() {
        let rest = "(role ann) ; ann\n";
        let everywhere = rename("p", None, None, "new");
        assert_eq!(
            everywhere,
            format!("{rest}(new a) (q (a new 1))\n(<= (Q ?p) (or (not (new ?p)) new))")
        );
        let of_arity = rename("p", Some(1), None, "new");
        assert_eq!(
            of_arity,
            format!("{rest}(new a) (q (a p 1))\n(<= (Q ?p) (or (not (new ?p)) p))")
        );
        let terms = rename("P", None, Some(NameKind::Term), "new");
        assert_eq!(
            terms,
            format!("{rest}(p a) (q (a new 1))\n(<= (Q ?p) (or (not (p ?p)) p))")
        );
        let cased = rename("q", None, None, "Q");
        assert_eq!(cased, RULES.replace("(q ", "(Q "));
    }

    #[test]
    fn renaming_that_changes_the_rules_is_rejected() {
        assert_eq!(
            rename("p", None, None, "A"),
            "the name A is already used, at t:2:4"
        );
        assert_eq!(rename("p", None, None, "Next"), "Next is a reserved word");
        assert_eq!(rename("role", None, None, "x"), "role is a reserved word");
        assert!(rename("p", None, None, "x y").starts_with("\"x y\" is not a valid name"));
        assert!(rename("p", None, None, "?x").starts_with("\"?x\" is not a valid name"));
        assert!(rename("p", None, None, "7").starts_with("7 is a number"));
        assert_eq!(
            rename("anm", None, None, "x"),
            "the name anm does not occur; did you mean ann?"
        );
        assert_eq!(
            rename("q", Some(4), None, "x"),
            "q is not a name with 4 arguments: it is a relation with 1 argument, at t:2:8"
        );
        assert_eq!(
            rename("ann", Some(1), Some(NameKind::Relation), "x"),
            "ann is not a relation with 1 argument: it is a term with 0 arguments, at t:1:7"
        );
    }
}
