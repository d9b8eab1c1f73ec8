//! An open file: its text, positions in it, and the game that it contains.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use lsp_types::{Diagnostic, DocumentSymbol, Location, Position, Range, SymbolKind, TextEdit, Uri};

use super::error::RequestError;
use super::protocol_finding;
use super::slots::{Slot, fillers};
use ggp_gdl::check::{self, Keyword, ReadOptions};
use ggp_gdl::diagnostic::{Code, Strictness};
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{
    Layout, NameKind, Pattern, RenameError, Tree, Use, detect_infix, laid_out, renamed, uses,
};
use ggp_gdl::span::{Source, Sources, Span};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{self, Sexp, SexpKind, SyntaxLimits};

/// An open file.
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) version: i32,
    text: String,
    /// The byte offset of each line.
    lines: Vec<usize>,
    limits: SyntaxLimits,
    /// True if the text was checked, and if its findings were published.
    is_read: bool,
    is_published: bool,
    sources: Sources,
    forms: Vec<Sexp>,
    findings: Vec<ggp_gdl::diagnostic::Diagnostic>,
    /// Constants used as roles, facts and moves, with their arities, as of the last text
    /// with balanced brackets.
    filled: Vec<(Slot, String, usize)>,
    /// The game of the last text without errors.
    game: Option<Game>,
    /// True if the game is that of the current text.
    is_game: bool,
}

/// The characters that end a line.
const ENDS: [char; 2] = ['\r', '\n'];

/// Maximum number of characters of a form in the outline.
const OUTLINE: usize = 60;

/// The finding for a text in infix notation.
pub(super) const INFIX: &str = "this is infix notation, not KIF";

impl Document {
    pub(super) fn new(uri: Uri, version: i32, text: String) -> Self {
        let mut document = Document {
            uri,
            version,
            text,
            lines: Vec::new(),
            limits: SyntaxLimits::default(),
            is_read: false,
            is_published: false,
            sources: Sources::default(),
            forms: Vec::new(),
            findings: Vec::new(),
            filled: Vec::new(),
            game: None,
            is_game: false,
        };
        document.find_lines();
        document
    }

    /// Lines end with a line feed, a carriage return, or both.
    fn find_lines(&mut self) {
        let bytes = self.text.as_bytes();
        let is_end = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = (0..bytes.len()).filter(is_end);
        self.lines = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        self.is_read = false;
        self.is_published = false;
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.is_published
    }

    /// Replaces a range, or everything, with another text.
    pub(super) fn change(&mut self, range: Option<Range>, text: &str) {
        match range {
            None => self.text = text.to_owned(),
            Some(range) => {
                let (start, end) = (self.offset(range.start), self.offset(range.end));
                self.text.replace_range(start..end.max(start), text);
            }
        }
        self.find_lines();
    }

    /// The byte offset of a position. A position beyond the line or the text is at its end.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else {
            return self.text.len();
        };
        let next = self.lines.get(position.line as usize + 1);
        let line = &self.text[start..next.map_or(self.text.len(), |&next| next)];
        let line = line.trim_end_matches(ENDS);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units >= position.character as usize {
                return start + at;
            }
            units += c.len_utf16();
        }
        start + line.len()
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        // An offset within the end of a line is at the end of the line.
        let before = self.text[self.lines[line]..offset].trim_end_matches(ENDS);
        Position {
            line: line as u32,
            character: before.chars().map(char::len_utf16).sum::<usize>() as u32,
        }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range {
            start: self.position(span.start as usize),
            end: self.position(span.end as usize),
        }
    }

    pub(super) fn locations(&self, places: Vec<Span>) -> Vec<Location> {
        let location = |span| Location {
            uri: self.uri.clone(),
            range: self.range(span),
        };
        places.into_iter().map(location).collect()
    }

    /// Checks the text, unless that was done already. Returns false if `stop` ended it; the
    /// text is then checked again at the next call.
    pub(super) fn check(&mut self, options: &ReadOptions, stop: &Stop) -> bool {
        if self.is_read {
            return true;
        }
        self.limits = options.syntax;
        self.sources = Sources::from(Source::new(self.uri.as_str(), self.text.clone()));
        if self.is_infix() {
            let end = self.text.trim_end().lines().next().map_or(0, str::len);
            let (file, start, end) = (0, 0, end as u32);
            let place = Span { file, start, end };
            let finding = ggp_gdl::diagnostic::Diagnostic::new(
                Code::BadInfix,
                Strictness::Tolerant,
                place,
                INFIX.to_owned(),
            );
            self.findings = vec![finding.help("`ggp convert FILE` converts it to KIF")];
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
        self.is_game = reading.game.is_some();
        if self.is_game {
            self.game = reading.game;
        }
        self.is_read = true;
        true
    }

    /// The findings about the text, for publication; `None` if `stop` ended the check.
    pub(super) fn findings(
        &mut self,
        options: &ReadOptions,
        stop: &Stop,
    ) -> Option<Vec<Diagnostic>> {
        if !self.check(options, stop) {
            return None;
        }
        let findings = self.findings.iter();
        let findings = findings.map(|finding| match stop.is_over() {
            true => None,
            false => Some(protocol_finding(finding, self)),
        });
        let findings = findings.collect::<Option<_>>()?;
        self.is_published = true;
        Some(findings)
    }

    /// The findings as reported by the check.
    pub(super) fn found(&self) -> &[ggp_gdl::diagnostic::Diagnostic] {
        &self.findings
    }

    pub(super) fn forms(&self) -> &[Sexp] {
        &self.forms
    }

    pub(super) fn sources(&self) -> &Sources {
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
    pub(super) fn game(&self) -> Option<&Game> {
        self.game.as_ref().filter(|_| self.is_game)
    }

    /// The game of the last correct text.
    pub(super) fn last_game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
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
            .find(|found| touches(found.span, offset))
    }

    /// The variable at a position, and the form around it.
    pub(super) fn variable_at(&self, position: Position) -> Option<(Span, &Sexp)> {
        let offset = self.offset(position);
        let form = self.forms.iter().find(|form| touches(form.span, offset))?;
        let mut found = None;
        for_each_variable(form, &mut |span| {
            if touches(span, offset) {
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
    pub(super) fn definitions(&self, position: Position) -> Vec<Span> {
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
            let start = uses.partition_point(|found| found.span.start < head.span.start);
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

    /// The name or variable at a position, if it can be renamed.
    pub(super) fn renamable(&self, position: Position) -> Option<Span> {
        if let Some((variable, _)) = self.variable_at(position) {
            return Some(variable);
        }
        let name = self.name_at(position)?;
        let word = self.word(name.span).to_lowercase();
        let is_fixed = ggp_gdl::rewrite::is_reserved(&word) || word.parse::<i64>().is_ok();
        (!is_fixed).then_some(name.span)
    }

    /// The occurrences that a rename changes.
    pub(super) fn rename(&self, position: Position, new: &str) -> Result<Vec<Span>, RequestError> {
        if let Some((variable, form)) = self.variable_at(position) {
            let is_word = |c: char| !c.is_whitespace() && !"();?".contains(c);
            let rest = new.strip_prefix('?').unwrap_or_default();
            if rest.is_empty() || !rest.chars().all(is_word) {
                return Err(RequestError::NotAVariable(new.to_owned()));
            }
            let mut taken = false;
            for_each_variable(form, &mut |span| {
                taken |= self.word(span).eq_ignore_ascii_case(new)
            });
            if taken && !self.word(variable).eq_ignore_ascii_case(new) {
                return Err(RequestError::VariableTaken(new.to_owned()));
            }
            return Ok(self.places_of(variable, form));
        }
        let Some(name) = self.name_at(position) else {
            return Err(RequestError::NoName);
        };
        let old = Pattern {
            name: self.word(name.span).to_owned(),
            arity: Some(name.arity),
            kind: Some(name.kind),
        };
        match renamed(&self.forms, &self.sources, &old, new, Case::Fold) {
            Ok(places) => Ok(places),
            Err(error @ RenameError::Taken(..)) => self.merged(&name, new).ok_or_else(|| {
                let taken = error.message(&self.sources);
                RequestError::CannotRename(format!("{taken}, and both names are defined and used"))
            }),
            Err(error) => Err(RequestError::CannotRename(error.message(&self.sources))),
        }
    }

    fn is_infix(&self) -> bool {
        detect_infix(&self.text) == Some(true)
    }

    /// The connective at a position, or `<=`: its span and its meaning.
    pub(super) fn connective_at(&self, position: Position) -> Option<(Span, String)> {
        let offset = self.offset(position);
        let form = self.forms.iter().find(|form| touches(form.span, offset))?;
        let SexpKind::List(members) = &form.kind else {
            return None;
        };
        let [arrow, _, body @ ..] = &members[..] else {
            return None;
        };
        if self.word(arrow.span) != "<=" {
            return None;
        }
        if touches(arrow.span, offset) {
            let text = "(<= HEAD LITERAL ...) — the head holds if all literals do";
            return Some((arrow.span, text.to_owned()));
        }
        let mut literals = body;
        loop {
            let literal = literals
                .iter()
                .find(|literal| touches(literal.span, offset))?;
            let SexpKind::List(members) = &literal.kind else {
                return None;
            };
            let (first, rest) = members.split_first()?;
            let keyword = Keyword::of(self.word(first.span)).filter(|k| k.is_connective())?;
            if touches(first.span, offset) {
                let text = format!("{} — {}", keyword.form(), keyword.meaning());
                return Some((first.span, text));
            }
            literals = rest;
        }
    }

    /// The edits that format the text; empty if it is formatted already.
    pub(super) fn formatted(&self) -> Result<Vec<TextEdit>, RequestError> {
        if self.is_infix() {
            return Err(RequestError::Infix);
        }
        let stop = Stop::new();
        let tree = match Tree::read(&self.sources, self.limits, &stop) {
            Ok(tree) => tree,
            Err(findings) => {
                let first = findings.first().map(|finding| finding.message.clone());
                return Err(RequestError::Syntax(first.unwrap_or_default()));
            }
        };
        let text = laid_out(&tree, Layout::default(), &stop);
        if text == self.text {
            return Ok(Vec::new());
        }
        let whole = Range {
            start: Position::default(),
            end: self.position(self.text.len()),
        };
        Ok(vec![TextEdit {
            range: whole,
            new_text: text,
        }])
    }

    /// The facts and rules as an outline.
    pub(super) fn outline(&self) -> Vec<DocumentSymbol> {
        let forms = self.forms.iter();
        let symbols = forms.map(|form| {
            let head = self.head(form);
            let is_rule = head.span != form.span;
            let words: Vec<&str> = self.word(head.span).split_whitespace().collect();
            let mut name = words.join(" ");
            if name.chars().count() > OUTLINE {
                name = name.chars().take(OUTLINE).chain(['…']).collect();
            }
            #[allow(deprecated)] // The type has a deprecated field.
            DocumentSymbol {
                name,
                detail: Some(if is_rule { "rule" } else { "fact" }.to_owned()),
                kind: match is_rule {
                    true => SymbolKind::FUNCTION,
                    false => SymbolKind::CONSTANT,
                },
                tags: None,
                deprecated: None,
                range: self.range(form.span),
                selection_range: self.range(head.span),
                children: None,
            }
        });
        symbols.collect()
    }
}

/// Returns whether a span touches an offset. The end counts, so that a word is found from
/// behind it.
fn touches(span: Span, offset: usize) -> bool {
    (span.start as usize..=span.end as usize).contains(&offset)
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
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
