//! The speed of play with one state at a time: by all gates, for every engine and
//! width that this machine has, and by changed gates only.
//!
//! ```text
//! cargo bench --bench single -- [--seconds S] [FILE.kif ...]
//! ```
//!
//! One thread, in thousands of state changes per second of CPU time. Random
//! playouts from the initial state, with legal moves and the terminal condition
//! queried in each state and goals at the end. All methods make the same choices,
//! so they must find the same moves and goals, which is checked. `gates` is the
//! number of two-input gates for one state change. `work` is the work of evaluating
//! changed gates only, in operands notified of a change. The last columns are the
//! machine as searches and players use it, a `State` that moves change in place, and the method of
//! evaluation of both.

use std::time::{Duration, Instant};

use ggp_cli::bench::usage::cpu_time;
use ggp_engine::machine::{AnyMachine, Limits, Machine, PropnetMachine, PropnetState, State};
use ggp_engine::propnet::batch::Batch;
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::differential::Differential;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A player of playouts, with roles and moves given by index.
trait One {
    fn restart(&mut self);
    fn is_terminal(&mut self) -> bool;
    /// The number of a role's legal moves.
    fn legal(&mut self, role: usize) -> usize;
    /// Makes legal moves, given by index among these.
    fn step(&mut self, joint: &[usize]);
    /// The number of a role's goal values, and their sum.
    fn goals(&mut self, role: usize) -> usize;
}

struct Lanes {
    batch: Batch,
    legal: Vec<Vec<usize>>,
}

impl One for Lanes {
    fn restart(&mut self) {
        let start = self.batch.initial().to_vec();
        self.batch.set_state(0, &start);
    }

    fn is_terminal(&mut self) -> bool {
        self.batch.is_terminal(0)
    }

    fn legal(&mut self, role: usize) -> usize {
        self.legal[role].clear();
        self.legal[role].extend(self.batch.legal_moves(0, role));
        self.legal[role].len()
    }

    fn step(&mut self, joint: &[usize]) {
        let moves = self.legal.iter().zip(joint);
        let joint: Vec<usize> = moves.map(|(legal, &chosen)| legal[chosen]).collect();
        self.batch.step(&joint);
    }

    fn goals(&mut self, role: usize) -> usize {
        self.batch.goal_values(0, role).map(|value| 1 + value).sum()
    }
}

struct Changes {
    one: Differential,
    legal: Vec<Vec<usize>>,
}

impl One for Changes {
    fn restart(&mut self) {
        let start = self.one.initial().to_vec();
        self.one.set_state(&start);
    }

    fn is_terminal(&mut self) -> bool {
        self.one.is_terminal()
    }

    fn legal(&mut self, role: usize) -> usize {
        self.legal[role].clear();
        self.legal[role].extend(self.one.legal_moves(role));
        self.legal[role].len()
    }

    fn step(&mut self, joint: &[usize]) {
        let moves = self.legal.iter().zip(joint);
        let joint: Vec<usize> = moves.map(|(legal, &chosen)| legal[chosen]).collect();
        self.one.step(&joint);
    }

    fn goals(&mut self, role: usize) -> usize {
        self.one.goal_values(role).map(|value| 1 + value).sum()
    }
}

struct Whole {
    machine: PropnetMachine,
    state: PropnetState,
    legal: Vec<Vec<Move>>,
}

impl One for Whole {
    fn restart(&mut self) {
        self.state = self.machine.initial().expect("there is one");
    }

    fn is_terminal(&mut self) -> bool {
        self.machine
            .is_terminal(&self.state)
            .expect("no limit is met")
    }

    fn legal(&mut self, role: usize) -> usize {
        let number = self
            .machine
            .game()
            .roles()
            .nth(role)
            .expect("there is such a role");
        let legal = self
            .machine
            .legal(&self.state, number, &mut self.legal[role]);
        legal.expect("every role can move");
        self.legal[role].len()
    }

    fn step(&mut self, joint: &[usize]) {
        let moves = self.legal.iter().zip(joint);
        let joint: Vec<Move> = moves.map(|(legal, &chosen)| legal[chosen]).collect();
        self.state = self
            .machine
            .next(&self.state, &joint)
            .expect("no limit is met");
    }

    fn goals(&mut self, role: usize) -> usize {
        let number = self
            .machine
            .game()
            .roles()
            .nth(role)
            .expect("there is such a role");
        let due = self
            .machine
            .goal_values(&self.state, number)
            .expect("no limit is met");
        let all = &self.machine.net().goals()[role];
        let values = all
            .iter()
            .enumerate()
            .filter(|(_, goal)| due.contains(&goal.0));
        values.map(|(value, _)| 1 + value).sum()
    }
}

struct InPlace {
    state: State,
    roles: Vec<RoleId>,
    joint: Vec<Move>,
}

impl One for InPlace {
    fn restart(&mut self) {
        self.state.restart().expect("there is an initial position");
    }

    fn is_terminal(&mut self) -> bool {
        self.state.is_terminal().expect("no limit is met")
    }

    fn legal(&mut self, role: usize) -> usize {
        let legal = self.state.legal_moves(self.roles[role]);
        legal.expect("every role can move").len()
    }

    fn step(&mut self, joint: &[usize]) {
        self.joint.clear();
        for (role, chosen) in self.roles.iter().zip(joint) {
            let legal = self.state.legal_moves(*role).expect("they are listed");
            self.joint.push(legal[*chosen]);
        }
        self.state.play(&self.joint).expect("the moves are legal");
    }

    fn goals(&mut self, role: usize) -> usize {
        let score = self.state.goal(self.roles[role]).expect("there is one");
        let game = self.state.game().clone();
        let AnyMachine::Propnet(machine) = self.state.machine() else {
            unreachable!("it was made from a network");
        };
        let all = &machine.net().goals()[role];
        let value = |goal: &TermId| game.score(machine.terms(), *goal);
        let due = all.iter().position(|goal| value(&goal.0) == Ok(score));
        1 + due.expect("it is one of them")
    }
}

/// The number of choices and goals that are compared.
const COMPARED: usize = 1_000;

/// State changes per second of CPU time, and the first choices and goals.
fn play(one: &mut dyn One, roles: usize, time: Duration) -> (f64, Vec<usize>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut trace = Vec::new();
    let mut changes = 0;
    let mut joint = vec![0; roles];
    let cpu = || cpu_time().expect("there is a clock of CPU time");
    let (start, begun) = (cpu(), Instant::now());
    while begun.elapsed() < time || trace.len() < COMPARED {
        one.restart();
        let mut depth = 0;
        while !one.is_terminal() && depth < 1_000 {
            for (role, chosen) in joint.iter_mut().enumerate() {
                let legal = one.legal(role);
                *chosen = random.random_range(0..legal);
                if trace.len() < COMPARED {
                    trace.extend([legal, *chosen]);
                }
            }
            one.step(&joint);
            depth += 1;
        }
        changes += depth;
        if trace.len() < COMPARED {
            trace.extend((0..roles).map(|role| one.goals(role)));
        }
    }
    (f64::from(changes) / (cpu() - start).as_secs_f64(), trace)
}

const WAYS: [(Engine, usize, &str); 7] = [
    (Engine::Interpreter, 64, "int 64"),
    (Engine::Interpreter, 256, "int 256"),
    (Engine::Interpreter, 512, "int 512"),
    (Engine::Avx2, 256, "avx2 256"),
    (Engine::Avx2, 512, "avx2 512"),
    (Engine::Avx512, 256, "512 256"),
    (Engine::Avx512, 512, "512 512"),
];

fn measure(file: &str, time: Duration) {
    let path = std::path::Path::new(file);
    let name = path.file_stem().expect("it is a file").display();
    let text = std::fs::read_to_string(path).expect("it is a file");
    let Ok(game) = Game::from_text(file, &text) else {
        return println!("{name:24} has errors");
    };
    let Ok((mut net, _)) = Propnet::ground(&game, &GroundLimits::default()) else {
        return println!("{name:24} has no network within the limits");
    };
    net.simplify();
    let roles = net.legal().len();
    let legal = || vec![Vec::new(); roles];
    let mut expected: Option<Vec<usize>> = None;
    let mut run = |one: &mut dyn One| {
        let (rate, trace) = play(one, roles, time);
        assert_eq!(expected.get_or_insert(trace.clone()), &trace, "{name}");
        format!("{:.1}", rate / 1e3)
    };
    let mut changes = Differential::new(&net);
    let mut columns = match &mut changes {
        Some(one) => vec![one.size().to_string(), one.activity(200).to_string()],
        None => vec!["cycles".to_owned(), String::new()],
    };
    for (engine, lanes, _) in WAYS {
        columns.push(match engine.is_available(lanes / 64) {
            true => {
                let batch = Batch::new(&net, lanes, engine);
                run(&mut Lanes {
                    batch,
                    legal: legal(),
                })
            }
            false => "-".to_owned(),
        });
    }
    columns.push(match changes {
        Some(one) => run(&mut Changes {
            one,
            legal: legal(),
        }),
        None => "-".to_owned(),
    });
    let mut machine = PropnetMachine::from_network(net, Limits::default());
    let evaluation = machine.evaluation();
    let mut in_place = InPlace {
        state: State::of(AnyMachine::Propnet(Box::new(machine.clone()))).expect("there is one"),
        roles: machine.game().roles().collect(),
        joint: Vec::new(),
    };
    let state = machine.initial().expect("there is one");
    let legal = vec![Vec::new(); roles];
    columns.push(run(&mut Whole {
        machine,
        state,
        legal,
    }));
    columns.push(run(&mut in_place));
    let columns: String = columns
        .iter()
        .map(|column| format!(" {column:>9}"))
        .collect();
    println!("{name:24}{columns} {evaluation:?}");
}

fn main() {
    let mut seconds = 0.5;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--seconds" => {
                let value = arguments.next().and_then(|value| value.parse().ok());
                seconds = value.expect("--seconds takes a number");
            }
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        let games = ["tic_tac_toe", "senku", "rock_paper_scissors"];
        let path = |name: &str| format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
        files = games.map(path).into();
    }
    let ways = WAYS.map(|(_, _, name)| name);
    let names = ["gates", "work"]
        .into_iter()
        .chain(ways)
        .chain(["changes", "machine", "state"]);
    let names: String = names.map(|name| format!(" {name:>9}")).collect();
    println!("{:24}{names}", "game");
    for file in files {
        measure(&file, Duration::from_secs_f64(seconds));
    }
}
