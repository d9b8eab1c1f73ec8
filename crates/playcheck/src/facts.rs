//! Claims about facts: facts that never change, that nothing depends on, that nothing
//! keeps, and fluents that lose their value or have two.

use rustc_hash::{FxHashMap, FxHashSet};

use super::claims::NAMED;
use super::fluents::{Fluent, Loss};
use super::tally::RoleTally;
use super::{Basis, Claim, ClaimVerdict, Evidence, Severity, Subject, listed};
use ggp_engine::machine::Machine;
use ggp_engine::propnet::Propnet;
use ggp_gdl::analysis::unread;
use ggp_gdl::check::Keyword;
use ggp_gdl::program::FunctorId;
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

impl Evidence<'_> {
    /// Facts that hold in every position.
    pub(super) fn constant(&self, net: Option<&Propnet>) -> Option<Claim> {
        let always = self.coverage.always.as_ref()?;
        if always.is_empty() || self.coverage.positions < 2 {
            return None;
        }
        let mut facts: Vec<TermId> = always.iter().copied().collect();
        let terms = self.machine.terms();
        facts.sort_by(|left, right| self.game.compare_terms(terms, *left, *right));
        let mut claim = self.claim(Subject::Facts, Severity::Remark);
        claim.verdict = ClaimVerdict::Fails;
        let assumed = net.iter().flat_map(|net| {
            let constant = net
                .assumed()
                .iter()
                .filter(|(_, equal)| equal.is_constant());
            constant.map(|(known, _)| net.facts()[*known])
        });
        let fixed: FxHashSet<TermId> = assumed.collect();
        if self.space.is_none() && facts.iter().all(|fact| fixed.contains(fact)) {
            claim.basis = Basis::Induction;
        }
        let named = listed(facts.iter().map(|fact| self.text(*fact)), NAMED, " ");
        claim.text = format!(
            "true in every position: {named}; a fact that never changes need not be part of the state"
        );
        Some(claim)
    }

    /// Facts that nothing depends on.
    pub(super) fn unread(&self) -> Option<Claim> {
        let functors = unread(self.game);
        if functors.is_empty() {
            return None;
        }
        let mut claim = self.claim(Subject::Used, Severity::Warning);
        claim.verdict = ClaimVerdict::Fails;
        claim.basis = Basis::Rules;
        let places = self.fact_places();
        let names = functors.iter();
        let names = names.map(|functor| self.with_place(*functor, &places));
        let names = listed(names, NAMED, ", ");
        claim.text = format!("no legal move, goal or terminal rule depends on: {names}");
        Some(claim)
    }

    /// The first place where the rules derive facts with each functor.
    fn fact_places(&self) -> FxHashMap<FunctorId, Span> {
        let game = self.game;
        let gives = |relation| {
            let keywords = [Keyword::Init, Keyword::Next];
            keywords
                .into_iter()
                .any(|keyword| game.keyword(keyword) == Some(relation))
        };
        let facts = game.rules().facts.iter();
        let facts = facts
            .filter(|fact| gives(fact.relation))
            .map(|fact| (game.terms().functor(fact.arguments[0]), fact.span));
        let heads = game.rules().rules.iter().map(|rule| &rule.head);
        let heads = heads
            .filter(|head| gives(head.relation))
            .filter_map(|head| Some((head.arguments[0].functor(game.terms())?, head.span)));
        let mut places = FxHashMap::default();
        for (functor, span) in facts.chain(heads) {
            let first = places.entry(functor).or_insert(span);
            *first = span.min(*first);
        }
        places
    }

    /// The name of facts, and the first place where the rules derive one.
    fn with_place(&self, functor: FunctorId, places: &FxHashMap<FunctorId, Span>) -> String {
        let game = self.game;
        let name = game.symbols().name(game.functors().functor(functor).name);
        match places.get(&functor) {
            Some(span) => format!("{name} ({})", game.sources().place(*span)),
            None => name.to_owned(),
        }
    }

    /// Facts that nothing keeps.
    pub(super) fn kept(&self) -> Vec<Claim> {
        let places = self.fact_places();
        let tally = self.tally();
        let is_won = |role: &RoleTally| role.best.as_ref().is_some_and(|best| best.what == 100);
        let is_lost = self.plan.is_none() && !tally.roles.iter().all(is_won);
        let found = self.frame.not_kept(self.game, tally.stuck > 0, is_lost);
        let reported: FxHashSet<FunctorId> = found.iter().map(|(functor, ..)| *functor).collect();
        let claims = found.into_iter().map(|(functor, is_unkept, path)| {
            let mut claim = self.claim(Subject::Frame, Severity::Warning);
            claim.verdict = ClaimVerdict::Fails;
            claim.basis = Basis::Example;
            let name = self.with_place(functor, &places);
            claim.text = if is_unkept {
                format!("no rule keeps {name}: these facts are lost after one move")
            } else {
                format!("no rule kept {name} as at first: these facts are lost after one move")
            };
            claim.moves = path.map(|path| self.texts(&path));
            claim
        });
        let fluents = self.frame.fluents.all.iter();
        let fluents = fluents.filter(|fluents| !reported.contains(&fluents.functor));
        let lost = fluents.filter_map(|fluents| {
            let lost = fluents.lost()?;
            let mut claim = self.claim(Subject::Frame, Severity::Warning);
            claim.verdict = ClaimVerdict::Fails;
            claim.basis = Basis::Example;
            let (fact, loss) = &lost.what;
            let why = match loss {
                Loss::Unhandled(joint) => format!(
                    "no next rule for it mentions {}",
                    self.joint(joint)
                ),
                Loss::LeftOut(joint) => {
                    let has_parts = self.machine.terms().arguments(*fact).len() > 2;
                    let advice = "; to keep keys that differ in any argument, write (or (distinct ...) (distinct ...))";
                    format!(
                        "with {}, the rules that keep values leave it out by `distinct`, and no other rule gives it \
                         one{}",
                        self.joint(joint),
                        if has_parts { advice } else { "" }
                    )
                }
                Loss::UnusedArgument(chosen, argument) => format!(
                    "nothing depends on argument {} of {}",
                    argument + 1,
                    self.text(chosen.term())
                ),
            };
            claim.text = format!(
                "{} disappears without a replacement, although every key of {} had one value: {why}",
                self.text(*fact),
                self.with_place(fluents.functor, &places)
            );
            claim.moves = Some(self.texts(&lost.path));
            Some(claim)
        });
        claims.chain(lost).collect()
    }

    /// Fluents with two values at once.
    pub(super) fn single(&self) -> Vec<Claim> {
        let claims = self
            .frame
            .fluents
            .all
            .iter()
            .filter_map(Fluent::both)
            .map(|both| {
                let mut claim = self.claim(Subject::SingleValue, Severity::Warning);
                claim.verdict = ClaimVerdict::Fails;
                claim.basis = Basis::Example;
                let mut texts = both.what.map(|fact| self.text(fact));
                texts.sort_unstable();
                let [one, other] = texts;
                claim.text = format!(
                    "{one} and {other} hold at once, although initially every key has one value"
                );
                claim.moves = Some(self.texts(&both.path));
                claim
            });
        claims.collect()
    }

    /// Moves or goals of something that is not a role.
    pub(super) fn non_roles(&self) -> Option<Claim> {
        let (relation, non_role) = self.coverage.non_role?;
        let mut claim = self.claim(Subject::Roles, Severity::Warning);
        claim.verdict = ClaimVerdict::Fails;
        claim.basis = Basis::Example;
        claim.text = format!(
            "there is a {} for {}, which is not a role; is a (role ...) missing?",
            self.game.relation_name(relation),
            self.text(non_role)
        );
        Some(claim)
    }
}
