//! Savings of the changes of rules before grounding: decomposed rules with each change left out.
//!
//! ```text
//! cargo bench --bench rewrites -- [FILE ...]
//! ```
//!
//! The columns are CPU seconds of grounding, rows, matches and gates before and after simplification, and
//! CPU seconds of that. Networks must agree on the mean scores of 2,000 random playouts with the same
//! random numbers.

use std::time::Duration;

use ggp_cli::bench::usage::cpu_time;
use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed, Tally};
use ggp_engine::propnet::{Approach, GroundLimits, Propnet, Rewrites};
use ggp_gdl::game::Game;

fn main() {
    let words = std::env::args().skip(1);
    let mut files: Vec<String> = words.filter(|word| word != "--bench").collect();
    if files.is_empty() {
        let names = ["amazons", "chess", "draughts", "reversi"];
        files.extend(names.map(|name| format!("games/{name}.kif")));
    }
    println!("game without cpu_seconds rows matches gates simplified cpu_seconds");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let game = Game::from_text(&file, &text).expect("the rules are valid");
        let mut known: Option<Tally> = None;
        for (without, rewrites) in variants() {
            let limits = GroundLimits {
                approach: Approach::Pieces,
                rewrites,
                ..GroundLimits::default()
            };
            let begin = cpu();
            let (mut net, grounded) = match Propnet::ground(&game, &limits) {
                Ok(grounded) => grounded,
                Err(error) => {
                    println!("{file} {without} {:.2} {error}", seconds(begin));
                    continue;
                }
            };
            let (grounding, gates) = (seconds(begin), net.network().gates());
            let begin = cpu();
            net.simplify();
            let simplifying = seconds(begin);
            let options = PlayoutOptions {
                depth: Some(60),
                phases: 1,
                ..PlayoutOptions::default()
            };
            let tally = Playouts::new(&net, &options).run(2_000, 3, 1, || Proceed::On);
            assert_eq!(
                *known.get_or_insert(tally.clone()),
                tally,
                "{file}, {without}"
            );
            println!(
                "{file} {without} {grounding:.2} {} {} {gates} {} {simplifying:.2}",
                grounded.rows,
                grounded.instances,
                net.network().gates()
            );
        }
    }
}

fn variants() -> [(&'static str, Rewrites); 7] {
    let mut variants = [
        ("nothing", Rewrites::ALL),
        ("nested-columns", Rewrites::ALL),
        ("free-columns", Rewrites::ALL),
        ("shared-pieces", Rewrites::ALL),
        ("asked-rows", Rewrites::ALL),
        ("used-rows", Rewrites::ALL),
        ("all", Rewrites::NONE),
    ];
    variants[1].1.nested_columns = false;
    variants[2].1.free_columns = false;
    variants[3].1.shared_pieces = false;
    variants[4].1.asked_rows = false;
    variants[5].1.used_rows = false;
    variants
}

fn cpu() -> Duration {
    cpu_time().expect("the system has a CPU clock")
}

fn seconds(begin: Duration) -> f64 {
    (cpu() - begin).as_secs_f64()
}
