//! Rule files in an editor: their texts, and the game that they contain.
//!
//! In: the texts of a rule set, one of which has the focus. Out: the names at positions in it,
//! and their meaning. Spans may be in any of the files.

use std::collections::BTreeMap;

use ggp_stop::Stop;
use lsp_types::{Position, Range};

use super::slots::{Slot, fillers};
use super::text::Text;
use ggp_gdl::check::{self, Keyword, ReadOptions};
use ggp_gdl::diagnostic::Diagnostic;
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{NameKind, Use, detect_infix, infix_finding, uses};
use ggp_gdl::span::{Sources, Span};
use ggp_gdl::syntax::{self, Sexp, SexpKind, SyntaxLimits};

/// The files of a rule set.
pub struct RuleFiles {
    texts: Vec<Text>,
    /// The index of the file that positions are in.
    focus: usize,
    limits: SyntaxLimits,
    /// True if the texts were checked.
    is_read: bool,
    sources: Sources,
    forms: Vec<Sexp>,
    findings: Vec<Diagnostic>,
    omitted: usize,
    /// Constants used as roles, facts and moves, with their arities, as of the last texts
    /// with balanced brackets.
    filled: Vec<(Slot, String, usize)>,
    /// The game of the last texts without errors.
    game: Option<Game>,
    /// True if the game is that of the current texts.
    is_game: bool,
}

impl RuleFiles {
    /// Files with their names and texts; the first one has the focus.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files = files.into_iter();
        RuleFiles {
            texts: files.map(|(name, text)| Text::new(name, text)).collect(),
            focus: 0,
            limits: SyntaxLimits::default(),
            is_read: false,
            sources: Sources::default(),
            forms: Vec::new(),
            findings: Vec::new(),
            omitted: 0,
            filled: Vec::new(),
            game: None,
            is_game: false,
        }
    }

    /// Replaces all files. The game of the last correct texts is remembered.
    pub fn replace(&mut self, files: impl IntoIterator<Item = (String, String)>) {
        let files = files.into_iter();
        self.texts = files.map(|(name, text)| Text::new(name, text)).collect();
        self.focus = 0;
        self.is_read = false;
    }

    /// Sets the file that positions are in. Returns whether there is such a file.
    pub fn focus(&mut self, name: &str) -> bool {
        let named = self.texts.iter().position(|text| text.name() == name);
        self.focus = named.unwrap_or(self.focus);
        named.is_some()
    }

    /// Replaces a range of the text in focus, or all of it, with another text.
    pub(super) fn change(&mut self, range: Option<Range>, text: &str) {
        self.texts[self.focus] = self.texts[self.focus].changed(range, text);
        self.is_read = false;
    }

    /// The byte offset of a position.
    pub(super) fn offset(&self, position: Position) -> usize {
        self.texts[self.focus].offset(position)
    }

    /// The range of a span, which is in the file of the span.
    pub fn range(&self, span: Span) -> Range {
        self.texts[span.file as usize].range(span)
    }

    /// The name of the file of a span.
    pub fn file(&self, span: Span) -> &str {
        self.texts[span.file as usize].name()
    }

    /// The end of the text in focus.
    pub(super) fn end(&self) -> Position {
        self.texts[self.focus].position(self.text().len())
    }

    /// Checks the texts, unless that was done already. Returns false if `stop` ended it; the
    /// texts are then checked again at the next call.
    pub fn check(&mut self, options: &ReadOptions, stop: &Stop) -> bool {
        if self.is_read {
            return true;
        }
        self.limits = options.syntax;
        self.sources = Sources::new(self.texts.iter().map(Text::source).collect());
        if let Some(finding) = infix_finding(&self.sources) {
            self.findings = vec![finding];
            self.omitted = 0;
            self.forms.clear();
            self.is_game = false;
            self.is_read = true;
            return true;
        }
        let (forms, wrong) = syntax::read_until(&self.sources, options.syntax, stop);
        if stop.is_over() {
            return false;
        }
        let reading = check::read_until(self.sources.clone(), options, stop);
        if stop.is_over() {
            return false;
        }
        self.forms = forms;
        if wrong.is_empty() {
            let found = fillers(&self.forms, &self.sources).into_iter();
            let word = |span| self.sources.text(span).to_owned();
            let filled = found.map(|(slot, found)| (slot, word(found.span), found.arity));
            self.filled = filled.collect();
        }
        self.findings = reading.findings;
        self.omitted = reading.omitted;
        self.is_game = reading.game.is_some();
        if self.is_game {
            self.game = reading.game;
        }
        self.is_read = true;
        true
    }

    /// The findings of the check.
    pub fn found(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Number of findings beyond those that are reported.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    pub(super) fn limits(&self) -> SyntaxLimits {
        self.limits
    }

    pub(super) fn forms(&self) -> &[Sexp] {
        &self.forms
    }

    /// The files as they were checked.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The constants for a slot, with their arities: those of the last text with balanced
    /// brackets, and those of the correct parts of this text.
    pub(super) fn filled(&self, slot: Slot) -> BTreeMap<String, usize> {
        let known = self.filled.iter().cloned();
        let found = fillers(&self.forms, &self.sources).into_iter();
        let found =
            found.map(|(slot, found)| (slot, self.word(found.span).to_owned(), found.arity));
        let own = known.chain(found).filter(|(other, ..)| *other == slot);
        own.map(|(_, name, arity)| (name, arity)).collect()
    }

    /// The game, if the current text is correct.
    pub fn game(&self) -> Option<&Game> {
        self.game.as_ref().filter(|_| self.is_game)
    }

    /// The game of the last correct text.
    pub(super) fn last_game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    pub(super) fn text(&self) -> &str {
        self.texts[self.focus].text()
    }

    /// The text of the file of a span.
    pub(super) fn text_of(&self, span: Span) -> &str {
        self.texts[span.file as usize].text()
    }

    pub(super) fn word(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    pub(super) fn uses(&self) -> Vec<Use> {
        uses(&self.forms, &self.sources)
    }

    /// The name at a position.
    pub(super) fn name_at(&self, position: Position) -> Option<Use> {
        let offset = self.offset(position);
        self.uses()
            .into_iter()
            .find(|found| self.touches(found.span, offset))
    }

    /// The variable at a position, and the form around it.
    pub(super) fn variable_at(&self, position: Position) -> Option<(Span, &Sexp)> {
        let offset = self.offset(position);
        let form = self
            .forms
            .iter()
            .find(|form| self.touches(form.span, offset))?;
        let mut found = None;
        for_each_variable(form, &mut |span| {
            if self.touches(span, offset) {
                found = Some(span);
            }
        });
        Some((found?, form))
    }

    /// All occurrences of a variable in a form.
    pub(super) fn places_of(&self, variable: Span, form: &Sexp) -> Vec<Span> {
        let name = self.word(variable);
        let mut places = Vec::new();
        for_each_variable(form, &mut |span| {
            if self.word(span).eq_ignore_ascii_case(name) {
                places.push(span);
            }
        });
        places
    }

    /// All occurrences of the symbol at a position.
    pub(super) fn uses_of(&self, position: Position) -> Vec<Span> {
        if let Some((variable, form)) = self.variable_at(position) {
            return self.places_of(variable, form);
        }
        let Some(name) = self.name_at(position) else {
            return Vec::new();
        };
        let uses = self.uses().into_iter();
        let same = uses.filter(|other| self.is_same(&name, other));
        same.map(|other| other.span).collect()
    }

    /// Returns whether two uses are of the same name: equal arity, and both terms or both
    /// relations.
    pub(super) fn is_same(&self, one: &Use, other: &Use) -> bool {
        one.kind == other.kind
            && one.arity == other.arity
            && self
                .word(one.span)
                .eq_ignore_ascii_case(self.word(other.span))
    }

    /// The definitions of the symbol at a position: heads and facts of a relation, heads
    /// that derive a fact or move, otherwise the first occurrence.
    pub fn definitions(&self, position: Position) -> Vec<Span> {
        if let Some((variable, form)) = self.variable_at(position) {
            let mut places = self.places_of(variable, form);
            places.truncate(1);
            return places;
        }
        let Some(name) = self.name_at(position) else {
            return Vec::new();
        };
        let uses = self.uses();
        let same = |found: &&Use| self.is_same(&name, found);
        let mut places: Vec<Span> = Vec::new();
        for form in &self.forms {
            let head = self.head(form);
            // Uses are in the order of the text.
            let start = uses.partition_point(|found| found.span < head.span);
            let heads = uses[start..].iter();
            let heads = heads.take_while(|found| contains(head.span, found.span));
            match name.kind {
                // The name of the head itself is its first use.
                NameKind::Relation => {
                    places.extend(heads.take(1).filter(same).map(|found| found.span))
                }
                NameKind::Term => {
                    let mut heads = heads;
                    let relation = heads.next().map(|found| self.word(found.span));
                    let makes = relation.and_then(Keyword::of).is_some();
                    places.extend(heads.filter(same).filter(|_| makes).map(|found| found.span));
                }
            }
        }
        if places.is_empty() {
            places.extend(uses.iter().find(same).map(|found| found.span));
        }
        places
    }

    /// The head of a rule, or the fact itself.
    pub(super) fn head<'f>(&self, form: &'f Sexp) -> &'f Sexp {
        match &form.kind {
            SexpKind::List(members) => match &members[..] {
                [arrow, head, ..] if self.word(arrow.span) == "<=" => head,
                _ => form,
            },
            _ => form,
        }
    }

    pub(super) fn is_infix(&self) -> bool {
        detect_infix(self.text()) == Some(true)
    }

    /// The connective at a position, or `<=`: its span and its meaning.
    pub(super) fn connective_at(&self, position: Position) -> Option<(Span, String)> {
        let offset = self.offset(position);
        let form = self
            .forms
            .iter()
            .find(|form| self.touches(form.span, offset))?;
        let SexpKind::List(members) = &form.kind else {
            return None;
        };
        let [arrow, _, body @ ..] = &members[..] else {
            return None;
        };
        if self.word(arrow.span) != "<=" {
            return None;
        }
        if self.touches(arrow.span, offset) {
            let text = "(<= HEAD LITERAL ...) — the head holds if all literals do";
            return Some((arrow.span, text.to_owned()));
        }
        let mut literals = body;
        loop {
            let literal = literals
                .iter()
                .find(|literal| self.touches(literal.span, offset))?;
            let SexpKind::List(members) = &literal.kind else {
                return None;
            };
            let (first, rest) = members.split_first()?;
            let keyword = Keyword::of(self.word(first.span)).filter(|k| k.is_connective())?;
            if self.touches(first.span, offset) {
                let text = format!("{} — {}", keyword.form(), keyword.meaning());
                return Some((first.span, text));
            }
            literals = rest;
        }
    }

    /// Returns whether a span in focus touches an offset. The end counts, so that a word is
    /// found from behind it.
    pub(super) fn touches(&self, span: Span, offset: usize) -> bool {
        span.file as usize == self.focus
            && (span.start as usize..=span.end as usize).contains(&offset)
    }
}

/// Returns whether a span is within another one.
pub(super) fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Calls `visit` for each variable of a form.
pub(super) fn for_each_variable(form: &Sexp, visit: &mut impl FnMut(Span)) {
    match &form.kind {
        SexpKind::Variable => visit(form.span),
        SexpKind::Symbol => {}
        SexpKind::List(members) => members
            .iter()
            .for_each(|member| for_each_variable(member, visit)),
    }
}
