//! Quick fixes for findings, as edits.
//!
//! In: checked rules, and a finding about them. Out: its fixes. A suggested name occurs in the
//! same kind of place as the wrong one, with the same arity.

use std::collections::{BTreeMap, BTreeSet};

use strsim::damerau_levenshtein;

use super::rule_files::{RuleFiles, contains, for_each_variable};
use super::slots::{Slot, fillers, named};
use ggp_gdl::check::Keyword;
use ggp_gdl::diagnostic::{Code, Diagnostic};
use ggp_gdl::rewrite::{NameKind, Use};
use ggp_gdl::span::Span;
use ggp_gdl::syntax::{Sexp, SexpKind};

/// Maximum number of names that are suggested for one.
const OFFERED: usize = 3;

/// A fix: edits that belong together, with a title.
pub struct Fix {
    /// The title.
    pub title: String,
    /// The texts that replace spans.
    pub edits: Vec<(Span, String)>,
}

impl Fix {
    fn new(title: impl Into<String>, edits: Vec<(Span, String)>) -> Self {
        let title = title.into();
        Fix { title, edits }
    }
}

impl RuleFiles {
    /// The fixes for a finding, the likeliest first.
    pub fn fixes(&self, finding: &Diagnostic) -> Vec<Fix> {
        let Some(span) = finding.span else {
            return Vec::new();
        };
        let one = |fix: Option<Fix>| fix.into_iter().collect();
        match finding.code {
            Code::UnclosedBracket => vec![self.add_brackets(span, finding.notes.first())],
            Code::ExtraBracket => vec![match finding.notes.first() {
                Some((early, _)) => {
                    let edits = vec![(*early, String::new())];
                    Fix::new("Remove the bracket that ends the rule too early", edits)
                }
                None => Fix::new("Remove )", vec![(span, String::new())]),
            }],
            Code::EmptyList => vec![self.remove(span, "Remove ()")],
            Code::DuplicateRole => vec![self.remove(span, "Remove the duplicate role")],
            Code::MalformedRule => one(self.arrow_first(span)),
            Code::UnboundVariable => self.fix_unbound(span),
            Code::CaseDiffers => one(self.fix_spelling(span, finding)),
            Code::BracketedName => one(finding.notes.first().map(|(other, _)| {
                let new = self.word(*other).to_owned();
                Fix::new(format!("Replace with {new}"), vec![(span, new)])
            })),
            Code::OddName => one(self.unquote(span)),
            Code::ForbiddenDependency => one(self.add_keyword(finding)),
            Code::Undefined | Code::Unused | Code::UndeclaredRole => {
                match self.add_keyword(finding) {
                    Some(fix) => vec![fix],
                    None => self.replacements(finding),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Adds the missing brackets, either where the next form probably begins or at the end.
    fn add_brackets(&self, open: Span, stray: Option<&(Span, String)>) -> Fix {
        let start = open.start as usize;
        let text = self.text_of(open);
        let end = stray.map_or(text.len(), |(span, _)| span.start as usize);
        let (mut depth, mut last, mut is_comment) = (0_usize, start, false);
        for (at, c) in text[start..end].char_indices() {
            match c {
                '\n' | '\r' => is_comment = false,
                ';' => is_comment = true,
                _ => {}
            }
            if !is_comment && !c.is_whitespace() && c != '\u{feff}' {
                last = start + at + c.len_utf8();
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        let brackets = ")".repeat(depth);
        let place = Span {
            start: last as u32,
            end: last as u32,
            ..open
        };
        Fix::new(format!("Add {brackets}"), vec![(place, brackets)])
    }

    /// Removes a span and the blanks before it.
    fn remove(&self, span: Span, title: &str) -> Fix {
        let before = self.text_of(span)[..span.start as usize].trim_end_matches([' ', '\t']);
        let start = before.len() as u32;
        Fix::new(title, vec![(Span { start, ..span }, String::new())])
    }

    /// Turns `((p ?x) <= ...)` into `(<= (p ?x) ...)`.
    fn arrow_first(&self, rule: Span) -> Option<Fix> {
        let SexpKind::List(members) = &self.find(|sexp| sexp.span == rule)?.kind else {
            return None;
        };
        let [head, arrow, ..] = &members[..] else {
            return None;
        };
        let edits = vec![
            (head.span, "<=".to_owned()),
            (arrow.span, self.word(head.span).to_owned()),
        ];
        let is_arrow = self.word(arrow.span) == "<=";
        is_arrow.then(|| Fix::new("Move the arrow to the front", edits))
    }

    /// Fixes for an unbound variable: the missing sign of a bound one, and variables with
    /// similar names.
    fn fix_unbound(&self, variable: Span) -> Vec<Fix> {
        let Some(form) = self.form_around(variable) else {
            return Vec::new();
        };
        let name = self.word(variable);
        let mut fixes: Vec<Fix> = self.add_sign(form, name).into_iter().collect();
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        for_each_variable(form, &mut |span| {
            *others.entry(self.word(span)).or_default() += 1;
        });
        // A variable that occurs only once is the most likely one.
        let ranked = others.into_iter().filter_map(|(other, count)| {
            let far = damerau_levenshtein(other, name);
            let longest = other.chars().count().max(name.chars().count());
            let is_near = !other.eq_ignore_ascii_case(name) && 2 * far <= longest;
            is_near.then_some((count > 1, far, other))
        });
        let near = ranked.collect::<BTreeSet<_>>().into_iter();
        fixes.extend(near.take(OFFERED).map(|(_, _, other)| {
            let places = self.places_of(variable, form).into_iter();
            let edits = places.map(|place| (place, other.to_owned())).collect();
            Fix::new(format!("Replace {name} with {other}"), edits)
        }));
        fixes
    }

    /// Adds the missing sign to a variable's name that occurs as a constant.
    fn add_sign(&self, form: &Sexp, variable: &str) -> Option<Fix> {
        let bare = variable.strip_prefix('?').filter(|bare| !bare.is_empty())?;
        let mut edits = Vec::new();
        let mut open = vec![form];
        while let Some(sexp) = open.pop() {
            if let SexpKind::List(members) = &sexp.kind {
                // The first member of a list is not a term.
                open.extend(members.iter().skip(1).rev());
            } else if self.word(sexp.span).eq_ignore_ascii_case(bare) {
                edits.push((sexp.span, variable.to_owned()));
            }
        }
        let title = format!("Replace {bare} with {variable}");
        (!edits.is_empty()).then(|| Fix::new(title, edits))
    }

    /// Fixes a name without a sign in a rule that has a variable of that name.
    pub(super) fn add_signs(&self, offset: usize) -> Option<Fix> {
        let touches = |span: Span| self.touches(span, offset);
        let form = self.forms().iter().find(|form| touches(form.span))?;
        let found = self.uses().into_iter().find(|found| touches(found.span))?;
        let name = self.word(found.span);
        let mut variable = None;
        for_each_variable(form, &mut |span| {
            let other = self.word(span);
            if other[1..].eq_ignore_ascii_case(name) {
                variable = Some(other);
            }
        });
        self.add_sign(form, variable?)
    }

    /// Fixes the spelling of a name to that of its first occurrence.
    fn fix_spelling(&self, span: Span, finding: &Diagnostic) -> Option<Fix> {
        let name = self.word(span);
        let (new, places) = match finding.notes.first() {
            Some((first, _)) => {
                let uses = self.uses().into_iter().map(|found| found.span);
                let same = uses.filter(|place| self.word(*place) == name);
                (self.word(*first), same.collect())
            }
            None => {
                let form = self.form_around(span)?;
                let places = self.places_of(span, form);
                (self.word(*places.first()?), places)
            }
        };
        let edits: Vec<_> = places
            .into_iter()
            .map(|place| (place, new.to_owned()))
            .collect();
        Some(Fix::new(format!("Replace {name} with {new}"), edits))
    }

    fn unquote(&self, span: Span) -> Option<Fix> {
        let word = self.word(span);
        let bare = word.strip_prefix('"')?.strip_suffix('"')?;
        let is_name = !bare.is_empty() && !bare.contains('"') && !bare.starts_with('?');
        is_name.then(|| {
            Fix::new(
                format!("Replace with {bare}"),
                vec![(span, bare.to_owned())],
            )
        })
    }

    /// Adds the keyword around an atom that the finding's help suggests.
    fn add_keyword(&self, finding: &Diagnostic) -> Option<Fix> {
        let (span, help) = (finding.span?, finding.help.as_deref()?);
        let (_, meant) = help.rsplit_once("did you mean (")?;
        let around = meant.strip_suffix(")?")?;
        let keyword = around.strip_suffix(self.word(span))?.trim_end();
        // The user has to choose the role.
        Keyword::of(keyword)?;
        let new = format!("({keyword} {})", self.word(span));
        Some(Fix::new(format!("Replace with {new}"), vec![(span, new)]))
    }

    /// Names that replace one that is undefined, unused or not a role.
    fn replacements(&self, finding: &Diagnostic) -> Vec<Fix> {
        let Some((slot, wrong)) = self.named_by(finding) else {
            return Vec::new();
        };
        let name = self.word(wrong.span);
        let key = name.to_lowercase();
        let undefined: Vec<String> = self
            .found()
            .iter()
            .filter(|other| other.code == Code::Undefined)
            .filter_map(|other| self.named_by(other))
            .map(|(_, found)| self.word(found.span).to_lowercase())
            .collect();
        let fits = |found: &Use| found.kind == wrong.kind && found.arity == wrong.arity;
        let words: Vec<&str> = match slot {
            Some(slot) => fillers(self.forms(), self.sources())
                .into_iter()
                .filter(|(other, found)| *other == slot && fits(found))
                .map(|(_, found)| self.word(found.span))
                .collect(),
            None => {
                let keywords = Keyword::ALL.iter().filter(|keyword| {
                    !keyword.is_connective() && keyword.arity() == Some(wrong.arity)
                });
                let uses = self.uses().into_iter().filter(fits);
                let words = uses.map(|found| self.word(found.span));
                words
                    .chain(keywords.map(|keyword| keyword.as_str()))
                    .collect()
            }
        };
        // A name that is never used may be meant for one that is asked for in vain, or for
        // a missing keyword.
        let uses = self.uses();
        let is_missing = |word: &str| {
            let mut words = uses.iter().map(|found| self.word(found.span));
            Keyword::of(word).is_some() && !words.any(|other| other.eq_ignore_ascii_case(word))
        };
        let is_wanted = |word: &str| match finding.code {
            Code::Unused => undefined.contains(&word.to_lowercase()) || is_missing(word),
            _ => !undefined.contains(&word.to_lowercase()),
        };
        let candidates: BTreeSet<(usize, &str)> = words
            .into_iter()
            .filter_map(|word| {
                let other = word.to_lowercase();
                let far = damerau_levenshtein(&key, &other);
                let longest = key.chars().count().max(other.chars().count());
                let is_near = 2 * far <= longest || slot == Some(Slot::Role);
                (other != key && is_wanted(word) && is_near).then_some((far, word))
            })
            .collect();
        let mut seen = BTreeSet::new();
        let distinct = candidates
            .into_iter()
            .filter(|(_, word)| seen.insert(word.to_lowercase()));
        let fixes = distinct.take(OFFERED).map(|(_, new)| {
            let places = self.alike(slot, &wrong).into_iter();
            let edits = places.map(|place| (place, new.to_owned())).collect();
            Fix::new(format!("Replace {name} with {new}"), edits)
        });
        fixes.collect()
    }

    /// The occurrences of a name that have the same error.
    fn alike(&self, slot: Option<Slot>, wrong: &Use) -> Vec<Span> {
        let uses: Vec<Use> = match slot {
            None => self.uses(),
            Some(slot) => fillers(self.forms(), self.sources())
                .into_iter()
                .filter_map(|(other, found)| (other == slot).then_some(found))
                .collect(),
        };
        let same = uses.into_iter().filter(|other| self.is_same(wrong, other));
        same.map(|found| found.span).collect()
    }

    /// The name that a finding is about, and its slot.
    fn named_by(&self, finding: &Diagnostic) -> Option<(Option<Slot>, Use)> {
        let span = finding.span?;
        let sexp = self.find(|sexp| sexp.span == span)?;
        let name = named(sexp, NameKind::Relation)?;
        let word = self.word(name.span);
        if Keyword::of(word).is_none() {
            return Some((None, name));
        }
        let SexpKind::List(members) = &sexp.kind else {
            return None;
        };
        let is_role = finding.code == Code::UndeclaredRole;
        members[1..]
            .iter()
            .enumerate()
            .find_map(|(number, member)| {
                let slot = Slot::of(word, number)?;
                let fits = is_role == (slot == Slot::Role);
                Some((Some(slot), named(member, NameKind::Term)?)).filter(|_| fits)
            })
    }

    /// The occurrences that are merged into another name, if the current one is never
    /// defined or never used; `None` if it is.
    pub(super) fn merged(&self, name: &Use, new: &str) -> Option<Vec<Span>> {
        let is_there = |other: &Use| {
            other.kind == name.kind
                && other.arity == name.arity
                && self.word(other.span).eq_ignore_ascii_case(new)
        };
        if !self.uses().iter().any(is_there) {
            return None;
        }
        let wrong = self.found().iter().filter(|finding| {
            matches!(
                finding.code,
                Code::Undefined | Code::Unused | Code::UndeclaredRole
            )
        });
        let mut wrong = wrong.filter_map(|finding| self.named_by(finding));
        let (slot, _) = wrong.find(|(_, found)| self.is_same(name, found))?;
        Some(self.alike(slot, name))
    }

    /// The first form, in preorder, that satisfies the condition.
    fn find(&self, mut matches: impl FnMut(&Sexp) -> bool) -> Option<&Sexp> {
        let mut open: Vec<&Sexp> = self.forms().iter().rev().collect();
        while let Some(sexp) = open.pop() {
            if matches(sexp) {
                return Some(sexp);
            }
            if let SexpKind::List(members) = &sexp.kind {
                open.extend(members.iter().rev());
            }
        }
        None
    }

    fn form_around(&self, span: Span) -> Option<&Sexp> {
        let mut forms = self.forms().iter();
        forms.find(|form| contains(form.span, span))
    }
}
