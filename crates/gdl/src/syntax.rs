//! Text to lists: the only place that sees the pest grammar.
//!
//! In: rule files. Out: for each top-level form one [`Sexp`], in order, over
//! all files. Not done here: what the forms mean. Nesting is kept on a stack of
//! our own, so no input can exhaust the native one.

use ggp_stop::Stop;

use pest::Parser;

use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::span::{Sources, Span};
use kif::{Kif, Rule};

/// What pest derives, which has no documentation of its own.
#[allow(missing_docs)]
mod kif {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../grammar/kif.pest"]
    pub struct Kif;
}

/// What a rule file may grow to before it is refused.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SyntaxLimits {
    /// Bytes of all files together.
    pub bytes: usize,
    /// Depth of nested lists. At most [`SyntaxLimits::MAX_NESTING`] is honoured.
    pub nesting: usize,
}

impl SyntaxLimits {
    /// Later passes walk nested terms by recursion; this bounds their stack.
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
    /// Where it stands; for a list, brackets included.
    pub span: Span,
    /// What it is.
    pub kind: SexpKind,
}

/// The three shapes of KIF text. The text of names and variables is read from
/// the source by their span.
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
/// Always returns what could be read beside the findings, so that later passes
/// can look for more; the result is usable only if no finding is an error.
pub fn read(sources: &Sources, limits: SyntaxLimits) -> (Vec<Sexp>, Vec<Diagnostic>) {
    read_until(sources, limits, &Stop::new())
}

/// As [`read`], but ends soon after `stop` is raised, with less than all.
pub fn read_until(
    sources: &Sources,
    limits: SyntaxLimits,
    stop: &Stop,
) -> (Vec<Sexp>, Vec<Diagnostic>) {
    let mut reader = Reader {
        nesting: limits.nesting.min(SyntaxLimits::MAX_NESTING),
        forms: Vec::new(),
        findings: Vec::new(),
    };
    let bytes: usize = sources.files().iter().map(|file| file.text().len()).sum();
    let most = limits.bytes.min(u32::MAX as usize);
    if bytes > most {
        let finding = error(
            Code::TooLarge,
            None,
            format!("the rules have more than {most} bytes"),
        );
        reader
            .findings
            .push(finding.help("raise the limit with --max-bytes if this is meant"));
        return (reader.forms, reader.findings);
    }
    for file in 0..sources.files().len() as u32 {
        reader.read_file(file, sources, stop);
    }
    (reader.forms, reader.findings)
}

/// Most closing brackets of one file that are reported one by one.
const MOST_EXTRA: usize = 20;

/// Bytes that are cut into tokens at once, about.
const PORTION: usize = 1 << 16;

/// The end of the portion that begins here; no token or comment goes on there.
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

/// What is not closed yet in a file.
#[derive(Default)]
struct Open {
    /// For each list the place of its bracket and the members so far.
    lists: Vec<(Span, Vec<Sexp>)>,
    /// Lists inside these that are too deep, of which nothing is kept.
    buried: usize,
    too_deep: bool,
    /// Closing brackets without an opening one, and how many forms come before each.
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
                // One finding is enough; the brackets are still paired, so that the
                // rest of the file is read right.
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
                open.buried += 1;
                return;
            }
            Rule::open => {
                open.lists.push((span, Vec::new()));
                return;
            }
            Rule::close if open.buried > 0 => {
                open.buried -= 1;
                return;
            }
            Rule::close => {
                let Some((start, mut members)) = open.lists.pop() else {
                    if open.extra.len() < MOST_EXTRA {
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
        if open.buried == 0 {
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
                "this closing bracket has no opening one",
            );
            let early = closed_early(sources, &self.forms[..before]);
            self.findings
                .push(match early.filter(|early| early.file == span.file) {
                    Some(early) => finding.note(early, CLOSED_EARLY).help(CLOSED_EARLY_HELP),
                    None => {
                        finding.help("remove it, or look for a bracket closed too early before it")
                    }
                });
        }
    }

    /// One finding for all lists still open at the end of a file. The bracket
    /// that is missing was most likely due before the next form that begins a
    /// line, so that place is named too.
    fn report_unclosed(&mut self, text: &str, open: &Open) {
        let count = open.lists.len() + open.buried;
        let open = &open.lists;
        let Some((outermost, members)) = open.first() else {
            return;
        };
        let message = match count {
            1 => "this bracket is never closed".to_owned(),
            more => format!(
                "this bracket is never closed, nor are {} inside it",
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
            finding = finding.note(
                start,
                "this begins a line, so it may be meant as a new form",
            );
        }
        self.findings
            .push(finding.help("add the missing ) where the form should end"));
    }
}

/// Whether only the start of its line stands before a bracket.
fn begins_line(text: &str, span: Span) -> bool {
    let start = span.start as usize;
    text.as_bytes()[start] == b'('
        && (start == 0 || matches!(text.as_bytes()[start - 1], b'\n' | b'\r'))
}

/// What is said of a bracket that [`closed_early`] finds.
pub const CLOSED_EARLY: &str = "this ends the rule, but it seems to go on below";

/// The mend for a bracket that [`closed_early`] finds.
pub const CLOSED_EARLY_HELP: &str =
    "if this belongs to the rule before it, move the bracket that ends the rule too early";

/// Most forms among which a rule is looked for that is closed too early.
const MOST_BETWEEN: usize = 100;

/// The last bracket of a rule that ends before lines that are indented more than it, of
/// which the last of the forms is on one; nothing if that is a rule itself.
pub fn closed_early(sources: &Sources, forms: &[Sexp]) -> Option<Span> {
    let file = forms.last()?.span.file;
    let text = sources.files()[file as usize].text();
    let mut inner = None;
    for form in forms.iter().rev().take(MOST_BETWEEN) {
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

/// How many blanks stand before a form on its line; nothing if there is more than blanks.
fn indent(text: &str, span: Span) -> Option<usize> {
    let before = &text[..span.start as usize];
    let rest = before.trim_end_matches([' ', '\t']);
    let begins = rest.is_empty() || rest.ends_with(['\n', '\r']);
    begins.then_some(before.len() - rest.len())
}

/// Syntax errors are errors however tolerant the reader is.
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
    fn long_texts_are_cut_where_nothing_goes_on() {
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
    fn every_blank_separates() {
        check("a\tb\u{b}c\u{c}d\re\nf\u{a0}g", "a b c d e f g");
    }

    #[test]
    fn a_lone_carriage_return_ends_a_comment() {
        check("; x\r(p)", "[p]");
    }

    #[test]
    fn variables_and_names_are_told_apart() {
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
