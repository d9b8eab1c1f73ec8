//! States drawn in letters, by the structure of the rules alone.
//!
//! In: a [`Game`]. Out: the boards that its facts make up: facts of two ordered
//! arguments, such that a state has at most one for each pair, or any that say
//! nothing else. Names mean nothing; numbers and successions give the order. What
//! the rules say of a place for good is shown where the state says nothing. What is
//! on no board is listed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::analysis::chains::Chains;
use crate::analysis::domains::Domains;
use crate::check::Keyword;
use crate::game::Game;
use crate::ground::{TermId, Terms};
use crate::program::{FunctorId, Literal, RelationId, Rule, Term};

/// Rows or columns that a board may have.
const LARGEST: usize = 64;
/// Contents that get symbols of their own.
const SYMBOLS: usize = 64;

/// The boards of a game.
#[derive(Clone, Debug)]
pub struct Picture {
    game: Game,
    boards: Vec<Grid>,
}

/// By row and column: what is printed there, if anything.
type Printed = Vec<Vec<Option<String>>>;

/// A board.
#[derive(Clone, Debug)]
struct Grid {
    /// Top to bottom, and left to right.
    rows: Vec<FunctorId>,
    columns: Vec<FunctorId>,
    layers: Vec<Layer>,
    /// Pairs, by row and column, at which something can be; all if it is not known.
    possible: Option<Vec<Vec<bool>>>,
    /// By row and column: what facts of the rules say of a place, shown where the
    /// state says nothing.
    printed: Printed,
    /// What most of the board holds at first: nothing worth looking at.
    background: Option<String>,
    /// What is written for each content.
    symbols: FxHashMap<String, String>,
}

/// The facts of one functor.
#[derive(Clone, Debug)]
struct Layer {
    functor: FunctorId,
    /// Its arguments for row and column.
    row: usize,
    column: usize,
}

/// A state as boards and facts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Drawing {
    /// In the order of the rules.
    pub boards: Vec<DrawnBoard>,
    /// Canonical texts of the facts that are on no board, in the order of the rules.
    pub facts: Vec<String>,
}

/// A board of a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnBoard {
    /// Names of the rows, top to bottom.
    pub rows: Vec<String>,
    /// Names of the columns, left to right.
    pub columns: Vec<String>,
    /// By row and column: what is there; none where there is no place.
    pub contents: Vec<Vec<Option<Vec<String>>>>,
    /// What is written for a content.
    pub symbols: BTreeMap<String, String>,
}

impl Picture {
    /// The boards of a game, given the facts of its first state and, if they are
    /// known, all that can ever hold.
    pub fn new(game: &Game, terms: &Terms, first: &[TermId], possible: Option<&[TermId]>) -> Self {
        let mut picture = Picture {
            game: game.clone(),
            boards: Vec::new(),
        };
        let (Some(domains), Some(holds)) = (Domains::of(game), game.keyword(Keyword::True)) else {
            return picture;
        };
        let chains = Chains::of(game);
        for functor in domains.column(holds, 0) {
            let Some((layer, rows, columns)) =
                layer(game, &domains, &chains, functor, terms, first)
            else {
                continue;
            };
            let is_its = |grid: &&mut Grid| grid.rows == rows && grid.columns == columns;
            match picture.boards.iter_mut().find(is_its) {
                Some(grid) => grid.layers.push(layer),
                None => picture.boards.push(Grid {
                    rows,
                    columns,
                    layers: vec![layer],
                    printed: Vec::new(),
                    possible: None,
                    background: None,
                    symbols: FxHashMap::default(),
                }),
            }
        }
        for grid in &mut picture.boards {
            grid.print(game, &domains);
            grid.furnish(game, &domains, terms, first, possible);
        }
        picture
    }

    /// Whether there is a board.
    pub fn has_boards(&self) -> bool {
        !self.boards.is_empty()
    }

    /// A state, given its facts.
    pub fn draw(&self, terms: &Terms, facts: &[TermId]) -> Drawing {
        let mut facts = facts.to_vec();
        facts.sort_by(|a, b| self.game.compare_terms(terms, *a, *b));
        let boards = self.boards.iter().map(|grid| {
            let mut contents: Vec<Vec<Option<Vec<String>>>> = (0..grid.rows.len())
                .map(|row| {
                    let columns = 0..grid.columns.len();
                    let is_place = |column: usize| {
                        let possible = grid.possible.as_ref();
                        possible.is_none_or(|possible| possible[row][column])
                    };
                    columns
                        .map(|column| is_place(column).then(Vec::new))
                        .collect()
                })
                .collect();
            facts.retain(|&fact| match grid.place(terms, fact) {
                None => true,
                Some((layer, row, column)) => {
                    let content = content(&self.game, terms, layer, fact);
                    if grid.background.as_ref() != Some(&content) {
                        contents[row][column].get_or_insert_default().push(content);
                    }
                    false
                }
            });
            for (row, printed) in contents.iter_mut().zip(&grid.printed) {
                for (place, printed) in row.iter_mut().zip(printed) {
                    if place.as_ref().is_none_or(Vec::is_empty) && printed.is_some() {
                        *place = Some(printed.iter().cloned().collect());
                    }
                }
            }
            let names = |names: &[FunctorId]| names.iter().map(|f| name(&self.game, *f)).collect();
            DrawnBoard {
                rows: names(&grid.rows),
                columns: names(&grid.columns),
                contents,
                symbols: grid.symbols.clone().into_iter().collect(),
            }
        });
        Drawing {
            boards: boards.collect(),
            facts: facts
                .iter()
                .map(|fact| self.game.canonical(terms, *fact))
                .collect(),
        }
    }
}

impl Grid {
    /// Where a fact stands, if it does.
    fn place(&self, terms: &Terms, fact: TermId) -> Option<(&Layer, usize, usize)> {
        let functor = terms.functor(fact);
        let layer = self.layers.iter().find(|layer| layer.functor == functor)?;
        let arguments = terms.arguments(fact);
        let at = |names: &[FunctorId], argument: usize| {
            let name = terms.functor(arguments[argument]);
            names.iter().position(|other| *other == name)
        };
        let row = at(&self.rows, layer.row)?;
        Some((layer, row, at(&self.columns, layer.column)?))
    }

    /// Finds what is printed: a relation of nothing but facts, each of a place and one
    /// word, that does not say how the game begins. One whose words the state says as
    /// well comes first.
    fn print(&mut self, game: &Game, domains: &Domains) {
        let init = game.keyword(Keyword::Init);
        let mut begins = vec![false; game.rules().arity.len()];
        for rule in &game.rules().rules {
            if Some(rule.head.relation) == init {
                for literal in &rule.body {
                    literal.for_each_atom(&mut |atom, _| begins[atom.relation.index()] = true);
                }
            }
        }
        let mut said = Vec::new();
        for layer in &self.layers {
            let arity = game.functors().functor(layer.functor).arity();
            let others = (0..arity).filter(|k| *k != layer.row && *k != layer.column);
            said.extend(others.flat_map(|k| domains.argument(layer.functor, k)));
        }
        for relation in game.rules().relations() {
            if begins[relation.index()] {
                continue;
            }
            let Some((printed, words)) = self.printed_by(game, relation) else {
                continue;
            };
            let is_said = words.iter().any(|word| said.contains(word));
            if self.printed.is_empty() || is_said {
                self.printed = printed;
            }
            if is_said {
                return;
            }
        }
    }

    /// What a relation prints, if it does, and the words.
    fn printed_by(&self, game: &Game, relation: RelationId) -> Option<(Printed, Vec<FunctorId>)> {
        let rules = game.rules();
        if rules.arity[relation.index()] != 3
            || rules
                .rules
                .iter()
                .any(|rule| rule.head.relation == relation)
        {
            return None;
        }
        let facts: Vec<&[TermId]> = (rules.facts.iter())
            .filter(|fact| fact.relation == relation)
            .map(|fact| &*fact.arguments)
            .collect();
        let Layer { row, column, .. } = self.layers[0];
        let at = |names: &[FunctorId], term: TermId| {
            let functor = game.terms().functor(term);
            names.iter().position(|name| *name == functor)
        };
        // Of three, the coordinates come in the order that they have in the state.
        let orders = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];
        orders.into_iter().find_map(|[one, two, word]| {
            let (a, b) = if row < column { (one, two) } else { (two, one) };
            let mut printed = vec![vec![None; self.columns.len()]; self.rows.len()];
            let mut words = Vec::new();
            for fact in &facts {
                let (row, column) = (at(&self.rows, fact[a])?, at(&self.columns, fact[b])?);
                let text = game.canonical(game.terms(), fact[word]);
                words.push(game.terms().functor(fact[word]));
                if printed[row][column].replace(text).is_some() {
                    return None;
                }
            }
            (!facts.is_empty()).then_some((printed, words))
        })
    }

    /// Finds where something can be, the background and the symbols.
    fn furnish(
        &mut self,
        game: &Game,
        domains: &Domains,
        terms: &Terms,
        first: &[TermId],
        possible: Option<&[TermId]>,
    ) {
        if let Some(possible) = possible {
            let mut places = vec![vec![false; self.columns.len()]; self.rows.len()];
            for &fact in possible.iter().chain(first) {
                if let Some((_, row, column)) = self.place(terms, fact) {
                    places[row][column] = true;
                }
            }
            self.possible = Some(places);
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for &fact in first {
            if let Some((layer, ..)) = self.place(terms, fact)
                && terms.arguments(fact).len() > 2
            {
                *counts.entry(content(game, terms, layer, fact)).or_default() += 1;
            }
        }
        let all = self.rows.len() * self.columns.len();
        let most = counts.into_iter().find(|(_, count)| 2 * count > all);
        self.background = most.map(|(content, _)| content);
        let mut contents: Vec<String> = Vec::new();
        for layer in &self.layers {
            let arity = game.functors().functor(layer.functor).arity();
            let others = (0..arity).filter(|k| *k != layer.row && *k != layer.column);
            let mut texts = vec![String::new()];
            for argument in others {
                let names = domains.argument(layer.functor, argument);
                if texts.len() * names.len() > SYMBOLS {
                    return;
                }
                texts = texts
                    .iter()
                    .flat_map(|text| names.iter().map(move |f| join(text, &name(game, *f))))
                    .collect();
            }
            if arity == 2 {
                texts = vec![name(game, layer.functor)];
            }
            contents.extend(texts);
        }
        contents.retain(|content| Some(content) != self.background.as_ref());
        contents.sort_unstable();
        contents.dedup();
        let start = |content: &String, length| content.chars().take(length).collect::<String>();
        let short = (1..=3).find(|&length| {
            let mut starts: Vec<String> = contents.iter().map(|c| start(c, length)).collect();
            starts.sort_unstable();
            starts.windows(2).all(|pair| pair[0] != pair[1])
        });
        let symbols = contents.iter().map(|content| {
            let symbol = short.map_or_else(|| content.clone(), |length| start(content, length));
            (content.clone(), symbol)
        });
        self.symbols = symbols.collect();
    }
}

impl DrawnBoard {
    /// The board in letters, each line indented by two; what symbols stand for
    /// comes last.
    pub fn text(&self) -> String {
        let mut used = BTreeMap::new();
        let mut written = |contents: &Option<Vec<String>>| match contents {
            None => String::new(),
            Some(contents) if contents.is_empty() => ".".to_owned(),
            Some(contents) => {
                let symbols = contents.iter().map(|content| {
                    let symbol = self.symbols.get(content).unwrap_or(content).clone();
                    if symbol != *content {
                        used.insert(symbol.clone(), content.clone());
                    }
                    symbol
                });
                symbols.collect::<Vec<_>>().join("+")
            }
        };
        let lines = self.contents.iter();
        let body: Vec<Vec<String>> = lines
            .map(|l| l.iter().map(&mut written).collect())
            .collect();
        let length = |text: &String| text.chars().count();
        let label = self.rows.iter().map(length).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let body = body.iter().map(|line| length(&line[column])).max();
                body.unwrap_or(0).max(length(&self.columns[column]))
            })
            .collect();
        let line = |label_text: &str, words: &[String]| {
            let words = words.iter().zip(&widths);
            let words: Vec<String> = words.map(|(w, &width)| format!("{w:<width$}")).collect();
            let text = format!("  {label_text:>label$} {}", words.join(" "));
            text.trim_end().to_owned()
        };
        let mut lines = vec![line("", &self.columns)];
        let rows = self.rows.iter().zip(&body);
        lines.extend(rows.map(|(row, words)| line(row, words)));
        if !used.is_empty() {
            let legend = used
                .iter()
                .map(|(symbol, content)| format!("{symbol} {content}"));
            lines.push(format!("  ({})", legend.collect::<Vec<_>>().join(", ")));
        }
        lines.join("\n")
    }
}

fn name(game: &Game, functor: FunctorId) -> String {
    let functor = game.functors().functor(functor);
    game.symbols().name(functor.name).to_owned()
}

fn join(before: &str, word: &str) -> String {
    match before {
        "" => word.to_owned(),
        _ => format!("{before}/{word}"),
    }
}

/// What a fact says besides where.
fn content(game: &Game, terms: &Terms, layer: &Layer, fact: TermId) -> String {
    let arguments = terms.arguments(fact).iter().enumerate();
    let others = arguments.filter(|(k, _)| *k != layer.row && *k != layer.column);
    let texts = others.map(|(_, &term)| game.canonical(terms, term));
    let text = texts.fold(String::new(), |text, word| join(&text, &word));
    match text.is_empty() {
        true => name(game, layer.functor),
        false => text,
    }
}

/// How the facts of a functor make up a board, with its rows and columns.
fn layer(
    game: &Game,
    domains: &Domains,
    chains: &Chains,
    functor: FunctorId,
    terms: &Terms,
    first: &[TermId],
) -> Option<(Layer, Vec<FunctorId>, Vec<FunctorId>)> {
    let arity = game.functors().functor(functor).arity();
    let axes: Vec<Option<Vec<FunctorId>>> = (0..arity)
        .map(|argument| {
            let names = domains.argument(functor, argument);
            let is_bare = |f: &FunctorId| game.functors().functor(*f).arity() == 0;
            let is_axis = (2..=LARGEST).contains(&names.len()) && names.iter().all(is_bare);
            chains.sorted(&names).filter(|_| is_axis)
        })
        .collect();
    let own: Vec<TermId> = (first.iter().copied())
        .filter(|fact| terms.functor(*fact) == functor)
        .collect();
    let is_one_each = |a: usize, b: usize| {
        let mut pairs: Vec<(TermId, TermId)> = own
            .iter()
            .map(|fact| (terms.arguments(*fact)[a], terms.arguments(*fact)[b]))
            .collect();
        pairs.sort_unstable();
        pairs.windows(2).all(|pair| pair[0] != pair[1])
    };
    let pairs = (0..arity).flat_map(|a| (a + 1..arity).map(move |b| (a, b)));
    let mut pairs = pairs.filter(|&(a, b)| axes[a].is_some() && axes[b].is_some());
    let (a, b) = pairs.find(|&(a, b)| is_one_each(a, b))?;
    let axis = |argument: usize| axes[argument].clone().expect("it was looked at");
    // A move that names one coordinate only is a move into a column, from above.
    match next_rules(game).find_map(|rule| named_by_move(rule, functor, a, b)) {
        Some(column) => {
            let row = a + b - column;
            let mut rows = axis(row);
            rows.reverse();
            let layer = Layer {
                functor,
                row,
                column,
            };
            Some((layer, rows, axis(column)))
        }
        None => {
            let layer = Layer {
                functor,
                row: a,
                column: b,
            };
            Some((layer, axis(a), axis(b)))
        }
    }
}

fn next_rules(game: &Game) -> impl Iterator<Item = (&Rule, &Game)> {
    let next = game.keyword(Keyword::Next);
    let rules = game.rules().rules.iter();
    rules
        .filter(move |rule| Some(rule.head.relation) == next)
        .map(move |rule| (rule, game))
}

/// The one of two arguments of a fact made by a rule that is all that the move
/// says.
fn named_by_move(
    (rule, game): (&Rule, &Game),
    functor: FunctorId,
    a: usize,
    b: usize,
) -> Option<usize> {
    let Term::Apply(head, arguments) = &rule.head.arguments[0] else {
        return None;
    };
    let does = game.keyword(Keyword::Does)?;
    let chosen = rule.body.iter().find_map(|literal| match literal {
        Literal::Positive(atom) if atom.relation == does => match &atom.arguments[1] {
            Term::Apply(_, said) if said.len() == 1 => Some(&said[0]),
            _ => None,
        },
        _ => None,
    })?;
    let is_said = |argument: usize| {
        *head == functor && matches!(chosen, Term::Variable(_)) && arguments[argument] == *chosen
    };
    match (is_said(a), is_said(b)) {
        (true, false) => Some(a),
        (false, true) => Some(b),
        _ => None,
    }
}
