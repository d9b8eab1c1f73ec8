//! General game playing: a game is only a rule file.
//!
//! Rules in the Game Description Language (GDL, in KIF syntax) become a checked [`Game`].
//! A [`Machine`] answers what the game allows, [`solve`] finds plans for games of one role,
//! [`verify`] checks answers with code of its own, an [`Agent`] plays, an [`Explainer`] says
//! why a fact holds, and a [`Picture`] draws positions. Nothing about any particular game is
//! built in.
//!
//! ```
//! use ggp::{AnyMachine, Backend, Game, Limits, Machine};
//!
//! let rules = "
//!     (role robot)
//!     (init (at 0)) (after 0 1) (after 1 2)
//!     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (legal robot stay) (true (at ?x)))
//!     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
//!     (<= terminal (true (at 2)))
//!     (<= (goal robot 100) (true (at 2)))
//!     (<= (goal robot 0) (not (true (at 2))))";
//! let game = Game::from_text("walk.kif", rules).expect("the rules have no errors");
//! let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default())?;
//! let robot = game.role_named("robot").expect("the role is declared");
//!
//! let mut state = machine.initial()?;
//! let mut legal = Vec::new();
//! while !machine.is_terminal(&state)? {
//!     machine.legal(&state, robot, &mut legal)?;
//!     println!("{}: {}", machine.state_text(&state), machine.text(legal[0]));
//!     state = machine.play(&state, &[legal[0]])?;
//! }
//! assert_eq!(machine.goal(&state, robot)?.get(), 100);
//! # Ok::<(), ggp::PlayError>(())
//! ```
//!
//! The crates behind this one, such as `ggp-engine`, have everything else.

/// The errors and warnings of one reading of rules, with the texts they refer to.
///
/// ```
/// let reading = ggp::Game::from_text("empty.kif", "").unwrap_err();
/// assert!(reading.game.is_none() && !reading.findings.is_empty());
/// ```
pub use ggp_gdl::check::Reading;
/// ```
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/nim.kif"));
/// let game = ggp::Game::from_text("nim.kif", rules).expect("the rules have no errors");
/// assert_eq!(game.role_count(), 2);
/// ```
pub use ggp_gdl::game::{Game, Move, RoleId, Score};

/// The state-machine interface, its backends and their limits.
///
/// ```
/// use ggp::{AnyMachine, Backend, Limits, Machine};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/nim.kif"));
/// let game = ggp::Game::from_text("nim.kif", rules).expect("the rules have no errors");
/// let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let start = machine.initial()?;
/// let mut legal = Vec::new();
/// machine.legal(&start, game.roles().next().expect("nim has roles"), &mut legal)?;
/// assert_eq!(legal.len(), 12);
/// # Ok::<(), ggp::PlayError>(())
/// ```
pub use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
/// Counts of positions by depth.
///
/// ```
/// use ggp::{AnyMachine, Backend, Limits, Machine, PerftOptions, perft};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif"));
/// let game = ggp::Game::from_text("tic_tac_toe.kif", rules).expect("the rules have no errors");
/// let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let start = machine.initial()?;
/// let mut options = PerftOptions::default();
/// options.depth = 2;
/// let counted = perft(&mut machine, &start, options, |_| {})?;
/// assert_eq!(counted.levels[2].paths, 72);
/// # Ok::<(), ggp::PlayError>(())
/// ```
pub use ggp_engine::machine::{DatalogMachine, PerftOptions, PropnetMachine, perft};
/// Many positions at once, on the network of a game.
///
/// ```
/// use ggp::{Batch, Engine, GroundLimits, Propnet};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif"));
/// let game = ggp::Game::from_text("tic_tac_toe.kif", rules).expect("the rules have no errors");
/// let (mut net, _) = Propnet::ground(&game, &GroundLimits::default())?;
/// net.simplify();
/// let mut batch = Batch::new(&net, 256, Engine::Auto);
/// assert_eq!(batch.legal_moves(255, 0).count(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_engine::propnet::{GroundError, GroundLimits, Propnet, batch::Batch, code::Engine};

/// The budget of a search, its statistics and its verdict.
///
/// ```
/// use ggp::{AnyMachine, Backend, Budget, Limits, SolveOptions, Stats, Verdict, solve};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/eight_puzzle.kif"));
/// let game = ggp::Game::from_text("eight_puzzle.kif", rules).expect("the rules have no errors");
/// let machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let mut options = SolveOptions::default();
/// options.method = "iterative-deepening".parse()?;
/// options.budget = Budget { depth: 4, ..Budget::default() };
/// let mut stats = Stats::default();
/// let answer = solve(&machine, &options, &mut stats, &mut ())?;
/// assert_eq!(answer.verdict, Verdict::NoSolutionWithin(4));
/// assert!(stats.total().expanded > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_search::{Budget, Stats, Verdict};
/// Plans for games of one role.
///
/// ```
/// use ggp::{AnyMachine, Backend, Limits, SolveOptions, Stats, Verdict, solve};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/buttons_and_lights.kif"));
/// let game = ggp::Game::from_text("buttons.kif", rules).expect("the rules have no errors");
/// let machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let answer = solve(&machine, &SolveOptions::default(), &mut Stats::default(), &mut ())?;
/// let Verdict::Solved { plans, .. } = answer.verdict else {
///     panic!("the puzzle has a solution");
/// };
/// assert_eq!(plans[0].len(), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_solver::solve::{Answer, Method, SolveError, SolveOptions, solve};
/// A flag that anyone can raise, and a deadline, that end a computation.
///
/// ```
/// use ggp::{AnyMachine, Backend, Limits, SolveOptions, Stats, Stop, Verdict, solve};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/hanoi.kif"));
/// let game = ggp::Game::from_text("hanoi.kif", rules).expect("the rules have no errors");
/// let machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let stop = Stop::new();
/// let mut options = SolveOptions::default();
/// options.budget.stop = stop.clone();
/// stop.raise();
/// let answer = solve(&machine, &options, &mut Stats::default(), &mut ())?;
/// assert!(matches!(answer.verdict, Verdict::OutOfBudget { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_stop::Stop;
/// An independent check of an answer.
///
/// ```
/// use ggp::{Claim, DatalogMachine, Limits, Machine, Score, VerifyLimits, verify};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/buttons_and_lights.kif"));
/// let game = ggp::Game::from_text("buttons_and_lights.kif", rules).expect("the rules have no errors");
/// let mut machine = DatalogMachine::new(&game, Limits::default())?;
/// let start = machine.initial()?;
/// let start = machine.facts(&start);
/// let claim = |plan: &[&str]| Claim::Solved {
///     plans: vec![plan.iter().map(|text| text.to_string()).collect()],
///     optimal: false,
///     all: false,
///     least: None,
/// };
/// let limits = VerifyLimits::default();
/// let right = claim(&["a", "b", "c", "a", "b", "a"]);
/// assert!(verify(&game, &start, Score::MAX, &right, &limits).is_ok());
/// assert!(verify(&game, &start, Score::MAX, &claim(&["a"]), &limits).is_err());
/// # Ok::<(), ggp::PlayError>(())
/// ```
pub use ggp_verify::{Checked, Claim, Limits as VerifyLimits, verify};

/// Explanations of facts.
///
/// ```
/// use ggp::{DatalogMachine, ExplainOptions, Explainer, Limits, Machine, Situation};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif"));
/// let game = ggp::Game::from_text("tic_tac_toe.kif", rules).expect("the rules have no errors");
/// let mut machine = DatalogMachine::new(&game, Limits::default())?;
/// let start = machine.initial()?;
/// let facts = machine.facts(&start);
/// let terms = machine.terms().clone();
/// let mut explainer = Explainer::new(&game, terms, Limits::default(), ExplainOptions::default());
/// let question = explainer.question("terminal")?;
/// let answer = explainer.explain(&question, Situation { facts: &facts, joint: None })?;
/// assert!(explainer.trees(&answer)[0].text().contains("does not hold"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_explain::{ExplainOptions, Explainer, Situation};
/// Drawings of positions.
///
/// ```
/// use ggp::{DatalogMachine, Limits, Machine, Picture};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif"));
/// let game = ggp::Game::from_text("tic_tac_toe.kif", rules).expect("the rules have no errors");
/// let mut machine = DatalogMachine::new(&game, Limits::default())?;
/// let start = machine.initial()?;
/// let facts = machine.facts(&start);
/// let picture = Picture::new(&game, machine.terms(), &[facts.clone()], None);
/// let drawing = picture.draw(machine.terms(), &facts, Default::default());
/// assert_eq!((drawing.boards[0].rows.len(), drawing.boards[0].columns.len()), (3, 3));
/// # Ok::<(), ggp::PlayError>(())
/// ```
pub use ggp_picture::{Drawing, Picture};
/// Mistakes that show up only during play.
///
/// ```
/// use ggp::{AnyMachine, Backend, Limits, PlaycheckOptions, playcheck};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif"));
/// let game = ggp::Game::from_text("tic_tac_toe.kif", rules).expect("the rules have no errors");
/// let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
/// let mut options = PlaycheckOptions::default();
/// options.playouts = 100;
/// options.states = 10_000;
/// let report = playcheck(&mut machine, &Limits::default(), &options)?;
/// assert_eq!((report.space, report.lengths), (Some(5478), Some((5, 9))));
/// # Ok::<(), ggp::PlayError>(())
/// ```
pub use ggp_playcheck::{PlaycheckOptions, Report, playcheck};

/// Programs that play, and matches.
///
/// ```
/// use ggp::{AgentSpec, Brief, Observation, Pace};
///
/// let rules = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/games/nim.kif"));
/// let game = ggp::Game::from_text("nim.kif", rules).expect("the rules have no errors");
/// let left = game.role_named("left").expect("nim has this role");
/// let spec: AgentSpec = "mcts:2000".parse()?;
/// let mut agent = spec.agent(Brief::new(&game, left))?;
/// let pace = Pace::new(None, Some(2000));
/// agent.begin(&pace)?;
/// let advice = agent.choose(&Observation::of_joint_moves(left, Vec::new()), &pace)?;
/// assert!(advice.nodes > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ggp_play::{Advice, Agent, AgentSpec, Brief, Match, Observation, Pace};
