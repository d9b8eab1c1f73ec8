//! Picture files: small TOML files next to the rules that say how states are drawn.

use std::collections::BTreeMap;
use std::fmt::Display;

use anyhow::{Context as _, anyhow};
use serde::Deserialize;
use toml::{Spanned, Value};

use super::wishes::{BoardWish, Paint, Shape, Wishes};
use ggp_gdl::game::Game;
use ggp_gdl::symbol::Symbol;

/// Maximum number of letters of a sign.
const LETTERS: usize = 3;
/// Maximum number of shapes of a symbol, and of letters of a path.
const SHAPES: usize = 32;
const PATH: usize = 2000;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    board: Vec<Board>,
    signs: Words,
    colours: Words,
    symbols: BTreeMap<Spanned<String>, Spanned<Value>>,
    captions: Words,
    hide: Vec<Spanned<String>>,
}

type Words = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Board {
    facts: Spanned<String>,
    row: Option<Spanned<usize>>,
    column: Spanned<usize>,
    #[serde(default)]
    first_row: Vertical,
    #[serde(default)]
    first_column: Horizontal,
    empty: Option<Spanned<String>>,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Vertical {
    #[default]
    Top,
    Bottom,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Horizontal {
    #[default]
    Left,
    Right,
}

/// Reads the text of a picture file for a game. `name` is the file name in messages.
///
/// # Errors
///
/// If the text is not a picture file, or uses a name that the rules do not have.
pub fn wishes(name: &str, text: &str, game: &Game) -> anyhow::Result<Wishes> {
    let file: File = toml::from_str(text).with_context(|| format!("{name} is no picture file"))?;
    let page = Page {
        name: name.to_owned(),
        text,
        game,
    };
    page.wishes(file)
}

/// The text of a picture file, and the game it belongs to.
struct Page<'t> {
    name: String,
    text: &'t str,
    game: &'t Game,
}

impl Page<'_> {
    fn wishes(&self, file: File) -> anyhow::Result<Wishes> {
        let mut wishes = Wishes::default();
        for board in file.board {
            wishes.boards.push(self.board(board)?);
        }
        wishes.signs = self.words(file.signs, |sign| match sign.chars().count() {
            1..=LETTERS => Ok(()),
            _ => Err(format!("a sign has 1 to {LETTERS} letters")),
        })?;
        wishes.colours = self.words(file.colours, is_colour)?;
        for (content, shapes) in file.symbols {
            if !content.get_ref().is_empty() {
                self.content(&content)?;
            }
            let read = symbol(shapes.get_ref()).map_err(|told| self.fault(&shapes, told))?;
            wishes.symbols.insert(content.into_inner(), read);
        }
        for (facts, caption) in file.captions {
            self.known(&facts, facts.get_ref())?;
            wishes
                .captions
                .insert(facts.into_inner(), caption.into_inner());
        }
        for facts in file.hide {
            self.known(&facts, facts.get_ref())?;
            wishes.hidden.push(facts.into_inner());
        }
        Ok(wishes)
    }

    fn board(&self, board: Board) -> anyhow::Result<BoardWish> {
        let facts = board.facts.get_ref();
        self.known(&board.facts, facts)?;
        let functors = self.game.functors().iter();
        let named = functors.filter(|(_, functor)| self.name(functor.name) == *facts);
        let most = named.map(|(_, functor)| functor.arity()).max().unwrap_or(0);
        for argument in board.row.iter().chain([&board.column]) {
            if !(1..=most).contains(argument.get_ref()) {
                let told = format!("{facts} has {most} arguments, counted from 1");
                return Err(self.fault(argument, told));
            }
        }
        if board.row.as_ref().map(Spanned::get_ref) == Some(board.column.get_ref()) {
            return Err(self.fault(&board.column, "row and column are the same argument"));
        }
        if let Some(empty) = &board.empty {
            self.content(empty)?;
        }
        Ok(BoardWish {
            facts: facts.clone(),
            row: board.row.map(|row| row.into_inner() - 1),
            column: board.column.into_inner() - 1,
            first_row_is_below: board.first_row == Vertical::Bottom,
            first_column_is_right: board.first_column == Horizontal::Right,
            empty: board.empty.map(Spanned::into_inner),
        })
    }

    fn words(
        &self,
        words: Words,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let mut checked = BTreeMap::new();
        for (content, said) in words {
            self.content(&content)?;
            check(said.get_ref()).map_err(|told| self.fault(&said, told))?;
            checked.insert(content.into_inner(), said.into_inner());
        }
        Ok(checked)
    }

    /// Checks a content: names with `/` between them.
    fn content(&self, content: &Spanned<String>) -> anyhow::Result<()> {
        let mut names = content.get_ref().split('/');
        names.try_for_each(|name| self.known(content, name))
    }

    fn known<T>(&self, place: &Spanned<T>, wanted: &str) -> anyhow::Result<()> {
        let names = || {
            let functors = self.game.functors().iter();
            functors.map(|(_, functor)| self.name(functor.name))
        };
        if names().any(|name| name == wanted) {
            return Ok(());
        }
        let nearest = names().min_by_key(|name| strsim::damerau_levenshtein(name, wanted));
        let near = nearest.filter(|name| {
            strsim::damerau_levenshtein(name, wanted) <= 1 + wanted.chars().count() / 4
        });
        let mend = near.map_or(String::new(), |name| format!("; did you mean {name}?"));
        Err(self.fault(place, format!("{wanted:?} is no name of the rules{mend}")))
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.game.symbols().name(symbol)
    }

    fn fault<T>(&self, place: &Spanned<T>, told: impl Display) -> anyhow::Error {
        let before = self.text.get(..place.span().start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        anyhow!("{}:{line}:{column}: {told}", self.name)
    }
}

fn is_colour(colour: &str) -> Result<(), String> {
    let is_hex = colour.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    });
    let is_word = !colour.is_empty() && colour.bytes().all(|b| b.is_ascii_lowercase());
    match is_hex || is_word {
        true => Ok(()),
        false => Err("a colour is written #rrggbb, or as a word such as orange".to_owned()),
    }
}

/// The shapes of a symbol: a path, or a list of paths and tables.
fn symbol(value: &Value) -> Result<Vec<Shape>, String> {
    match value {
        Value::String(_) => Ok(vec![shape(value)?]),
        Value::Array(all) if (1..=SHAPES).contains(&all.len()) => all.iter().map(shape).collect(),
        _ => Err(format!(
            "a symbol is a path, as \"M10 10 H90 V90 Z\", or a list of 1 to {SHAPES} of them"
        )),
    }
}

fn shape(value: &Value) -> Result<Shape, String> {
    let mut shape = Shape {
        path: String::new(),
        fill: Paint::Content,
        stroke: Paint::None,
        width: 4,
    };
    let told = "a shape is a path, or { path = \"…\", fill = \"…\", stroke = \"…\", width = 1 }";
    match value {
        Value::String(text) => shape.path = path(text)?,
        Value::Table(table) => {
            for (key, value) in table {
                match (key.as_str(), value) {
                    ("path", Value::String(text)) => shape.path = path(text)?,
                    ("fill", Value::String(text)) => shape.fill = paint(text)?,
                    ("stroke", Value::String(text)) => shape.stroke = paint(text)?,
                    ("width", Value::Integer(width @ 1..=50)) => shape.width = *width as u32,
                    ("width", _) => return Err("the width of a line is from 1 to 50".to_owned()),
                    _ => return Err(format!("{key:?} is not understood: {told}")),
                }
            }
        }
        _ => return Err(told.to_owned()),
    }
    match shape.path.is_empty() {
        true => Err(format!("a shape has no path: {told}")),
        false => Ok(shape),
    }
}

fn paint(text: &str) -> Result<Paint, String> {
    Ok(match text {
        "none" => Paint::None,
        "role" => Paint::Content,
        "ink" => Paint::Ink,
        "paper" => Paint::Paper,
        _ => {
            is_colour(text).map_err(|told| format!("{told}; or none, role, ink or paper"))?;
            Paint::Colour(text.to_owned())
        }
    })
}

/// Checks that a text is an SVG path and contains nothing else.
fn path(text: &str) -> Result<String, String> {
    let may_be =
        |c: char| c.is_ascii_digit() || " ,.-+\n".contains(c) || "MmLlHhVvCcSsQqTtAaZz".contains(c);
    match text.chars().find(|c| !may_be(*c)) {
        _ if text.len() > PATH => Err(format!("a path has at most {PATH} letters")),
        _ if !text.starts_with(['M', 'm']) => {
            Err("a path begins with M and a point, as \"M10 10 H90 V90 Z\"".to_owned())
        }
        Some(c) => Err(format!("{c:?} is no command of a path in SVG")),
        None => Ok(text.to_owned()),
    }
}
