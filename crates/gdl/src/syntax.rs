//! Reads text into lists. No other module uses the pest grammar for KIF.
//!
//! In: rule files. Out: one [`Sexp`] for each top-level form, in order, over all
//! files. Not done here: interpretation of the forms. Nesting is kept on an explicit
//! stack, so no input can exhaust the call stack.

use ggp_stop::Stop;

use pest::Parser;

use crate::counted::counted;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::span::{Sources, Span};
use kif::{Kif, Rule};

/// The parser derived by pest, which generates no documentation.
#[allow(missing_docs)]
mod kif {
    #[derive(pest_derive::Parser)]
    #[grammar = "grammar/kif.pest"]
    pub struct Kif;
}

/// Limits on the text of a rule set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SyntaxLimits {
    /// Maximum number of bytes of all files together.
    pub bytes: usize,
    /// Maximum depth of nested lists; values above [`SyntaxLimits::MAX_NESTING`] have
    /// the effect of that constant.
    pub nesting: usize,
}

impl SyntaxLimits {
    /// The largest possible nesting limit. Later passes recurse over nested terms;
    /// this bounds their stack.
    pub const MAX_NESTING: usize = 1_000;
}

impl Default for SyntaxLimits {
    fn default() -> Self {
        SyntaxLimits {
            bytes: 16 << 20,
            nesting: 200,
        }
    }
}

/// A name, a variable or a list, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sexp {
    /// Its place; for a list, including the brackets.
    pub span: Span,
    /// The kind of node.
    pub kind: SexpKind,
}

/// The three kinds of KIF nodes. The text of names and variables is read from the
/// source by their span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SexpKind {
    /// A name such as `cell` or `12`.
    Symbol,
    /// A variable such as `?x`.
    Variable,
    /// A bracketed list.
    List(Vec<Sexp>),
}

/// Reads all files as one sequence of forms.
///
/// Returns all forms that could be read, even if there are findings, so that later
/// passes can find further errors. The forms are usable only if no finding is an
/// error.
pub fn read(sources: &Sources, limits: SyntaxLimits) -> (Vec<Sexp>, Vec<Diagnostic>) {
    read_until(sources, limits, &Stop::new())
}

/// Reads all files; stops soon after `stop` is over, with a part of the forms.
pub fn read_until(
    sources: &Sources,
    limits: SyntaxLimits,
    stop: &Stop,
) -> (Vec<Sexp>, Vec<Diagnostic>) {
    read_more(sources, 0, (Vec::new(), Vec::new()), limits, stop)
}

/// Reads the files from `first` on; `known` are the forms and findings of those before, without
/// errors.
pub(crate) fn read_more(
    sources: &Sources,
    first: usize,
    known: (Vec<Sexp>, Vec<Diagnostic>),
    limits: SyntaxLimits,
    stop: &Stop,
) -> (Vec<Sexp>, Vec<Diagnostic>) {
    let mut reader = Reader {
        nesting: limits.nesting.min(SyntaxLimits::MAX_NESTING),
        forms: known.0,
        findings: known.1,
    };
    let bytes: usize = sources.files().iter().map(|file| file.text().len()).sum();
    let most = limits.bytes.min(u32::MAX as usize);
    if bytes > most {
        let finding = error(
            Code::TooLarge,
            None,
            format!("the rules are larger than {}", counted(most, "byte")),
        );
        reader
            .findings
            .push(finding.help("if this is intended, raise the limit with --max-bytes"));
        return (reader.forms, reader.findings);
    }
    for file in first as u32..sources.files().len() as u32 {
        reader.read_file(file, sources, stop);
    }
    (reader.forms, reader.findings)
}

/// Maximum number of unmatched closing brackets of one file reported individually.
const MAX_EXTRA: usize = 20;

/// Approximate number of bytes tokenized at once.
const PORTION: usize = 1 << 16;

/// The end of the portion that begins at `from`; no token or comment crosses it.
fn portion_end(text: &str, from: usize) -> usize {
    let mut in_comment = false;
    for (length, byte) in text.as_bytes()[from..].iter().enumerate() {
        match byte {
            b'\n' | b'\r' => in_comment = false,
            b';' => in_comment = true,
            _ => {}
        }
        if length >= PORTION && !in_comment && b" \t\n\r()".contains(byte) {
            return from + length + 1;
        }
    }
    text.len()
}

/// The open lists of a file.
#[derive(Default)]
struct Open {
    /// For each list, the place of its bracket and the members so far.
    lists: Vec<(Span, Vec<Sexp>)>,
    /// Number of open lists beyond the nesting limit, whose members are dropped.
    too_deep_lists: usize,
    too_deep: bool,
    /// Closing brackets without an opening one, each with the number of forms before
    /// it.
    extra: Vec<(Span, usize)>,
}

struct Reader {
    nesting: usize,
    forms: Vec<Sexp>,
    findings: Vec<Diagnostic>,
}

impl Reader {
    fn read_file(&mut self, file: u32, sources: &Sources, stop: &Stop) {
        let text = sources.files()[file as usize].text();
        let mut open = Open::default();
        let mut at = 0;
        while at < text.len() && !stop.is_over() {
            let end = portion_end(text, at);
            let tokens = Kif::parse(Rule::file, &text[at..end])
                .expect("every text is a sequence of tokens")
                .next()
                .expect("a file is one pair")
                .into_inner();
            for token in tokens {
                let place = token.as_span();
                let span = Span {
                    file,
                    start: (at + place.start()) as u32,
                    end: (at + place.end()) as u32,
                };
                self.token(token.as_rule(), span, &mut open);
            }
            at = end;
        }
        self.report_extra(sources, &open);
        self.report_unclosed(text, &open);
    }

    fn token(&mut self, rule: Rule, span: Span, open: &mut Open) {
        let kind = match rule {
            Rule::open if open.lists.len() == self.nesting => {
                // One finding is enough. The brackets are still matched, so that the
                // rest of the file is read correctly.
                if !open.too_deep {
                    open.too_deep = true;
                    self.findings.push(
                        error(
                            Code::TooDeep,
                            span,
                            format!("lists are nested deeper than {}", self.nesting),
                        )
                        .help("flatten the term, or raise the limit with --max-nesting"),
                    );
                }
                open.too_deep_lists += 1;
                return;
            }
            Rule::open => {
                open.lists.push((span, Vec::new()));
                return;
            }
            Rule::close if open.too_deep_lists > 0 => {
                open.too_deep_lists -= 1;
                return;
            }
            Rule::close => {
                let Some((start, mut members)) = open.lists.pop() else {
                    if open.extra.len() < MAX_EXTRA {
                        open.extra.push((span, self.forms.len()));
                    }
                    return;
                };
                members.shrink_to_fit();
                let form = Sexp {
                    span: start.to(span),
                    kind: SexpKind::List(members),
                };
                return self.add(form, open);
            }
            Rule::variable => SexpKind::Variable,
            Rule::symbol => SexpKind::Symbol,
            _ => return,
        };
        if open.too_deep_lists == 0 {
            self.add(Sexp { span, kind }, open);
        }
    }

    fn add(&mut self, form: Sexp, open: &mut Open) {
        match open.lists.last_mut() {
            Some((_, members)) => members.push(form),
            None => self.forms.push(form),
        }
    }

    fn report_extra(&mut self, sources: &Sources, open: &Open) {
        for &(span, before) in &open.extra {
            let finding = error(
                Code::ExtraBracket,
                span,
                "this closing bracket has no opening bracket",
            );
            let early = closed_early(sources, &self.forms[..before]);
            self.findings
                .push(match early.filter(|early| early.file == span.file) {
                    Some(early) => finding.note(early, CLOSED_EARLY).help(CLOSED_EARLY_HELP),
                    None => finding.help(
                        "remove it, or move an earlier closing bracket that ends a form too early",
                    ),
                });
        }
    }

    /// Reports all lists still open at the end of a file as one finding. The missing
    /// bracket was probably due before the next form that begins a line, so that
    /// place is reported too.
    fn report_unclosed(&mut self, text: &str, open: &Open) {
        let count = open.lists.len() + open.too_deep_lists;
        let open = &open.lists;
        let Some((outermost, members)) = open.first() else {
            return;
        };
        let message = match count {
            1 => "this bracket is never closed".to_owned(),
            2 => "this bracket is never closed, and 1 inside it is not closed either".to_owned(),
            more => format!(
                "this bracket is never closed, and {} inside it are not closed either",
                more - 1
            ),
        };
        let mut finding = error(Code::UnclosedBracket, *outermost, message);
        let stray = members
            .iter()
            .chain(open[1..].iter().flat_map(|(_, inner)| inner))
            .map(|form| form.span)
            .chain(open[1..].iter().map(|(start, _)| *start))
            .filter(|span| span.start > outermost.start && begins_line(text, *span))
            .min();
        if let Some(span) = stray {
            let start = Span {
                end: span.start + 1,
                ..span
            };
            finding = finding.note(start, "this starts a line, so it is probably a new form");
        }
        self.findings
            .push(finding.help("add the missing ) at the end of the form"));
    }
}

/// True if a bracket is the first character of its line.
fn begins_line(text: &str, span: Span) -> bool {
    let start = span.start as usize;
    text.as_bytes()[start] == b'('
        && (start == 0 || matches!(text.as_bytes()[start - 1], b'\n' | b'\r'))
}

/// The note on a bracket found by [`closed_early`].
pub const CLOSED_EARLY: &str = "the rule ends here, but seems to continue below";

/// The suggested fix for a bracket found by [`closed_early`].
pub const CLOSED_EARLY_HELP: &str =
    "if this line belongs to the rule above, close the rule after it instead";

/// Maximum number of forms searched for a rule that is closed too early.
const MAX_FORMS_BETWEEN: usize = 100;

/// The closing bracket of a rule that seems to continue: the following lines are
/// indented further than the rule, and the last of the forms is on one of them.
/// `None` if the last form is itself a rule.
pub fn closed_early(sources: &Sources, forms: &[Sexp]) -> Option<Span> {
    let file = forms.last()?.span.file;
    let text = sources.files()[file as usize].text();
    let mut inner = None;
    for form in forms.iter().rev().take(MAX_FORMS_BETWEEN) {
        if form.span.file != file {
            return None;
        }
        let is_rule = match &form.kind {
            SexpKind::List(members) => {
                (members.first()).is_some_and(|first| sources.text(first.span) == "<=")
            }
            _ => false,
        };
        let Some(indent) = indent(text, form.span) else {
            continue;
        };
        match inner {
            Some(inner) if is_rule && indent < inner => {
                let end = form.span.end;
                return Some(Span {
                    start: end - 1,
                    ..form.span
                });
            }
            _ if is_rule || inner.is_some_and(|inner| indent < inner) => return None,
            _ => inner = Some(indent),
        }
    }
    None
}

/// Number of blanks before a form on its line; `None` if other text precedes it.
fn indent(text: &str, span: Span) -> Option<usize> {
    let before = &text[..span.start as usize];
    let rest = before.trim_end_matches([' ', '\t']);
    let begins = rest.is_empty() || rest.ends_with(['\n', '\r']);
    begins.then_some(before.len() - rest.len())
}

/// Syntax errors are errors under every strictness.
fn error(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, Strictness::Tolerant, span, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Source;

    fn show(sexp: &Sexp, sources: &Sources) -> String {
        match &sexp.kind {
            SexpKind::List(members) => {
                let inner: Vec<_> = members.iter().map(|m| show(m, sources)).collect();
                format!("[{}]", inner.join(" "))
            }
            _ => sources.text(sexp.span).to_owned(),
        }
    }

    fn check(text: &str, expected: &str) {
        let sources = Sources::from(Source::new("t", text));
        let (forms, findings) = read(&sources, SyntaxLimits::default());
        let mut parts: Vec<_> = forms.iter().map(|form| show(form, &sources)).collect();
        parts.extend(findings.iter().map(|finding| {
            let span = finding.span.expect("syntax findings have places");
            let (line, column) = sources.line_column(span);
            format!("{}@{line}:{column}", finding.code)
        }));
        assert_eq!(parts.join(" "), expected);
    }

    #[test]
    fn long_texts_are_split_between_tokens() {
        let name = "n".repeat(PORTION - 2);
        for (between, after) in [("(", ")"), (" ", ""), ("; (((\n", ""), ("; a (\r(", ")")] {
            let text = format!("{name}{between}xyz{after} ;{}\n(end)", "( ".repeat(PORTION));
            let sources = Sources::from(Source::new("t", text));
            let (forms, findings) = read(&sources, SyntaxLimits::default());
            assert!(findings.is_empty(), "{between:?}");
            let shown: Vec<_> = forms[1..].iter().map(|form| show(form, &sources)).collect();
            let expected = if after.is_empty() { "xyz" } else { "[xyz]" };
            assert_eq!(shown, [expected, "[end]"], "{between:?}");
        }
    }

    #[test]
    fn comments_may_follow_a_name_without_a_blank() {
        check("(a;x )\n b);y", "[a b]");
    }

    #[test]
    fn every_blank_character_separates() {
        check("a\tb\u{b}c\u{c}d\re\nf\u{a0}g", "a b c d e f g");
    }

    #[test]
    fn a_lone_carriage_return_ends_a_comment() {
        check("; x\r(p)", "[p]");
    }

    #[test]
    fn variables_and_names_are_distinguished() {
        check("(f ?x x? ?)", "[f ?x x? ?]");
    }

    #[test]
    fn an_unclosed_bracket_is_reported_where_it_was_opened() {
        check("(a)\n  (b (c)\n", "[a] K001@2:3");
    }

    #[test]
    fn an_extra_bracket_does_not_hide_what_follows() {
        check("(a))\n(b)", "[a] [b] K002@1:4");
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let text = "(".repeat(1_000_000) + &")".repeat(1_000_000);
        let sources = Sources::from(Source::new("t", text));
        let (_, findings) = read(&sources, SyntaxLimits::default());
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].code, Code::TooDeep);
    }

    #[test]
    fn a_large_text_is_refused_before_it_is_read() {
        let sources = Sources::from(Source::new("t", "(a) ".repeat(10)));
        let limits = SyntaxLimits {
            bytes: 39,
            ..SyntaxLimits::default()
        };
        let (forms, findings) = read(&sources, limits);
        assert!(forms.is_empty());
        assert_eq!(findings[0].code, Code::TooLarge);
    }
}
