//! An open file, as the protocol sees it.

use ggp_stop::Stop;

use lsp_types::{
    CodeAction, CodeActionKind, Diagnostic, DocumentSymbol, Location, Position, Range, SymbolKind,
    TextEdit, Uri, WorkspaceEdit,
};

use super::error::RequestError;
use super::fixes::Fix;
use super::protocol_finding;
use super::rule_files::{RuleFiles, for_each_variable};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::diagnostic::Code;
use ggp_gdl::rewrite::{Layout, Pattern, RenameError, Tree, laid_out, renamed};
use ggp_gdl::span::Span;
use ggp_gdl::symbol::Case;

/// An open file: a rule set of its own.
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) rules: RuleFiles,
    /// True if the findings about the text were published.
    is_published: bool,
}

/// Maximum number of characters of a form in the outline.
const OUTLINE: usize = 60;

impl Document {
    pub(super) fn new(uri: Uri, version: i32, text: String) -> Self {
        let rules = RuleFiles::new([(uri.as_str().to_owned(), text)]);
        Document {
            uri,
            version,
            rules,
            is_published: false,
        }
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.is_published
    }

    /// Replaces a range, or everything, with another text.
    pub(super) fn change(&mut self, range: Option<Range>, text: &str) {
        self.rules.change(range, text);
        self.is_published = false;
    }

    pub(super) fn locations(&self, places: Vec<Span>) -> Vec<Location> {
        let location = |span| Location {
            uri: self.uri.clone(),
            range: self.rules.range(span),
        };
        places.into_iter().map(location).collect()
    }

    /// The findings about the text, for publication; `None` if `stop` ended the check.
    pub(super) fn findings(
        &mut self,
        options: &ReadOptions,
        stop: &Stop,
    ) -> Option<Vec<Diagnostic>> {
        if !self.rules.check(options, stop) {
            return None;
        }
        let findings = self.rules.found().iter();
        let findings = findings.map(|finding| match stop.is_over() {
            true => None,
            false => Some(protocol_finding(finding, self)),
        });
        let findings = findings.collect::<Option<_>>()?;
        self.is_published = true;
        Some(findings)
    }

    /// The name or variable at a position, if it can be renamed.
    pub(super) fn renamable(&self, position: Position) -> Option<Span> {
        if let Some((variable, _)) = self.rules.variable_at(position) {
            return Some(variable);
        }
        let name = self.rules.name_at(position)?;
        let word = self.rules.word(name.span).to_lowercase();
        let is_fixed = ggp_gdl::rewrite::is_reserved(&word) || word.parse::<i64>().is_ok();
        (!is_fixed).then_some(name.span)
    }

    /// The occurrences that a rename changes.
    pub(super) fn rename(&self, position: Position, new: &str) -> Result<Vec<Span>, RequestError> {
        if let Some((variable, form)) = self.rules.variable_at(position) {
            let is_word = |c: char| !c.is_whitespace() && !"();?".contains(c);
            let rest = new.strip_prefix('?').unwrap_or_default();
            if rest.is_empty() || !rest.chars().all(is_word) {
                return Err(RequestError::NotAVariable(new.to_owned()));
            }
            let mut taken = false;
            for_each_variable(form, &mut |span| {
                taken |= self.rules.word(span).eq_ignore_ascii_case(new)
            });
            if taken && !self.rules.word(variable).eq_ignore_ascii_case(new) {
                return Err(RequestError::VariableTaken(new.to_owned()));
            }
            return Ok(self.rules.places_of(variable, form));
        }
        let Some(name) = self.rules.name_at(position) else {
            return Err(RequestError::NoName);
        };
        let old = Pattern {
            name: self.rules.word(name.span).to_owned(),
            arity: Some(name.arity),
            kind: Some(name.kind),
        };
        match renamed(
            self.rules.forms(),
            self.rules.sources(),
            &old,
            new,
            Case::Fold,
        ) {
            Ok(places) => Ok(places),
            Err(error @ RenameError::Taken(..)) => self.rules.merged(&name, new).ok_or_else(|| {
                let taken = error.message(self.rules.sources());
                RequestError::CannotRename(format!("{taken}, and both names are defined and used"))
            }),
            Err(error) => Err(RequestError::CannotRename(
                error.message(self.rules.sources()),
            )),
        }
    }

    /// The edits that format the text; empty if it is formatted already.
    pub(super) fn formatted(&self) -> Result<Vec<TextEdit>, RequestError> {
        if self.rules.is_infix() {
            return Err(RequestError::Infix);
        }
        let stop = Stop::new();
        let tree = match Tree::read(self.rules.sources(), self.rules.limits(), &stop) {
            Ok(tree) => tree,
            Err(findings) => {
                let first = findings.first().map(|finding| finding.message.clone());
                return Err(RequestError::Syntax(first.unwrap_or_default()));
            }
        };
        let text = laid_out(&tree, Layout::default(), &stop);
        if text == self.rules.text() {
            return Ok(Vec::new());
        }
        let whole = Range {
            start: Position::default(),
            end: self.rules.end(),
        };
        Ok(vec![TextEdit {
            range: whole,
            new_text: text,
        }])
    }

    /// The facts and rules as an outline.
    pub(super) fn outline(&self) -> Vec<DocumentSymbol> {
        let forms = self.rules.forms().iter();
        let symbols = forms.map(|form| {
            let head = self.rules.head(form);
            let is_rule = head.span != form.span;
            let words: Vec<&str> = self.rules.word(head.span).split_whitespace().collect();
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
                range: self.rules.range(form.span),
                selection_range: self.rules.range(head.span),
                children: None,
            }
        });
        symbols.collect()
    }

    /// The quick fixes for the findings in a range, and for the symbol there.
    pub(super) fn quick_fixes(&self, range: Range) -> Vec<CodeAction> {
        let (start, end) = (self.rules.offset(range.start), self.rules.offset(range.end));
        let is_near = |span: Span| span.start as usize <= end && start <= span.end as usize;
        let mut actions = Vec::new();
        for finding in self.rules.found() {
            if !finding.span.is_some_and(is_near) {
                continue;
            }
            let is_sure =
                match finding.code {
                    Code::Unused | Code::EmptyList => false,
                    // An argument may be missing.
                    Code::UnboundVariable => !self.rules.found().iter().any(|other| {
                        matches!(other.code, Code::RelationArity | Code::FunctionArity)
                    }),
                    _ => true,
                };
            for (number, fix) in self.rules.fixes(finding).into_iter().enumerate() {
                actions.push(CodeAction {
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![protocol_finding(finding, self)]),
                    is_preferred: Some(is_sure && number == 0),
                    ..self.action(fix)
                });
            }
        }
        if let Some(fix) = self.rules.add_signs(start) {
            let action = CodeAction {
                kind: Some(CodeActionKind::REFACTOR_REWRITE),
                ..self.action(fix)
            };
            if actions.iter().all(|other| other.edit != action.edit) {
                actions.push(action);
            }
        }
        actions
    }

    fn action(&self, fix: Fix) -> CodeAction {
        let edit = |(span, new_text)| TextEdit {
            range: self.rules.range(span),
            new_text,
        };
        let edits = fix.edits.into_iter().map(edit).collect();
        CodeAction {
            title: fix.title,
            edit: Some(WorkspaceEdit {
                changes: Some([(self.uri.clone(), edits)].into()),
                ..WorkspaceEdit::default()
            }),
            ..CodeAction::default()
        }
    }
}
