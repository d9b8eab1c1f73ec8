//! Symmetries of a game: permutations of its facts, moves and roles that preserve the rules.
//!
//! In: a network. Out: permutations under which legal moves, successors, ends and scores of
//! random positions are as they must be. The first position plays no part, so roles that differ
//! only by who begins are exchanged. What is learned of one position is true of its images.
//!
//! Candidates are the automorphisms of a graph of the network's functions, and of a graph of what
//! they depend on. Each is then tried in
//! the positions of random games. That proves nothing, but a wrong one would only spoil values,
//! which are tested by matches before they count.

use ggp_engine::automorphism::{Graph, generators};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::function_graph::FunctionGraph;
use ggp_engine::propnet::network::{Literal, Node};
use ggp_stop::Stop;
use rand::SeedableRng;
use rand::seq::IteratorRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The most edges that the search for automorphisms visits.
const MOST_WORK: usize = 20_000_000;
/// The most gates that are visited for the graph of dependence.
const MOST_VISITS: usize = 20_000_000;
/// The most symmetries, without the identity.
const MOST: usize = 15;
/// The random games in which a candidate is tried, and their most joint moves.
const LANES: usize = 64;
const PLIES: usize = 100;
/// The most bytes of the positions of these games.
const MOST_BYTES: usize = 1 << 25;

/// A permutation that preserves the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symmetry {
    /// By fact: its image.
    facts: Vec<u32>,
    /// By role and move: the image of the move, a number over all roles.
    moves: Vec<u32>,
    /// By role: its image.
    roles: Vec<u32>,
}

impl Symmetry {
    /// The image of a position.
    pub fn image(&self, state: &[u64]) -> Packed {
        let mut image = vec![0; state.len()];
        for (word, &bits) in state.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let fact = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let to = self.facts[fact] as usize;
                image[to / 64] |= 1 << (to % 64);
            }
        }
        image
    }

    /// The targets of the image of a position, given those of the position.
    pub fn targets(&self, targets: &[f32]) -> Vec<f32> {
        match *targets {
            [share] if self.roles.len() == 2 && self.roles[0] == 1 => vec![1.0 - share],
            [share] => vec![share],
            _ => {
                let mut image = vec![0.0; targets.len()];
                for (target, &to) in targets.iter().zip(&self.roles) {
                    image[to as usize] = *target;
                }
                image
            }
        }
    }

    fn then(&self, other: &Symmetry) -> Symmetry {
        let after = |one: &[u32], other: &[u32]| one.iter().map(|&to| other[to as usize]).collect();
        Symmetry {
            facts: after(&self.facts, &other.facts),
            moves: after(&self.moves, &other.moves),
            roles: after(&self.roles, &other.roles),
        }
    }

    fn is_identity(&self) -> bool {
        (0..).zip(&self.facts).all(|(fact, &to)| fact == to)
    }
}

/// Some symmetries of a game, without the identity. Facts that do not vary stay as they are.
/// `seed` chooses the positions in which symmetries are tried.
pub(crate) fn symmetries(
    net: &Propnet,
    varies: &[bool],
    engine: Engine,
    seed: u64,
    stop: &Stop,
) -> Vec<Symmetry> {
    let (facts, inputs) = (net.facts().len(), net.network().inputs());
    let roles = net.goals().len();
    let mut found: Vec<Symmetry> = Vec::new();
    let mut check = None;
    for draw in [functions, dependence] {
        // The second graph is coarser: its automorphisms often fail in positions that random games
        // rarely reach.
        if !found.is_empty() {
            break;
        }
        let Some((graph, first_role)) = draw(net, varies, stop) else {
            continue;
        };
        let images = |generator: &[u32], first: usize, count: usize| -> Vec<u32> {
            let images = generator[first..][..count].iter();
            images.map(|&to| to - first as u32).collect()
        };
        for generator in generators(&graph, MOST_WORK, stop) {
            let candidate = Symmetry {
                facts: images(&generator, 0, facts),
                moves: images(&generator, facts, inputs - facts),
                roles: images(&generator, first_role as usize, roles),
            };
            if candidate.is_identity() || found.contains(&candidate) {
                continue;
            }
            if check.is_none() {
                check = Check::new(net, engine, seed, stop);
            }
            let Some(check) = check.as_mut().filter(|_| found.len() < MOST) else {
                break;
            };
            if check.holds(net, &candidate, stop) {
                found.push(candidate);
            }
        }
    }
    let kept = found.len();
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        for generator in 0..kept {
            let product = found[next].then(&found[generator]);
            if found.len() < MOST && !product.is_identity() && !found.contains(&product) {
                found.push(product);
            }
        }
        next += 1;
    }
    found.truncate(MOST);
    found
}

/// The kinds of vertices besides functions.
#[derive(Copy, Clone)]
enum Colour {
    Fact,
    Move,
    Role,
    /// The role that moves at random.
    Chance,
    Terminal,
    Next,
    Legal,
    /// The first of three, one for each sign.
    Middle,
    /// The first of the colours of scores, and of those of facts that do not vary.
    Goal = Colour::Middle as isize + 3,
}

/// More than the number of scores.
const MOST_SCORES: u32 = 1 << 10;

impl Colour {
    fn number(self) -> u32 {
        FunctionGraph::FREE + self as u32
    }
}

/// A graph whose first vertices are the facts and the moves, and the first vertex of a role.
type Drawn = (Graph, u32);

/// The colours of facts and moves.
fn colours<'a>(net: &'a Propnet, varies: &'a [bool]) -> impl Iterator<Item = u32> + 'a {
    (0..net.network().inputs()).map(|input| match varies.get(input) {
        Some(true) => Colour::Fact.number(),
        Some(false) => Colour::Goal.number() + MOST_SCORES + input as u32,
        None => Colour::Move.number(),
    })
}

/// The colours of roles.
fn role_colours(net: &Propnet) -> impl Iterator<Item = u32> + '_ {
    net.game()
        .roles()
        .map(|role| match net.game().is_random(role) {
            true => Colour::Chance.number(),
            false => Colour::Role.number(),
        })
}

/// The functions of a game as a graph. `None` if it is too large, or `stop` is over.
fn functions(net: &Propnet, varies: &[bool], stop: &Stop) -> Option<Drawn> {
    let colours = colours(net, varies);
    let mut graph = FunctionGraph::new(net.network(), colours, net.roots(), net.exclusive(), stop)?;
    let roles = role_colours(net);
    let roles: Vec<u32> = roles.map(|colour| graph.vertex(colour, &[])).collect();
    for output in outputs(net, varies) {
        let function = graph.literal(output.literal);
        // The middle tells the owner from what the function depends on.
        let of = output
            .of
            .iter()
            .copied()
            .chain(output.role.map(|role| roles[role]));
        let of: Vec<u32> = of.collect();
        let middle = graph.vertex(output.colour, &of);
        graph.vertex(Colour::Middle.number(), &[middle, function]);
        if !graph.is_small() || stop.is_over() {
            return None;
        }
    }
    Some((graph.finish()?, roles.first().copied()?))
}

/// The inputs that each function depends on, and with which sign, as a graph. It tells less than
/// [`functions`], and does not depend on gates. `None` if it is too large, or `stop` is over.
fn dependence(net: &Propnet, varies: &[bool], stop: &Stop) -> Option<Drawn> {
    let mut graph = Graph::default();
    for colour in colours(net, varies) {
        graph.vertex(colour);
    }
    let roles = role_colours(net);
    let roles: Vec<u32> = roles.map(|colour| graph.vertex(colour)).collect();
    let mut support = Support::new(net);
    for output in outputs(net, varies) {
        let middle = graph.vertex(output.colour);
        output.of.iter().for_each(|&of| graph.edge(middle, of));
        output
            .role
            .iter()
            .for_each(|&role| graph.edge(middle, roles[role]));
        for (sign, inputs) in support.of(output.literal)?.into_iter().enumerate() {
            let vertex = graph.vertex(Colour::Middle.number() + sign as u32);
            graph.edge(middle, vertex);
            inputs.iter().for_each(|&input| graph.edge(vertex, input));
        }
        if graph.size() > FunctionGraph::MOST_SIZE || stop.is_over() {
            return None;
        }
    }
    Some((graph, roles.first().copied()?))
}

/// A function of the network, and what it is about.
struct Output {
    colour: u32,
    /// The fact or the move.
    of: Option<u32>,
    role: Option<usize>,
    literal: Literal,
}

/// All functions of a network.
fn outputs(net: &Propnet, varies: &[bool]) -> Vec<Output> {
    let of = |colour: Colour, of: Option<usize>, role: Option<usize>, literal: Literal| Output {
        colour: colour.number(),
        of: of.map(|of| of as u32),
        role,
        literal,
    };
    let mut outputs = vec![of(Colour::Terminal, None, None, net.terminal())];
    for (fact, &next) in net.next().iter().enumerate() {
        if varies[fact] {
            outputs.push(of(Colour::Next, Some(fact), None, next));
        }
    }
    for (role, legal) in net.legal().iter().enumerate() {
        for (chosen, &legal) in legal.iter().enumerate() {
            let chosen = net.move_input(role, chosen);
            outputs.push(of(Colour::Legal, Some(chosen), Some(role), legal));
        }
    }
    let (game, terms) = (net.game(), net.terms());
    for (role, goals) in net.goals().iter().enumerate() {
        for &(value, literal) in goals {
            let score = game.score(&terms, value);
            let score = score.map_or(MOST_SCORES - 1, |score| u32::from(score.get()));
            let mut goal = of(Colour::Goal, None, Some(role), literal);
            goal.colour += score;
            outputs.push(goal);
        }
    }
    outputs
}

/// Finds the inputs that literals depend on.
struct Support<'n> {
    net: &'n Propnet,
    /// By literal: the last question in which it was seen.
    seen: Vec<u32>,
    question: u32,
    visits: usize,
}

impl<'n> Support<'n> {
    fn new(net: &'n Propnet) -> Self {
        Support {
            net,
            seen: vec![0; 2 * net.network().len()],
            question: 0,
            visits: 0,
        }
    }

    /// The inputs that a literal needs true, those that it needs false, and those on which it
    /// depends in both ways. `None` if that is too much work.
    fn of(&mut self, literal: Literal) -> Option<[Vec<u32>; 3]> {
        let network = self.net.network();
        self.question += 1;
        let mut pending = vec![literal];
        let mut reached = Vec::new();
        while let Some(literal) = pending.pop() {
            let place = 2 * literal.node() + usize::from(literal.is_negated());
            if self.seen[place] == self.question {
                continue;
            }
            self.seen[place] = self.question;
            self.visits += 1;
            let negated = literal.is_negated();
            match network.node(literal.node()) {
                Node::False => (),
                Node::Input(input) => reached.push((input as u32, negated)),
                Node::Feedback(feedback) => {
                    pending.push(network.definition(feedback).negated_if(negated));
                }
                Node::And(operands) => {
                    pending.extend(operands.iter().map(|operand| operand.negated_if(negated)));
                }
                Node::Xor(left, right) => pending.extend([left, !left, right, !right]),
            }
        }
        if self.visits > MOST_VISITS {
            return None;
        }
        reached.sort_unstable();
        let mut found = [const { Vec::new() }; 3];
        for group in reached.chunk_by(|a, b| a.0 == b.0) {
            let sign = match *group {
                [(_, is_negated)] => usize::from(is_negated),
                _ => 2,
            };
            found[sign].push(group[0].0);
        }
        Some(found)
    }
}

/// Positions of random games, with what is legal and follows there.
struct Check {
    /// The network in the positions, and in their images.
    one: Batch,
    other: Batch,
    /// By ply: the states and the joint moves.
    games: Vec<(Vec<Packed>, Vec<usize>)>,
}

impl Check {
    /// `None` if `stop` is over before there is a position.
    fn new(net: &Propnet, engine: Engine, seed: u64, stop: &Stop) -> Option<Check> {
        let mut one = Batch::until(net, LANES, engine, stop)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut games = Vec::new();
        one.restart();
        let initial = one.initial().to_vec();
        let plies = PLIES.min(MOST_BYTES / (LANES * 8 * initial.len()).max(1));
        for _ in 0..plies.max(1) {
            if stop.is_over() {
                break;
            }
            let mut joints = Vec::with_capacity(LANES * one.roles());
            for lane in 0..LANES {
                if one.is_terminal(lane) {
                    one.set_state(lane, &initial);
                }
            }
            for lane in 0..LANES {
                for role in 0..one.roles() {
                    joints.push(one.legal_moves(lane, role).choose(&mut random).unwrap_or(0));
                }
            }
            games.push((one.states(LANES), joints.clone()));
            one.step(&joints);
        }
        (!games.is_empty()).then(|| Check {
            other: one.clone(),
            one,
            games,
        })
    }

    /// True if a candidate preserves what is known of all positions.
    fn holds(&mut self, net: &Propnet, candidate: &Symmetry, stop: &Stop) -> bool {
        let games = std::mem::take(&mut self.games);
        let holds = games
            .iter()
            .all(|(states, joints)| !stop.is_over() && self.agree(net, candidate, states, joints));
        self.games = games;
        holds
    }

    fn agree(
        &mut self,
        net: &Propnet,
        candidate: &Symmetry,
        states: &[Packed],
        joints: &[usize],
    ) -> bool {
        let images = |states: &[Packed]| -> Vec<Packed> {
            states.iter().map(|state| candidate.image(state)).collect()
        };
        let roles = candidate.roles.len();
        let first = |role: usize| net.move_input(role, 0) - net.facts().len();
        let image = |role: usize, chosen: usize| {
            let to = candidate.roles[role] as usize;
            (candidate.moves[first(role) + chosen] as usize).checked_sub(first(to))
        };
        self.one.set_states(states);
        self.other.set_states(&images(states));
        let over = self.one.terminal().to_vec();
        if over != self.other.terminal() {
            return false;
        }
        for role in 0..roles {
            let to = candidate.roles[role] as usize;
            for chosen in 0..self.one.moves(role) {
                let Some(becomes) = image(role, chosen) else {
                    return false;
                };
                let rows = self.one.legal(role, chosen).iter();
                let mut rows = rows.zip(self.other.legal(to, becomes)).zip(&over);
                if rows.any(|((one, other), over)| (one ^ other) & !over != 0) {
                    return false;
                }
            }
            let score = |role: usize, value: usize| net.goals()[role][value].0;
            for value in 0..net.goals()[role].len() {
                let same = |other: &usize| score(to, *other) == score(role, value);
                let Some(becomes) = (0..net.goals()[to].len()).find(same) else {
                    return false;
                };
                let rows = self.one.goal(role, value).iter();
                let mut rows = rows.zip(self.other.goal(to, becomes)).zip(&over);
                if rows.any(|((one, other), over)| (one ^ other) & over != 0) {
                    return false;
                }
            }
        }
        let mut becomes = vec![0; joints.len()];
        for (lane, joint) in joints.chunks(roles).enumerate() {
            for (role, &chosen) in joint.iter().enumerate() {
                let to = candidate.roles[role] as usize;
                becomes[lane * roles + to] = image(role, chosen).expect("it was found above");
            }
        }
        self.one.step(joints);
        self.other.step(&becomes);
        // Nothing follows where the game is over.
        let after = images(&self.one.states(LANES));
        let after = after.iter().zip(self.other.states(LANES)).enumerate();
        let is_over = |lane: usize| over[lane / 64] >> (lane % 64) & 1 == 1;
        after
            .into_iter()
            .all(|(lane, (one, other))| is_over(lane) || *one == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::propnet::GroundLimits;
    use ggp_gdl::game::Game;

    use crate::positions::Positions;
    use crate::survey::survey;

    fn network(text: &str) -> Propnet {
        let game = Game::from_text("game", text).expect("the rules are valid");
        let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
        net.simplify();
        net
    }

    fn bundled(file: &str) -> Propnet {
        let path = format!("{}/../../games/{file}.kif", env!("CARGO_MANIFEST_DIR"));
        network(&std::fs::read_to_string(path).expect("the game is there"))
    }

    fn found(net: &Propnet, stop: &Stop) -> Vec<Symmetry> {
        let mut positions = Positions::new(net, Engine::Auto);
        let survey = survey(&mut positions, net.facts().len(), 1, &Stop::new());
        symmetries(net, &survey.varies, Engine::Auto, 1, stop)
    }

    #[test]
    fn boards_are_mirrored_and_roles_exchanged() {
        let exchanges = |all: &[Symmetry]| {
            let exchange = all.iter().filter(|symmetry| symmetry.roles == [1, 0]);
            exchange.count()
        };
        // All turns and mirrors of the board; in amazons, with and without an exchange.
        for (file, count, exchanged) in [
            ("tic_tac_toe", 7, 0),
            ("othello", 7, 0),
            ("amazons", 15, 8),
            ("connect_four", 1, 0),
            ("breakthrough_small", 1, 0),
            ("chomp", 0, 0),
        ] {
            let all = found(&bundled(file), &Stop::new());
            assert_eq!((all.len(), exchanges(&all)), (count, exchanged), "{file}");
        }
    }

    #[test]
    fn what_functions_depend_on_shows_symmetries_that_their_gates_hide() {
        let net = bundled("othello");
        let varies = vec![true; net.facts().len()];
        let count = |drawn: Option<Drawn>| {
            drawn.map(|(graph, _)| generators(&graph, MOST_WORK, &Stop::new()).len())
        };
        assert_eq!(
            count(functions(&net, &varies, &Stop::new())).unwrap_or(0),
            0
        );
        assert_eq!(count(dependence(&net, &varies, &Stop::new())), Some(2));
    }

    #[test]
    fn chance_is_never_exchanged_with_a_player() {
        let rules = |other: &str| {
            format!(
                "(role a) (role {other}) (<= (legal ?r (say ?b)) (role ?r) (bit ?b)) (bit 0) (bit 1)
                (<= (next (said ?r ?b)) (does ?r (say ?b))) (init (said a 0)) (init (said {other} 0))
                (<= terminal (true (said ?r 1))) (<= (goal ?r 100) (true (said ?r 1)))
                (<= (goal ?r 0) (role ?r) (not (true (said ?r 1))))"
            )
        };
        let exchanges = |other: &str| {
            let all = found(&network(&rules(other)), &Stop::new());
            all.iter().any(|symmetry| symmetry.roles == [1, 0])
        };
        assert!(exchanges("b"));
        assert!(!exchanges("random"));
    }

    #[test]
    fn a_stop_ends_the_search() {
        let stop = Stop::new();
        stop.raise();
        assert!(found(&bundled("amazons"), &stop).is_empty());
    }

    #[test]
    fn targets_follow_the_roles() {
        let exchange = Symmetry {
            facts: vec![1, 0, 2],
            moves: Vec::new(),
            roles: vec![1, 0],
        };
        assert_eq!(exchange.image(&[0b101]), [0b110]);
        assert_eq!(exchange.targets(&[0.25]), [0.75]);
        assert_eq!(exchange.targets(&[0.25, 0.5]), [0.5, 0.25]);
        assert!(exchange.then(&exchange).is_identity());
    }
}
