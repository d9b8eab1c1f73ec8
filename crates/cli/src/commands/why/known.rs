//! `ggp why --known-by`: whether a role knows that a fact holds.

use anyhow::anyhow;
use serde::Serialize;

use crate::knowledge::{self, Known, SampleLimits};
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_explain::{Explainer, Situation};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Knowledge, Query, Subject, query_belief};

/// The most joint moves of a history that is printed on one line.
const SHORT: usize = 6;

/// The answer to one question.
#[derive(Serialize)]
pub(in crate::commands) struct Answer {
    question: String,
    role: String,
    /// True if the fact holds in all positions that fit what the role knows, false if in none,
    /// `null` if in some, or if the positions are a sample and nothing is proved about others.
    known: Option<bool>,
    /// The positions that fit, and those in which the fact holds.
    positions: usize,
    holds_in: usize,
    /// The share of the histories in which the fact holds, if `random` and the other roles choose
    /// with equal probabilities.
    share: f64,
    /// Whether these are all positions that fit, or a sample.
    exact: bool,
    /// The joint moves of a history after which it holds, and of one after which it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds_after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_after: Option<Vec<String>>,
    /// Other forms of its name that may be meant, if it does not hold.
    #[serde(skip)]
    other_forms: Vec<String>,
}

/// The position of the match and the way to it.
pub(super) struct Match<'a> {
    pub machine: &'a mut AnyMachine,
    /// The facts before each joint move, and after the last.
    pub states: &'a [Vec<TermId>],
    pub joints: &'a [Vec<Move>],
    pub limits: Limits,
}

/// Answers questions about what a role knows. The text has at most `lines` lines.
///
/// # Errors
///
/// If the rules show everybody everything, a question is malformed, or no position is found.
pub(super) fn run(
    role: RoleId,
    questions: &[String],
    explainer: &mut Explainer,
    played: Match<'_>,
    (sample, lines): (SampleLimits, usize),
    context: &Context,
) -> anyhow::Result<Exit> {
    let Match {
        machine,
        states,
        joints,
        limits: of_machine,
    } = played;
    // A search that answers nothing would be in vain.
    let read = |question: &String| match explainer.question(question) {
        Ok(_) => None,
        Err(error) => Some(anyhow!("`{question}`: {error}")),
    };
    let faults: Vec<anyhow::Error> = questions.iter().filter_map(read).collect();
    if faults.len() == questions.len() {
        return super::outcome(faults, false, context);
    }
    let name = machine.game().role_name(role).to_owned();
    let spinner = context.spinner(format!("finding the positions that fit what {name} knows"));
    let known = knowledge::belief(machine, role, states, joints, of_machine, sample);
    let found = known.and_then(|mut known| {
        spinner.set_message(format!("looking for what {name} knows for certain"));
        let found = answers(machine, &mut known, questions, explainer)?;
        Ok((found, known.note()))
    });
    spinner.finish_and_clear();
    let ((answers, faults), note) = found?;
    match (context.json(), &answers[..]) {
        (_, []) => {}
        (true, [only]) => context.print_json(only)?,
        (true, all) => context.print_json(&all)?,
        (false, all) => {
            let texts: Vec<String> = all.iter().map(Answer::text).collect();
            context.print(cut(texts.join("\n\n"), lines))?;
        }
    }
    // What is certain does not depend on the sample.
    let is_open = answers.iter().any(|answer| answer.known.is_none());
    if let Some(note) = note.filter(|_| is_open) {
        context.note(note);
    }
    let all = answers.iter().all(|answer| answer.known == Some(true));
    super::outcome(faults, all, context)
}

/// The first lines of a text, with the number of the others.
fn cut(text: String, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= most {
        return text;
    }
    let kept = most.saturating_sub(1);
    let more = format::counted(lines.len() - kept, "more line");
    let note = format!("… {more} (--lines)");
    [&lines[..kept], &[&note[..]]].concat().join("\n")
}

/// The answers to questions about what a role knows, and the errors in the other questions.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub(in crate::commands) fn answers<M: Machine>(
    machine: &mut M,
    known: &mut Known,
    questions: &[String],
    explainer: &mut Explainer,
) -> anyhow::Result<(Vec<Answer>, Vec<anyhow::Error>)> {
    let game = machine.game().clone();
    let Known {
        world,
        belief,
        is_over,
        ..
    } = known;
    let role = belief.role();
    let members = belief.with_end(world, *is_over)?;
    // The questions without a fault, with other forms of their names.
    let (mut valid, mut queries) = (Vec::new(), Vec::new());
    // An error in one question does not hide the answers to the others.
    let mut faults: Vec<anyhow::Error> = Vec::new();
    for question in questions {
        let asked = match explainer.question(question) {
            Ok(asked) if explainer.needs_moves(&asked) => {
                faults.push(anyhow!(
                    "`{question}` depends on the moves made; ask about a position"
                ));
                continue;
            }
            Ok(asked) => asked,
            Err(error) => {
                faults.push(anyhow!("`{question}`: {error}"));
                continue;
            }
        };
        let mut holds = Vec::with_capacity(members.len());
        for member in &members {
            let facts = world.facts(&member.state);
            explainer.set_past(std::slice::from_ref(&facts));
            let situation = Situation {
                facts: &facts,
                joint: None,
            };
            holds.push(explainer.explain(&asked, situation)?.holds());
        }
        let relation = asked.relation().zip(asked.is_positive());
        let subject = relation.and_then(|(relation, is_positive)| {
            Subject::new(world, (relation, is_positive), |world, arguments| {
                asked.matches(relation, arguments, world.terms())
            })
        });
        queries.push(Query { holds, subject });
        valid.push((question, asked.other_forms(&game)));
    }
    let stop = world.machine().stop().clone();
    let knowledge = query_belief(world, belief, *is_over, &queries, &stop)?;
    let mut answers = Vec::new();
    for (((question, other_forms), query), knowledge) in
        valid.into_iter().zip(queries).zip(knowledge)
    {
        let holds_in = query.holds.iter().filter(|holds| **holds).count();
        let mut history_where = |answer: bool| {
            let example = query.holds.iter().position(|holds| *holds == answer)?;
            Some(texts(machine, &members[example].history()))
        };
        let (known, share, holds_after, fails_after) = match knowledge {
            Knowledge::Proved(known) => (Some(known), f64::from(u8::from(known)), None, None),
            Knowledge::Open {
                share,
                counterexample,
            } => {
                let (holds_after, fails_after) = (history_where(true), history_where(false));
                let other = counterexample.map(|history| texts(machine, &history));
                (
                    None,
                    share,
                    holds_after.or(other.clone()),
                    fails_after.or(other),
                )
            }
        };
        answers.push(Answer {
            question: question.clone(),
            role: game.role_name(role).to_owned(),
            known,
            positions: members.len(),
            holds_in,
            share,
            exact: belief.is_exact(),
            holds_after,
            fails_after,
            other_forms: if holds_in == 0 {
                other_forms
            } else {
                Vec::new()
            },
        });
    }
    Ok((answers, faults))
}

/// The joint moves of a history.
fn texts<M: Machine>(machine: &mut M, history: &[Vec<Move>]) -> Vec<String> {
    machine.terms_mut().refresh();
    let joints = history.iter();
    joints
        .map(|joint| format::joint_line(machine, joint))
        .collect()
}

impl Answer {
    /// Whether it does not depend on a sample.
    pub(in crate::commands) fn is_certain(&self) -> bool {
        self.known.is_some()
    }

    /// The answer as text.
    pub(in crate::commands) fn text(&self) -> String {
        let Answer {
            question,
            role,
            positions,
            holds_in,
            ..
        } = self;
        let kind = match self.exact {
            true => format::counted(*positions, "position"),
            false => format!("{} of a sample", format::counted(*positions, "position")),
        };
        let all = match positions {
            1 if self.exact => "the only position".to_owned(),
            1 => "the only position of a sample".to_owned(),
            _ => format!("all of {kind}"),
        };
        let fit = match positions {
            1 => "that fits",
            _ => "that fit",
        };
        let others = self.other_forms.iter();
        let others = others.map(|form| format!("\n  the rules also have {form}"));
        let others: String = others.collect();
        match self.known {
            Some(holds) if !self.exact => format!(
                "{role} knows that {question} {}: this follows from its moves and percepts{others}",
                if holds { "holds" } else { "does not hold" },
            ),
            Some(true) => format!(
                "{role} knows that {question} holds: it does in {all} {fit} the moves and percepts of {role}"
            ),
            Some(false) => format!(
                "{role} knows that {question} does not hold: it fails in {all} {fit} the moves and percepts of {role}{others}"
            ),
            None if self.holds_after.is_none() || self.fails_after.is_none() => format!(
                "it is open whether {role} knows {question}: it {} in {all} {fit} the moves and percepts of \
                 {role}, but there may be others; --positions allows more",
                if *holds_in == 0 { "fails" } else { "holds" },
            ),
            None if *holds_in == 0 || holds_in == positions => format!(
                "{role} does not know whether {question} holds: it {} in {all} {fit} the moves and percepts of \
                 {role}, but not in another one\n{}",
                if *holds_in == 0 { "fails" } else { "holds" },
                self.examples(),
            ),
            None => {
                let share = match self.exact {
                    true => format!("{:.1} %", 100.0 * self.share),
                    false => format!("by their weights about {:.0} %", 100.0 * self.share),
                };
                format!(
                    "{role} does not know whether {question} holds: it does in {holds_in} of {kind} {fit} \
                     the moves and percepts of {role} ({share} of the histories if the others choose \
                     with equal probabilities)\n{}",
                    self.examples(),
                )
            }
        }
    }

    /// A history after which the fact holds, and one after which it does not. Of long ones, which
    /// have the same number of joint moves, only the joint moves that differ are shown.
    fn examples(&self) -> String {
        let [holds, fails] =
            [&self.holds_after, &self.fails_after].map(|history| history.as_deref().unwrap_or(&[]));
        if [holds, fails].iter().all(|joints| joints.len() <= SHORT) {
            let line = |joints: &[String]| match joints {
                [] => "at the start".to_owned(),
                joints => format!("after {}", joints.join("; ")),
            };
            return format!("  holds {}\n  fails {}", line(holds), line(fails));
        }
        let count = format::counted(holds.len(), "joint move");
        let mut text = format!("  holds and fails after two histories of {count}, which differ in");
        let pairs = (1..).zip(holds.iter().zip(fails));
        for (number, (holds, fails)) in pairs.filter(|(_, (holds, fails))| holds != fails) {
            text += &format!("\n  {number:4}: holds after {holds}\n        fails after {fails}");
        }
        text
    }
}
