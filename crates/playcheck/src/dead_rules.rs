//! Findings about rules that never fire: root causes first, consequences only once.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::coverage::DeadRule;
use super::{Evidence, listed};
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::counted;
use ggp_gdl::diagnostic::{Code, Diagnostic, Strictness};
use ggp_gdl::program::reach::{dependents, supporters};
use ggp_gdl::program::unify::Unifier;
use ggp_gdl::program::{Atom, Literal, Rule};
use ggp_gdl::span::Span;
use ggp_gdl::terms::Terms;

/// Maximum length of the list of moves in a suggested command.
const LONGEST: usize = 500;
/// Maximum number of consequent rules that are named.
const FOLLOWERS: usize = 3;

impl Evidence<'_> {
    /// The findings about rules that never fired, one for each source location, causes
    /// first. Rules that never fire because of another one are named with it.
    pub(super) fn findings(&self, dead_rules: &[DeadRule], complete: bool) -> Vec<Diagnostic> {
        // Rules that a limit kept from being evaluated may have fired.
        let any = self.coverage.positions > 0 && self.coverage.is_exact;
        // If the game is over before it begins, the other rules had no chance to fire.
        let is_over = self.is_over();
        let dead_rules = dead_rules.iter().filter(|rule| any || rule.proved);
        let dead_rules = dead_rules.filter(|rule| !is_over || rule.nothing);
        let mut dead_rules: Vec<&DeadRule> = dead_rules.collect();
        let place = |dead: &DeadRule| self.game.rules().rules[dead.rule].span;
        dead_rules.sort_by_key(|one| (!one.nothing, place(one), one.stops_at));
        let causes = self.causes(&dead_rules);
        let mut reported: Vec<usize> = (0..dead_rules.len())
            .filter(|&at| causes[at] == at)
            .collect();
        let mut others: Vec<Span> = Vec::new();
        if let Some(first) = self.first_of_stuck(&dead_rules, &reported) {
            let left = reported.iter().filter(|&at| !first.contains(at));
            others.extend(left.map(|&at| place(dead_rules[at])));
            reported = first;
        }
        let mut known: FxHashMap<(Span, Option<Span>), usize> = FxHashMap::default();
        let mut findings: Vec<Diagnostic> = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        for &at in &reported {
            let key = (place(dead_rules[at]), dead_rules[at].stops_at);
            known.entry(key).or_insert_with(|| {
                findings.push(self.finding(dead_rules[at], complete));
                spans.push(key.0);
                findings.len() - 1
            });
        }
        // For each finding: the rules that follow from it, and whether that is sure. `others` are those without a
        // finding.
        let mut followers: Vec<(Vec<Span>, bool)> = vec![(Vec::new(), true); findings.len()];
        for (at, one) in dead_rules
            .iter()
            .enumerate()
            .filter(|(at, _)| causes[*at] != *at)
        {
            let cause = dead_rules[causes[at]];
            match known.get(&(place(cause), cause.stops_at)) {
                Some(&finding) => {
                    let (places, is_sure) = &mut followers[finding];
                    places.push(place(one));
                    *is_sure &= one.proved || complete;
                }
                None => others.push(place(one)),
            }
        }
        let reported: FxHashSet<Span> = spans.into_iter().collect();
        for (finding, (followers, is_sure)) in findings.iter_mut().zip(followers) {
            if let Some((places, count)) = self.places(followers, &reported) {
                let what = match (is_sure, count) {
                    (true, 1) => "never fires either",
                    (true, _) => "never fire either",
                    (false, _) => "did not fire either",
                };
                append(finding, &format!("as a consequence, {places} {what}"));
            }
        }
        let others = self.places(others, &reported);
        if let (Some(last), Some((places, count))) = (findings.last_mut(), others) {
            let is_sure = complete || dead_rules.iter().all(|one| one.proved);
            let reaches = if is_sure { "reaches" } else { "reached" };
            let fire = if count == 1 {
                "this rule fires"
            } else {
                "these rules fire"
            };
            append(
                last,
                &format!("no match {reaches} a position in which {fire}: {places}"),
            );
        }
        findings
    }

    /// For each rule: the rule that is the cause of it never firing; itself if it is a
    /// cause.
    fn causes(&self, dead_rules: &[&DeadRule]) -> Vec<usize> {
        let rules = &self.game.rules().rules;
        let mut of_rule: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, one) in dead_rules.iter().enumerate() {
            of_rule.entry(one.rule).or_default().push(at);
        }
        let is_cause = |(at, one): (usize, &&DeadRule)| one.achievers.is_none().then_some(at);
        let mut causes: Vec<Option<usize>> = dead_rules.iter().enumerate().map(is_cause).collect();
        // By dead rule: those that it could make fire.
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); dead_rules.len()];
        for (at, one) in dead_rules.iter().enumerate() {
            let achievers = one.achievers.iter().flatten();
            for &achiever in achievers.filter_map(|rule| of_rule.get(rule)).flatten() {
                followers[achiever].push(at);
            }
        }
        // Among rules that depend on each other, one is the cause; legal rules come
        // first.
        let legal = self.game.keyword(Keyword::Legal);
        let is_legal = |at: usize| Some(rules[dead_rules[at].rule].head.relation) == legal;
        let (first, last): (Vec<_>, Vec<_>) = (0..dead_rules.len()).partition(|&at| is_legal(at));
        let mut rest = first.into_iter().chain(last);
        let mut known: VecDeque<usize> = causes.iter().flatten().copied().collect();
        loop {
            while let Some(at) = known.pop_front() {
                for &follower in &followers[at] {
                    if causes[follower].is_none() {
                        causes[follower] = causes[at];
                        known.push_back(follower);
                    }
                }
            }
            match rest.find(|&at| causes[at].is_none()) {
                Some(first) => {
                    causes[first] = Some(first);
                    known.push_back(first);
                }
                None => return causes.into_iter().flatten().collect(),
            }
        }
    }

    /// If no move can ever be made: the causes that matter. These are the literals that
    /// nothing can satisfy, or else the conditions of legal moves; maybe none, where a move lacks a rule.
    fn first_of_stuck(&self, dead_rules: &[&DeadRule], reported: &[usize]) -> Option<Vec<usize>> {
        if self.some_move() || self.tally().stuck == 0 {
            return None;
        }
        let rules = self.game.rules();
        let of_legal = supporters(rules, self.game.keyword(Keyword::Legal));
        let is_nothing = |at: &usize| dead_rules[*at].nothing;
        let is_of_legal =
            |at: &usize| of_legal[rules.rules[dead_rules[*at].rule].head.relation.index()];
        let both = |at: &usize| is_nothing(at) && is_of_legal(at);
        let tries: [&dyn Fn(&usize) -> bool; 3] = [&both, &is_nothing, &is_of_legal];
        let mut found = (tries.iter()).map(|keeps| {
            reported
                .iter()
                .copied()
                .filter(|at| keeps(at))
                .collect::<Vec<_>>()
        });
        Some(found.find(|found| !found.is_empty()).unwrap_or_default())
    }

    fn finding(&self, dead: &DeadRule, complete: bool) -> Diagnostic {
        let rule = &self.game.rules().rules[dead.rule];
        let some = self.coverage.has_fired(rule.span);
        let what = match some {
            true => "an alternative of this rule",
            false => "this rule",
        };
        let is_sure = dead.proved || complete;
        let message = match (is_sure, self.coverage.positions) {
            (true, _) => format!("{what} never fires (proved)"),
            (false, positions) => {
                let positions = counted(positions, "position");
                format!("{what} did not fire in {positions} of the playouts")
            }
        };
        let place = rule.head.span;
        let mut finding = Diagnostic::new(Code::DeadRule, Strictness::Tolerant, place, message);
        if let Some(place) = dead.stops_at {
            let note = match dead.reached {
                0 if dead.is_denied && is_sure => "this always holds, so `not` never does",
                0 if dead.is_denied => "this held each time, so `not` never did",
                _ if dead.is_denied && is_sure => {
                    "this holds whenever the conditions before it do, so `not` never does"
                }
                _ if dead.is_denied => {
                    "this held whenever the conditions before it did, so `not` never did"
                }
                _ if dead.nothing => "no fact matches this, and nothing can produce one",
                _ if dead.alone && is_sure => "no fact matches this",
                _ if dead.alone => "no fact matched this",
                0 if is_sure => "this is never satisfied",
                0 => "this was not satisfied",
                _ if is_sure => "this is never satisfied together with the conditions before it",
                _ => "this was not satisfied together with the conditions before it",
            };
            finding = finding.note(place, note);
        }
        finding.help(match (&dead.meant, some) {
            (Some(meant), _) => format!("did you mean {meant}?"),
            (None, true) => "if the alternative is not needed, remove it".to_owned(),
            (None, false) if self.tally().stuck > 0 => format!(
                "run {}; maybe matches that end for want of a legal move are the reason",
                self.question(dead)
            ),
            (None, false) => format!("run {}, or remove the rule", self.question(dead)),
        })
    }

    /// A command that shows the unsatisfied conditions of the rule.
    fn question(&self, dead: &DeadRule) -> String {
        let moves = dead.path.as_ref().map(|path| self.texts(path).join("; "));
        let Some(moves) = moves.filter(|moves| moves.len() <= LONGEST) else {
            return "`ggp why` with a fact that the rule should derive".to_owned();
        };
        let head = &self.game.rules().rules[dead.rule].head;
        let of_moves = [Keyword::Next, Keyword::Sees].map(|keyword| self.game.keyword(keyword));
        let does = dependents(self.game.rules(), self.game.keyword(Keyword::Does));
        let needs = of_moves.contains(&Some(head.relation)) || does[head.relation.index()];
        let does = if needs { " --does 'MOVES'" } else { "" };
        let words = self.game.sources().text(head.span).split_whitespace();
        let head = words.collect::<Vec<_>>().join(" ");
        match moves.is_empty() {
            true => format!("`ggp why ... '{head}'{does}`"),
            false => format!("`ggp why ... '{head}' --moves '{moves}'`"),
        }
    }

    /// The source locations of rules as text, without those already reported, and their number.
    fn places(&self, mut rules: Vec<Span>, reported: &FxHashSet<Span>) -> Option<(String, usize)> {
        rules.retain(|rule| !reported.contains(rule));
        rules.sort_unstable();
        rules.dedup();
        let sources = self.game.sources();
        let places = rules.iter().map(|span| sources.place(*span));
        (!rules.is_empty()).then(|| (listed(places, FOLLOWERS, ", "), rules.len()))
    }
}

fn append(finding: &mut Diagnostic, text: &str) {
    let help = finding.help.take();
    finding.help = Some(help.map_or_else(|| text.to_owned(), |help| format!("{help}; {text}")));
}

/// The conditions of a rule for deriving an atom, with the atom's terms substituted.
pub(super) fn needed_for(rule: &Rule, atom: &Atom, terms: &mut Terms) -> Vec<Atom> {
    let offset = rule.variables.len();
    let mut most = 0;
    atom.for_each_variable(|variable, _| most = most.max(variable.index() + 1));
    let mut unifier = Unifier::new(offset + most, terms);
    let mut pairs = rule.head.arguments.iter().zip(&atom.arguments);
    if !pairs.all(|(head, term)| unifier.unify((head, 0), (term, offset))) {
        return Vec::new();
    }
    let positive = rule.body.iter().filter_map(|literal| match literal {
        Literal::Positive(atom) => unifier.atom(atom, 0),
        _ => None,
    });
    positive.collect()
}
