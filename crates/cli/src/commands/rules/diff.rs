//! `ggp rules diff`: comparison of two rule files, rule by rule.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;

use crate::text_files::{self, TextLimits};
use crate::{Context, Exit};
use ggp_gdl::diagnostic::Style;
use ggp_gdl::rewrite::{Change, Difference, Form, Layout, Node, Part, node_laid_out};
use ggp_gdl::span::Sources;
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::Sexp;

/// The options of `ggp rules diff`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rules diff old.kif new.kif
  git show HEAD:game.kif | ggp rules diff - game.kif
  ggp rules diff old.kif new.kif --json | jq '.changed[].new'

The order of rules and of literals in rules, the names of variables, layout and comments are
ignored; the order of roles is not. A changed rule is shown once, with the new file's
variables; - and + mark literals that only the old or only the new file has.

Exit code 0: no difference; 1: a difference; 2: a failure.")]
pub struct Options {
    /// The old rules; `-` is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new rules
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    limits: TextLimits,
}

#[derive(Serialize)]
struct Report {
    same: bool,
    roles_moved: bool,
    removed: Vec<Alone>,
    added: Vec<Alone>,
    changed: Vec<Changed>,
}

/// A rule or fact that only one file has.
#[derive(Serialize)]
struct Alone {
    place: String,
    text: String,
}

/// A rule or fact that both files have, and the parts that only one has.
#[derive(Serialize)]
struct Changed {
    old: Alone,
    new: Alone,
    removed: Vec<String>,
    added: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or its brackets are wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let paths = [&options.old, &options.new];
    if paths.iter().all(|path| text_files::is_stdin(path)) {
        bail!("standard input (`-`) can be read only once");
    }
    let read = |path| options.limits.read_all(std::slice::from_ref(path), context);
    let [old, new] = paths.map(read);
    let (old, new) = (old?, new?);
    let old_forms = options.limits.forms(&old, context)?;
    let new_forms = options.limits.forms(&new, context)?;
    let case = if options.case_sensitive {
        Case::Keep
    } else {
        Case::Fold
    };
    let sides = Sides {
        left: Form::all(&old_forms, &old),
        right: Form::all(&new_forms, &new),
        old: Places::of(&old_forms, &old),
        new: Places::of(&new_forms, &new),
    };
    let found = Difference::between(&sides.left, &sides.right, case, context.stop());
    text_files::go_on(context)?;
    if context.json() {
        context.print_json(&sides.report(&found))?;
    } else if !found.is_empty() {
        context.print_lines(sides.lines(&found, context.style(&io::stdout())))?;
    }
    match found.is_empty() {
        true => Ok(Exit::Done),
        false => Ok(Exit::Negative),
    }
}

struct Sides<'s> {
    left: Vec<Form<'s>>,
    right: Vec<Form<'s>>,
    old: Places<'s>,
    new: Places<'s>,
}

/// The positions at which the forms of a file begin.
struct Places<'s> {
    name: &'s str,
    lines: Vec<(usize, usize)>,
}

impl<'s> Places<'s> {
    fn of(forms: &[Sexp], sources: &'s Sources) -> Self {
        let source = &sources.files()[0];
        let text = source.text();
        let (mut line, mut begin, mut at) = (1, 0, 0);
        let lines = forms.iter().map(|form| {
            let start = form.span.start as usize;
            for place in at..start {
                let byte = text.as_bytes()[place];
                let ends = match byte {
                    b'\n' => true,
                    b'\r' => text.as_bytes().get(place + 1) != Some(&b'\n'),
                    _ => false,
                };
                if ends {
                    (line, begin) = (line + 1, place + 1);
                }
            }
            at = start;
            (line, text[begin..start].chars().count() + 1)
        });
        Places {
            name: source.name(),
            lines: lines.collect(),
        }
    }

    fn place(&self, form: usize) -> String {
        let (line, column) = self.lines[form];
        format!("{}:{line}:{column}", self.name)
    }
}

/// A formatted form, each part with the sign of its line.
fn text(form: &Form<'_>) -> String {
    let last = form.parts.len() - 1;
    let parts = form.parts.iter().enumerate();
    let parts = parts.map(|(number, part)| part_text(form, number, part, number == last));
    parts.collect::<Vec<_>>().join("\n")
}

/// A part with the brackets around it.
fn part_text(form: &Form<'_>, number: usize, part: &Node<'_>, is_last: bool) -> String {
    let (start, closing) = match (form.is_rule, number) {
        (false, _) => return node_laid_out(part, 0, 0, Layout::default()),
        (true, 0) => ("(<= ", usize::from(is_last)),
        (true, _) => ("    ", usize::from(is_last)),
    };
    let text = node_laid_out(part, 4, closing, Layout::default());
    format!("{start}{}{}", &text[4..], ")".repeat(closing))
}

/// A node of the old rules with the variables of the new ones.
fn renamed<'s>(node: &Node<'s>, variables: &HashMap<String, String>) -> Node<'s> {
    match node {
        Node::Word(word) => match variables
            .get(&word.to_lowercase())
            .or(variables.get(&**word))
        {
            Some(new) => Node::Word(new.clone().into()),
            None => node.clone(),
        },
        Node::List { items, .. } => {
            Node::list(items.iter().map(|item| renamed(&item.node, variables)))
        }
    }
}

impl Sides<'_> {
    fn lines(&self, found: &Difference, style: Style) -> Vec<String> {
        let mut page = Page {
            style,
            lines: Vec::new(),
        };
        page.add('-', &format!("-- {}", self.old.name));
        page.add('+', &format!("++ {}", self.new.name));
        if found.roles_moved {
            page.add('@', "@ the roles are in a different order @@");
        }
        let (mut removed, mut changed) = (&found.removed[..], &found.changed[..]);
        loop {
            match (removed, changed) {
                ([first, rest @ ..], _) if changed.first().is_none_or(|c| first < &c.old) => {
                    page.place('-', &self.old.place(*first));
                    page.add('-', &text(&self.left[*first]));
                    removed = rest;
                }
                (_, [first, rest @ ..]) => {
                    self.change(first, &mut page);
                    changed = rest;
                }
                _ => break,
            }
        }
        for &number in &found.added {
            page.place('+', &self.new.place(number));
            page.add('+', &text(&self.right[number]));
        }
        page.lines
    }

    fn change(&self, change: &Change, page: &mut Page) {
        let (old, new) = (&self.left[change.old], &self.right[change.new]);
        let places = [self.old.place(change.old), self.new.place(change.new)];
        page.place(' ', &places.join(" "));
        let parts = &change.parts;
        let removed = |part: usize, is_last: bool| {
            let node = renamed(&old.parts[part], &change.variables);
            part_text(old, part, &node, is_last)
        };
        let added = |part: usize, is_last| part_text(new, part, &new.parts[part], is_last);
        // The lines of either file form a whole rule, including its last bracket.
        let ends = [
            parts
                .iter()
                .rposition(|part| !matches!(part, Part::Added(_))),
            parts
                .iter()
                .rposition(|part| !matches!(part, Part::Removed(_))),
        ];
        let is_apart = old.is_rule != new.is_rule;
        let ends_shared = |part: usize| matches!(parts[part], Part::Same(..));
        let is_alone =
            !is_apart && ends[0] != ends[1] && ends.iter().flatten().any(|end| ends_shared(*end));
        for (number, part) in parts.iter().enumerate() {
            let [ends_old, ends_new] = ends.map(|end| end == Some(number) && !is_alone);
            match *part {
                Part::Same(_, part) if !is_apart => page.add(' ', &added(part, ends_new)),
                Part::Removed(part) => page.add('-', &removed(part, ends_old)),
                Part::Added(part) => page.add('+', &added(part, ends_new)),
                Part::Same(part, other) | Part::Changed(part, other) => {
                    page.add('-', &removed(part, ends_old));
                    page.add('+', &added(other, ends_new));
                }
            }
        }
        if is_alone {
            page.add(' ', ")");
        }
    }

    fn report(&self, found: &Difference) -> Report {
        let old_form = |number: usize| Alone {
            place: self.old.place(number),
            text: text(&self.left[number]),
        };
        let new_form = |number: usize| Alone {
            place: self.new.place(number),
            text: text(&self.right[number]),
        };
        let changed = found.changed.iter().map(|change| {
            let (old, new) = (&self.left[change.old], &self.right[change.new]);
            let layout = Layout { width: usize::MAX };
            let line = |form: &Form<'_>, part: usize| {
                let node = match std::ptr::eq(form, old) {
                    true => renamed(&form.parts[part], &change.variables),
                    false => form.parts[part].clone(),
                };
                node_laid_out(&node, 0, 0, layout)
            };
            let (mut removed, mut added) = (Vec::new(), Vec::new());
            for part in &change.parts {
                match *part {
                    Part::Same(..) => {}
                    Part::Removed(part) => removed.push(line(old, part)),
                    Part::Added(part) => added.push(line(new, part)),
                    Part::Changed(part, other) => {
                        removed.push(line(old, part));
                        added.push(line(new, other));
                    }
                }
            }
            Changed {
                old: old_form(change.old),
                new: new_form(change.new),
                removed,
                added,
            }
        });
        Report {
            same: found.is_empty(),
            roles_moved: found.roles_moved,
            changed: changed.collect(),
            removed: found.removed.iter().map(|&n| old_form(n)).collect(),
            added: found.added.iter().map(|&n| new_form(n)).collect(),
        }
    }
}

/// Lines with their signs.
struct Page {
    style: Style,
    lines: Vec<String>,
}

impl Page {
    fn place(&mut self, sign: char, place: &str) {
        let what = match sign {
            '-' => "only in the old rules",
            '+' => "only in the new rules",
            _ => "changed",
        };
        self.add('@', &format!("@ {place} {what} @@"));
    }

    fn add(&mut self, sign: char, text: &str) {
        for line in text.split('\n') {
            let colour = match (self.style, sign) {
                (Style::Colour, '-') => "\x1b[31m",
                (Style::Colour, '+') => "\x1b[32m",
                (Style::Colour, '@') => "\x1b[36m",
                _ => "",
            };
            let end = if colour.is_empty() { "" } else { "\x1b[0m" };
            self.lines.push(format!("{colour}{sign}{line}{end}"));
        }
    }
}
