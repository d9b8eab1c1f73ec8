//! Picture files: small TOML files next to the rules that say how states are drawn.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::look::Look;
use super::options::{BoardOptions, Paint, PictureOptions, Shape};
use ggp_gdl::counted::counted;
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
    look: Option<Look>,
    blocks: Option<Spanned<[usize; 2]>>,
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

/// An error in a picture file.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum PictureFileError {
    /// The text is not a picture file.
    Syntax {
        /// The name of the file.
        file: String,
        /// The error that the TOML parser reports.
        error: toml::de::Error,
    },
    /// A value does not fit the game or the format.
    Value {
        /// The name of the file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// The problem at this place.
        problem: PictureFileProblem,
    },
}

impl fmt::Display for PictureFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureFileError::Syntax { file, .. } => write!(f, "{file} is not a picture file"),
            PictureFileError::Value {
                file,
                line,
                column,
                problem,
            } => write!(f, "{file}:{line}:{column}: {problem}"),
        }
    }
}

impl std::error::Error for PictureFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PictureFileError::Syntax { error, .. } => Some(error),
            PictureFileError::Value { .. } => None,
        }
    }
}

/// A problem with a value of a picture file.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum PictureFileProblem {
    /// The rules do not contain this name; the most similar name that they contain, if any.
    UnknownName(String, Option<String>),
    /// The facts of this name have fewer arguments than the number given.
    Argument(String, usize),
    /// Row and column are the same argument.
    SameArgument,
    /// Blocks have no height or no width.
    EmptyBlocks,
    /// A sign is empty or too long.
    SignLength,
    /// A text is not a colour.
    Colour,
    /// A text is neither a colour nor `none`, `role`, `ink` or `paper`.
    Paint,
    /// A value is not a symbol.
    Symbol,
    /// A value is not a shape.
    Shape,
    /// A shape has no path.
    MissingPath,
    /// A shape has this unknown key.
    UnknownKey(String),
    /// The width of an outline is not a number from 1 to 50.
    StrokeWidth,
    /// A path is too long.
    PathLength,
    /// A path does not begin with a point.
    PathStart,
    /// This character is not part of an SVG path.
    PathCommand(char),
}

impl fmt::Display for PictureFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHAPE: &str =
            "a shape is a path, or { path = \"…\", fill = \"…\", stroke = \"…\", width = 1 }";
        const COLOUR: &str = "a colour is written #rrggbb, or as a word such as orange";
        match self {
            PictureFileProblem::UnknownName(name, None) => {
                write!(f, "the rules do not contain the name {name:?}")
            }
            PictureFileProblem::UnknownName(name, Some(similar)) => write!(
                f,
                "the rules do not contain the name {name:?}; did you mean {similar}?"
            ),
            PictureFileProblem::Argument(facts, count) => {
                let arguments = counted(count, "argument");
                write!(f, "{facts} has {arguments}, counted from 1")
            }
            PictureFileProblem::SameArgument => f.write_str("row and column are the same argument"),
            PictureFileProblem::EmptyBlocks => {
                f.write_str("blocks are [rows, columns], each at least 1")
            }
            PictureFileProblem::SignLength => write!(f, "a sign has 1 to {LETTERS} letters"),
            PictureFileProblem::Colour => f.write_str(COLOUR),
            PictureFileProblem::Paint => write!(f, "{COLOUR}; or none, role, ink or paper"),
            PictureFileProblem::Symbol => write!(
                f,
                "a symbol is a path, such as \"M10 10 H90 V90 Z\", or a list of 1 to {SHAPES} paths"
            ),
            PictureFileProblem::Shape => f.write_str(SHAPE),
            PictureFileProblem::MissingPath => write!(f, "a shape has no path: {SHAPE}"),
            PictureFileProblem::UnknownKey(key) => write!(f, "unknown key {key:?}: {SHAPE}"),
            PictureFileProblem::StrokeWidth => {
                f.write_str("the width of an outline is from 1 to 50")
            }
            PictureFileProblem::PathLength => write!(f, "a path has at most {PATH} letters"),
            PictureFileProblem::PathStart => {
                f.write_str("a path begins with M and a point, as in \"M10 10 H90 V90 Z\"")
            }
            PictureFileProblem::PathCommand(c) => {
                write!(f, "{c:?} is not a command of an SVG path")
            }
        }
    }
}

/// Reads the text of a picture file for a game. `name` is the file name in messages.
///
/// # Errors
///
/// If the text is not a picture file, or uses a name that the rules do not have.
pub fn read_options(
    name: &str,
    text: &str,
    game: &Game,
) -> Result<PictureOptions, PictureFileError> {
    let file: File = toml::from_str(text).map_err(|error| PictureFileError::Syntax {
        file: name.to_owned(),
        error,
    })?;
    let source = Source {
        name: name.to_owned(),
        text,
        game,
    };
    source.options(file)
}

/// The text of a picture file, and the game it belongs to.
struct Source<'t> {
    name: String,
    text: &'t str,
    game: &'t Game,
}

impl Source<'_> {
    fn options(&self, file: File) -> Result<PictureOptions, PictureFileError> {
        let mut options = PictureOptions::default();
        for board in file.board {
            options.boards.push(self.board(board)?);
        }
        options.signs = self.words(file.signs, |sign| match sign.chars().count() {
            1..=LETTERS => Ok(()),
            _ => Err(PictureFileProblem::SignLength),
        })?;
        options.colours = self.words(file.colours, check_colour)?;
        for (content, shapes) in file.symbols {
            if !content.get_ref().is_empty() {
                self.content(&content)?;
            }
            let read = symbol(shapes.get_ref()).map_err(|problem| self.error(&shapes, problem))?;
            options.symbols.insert(content.into_inner(), read);
        }
        for (facts, caption) in file.captions {
            self.known(&facts, facts.get_ref())?;
            options
                .captions
                .insert(facts.into_inner(), caption.into_inner());
        }
        for facts in file.hide {
            self.known(&facts, facts.get_ref())?;
            options.hidden.push(facts.into_inner());
        }
        Ok(options)
    }

    fn board(&self, board: Board) -> Result<BoardOptions, PictureFileError> {
        let facts = board.facts.get_ref();
        self.known(&board.facts, facts)?;
        let functors = self.game.functors().iter();
        let named = functors.filter(|(_, functor)| self.name(functor.name) == *facts);
        let most = named.map(|(_, functor)| functor.arity()).max().unwrap_or(0);
        for argument in board.row.iter().chain([&board.column]) {
            if !(1..=most).contains(argument.get_ref()) {
                let problem = PictureFileProblem::Argument(facts.clone(), most);
                return Err(self.error(argument, problem));
            }
        }
        if board.row.as_ref().map(Spanned::get_ref) == Some(board.column.get_ref()) {
            return Err(self.error(&board.column, PictureFileProblem::SameArgument));
        }
        if let Some(empty) = &board.empty {
            self.content(empty)?;
        }
        if let Some(blocks) = &board.blocks
            && blocks.get_ref().contains(&0)
        {
            return Err(self.error(blocks, PictureFileProblem::EmptyBlocks));
        }
        Ok(BoardOptions {
            look: board.look,
            blocks: board.blocks.map(Spanned::into_inner),
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
        check: impl Fn(&str) -> Result<(), PictureFileProblem>,
    ) -> Result<BTreeMap<String, String>, PictureFileError> {
        let mut checked = BTreeMap::new();
        for (content, text) in words {
            self.content(&content)?;
            check(text.get_ref()).map_err(|problem| self.error(&text, problem))?;
            checked.insert(content.into_inner(), text.into_inner());
        }
        Ok(checked)
    }

    /// Checks a content: names with `/` between them.
    fn content(&self, content: &Spanned<String>) -> Result<(), PictureFileError> {
        let mut names = content.get_ref().split('/');
        names.try_for_each(|name| self.known(content, name))
    }

    fn known<T>(&self, place: &Spanned<T>, wanted: &str) -> Result<(), PictureFileError> {
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
        let problem = PictureFileProblem::UnknownName(wanted.to_owned(), near.map(str::to_owned));
        Err(self.error(place, problem))
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.game.symbols().name(symbol)
    }

    fn error<T>(&self, place: &Spanned<T>, problem: PictureFileProblem) -> PictureFileError {
        let before = self.text.get(..place.span().start).unwrap_or_default();
        PictureFileError::Value {
            file: self.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            problem,
        }
    }
}

fn check_colour(colour: &str) -> Result<(), PictureFileProblem> {
    let is_hex = colour.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    });
    let is_word = !colour.is_empty() && colour.bytes().all(|b| b.is_ascii_lowercase());
    match is_hex || is_word {
        true => Ok(()),
        false => Err(PictureFileProblem::Colour),
    }
}

/// The shapes of a symbol: a path, or a list of paths and tables.
fn symbol(value: &Value) -> Result<Vec<Shape>, PictureFileProblem> {
    match value {
        Value::String(_) => Ok(vec![shape(value)?]),
        Value::Array(all) if (1..=SHAPES).contains(&all.len()) => all.iter().map(shape).collect(),
        _ => Err(PictureFileProblem::Symbol),
    }
}

fn shape(value: &Value) -> Result<Shape, PictureFileProblem> {
    let mut shape = Shape {
        path: String::new(),
        fill: Paint::Content,
        stroke: Paint::None,
        width: 4,
    };
    match value {
        Value::String(text) => shape.path = path(text)?,
        Value::Table(table) => {
            for (key, value) in table {
                match (key.as_str(), value) {
                    ("path", Value::String(text)) => shape.path = path(text)?,
                    ("fill", Value::String(text)) => shape.fill = paint(text)?,
                    ("stroke", Value::String(text)) => shape.stroke = paint(text)?,
                    ("width", Value::Integer(width @ 1..=50)) => shape.width = *width as u32,
                    ("width", _) => return Err(PictureFileProblem::StrokeWidth),
                    _ => return Err(PictureFileProblem::UnknownKey(key.clone())),
                }
            }
        }
        _ => return Err(PictureFileProblem::Shape),
    }
    match shape.path.is_empty() {
        true => Err(PictureFileProblem::MissingPath),
        false => Ok(shape),
    }
}

fn paint(text: &str) -> Result<Paint, PictureFileProblem> {
    Ok(match text {
        "none" => Paint::None,
        "role" => Paint::Content,
        "ink" => Paint::Ink,
        "paper" => Paint::Paper,
        _ => {
            check_colour(text).map_err(|_| PictureFileProblem::Paint)?;
            Paint::Colour(text.to_owned())
        }
    })
}

/// Checks that a text is an SVG path and contains nothing else.
fn path(text: &str) -> Result<String, PictureFileProblem> {
    let is_allowed =
        |c: char| c.is_ascii_digit() || " ,.-+\n".contains(c) || "MmLlHhVvCcSsQqTtAaZz".contains(c);
    match text.chars().find(|c| !is_allowed(*c)) {
        _ if text.len() > PATH => Err(PictureFileProblem::PathLength),
        _ if !text.starts_with(['M', 'm']) => Err(PictureFileProblem::PathStart),
        Some(c) => Err(PictureFileProblem::PathCommand(c)),
        None => Ok(text.to_owned()),
    }
}
