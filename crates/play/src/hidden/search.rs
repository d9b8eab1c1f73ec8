//! The agent that searches over what roles know.
//!
//! In: a role's own moves and percepts. Out: advice whose move is drawn from a mix. Each thread has a
//! belief and trees of its own; the mix is the average of theirs.

use std::thread;

use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Move, RoleId};
use ggp_hidden::{Candidate as Found, SearchOptions, Trees};
use ggp_stop::Stop;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Advice, Agent, Brief, Candidate, Observation, OptionError, Pace, PlayerError};
use super::Knowledge;

/// An agent that searches over what roles know, in several threads with trees of their own.
#[derive(Debug)]
pub struct KnowledgeAgent {
    brief: Brief,
    options: SearchOptions,
    /// The number of threads, unless it is that of the player.
    threads: Option<usize>,
    /// One for each thread, at least one after the first preparation.
    searchers: Vec<Searcher>,
}

/// The search of one thread.
#[derive(Debug)]
struct Searcher {
    role: RoleId,
    stop: Stop,
    knowledge: Knowledge,
    trees: Trees,
}

/// The options of [`KnowledgeAgent`].
pub const OPTIONS: &[(&str, &str)] = &[
    ("c=NUMBER", "weight of exploration, 1 by default"),
    (
        "threads=N|auto",
        "search threads; auto: all threads of the player if moves have a time limit, else one",
    ),
];

impl KnowledgeAgent {
    /// An agent with options as names and values: `c` and `threads`.
    ///
    /// # Errors
    ///
    /// An unknown option, or a value that the option does not accept.
    pub fn new(brief: Brief, settings: &[(String, String)]) -> Result<Self, OptionError> {
        let mut options = SearchOptions::default();
        let mut threads = None;
        for (name, value) in settings {
            let wrong = |allowed: &str| OptionError::Value {
                name: name.clone(),
                allowed: allowed.to_owned(),
                value: value.clone(),
            };
            match &name[..] {
                "c" => {
                    let number = value.parse().ok().filter(|n| (0.0..=100.0).contains(n));
                    options.exploration = number.ok_or_else(|| wrong("a number from 0 to 100"))?;
                }
                "threads" if value == "auto" => threads = None,
                "threads" => {
                    let number = value.parse().ok().filter(|n| (1..=256).contains(n));
                    let allowed = "a whole number from 1 to 256 or auto";
                    threads = Some(number.ok_or_else(|| wrong(allowed))?);
                }
                _ => return Err(OptionError::unknown(name, OPTIONS)),
            }
        }
        Ok(KnowledgeAgent {
            brief,
            options,
            threads,
            searchers: Vec::new(),
        })
    }

    /// Makes the searchers that are missing. Without a deadline there is one by default, because
    /// the result of several depends on timing.
    fn prepare(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        let own = match pace.deadline() {
            Some(_) => self.brief.threads.max(1),
            None => 1,
        };
        let threads = self.threads.unwrap_or(own);
        // A node has some hundred bytes with its share of memories.
        let nodes = self.brief.memory_bytes / 1_000 / threads as u64;
        self.options.nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        while self.searchers.len() < threads {
            let seed = self.brief.seed.wrapping_add(self.searchers.len() as u64);
            let mut knowledge = match self.searchers.first() {
                Some(first) => first.knowledge.twin(seed),
                None => Knowledge::new(&self.brief, true, true, pace)?,
            };
            knowledge.world.prepare_playouts(self.options.steps, seed);
            self.searchers.push(Searcher {
                role: self.brief.role,
                stop: self.brief.limits.stop.clone(),
                knowledge,
                trees: Trees::default(),
            });
        }
        Ok(())
    }
}

/// Advice by what searchers found about the same moves, if anything.
fn advice(
    found: impl IntoIterator<Item = (Vec<Found>, u64)>,
    random: &Xoshiro256PlusPlus,
) -> Option<Advice> {
    let mut options: Vec<Found> = Vec::new();
    let (mut nodes, mut count) = (0, 0.0);
    for (found, iterations) in found.into_iter().filter(|(found, _)| !found.is_empty()) {
        nodes += iterations;
        count += 1.0;
        for other in found {
            match options.iter_mut().find(|option| option.made == other.made) {
                None => options.push(other),
                Some(option) => {
                    let (visits, more) = (option.visits as f64, other.visits as f64);
                    let sum = option.value * visits + other.value * more;
                    option.value = sum / (visits + more).max(1.0);
                    option.visits += other.visits;
                    option.share += other.share;
                }
            }
        }
    }
    options.sort_by_key(|option| std::cmp::Reverse(option.visits));
    let mut left: f64 = random.clone().random::<f64>() * count;
    let drawn = options.iter().find(|option| {
        left -= option.share;
        left < 0.0
    });
    let drawn = drawn.or(options.first())?;
    let candidates = options.iter().map(|option| Candidate {
        action: option.made,
        visits: option.visits,
        value: option.value,
        bounds: (0.0, 100.0),
        distance: None,
    });
    let mix = options
        .iter()
        .map(|option| (option.made, option.share / count));
    Some(Advice {
        value: Some(drawn.value),
        nodes,
        candidates: candidates.collect(),
        mix: mix.collect(),
        ..Advice::of(drawn.made)
    })
}

impl Searcher {
    /// Searches after an observation, unless there is only one legal move. The result is the legal
    /// moves. `tell` is called after each set of iterations.
    fn search(
        &mut self,
        observation: &Observation,
        options: &SearchOptions,
        pace: &Pace,
        mut tell: impl FnMut(&Searcher),
    ) -> Result<Vec<Move>, PlayerError> {
        let memories = &mut self.trees.memories;
        let legal = self
            .knowledge
            .legal(memories, self.role, observation, pace)?;
        if legal.len() == 1 {
            return Ok(legal);
        }
        let before = self.trees.iterations();
        self.knowledge.world.set_stop(&pace.part(1.0));
        let outcome = loop {
            let made = self.trees.iterations() - before;
            let left = pace
                .nodes()
                .map_or(u64::MAX, |nodes| nodes.saturating_sub(made));
            if left == 0 || pace.is_over() {
                break Ok(());
            }
            let Knowledge {
                world,
                belief,
                random,
                ..
            } = &mut self.knowledge;
            let options = SearchOptions {
                lanes: usize::try_from(left)
                    .unwrap_or(usize::MAX)
                    .min(options.lanes),
                ..*options
            };
            let belief = belief.as_ref().expect("it was followed");
            match self.trees.grow(world, belief, &options, random) {
                Ok(()) => tell(self),
                Err(PlayError::Interrupted) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.knowledge.world.set_stop(&self.stop);
        outcome?;
        Ok(legal)
    }

    /// The findings about the moves of the role after a search, and the number of iterations.
    fn found(&self) -> (Vec<Found>, u64) {
        let known = self.knowledge.belief.as_ref();
        let known = known.map(|belief| belief.members()[0].known[self.role.index()]);
        let found = known.map(|known| self.trees.options(known));
        (found.unwrap_or_default(), self.trees.iterations())
    }
}

impl Agent for KnowledgeAgent {
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError> {
        self.prepare(pace)
    }

    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError> {
        self.prepare(pace)?;
        let options = &self.options;
        let Some((first, others)) = self.searchers.split_first_mut() else {
            unreachable!("one was prepared");
        };
        let (legal, others) = thread::scope(|scope| {
            let others = others.iter_mut().map(|other| {
                let silent = pace.silent();
                scope.spawn(move || {
                    let legal = other.search(observation, options, &silent, |_| ());
                    legal.map(|_| other.found())
                })
            });
            let others: Vec<_> = others.collect();
            let legal = first.search(observation, options, pace, |first| {
                let advice = advice([first.found()], &first.knowledge.random);
                advice.into_iter().for_each(|advice| pace.publish(advice));
            });
            // A searcher that finds no positions has no say.
            let others = others
                .into_iter()
                .filter_map(|other| other.join().ok()?.ok());
            (legal, others.collect::<Vec<_>>())
        });
        let legal = legal?;
        let found = [first.found()].into_iter().chain(others);
        let random = &mut first.knowledge.random;
        let advice = advice(found, random).filter(|_| legal.len() > 1);
        if advice.is_some() {
            // The next draw is another one.
            let _: u64 = random.random();
        }
        Ok(advice.unwrap_or_else(|| Advice::of(legal[0])))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ggp_gdl::game::Game;
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_mix_of_several_searchers_is_the_average_of_theirs() {
        let text = include_str!("../../../../games/matching_pennies.kif");
        let game = Game::from_text("matching_pennies", text).unwrap();
        let role = game.roles().next().unwrap();
        let mut machine = ggp_engine::machine::AnyMachine::new(
            &game,
            ggp_engine::machine::Backend::Naive,
            ggp_engine::machine::Limits::default(),
        )
        .unwrap();
        let mut legal = Vec::new();
        let start = ggp_engine::machine::Machine::initial(&mut machine).unwrap();
        ggp_engine::machine::Machine::legal(&mut machine, &start, role, &mut legal).unwrap();
        let found = |at: usize, visits, value, share| Found {
            made: legal[at],
            visits,
            value,
            share,
        };
        let one = (vec![found(0, 30, 50.0, 1.0), found(1, 10, 20.0, 0.0)], 40);
        let other = (vec![found(1, 90, 80.0, 0.5), found(0, 10, 90.0, 0.5)], 100);
        // One without positions has no say.
        let lost = (Vec::new(), 7);
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        let advice = advice([one, other, lost], &random).unwrap();
        assert_eq!(advice.nodes, 140);
        assert_eq!(advice.mix, [(legal[1], 0.25), (legal[0], 0.75)]);
        let values = advice.candidates.iter().map(|one| (one.visits, one.value));
        assert_eq!(values.collect::<Vec<_>>(), [(100, 74.0), (40, 60.0)]);
    }

    #[test]
    fn several_threads_search_together() {
        let text = include_str!("../../../../games/matching_pennies.kif");
        let game = Game::from_text("matching_pennies", text).unwrap();
        let role = game.roles().next().unwrap();
        let brief = |threads| Brief {
            threads,
            ..Brief::new(&game, role)
        };
        let observation = Observation::of_percepts([], []);
        let nodes = |threads, pace: &Pace| {
            let mut agent = KnowledgeAgent::new(brief(threads), &[]).unwrap();
            let advice = agent.choose(&observation, pace).unwrap();
            let sum: f64 = advice.mix.iter().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-9);
            (advice.nodes, agent.searchers.len())
        };
        let end = Instant::now() + Duration::from_millis(300);
        let (found, searchers) = nodes(3, &Pace::new(Some(end), None));
        assert!(found > 0 && searchers == 3);
        // Without a deadline the same seed has the same answer.
        assert_eq!(nodes(3, &Pace::new(None, Some(1_000))), (1_000, 1));
    }
}
