//! Queries to a belief: whether a role knows an answer.
//!
//! In: a belief, and questions with the positions in which they hold. Out: whether the answer is the
//! same in all positions that fit the role's moves and percepts, or its share. What holds in all
//! positions of a sample is known only if that is proved.

use ggp_engine::machine::PlayError;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Move;
use ggp_gdl::program::RelationId;
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::belief::Belief;
use super::certain::{Claim, Verdict, certain, claims};
use super::world::World;

/// A question about the positions of a belief.
#[derive(Clone, Debug)]
pub struct Query {
    /// By member of [`Belief::with_end`]: whether the answer is yes.
    pub holds: Vec<bool>,
    /// The claims that the question is about, for a proof. Without them, nothing is proved.
    pub subject: Option<Subject>,
}

/// Claims that a question is about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The claims, none or more.
    pub any_of: Vec<Claim>,
    /// Whether the answer is yes if one of them holds, or if none does.
    pub is_positive: bool,
}

impl Subject {
    /// The claims of a relation for whose arguments `matches` is true. `None` if the game has no network, or
    /// the rules define the relation.
    pub fn new(
        world: &mut World,
        (relation, is_positive): (RelationId, bool),
        matches: impl Fn(&World, &[TermId]) -> bool,
    ) -> Option<Subject> {
        let all = claims(world);
        let game = world.game();
        let is = |keyword| game.keyword(keyword) == Some(relation);
        let keywords = [
            Keyword::True,
            Keyword::Legal,
            Keyword::Goal,
            Keyword::Terminal,
        ];
        if all.is_empty() || !keywords.into_iter().any(is) {
            return None;
        }
        let any_of = all.into_iter().filter(|claim| match claim {
            Claim::Fact(fact) => is(Keyword::True) && matches(world, &[*fact]),
            Claim::Legal(role, made) => {
                is(Keyword::Legal) && matches(world, &[game.role_term(*role), made.term()])
            }
            Claim::Score(role, score) => {
                is(Keyword::Goal) && matches(world, &[game.role_term(*role), *score])
            }
            Claim::Over => is(Keyword::Terminal),
        });
        Some(Subject {
            any_of: any_of.collect(),
            is_positive,
        })
    }
}

/// The knowledge of a role about the answer to a query.
#[derive(Clone, PartialEq, Debug)]
pub enum Knowledge {
    /// The answer is the same in all positions that fit.
    Proved(bool),
    /// It is not, or that is not decided.
    Open {
        /// The share of the probability of yes, 0 to 1, if `random` and the other roles choose with equal
        /// probabilities.
        share: f64,
        /// If the answer is the same in all of a sample: a history that fits with another answer, if one was
        /// found.
        counterexample: Option<Vec<Vec<Move>>>,
    },
}

impl Knowledge {
    /// The answer that the role knows.
    pub fn proved(&self) -> Option<bool> {
        match self {
            Knowledge::Proved(answer) => Some(*answer),
            Knowledge::Open { .. } => None,
        }
    }
}

/// The knowledge of the role of a belief about queries; it knows whether the game is over. The
/// work is limited by numbers of conflicts, so the same belief has the same answers, unless `stop` comes
/// first.
///
/// # Errors
///
/// Those of the machine.
pub fn query_belief(
    world: &mut World,
    belief: &Belief,
    is_over: bool,
    queries: &[Query],
    stop: &Stop,
) -> Result<Vec<Knowledge>, PlayError> {
    let members = belief.with_end(world, is_over)?;
    let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
    let total: f64 = weights.iter().sum();
    // The queries with the same answer in all of a sample, and their subjects.
    let mut same = Vec::new();
    let mut answers = Vec::with_capacity(queries.len());
    for (number, Query { holds, subject }) in queries.iter().enumerate() {
        let yes = holds.iter().filter(|holds| **holds).count();
        let is_same = yes == 0 || yes == holds.len();
        if is_same && belief.is_exact() {
            answers.push(Knowledge::Proved(yes > 0));
            continue;
        }
        let weights = holds.iter().zip(&weights).filter(|(holds, _)| **holds);
        // Sums of weights are inexact.
        let share = if is_same {
            f64::from(u8::from(yes > 0))
        } else {
            weights.map(|(_, weight)| weight).sum::<f64>() / total
        };
        answers.push(Knowledge::Open {
            share,
            counterexample: None,
        });
        if let Some(subject) = subject.as_ref().filter(|_| is_same) {
            same.push((number, subject));
        }
    }
    if same.is_empty() {
        return Ok(answers);
    }
    let claims = same.iter().map(|(_, subject)| subject.any_of.clone());
    let claims: Vec<Vec<Claim>> = claims.collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let verdicts = certain(world, belief, is_over, &claims, stop, &mut random)?;
    for ((number, subject), verdict) in same.into_iter().zip(verdicts) {
        match (verdict, &mut answers[number]) {
            (Verdict::Certain(holds), answer) => {
                *answer = Knowledge::Proved(holds == subject.is_positive);
            }
            (Verdict::Differs(history), Knowledge::Open { counterexample, .. }) => {
                *counterexample = Some(history);
            }
            _ => {}
        }
    }
    Ok(answers)
}
