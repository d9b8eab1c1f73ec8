//! Findings about a rule set, as shown to its author.
//!
//! A [`Diagnostic`] has a [`Code`], a message, a place, further places with notes,
//! and a suggested fix. This module only represents and prints findings; the passes
//! of [`check`](crate::check) produce them.

#[cfg(feature = "snippets")]
use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "snippets")]
use annotate_snippets::renderer::DecorStyle;
#[cfg(feature = "snippets")]
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use crate::markup;
use crate::span::{Sources, Span};

/// The severity of a finding.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The rule set can be used.
    Warning,
    /// The rule set cannot be used.
    Error,
}

/// Treatment of rules that are not valid GDL but have one sensible meaning.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// They are reported as warnings.
    #[default]
    Tolerant,
    /// They are reported as errors.
    Strict,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal $(, $sloppy:ident)?;)*) => {
        /// The kind of a finding. Codes `K0xx` concern the text, `G1xx` are errors in
        /// the rules, `W2xx` are warnings, and `P3xx` are found by playing.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $($(#[doc = $doc])* $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as printed, such as `G102`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// One sentence that describes the code.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),*).trim_ascii(),)* }
            }

            /// True if [`Strictness::Strict`] turns this warning into an error.
            pub fn is_sloppy(self) -> bool {
                match self { $(Code::$name => codes!(@sloppy $($sloppy)?),)* }
            }
        }
    };
    (@sloppy) => { false };
    (@sloppy sloppy) => { true };
}

codes! {
    /// A bracket is opened but never closed.
    UnclosedBracket = "K001";
    /// A closing bracket has no opening bracket.
    ExtraBracket = "K002";
    /// An empty list occurs where a form or term is expected.
    EmptyList = "K003";
    /// Lists are nested deeper than the limit.
    TooDeep = "K004";
    /// The text is larger than the limit.
    TooLarge = "K005";
    /// A list does not begin with a name.
    BadListHead = "K006";
    /// A text in infix notation has a syntax error.
    BadInfix = "K007";
    /// A rule is not of the form (<= head literal ...).
    MalformedRule = "G101";
    /// A variable is not bound by a positive literal.
    UnboundVariable = "G102";
    /// A keyword has the wrong number of arguments.
    KeywordArity = "G103";
    /// A keyword is used in a head where it is not allowed.
    KeywordInHead = "G104";
    /// A keyword is used in a body where it is not allowed.
    KeywordInBody = "G105";
    /// A variable is used as a literal or as the name of a relation.
    VariableAsRelation = "G106";
    /// A relation is used with different numbers of arguments.
    RelationArity = "G107";
    /// A function is used with different numbers of arguments.
    FunctionArity = "G108";
    /// A relation depends on its own negation.
    NotStratified = "G109";
    /// A recursive rule generates ever larger terms.
    GrowingRecursion = "G110";
    /// The rule set declares no role.
    NoRole = "G111";
    /// The rule set has no legal rule.
    NoLegal = "G112";
    /// The rule set has no goal rule.
    NoGoal = "G113";
    /// The rule set has no terminal rule.
    NoTerminal = "G114";
    /// A role is not declared by a fact with a constant.
    BadRole = "G115";
    /// A relation has a forbidden dependency on does, true, next or sees.
    ForbiddenDependency = "G116";
    /// A rule with alternatives expands to more rules than the limit.
    TooManyAlternatives = "G117";
    /// The rule set has more facts, rules or roles than the limit.
    TooManyRules = "G118";
    /// Two names differ only in letter case.
    CaseDiffers = "W201", sloppy;
    /// A relation is used but never defined.
    Undefined = "W202", sloppy;
    /// A relation or a fact is defined but never used.
    Unused = "W203";
    /// A goal value is not an integer from 0 to 100.
    BadGoalValue = "W205", sloppy;
    /// A role is declared twice.
    DuplicateRole = "W206", sloppy;
    /// A proposition is written both with and without brackets.
    BracketedName = "W207", sloppy;
    /// A rule mentions a role that is not declared.
    UndeclaredRole = "W208", sloppy;
    /// The initial state is empty.
    NoInit = "W209";
    /// An or or an and has no members.
    EmptyConnective = "W210", sloppy;
    /// A name looks like punctuation of another language.
    OddName = "W211", sloppy;
    /// A keyword is used as an ordinary name.
    KeywordAsName = "W212", sloppy;
    /// A fact or a rule is written twice.
    Duplicate = "W213";
    /// A function has several numbers of arguments, in facts, moves and percepts of a GDL-II rule set.
    FunctionArities = "W214", sloppy;
    /// A name is that of a variable of its rule, without the question mark, and is written nowhere else.
    BareVariable = "W215", sloppy;
    /// A rule did not apply in play, or cannot.
    DeadRule = "P301";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// The severity: a rule set with an error cannot be used.
    pub severity: Severity,
    /// The problem, in one line without a full stop.
    pub message: String,
    /// The place; `None` if the finding concerns the whole rule set.
    pub span: Option<Span>,
    /// Related places, each with a short explanation.
    pub notes: Vec<(Span, String)>,
    /// A suggested fix.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding whose severity follows from its code and the strictness.
    pub fn new(
        code: Code,
        strictness: Strictness,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
    ) -> Self {
        let is_warning = code.as_str().starts_with(['W', 'P'])
            && !(strictness == Strictness::Strict && code.is_sloppy());
        Diagnostic {
            code,
            severity: if is_warning {
                Severity::Warning
            } else {
                Severity::Error
            },
            message: plain(message.into()),
            span: span.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Adds a related place with a short explanation.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, plain(text.into())));
        self
    }

    /// Adds a suggested fix.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(plain(text.into()));
        self
    }

    /// The finding for people: the message, the place, the source lines with marks
    /// under them, the notes and the suggested fix. Does not end with a line break.
    #[cfg(feature = "snippets")]
    pub fn render(&self, sources: &Sources, style: Style) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(&self.message).id(self.code.as_str());
        let mut report = match self.span {
            None => {
                let group = Group::with_title(title);
                match sources.files() {
                    [only] => group.element(Origin::path(only.name())),
                    _ => group,
                }
            }
            Some(span) => {
                let mut group = self.place(sources, span.file, Group::with_title(title));
                for file in 0..sources.files().len() as u32 {
                    if file != span.file && self.notes.iter().any(|(s, _)| s.file == file) {
                        group = self.place(sources, file, group);
                    }
                }
                group
            }
        };
        if let Some(help) = &self.help {
            report = report.element(Level::HELP.message(help));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Colour => Renderer::styled(),
        };
        renderer
            .decor_style(DecorStyle::Ascii)
            .render(&[report])
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The finding for people: place and message, then a line for each
    /// note and for the help. It ends without a line break and is never coloured.
    #[cfg(not(feature = "snippets"))]
    pub fn render(&self, sources: &Sources, _: Style) -> String {
        let place = |span| format!("{}: ", sources.place(span));
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let at = self.span.map(place).unwrap_or_default();
        let code = self.code.as_str();
        let mut lines = vec![format!("{at}{severity}[{code}]: {}", self.message)];
        let notes = self.notes.iter();
        lines.extend(notes.map(|(span, text)| format!("{}note: {text}", place(*span))));
        lines.extend(self.help.iter().map(|help| format!("help: {help}")));
        lines.join("\n")
    }

    /// Adds the source lines of one file, or only line and column if one of the lines
    /// is too long to be shown.
    #[cfg(feature = "snippets")]
    fn place<'s>(&'s self, sources: &'s Sources, file: u32, group: Group<'s>) -> Group<'s> {
        let source = &sources.files()[file as usize];
        let notes = self.notes.iter().map(|(span, text)| (*span, Some(text)));
        let marks = self.span.map(|span| (span, None)).into_iter().chain(notes);
        let marks: Vec<(Span, Option<&String>)> =
            marks.filter(|(span, _)| span.file == file).collect();
        let first = marks.iter().map(|(span, _)| span.start).min().unwrap_or(0);
        let last = marks.iter().map(|(span, _)| span.end).max().unwrap_or(0);
        // Only these lines are passed on, because the renderer scans all text it
        // gets.
        let [above, below] = [source.line(first), source.line(last)];
        let length = |line| source.line_start(line + 1) - source.line_start(line);
        if (above..=below).any(|line| length(line) > LONGEST_LINE) {
            let mut group = group;
            for (span, note) in marks {
                let (line, column) = sources.line_column(span);
                let origin = Origin::path(source.name()).line(line).char_column(column);
                group = group.element(origin);
                if let Some(note) = note {
                    group = group.element(Level::NOTE.message(note));
                }
            }
            return group;
        }
        let [start, end] = [above, below + 1].map(|line| source.line_start(line) as usize);
        let lines = &source.text()[start..end];
        let lines = lines.strip_suffix('\n').unwrap_or(lines);
        let lines = lines.strip_suffix('\r').unwrap_or(lines);
        let mut snippet = Snippet::source(with_line_feeds(lines))
            .path(source.name())
            .line_start(above + 1);
        for (span, note) in marks {
            let range = span.start as usize - start..span.end as usize - start;
            snippet = snippet.annotation(match note {
                None => AnnotationKind::Primary.span(range),
                Some(note) => AnnotationKind::Context.span(range).label(note),
            });
        }
        group.element(snippet)
    }

    /// The finding as a serializable value.
    pub fn to_record(&self, sources: &Sources) -> DiagnosticRecord {
        let place = |span: Span| {
            let (line, column) = sources.line_column(span);
            Place {
                file: sources.files()[span.file as usize].name().to_owned(),
                line,
                column,
                text: sources.text(span).chars().take(200).collect(),
            }
        };
        DiagnosticRecord {
            code: self.code.as_str(),
            severity: self.severity,
            message: self.message.clone(),
            place: self.span.map(place),
            notes: self
                .notes
                .iter()
                .map(|(span, text)| NoteRecord {
                    message: text.clone(),
                    place: place(*span),
                })
                .collect(),
            help: self.help.clone(),
        }
    }
}

/// Makes a message safe to print: names from the rules can be very long and contain
/// control characters.
fn plain(text: String) -> String {
    markup::plain(&text, 400)
}

/// Maximum length of a rule line that is shown, in bytes.
#[cfg(feature = "snippets")]
const LONGEST_LINE: u32 = 1_000;

/// Style of a printed report.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Style {
    /// Plain text.
    Plain,
    /// Text with ANSI colours.
    Colour,
}

/// A [`Diagnostic`] with its places resolved, for `--json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DiagnosticRecord {
    code: &'static str,
    severity: Severity,
    message: String,
    place: Option<Place>,
    notes: Vec<NoteRecord>,
    help: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct NoteRecord {
    message: String,
    place: Place,
}

/// A place in a file: line and column (from 1) and the text there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Place {
    file: String,
    line: usize,
    column: usize,
    text: String,
}

/// True if any of the findings is an error.
pub fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|d| d.severity == Severity::Error)
}
/// The text with a line feed for each lone carriage return, which the renderer takes for no end of a line.
#[cfg(feature = "snippets")]
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let mut rest = text.chars().peekable();
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut lines = String::with_capacity(text.len());
    while let Some(sign) = rest.next() {
        lines.push(match sign {
            '\r' if rest.peek() != Some(&'\n') => '\n',
            sign => sign,
        });
    }
    Cow::Owned(lines)
}
