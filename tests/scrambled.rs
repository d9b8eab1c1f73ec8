//! Names have no meaning: a game with renamed symbols has the same answers. So does
//! a game with its rules in another order.
//!
//! The rules are rewritten token by token, the machines play in parallel, and every
//! answer is compared after renaming. In one mode numbers are renamed too. Goals
//! are then not scores, but their values still agree up to renaming.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::common::sized;
use ggp_engine::machine::{
    AnyMachine, Backend, Limits, Machine, PlayError, PropnetMachine, canonical_facts,
};
use ggp_engine::propnet::{GroundError, GroundLimits};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, Move, RoleId};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A token of rule text.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Open,
    Close,
    /// A name or a variable, in lower case.
    Word(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut comment = false;
    for c in text.chars().chain(['\n']) {
        if comment {
            comment = c != '\n' && c != '\r';
            continue;
        }
        let blank = c.is_ascii_whitespace() || ['\u{b}', '\u{a0}', '\u{feff}'].contains(&c);
        if blank || ['(', ')', ';'].contains(&c) {
            if !word.is_empty() {
                out.push(Token::Word(std::mem::take(&mut word).to_lowercase()));
            }
            match c {
                '(' => out.push(Token::Open),
                ')' => out.push(Token::Close),
                ';' => comment = true,
                _ => {}
            }
        } else {
            word.push(c);
        }
    }
    out
}

/// The text of tokens, with blanks where needed.
fn text(tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut before = &Token::Open;
    for token in tokens {
        if *before != Token::Open && *token != Token::Close {
            out.push(' ');
        }
        match token {
            Token::Open => out.push('('),
            Token::Close => out.push(')'),
            Token::Word(word) => out.push_str(word),
        }
        before = token;
    }
    out
}

/// The top-level forms of a text.
fn forms(tokens: &[Token]) -> Vec<&[Token]> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Word(_) => {}
        }
        if depth == 0 {
            out.push(&tokens[start..=index]);
            start = index + 1;
        }
    }
    out
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Numbers {
    Keep,
    Rename,
}

/// The new names of old ones, chosen on first use.
struct Renaming<'r, R> {
    numbers: Numbers,
    names: HashMap<String, String>,
    used: HashSet<String>,
    random: &'r mut R,
}

impl<R: Rng> Renaming<'_, R> {
    fn word(&mut self, word: &str) -> String {
        let is_number = word.parse::<f64>().is_ok();
        if word == "<="
            || word == "random"
            || Keyword::of(word).is_some()
            || (is_number && self.numbers == Numbers::Keep)
        {
            return word.to_owned();
        }
        if let Some(known) = self.names.get(word) {
            return known.clone();
        }
        let start = if word.starts_with('?') { "?" } else { "" };
        loop {
            let length = self.random.random_range(3..9);
            let letters = (0..length).map(|_| self.random.random_range(b'a'..=b'z') as char);
            let name = start.chars().chain(letters).collect::<String>();
            if Keyword::of(&name).is_none() && name != "random" && self.used.insert(name.clone()) {
                self.names.insert(word.to_owned(), name.clone());
                return name;
            }
        }
    }

    fn tokens(&mut self, tokens: &[Token]) -> Vec<Token> {
        tokens
            .iter()
            .map(|token| match token {
                Token::Word(word) => Token::Word(self.word(word)),
                other => other.clone(),
            })
            .collect()
    }

    fn texts(&mut self, canonical: Vec<String>) -> Vec<String> {
        canonical
            .iter()
            .map(|term| text(&self.tokens(&tokens(term))))
            .collect()
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Order {
    Keep,
    /// Roles first and in their order, which has a meaning; all other rules
    /// shuffled.
    Shuffle,
}

/// The role facts in their order, then all other forms in random order.
fn shuffled(tokens: &[Token], random: &mut impl Rng) -> Vec<Token> {
    let (mut roles, mut others) = (Vec::new(), Vec::new());
    for form in forms(tokens) {
        match form.get(1) {
            Some(Token::Word(word)) if word == "role" => roles.push(form),
            _ => others.push(form),
        }
    }
    others.shuffle(random);
    roles.extend(others);
    roles.concat()
}

/// Enough for some states of most games. If a limit is reached, the playout ends.
fn limits() -> Limits {
    Limits {
        work: 300_000,
        ground: GroundLimits {
            facts: 100_000,
            instances: 200_000,
            ..GroundLimits::default()
        },
        ..Limits::default()
    }
}

/// The original game, which is compared with renamed rules.
struct Original<'g> {
    game: &'g Game,
    machine: AnyMachine,
    /// The gates of the network, once they are known, or the reason why there is
    /// none.
    gates: OnceCell<Result<usize, GroundError>>,
}

impl Original<'_> {
    fn gates(&self) -> Result<usize, GroundError> {
        let ground = || PropnetMachine::new(self.game, limits());
        let gates = || ground().map(|machine| gates(&machine));
        self.gates.get_or_init(gates).clone()
    }
}

fn gates(machine: &PropnetMachine) -> usize {
    machine.net().network().gates()
}

/// Compares a game with all its variants, by networks, or with other names alone, by Datalog.
/// The original machine is made once.
fn check_all(game: &Game, is_thorough: bool) -> Result<(), String> {
    let machine = AnyMachine::new(game, Backend::Datalog, limits());
    let gates = OnceCell::new();
    let machine = match machine {
        Err(PlayError::TooLarge { .. }) => return Ok(()),
        machine => machine.map_err(|error| error.to_string())?,
    };
    let original = Original {
        game,
        machine,
        gates,
    };
    let context = |what: &'static str| move |message| format!("{what}: {message}");
    let check = |numbers, order, steps| {
        // The network if there is one, so that both backends are compared.
        let backend = match is_thorough {
            true => Backend::Auto,
            false => Backend::Datalog,
        };
        check(&original, backend, numbers, order, steps)
    };
    // Not even the order of moves depends on names.
    check(Numbers::Keep, Order::Keep, 6).map_err(context("other names"))?;
    if !is_thorough {
        return Ok(());
    }
    // Numbers are names like others.
    check(Numbers::Rename, Order::Keep, 3).map_err(context("other numbers"))?;
    check(Numbers::Keep, Order::Shuffle, 4).map_err(context("another order of rules"))
}

fn check(
    original: &Original<'_>,
    backend: Backend,
    numbers: Numbers,
    order: Order,
    steps: usize,
) -> Result<(), String> {
    let game = original.game;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(crate::common::seed());
    let mut renaming = Renaming {
        numbers,
        names: HashMap::new(),
        used: HashSet::new(),
        random: &mut random.clone(),
    };
    let mut rules = renaming.tokens(&tokens(game.sources().files()[0].text()));
    if order == Order::Shuffle {
        rules = shuffled(&rules, &mut random);
    }
    let other = Game::from_text("scrambled", &text(&rules))
        .map_err(|reading| format!("refused: {:?}", reading.findings))?;
    let other = AnyMachine::new(&other, backend, limits());
    let outcome = other
        .map_err(Failure::Play)
        .and_then(|other| compare(original, other, &mut renaming, order, steps, &mut random));
    match outcome {
        // Another order may cost more. With the same order, both evaluations reach
        // the limit together.
        Err(Failure::Play(PlayError::TooLarge { .. })) | Ok(()) => Ok(()),
        Err(Failure::Play(error)) => Err(error.to_string()),
        Err(Failure::Differs(message)) => Err(message),
    }
}

enum Failure {
    Play(PlayError),
    Differs(String),
}

impl From<GroundError> for Failure {
    fn from(reason: GroundError) -> Self {
        Failure::Play(reason.into())
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        Failure::Play(error)
    }
}

fn compare<R: Rng>(
    original: &Original<'_>,
    mut right: AnyMachine,
    renaming: &mut Renaming<'_, R>,
    order: Order,
    steps: usize,
    random: &mut impl Rng,
) -> Result<(), Failure> {
    // Both are grounded before anything else affects the order of terms.
    if let (AnyMachine::Propnet(right), Order::Keep) = (&right, order) {
        let (left, right) = (original.gates()?, gates(right));
        if left != right {
            return Err(Failure::Differs(format!("gates: {left} and {right}")));
        }
    }
    let mut left = original.machine.clone();
    let roles: Vec<RoleId> = original.game.roles().collect();
    let mut states = (left.initial()?, right.initial()?);
    for step in 0..=steps {
        let equal = |what: &str, same: bool| match same {
            true => Ok(()),
            false => Err(Failure::Differs(format!("{what} at step {step}"))),
        };
        let mut facts = renaming.texts(canonical_facts(&left, &states.0));
        facts.sort_unstable();
        equal("facts", facts == canonical_facts(&right, &states.1))?;
        let terminal = left.is_terminal(&states.0)?;
        equal("terminal", terminal == right.is_terminal(&states.1)?)?;
        for &role in &roles {
            let goals = left.goal_values(&states.0, role)?;
            let goals = values(&left, goals);
            let others = right.goal_values(&states.1, role)?;
            let others = values(&right, others);
            equal(
                "goals",
                in_order(renaming.texts(goals), order) == in_order(others, order),
            )?;
        }
        if terminal || step == steps {
            break;
        }
        let (mut joint, mut other_joint) = (Vec::new(), Vec::new());
        for &role in &roles {
            let (mut moves, mut others) = (Vec::new(), Vec::new());
            match left.legal(&states.0, role, &mut moves) {
                Err(PlayError::NoLegalMove(_)) => {
                    let other = right.legal(&states.1, role, &mut others);
                    return equal("no move", matches!(other, Err(PlayError::NoLegalMove(_))));
                }
                outcome => outcome?,
            }
            right.legal(&states.1, role, &mut others)?;
            let texts = renaming.texts(move_texts(&left, &moves));
            let other_texts = move_texts(&right, &others);
            let same = in_order(texts.clone(), order) == in_order(other_texts.clone(), order);
            equal("legal moves", same)?;
            let chosen = random.random_range(0..moves.len());
            let theirs = other_texts.iter().position(|t| *t == texts[chosen]);
            joint.push(moves[chosen]);
            other_joint.push(others[theirs.expect("the lists are equal")]);
        }
        states = (
            left.next(&states.0, &joint)?,
            right.next(&states.1, &other_joint)?,
        );
    }
    Ok(())
}

/// Canonical texts in the machine's order.
fn move_texts(machine: &AnyMachine, moves: &[Move]) -> Vec<String> {
    moves.iter().map(|chosen| machine.text(*chosen)).collect()
}

fn values(machine: &AnyMachine, values: Vec<ggp_gdl::terms::TermId>) -> Vec<String> {
    let moves: Vec<Move> = values.into_iter().map(Move::new).collect();
    move_texts(machine, &moves)
}

/// The list in comparable form: sorted if the order of the rules changed.
fn in_order(mut list: Vec<String>, order: Order) -> Vec<String> {
    if order == Order::Shuffle {
        list.sort_unstable();
    }
    list
}

#[test]
fn renaming_and_reordering_change_no_answer() {
    renaming_changes_no_answer(crate::common::own_games(), sized(4, 1));
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn renaming_changes_no_answer(games: Vec<(String, Game)>, each: usize) {
    // Most games have other names only, and no network.
    let names = games.iter().map(|(name, _)| name.clone());
    let thorough: HashSet<String> = names
        .enumerate()
        .filter(|(index, _)| index % each == 0)
        .map(|(_, name)| name)
        .collect();
    crate::common::for_each(&games, |name, game| {
        check_all(game, thorough.contains(name))
    });
}

#[test]
fn tokens_can_be_joined_to_text_again() {
    let rules = "(a; x )\n (B ?X))c ;;\r(d)";
    let tokens = tokens(rules);
    assert_eq!(text(&tokens), "(a (b ?x)) c (d)");
    assert_eq!(forms(&tokens).len(), 3);
}
