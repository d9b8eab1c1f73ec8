//! The options that limit reading, evaluating and grounding of rules.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Context;
use ggp_engine::machine::{Excess, Limits};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::{GroundLimits, NetworkCache};
use ggp_gdl::check::ReadOptions;
use ggp_gdl::syntax::SyntaxLimits;
use ggp_gdl::terms::TermLimits;

/// The limits of reading rules and of evaluating them.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize)]
#[command(next_help_heading = "Limits")]
pub struct EvaluationOptions {
    /// Maximum nesting of lists, from 1 to 1000
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().nesting)]
    #[arg(hide_short_help = true, value_parser = nesting)]
    max_nesting: usize,
    /// Maximum number of facts and rules after expanding alternatives
    #[arg(long, value_name = "N", default_value_t = ReadOptions::default().rules)]
    #[arg(hide_short_help = true)]
    max_rules: usize,
    /// Maximum number of rules that one rule with alternatives may expand to
    #[arg(long, value_name = "N", default_value_t = ReadOptions::default().alternatives)]
    #[arg(hide_short_help = true)]
    max_alternatives: usize,
    /// Maximum number of distinct terms
    #[arg(long, value_name = "N", default_value_t = TermLimits::default().count)]
    #[arg(hide_short_help = true)]
    max_terms: usize,
    /// Maximum number of facts derived in one state, by the evaluators; networks have --ground-facts
    #[arg(long, value_name = "N", default_value_t = Limits::default().facts)]
    #[arg(hide_short_help = true)]
    max_facts: usize,
    /// Maximum number of matches tried in one state, by the evaluators; it is looked at after each rule
    #[arg(long, value_name = "N", default_value_t = Limits::default().work)]
    #[arg(hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    max_work: u64,
    /// Maximum number of symbols in the text of one state, and of its legal moves; a
    /// tenth of that for a single term
    #[arg(long, value_name = "N", default_value_t = Limits::default().symbols)]
    #[arg(hide_short_help = true)]
    max_symbols: usize,
    /// The limits of building a network.
    #[command(flatten)]
    pub ground: GroundOptions,
}

impl EvaluationOptions {
    /// The options for reading rules of at most `max_bytes`.
    pub fn read_options(&self, max_bytes: usize) -> ReadOptions {
        ReadOptions {
            syntax: SyntaxLimits {
                bytes: max_bytes,
                nesting: self.max_nesting,
            },
            rules: self.max_rules,
            alternatives: self.max_alternatives,
            terms: TermLimits {
                count: self.max_terms,
                symbols: self.max_symbols / 10,
                ..TermLimits::default()
            },
            ..ReadOptions::default()
        }
    }

    /// The deepest nesting of lists.
    pub fn max_nesting(&self) -> usize {
        self.max_nesting
    }

    /// The limits of a machine, with this time for grounding unless one is given.
    pub fn limits(&self, grounding: Duration, engine: Engine, context: &Context) -> Limits {
        Limits {
            facts: self.max_facts,
            work: self.max_work,
            symbols: self.max_symbols,
            ground: GroundLimits {
                symbols: self.max_symbols,
                ..self.ground.limits(grounding, context)
            },
            engine,
            threads: available_parallelism().map_or(1, NonZero::get),
            stop: context.stop().clone(),
        }
    }
}

/// The option that sets a limit which the evaluation exceeded, if there is one.
pub(crate) fn option_of(excess: &Excess) -> Option<&'static str> {
    let options = [
        ("facts in one state", "--max-facts"),
        ("rows examined in one state", "--max-work"),
        ("matches tried in one state", "--max-work"),
        ("different terms", "--max-terms"),
        ("symbols in", "--max-symbols"),
        ("facts that can ever hold", "--ground-facts"),
        ("instances of rules", "--ground-instances"),
        ("bytes of rows and gates", "--ground-memory"),
        ("milliseconds of grounding", "--ground-time"),
    ];
    let found = options
        .iter()
        .find(|(what, _)| excess.what.starts_with(what));
    found.map(|(_, option)| *option)
}

/// The limits of building a network from rules.
#[derive(clap::Args, Copy, Clone, Debug, Serialize, Deserialize)]
pub struct GroundOptions {
    /// Maximum CPU seconds for grounding the rules to a network, on a busy machine up to four times as
    /// many on the clock [default: 5, or a quarter of --budget-time if that is more; in bench: the
    /// rest of --timeout]
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[arg(hide_short_help = true)]
    pub ground_time: Option<f64>,
    /// Approximate maximum of memory for grounding, in megabytes
    #[arg(long, value_name = "MB", default_value_t = GroundLimits::default().memory as u64 >> 20)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub ground_memory: u64,
    /// Maximum number of rows of all relations that can ever hold; of fixed rows, which need no
    /// gates, twice as many
    #[arg(long, value_name = "N", default_value_t = GroundLimits::default().facts)]
    #[arg(hide_short_help = true)]
    pub ground_facts: usize,
    /// Maximum number of rule instances while grounding
    #[arg(long, value_name = "N", default_value_t = GroundLimits::default().instances)]
    #[arg(hide_short_help = true)]
    pub ground_instances: u64,
    /// The networks of other runs.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// The networks of other runs.
#[derive(clap::Args, Copy, Clone, Debug, Serialize, Deserialize)]
pub struct CacheOptions {
    /// Maximum size of the networks that are kept for the next run, in megabytes
    ///
    /// They are in the folder GGP_CACHE, or else in ggp of the user's folder for caches, and can
    /// be deleted at any time.
    #[arg(long, value_name = "MB", default_value_t = 1_000)]
    #[arg(hide_short_help = true)]
    pub cache_size: u64,
    /// Neither use nor keep networks of other runs
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub no_cache: bool,
}

impl CacheOptions {
    /// The networks of other runs, unless they are not wanted or there is no folder for them.
    pub fn cache(&self) -> Option<NetworkCache> {
        let bytes = self.cache_size.saturating_mul(1 << 20);
        let is_wanted = !self.no_cache && bytes > 0;
        is_wanted.then(|| NetworkCache::of_user(bytes))?
    }
}

impl GroundOptions {
    /// The limits, with `time` unless the option is given, and the interrupt flag.
    pub fn limits(&self, time: Duration, context: &Context) -> GroundLimits {
        let bytes = self.ground_memory.saturating_mul(1 << 20);
        GroundLimits {
            facts: self.ground_facts,
            instances: self.ground_instances,
            memory: usize::try_from(bytes).unwrap_or(usize::MAX),
            time: Some(self.ground_time.map_or(time, Duration::from_secs_f64)),
            stop: context.stop().clone(),
            cache: self.cache.cache(),
            ..GroundLimits::default()
        }
    }
}

/// Parses a maximum nesting of lists.
pub(crate) fn nesting(text: &str) -> Result<usize, String> {
    let most = SyntaxLimits::MAX_NESTING;
    let depth = text.parse().ok().filter(|depth| (1..=most).contains(depth));
    depth.ok_or_else(|| format!("expected a number from 1 to {most}"))
}

/// Parses a time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0 to 1000000000".to_owned()),
    }
}
