//! Step-by-step checks of explanations.

use ggp_explain::{
    Derivation, Explainer, Explanation, GroundAtom, LiteralStatus, Missing, MissingReason, Premise,
    Reason,
};
use ggp_gdl::check::Keyword;
use ggp_gdl::program::{Literal, Term};
use ggp_gdl::terms::{TermId, Terms};

use super::{Place, situation};

/// Checks a fact by asking the explainer for it.
fn holds(explainer: &mut Explainer, fact: &GroundAtom, place: &Place) -> bool {
    let question = explainer.question(&explainer.fact_text(fact)).unwrap();
    let answer = explainer.explain(&question, situation(place)).unwrap();
    matches!(answer, Explanation::Holds { .. })
}

fn ground(term: &Term, bindings: &[Option<TermId>], terms: &mut Terms) -> TermId {
    match term {
        Term::Ground(id) => *id,
        Term::Variable(v) => bindings[v.index()].expect("variables are bound"),
        Term::Apply(functor, arguments) => {
            let arguments: Vec<TermId> = arguments
                .iter()
                .map(|t| ground(t, bindings, terms))
                .collect();
            terms.intern(*functor, &arguments).unwrap()
        }
    }
}

/// A premise, and its fact if it has one.
type Given = (Premise, Option<GroundAtom>);

/// Checks that premises satisfy a literal, and marks those used.
fn satisfied(
    literal: &Literal,
    bindings: &[Option<TermId>],
    premises: &[Given],
    used: &mut [bool],
    terms: &mut Terms,
) -> bool {
    let fact_of = |atom: &ggp_gdl::program::Atom, terms: &mut Terms| GroundAtom {
        relation: atom.relation,
        arguments: (atom.arguments.iter())
            .map(|term| ground(term, bindings, terms))
            .collect(),
    };
    let mut find = |fits: &dyn Fn(&Given) -> bool| {
        let found: Vec<usize> = (0..premises.len())
            .filter(|&i| fits(&premises[i]))
            .collect();
        found.iter().for_each(|&i| used[i] = true);
        !found.is_empty()
    };
    match literal {
        Literal::Positive(atom) => {
            let fact = fact_of(atom, terms);
            find(&|(_, of)| of.as_ref() == Some(&fact))
        }
        Literal::Negative(atom) => {
            let fact = fact_of(atom, terms);
            find(&|(premise, _)| *premise == Premise::Absent(fact.clone()))
        }
        Literal::Distinct(left, right, _) | Literal::Same(left, right, _) => {
            let (left, right) = (
                ground(left, bindings, terms),
                ground(right, bindings, terms),
            );
            let equal = matches!(literal, Literal::Same(..));
            let test = Premise::Test { equal, left, right };
            (left == right) == equal && find(&|(premise, _)| *premise == test)
        }
        Literal::Any(branches) => branches.iter().any(|branch| {
            (branch.iter()).all(|literal| satisfied(literal, bindings, premises, used, terms))
        }),
    }
}

/// Checks a derivation and returns the number of facts in it.
pub fn check_derivation(
    explainer: &mut Explainer,
    derivation: &Derivation,
    place: &Place,
) -> usize {
    let game = explainer.game().clone();
    let mut terms = explainer.terms().clone();
    let is = |fact: &GroundAtom, keyword| game.keyword(keyword) == Some(fact.relation);
    for proof in &derivation.proofs {
        let fact = &proof.fact;
        match &proof.reason {
            Reason::Stated(span) => assert!(game.rules().facts.iter().any(|stated| {
                stated.span == *span
                    && stated.relation == fact.relation
                    && stated.arguments == fact.arguments
            })),
            Reason::InState => {
                assert!(is(fact, Keyword::True) && place.0.contains(&fact.arguments[0]));
            }
            Reason::Made => {
                let joint = place.1.as_ref().expect("a move was made");
                let made = game.roles().zip(joint).any(|(role, chosen)| {
                    fact.arguments[..] == [game.role_term(role), chosen.term()]
                });
                assert!(is(fact, Keyword::Does) && made);
            }
            Reason::Rule {
                rule,
                bindings,
                premises,
            } => {
                let rule = &game.rules().rules[*rule];
                let head = (rule.head.arguments.iter())
                    .map(|term| ground(term, bindings, &mut terms))
                    .collect();
                assert_eq!(
                    (rule.head.relation, head),
                    (fact.relation, fact.arguments.clone())
                );
                let premises: Vec<Given> = (premises.iter())
                    .map(|premise| match premise {
                        Premise::Fact(at) => {
                            (premise.clone(), Some(derivation.proofs[*at].fact.clone()))
                        }
                        _ => (premise.clone(), None),
                    })
                    .collect();
                let mut used = vec![false; premises.len()];
                for literal in &rule.body {
                    assert!(satisfied(
                        literal, bindings, &premises, &mut used, &mut terms
                    ));
                }
                assert!(
                    used.iter().all(|used| *used),
                    "a premise is not of the rule"
                );
                for (premise, _) in &premises {
                    if let Premise::Absent(fact) = premise {
                        assert!(!holds(explainer, fact, place));
                    }
                }
            }
        }
    }
    assert!(reached(derivation, None), "it rests on itself");
    for (number, proof) in derivation.proofs.iter().enumerate() {
        if !matches!(proof.reason, Reason::Rule { .. }) {
            assert!(!reached(derivation, Some(number)), "a leaf can be spared");
        }
    }
    derivation.proofs.len()
}

/// Derives the fact of a derivation from all its leaves except `without`; returns
/// whether that succeeds.
fn reached(derivation: &Derivation, without: Option<usize>) -> bool {
    let mut known = vec![false; derivation.proofs.len()];
    loop {
        let before = known.clone();
        for (number, proof) in derivation.proofs.iter().enumerate() {
            known[number] |= match &proof.reason {
                Reason::Rule { premises, .. } => premises.iter().all(|premise| match premise {
                    Premise::Fact(fact) => known[*fact],
                    _ => true,
                }),
                _ => Some(number) != without,
            };
        }
        if before == known {
            return known[0];
        }
    }
}

/// Checks the missing conditions; returns the number of rules for which adding the
/// missing facts to the state was tried and makes the question hold.
pub fn check_missing(explainer: &mut Explainer, missing: &Missing, place: &Place) -> usize {
    let MissingReason::Rules { attempts, .. } = &missing.reason else {
        return 0;
    };
    let game = explainer.game().clone();
    let state = game.keyword(Keyword::True);
    let mut mended = 0;
    for attempt in attempts {
        let mut facts = place.0.clone();
        let mut by_state = true;
        let mut misses = false;
        for outcome in &attempt.outcomes {
            match (&outcome.state, &outcome.literal) {
                (LiteralStatus::Holds, Literal::Positive(atom)) => {
                    let fact = ground_fact(atom);
                    assert!(fact.is_some_and(|fact| holds(explainer, &fact, place)));
                }
                (LiteralStatus::Holds, Literal::Negative(atom)) => {
                    let fact = ground_fact(atom);
                    assert!(fact.is_some_and(|fact| !holds(explainer, &fact, place)));
                }
                (LiteralStatus::Missing(missing), Literal::Positive(atom)) => {
                    misses = true;
                    mended += check_missing(explainer, missing, place);
                    match ground_fact(atom) {
                        Some(fact) => {
                            assert!(!holds(explainer, &fact, place));
                            match state == Some(fact.relation) {
                                true => facts.push(fact.arguments[0]),
                                false => by_state = false,
                            }
                        }
                        None => by_state = false,
                    }
                }
                (LiteralStatus::Violated(derivation), Literal::Negative(_)) => {
                    misses = true;
                    check_derivation(explainer, derivation, place);
                    let fact = &derivation.proofs[0].fact;
                    match state == Some(fact.relation) {
                        true => facts.retain(|known| *known != fact.arguments[0]),
                        false => by_state = false,
                    }
                }
                (LiteralStatus::Fails | LiteralStatus::NoBranch(_), _) => {
                    (misses, by_state) = (true, false)
                }
                (LiteralStatus::Open, _) => by_state = false,
                _ => {}
            }
        }
        assert!(misses, "a rule that misses nothing gives what is asked");
        // Derived facts may contradict other literals when the state changes.
        let depends_on_state_only = (attempt.outcomes.iter()).all(|o| match &o.literal {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                Some(atom.relation) == state
                    || game.keyword(Keyword::Does) == Some(atom.relation)
                    || !game
                        .rules()
                        .rules
                        .iter()
                        .any(|r| r.head.relation == atom.relation)
            }
            _ => true,
        });
        if by_state && depends_on_state_only && ground_fact(&missing.atom).is_some() {
            let fact = ground_fact(&missing.atom).unwrap();
            facts.sort_unstable();
            facts.dedup();
            assert!(holds(explainer, &fact, &(facts, place.1.clone())));
            mended += 1;
        }
    }
    mended
}

fn ground_fact(atom: &ggp_gdl::program::Atom) -> Option<GroundAtom> {
    let arguments = atom.arguments.iter().map(|term| match term {
        Term::Ground(id) => Some(*id),
        _ => None,
    });
    Some(GroundAtom {
        relation: atom.relation,
        arguments: arguments.collect::<Option<_>>()?,
    })
}
