//! The propositional network as a subject: many positions at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Moments, PassGates, Readiness, Run, Settings, Subject, Tally, Until, usage};
use ggp_engine::machine::{
    AnyMachine, Limits, Machine, PlayError, PlayoutEnd, PropnetMachine, play_to_end,
};
use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed, Width};
use ggp_engine::propnet::{GroundLimits, Grounded, Pass, Propnet};

/// A game's network with lanes.
#[derive(Debug)]
pub struct LanesSubject {
    net: Propnet,
    grounded: Grounded,
    gates_before: usize,
    passes: Vec<Pass>,
    playouts: Playouts,
}

impl LanesSubject {
    /// Grounds a game and compiles its network.
    ///
    /// # Errors
    ///
    /// [`PlayError::TooLarge`] past a limit of grounding.
    pub fn new(
        game: &ggp_gdl::game::Game,
        settings: &Settings,
        limits: &GroundLimits,
    ) -> Result<Self, PlayError> {
        let (mut net, grounded) = Propnet::ground(game, limits)?;
        let gates_before = net.network().gates();
        let passes = net.simplify_until(limits.passes, &limits.stop);
        let options = PlayoutOptions {
            width: width(settings),
            engine: settings.engine,
            threads: settings.threads,
            ..PlayoutOptions::default()
        };
        Ok(LanesSubject {
            playouts: Playouts::new(&net, &options),
            grounded,
            gates_before,
            passes,
            net,
        })
    }
}

impl LanesSubject {
    /// Joint moves per CPU second if only the tapes took time: they are run repeatedly on
    /// the states of all lanes after each of a few passes of playouts.
    fn tape_limit(&self) -> f64 {
        let mut tapes = self.playouts.tapes(0);
        let (mut passes, mut total, mut time) = (1, 0, Duration::ZERO);
        while time < TAPE_TIME {
            tapes.advance();
            let start = clock();
            tapes.run(passes);
            let more = clock().saturating_sub(start);
            if more < TAPE_TIME / 100 {
                // Too short to be distinguished from reading the clock.
                passes *= 2;
            } else {
                total += passes;
                time += more;
            }
        }
        (self.playouts.lanes() as u64 * total) as f64 / time.as_secs_f64()
    }
}

/// The longest time for finding an example of a fault.
const EXAMPLE_TIME: Duration = Duration::from_secs(1);

/// A fault with its role, state and rules, found by playing again one position at a
/// time: lanes only count.
pub(super) fn example(mut machine: AnyMachine, run: &Run) -> Option<String> {
    let stop = run.stop.within(Some(EXAMPLE_TIME));
    machine.set_stop(&stop);
    let initial = machine.initial().ok()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    loop {
        let ended = play_to_end(
            &mut machine,
            &initial,
            run.depth,
            &mut random,
            &mut || !stop.is_over(),
            &mut 0,
        );
        match ended {
            Err(PlayError::Interrupted) | Ok(PlayoutEnd::Interrupted) => return None,
            Err(fault) => return Some(fault.to_string()),
            Ok(PlayoutEnd::Cut) => {}
            Ok(PlayoutEnd::Terminal(scores)) => {
                if let Some(fault) = scores.into_iter().find_map(Result::err) {
                    return Some(fault.to_string());
                }
            }
        }
    }
}

/// The width of lanes that the settings ask for.
pub(super) fn width(settings: &Settings) -> Width {
    match settings.lanes {
        Some(lanes) if lanes <= 64 => Width::W64,
        Some(lanes) if lanes <= 256 => Width::W256,
        Some(lanes) if lanes > 512 => Width::W1024,
        _ => Width::W512,
    }
}

impl Subject for LanesSubject {
    fn readiness(&mut self) -> Readiness {
        Readiness {
            plays: "propnet",
            why_not: None,
            ground_rules: Some(self.grounded.instances),
            gates_before: Some(self.gates_before as u64),
            gates: Some(self.net.network().gates() as u64),
            network_bytes: Some(self.net.network().bytes() as u64),
            rows: Some(self.grounded.memory),
            passes: self
                .passes
                .iter()
                .map(|pass| PassGates {
                    pass: pass.name.to_owned(),
                    gates: pass.gates as u64,
                })
                .collect(),
            lanes: self.playouts.lanes() as u64,
            tape_limit: Some(self.tape_limit()),
        }
    }

    fn run(&mut self, run: &Run) -> Result<Tally, PlayError> {
        let start = Instant::now();
        let dropped = AtomicBool::new(false);
        let proceed = || {
            if run.stop.is_raised() {
                return Proceed::Drop;
            }
            match run.until {
                Until::Time(time) if start.elapsed() >= 2 * time => {
                    dropped.store(true, Ordering::Relaxed);
                    Proceed::Drop
                }
                Until::Time(time) if start.elapsed() >= time => Proceed::Finish,
                _ => Proceed::On,
            }
        };
        let count = match run.until {
            Until::Playouts(count) => count,
            Until::Time(time) => {
                FASTEST * (time + Duration::from_secs(1)).as_secs() * run.threads as u64
            }
        };
        self.playouts.set_depth(Some(run.depth));
        let played = self.playouts.run(count, run.seed, run.threads, proceed);
        let mut tally = Tally::new(self.net.goals().len());
        tally.state_changes = played.state_changes;
        tally.lengths.count = played.playouts;
        tally.lengths.sum = played.state_changes.into();
        tally.lengths.squares = played.squared_lengths;
        // Playouts that were dropped count as state changes but not as playouts.
        tally.lengths_unknown = dropped.into_inner();
        tally.cut = played.cut;
        tally.faults = played.stuck + played.goal_errors.iter().sum::<u64>();
        if tally.faults > 0 {
            let machine = PropnetMachine::from_network(self.net.clone(), Limits::default());
            let found = example(AnyMachine::Propnet(Box::new(machine)), run);
            tally.fault = Some(found.unwrap_or_else(|| match played.stuck {
                0 => "a role has no goal value or several".to_owned(),
                _ => "a role has no legal move, but the game is not over".to_owned(),
            }));
        }
        let mut terms = self.net.game().terms().clone();
        terms.refresh();
        let game = self.net.game();
        for (role, goals) in self.net.goals().iter().enumerate() {
            if game
                .roles()
                .nth(role)
                .is_some_and(|role| game.is_random(role))
            {
                // Chance has 0 where the rules give it no score.
                let scored: u64 = played.goals[role].iter().sum();
                let count = played.playouts - played.stuck - played.cut - scored;
                tally.goals[role].merge(Moments {
                    count,
                    ..Moments::default()
                });
            }
            for ((value, _), &count) in goals.iter().zip(&played.goals[role]) {
                match self.net.game().score(&terms, *value) {
                    Ok(score) => {
                        let score = u128::from(score.get());
                        let moments = Moments {
                            count,
                            sum: u128::from(count) * score,
                            squares: u128::from(count) * score * score,
                        };
                        tally.goals[role].merge(moments);
                    }
                    Err(_) => tally.faults += count,
                }
            }
        }
        Ok(tally)
    }
}

/// CPU time, or the closest substitute.
fn clock() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    usage::cpu_time().unwrap_or_else(|| START.get_or_init(Instant::now).elapsed())
}

/// Minimum time for timing the tapes alone.
const TAPE_TIME: Duration = Duration::from_millis(50);

/// More playouts than are possible in a second.
const FASTEST: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {

    use super::*;
    use ggp_gdl::game::Game;

    /// Each joint move ends the game or not.
    const COIN: &str = "
        (role a) (legal a stop) (legal a go)
        (<= (next over) (does a stop))
        (<= terminal (true over))
        (goal a 100)";

    fn play(run: &Run) -> Tally {
        let game = Game::from_text("coin.kif", COIN).expect("the rules are right");
        let limits = GroundLimits::default();
        let mut subject = LanesSubject::new(&game, &Settings::default(), &limits)
            .unwrap_or_else(|error| panic!("{error}"));
        subject.run(run).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn lengths_have_the_deviation_of_coin_throws_and_respect_the_depth() {
        let run = |depth| Run {
            until: Until::Playouts(100_000),
            depth,
            seed: 1,
            threads: 1,
            stop: ggp_stop::Stop::new(),
        };
        let played = play(&run(1_000));
        // The number of throws has mean 2 and variance 2, its square a variance of 150 - 36.
        let squares = played.lengths.squares as f64 / 1e5;
        assert_eq!((played.lengths.count, played.cut), (100_000, 0));
        assert!((squares - 6.0).abs() < 5.0 * (114.0f64 / 1e5).sqrt());
        let cut = play(&run(3));
        let share = cut.cut as f64 / 1e5;
        assert!((share - 0.125).abs() < 5.0 * (0.125f64 * 0.875 / 1e5).sqrt());
    }
}
