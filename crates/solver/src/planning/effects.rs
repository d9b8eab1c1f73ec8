//! Effects of moves as linear forms over the facts.
//!
//! In: a puzzle. Out: by move, the possible changes of each fact's value (0 or 1)
//! when the move is legal; and the possible values of the facts in a solution. Both
//! are [`Form`]s: sums of a known vector and of one vector from each of several
//! choices. A form may allow more than can happen, but never less. A linear
//! property that holds for all forms therefore holds for the game.
//!
//! A move's form comes from the next-state functions with that move substituted,
//! and from the facts that its legality implies.

mod cube;
mod specialise;

use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::Puzzle;
use cube::{Cube, Links, cubes};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::network::{Literal, Node};
use specialise::Specialiser;

/// A sparse vector: the entries that are not 0, by ascending fact.
pub type Sparse = Vec<(u32, i32)>;

/// The set of sums of one fixed vector and one vector of each choice.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Form {
    /// The fixed vector.
    pub sure: Sparse,
    /// The choices: each a sorted list of at least two vectors.
    pub choices: Vec<Vec<Sparse>>,
}

/// The linear description of a puzzle.
#[derive(Clone, Debug)]
pub struct Effects {
    /// By move: the change of the facts' values; none for moves that are never
    /// legal.
    pub moves: Vec<Option<Form>>,
    /// The facts' values in solutions: each solution belongs to one of these forms.
    pub solutions: Vec<Form>,
    /// By fact: whether it occurs in forms. The others equal a constant or another
    /// fact.
    pub free: Vec<bool>,
}

/// Limit on the number of facts times the number of moves.
const MOST: usize = 40_000_000;
/// Limit on the number of forms of solutions.
const MOST_SOLUTIONS: usize = 32;

impl Effects {
    /// The effects of a puzzle; `None` if it is too large, or after [`Puzzle::stop`].
    pub fn of(puzzle: &Puzzle) -> Option<Arc<Effects>> {
        let known = &puzzle.known.effects;
        known.get(&puzzle.stop, || Effects::make(puzzle).map(Arc::new))
    }

    fn make(puzzle: &Puzzle) -> Option<Effects> {
        let net = &puzzle.net;
        if net.facts().len() * puzzle.moves() > MOST {
            return None;
        }
        let links = Links::new(net);
        let mut free = vec![true; net.facts().len()];
        for &(fact, _) in net.assumed() {
            free[fact] = false;
        }
        let mut specialiser = Specialiser::new(puzzle);
        let mut moves = Vec::with_capacity(puzzle.moves());
        for chosen in 0..puzzle.moves() {
            moves.push(form_of_move(net, &links, &free, &mut specialiser, chosen));
            if specialiser.is_over() {
                return None;
            }
        }
        let solved = (net.network(), puzzle.solved);
        let solved = cubes(solved, &links, MOST_SOLUTIONS, &puzzle.stop);
        let solutions = solved
            .iter()
            .map(|cube| form_of_states(net, &links, &free, cube))
            .collect();
        Some(Effects {
            moves,
            solutions,
            free,
        })
    }
}

/// By move: the change of the facts' values in each case of its legality, with at
/// most `most` cases. None if the puzzle is too large, or after [`Puzzle::stop`].
pub fn cases(puzzle: &Puzzle, most: usize) -> Option<Vec<Vec<Form>>> {
    let net = &puzzle.net;
    let effects = Effects::of(puzzle)?;
    let links = Links::new(net);
    let mut specialiser = Specialiser::new(puzzle);
    let of_move = |chosen: usize| {
        let legal = specialiser.base(net.legal()[0][chosen]);
        let cases = cubes((specialiser.network(), legal), &links, most, &puzzle.stop);
        let form = |cube| form_of_case(net, &links, &effects.free, &mut specialiser, chosen, cube);
        let mut forms: Vec<Form> = cases.iter().map(form).collect();
        forms.sort_unstable();
        forms.dedup();
        (!specialiser.is_over()).then_some(forms)
    };
    (0..puzzle.moves()).map(of_move).collect()
}

fn form_of_move(
    net: &Propnet,
    links: &Links,
    free: &[bool],
    specialiser: &mut Specialiser<'_>,
    chosen: usize,
) -> Option<Form> {
    let legal = specialiser.base(net.legal()[0][chosen]);
    let mut cube = Cube::new(net.facts().len());
    cube.assume(specialiser.network(), links, legal)?;
    Some(form_of_case(net, links, free, specialiser, chosen, &cube))
}

/// The form of a move given the known values of some facts. It is not complete if the specialiser
/// [is over](Specialiser::is_over).
fn form_of_case(
    net: &Propnet,
    links: &Links,
    free: &[bool],
    specialiser: &mut Specialiser<'_>,
    chosen: usize,
    cube: &Cube,
) -> Form {
    let mut form = Unknowns::default();
    // By node: its function under the cube.
    let mut known = FxHashMap::default();
    for (fact, next) in specialiser.touched(chosen) {
        if specialiser.is_over() {
            break;
        }
        if !free[fact] {
            continue;
        }
        let next = next.map(|next| specialiser.under(next, cube, &mut known));
        let next = match next {
            Some(next) if next.is_constant() => Some((None, next == Literal::TRUE)),
            Some(next) => match specialiser.network().node(next.node()) {
                Node::Input(other) if other < free.len() => Some((Some(other), next.is_negated())),
                _ => None,
            },
            None => None,
        };
        if next == Some((Some(fact), false)) {
            continue;
        }
        match next {
            // The next value is a constant, a fact, or a fact's negation.
            Some((other, shift)) => {
                form.known(fact, i32::from(shift));
                if let Some(other) = other {
                    form.unknown(other, fact, if shift { -1 } else { 1 });
                }
            }
            None => form.any(fact),
        }
        match cube.value(fact) {
            Some(value) => form.known(fact, -i32::from(value)),
            None => form.unknown(fact, fact, -1),
        }
    }
    form.into_form(net, links, cube)
}

fn form_of_states(net: &Propnet, links: &Links, free: &[bool], cube: &Cube) -> Form {
    let mut form = Unknowns::default();
    for fact in (0..free.len()).filter(|&fact| free[fact]) {
        match cube.value(fact) {
            Some(value) => form.known(fact, i32::from(value)),
            None => form.unknown(fact, fact, 1),
        }
    }
    form.into_form(net, links, cube)
}

/// A vector that depends on the unknown values of facts.
#[derive(Default)]
struct Unknowns {
    sure: Vec<(u32, i32)>,
    /// By fact: the vector that is added if it holds.
    by_fact: FxHashMap<usize, Vec<(u32, i32)>>,
    /// Facts whose next values are unknown.
    any: Vec<u32>,
}

impl Unknowns {
    fn known(&mut self, fact: usize, value: i32) {
        self.sure.push((fact as u32, value));
    }

    fn unknown(&mut self, of: usize, fact: usize, value: i32) {
        let vector = self.by_fact.entry(of).or_default();
        vector.push((fact as u32, value));
    }

    fn any(&mut self, fact: usize) {
        self.any.push(fact as u32);
    }

    /// Converts to a form. Mutually exclusive unknown facts become a single choice.
    fn into_form(self, net: &Propnet, links: &Links, cube: &Cube) -> Form {
        let mut left: FxHashMap<usize, Sparse> = self
            .by_fact
            .into_iter()
            .map(|(of, vector)| (of, summed(vector)))
            .collect();
        let mut order: Vec<usize> = left.keys().copied().collect();
        order.sort_unstable();
        let (mut sure, mut choices) = (self.sure, Vec::new());
        let mut add = |mut options: Vec<Sparse>| {
            options.sort_unstable();
            options.dedup();
            match options.as_slice() {
                [one] if one.is_empty() => {}
                [one] => sure.extend(one),
                _ => choices.push(options),
            }
        };
        for of in order {
            if !left.contains_key(&of) {
                continue;
            }
            let members = |group: &&usize| {
                let facts = net.exclusive()[**group].facts.iter();
                facts.filter(|fact| left.contains_key(fact)).count()
            };
            let group = links.groups(of).iter().max_by_key(members);
            let mut options = Vec::new();
            let mut complete = false;
            match group {
                Some(&group) => {
                    let group = &net.exclusive()[group];
                    complete = group.exact;
                    for fact in &group.facts {
                        match left.remove(fact) {
                            Some(vector) => options.push(vector),
                            None => complete &= cube.value(*fact) == Some(false),
                        }
                    }
                }
                None => options.extend(left.remove(&of)),
            }
            if !complete {
                options.push(Sparse::new());
            }
            add(options);
        }
        for fact in self.any {
            add(vec![Sparse::new(), vec![(fact, 1)]]);
        }
        choices.sort_unstable();
        Form {
            sure: summed(sure),
            choices,
        }
    }
}

/// Adds up the entries of the same fact.
fn summed(mut vector: Vec<(u32, i32)>) -> Sparse {
    vector.sort_unstable();
    vector.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    vector.retain(|&(_, value)| value != 0);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{Outcome, linear, parity};
    use ggp_engine::propnet::GroundLimits;
    use ggp_engine::propnet::batch::pack;
    use ggp_gdl::game::{Game, Score};

    /// An analysis that is stopped knows nothing, and claims nothing.
    #[test]
    fn a_stopped_analysis_knows_nothing() {
        let game = Game::from_text("test.kif", LIGHTS).expect("the rules are valid");
        let limits = GroundLimits::default();
        let (net, _) = Propnet::ground(&game, &limits).expect("the puzzle is small");
        let start = pack(net.initial().iter().copied());
        let target = Score::new(100).expect("100 is a score");
        let mut puzzle = Puzzle::new(net, start, target).expect("the game has one role");
        let effects = Effects::of(&puzzle).expect("the puzzle is small");
        let solved = linear::solve(&puzzle, &effects);
        assert!(
            matches!(solved, Outcome::Solved { optimal: true, .. }),
            "{solved:?}"
        );
        puzzle.stop = ggp_stop::Stop::raised();
        assert!(Effects::of(&puzzle).is_none());
        assert_eq!(linear::solve(&puzzle, &effects), Outcome::Unknown);
        assert_eq!(parity::refute(&puzzle, &effects, None), Outcome::Unknown);
    }

    /// Three lights in a row; a move flips one and its neighbours. All are off at first.
    const LIGHTS: &str = "
        (role r) (by 1 1) (by 1 2) (by 2 1) (by 2 2) (by 2 3) (by 3 2) (by 3 3)
        (light 1) (light 2) (light 3)
        (<= (base (on ?x)) (light ?x)) (<= (input r (flip ?x)) (light ?x))
        (<= (legal r (flip ?x)) (light ?x))
        (<= (flipped ?y) (does r (flip ?x)) (by ?x ?y))
        (<= (next (on ?x)) (flipped ?x) (not (true (on ?x))))
        (<= (next (on ?x)) (true (on ?x)) (not (flipped ?x)))
        (<= terminal (true (on 1)) (true (on 2)) (true (on 3)))
        (<= (goal r 100) (true (on 1)) (true (on 2)) (true (on 3)))
        (<= (goal r 0) (not (true (on 1))))";

    /// By move: its form, with facts as text.
    fn forms(rules: &str) -> Vec<String> {
        let game = Game::from_text("test.kif", rules).expect("the rules are valid");
        let (mut net, _) =
            Propnet::ground(&game, &GroundLimits::default()).expect("the puzzle is small");
        net.simplify();
        let start = pack(net.initial().iter().copied());
        let target = Score::new(100).expect("100 is a score");
        let puzzle = Puzzle::new(net, start, target).expect("the game has one role");
        let effects = Effects::of(&puzzle).expect("the puzzle is small");
        let terms = puzzle.net.terms();
        let text = |vector: &Sparse| {
            let one = |&(fact, value): &(u32, i32)| {
                let fact = game.text(&terms, puzzle.net.facts()[fact as usize]);
                format!("{value:+}{fact}")
            };
            let mut parts: Vec<String> = vector.iter().map(one).collect();
            parts.sort();
            parts.join(" ")
        };
        let form = |form: &Form| {
            let choice = |options: &Vec<Sparse>| {
                let mut options: Vec<String> = options.iter().map(text).collect();
                options.sort();
                format!(" one of [{}]", options.join(", "))
            };
            let choices: String = form.choices.iter().map(choice).collect();
            text(&form.sure) + &choices
        };
        let moves = effects.moves.iter().flatten().map(form);
        let solutions = effects
            .solutions
            .iter()
            .map(|one| "= ".to_owned() + &form(one));
        moves.chain(solutions).collect()
    }

    #[test]
    fn legality_determines_the_changes() {
        let rules = "(role r) (init (on a)) (init (on b)) (init (on d))
            (<= (legal r jump) (true (on a)) (true (on b)) (not (true (on c))))
            (legal r flip) (legal r clear)
            (<= (next (on c)) (does r jump))
            (<= (next (on a)) (true (on a)) (does r flip))
            (<= (next (on b)) (true (on b)) (does r clear))
            (<= (next (on c)) (true (on c)))
            (<= (next (on d)) (true (on d)) (does r jump))
            (<= (next (on d)) (not (true (on d))) (does r flip))
            (<= terminal (true (on c)) (not (true (on a))))
            (<= (goal r 100) (not (true (on b))))";
        assert_eq!(
            forms(rules),
            [
                "+1(on c) -1(on a) -1(on b)",
                "+1(on d) one of [, -1(on b)] one of [, -2(on d)]",
                " one of [, -1(on a)] one of [, -1(on d)]",
                "= +1(on c) one of [, +1(on d)]",
            ]
        );
    }

    #[test]
    fn exclusive_facts_are_one_choice() {
        let rules = "(role r) (init (at 1)) (place 1) (place 2) (place 3)
            (<= (legal r (go ?x)) (place ?x) (not (true (at ?x))))
            (legal r stay)
            (<= (next (at ?x)) (does r (go ?x)))
            (<= (next (at ?x)) (true (at ?x)) (does r stay))
            (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)))";
        let forms = forms(rules);
        assert!(
            forms.contains(&"+1(at 1) one of [-1(at 2), -1(at 3)]".to_owned()),
            "{forms:?}"
        );
        assert_eq!(forms.last().map(String::as_str), Some("= +1(at 3)"));
    }
}
