//! Trials: a few random matches of rules that are being written.

use ggp_stop::Stop;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::claims::MOST_ROLES;
use super::playouts::{SamplingOptions, play};
use super::tally::Tally;
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};

/// The number of matches that are played before the others.
const FIRST: u64 = 16;

/// The extent of a trial.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct TrialOptions {
    /// Number of random matches.
    pub matches: u64,
    /// Maximum number of joint moves of a match.
    pub depth: usize,
    /// The seed of the matches.
    pub seed: u64,
}

/// The result of a trial.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Number of matches that reached a terminal position.
    pub ended: u64,
    /// Number of matches that did not end within the maximum number of joint moves.
    pub cut: u64,
    /// Number of matches that reached a position in which a role has no legal move.
    pub stuck: u64,
    /// Minimum, mean and maximum number of joint moves of the matches that ended.
    pub lengths: Option<(usize, f64, usize)>,
    /// Mean number of joint moves that are possible in a position; `None` if no move was
    /// possible.
    pub branching: Option<f64>,
    /// The mean score of each role, if some match ended with a score for each.
    pub means: Option<Vec<f64>>,
    /// The faults that the matches showed, at most one of each kind for each role.
    pub faults: Vec<TrialFault>,
}

/// A position that the rules should not allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrialFault {
    /// The kind of the fault.
    pub kind: TrialFaultKind,
    /// The role that it is about.
    pub role: RoleId,
    /// The joint moves that lead there.
    pub path: Vec<Vec<Move>>,
}

/// The kinds of faults.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TrialFaultKind {
    /// The role has no legal move, although the game is not over.
    NoLegalMove,
    /// The game is over, and the role does not have exactly one score.
    Goal,
}

/// Plays random matches, until `stop` ends them. The machine may be interrupted by the same
/// stop; the matches so far count.
///
/// # Errors
///
/// If the rules cannot be evaluated.
pub fn trial(
    machine: &mut AnyMachine,
    options: &TrialOptions,
    stop: &Stop,
) -> Result<Trial, PlayError> {
    let mut tally = Tally::new(machine.game().role_count());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    // Matches are played at the same time. If they are too long for the time, those of a small
    // group may still end.
    let first = options.matches.min(FIRST);
    for playouts in [first, options.matches - first] {
        let sampling = SamplingOptions {
            playouts,
            depth: options.depth,
            stop: &|| stop.is_over(),
            ignored: &[],
            samples: 0,
        };
        match play(machine, &sampling, &mut tally, &mut Vec::new(), &mut random) {
            Ok(()) => {}
            Err(PlayError::Interrupted) if stop.is_over() => break,
            Err(error) => return Err(error),
        }
    }
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut faults = Vec::new();
    for (&role, seen) in roles.iter().zip(&tally.roles).take(MOST_ROLES) {
        let stuck = seen.stuck.as_ref().map(|example| &example.path);
        let goals = seen.faults().map(|example| &example.path);
        let goal = goals.min_by_key(|path| path.len());
        let kinds = [
            (TrialFaultKind::NoLegalMove, stuck),
            (TrialFaultKind::Goal, goal),
        ];
        faults.extend(kinds.into_iter().filter_map(|(kind, path)| {
            let path = path?.to_vec();
            Some(TrialFault { kind, role, path })
        }));
    }
    let mean = |sum: f64, count: u64| sum / count.max(1) as f64;
    let moving = tally.positions - tally.ends - tally.stuck;
    let scored = tally.scored;
    Ok(Trial {
        ended: tally.ends,
        cut: tally.cut,
        stuck: tally.stuck,
        lengths: (tally.lengths)
            .map(|(least, most)| (least, mean(tally.moves as f64, tally.ends), most)),
        branching: (moving > 0).then(|| mean(tally.choices, moving)),
        means: (scored > 0).then(|| {
            let sums = tally.roles.iter().map(|role| role.sum as f64);
            sums.map(|sum| mean(sum, scored)).collect()
        }),
        faults,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{Backend, Limits};
    use ggp_gdl::game::Game;

    fn tried(text: &str, backend: Backend) -> Trial {
        let game = Game::from_text("rules", text).expect("they have no errors");
        let mut machine = AnyMachine::new(&game, backend, Limits::default()).expect("a machine");
        let options = TrialOptions {
            matches: 100,
            depth: 50,
            seed: 1,
        };
        trial(&mut machine, &options, &Stop::new()).expect("they can be evaluated")
    }

    /// A walk of two steps, in which a walker may rest.
    const WALK: &str = "(role w) (init (at 0)) (after 0 1) (after 1 2)
        (<= (legal w go) (true (at ?x)) (after ?x ?y))
        (<= (legal w rest) (true (at 0)))
        (<= (next (at ?y)) (does w go) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?x)) (does w rest) (true (at ?x)))
        (<= terminal (true (at 2)))";

    #[test]
    fn matches_are_counted_and_measured() {
        let text = format!("{WALK} (goal w 70)");
        for backend in [Backend::Propnet, Backend::Datalog] {
            let trial = tried(&text, backend);
            assert_eq!((trial.ended, trial.cut, trial.stuck), (100, 0, 0));
            let (least, mean, most) = trial.lengths.expect("they end");
            assert!(least == 2 && most > 3 && mean > 2.0 && mean < most as f64);
            let branching = trial.branching.expect("there are moves");
            assert!((1.2..1.9).contains(&branching), "{branching}");
            assert_eq!(trial.means, Some(vec![70.0]));
            assert!(trial.faults.is_empty());
        }
    }

    #[test]
    fn faults_have_the_shortest_way_to_them() {
        let two = format!("{WALK} (goal w 0) (<= (goal w 100) (true (at 2)))");
        let stuck = format!("{WALK} (goal w 0)").replace("(true (at 2))", "(true (at 3))");
        for backend in [Backend::Propnet, Backend::Datalog] {
            let faults = tried(&two, backend).faults;
            assert_eq!((faults.len(), faults[0].path.len()), (1, 2));
            assert_eq!(faults[0].kind, TrialFaultKind::Goal);
            let trial = tried(&stuck, backend);
            assert_eq!((trial.ended, trial.stuck), (0, 100));
            assert_eq!(trial.faults[0].kind, TrialFaultKind::NoLegalMove);
            assert_eq!(trial.faults[0].path.len(), 2);
        }
    }

    #[test]
    fn endless_matches_are_cut_and_a_stop_ends_the_trial() {
        let endless = format!("{WALK} (goal w 0)").replace("(after 1 2)", "(after 1 0)");
        for backend in [Backend::Propnet, Backend::Datalog] {
            let trial = tried(&endless, backend);
            assert_eq!((trial.ended, trial.cut, trial.lengths), (0, 100, None));
        }
        let game = Game::from_text("rules", &endless).expect("they have no errors");
        let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).expect("it");
        let options = TrialOptions {
            matches: u64::MAX,
            depth: usize::MAX,
            seed: 0,
        };
        let stop = Stop::after(std::time::Duration::from_millis(50));
        let trial = trial(&mut machine, &options, &stop).expect("they can be evaluated");
        assert_eq!((trial.ended, trial.cut), (0, 0));
    }
}
