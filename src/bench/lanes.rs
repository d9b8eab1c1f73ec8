//! The propositional network as a subject: many positions at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Jit, Moments, PassGates, Readiness, Run, Settings, Subject, Tally, Until, usage};
use crate::machine::PlayError;
use crate::propnet::code::Engine;
use crate::propnet::playout::{PASSES_ASKED, PlayoutOptions, Playouts, Proceed, Width};
use crate::propnet::{GroundLimits, Pass, Propnet};

/// A game's network with lanes.
#[derive(Debug)]
pub struct LanesSubject {
    net: Propnet,
    ground_rules: u64,
    gates_before: usize,
    passes: Vec<Pass>,
    options: PlayoutOptions,
    playouts: Playouts,
}

impl LanesSubject {
    /// Grounds a game and makes its code.
    ///
    /// # Errors
    ///
    /// [`PlayError::TooLarge`] past a limit of grounding.
    pub fn new(
        game: &crate::game::Game,
        settings: &Settings,
        limits: &GroundLimits,
    ) -> Result<Self, PlayError> {
        let (mut net, grounded) = Propnet::ground(game, limits)?;
        let gates_before = net.network.gates();
        let passes = net.simplify();
        let width = match settings.lanes {
            Some(lanes) if lanes <= 64 => Width::W64,
            Some(lanes) if lanes <= 256 => Width::W256,
            Some(lanes) if lanes > 512 => Width::W1024,
            _ => Width::W512,
        };
        let options = PlayoutOptions {
            width,
            engine: match settings.jit {
                Jit::Allowed => Engine::Auto,
                Jit::Off => Engine::Interpreter,
            },
            ..PlayoutOptions::default()
        };
        Ok(LanesSubject {
            playouts: Playouts::new(&net, &options),
            ground_rules: grounded.instances,
            gates_before,
            passes,
            options,
            net,
        })
    }
}

impl LanesSubject {
    /// Whether some of a few playouts are longer than that.
    fn may_be_longer(&self, depth: u64, seed: u64) -> bool {
        let asked = AtomicU64::new(0);
        let proceed = || match asked.fetch_add(1, Ordering::Relaxed) * PASSES_ASKED >= depth {
            true => Proceed::Drop,
            false => Proceed::On,
        };
        let few = TRIED.min(depth.saturating_mul(64)).max(1);
        self.playouts.run(few, seed, 1, proceed).playouts < few
    }

    /// Joint moves in a CPU second if nothing but the tapes took time.
    fn tape_limit(&self) -> f64 {
        let mut passes = 16;
        loop {
            let start = clock();
            self.playouts.run_tapes(passes);
            let time = clock().saturating_sub(start);
            if time >= TAPE_TIME {
                let lanes = self.playouts.lanes() as f64;
                return lanes * passes as f64 / time.as_secs_f64();
            }
            passes *= 2;
        }
    }
}

impl Subject for LanesSubject {
    fn readiness(&self) -> Readiness {
        Readiness {
            plays: "propnet",
            why_not: None,
            ground_rules: Some(self.ground_rules),
            gates_before: Some(self.gates_before as u64),
            gates: Some(self.net.network.gates() as u64),
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
            if run.interrupt.load(Ordering::Relaxed) {
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
        // Lanes that count their moves cost gates, so they do only where they
        // must.
        let cut = self.may_be_longer(run.depth, run.seed).then(|| {
            let depth = Some(run.depth);
            let options = PlayoutOptions {
                depth,
                ..self.options.clone()
            };
            Playouts::new(&self.net, &options)
        });
        let playouts = cut.as_ref().unwrap_or(&self.playouts);
        let played = playouts.run(count, run.seed, run.threads, proceed);
        let mut tally = Tally::new(self.net.goals.len());
        tally.state_changes = played.state_changes;
        tally.lengths.count = played.playouts;
        tally.lengths.sum = played.state_changes.into();
        // What was dropped is in the state changes, but no playout.
        tally.lengths_unknown = dropped.into_inner();
        tally.cut = played.cut;
        tally.faults = played.stuck + played.goal_errors.iter().sum::<u64>();
        if played.stuck > 0 {
            tally.fault = Some("a role has no legal move, but the game is not over".to_owned());
        } else if tally.faults > 0 {
            tally.fault = Some("a role has no goal value or several".to_owned());
        }
        let mut terms = self.net.game.terms().clone();
        terms.refresh();
        for (role, goals) in self.net.goals.iter().enumerate() {
            for ((value, _), &count) in goals.iter().zip(&played.goals[role]) {
                match self.net.game.score(&terms, *value) {
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

/// CPU time, or what comes nearest to it.
fn clock() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    usage::cpu_time().unwrap_or_else(|| START.get_or_init(Instant::now).elapsed())
}

/// Playouts that are tried to see how long they get.
const TRIED: u64 = 4_096;

/// The tapes alone are timed for so long at least.
const TAPE_TIME: Duration = Duration::from_millis(20);

/// More playouts than are made in a second.
const FASTEST: u64 = 1_000_000_000;
