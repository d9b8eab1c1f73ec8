//! What is said of rules that never fire: what must be mended first, and what only
//! follows from it once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::coverage::Silent;
use super::{Evidence, listed};
use ggp_gdl::check::Keyword;
use ggp_gdl::diagnostic::{Code, Diagnostic, Strictness};
use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::unify::Unifier;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule};
use ggp_gdl::span::Span;
use ggp_gdl::terms::Terms;

/// The longest list of moves in a command that is advised.
const LONGEST: usize = 500;
/// Rules named that follow from others.
const FOLLOWERS: usize = 3;

impl Evidence<'_> {
    /// The findings about rules that never fired, one for each place, causes first.
    /// Rules that never fire because of another one are named with it.
    pub(super) fn silent(&self, silent: &[Silent], complete: bool) -> Vec<Diagnostic> {
        let any = self.coverage.positions > 0;
        // Where play is over before it begins, other rules had no chance.
        let is_over = self.is_over();
        let silent = silent.iter().filter(|silent| any || silent.proved);
        let silent = silent.filter(|silent| !is_over || silent.nothing);
        let mut silent: Vec<&Silent> = silent.collect();
        let place = |silent: &Silent| self.game.rules().rules[silent.rule].span;
        silent.sort_by_key(|one| (!one.nothing, place(one), one.stops_at));
        let causes = self.causes(&silent);
        let mut told: Vec<usize> = (0..silent.len()).filter(|&at| causes[at] == at).collect();
        let mut others: Vec<Span> = Vec::new();
        if let Some(first) = self.first_of_stuck(&silent, &told) {
            let left = told.iter().filter(|&at| !first.contains(at));
            others.extend(left.map(|&at| place(silent[at])));
            told = first;
        }
        let mut known: FxHashMap<(Span, Option<Span>), usize> = FxHashMap::default();
        let mut findings: Vec<Diagnostic> = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        for &at in &told {
            let key = (place(silent[at]), silent[at].stops_at);
            known.entry(key).or_insert_with(|| {
                findings.push(self.finding(silent[at], complete));
                spans.push(key.0);
                findings.len() - 1
            });
        }
        // By finding: the rules that follow from it; and those of no finding.
        let mut followers: Vec<Vec<Span>> = vec![Vec::new(); findings.len()];
        for (at, one) in silent
            .iter()
            .enumerate()
            .filter(|(at, _)| causes[*at] != *at)
        {
            let cause = silent[causes[at]];
            match known.get(&(place(cause), cause.stops_at)) {
                Some(&finding) => followers[finding].push(place(one)),
                None => others.push(place(one)),
            }
        }
        let told: FxHashSet<Span> = spans.into_iter().collect();
        for (finding, followers) in findings.iter_mut().zip(followers) {
            if let Some(places) = self.places(followers, &told) {
                append(
                    finding,
                    &format!("because of it {places} never fire either"),
                );
            }
        }
        if let (Some(last), Some(places)) = (findings.last_mut(), self.places(others, &told)) {
            append(
                last,
                &format!("play never comes to where others fire: {places}"),
            );
        }
        findings
    }

    /// By rule: the one that it never fires because of, itself if it is the cause.
    fn causes(&self, silent: &[&Silent]) -> Vec<usize> {
        let rules = &self.game.rules().rules;
        let mut of_rule: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, one) in silent.iter().enumerate() {
            of_rule.entry(one.rule).or_default().push(at);
        }
        let is_cause = |(at, one): (usize, &&Silent)| one.achievers.is_none().then_some(at);
        let mut causes: Vec<Option<usize>> = silent.iter().enumerate().map(is_cause).collect();
        loop {
            let mut grown = false;
            for at in 0..silent.len() {
                let achievers = silent[at].achievers.iter().flatten();
                let of_makers = achievers.filter_map(|maker| of_rule.get(maker)).flatten();
                if causes[at].is_none()
                    && let Some(cause) = of_makers.filter_map(|&maker| causes[maker]).next()
                {
                    (causes[at], grown) = (Some(cause), true);
                }
            }
            if grown {
                continue;
            }
            // Of rules that need each other one stands for all: what is legal before others.
            let open = (0..silent.len()).filter(|&at| causes[at].is_none());
            let legal = self.game.keyword(Keyword::Legal);
            match open.min_by_key(|&at| Some(rules[silent[at].rule].head.relation) != legal) {
                Some(first) => causes[first] = Some(first),
                None => return causes.into_iter().flatten().collect(),
            }
        }
    }

    /// Of causes, those that matter where no move can ever be made: what nothing
    /// makes, or else what the legal moves need.
    fn first_of_stuck(&self, silent: &[&Silent], told: &[usize]) -> Option<Vec<usize>> {
        if self.some_move() || self.tally().stuck == 0 {
            return None;
        }
        let rules = &self.game.rules().rules;
        let of_legal = self.needed_for_moves();
        let is_nothing = |at: &usize| silent[*at].nothing;
        let is_of_legal = |at: &usize| of_legal.contains(&rules[silent[*at].rule].head.relation);
        let both = |at: &usize| is_nothing(at) && is_of_legal(at);
        let tries: [&dyn Fn(&usize) -> bool; 3] = [&both, &is_nothing, &is_of_legal];
        let mut found = (tries.iter()).map(|keeps| {
            told.iter()
                .copied()
                .filter(|at| keeps(at))
                .collect::<Vec<_>>()
        });
        found.find(|found| !found.is_empty())
    }

    /// The relations that legal moves depend on within one position.
    fn needed_for_moves(&self) -> FxHashSet<RelationId> {
        let mut found: FxHashSet<RelationId> = FxHashSet::default();
        found.extend(self.game.keyword(Keyword::Legal));
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for rule in &self.game.rules().rules {
                if found.contains(&rule.head.relation) {
                    for_each_body_atom(rule, |atom, _| grown |= found.insert(atom.relation));
                }
            }
        }
        found
    }

    fn finding(&self, silent: &Silent, complete: bool) -> Diagnostic {
        let rule = &self.game.rules().rules[silent.rule];
        let some = self.coverage.has_fired(rule.span);
        let what = match some {
            true => "an alternative of this rule",
            false => "this rule",
        };
        let message = match (silent.proved || complete, self.coverage.positions) {
            (true, _) => format!("{what} never fires (proved)"),
            (false, positions) => format!("{what} never fired in {positions} positions of play"),
        };
        let place = rule.head.span;
        let mut finding = Diagnostic::new(Code::DeadRule, Strictness::Tolerant, place, message);
        if let Some(place) = silent.stops_at {
            let note = match silent.reached {
                _ if silent.nothing => "no fact matches this, and nothing can make one",
                _ if silent.alone => "no fact matches this",
                0 => "this is never fulfilled",
                _ => "this is never fulfilled together with what stands before it",
            };
            finding = finding.note(place, note);
        }
        finding.help(match (&silent.meant, some) {
            (Some(meant), _) => format!("did you mean {meant}?"),
            (None, true) => "if the alternative is not needed, take it out".to_owned(),
            (None, false) => format!("ask {}, or take the rule out", self.question(silent)),
        })
    }

    /// How to see what the rule misses.
    fn question(&self, silent: &Silent) -> String {
        let moves = silent.path.as_ref().map(|path| self.texts(path).join("; "));
        let Some(moves) = moves.filter(|moves| moves.len() <= LONGEST) else {
            return "`ggp why` for a fact that it should give".to_owned();
        };
        let head = &self.game.rules().rules[silent.rule].head;
        let words = self.game.sources().text(head.span).split_whitespace();
        let head = words.collect::<Vec<_>>().join(" ");
        match moves.is_empty() {
            true => format!("`ggp why ... '{head}'`"),
            false => format!("`ggp why ... '{head}' --moves '{moves}'`"),
        }
    }

    /// Where rules stand, in words, but for those that are told of.
    fn places(&self, mut rules: Vec<Span>, told: &FxHashSet<Span>) -> Option<String> {
        rules.retain(|rule| !told.contains(rule));
        rules.sort_unstable();
        rules.dedup();
        let sources = self.game.sources();
        let places = rules.iter().map(|span| sources.place(*span));
        (!rules.is_empty()).then(|| listed(places, FOLLOWERS, ", "))
    }
}

fn append(finding: &mut Diagnostic, text: &str) {
    let help = finding.help.take();
    finding.help = Some(help.map_or_else(|| text.to_owned(), |help| format!("{help}; {text}")));
}

/// What a rule needs to give an atom, with the atom's terms in it.
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
