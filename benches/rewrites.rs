//! Savings of each step from rules to a network: the changes of rules and the passes over gates,
//! each left out.
//!
//! ```text
//! cargo bench --bench rewrites -- [--pieces] [FILE ...]
//! ```
//!
//! The columns are rows, matches, gates before and after simplification, and CPU seconds until
//! playouts are ready. Then follow the sums over the files that have a network with and without a
//! step. Networks must agree on the scores of 500 random playouts with the same random numbers.
//! With `--pieces`, rules are always decomposed.

use std::time::Duration;

use ggp_cli::bench::usage::cpu_time;
use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed, Tally};
use ggp_engine::propnet::{Approach, GroundLimits, Propnet};
use ggp_gdl::game::Game;
use ggp_stop::Stop;

/// The time for grounding, and that for simplification.
const TIME: Duration = Duration::from_secs(60);

/// A step and how to leave it out.
type Variant = (&'static str, fn(&mut GroundLimits));

const VARIANTS: [Variant; 16] = [
    ("nothing", |_| {}),
    ("nested-columns", |l| l.rewrites.nested_columns = false),
    ("free-columns", |l| l.rewrites.free_columns = false),
    ("shared-pieces", |l| l.rewrites.shared_pieces = false),
    ("asked-rows", |l| l.rewrites.asked_rows = false),
    ("used-rows", |l| l.rewrites.used_rows = false),
    ("shared-gates", |l| l.passes.shared_gates = false),
    ("exclusive-moves", |l| l.passes.exclusive_moves = false),
    ("split-moves", |l| l.passes.split_moves = false),
    ("early-factors", |l| l.passes.early_factors = false),
    ("dead-gates", |l| l.passes.dead_gates = false),
    ("constants", |l| l.passes.constants = false),
    ("exclusive-facts", |l| l.passes.exclusive_facts = false),
    ("factors", |l| l.passes.factors = false),
    ("equal-facts", |l| l.passes.equal_facts = false),
    ("factors-again", |l| l.passes.factors_again = false),
];

/// The cost of a network.
#[derive(Copy, Clone, Default)]
struct Cost {
    gates: usize,
    seconds: f64,
}

/// The sums for one variant, over the files that have a network with and without the step.
#[derive(Copy, Clone, Default)]
struct Sums {
    networks: usize,
    with: Cost,
    without: Cost,
}

fn main() {
    let words = std::env::args().skip(1);
    let mut files: Vec<String> = words.filter(|word| word != "--bench").collect();
    let given = files.len();
    files.retain(|word| word != "--pieces");
    let approach = match files.len() < given {
        true => Approach::Pieces,
        false => Approach::Best,
    };
    if files.is_empty() {
        let names = ["amazons", "chess", "draughts", "reversi"];
        files.extend(names.map(|name| format!("games/{name}.kif")));
    }
    println!("game without rows matches gates simplified cpu_seconds");
    let mut sums = [Sums::default(); VARIANTS.len()];
    for file in files {
        let text = std::fs::read(&file).expect("the file can be read");
        let Ok(game) = Game::from_text(&file, &String::from_utf8_lossy(&text)) else {
            println!("{file}: the rules have errors");
            continue;
        };
        let mut whole: Option<(Cost, Tally)> = None;
        for ((without, leave_out), sums) in VARIANTS.iter().zip(&mut sums) {
            let mut limits = GroundLimits {
                approach,
                time: Some(TIME),
                ..GroundLimits::default()
            };
            leave_out(&mut limits);
            let (cost, tally) = match measure(&game, &limits) {
                Ok(measured) => measured,
                Err(error) => {
                    println!("{file} {without} {error}");
                    continue;
                }
            };
            println!("{file} {without} {}", cost.1);
            let (with, expected) = whole.get_or_insert_with(|| (cost.0, tally.clone()));
            assert_eq!(*expected, tally, "{file}, {without}");
            sums.networks += 1;
            sums.with += *with;
            sums.without += cost.0;
        }
    }
    println!("\nwithout networks gates gates_without cpu_seconds cpu_seconds_without");
    for ((without, _), sums) in VARIANTS.iter().zip(sums) {
        let Sums {
            networks,
            with,
            without: rest,
        } = sums;
        println!(
            "{without} {networks} {} {} {:.2} {:.2}",
            with.gates, rest.gates, with.seconds, rest.seconds
        );
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, more: Cost) {
        self.gates += more.gates;
        self.seconds += more.seconds;
    }
}

/// The cost of a game's network, the same as text, and the scores of playouts.
fn measure(game: &Game, limits: &GroundLimits) -> Result<((Cost, String), Tally), String> {
    let begin = cpu();
    let (mut net, grounded) = Propnet::ground(game, limits).map_err(|error| error.to_string())?;
    let gates = net.network().gates();
    net.simplify_until(limits.passes, &Stop::new().within(Some(TIME)));
    drop(Playouts::new(&net, &PlayoutOptions::default()));
    let cost = Cost {
        gates: net.network().gates(),
        seconds: (cpu() - begin).as_secs_f64(),
    };
    let text = format!(
        "{} {} {gates} {} {:.3}",
        grounded.rows, grounded.instances, cost.gates, cost.seconds
    );
    // Drawn numbers depend on the phases, which differ between networks.
    let options = PlayoutOptions {
        depth: Some(30),
        phases: 1,
        ..PlayoutOptions::default()
    };
    let tally = Playouts::new(&net, &options).run(500, 3, 1, || Proceed::On);
    Ok(((cost, text), tally))
}

fn cpu() -> Duration {
    cpu_time().expect("the system has a CPU clock")
}
