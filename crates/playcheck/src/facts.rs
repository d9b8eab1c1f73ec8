//! What is said of facts: of those that never change, that nothing reads or keeps, and of
//! places.

use super::claims::NAMED;
use super::fluents::{Loss, Places};
use super::tally::Got;
use super::{Basis, Claim, Evidence, Subject, Verdict, Weight, listed};
use ggp_engine::machine::Machine;
use ggp_engine::propnet::Propnet;
use ggp_gdl::analysis::unread;
use ggp_gdl::check::Keyword;
use ggp_gdl::program::FunctorId;
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
        let mut claim = self.claim(Subject::Facts, Weight::Remark);
        claim.verdict = Verdict::Fails;
        let fixed = |fact: &TermId| {
            net.is_some_and(|net| {
                let assumed = net.assumed().iter();
                assumed
                    .filter(|(known, _)| net.facts()[*known] == *fact)
                    .any(|(_, equal)| equal.is_constant())
            })
        };
        if self.space.is_none() && facts.iter().all(fixed) {
            claim.basis = Basis::Induction;
        }
        let named = listed(facts.iter().map(|fact| self.text(*fact)), NAMED, " ");
        claim.text = format!(
            "true in every position: {named}; what never changes need not be part of the state"
        );
        Some(claim)
    }

    /// Facts that nothing depends on.
    pub(super) fn unread(&self) -> Option<Claim> {
        let functors = unread(self.game);
        if functors.is_empty() {
            return None;
        }
        let mut claim = self.claim(Subject::Read, Weight::Warning);
        claim.verdict = Verdict::Fails;
        claim.basis = Basis::Rules;
        let names = functors.iter().map(|functor| self.with_place(*functor));
        let names = names.collect::<Vec<_>>().join(", ");
        claim.text = format!("no legal move, goal or end depends on: {names}");
        Some(claim)
    }

    /// The name of facts, and where the rules first give one.
    fn with_place(&self, functor: FunctorId) -> String {
        let game = self.game;
        let name = game.symbols().name(game.functors().functor(functor).name);
        let gives = |relation| {
            let keywords = [Keyword::Init, Keyword::Next];
            keywords
                .into_iter()
                .any(|keyword| game.keyword(keyword) == Some(relation))
        };
        let facts = game
            .rules()
            .facts
            .iter()
            .filter(|fact| gives(fact.relation));
        let facts = facts
            .filter(|fact| game.terms().functor(fact.arguments[0]) == functor)
            .map(|fact| fact.span);
        let heads = game.rules().rules.iter().map(|rule| &rule.head);
        let heads = heads
            .filter(|head| gives(head.relation))
            .filter(|head| head.arguments[0].functor(game.terms()) == Some(functor))
            .map(|head| head.span);
        match facts.chain(heads).min() {
            Some(span) => format!("{name} ({})", game.sources().place(span)),
            None => name.to_owned(),
        }
    }

    /// Facts that nothing keeps.
    pub(super) fn kept(&self) -> Vec<Claim> {
        let tally = self.tally();
        let is_won = |role: &Got| role.best.as_ref().is_some_and(|best| best.what == 100);
        let is_lost = self.plan.is_none() && !tally.roles.iter().all(is_won);
        let found = self.keeping.forgotten(self.game, tally.stuck > 0, is_lost);
        let told: Vec<FunctorId> = found.iter().map(|(functor, _)| *functor).collect();
        let claims = found.into_iter().map(|(functor, path)| {
            let mut claim = self.claim(Subject::Kept, Weight::Warning);
            claim.verdict = Verdict::Fails;
            claim.basis = Basis::Example;
            let name = self.with_place(functor);
            claim.text = format!("no rule keeps {name}: what holds of it is gone after one move");
            claim.moves = path.map(|path| self.texts(&path));
            claim
        });
        let places = self.keeping.places.all.iter();
        let places = places.filter(|places| !told.contains(&places.functor));
        let lost = places.filter_map(|places| {
            let lost = places.lost()?;
            let mut claim = self.claim(Subject::Kept, Weight::Warning);
            claim.verdict = Verdict::Fails;
            claim.basis = Basis::Example;
            let (fact, loss) = &lost.what;
            let why = match loss {
                Loss::Unspoken(joint) => format!(
                    "no next rule for it is about {}",
                    self.joint(joint)
                ),
                Loss::Ignored(chosen, argument) => format!(
                    "nothing depends on argument {} of {}",
                    argument + 1,
                    self.text(chosen.term())
                ),
            };
            claim.text = format!(
                "{} goes and nothing comes in its place, where each place of {} had one value: {why}",
                self.text(*fact),
                self.with_place(places.functor)
            );
            claim.moves = Some(self.texts(&lost.path));
            Some(claim)
        });
        claims.chain(lost).collect()
    }

    /// Places with two values.
    pub(super) fn single(&self) -> Vec<Claim> {
        let claims = self
            .keeping
            .places
            .all
            .iter()
            .filter_map(Places::both)
            .map(|both| {
                let mut claim = self.claim(Subject::Single, Weight::Warning);
                claim.verdict = Verdict::Fails;
                claim.basis = Basis::Example;
                let mut texts = both.what.map(|fact| self.text(fact));
                texts.sort_unstable();
                let [one, other] = texts;
                claim.text = format!(
                    "{one} and {other} hold at once, though at first each place has one value"
                );
                claim.moves = Some(self.texts(&both.path));
                claim
            });
        claims.collect()
    }

    /// Moves or goals of what is no role.
    pub(super) fn strangers(&self) -> Option<Claim> {
        let (relation, stranger) = self.coverage.stranger?;
        let mut claim = self.claim(Subject::Roles, Weight::Warning);
        claim.verdict = Verdict::Fails;
        claim.basis = Basis::Example;
        claim.text = format!(
            "there is a {} for {}, which is no role; is a (role ...) missing?",
            self.game.relation_name(relation),
            self.text(stranger)
        );
        Some(claim)
    }
}
