//! Explanations as trees of lines: text, JSON, and collapsible HTML.

mod page;

use ggp_gdl::counted::counted;
use std::collections::VecDeque;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// The truth of the literal on a line.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// It holds.
    Holds,
    /// It does not hold, but should.
    Fails,
    /// It depends on a literal that does not hold.
    Open,
    /// The line is not a literal: a rule that does not apply, a branch, a period.
    Group,
}

/// A place in the rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RulePlace {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1, in characters.
    pub column: usize,
    /// The range of bytes in the file.
    pub bytes: (u32, u32),
}

/// A line, with the lines below it that explain it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Tree {
    /// The truth of the literal.
    pub mark: Mark,
    /// A literal, or words.
    pub text: String,
    /// The reason in words.
    pub note: String,
    /// The rule or fact that the reason refers to.
    pub place: Option<RulePlace>,
    /// The values of the rule's variables, by name.
    pub bindings: Vec<(String, String)>,
    /// True if it holds in every position.
    pub always: bool,
    /// The lines that explain this one.
    pub because: Vec<Tree>,
    /// The `id` of an earlier line with the same explanation, which is not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<usize>,
    /// The number of this line, if others refer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    /// Number of lines left out below this one.
    pub omitted: usize,
    /// True if its explanation is left out because an earlier line has it.
    #[serde(skip)]
    pub(super) again: bool,
}

/// Maximum number of literals shown that hold in a rule that does not apply.
const HELD: usize = 3;

impl Tree {
    pub(super) fn new(mark: Mark, text: impl Into<String>, note: impl Into<String>) -> Self {
        Tree {
            mark,
            text: text.into(),
            note: note.into(),
            place: None,
            bindings: Vec::new(),
            always: false,
            because: Vec::new(),
            same_as: None,
            id: None,
            omitted: 0,
            again: false,
        }
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        1 + self.because.iter().map(Tree::lines).sum::<usize>()
    }

    /// Leaves out explanations of literals that hold in every position, except for
    /// the root, and the surplus literals that hold in rules that do not apply.
    pub fn fold(&mut self) {
        let is_held = |tree: &Tree| tree.mark == Mark::Holds && tree.because.is_empty();
        let held = self.because.iter().filter(|tree| is_held(tree)).count();
        if held > HELD && self.because.iter().any(|tree| tree.mark == Mark::Fails) {
            self.because.retain(|tree| !is_held(tree));
            let text = format!("{held} other conditions hold");
            self.because.push(Tree::new(Mark::Holds, text, ""));
        }
        for tree in &mut self.because {
            if tree.always && !tree.because.is_empty() {
                tree.note = format!("always: {}", tree.note);
                tree.because.clear();
            }
            tree.fold();
        }
    }

    /// Leaves out the deepest lines, until all trees together have at most `most`
    /// lines.
    pub fn cut(trees: &mut Vec<Tree>, most: usize) {
        // Lines between trees count too.
        trees.truncate(most.max(1).div_ceil(2));
        let mut left = most.saturating_sub((2 * trees.len()).saturating_sub(1));
        let mut open: VecDeque<&mut Tree> = trees.iter_mut().collect();
        while let Some(tree) = open.pop_front() {
            let kept = tree.because.len().min(left);
            left -= kept;
            let cut = tree.because.drain(kept..);
            tree.omitted += cut.map(|tree| tree.lines()).sum::<usize>();
            open.extend(tree.because.iter_mut());
        }
    }

    /// Gives the explanation of equal lines only once.
    pub fn share(trees: &mut [Tree]) {
        let mut kinds = Kinds::default();
        for tree in trees.iter() {
            kinds.add(tree);
        }
        let mut sharing = Sharing {
            kinds: kinds.of_lines,
            ..Sharing::default()
        };
        trees.iter_mut().for_each(|tree| sharing.share(tree));
        trees
            .iter_mut()
            .for_each(|tree| tree.forget_ids(&sharing.used));
    }

    fn forget_ids(&mut self, used: &FxHashSet<usize>) {
        self.id = self.id.filter(|id| used.contains(id));
        self.because
            .iter_mut()
            .for_each(|tree| tree.forget_ids(used));
    }

    /// The tree as text lines.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "", "", true);
        out.truncate(out.trim_end().len());
        out
    }

    fn write(&self, out: &mut String, first: &str, rest: &str, top: bool) {
        let mark = match self.mark {
            _ if top => "",
            Mark::Holds => "✓ ",
            Mark::Fails => "✗ ",
            Mark::Open => "? ",
            Mark::Group => "",
        };
        let _ = write!(out, "{first}{mark}{}", self.line());
        if self.same_as.is_some() {
            out.push_str("  as above");
        }
        if self.omitted > 0 {
            let _ = write!(out, "  … {} (--lines)", counted(self.omitted, "more line"));
        }
        out.push('\n');
        for (number, tree) in (1..).zip(&self.because) {
            let (branch, below) = match number == self.because.len() {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            let (first, below) = (format!("{rest}{branch}"), format!("{rest}{below}"));
            tree.write(out, &first, &below, false);
        }
    }

    fn line(&self) -> String {
        let mut line = self.text.clone();
        if self.same_as.is_some() && !line.is_empty() {
            return line;
        }
        if !self.note.is_empty() {
            line.push_str(match line.is_empty() {
                true => "",
                false => "  ",
            });
            line.push_str(&self.note);
        }
        if let Some(place) = &self.place {
            let _ = write!(line, " {}:{}:{}", place.file, place.line, place.column);
        }
        if !self.bindings.is_empty() {
            let pairs = self
                .bindings
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            let _ = write!(line, " with {}", pairs.collect::<Vec<_>>().join(", "));
        }
        line
    }
}

/// Numbers for trees with the same content.
#[derive(Default)]
struct Kinds {
    known: FxHashMap<(String, Vec<usize>), usize>,
    /// By line, in the order of the text.
    of_lines: Vec<usize>,
}

impl Kinds {
    fn add(&mut self, tree: &Tree) -> usize {
        let at = self.of_lines.len();
        self.of_lines.push(0);
        let below = tree.because.iter().map(|tree| self.add(tree)).collect();
        let line = format!("{:?} {}", tree.mark, tree.line());
        let next = self.known.len();
        let kind = *self.known.entry((line, below)).or_insert(next);
        self.of_lines[at] = kind;
        kind
    }
}

#[derive(Default)]
struct Sharing {
    kinds: Vec<usize>,
    /// Number of lines seen so far.
    line: usize,
    /// Lines that have explanations, by content including the explanation, and by
    /// text.
    by_kind: FxHashMap<usize, usize>,
    by_text: FxHashMap<String, usize>,
    used: FxHashSet<usize>,
}

impl Sharing {
    fn share(&mut self, tree: &mut Tree) {
        let line = self.line;
        self.line += 1;
        tree.same_as = match tree.again {
            true => self.by_text.get(&tree.text).copied(),
            false => self.by_kind.get(&self.kinds[line]).copied(),
        };
        if let Some(same) = tree.same_as {
            self.line += tree.lines() - 1;
            self.used.insert(same);
            tree.because.clear();
        } else if !tree.because.is_empty() {
            self.by_kind.insert(self.kinds[line], line);
            self.by_text.entry(tree.text.clone()).or_insert(line);
            tree.id = Some(line);
            tree.because.iter_mut().for_each(|tree| self.share(tree));
        }
    }
}
