//! Win rates of learned values against flat Monte Carlo search.
//!
//! ```text
//! cargo bench --bench values -- [--seconds S | --games N] [--pairs N] [--flat K,K] [--mixed K]
//!     [--trust] [FILE ...]
//! ```
//!
//! For each game, values are learned for a time or a number of games. Then they play
//! with one ply of look-ahead against a player that makes K playouts after each of
//! its moves: N pairs of matches with random openings of two to four joint moves,
//! each opening with exchanged roles. With `--mixed K`, a player that chooses by the mean of the
//! value and of K playouts meets one that makes the playouts. The columns are the games and positions
//! learned, the CPU seconds of that, the loss, the groups of facts, the CPU time to
//! evaluate a position, and for each K the mean score of the values with its standard
//! error. Other options set parameters of learning.

use std::time::Duration;

use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;
use ggp_learn::{Chooser, Options, learn, trial, trust};
use ggp_stop::Stop;

fn main() {
    let mut options = Options::default();
    let (mut seconds, mut pairs, mut flat) = (20.0, 200, vec![8, 64]);
    let (mut trusts, mut mixed) = (false, None);
    let mut files = Vec::new();
    // Cargo adds --bench to the user's arguments.
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().expect("the option has a value");
        fn number<T: std::str::FromStr>(text: String) -> T {
            let parsed = text.parse().ok();
            parsed.expect("the value is a number")
        }
        match word.as_str() {
            "--seconds" => seconds = number(value()),
            "--games" => options.games = Some(number(value())),
            "--pairs" => pairs = number(value()),
            "--seed" => options.seed = number(value()),
            "--flat" => flat = value().split(',').map(|k| number(k.to_owned())).collect(),
            "--mixed" => mixed = Some(number(value())),
            "--lines" => options.play.games = number(value()),
            "--epsilon" => options.play.epsilon = number(value()),
            "--noise" => options.play.noise = number(value()),
            "--opening" => options.play.opening = number(value()),
            "--lambda" => options.play.lambda = number(value()),
            "--no-cuts" => options.play.cuts = false,
            "--step" => options.rates.step = number(value()),
            "--pattern-step" => options.rates.pattern_step = number(value()),
            "--decay" => options.rates.decay = number(value()),
            "--averaging" => options.rates.averaging = number(value()),
            "--groups" => options.groups = number(value()),
            "--images" => options.images = number(value()),
            "--trust" => trusts = true,
            _ => files.push(word),
        }
    }
    for file in files {
        measure(&file, &options, seconds, pairs, &flat, mixed, trusts);
    }
}

fn measure(
    file: &str,
    options: &Options,
    seconds: f64,
    pairs: u32,
    flat: &[u32],
    mixed: Option<u32>,
    trusts: bool,
) {
    let path = match file.contains('/') {
        true => file.to_owned(),
        false => format!("{}/games/{file}.kif", env!("CARGO_MANIFEST_DIR")),
    };
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let game = Game::from_text(&path, &text).expect("the rules are valid");
    let limits = GroundLimits::default();
    let (mut net, _) = Propnet::ground(&game, &limits).expect("a network is small enough");
    net.simplify();
    let stop = match options.games {
        Some(_) => Stop::new(),
        None => Stop::after(Duration::from_secs_f64(seconds)),
    };
    let before = cpu();
    let learned = learn(&net, options, &stop, |_| ());
    let time = cpu() - before;
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or(&path)
        .trim_end_matches(".kif");
    let progress = learned.progress;
    print!(
        "{name:20} {:8} games {:9} positions {:6.1} s  loss {:.3} groups {:5} {:5.0} ns",
        progress.games,
        progress.positions,
        time.as_secs_f64(),
        progress.loss,
        progress.groups,
        cost(&net, &learned.values),
    );
    let values = &learned.values;
    let flat = (flat.iter()).map(|&each| ("", each, Chooser::Values(values)));
    let mixed = (mixed.iter()).map(|&each| ("mixed ", each, Chooser::Mixed(values, each)));
    for (name, each, chooser) in flat.chain(mixed) {
        let choosers = [chooser, Chooser::Flat(each)];
        let found = trial(&net, Engine::Auto, choosers, pairs, 1, &Stop::new());
        let found = found.expect("nothing stops it");
        print!(
            "  {name}{each}: {:5.1} ± {:.1} %",
            100.0 * found.mean,
            100.0 * found.error
        );
    }
    if trusts {
        let found = trust(&net, Engine::Auto, &learned.values, 1, &Stop::new());
        print!("  {found:?}");
    }
    println!();
}

/// The nanoseconds of CPU time to evaluate a position, among those of arbitrary games.
fn cost(net: &Propnet, values: &ggp_learn::Values) -> f64 {
    let mut machine = ggp_engine::propnet::batch::Batch::new(net, 256, Engine::Auto);
    let mut states: Vec<Packed> = Vec::new();
    for ply in 0..20 {
        let joints: Vec<usize> = (0..256)
            .flat_map(|lane| {
                (0..machine.roles())
                    .map(|role| {
                        let legal: Vec<usize> = machine.legal_moves(lane, role).collect();
                        legal
                            .get((lane + 7 * ply) % legal.len().max(1))
                            .copied()
                            .unwrap_or(0)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        machine.step(&joints);
        states.append(&mut machine.states(256));
    }
    let mut out = vec![0.0; states.len() * values.roles()];
    let started = cpu();
    let mut rounds = 0;
    while cpu() - started < Duration::from_millis(300) {
        values.evaluate(&states, &mut out);
        rounds += 1;
    }
    (cpu() - started).as_nanos() as f64 / (rounds * states.len()) as f64
}

/// The CPU time of this process.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux reports times");
    let fields: Vec<&str> = text
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks: u64 =
        fields[11].parse::<u64>().unwrap_or(0) + fields[12].parse::<u64>().unwrap_or(0);
    Duration::from_millis(10 * ticks)
}
