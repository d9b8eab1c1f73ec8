//! Reads infix notation into forms with comments.

use ggp_stop::Stop;
use std::borrow::Cow;
use std::collections::HashSet;

use pest::Parser;

use crate::counted::counted;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::rewrite::TextForm;
use crate::rewrite::infix::or::or_in_gap;
use crate::rewrite::tree::{Gap, Item, Node, Note, Tree, column_of, list, settle_behind};
use crate::span::{Source, Span};
use crate::syntax::SyntaxLimits;
use infix::Infix;
pub(super) use infix::Rule;

/// The parser derived by pest, which generates no documentation.
#[allow(missing_docs)]
mod infix {
    #[derive(pest_derive::Parser)]
    #[grammar = "grammar/infix.pest"]
    pub struct Infix;
}

/// Minimum number of bytes tokenized at once; no token spans several lines.
const PORTION: usize = 1 << 16;

/// Maximum number of findings.
const MAX_FINDINGS: usize = 20;

/// Reads a text in infix notation. If `stop` is over, ends early with a part of the
/// text.
///
/// # Errors
///
/// All syntax errors of the text.
pub fn from_infix<'t>(
    source: &'t Source,
    limits: SyntaxLimits,
    stop: &Stop,
) -> Result<Tree<'t>, Vec<Diagnostic>> {
    let text = source.text();
    let most = limits.bytes.min(u32::MAX as usize);
    if text.len() > most {
        let bytes = counted(text.len(), "byte");
        let message = format!("the rules have {bytes}, the limit is {most}");
        let finding = Diagnostic::new(Code::TooLarge, Strictness::Tolerant, None, message);
        return Err(vec![
            finding.help("if this is intended, raise the limit with --max-bytes"),
        ]);
    }
    let tokens = tokens(text, stop);
    let is_underscored = |token: &&Token| token.rule == Rule::variable;
    let used = tokens
        .iter()
        .filter(is_underscored)
        .map(|token| &text[token.start..token.end]);
    let mut reader = Reader {
        text,
        used: used.collect(),
        nesting: limits.nesting.min(SyntaxLimits::MAX_NESTING),
        tokens: &tokens,
        at: 0,
        depth: 0,
        anonymous: 0,
        behind: Vec::new(),
        notes: Vec::new(),
        near: false,
        clause: None,
        brackets: 0,
        or: None,
        findings: Vec::new(),
    };
    let tree = reader.file(stop);
    match reader.findings.is_empty() {
        true => Ok(tree),
        false => Err(reader.findings),
    }
}

pub(super) struct Token {
    pub rule: Rule,
    pub start: usize,
    pub end: usize,
}

pub(super) fn tokens(text: &str, stop: &Stop) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut from = 0;
    while from < text.len() && !stop.is_over() {
        let least = (from + PORTION).min(text.len());
        let rest = text.as_bytes()[least..]
            .iter()
            .position(|byte| *byte == b'\n');
        let end = rest.map_or(text.len(), |length| least + length + 1);
        let pairs = Infix::parse(Rule::file, &text[from..end])
            .expect("every text is a sequence of tokens")
            .next()
            .expect("a file is one pair")
            .into_inner();
        tokens.extend(
            pairs
                .filter(|pair| pair.as_rule() != Rule::EOI)
                .map(|pair| {
                    let place = pair.as_span();
                    Token {
                        rule: pair.as_rule(),
                        start: from + place.start(),
                        end: from + place.end(),
                    }
                }),
        );
        from = end;
    }
    tokens
}

/// The clause could not be read; a finding gives the reason.
struct GivenUp;

struct Reader<'t, 'k> {
    text: &'t str,
    /// All variables of the text.
    used: HashSet<&'t str>,
    nesting: usize,
    tokens: &'k [Token],
    at: usize,
    depth: usize,
    /// Number of anonymous variables so far.
    anonymous: usize,
    /// Comments behind the last token.
    behind: Vec<Cow<'t, str>>,
    /// Comments and empty lines before the next token.
    notes: Vec<Note<'t>>,
    /// True if the next token is on the same line as the last one.
    near: bool,
    /// The first byte of the clause that is read.
    clause: Option<usize>,
    /// Number of open brackets of that clause.
    brackets: usize,
    /// The place of a `;` in that clause that seems to mean "or".
    or: Option<usize>,
    findings: Vec<Diagnostic>,
}

type Read<T> = Result<T, GivenUp>;

impl<'t> Reader<'t, '_> {
    fn file(&mut self, stop: &Stop) -> Tree<'t> {
        self.gap(0);
        self.near = false;
        let mut tree = Tree {
            form: TextForm::of(self.text),
            ..Tree::default()
        };
        while self.at < self.tokens.len() && !stop.is_over() {
            let near = self.near;
            match self.clause() {
                Ok(mut item) => {
                    item.behind.append(&mut self.behind);
                    settle_behind(&mut item);
                    item.near = near;
                    tree.items.push(item);
                }
                Err(GivenUp) if self.findings.len() >= MAX_FINDINGS => break,
                Err(GivenUp) => self.skip(),
            }
        }
        tree.after = std::mem::take(&mut self.notes);
        tree
    }

    fn peek(&self) -> Option<Rule> {
        self.tokens.get(self.at).map(|token| token.rule)
    }

    /// Consumes the next token; comments after it are kept for the item they belong
    /// to.
    fn advance(&mut self) -> &'t str {
        let token = &self.tokens[self.at];
        self.at += 1;
        self.gap(token.end);
        match token.rule {
            Rule::open => self.brackets += 1,
            Rule::close => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        if let Some(clause) = self.clause
            && self.or.is_none()
        {
            let is_inside = self.brackets > 0;
            self.or = or_in_gap(self.text, self.tokens, self.at, clause, is_inside);
        }
        &self.text[token.start..token.end]
    }

    fn gap(&mut self, from: usize) {
        let to = self
            .tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.start);
        let gap = Gap::read(self.text, from, to, from > 0);
        // After a comment on a line of its own, no comment is behind an item.
        let behind = gap.behind.into_iter().map(comment);
        match self.notes.is_empty() {
            true => self.behind.extend(behind),
            false => self.notes.extend(behind.map(Note::Comment)),
        }
        self.notes
            .extend(gap.notes.into_iter().map(|note| match note {
                Note::Comment(text) => Note::Comment(comment(text)),
                Note::Blank => Note::Blank,
            }));
        self.near = !gap.breaks;
    }

    fn accept(&mut self, rule: Rule) -> bool {
        let is_next = self.peek() == Some(rule);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Comments that belong before the next item.
    fn before(&mut self) -> Vec<Note<'t>> {
        let behind = self.behind.drain(..).map(Note::Comment);
        let mut before: Vec<Note<'t>> = behind.collect();
        before.append(&mut self.notes);
        before
    }

    /// Continues with the next clause after an error.
    fn skip(&mut self) {
        self.depth = 0;
        while self.at < self.tokens.len() {
            let start = self.tokens[self.at].start;
            let begins_line = start == 0 || self.text[..start].ends_with(['\n', '\r']);
            let is_first = begins_line && self.peek() != Some(Rule::close);
            if is_first && self.at > 0 || self.accept(Rule::stop) {
                break;
            }
            self.advance();
        }
        self.behind.clear();
    }

    fn error<T>(&mut self, code: Code, message: String, help: &str) -> Read<T> {
        // At the end of the text, the last token is reported.
        let place = self.at.min(self.tokens.len() - 1);
        let Token { start, end, .. } = self.tokens[place];
        self.error_at(code, start, end, message, help)
    }

    fn error_at<T>(
        &mut self,
        code: Code,
        start: usize,
        end: usize,
        message: String,
        help: &str,
    ) -> Read<T> {
        let span = Span {
            file: 0,
            start: start as u32,
            end: end as u32,
        };
        let finding = Diagnostic::new(code, Strictness::Tolerant, span, message);
        self.findings.push(finding.help(help));
        Err(GivenUp)
    }

    /// Reports an unexpected next token.
    fn expected<T>(&mut self, what: &str) -> Read<T> {
        let Some(token) = self.tokens.get(self.at) else {
            let message = format!("expected {what}, found the end of the text");
            return self.error(Code::BadInfix, message, "write a clause as head :- body");
        };
        let found = &self.text[token.start..token.end];
        if token.rule == Rule::close && self.depth == 0 {
            let message = "this closing bracket has no opening bracket".to_owned();
            self.at += 1;
            return self.error_at(
                Code::ExtraBracket,
                token.start,
                token.end,
                message,
                "remove it, or move an earlier closing bracket that ends a form too early",
            );
        }
        let help = match found {
            _ if self.is_transition() => {
                "rules with :: and ==> are not read; write effects as next(f) :- does(r,a)"
            }
            "'" => "close the quoted name with ' on the same line",
            "(" | "<" | "?" => "this looks like KIF; infix notation is written p(a), X and h :- b",
            "=" => {
                "put the value in place of the variable; inequality is written distinct(a,b) or a \\= b"
            }
            "\\" => "write negation as ~",
            "!" => "write negation as ~, and quote names that contain !: 'a!'",
            "|" | "&" | "~" if self.depth > 0 => "a term cannot contain a formula",
            "|" | "&" | "~" if what == "a name" => {
                "a clause begins with one term: write a rule as head :- body"
            }
            "|" | "&" | "," => "remove it, or add a literal before it",
            _ => "quote names with characters other than letters, digits and _: 'a+'",
        };
        let message = format!("expected {what}, found {found}");
        let result = self.error(Code::BadInfix, message, help);
        // Without this, the same token would be reported forever.
        self.at += 1;
        result
    }

    /// True if `::` or `==>` occurs between the next token and the next full stop or empty line.
    fn is_transition(&self) -> bool {
        let rest = &self.tokens[self.at..];
        let goes_on = |token: &&Token| token.rule != Rule::stop;
        let Some(last) = rest.iter().take_while(goes_on).last() else {
            return false;
        };
        let text = &self.text[rest[0].start..last.end];
        let paragraph = text.lines().take_while(|line| !line.trim().is_empty());
        let code = |line: &'t str| line.split(['%', ';']).next().unwrap_or_default();
        paragraph
            .map(code)
            .any(|line| line.contains("::") || line.contains("==>"))
    }

    fn clause(&mut self) -> Read<Item<'t>> {
        let before = self.before();
        let start = self.tokens[self.at].start;
        let known = self.findings.len();
        (self.clause, self.brackets) = (Some(start), 0);
        let clause = self.clause_at(start, before);
        self.clause = None;
        let Some(or) = self.or.take() else {
            return clause;
        };
        // Other findings follow from the text that was not read.
        self.findings.truncate(known);
        let message = "; begins a comment, but seems to mean \"or\" here".to_owned();
        let help = "write or as |, begin comments with %, and end the clause with a full stop";
        self.error_at(Code::BadInfix, or, or + 1, message, help)
    }

    fn clause_at(&mut self, start: usize, before: Vec<Note<'t>>) -> Read<Item<'t>> {
        let mut head = self.term("a name")?;
        if !self.accept(Rule::arrow) {
            self.accept(Rule::stop);
            head.before = before;
            return Ok(head);
        }
        head.behind.append(&mut self.behind);
        settle_behind(&mut head);
        self.body(before, head, start)
    }

    /// The rule with this head, whose body begins here.
    fn body(&mut self, before: Vec<Note<'t>>, head: Item<'t>, start: usize) -> Read<Item<'t>> {
        let mut items = vec![Item::new(Node::Word("<=".into())), head];
        if self.peek() != Some(Rule::stop) {
            let mut alternatives = self.alternatives()?;
            match alternatives.len() {
                1 => items.append(&mut alternatives[0]),
                _ => items.push(joined(
                    "or",
                    alternatives.into_iter().map(|f| one("and", f)),
                )),
            }
        }
        if !self.accept(Rule::stop) {
            self.ends(start)?;
        }
        let mut item = list(before, items, Vec::new());
        item.behind.append(&mut self.behind);
        settle_behind(&mut item);
        Ok(item)
    }

    /// Fails if the next token seems to continue the rule that begins at token
    /// `rule`: it is on the same line, or on the next line and indented further.
    fn ends(&mut self, rule: usize) -> Read<()> {
        let Some(next) = self.tokens.get(self.at) else {
            return Ok(());
        };
        let goes_on = self.near
            || !self.notes.contains(&Note::Blank)
                && column_of(self.text, next.start) > column_of(self.text, rule);
        let begins = matches!(
            next.rule,
            Rule::name | Rule::quoted | Rule::variable | Rule::marked | Rule::negation | Rule::open
        );
        if !goes_on || !begins {
            return Ok(());
        }
        let word = |token: &Token| &self.text[token.start..token.end];
        let message = format!("& or | is missing before {}", word(next));
        let help = match word(next) {
            "and" => "write and as &",
            "or" => "write or as |",
            _ => "join the literals with & or |, or end the rule with a full stop",
        };
        self.error_at(Code::BadInfix, next.start, next.end, message, help)
    }

    /// Formulas joined by `|`, each a list of formulas joined by `&`.
    fn alternatives(&mut self) -> Read<Vec<Vec<Item<'t>>>> {
        let mut all = Vec::new();
        loop {
            let mut both = Vec::new();
            let more = loop {
                let mut item = self.literal()?;
                let (again, more) = match self.peek() {
                    Some(Rule::both | Rule::comma) => (true, false),
                    Some(Rule::either) => (false, true),
                    _ => (false, false),
                };
                if again || more {
                    self.advance();
                    item.behind.append(&mut self.behind);
                    settle_behind(&mut item);
                }
                both.push(item);
                if !again {
                    break more;
                }
            };
            all.push(both);
            if !more {
                return Ok(all);
            }
        }
    }

    fn literal(&mut self) -> Read<Item<'t>> {
        let mut before = self.before();
        let open = self.at;
        let mut item = match self.peek() {
            Some(Rule::negation) => self.negation()?,
            Some(Rule::name) if self.is_negation() => self.negation()?,
            Some(Rule::open) => {
                self.deeper(open)?;
                self.advance();
                let mut all = self.alternatives()?;
                self.close(open)?;
                match all.len() {
                    1 => one("and", all.remove(0)),
                    _ => joined("or", all.into_iter().map(|both| one("and", both))),
                }
            }
            _ => {
                let term = self.term("a literal")?;
                if self.accept(Rule::unequal) {
                    joined("distinct", [term, self.term("a term")?])
                } else {
                    term
                }
            }
        };
        before.append(&mut item.before);
        item.before = before;
        Ok(item)
    }

    /// True if the next token is `not` before a literal on the same line.
    fn is_negation(&self) -> bool {
        let [word, next, ..] = &self.tokens[self.at..] else {
            return false;
        };
        let begins = matches!(
            next.rule,
            Rule::name | Rule::quoted | Rule::variable | Rule::marked | Rule::negation
        );
        let between = &self.text[word.end..next.start];
        &self.text[word.start..word.end] == "not" && begins && !between.contains(['\n', '\r'])
    }

    /// The negation of the literal after the next token.
    fn negation(&mut self) -> Read<Item<'t>> {
        self.deeper(self.at)?;
        self.advance();
        let negated = self.literal()?;
        self.depth -= 1;
        Ok(joined("not", [negated]))
    }

    fn deeper(&mut self, open: usize) -> Read<()> {
        self.depth += 1;
        if self.depth <= self.nesting {
            return Ok(());
        }
        let token = &self.tokens[open];
        let message = format!("terms are nested deeper than {}", self.nesting);
        let help = "flatten the term, or raise the limit with --max-nesting";
        self.error_at(Code::TooDeep, token.start, token.end, message, help)
    }

    /// Consumes the closing bracket of an open one.
    fn close(&mut self, open: usize) -> Read<()> {
        if self.accept(Rule::close) {
            self.depth -= 1;
            return Ok(());
        }
        if self.at < self.tokens.len() {
            return self.expected("a comma, an operator or )");
        }
        let token = &self.tokens[open];
        let message = "this bracket is never closed".to_owned();
        let help = "add the missing ) at the end of the term";
        self.error_at(Code::UnclosedBracket, token.start, token.end, message, help)
    }

    fn term(&mut self, what: &str) -> Read<Item<'t>> {
        let before = self.before();
        let first = self.at;
        let word = match self.peek() {
            Some(Rule::name) => Node::Word(self.advance().into()),
            Some(Rule::quoted) => {
                let text = self.advance();
                Node::Word(
                    self.unquoted(&text[1..text.len() - 1], first, false)?
                        .into(),
                )
            }
            Some(Rule::marked) => {
                let text = self.advance();
                let name = self.unquoted(&text[2..text.len() - 1], first, true)?;
                Node::Word(format!("?{name}").into())
            }
            Some(Rule::variable) => {
                let name = self.advance();
                Node::Word(self.variable(name).into())
            }
            _ => return self.expected(what),
        };
        let is_name = matches!(self.tokens[first].rule, Rule::name | Rule::quoted);
        if !is_name || self.peek() != Some(Rule::open) {
            return Ok(Item {
                before,
                ..Item::new(word)
            });
        }
        let open = self.at;
        self.deeper(open)?;
        self.advance();
        let mut items = vec![Item::new(word)];
        while self.peek() != Some(Rule::close) {
            items.push(self.term("a term or )")?);
            let goes_on = self.accept(Rule::comma);
            let last = items.last_mut().expect("one was pushed");
            last.behind.append(&mut self.behind);
            settle_behind(last);
            match goes_on {
                true if self.peek() == Some(Rule::close) => return self.expected("a term"),
                true => {}
                false if matches!(self.peek(), None | Some(Rule::close)) => break,
                false => return self.expected("a comma or )"),
            }
        }
        let after = self.before();
        self.close(open)?;
        Ok(list(before, items, after))
    }

    /// The name denoted by a quoted name.
    fn unquoted(&mut self, text: &str, token: usize, is_variable: bool) -> Read<String> {
        let mut name = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' | '\'' => name.extend(chars.next()),
                c => name.push(c),
            }
        }
        let is_blank = |c: char| " \t\u{b}\u{c}\u{a0}\u{feff}();".contains(c);
        let empty = name.is_empty() && !is_variable;
        if !(empty || name.contains(is_blank) || (!is_variable && name.starts_with('?'))) {
            return Ok(name);
        }
        let Token { start, end, .. } = self.tokens[token];
        let message = format!("'{text}' is not a valid GDL name");
        let help = "a name must not be empty, begin with ?, or contain blanks, brackets or ;";
        self.error_at(Code::BadInfix, start, end, message, help)
    }

    fn variable(&mut self, name: &str) -> String {
        let mut chars = name.chars();
        let first = chars.next().expect("a variable is not empty");
        let rest = chars.as_str();
        if first != '_' {
            return format!("?{}{rest}", first.to_ascii_lowercase());
        }
        if rest.is_empty() {
            loop {
                self.anonymous += 1;
                let name = format!("_{}", self.anonymous);
                if !self.used.contains(&*name) {
                    return format!("?{name}");
                }
            }
        }
        match rest.starts_with(|c: char| c.is_ascii_uppercase()) {
            true => format!("?{rest}"),
            false => format!("?{name}"),
        }
    }
}

/// A comment with each leading `%` replaced by `;`. A `%` before `;` is removed.
fn comment(text: Cow<'_, str>) -> Cow<'_, str> {
    let rest = text.trim_start_matches('%');
    match text.len() - rest.len() {
        0 => text,
        1 if rest.starts_with(';') => Cow::Owned(rest.to_owned()),
        count => Cow::Owned(";".repeat(count) + rest),
    }
}

/// A list of a connective.
fn joined<'t>(name: &'static str, parts: impl IntoIterator<Item = Item<'t>>) -> Item<'t> {
    let first = Item::new(Node::Word(name.into()));
    let mut items = vec![first];
    items.extend(parts);
    list(Vec::new(), items, Vec::new())
}

/// The formula itself if there is one, or a list of several.
fn one<'t>(name: &'static str, mut parts: Vec<Item<'t>>) -> Item<'t> {
    match parts.len() {
        1 => parts.remove(0),
        _ => joined(name, parts),
    }
}
