//! Explanations as trees of lines.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use super::tree::{Mark, Tree};
use super::{
    Attempt, Derivation, Explainer, Explanation, FactHistories, FactHistory, GroundAtom,
    LiteralOutcome, LiteralStatus, Missing, MissingReason, PeriodStart, Premise, Reason,
};
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::counted;

/// Maximum number of heads shown for rules that never match.
const HEADS: usize = 5;
/// Maximum number of missing conditions named in the first line.
const NAMED: usize = 3;
/// Maximum number of facts that explain each other in a chain of lines.
const DEEPEST: usize = 200;

impl Explainer {
    /// An explanation as lines; each matching fact has a separate tree.
    pub fn trees(&self, answer: &Explanation) -> Vec<Tree> {
        match answer {
            Explanation::Holds {
                derivations,
                others,
            } => {
                let mut trees: Vec<Tree> =
                    derivations.iter().map(|d| self.holding_tree(d)).collect();
                trees.extend(self.others(others));
                trees
            }
            Explanation::Fails(missing) => {
                let mut tree = self.missing_tree(missing);
                let note = match tree.note.is_empty() {
                    true => self.missing_summary(missing),
                    false => Some(tree.note),
                };
                let note = note.map(|note| format!(": {note}"));
                tree.note = format!("does not hold{}", note.unwrap_or_default());
                vec![tree]
            }
            Explanation::Not(answer) => {
                let (mark, note) = match answer.holds() {
                    true => (Mark::Fails, "does not hold, because"),
                    false => (Mark::Holds, "holds, because"),
                };
                let mut tree = Tree::new(mark, self.negated(answer), note);
                tree.because = self.trees(answer);
                vec![tree]
            }
            Explanation::Test { equal, left, right } => {
                let text = self.test_text(*equal, *left, *right);
                let same = match left == right {
                    true => "the terms are equal",
                    false => "the terms differ",
                };
                vec![match answer.holds() {
                    true => Tree::new(Mark::Holds, text, format!("holds: {same}")),
                    false => Tree::new(Mark::Fails, text, format!("does not hold: {same}")),
                }]
            }
        }
    }

    /// The negation of the question of an explanation.
    fn negated(&self, answer: &Explanation) -> String {
        let text = match answer {
            Explanation::Holds { derivations, .. } => {
                let proofs = derivations.iter().flat_map(|d| d.proofs.first());
                proofs
                    .map(|proof| self.fact_text(&proof.fact))
                    .next()
                    .unwrap_or_default()
            }
            Explanation::Fails(missing) => self.atom_text(&missing.atom, &missing.names),
            Explanation::Not(answer) => self.negated(answer),
            &Explanation::Test { equal, left, right } => self.test_text(equal, left, right),
        };
        format!("(not {text})")
    }

    /// The conditions that the best rule finally lacks, if there are rules in
    /// between.
    fn missing_summary(&self, missing: &Missing) -> Option<String> {
        let mut found = Vec::new();
        let depth = self.collect_missing(missing, &mut found);
        let mut seen = FxHashSet::default();
        found.retain(|text| seen.insert(text.clone()));
        let rest = found.len().saturating_sub(NAMED);
        found.truncate(NAMED);
        let more = match rest {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        (depth > 1).then(|| format!("missing {}{more}", found.join(", ")))
    }

    /// Lists the conditions that the best rules finally lack; returns the depth of
    /// rules.
    fn collect_missing(&self, missing: &Missing, found: &mut Vec<String>) -> usize {
        let best = match &missing.reason {
            MissingReason::Rules { attempts, .. } => attempts.first(),
            _ => None,
        };
        let Some(best) = best else {
            found.push(self.atom_text(&missing.atom, &missing.names));
            return 0;
        };
        let mut depth = 0;
        for outcome in by_cost(best) {
            match &outcome.state {
                LiteralStatus::Holds | LiteralStatus::Open | LiteralStatus::Unknown => {}
                LiteralStatus::Missing(missing) => {
                    depth = depth.max(self.collect_missing(missing, found))
                }
                LiteralStatus::Violated(_) | LiteralStatus::Fails | LiteralStatus::NoBranch(_) => {
                    found.push(self.literal_text(&outcome.literal, &best.names));
                }
            }
        }
        depth + 1
    }

    fn others(&self, others: &[GroundAtom]) -> Option<Tree> {
        let mut tree = Tree::new(Mark::Group, "also:", "");
        let facts = others.iter().map(|fact| self.fact_text(fact));
        tree.because = facts.map(|text| Tree::new(Mark::Holds, text, "")).collect();
        (!others.is_empty()).then_some(tree)
    }

    fn holding_tree(&self, derivation: &Derivation) -> Tree {
        let mut tree = self.derivation_tree(derivation);
        tree.note = format!("holds: {}", tree.note);
        if !derivation.smallest {
            tree.note.push_str(" (a smaller derivation may exist)");
        }
        tree
    }

    /// The periods of facts as lines; each fact has a tree.
    pub fn course_trees(&self, courses: &FactHistories) -> Vec<Tree> {
        match courses {
            FactHistories::Some { followed, others } => {
                let mut trees: Vec<Tree> = followed.iter().map(|c| self.course_tree(c)).collect();
                if let Some(mut tree) = self.others(others) {
                    tree.text = "also true at some time (--facts):".to_owned();
                    tree.because
                        .iter_mut()
                        .for_each(|line| line.mark = Mark::Group);
                    trees.push(tree);
                }
                trees
            }
            FactHistories::Never(atom, names, missing) => {
                let mut tree =
                    Tree::new(Mark::Fails, self.atom_text(atom, names), "was never true");
                tree.because.push(self.missing_tree(missing));
                vec![tree]
            }
        }
    }

    fn course_tree(&self, course: &FactHistory) -> Tree {
        let mut tree = Tree::new(Mark::Group, self.fact_text(&course.fact), "over the moves:");
        for stay in &course.stays {
            let (text, derivation) = match &stay.change {
                PeriodStart::Start(derivation) => {
                    ("true initially".to_owned(), derivation.as_ref())
                }
                PeriodStart::Move(derivation) => (
                    format!("became true after move {}", stay.from),
                    Some(derivation),
                ),
            };
            let mut came = Tree::new(Mark::Group, text, "");
            came.because
                .extend(derivation.map(|d| self.derivation_tree(d)));
            tree.because.push(came);
            for (rule, times) in &stay.kept {
                let note = format!("kept over {}: rule at", counted(*times, "move"));
                let mut kept = Tree::new(Mark::Group, "", note);
                kept.place = self.rule_spot(*rule);
                tree.because.push(kept);
            }
            if let Some(missing) = &stay.gone {
                let text = format!("no longer true after move {}", stay.to + 1);
                let mut gone = Tree::new(Mark::Group, text, "");
                gone.because.push(self.missing_tree(missing));
                tree.because.push(gone);
            }
        }
        tree
    }

    fn derivation_tree(&self, derivation: &Derivation) -> Tree {
        let mut shown = vec![false; derivation.proofs.len()];
        self.proof_tree(derivation, 0, DEEPEST, &mut shown)
    }

    /// The proof of a fact, with at most `depth` further proofs below each other.
    fn proof_tree(
        &self,
        derivation: &Derivation,
        number: usize,
        depth: usize,
        shown: &mut [bool],
    ) -> Tree {
        let proof = &derivation.proofs[number];
        let mut tree = Tree::new(Mark::Holds, self.fact_text(&proof.fact), "");
        tree.always = !self.changing[proof.fact.relation.index()];
        match &proof.reason {
            Reason::Stated(span) => {
                tree.note = "stated at".to_owned();
                tree.place = Some(self.spot(*span));
            }
            Reason::InState => tree.note = "in the state".to_owned(),
            Reason::Made => tree.note = "the move made".to_owned(),
            Reason::Rule {
                rule,
                bindings,
                premises,
            } => {
                tree.note = "rule at".to_owned();
                tree.place = self.rule_spot(*rule);
                let names = &self.game.rules().rules[*rule].variables;
                tree.bindings = (names.iter().zip(bindings))
                    .filter_map(|(name, value)| Some((name.to_string(), self.term_text((*value)?))))
                    .collect();
                if depth == 0 {
                    let more = counted(unshown(derivation, number, shown), "more fact");
                    let text = format!("{more} below it: ask why it holds");
                    tree.because.push(Tree::new(Mark::Group, text, ""));
                    return tree;
                }
                // A fact that is used repeatedly is explained once.
                tree.again = std::mem::replace(&mut shown[number], true) && !premises.is_empty();
                if tree.again {
                    return tree;
                }
                let lines = premises.iter().map(|premise| match premise {
                    Premise::Fact(fact) => self.proof_tree(derivation, *fact, depth - 1, shown),
                    Premise::Absent(fact) => {
                        let text = format!("(not {})", self.fact_text(fact));
                        Tree::new(Mark::Holds, text, "nothing derives it")
                    }
                    Premise::Test { equal, left, right } => {
                        Tree::new(Mark::Holds, self.test_text(*equal, *left, *right), "")
                    }
                });
                tree.because = lines.collect();
            }
        }
        tree
    }

    fn missing_tree(&self, missing: &Missing) -> Tree {
        let text = self.atom_text(&missing.atom, &missing.names);
        let mut tree = Tree::new(Mark::Fails, text, "");
        let similar = |facts: &[GroundAtom]| {
            let texts = facts.iter().map(|fact| self.fact_text(fact));
            texts.collect::<Vec<_>>().join(" ")
        };
        match &missing.reason {
            MissingReason::Given(nearest) => {
                tree.note = self.absence_reason(missing);
                let is_of_state = self.game.keyword(Keyword::True) == Some(missing.atom.relation);
                let gone = is_of_state.then(|| self.gone(&missing.atom, &missing.names));
                if let Some(number) = gone.flatten() {
                    let _ = write!(tree.note, ", it was true until move {number} (--history)");
                }
                if !nearest.is_empty() {
                    let _ = write!(tree.note, "; similar: {}", similar(nearest));
                }
            }
            MissingReason::Circular => tree.note = "would depend on itself".to_owned(),
            MissingReason::DepthLimit(nearest) => {
                tree.note = "not explained further (--depth)".to_owned();
                if !nearest.is_empty() {
                    let _ = write!(tree.note, "; similar: {}", similar(nearest));
                }
            }
            MissingReason::Rules {
                attempts,
                worse,
                apart,
                nearest,
            } => {
                tree.because = attempts.iter().map(|a| self.attempt_tree(a)).collect();
                if attempts.is_empty() {
                    tree.note = "no rule can derive it".to_owned();
                    self.add_suggestion(missing, &mut tree.note);
                    if !nearest.is_empty() {
                        let _ = write!(tree.note, "; similar: {}", similar(nearest));
                    }
                    tree.because = (apart.iter().take(HEADS))
                        .map(|&rule| {
                            let head = &self.game.rules().rules[rule];
                            let text = self.atom_text(&head.head, &head.variables);
                            let mut line =
                                Tree::new(Mark::Group, text, "is the head of the rule at");
                            line.place = self.rule_spot(rule);
                            line
                        })
                        .collect();
                    if let Some(rest @ 1..) = apart.len().checked_sub(HEADS) {
                        let text = format!("{} that do not match", counted(rest, "more rule"));
                        tree.because.push(Tree::new(Mark::Group, text, ""));
                    }
                } else if *worse > 0 {
                    let rules = match worse {
                        1 => "1 other rule needs".to_owned(),
                        worse => format!("{worse} other rules need"),
                    };
                    let text = format!("{rules} more (--rules)");
                    tree.because.push(Tree::new(Mark::Group, text, ""));
                }
            }
        }
        tree
    }

    /// The reason why an atom of a relation without rules does not hold.
    fn absence_reason(&self, missing: &Missing) -> String {
        let atom = &missing.atom;
        let is = |keyword| self.game.keyword(keyword) == Some(atom.relation);
        let mut text = match missing.never {
            false if is(Keyword::True) => "not in the state",
            false if is(Keyword::Does) => "not the move made",
            true if is(Keyword::True) => "no rule can make this true",
            true if is(Keyword::Does) => "no rule makes this legal",
            true if (self.achievers.as_ref()).is_none_or(|m| !m.is_defined(atom.relation)) => {
                "nothing defines it"
            }
            _ => "not a fact of the rules",
        }
        .to_owned();
        self.add_suggestion(missing, &mut text);
        text
    }

    /// Suggests a similar name, if a rule asks for a name that does not occur.
    fn add_suggestion(&self, missing: &Missing, text: &mut String) {
        let Some(achievers) = self.achievers.as_ref().filter(|_| missing.never) else {
            return;
        };
        let atom = &missing.atom;
        let is_defined = achievers.is_defined(atom.relation);
        let under = achievers
            .missing_keyword(atom.relation)
            .filter(|_| !is_defined);
        let shown = || self.atom_text(atom, &missing.names);
        let similar = || {
            let misspelled = achievers
                .similar_name(atom, &self.terms)
                .map(|(_, suggestion)| suggestion);
            misspelled.or_else(|| achievers.nearest(atom, &self.terms))
        };
        let _ = match under {
            Some(Keyword::True) => write!(text, ", did you mean (true {})?", shown()),
            Some(_) => write!(text, ", did you mean (does ROLE {})?", shown()),
            None => match similar() {
                Some(suggestion) => write!(text, ", did you mean {suggestion}?"),
                None => Ok(()),
            },
        };
    }

    fn attempt_tree(&self, attempt: &Attempt) -> Tree {
        let missed = (attempt.outcomes.iter())
            .filter(|outcome| is_missing(outcome))
            .count();
        let mut tree = Tree::new(Mark::Group, "", "rule at");
        tree.place = self.rule_spot(attempt.rule);
        if missed > 1 {
            tree.note = format!("{missed} missing: rule at");
        }
        tree.because = (by_cost(attempt).into_iter())
            .map(|outcome| self.outcome_tree(outcome, &attempt.names))
            .collect();
        tree
    }

    fn outcome_tree(&self, outcome: &LiteralOutcome, names: &[Box<str>]) -> Tree {
        let text = self.literal_text(&outcome.literal, names);
        match &outcome.state {
            LiteralStatus::Holds => Tree::new(Mark::Holds, text, ""),
            LiteralStatus::Open => Tree::new(Mark::Open, text, "depends on missing conditions"),
            LiteralStatus::Unknown => Tree::new(Mark::Open, text, "too many cases to decide"),
            LiteralStatus::Missing(missing) => self.missing_tree(missing),
            LiteralStatus::Violated(derivation) => {
                let note = match derivation.instances {
                    ..2 => "the fact holds:".to_owned(),
                    instances => format!("the fact holds, in {instances} instances:"),
                };
                let mut tree = Tree::new(Mark::Fails, text, note);
                tree.because.push(self.derivation_tree(derivation));
                tree
            }
            LiteralStatus::Fails => Tree::new(Mark::Fails, text, "is false"),
            LiteralStatus::NoBranch(branches) => {
                let mut tree = Tree::new(Mark::Fails, text, "none of these holds");
                for (number, branch) in (1..).zip(branches) {
                    let mut lines: Vec<Tree> =
                        branch.iter().map(|o| self.outcome_tree(o, names)).collect();
                    match lines.len() {
                        1 => tree.because.append(&mut lines),
                        _ => {
                            let mut group = Tree::new(Mark::Group, format!("branch {number}"), "");
                            group.because = lines;
                            tree.because.push(group);
                        }
                    }
                }
                tree
            }
        }
    }
}

/// The number of facts that a proof uses, directly or not, and that are not explained.
fn unshown(derivation: &Derivation, number: usize, shown: &[bool]) -> usize {
    let mut seen = FxHashSet::default();
    let mut open = vec![number];
    while let Some(number) = open.pop() {
        if let Reason::Rule { premises, .. } = &derivation.proofs[number].reason {
            let facts = premises.iter().filter_map(Premise::fact);
            open.extend(facts.filter(|fact| !shown[*fact] && seen.insert(*fact)));
        }
    }
    seen.len()
}

fn is_missing(outcome: &LiteralOutcome) -> bool {
    let state = &outcome.state;
    !matches!(
        state,
        LiteralStatus::Holds | LiteralStatus::Open | LiteralStatus::Unknown
    )
}

/// Missing literals come first, because they matter most, ordered by ascending cost.
fn by_cost(attempt: &Attempt) -> Vec<&LiteralOutcome> {
    let mut outcomes: Vec<&LiteralOutcome> = attempt.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| (!is_missing(outcome), outcome.cost));
    outcomes
}
