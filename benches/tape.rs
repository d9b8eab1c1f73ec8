//! The time of a tape per gate, on synthetic networks of several sizes, for every
//! engine and width that this machine has.
//!
//! ```text
//! cargo bench --bench tape -- [--seconds S] [GATES ...]
//! ```
//!
//! One thread. The output of each run is compared with the network's own slow
//! evaluation before it is timed. `ops` is the number of the tape's operations,
//! `live` the maximum number of values it keeps at a time, `vector ops` the number
//! of vector instructions per operation, `compile` the time to make the code from
//! the tape. The last column is the time to make the tape itself.

use std::time::{Duration, Instant};

use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;
use ggp_engine::propnet::network::{Builder, Literal, Network, read};
use ggp_engine::propnet::tape::{Place, Tape};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() {
    let mut seconds = 0.2;
    let mut sizes = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--seconds" => {
                let value = arguments.next().and_then(|v| v.parse().ok());
                seconds = value.expect("--seconds takes a number");
            }
            gates => sizes.push(gates.parse().expect("sizes are numbers of gates")),
        }
    }
    if sizes.is_empty() {
        sizes = vec![500, 2_000, 5_000, 20_000];
    }
    println!(
        "{:>7} {:>7} {:>6} {:>12} {:>6} {:>8} {:>11} {:>10} {:>11} {:>11}",
        "gates",
        "ops",
        "live",
        "engine",
        "lanes",
        "ns/gate",
        "M lanes/s",
        "vector ops",
        "compile",
        "tape"
    );
    for gates in sizes {
        measure(gates, Duration::from_secs_f64(seconds));
    }
}

fn measure(gates: usize, time: Duration) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(gates as u64);
    let (network, outputs) = synthetic(gates, &mut random);
    let place = |bank: u8, index: usize| Place {
        bank,
        index: index as u32,
    };
    let inputs = network.inputs();
    let given: Vec<_> = (0..inputs).map(|i| (1 + i, place(0, i))).collect();
    let asked = outputs.iter().enumerate();
    let asked: Vec<_> = asked.map(|(i, &literal)| (literal, place(1, i))).collect();
    let start = Instant::now();
    let tape = Tape::new(&network, &given, &asked);
    let tape_time = start.elapsed();
    let gates = network.gates();
    for engine in [Engine::Interpreter, Engine::Avx2, Engine::Avx512] {
        for words in [1, 4, 8, 16] {
            if !engine.is_available(words) {
                continue;
            }
            let start = Instant::now();
            let mut code = Code::new(&tape, words, engine);
            let compile_time = start.elapsed();
            let mut banks = [Rows::new(inputs, words), Rows::new(outputs.len(), words)];
            for input in 0..inputs {
                random.fill(banks[0].row_mut(input));
            }
            code.run(&mut banks);
            assert_outputs(&network, &outputs, &banks);
            let start = Instant::now();
            let mut runs = 0;
            while start.elapsed() < time {
                for _ in 0..10 {
                    code.run(&mut banks);
                }
                runs += 10;
            }
            let pass = start.elapsed().as_secs_f64() / f64::from(runs);
            let ratio = |count: usize| count as f64 / tape.operations() as f64;
            println!(
                "{:>7} {:>7} {:>6} {:>12} {:>6} {:>8.3} {:>11.2} {:>10} {:>8.1} ns {:>8.1} ns",
                gates,
                tape.operations(),
                tape.live(),
                format!("{engine:?}"),
                words * 64,
                pass * 1e9 / gates as f64,
                (words * 64) as f64 / pass / 1e6,
                code.instructions()
                    .map_or(String::new(), |count| format!("{:.2}", ratio(count))),
                compile_time.as_nanos() as f64 / gates as f64,
                tape_time.as_nanos() as f64 / gates as f64,
            );
        }
    }
}

fn assert_outputs(network: &Network, outputs: &[Literal], banks: &[Rows]) {
    for word in 0..banks[0].words() {
        let inputs: Vec<u64> = (0..network.inputs())
            .map(|i| banks[0].row(i)[word])
            .collect();
        let values = network.evaluate(&inputs);
        for (row, &literal) in outputs.iter().enumerate() {
            assert_eq!(banks[1].row(row)[word], read(literal, &values));
        }
    }
}

/// A network of about `gates` two-input gates, most of which read recently made
/// nodes, with outputs chosen such that no gate is dead.
fn synthetic(gates: usize, random: &mut impl Rng) -> (Network, Vec<Literal>) {
    let inputs = gates / 10;
    let mut builder = Builder::new(inputs);
    let mut made: Vec<Literal> = (0..inputs).map(|i| builder.input(i)).collect();
    let mut is_read = vec![false; made.len()];
    let mut count = 0;
    while count < gates {
        let size = match random.random_range(0..20) {
            0..12 => 2,
            12..16 => 3,
            16..19 => 5,
            _ => 16,
        };
        let operands: Vec<Literal> = (0..size)
            .map(|_| {
                let range = match random.random_range(0..20) {
                    0..14 => made.len().saturating_sub(60).max(inputs / 2)..made.len(),
                    14..17 => inputs..made.len().max(inputs + 1),
                    _ => 0..inputs,
                };
                let index = random.random_range(range).min(made.len() - 1);
                is_read[index] = true;
                made[index].negated_if(random.random_bool(0.3))
            })
            .collect();
        let gate = match random.random_range(0..9) {
            0..4 => builder.and(&operands),
            4..8 => builder.or(&operands),
            _ => builder.xor(operands[0], operands[1]),
        };
        if !gate.is_constant() {
            made.push(gate);
            is_read.push(false);
            count += size - 1;
        }
    }
    let unread = made.iter().zip(&is_read).filter(|&(_, is_read)| !is_read);
    let outputs = unread.map(|(&literal, _)| literal).collect();
    (builder.network().clone(), outputs)
}
