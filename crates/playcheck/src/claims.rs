//! From what was seen to what is said.

use super::proof::Induction;
use super::role_symmetry::alike;
use super::space::Ending;
use super::tally::{Example, GoalFault, Tally};
use super::{Basis, Claim, Evidence, Subject, Verdict, Weight, listed};
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_gdl::game::{Move, Score};
use ggp_gdl::terms::TermId;

/// Facts or moves named in one claim.
pub(super) const NAMED: usize = 6;

impl Evidence<'_> {
    /// Everything that is said.
    pub(super) fn claims(&mut self) -> Result<Vec<Claim>, PlayError> {
        let start = self.machine.initial()?;
        let net: Option<Propnet> = self.machine.network(&start).map(|(net, _)| net.clone());
        let is_late = std::time::Instant::now() >= self.deadline;
        let mut induction = match &self.space {
            Some(_) => None,
            None if is_late => None,
            None => net
                .as_ref()
                .map(|net| Induction::new(net, self.limits.stop.until(self.deadline))),
        };
        let mut claims = vec![self.ends(net.as_ref(), induction.as_mut())];
        if self.is_over() {
            // The rest follows from that, or was not looked at.
            let goals = (0..self.game.role_count()).map(|role| self.goal(role, None));
            claims.extend(goals.filter(|claim| claim.verdict == Verdict::Fails));
            return Ok(claims);
        }
        let some_move = self.some_move();
        let roles: Vec<_> = self.game.roles().collect();
        let legal = (0..roles.len()).map(|role| self.legal(role, induction.as_mut()));
        // Where no move can be made, only that there is none is worth saying.
        let is_worth = |claim: &Claim| some_move || claim.verdict != Verdict::Holds;
        claims.extend(legal.filter(is_worth).collect::<Vec<_>>());
        for role in 0..roles.len() {
            claims.push(self.goal(role, induction.as_mut()));
        }
        for (number, role) in roles.iter().enumerate() {
            if !self.game.is_random(*role) {
                claims.extend(self.winnable(number, net.as_ref(), induction.as_mut()));
            }
        }
        if roles.len() > 1 {
            if some_move {
                claims.push(self.turns(induction.as_mut()));
            }
            claims.extend(self.sum(induction.as_mut()));
            claims.extend(self.alike());
        }
        if some_move {
            claims.push(self.change(induction.as_mut()));
        }
        claims.extend(self.kept());
        claims.extend(self.single());
        claims.extend(self.constant(net.as_ref()));
        claims.extend(self.unread());
        claims.extend(self.strangers());
        Ok(claims)
    }

    /// What all positions show, or else the random plays.
    pub(super) fn tally(&self) -> &Tally {
        self.space
            .as_ref()
            .map_or(&self.played, |space| &space.tally)
    }

    /// Whether a move was ever made.
    pub(super) fn some_move(&self) -> bool {
        let tally = self.tally();
        tally.positions > tally.ends + tally.stuck
    }

    /// Whether play is over before it begins.
    pub(super) fn is_over(&self) -> bool {
        self.tally().lengths == Some((0, 0)) && !self.some_move()
    }

    fn basis(&self) -> Basis {
        match self.space {
            Some(_) => Basis::Positions,
            None => Basis::Seen,
        }
    }

    /// The shorter example of those that plays and all positions gave.
    fn example<T: Clone>(&self, of: impl Fn(&Tally) -> Option<&Example<T>>) -> Option<Example<T>> {
        let all = self.space.as_ref().and_then(|space| of(&space.tally));
        all.or(of(&self.played)).cloned()
    }

    pub(super) fn claim(&self, subject: Subject, weight: Weight) -> Claim {
        Claim {
            subject,
            role: None,
            verdict: Verdict::Holds,
            basis: self.basis(),
            weight,
            text: String::new(),
            moves: None,
            round: None,
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
        self.game.canonical(self.machine.terms(), term)
    }

    fn name(&self, role: usize) -> String {
        let role = self.game.roles().nth(role).expect("it is a role");
        self.game.role_name(role).to_owned()
    }

    fn score(&self) -> impl Fn(TermId) -> Option<Score> + use<> {
        let (game, terms) = (self.game.clone(), self.machine.terms().clone());
        move |value| game.score(&terms, value).ok()
    }

    fn ends(&self, net: Option<&Propnet>, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Ends, Weight::Warning);
        if self.is_over() {
            claim.verdict = Verdict::Fails;
            claim.basis = Basis::Example;
            claim.text = "the game is over before the first move: terminal holds at once, \
                          `ggp why ... terminal` tells why"
                .to_owned();
            claim.moves = Some(Vec::new());
            return claim;
        }
        if self.tally().stuck > 0 {
            claim.verdict = Verdict::Open;
            claim.weight = Weight::Remark;
            claim.text =
                "play comes to positions that are no end, where a role has no move".to_owned();
            return claim;
        }
        let moves = |count: u64| match count {
            1 => "1 move".to_owned(),
            _ => format!("{count} moves"),
        };
        match self.space.as_ref().map(|space| &space.ending) {
            Some(Ending::Within(most)) => {
                claim.text = format!("every play ends, after {} at most", moves(*most));
                return claim;
            }
            Some(Ending::Round(path, round)) => {
                claim.verdict = Verdict::Fails;
                claim.text = match round.len() {
                    1 => {
                        "play can go on for ever: a move leads back to the same position".to_owned()
                    }
                    count => format!(
                        "play can go on for ever: {count} moves lead back to the same position"
                    ),
                };
                claim.moves = Some(self.texts(path));
                claim.round = Some(self.texts(round));
                return claim;
            }
            None => {}
        }
        let counted = self
            .counters
            .iter()
            .filter_map(|counter| counter.ends_at)
            .min();
        if let Some(most) = counted {
            claim.basis = Basis::Rules;
            claim.text = format!(
                "every play ends, after {} at most: a counter ends it",
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
                "every play ends, after {} at most: each changes something that never comes back",
                moves(most)
            );
            return claim;
        }
        match (self.played.cut, self.played.lengths) {
            (0, Some((least, most))) => {
                claim.text = format!("every play ended, after {least} to {}", moves(most as u64));
            }
            (0, None) => {
                claim.verdict = Verdict::Open;
                claim.text = "no play came to an end".to_owned();
            }
            (cut, _) => {
                claim.verdict = Verdict::Open;
                claim.text = format!(
                    "{cut} plays were cut after {}",
                    moves(self.options.depth as u64)
                );
            }
        }
        claim
    }

    fn legal(&self, role: usize, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Legal, Weight::Error);
        let name = self.name(role);
        claim.text = format!("{name} always has a legal move");
        claim.role = Some(name.clone());
        match self.example(|tally| tally.roles[role].stuck.as_ref()) {
            Some(example) => {
                claim.verdict = Verdict::Fails;
                claim.basis = Basis::Example;
                claim.text = format!("{name} has no legal move though the game is not over");
                claim.moves = Some(self.texts(&example.path));
            }
            None if induction.is_some_and(|induction| induction.can_move(role)) => {
                claim.basis = Basis::Induction;
            }
            None if self.tally().positions == 0 => {
                claim.verdict = Verdict::Open;
                claim.weight = Weight::Warning;
                claim.text =
                    format!("no position was seen, so nothing is known of the moves of {name}");
            }
            None => {}
        }
        claim
    }

    fn goal(&self, role: usize, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Goal, Weight::Error);
        let name = self.name(role);
        claim.role = Some(name.clone());
        claim.text = format!("{name} has exactly one goal from 0 to 100 at every end");
        match self.example(|tally| tally.roles[role].fault.as_ref()) {
            Some(example) => {
                claim.verdict = Verdict::Fails;
                claim.basis = Basis::Example;
                claim.text = match example.what {
                    GoalFault::None => format!("{name} has no goal at an end"),
                    GoalFault::Several(values) => {
                        let values: Vec<String> =
                            values.iter().map(|value| self.text(*value)).collect();
                        format!(
                            "{name} has several goals at an end: {}",
                            values.join(" and ")
                        )
                    }
                    GoalFault::Bad(value) => {
                        format!(
                            "{name} has the goal {} at an end, which is no integer from 0 to 100",
                            self.text(value)
                        )
                    }
                };
                claim.moves = Some(self.texts(&example.path));
            }
            None if induction
                .is_some_and(|induction| induction.has_one_goal(role, &self.score())) =>
            {
                claim.basis = Basis::Induction;
            }
            None if self.tally().ends == 0 => {
                claim.verdict = Verdict::Open;
                claim.text = format!("no end was seen, so nothing is known of the goals of {name}");
                claim.weight = Weight::Warning;
            }
            None => {}
        }
        claim
    }

    fn winnable(
        &self,
        role: usize,
        net: Option<&Propnet>,
        induction: Option<&mut Induction<'_>>,
    ) -> Option<Claim> {
        let mut claim = self.claim(Subject::Winnable, Weight::Warning);
        let name = self.name(role);
        claim.role = Some(name.clone());
        let best = self.tally().roles[role].best.clone();
        let won = best
            .as_ref()
            .filter(|best| best.what == 100)
            .map(|best| &best.path);
        if let Some(path) = won.or(self.plan.as_ref()) {
            let mean = self.played.roles[role].sum as f64 / self.played.scored.max(1) as f64;
            claim.text = match self.played.scored {
                0 => format!("{name} can get 100"),
                _ => format!("{name} can get 100 ({mean:.0} on average at random)"),
            };
            claim.moves = Some(self.texts(path));
            claim.basis = Basis::Example;
            return Some(claim);
        }
        // What is wrong with its goals is told, and this may follow from it.
        if self.tally().roles[role].fault.is_some() {
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
            claim.verdict = Verdict::Fails;
            claim.basis = match self.space {
                Some(_) => Basis::Positions,
                None => Basis::Induction,
            };
            claim.text = match &best {
                Some(best) => format!("{name} can never get 100; the most seen is {}", best.what),
                None => format!("{name} can never get 100"),
            };
            claim.moves = best.map(|best| self.texts(&best.path));
            return Some(claim);
        }
        claim.verdict = Verdict::Open;
        claim.text = match &best {
            Some(best) => format!(
                "{name} was not seen to get 100; the most seen is {}",
                best.what
            ),
            None => format!("{name} was not seen to get 100"),
        };
        claim.moves = best.map(|best| self.texts(&best.path));
        Some(claim)
    }

    fn turns(&self, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Turns, Weight::Remark);
        claim.text = "never more than one role has a choice: roles take turns".to_owned();
        match self.example(|tally| tally.crowded.as_ref()) {
            Some(example) => {
                let tally = self.tally();
                claim.verdict = Verdict::Fails;
                claim.basis = Basis::Example;
                claim.text = match tally.single {
                    0 => "several roles choose at the same time".to_owned(),
                    single => format!(
                        "several roles choose at the same time in {} positions, one alone in {single}",
                        tally.crowds
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
        // Ends without a score for each role have no sum.
        if self.tally().roles.iter().any(|role| role.fault.is_some()) {
            return None;
        }
        let mut claim = self.claim(Subject::Sum, Weight::Remark);
        let least = self.example(|tally| tally.least.as_ref())?;
        let most = self.example(|tally| tally.most.as_ref())?;
        if least.what == most.what {
            claim.text = format!(
                "constant sum: the scores come to {} at every end",
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
            claim.verdict = Verdict::Fails;
            claim.basis = Basis::Example;
            claim.text = format!(
                "no constant sum: the scores come to {} or to {}",
                least.what, most.what
            );
            claim.moves = Some(self.texts(&least.path));
        }
        Some(claim)
    }

    fn alike(&self) -> Option<Claim> {
        let stop = self.limits.stop.until(self.deadline);
        let mut claim = self.claim(Subject::Alike, Weight::Remark);
        let whole = alike(self.game, true, &stop)?;
        let (found, but) = match whole.all {
            true => (whole, ""),
            false => (
                alike(self.game, false, &stop)?,
                " but for the initial state",
            ),
        };
        let names: Vec<String> = (found.exchanged.iter())
            .filter(|(from, to)| from < to)
            .map(|(from, to)| format!("{from} and {to}"))
            .collect();
        if found.all {
            claim.basis = Basis::Rules;
            claim.text = format!(
                "the rules treat all roles alike{but}: exchange {}",
                names.join(", ")
            );
        } else {
            claim.verdict = Verdict::Open;
            claim.text = "no renaming was found that exchanges the roles".to_owned();
        }
        Some(claim)
    }

    fn change(&self, induction: Option<&mut Induction<'_>>) -> Claim {
        let mut claim = self.claim(Subject::Change, Weight::Remark);
        let but = match self.apart.is_empty() {
            true => "",
            false => " besides counters and turns",
        };
        claim.text = format!("every move changes something{but}");
        match self.example(|tally| tally.idle.as_ref()) {
            Some(example) => {
                claim.verdict = Verdict::Fails;
                claim.basis = Basis::Example;
                claim.text = format!(
                    "a legal move changes nothing{but}: {}",
                    self.joint(&example.what)
                );
                let never = self.idle.never(self.space.is_some());
                let is_said = never.iter().all(|chosen| example.what.contains(chosen));
                let mut never: Vec<TermId> = never.iter().map(|chosen| chosen.term()).collect();
                let terms = self.machine.terms();
                never.sort_by(|left, right| self.game.compare_terms(terms, *left, *right));
                if !is_said {
                    let named = listed(never.iter().map(|chosen| self.text(*chosen)), NAMED, ", ");
                    claim.text += &format!("; nor did these ever by themselves: {named}");
                }
                let mut path = example.path;
                path.push(example.what);
                claim.moves = Some(self.texts(&path));
            }
            None if induction.is_some_and(|induction| induction.always_changes(&self.apart)) => {
                claim.basis = Basis::Induction;
            }
            None => {}
        }
        claim
    }
}
