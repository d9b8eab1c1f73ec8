//! The course of learning: self-play, regression, new features.
//!
//! In: a network, options and a stop. Out: the values, and how learning went.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::code::Engine;
use ggp_stop::{Instant, Stop};
use rand::seq::{IndexedRandom, SliceRandom};

use crate::features::Features;
use crate::groups;
use crate::patterns::Patterns;
use crate::positions::Positions;
use crate::samples::Samples;
use crate::self_play::{Play, SelfPlay};
use crate::survey::survey;
use crate::symmetry::{Symmetry, symmetries};
use crate::trainer::{Rates, Trainer};
use crate::values::Values;

/// Parameters of learning.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of games of self-play; `None` for as many as the stop allows.
    pub games: Option<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The approximate maximum of memory for positions.
    pub memory_bytes: usize,
    /// The engine that runs the network.
    pub engine: Engine,
    /// The parameters of self-play.
    pub play: Play,
    /// The parameters of the regression.
    pub rates: Rates,
    /// The maximum number of groups of facts.
    pub groups: usize,
    /// The most images of a position by symmetries of the rules that are learned with it.
    pub images: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            games: None,
            seed: 0,
            memory_bytes: 1 << 29,
            engine: Engine::Auto,
            play: Play {
                games: 256,
                epsilon: 0.1,
                noise: 0.15,
                opening: 4,
                lambda: 0.8,
                cuts: true,
                depth: 1_000,
            },
            rates: Rates {
                step: 0.1,
                pattern_step: 0.03,
                decay: 1e-5,
                averaging: 40_000.0,
            },
            groups: 16_384,
            images: 3,
        }
    }
}

/// The least weight of groups that stay at the end.
const LEAST_WEIGHT: f32 = 0.03;
/// The number of positions that are learned together, in random order.
const BATCH: usize = 1_024;
/// The number of positions from which pairs are chosen.
const REMEMBERED: usize = 30_000;
/// The least number of positions learned for each group of facts, images included.
const POSITIONS_EACH: u64 = 40;
/// The bytes for each weight while learning.
const WEIGHT_BYTES: u64 = 32;
/// The share of the time for the search for symmetries.
const SEARCHING: f64 = 0.1;

/// The stages in which groups of facts are added.
const STAGES: [Stage; 3] = [
    Stage {
        after: 0.05,
        size: 2,
        share: 0.5,
    },
    Stage {
        after: 0.15,
        size: 3,
        share: 0.25,
    },
    Stage {
        after: 0.4,
        size: 3,
        share: 0.25,
    },
];

/// A stage in which groups of facts are added.
#[derive(Copy, Clone, Debug)]
struct Stage {
    /// The share of learning before it.
    after: f64,
    /// The most facts of a group.
    size: usize,
    /// The share of all groups.
    share: f64,
}

/// The state of learning.
#[derive(Copy, Clone, Debug, Default)]
pub struct Progress {
    /// The games played.
    pub games: u64,
    /// The positions learned.
    pub positions: u64,
    /// The positions evaluated.
    pub evaluated: u64,
    /// The mean logarithmic loss of recent positions.
    pub loss: f64,
    /// The number of groups of facts.
    pub groups: usize,
}

/// The result of learning.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The values.
    pub values: Values,
    /// The final state of learning.
    pub progress: Progress,
}

/// Learning that goes on.
#[derive(Clone, Debug)]
pub struct Lesson<'a> {
    /// The state of learning.
    pub progress: Progress,
    average: &'a Values,
}

impl Lesson<'_> {
    /// The values learned so far.
    pub fn learned(&self) -> Learned {
        Learned::new(self.average.clone(), self.progress)
    }
}

impl Learned {
    fn new(mut values: Values, mut progress: Progress) -> Self {
        values.prune(LEAST_WEIGHT);
        values.round();
        progress.groups = values.features.groups().len();
        Learned { values, progress }
    }
}

/// The approximate maximum of memory that [`learn`] takes for the weights of facts, in bytes,
/// besides [`Options::memory_bytes`].
pub fn weight_bytes(net: &Propnet) -> u64 {
    let roles = net.game().role_count() as u64;
    // There may be a phase for each role, and one more.
    let weights = (net.facts().len() as u64).saturating_mul(roles * (roles + 1));
    weights.saturating_mul(WEIGHT_BYTES)
}

/// Learns the values of a game's positions until enough games were played, or `stop`
/// is over. `watch` is called from time to time, with what was learned so far.
pub fn learn(
    net: &Propnet,
    options: &Options,
    stop: &Stop,
    mut watch: impl FnMut(&Lesson<'_>),
) -> Learned {
    let started = Instant::now();
    let time = stop.remaining();
    let mut course = Course::new(net, options, stop);
    let mut stages = STAGES.iter().peekable();
    loop {
        let share = match (options.games, time) {
            (Some(games), _) => course.play.finished as f64 / games as f64,
            (None, Some(time)) => started.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
            (None, None) => 0.0,
        };
        if stop.is_over() || share >= 1.0 {
            break;
        }
        course
            .play
            .advance(&course.trainer.values, &mut course.fresh, stop);
        if course.fresh.len() >= BATCH {
            course.lesson();
        }
        if let Some(stage) = stages.next_if(|stage| share >= stage.after) {
            course.lesson();
            course.grow(stage);
        }
        watch(&Lesson {
            progress: course.progress(),
            average: &course.trainer.average,
        });
    }
    course.lesson();
    let progress = course.progress();
    Learned::new(course.trainer.average, progress)
}

/// Learning in progress.
struct Course<'a> {
    options: &'a Options,
    stop: &'a Stop,
    play: SelfPlay,
    trainer: Trainer,
    symmetries: Vec<Symmetry>,
    /// Positions that are not learned yet.
    fresh: Samples,
    /// The last positions.
    memory: Samples,
    positions: u64,
    /// The positions learned, images included.
    learned: u64,
    loss: f64,
}

impl<'a> Course<'a> {
    fn new(net: &Propnet, options: &'a Options, stop: &'a Stop) -> Self {
        let mut positions = Positions::new(net, options.engine);
        let facts = net.facts().len();
        let roles = positions.roles();
        let survey = survey(&mut positions, facts, options.seed, stop);
        let outputs = if survey.is_constant_sum { 1 } else { roles };
        let symmetries = match options.images {
            0 => Vec::new(),
            _ => {
                let time = stop.remaining().map(|time| time.mul_f64(SEARCHING));
                let within = stop.within(time);
                symmetries(net, &survey.varies, options.engine, options.seed, &within)
            }
        };
        let patterns = Patterns::new(net, &survey.varies, &survey.states, stop);
        let values = Values::new(Features::new(&survey.varies, survey.phases), roles, outputs);
        let words = facts.div_ceil(64);
        let bytes = options.memory_bytes / 4;
        let of_sample = 8 * words + 4 * outputs;
        let remembered = (bytes / of_sample).clamp(BATCH, REMEMBERED);
        Course {
            options,
            stop,
            play: SelfPlay::new(positions, options.play, options.seed, bytes),
            trainer: Trainer::new(values, patterns, options.rates),
            symmetries,
            fresh: Samples::new(words, outputs, usize::MAX),
            memory: Samples::new(words, outputs, remembered),
            positions: 0,
            learned: 0,
            loss: 0.0,
        }
    }

    fn progress(&self) -> Progress {
        let features = self.trainer.values.features();
        Progress {
            games: self.play.finished,
            positions: self.positions,
            evaluated: self.play.evaluated,
            loss: self.loss,
            groups: features.groups().len(),
        }
    }

    /// Learns the fresh positions and some images of each in random order, and remembers them.
    fn lesson(&mut self) {
        let order = self.shuffled(self.fresh.len());
        let mut batch = self.fresh.like();
        for numbers in order.chunks(BATCH) {
            if self.stop.is_over() {
                break;
            }
            batch.clear();
            for &number in numbers {
                let (state, targets) = self.fresh.get(number as usize);
                batch.push(state, targets);
                let few = (self.symmetries).sample(&mut self.play.random, self.options.images);
                for symmetry in few {
                    batch.push(&symmetry.image(state), &symmetry.targets(targets));
                }
            }
            let order = self.shuffled(batch.len());
            let loss = self.trainer.learn(&batch, &order, self.stop);
            for number in 0..batch.len() {
                let (state, targets) = batch.get(number);
                self.memory.push(state, targets);
            }
            self.positions += numbers.len() as u64;
            self.learned += batch.len() as u64;
            // A mean over about the last 40,000 positions.
            let share = batch.len() as f64 / (self.learned as f64).min(40_000.0);
            self.loss += share.min(1.0) * (loss - self.loss);
        }
        self.fresh.clear();
    }

    /// Adds the groups of facts that explain most errors.
    fn grow(&mut self, stage: &Stage) {
        let values = &self.trainer.average;
        let room = (self.learned / POSITIONS_EACH) as usize;
        let most = (self.options.groups.min(room) as f64 * stage.share) as usize;
        let mut groups = values.features.groups().to_vec();
        groups.extend(groups::groups(
            values,
            &self.memory,
            stage.size,
            most,
            self.stop,
        ));
        self.trainer.set_groups(groups);
        // New features get their weights from positions at hand first.
        let order = self.shuffled(self.memory.len());
        self.trainer.learn(&self.memory, &order, self.stop);
        self.trainer.average = self.trainer.values.clone();
    }

    fn shuffled(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.shuffle(&mut self.play.random);
        order
    }
}
