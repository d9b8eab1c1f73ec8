//! Derives claims from the observations.

use std::collections::BTreeSet;

use super::bodies::places_of;
use super::proof::Induction;
use super::role_symmetry::role_symmetry;
use super::space::Ending;
use super::tally::{Example, GoalFault, Tally};
use super::{Basis, Claim, ClaimVerdict, Evidence, Severity, Subject, listed};
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::{all_listed, counted, counted_range};
use ggp_gdl::game::{GoalChoice, Move, Score};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// Maximum number of facts or moves named in one claim.
pub(super) const NAMED: usize = 6;
/// Maximum number of roles with claims of their own.
pub(super) const MOST_ROLES: usize = 100;

impl Evidence<'_> {
    /// All claims, in a fixed order.
    pub(super) fn claims(&mut self) -> Result<Vec<Claim>, PlayError> {
        let start = self.machine.initial()?;
        let net: Option<Propnet> = self.machine.network(&start).map(|(net, _)| net.clone());
        let is_late = ggp_stop::Instant::now() >= self.deadline;
        let mut induction = match &self.space {
            Some(_) => None,
            None if is_late => None,
            None => net
                .as_ref()
                .map(|net| Induction::new(net, self.limits.stop.until(self.deadline))),
        };
        let mut claims = vec![self.ends(net.as_ref(), induction.as_mut())];
        if self.is_over() {
            // The other claims follow from this one, or were not checked.
            let roles = 0..self.game.role_count().min(MOST_ROLES);
            let goals = roles.flat_map(|role| self.goal(role, None));
            claims.extend(goals.filter(|claim| claim.verdict == ClaimVerdict::Fails));
            return Ok(claims);
        }
        let some_move = self.some_move();
        let all = self.game.role_count();
        let roles: Vec<_> = self.game.roles().take(MOST_ROLES).collect();
        if roles.len() < all {
            let mut claim = self.claim(Subject::Legal, Severity::Remark);
            claim.verdict = ClaimVerdict::Open;
            claim.text =
                format!("of {all} roles, only the first {MOST_ROLES} are looked at one by one");
            claims.push(claim);
        }
        let legal = (0..roles.len()).map(|role| self.legal(role, induction.as_mut()));
        // If no move is possible, that is the only thing worth reporting about moves.
        let is_worth = |claim: &Claim| some_move || claim.verdict != ClaimVerdict::Holds;
        claims.extend(legal.filter(is_worth).collect::<Vec<_>>());
        for (number, role) in roles.iter().enumerate() {
            // Chance needs no goal.
            if !self.game.is_random(*role) {
                claims.extend(self.goal(number, induction.as_mut()));
            }
        }
        for (number, role) in roles.iter().enumerate() {
            if !self.game.is_random(*role) {
                claims.extend(self.winnable(number, net.as_ref(), induction.as_mut()));
            }
        }
        if all > 1 && some_move {
            claims.push(self.turns(induction.as_mut()));
        }
        let players = self.game.roles().filter(|role| !self.game.is_random(*role));
        if players.count() > 1 {
            claims.extend(self.sum(induction.as_mut()));
            claims.extend(self.role_symmetry());
        }
        if some_move {
            claims.push(self.change(induction.as_mut()));
        }
        claims.extend(self.kept());
        claims.extend(self.single());
        claims.extend(self.constant(net.as_ref()));
        claims.extend(self.unread());
        claims.extend(self.non_roles());
        Ok(claims)
    }

    /// The tally of all positions, or else that of the random playouts.
    pub(super) fn tally(&self) -> &Tally {
        self.space
            .as_ref()
            .map_or(&self.played, |space| &space.tally)
    }

    /// Returns whether a move was ever made.
    pub(super) fn some_move(&self) -> bool {
        let tally = self.tally();
        tally.positions > tally.ends + tally.stuck
    }

    /// Returns whether the game is over before it begins.
    pub(super) fn is_over(&self) -> bool {
        self.tally().lengths == Some((0, 0)) && !self.some_move()
    }

    fn basis(&self) -> Basis {
        match self.space {
            Some(_) => Basis::Positions,
            None => Basis::Seen,
        }
    }

    /// The example found in the state space, or else the one found in playouts.
    fn example<T: Clone>(&self, of: impl Fn(&Tally) -> Option<&Example<T>>) -> Option<Example<T>> {
        let all = self.space.as_ref().and_then(|space| of(&space.tally));
        all.or(of(&self.played)).cloned()
    }

    /// The examples found in the state space, or else those found in playouts.
    fn examples<T>(&self, of: impl Fn(&Tally) -> Vec<T>) -> Vec<T> {
        let all = self.space.as_ref().map(|space| of(&space.tally));
        all.filter(|all| !all.is_empty())
            .unwrap_or_else(|| of(&self.played))
    }

    pub(super) fn claim(&self, subject: Subject, severity: Severity) -> Claim {
        Claim {
            subject,
            role: None,
            verdict: ClaimVerdict::Holds,
            basis: self.basis(),
            severity,
            text: String::new(),
            has_several_goals: false,
            moves: None,
            cycle: None,
            alike: None,
            places: Vec::new(),
        }
    }

    pub(super) fn texts(&self, path: &[Vec<Move>]) -> Vec<String> {
        path.iter().map(|joint| self.joint(joint)).collect()
    }

    pub(super) fn joint(&self, joint: &[Move]) -> String {
        let texts: Vec<String> = joint
            .iter()
            .map(|chosen| self.text(chosen.term()))
            .collect();
        texts.join(" ")
    }

    pub(super) fn text(&self, term: TermId) -> String {
        self.game.text(self.machine.terms(), term)
    }

    fn name(&self, role: usize) -> String {
        let role = self
            .game
            .roles()
            .nth(role)
            .expect("the number is that of a role");
        self.game.role_name(role).to_owned()
    }

    fn score(&self) -> impl Fn(TermId) -> Option<Score> + use<> {
        let (game, terms) = (self.game.clone(), self.machine.terms().clone());
        move |value| game.score(&terms, value).ok()
    }

    fn ends(&self, net: Option<&Propnet>, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Ends, Severity::Warning);
        if self.is_over() {
            claim.verdict = ClaimVerdict::Fails;
            claim.basis = Basis::Example;
            claim.text = "the game is over before the first move: terminal holds initially; \
                          `ggp why ... terminal` explains why"
                .to_owned();
            claim.moves = Some(Vec::new());
            return claim;
        }
        if self.tally().stuck > 0 {
            claim.verdict = ClaimVerdict::Open;
            claim.severity = Severity::Remark;
            claim.text =
                "whether every match ends: in some position that is no end a role has no legal move"
                    .to_owned();
            return claim;
        }
        let moves = |count: u64| counted(count, "move");
        match self.space.as_ref().map(|space| &space.ending) {
            Some(Ending::Within(most)) => {
                claim.text = format!("every match ends, after at most {}", moves(*most));
                return claim;
            }
            Some(Ending::Cycle(path, cycle)) => {
                claim.verdict = ClaimVerdict::Fails;
                claim.text = match cycle.len() {
                    1 => "a match can go on forever: a move leads back to the same position"
                        .to_owned(),
                    count => format!(
                        "a match can go on forever: {count} moves lead back to the same position"
                    ),
                };
                claim.moves = Some(self.texts(path));
                claim.cycle = Some(self.texts(cycle));
                return claim;
            }
            None => {}
        }
        let counter = self
            .counters
            .iter()
            .filter_map(|counter| counter.ends_at)
            .min();
        if let Some(most) = counter {
            claim.basis = Basis::Rules;
            claim.text = format!(
                "every match ends, after at most {}: a counter ends it",
                moves(most as u64)
            );
            return claim;
        }
        let proved = net.zip(induction).and_then(|(net, induction)| {
            let seen = |of: &rustc_hash::FxHashSet<TermId>| -> Vec<bool> {
                net.facts().iter().map(|fact| of.contains(fact)).collect()
            };
            induction.ends_within(&seen(&self.lost), &seen(&self.gained))
        });
        if let Some(most) = proved {
            claim.basis = Basis::Induction;
            claim.text = format!(
                "every match ends, after at most {}: each move makes an irreversible change",
                moves(most)
            );
            return claim;
        }
        match (self.played.cut, self.played.lengths) {
            (0, Some((least, most))) => {
                claim.text = format!(
                    "every playout ended, after {}",
                    counted_range(least, most, "move")
                );
            }
            (0, None) => {
                claim.verdict = ClaimVerdict::Open;
                claim.text = "no playout reached a terminal position".to_owned();
            }
            (cut, _) => {
                claim.verdict = ClaimVerdict::Open;
                claim.text = format!(
                    "playouts that were stopped after {}: {cut}",
                    moves(self.options.depth as u64)
                );
            }
        }
        claim
    }

    fn legal(&self, role: usize, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Legal, Severity::Error);
        let name = self.name(role);
        claim.text = format!("{name} always has a legal move");
        claim.role = Some(name.clone());
        match self.example(|tally| tally.roles[role].stuck.as_ref()) {
            Some(example) => {
                claim.verdict = ClaimVerdict::Fails;
                claim.basis = Basis::Example;
                let hint = if example.what {
                    " (a role that waits needs one, too, such as noop)"
                } else {
                    ""
                };
                claim.text = format!("{name} has no legal move in a non-terminal position{hint}");
                claim.moves = Some(self.texts(&example.path));
            }
            None if induction.is_some_and(|induction| induction.can_move(role)) => {
                claim.basis = Basis::Induction;
            }
            None if self.tally().positions == 0 => {
                claim.verdict = ClaimVerdict::Open;
                claim.severity = Severity::Warning;
                claim.text = format!(
                    "no position was reached, so nothing is known about the moves of {name}"
                );
            }
            None => {}
        }
        claim
    }

    /// The claim that a role has one goal value at each end, or each kind of its faults.
    fn goal(&self, role: usize, induction: Option<&mut Induction<'_>>) -> Vec<Claim> {
        let mut claim = self.claim(Subject::Goal, Severity::Error);
        let name = self.name(role);
        claim.role = Some(name.clone());
        let faults = self.examples(|tally| tally.roles[role].faults().cloned().collect());
        if !faults.is_empty() {
            let claim = |fault| self.wrong_goal(role, fault, claim.clone());
            return faults.into_iter().map(claim).collect();
        }
        let of_several = match self.game.goal_choice() {
            GoalChoice::Error => String::new(),
            choice => format!(", if the {choice} of several counts"),
        };
        claim.text = format!(
            "{name} has exactly one goal value from 0 to 100 in every terminal position{of_several}"
        );
        if induction.is_some_and(|induction| induction.has_one_goal(role, &self.score())) {
            claim.basis = Basis::Induction;
        } else if self.tally().ends == 0 {
            claim.verdict = ClaimVerdict::Open;
            claim.text = match self.space {
                Some(_) => format!("no match ends, so no goal value of {name} counts"),
                None => format!(
                    "no terminal position was reached, so nothing is known about the goals of {name}"
                ),
            };
            claim.severity = Severity::Warning;
        }
        vec![claim]
    }

    /// A claim about the goals of a role, which fails in an example.
    fn wrong_goal(&self, role: usize, example: Example<GoalFault>, mut claim: Claim) -> Claim {
        let name = self.name(role);
        claim.verdict = ClaimVerdict::Fails;
        claim.basis = Basis::Example;
        claim.has_several_goals = matches!(example.what, GoalFault::Several(_));
        claim.places = self.goal_rules(role, &example.what);
        claim.text = match example.what {
            GoalFault::None if self.never_has_goals(role) => format!(
                "{name} has no goal value in a terminal position (a role that only makes random moves is \
                 named random, and needs none)"
            ),
            GoalFault::None => format!("{name} has no goal value in a terminal position"),
            GoalFault::Several(values) => {
                let values: Vec<String> = values.iter().map(|value| self.text(*value)).collect();
                format!(
                    "{name} has several goal values in a terminal position: {}",
                    all_listed(&values)
                )
            }
            GoalFault::Bad(value) => {
                format!(
                    "{name} has the goal value {} in a terminal position, which is not an integer from 0 to 100",
                    self.text(value)
                )
            }
        };
        claim.moves = Some(self.texts(&example.path));
        claim
    }

    /// Whether no goal value of a role was seen.
    fn never_has_goals(&self, role: usize) -> bool {
        let tally = &self.tally().roles[role];
        let has_value = |fault: &Example<GoalFault>| fault.what != GoalFault::None;
        tally.best.is_none() && !tally.faults().any(has_value)
    }

    /// The places of the rules that give a role wrong goal values.
    fn goal_rules(&self, role: usize, fault: &GoalFault) -> Vec<String> {
        let values = match fault {
            GoalFault::None => &[][..],
            GoalFault::Several(values) => values,
            GoalFault::Bad(value) => std::slice::from_ref(value),
        };
        let role = self.game.roles().nth(role);
        let role = self
            .game
            .role_term(role.expect("the number is that of a role"));
        let mut terms = self.machine.terms().clone();
        let rules = values
            .iter()
            .flat_map(|value| places_of(self.game, Keyword::Goal, [role, *value], &mut terms));
        let rules: BTreeSet<Span> = rules.collect();
        let sources = self.game.sources();
        rules.into_iter().map(|rule| sources.place(rule)).collect()
    }

    fn winnable(
        &self,
        role: usize,
        net: Option<&Propnet>,
        induction: Option<&mut Induction<'_>>,
    ) -> Option<Claim> {
        let mut claim = self.claim(Subject::Winnable, Severity::Warning);
        let name = self.name(role);
        claim.role = Some(name.clone());
        let best = self.tally().roles[role].best.clone();
        let won = best
            .as_ref()
            .filter(|best| best.what == 100)
            .map(|best| &*best.path);
        if let Some(path) = won.or(self.plan.as_ref()) {
            let scored = self.played.scored;
            let mean = average(self.played.roles[role].sum, scored);
            let which = match self.played.cut {
                _ if scored < self.played.ends => "playouts with a score",
                0 if scored >= self.options.playouts => "random playouts",
                _ => "playouts that ended",
            };
            claim.text = match scored {
                0 => format!("{name} can get 100"),
                _ => format!("{name} can get 100 ({mean} on average in {which})"),
            };
            claim.moves = Some(self.texts(path));
            claim.basis = Basis::Example;
            return Some(claim);
        }
        // Matches that end with wrong goals of any role have no scores, and are reported already. So it is
        // if no match ended.
        let has_fault = self.tally().has_fault();
        if has_fault || self.tally().ends == 0 {
            return None;
        }
        let refuted = match (net, induction) {
            (Some(net), Some(induction)) => {
                let score = self.score();
                let mut hundred = (0..net.goals()[role].len())
                    .filter(|&value| score(net.goals()[role][value].0) == Some(Score::MAX));
                hundred.all(|value| induction.never_gets(role, value))
            }
            _ => self.space.is_some(),
        };
        if refuted {
            claim.verdict = ClaimVerdict::Fails;
            claim.basis = match self.space {
                Some(_) => Basis::Positions,
                None => Basis::Induction,
            };
            claim.text = match &best {
                Some(best) => format!(
                    "{name} can never get 100; the highest score found is {}",
                    best.what
                ),
                None => format!("{name} can never get 100"),
            };
            claim.moves = best.map(|best| self.texts(&best.path));
            return Some(claim);
        }
        claim.verdict = ClaimVerdict::Open;
        claim.text = match &best {
            Some(best) => format!(
                "{name} never got 100; the highest score found is {}",
                best.what
            ),
            None => format!("{name} never got 100"),
        };
        claim.moves = best.map(|best| self.texts(&best.path));
        Some(claim)
    }

    fn turns(&self, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Turns, Severity::Remark);
        claim.text = "at most one role has a choice at a time: roles take turns".to_owned();
        let deciding = (self.game.roles().zip(&self.tally().roles))
            .filter(|(role, _)| !self.game.is_random(*role));
        let (idle, active): (Vec<_>, Vec<_>) =
            deciding.partition(|(_, of_role)| !of_role.has_choice);
        let idle: Vec<String> = (idle.iter())
            .map(|(role, _)| self.game.role_name(*role).to_owned())
            .collect();
        let who = all_listed(&idle);
        let is_all = self.space.is_some();
        let chance = if idle.len() == self.game.role_count() {
            ""
        } else {
            " except chance"
        };
        let never = match (active.is_empty(), idle.len(), is_all) {
            (_, 0, _) => None,
            (true, _, true) => Some(format!("no role{chance} ever has a choice")),
            (true, _, false) => Some(format!("no role{chance} ever had a choice")),
            (false, 1, true) => Some(format!("{who} never has a choice")),
            (false, _, true) => Some(format!("{who} never have a choice")),
            (false, _, false) => Some(format!("{who} never had a choice")),
        };
        if let Some(never) = never {
            claim.text = format!("at most one role has a choice at a time: {never}");
        }
        match self.example(|tally| tally.simultaneous.as_ref()) {
            Some(example) => {
                let tally = self.tally();
                claim.verdict = ClaimVerdict::Fails;
                claim.basis = Basis::Example;
                claim.text = match tally.single {
                    0 => "several roles move simultaneously".to_owned(),
                    single => format!(
                        "several roles move simultaneously in {}, only one in {single}",
                        counted(tally.simultaneous_count, "position")
                    ),
                };
                claim.moves = Some(self.texts(&example.path));
            }
            None if induction.is_some_and(Induction::takes_turns) => claim.basis = Basis::Induction,
            None => {}
        }
        claim
    }

    fn sum(&self, induction: Option<&mut Induction<'_>>) -> Option<Claim> {
        // Without a score for each role there is no sum.
        if self.tally().has_fault() {
            return None;
        }
        let mut claim = self.claim(Subject::Sum, Severity::Remark);
        let least = self.example(|tally| tally.least.as_ref())?;
        let most = self.example(|tally| tally.most.as_ref())?;
        if least.what == most.what {
            claim.text = format!(
                "constant sum: the scores add up to {} in every terminal position",
                least.what
            );
            let score = self.score();
            let roles = 0..self.game.role_count();
            if induction.is_some_and(|induction| {
                roles
                    .into_iter()
                    .all(|role| induction.has_one_goal(role, &score))
                    && induction.has_sum(least.what, &score)
            }) {
                claim.basis = Basis::Induction;
            }
        } else {
            claim.verdict = ClaimVerdict::Fails;
            claim.basis = Basis::Example;
            claim.text = format!(
                "no constant sum: the scores add up to {} at least and {} at most",
                least.what, most.what
            );
            claim.moves = Some(self.texts(&least.path));
        }
        Some(claim)
    }

    fn role_symmetry(&self) -> Option<Claim> {
        let stop = self.limits.stop.until(self.deadline);
        let mut claim = self.claim(Subject::RoleSymmetry, Severity::Remark);
        let whole = role_symmetry(self.game, true, &stop)?;
        let (found, but) = match whole.all {
            true => (whole, ""),
            false => (
                role_symmetry(self.game, false, &stop)?,
                ", except for the initial state",
            ),
        };
        let is_swap = |(from, to): &(String, String)| {
            found
                .exchanged
                .iter()
                .any(|(other, back)| (other, back) == (to, from))
        };
        let how = if found.exchanged.iter().all(is_swap) {
            let pairs = found.exchanged.iter().filter(|(from, to)| from < to);
            let pairs = pairs.map(|(from, to)| format!("{from} and {to}"));
            format!("swap {}", pairs.collect::<Vec<_>>().join(", "))
        } else {
            let pairs = found
                .exchanged
                .iter()
                .map(|(from, to)| format!("{from} to {to}"));
            format!("rename {}", pairs.collect::<Vec<_>>().join(", "))
        };
        if found.all {
            claim.basis = Basis::Rules;
            claim.text = format!("the rules are symmetric in the roles{but}: {how}");
        } else {
            claim.verdict = ClaimVerdict::Open;
            claim.text = "no renaming was found that swaps the roles".to_owned();
        }
        Some(claim)
    }

    fn change(&self, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Change, Severity::Remark);
        let but = match self.ignored.is_empty() {
            true => "",
            false => ", apart from counters and turns",
        };
        claim.text = format!("every move changes something{but}");
        match self.example(|tally| tally.idle.as_ref()) {
            Some(example) => {
                claim.verdict = ClaimVerdict::Fails;
                claim.basis = Basis::Example;
                claim.text = format!(
                    "a legal move changes nothing{but}: {}",
                    self.joint(&example.what)
                );
                let never = self.idle.never(self.space.is_some());
                let is_named = never.iter().all(|chosen| example.what.contains(chosen));
                let mut never: Vec<TermId> = never.iter().map(|chosen| chosen.term()).collect();
                let terms = self.machine.terms();
                never.sort_by(|left, right| self.game.compare_terms(terms, *left, *right));
                if !is_named {
                    let named = listed(never.iter().map(|chosen| self.text(*chosen)), NAMED, ", ");
                    claim.text += &format!("; neither do these moves by themselves: {named}");
                }
                let mut path = example.path.to_vec();
                path.push(example.what);
                claim.moves = Some(self.texts(&path));
            }
            None if induction.is_some_and(|induction| induction.always_changes(&self.ignored)) => {
                claim.basis = Basis::Induction;
            }
            None => {}
        }
        claim
    }
}

/// The mean of scores in words. Only what is 0 or 100 is called so.
fn average(sum: u64, count: u64) -> String {
    match sum as f64 / count.max(1) as f64 {
        mean if mean > 0.0 && mean < 0.5 => "less than 1".to_owned(),
        mean if (99.5..100.0).contains(&mean) => "more than 99".to_owned(),
        mean => format!("{mean:.0}"),
    }
}
