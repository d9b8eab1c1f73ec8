//! Options for a picture, for games in which the structure of the rules does not say
//! enough.

use std::collections::BTreeMap;

use super::look::Look;

/// Options for the picture of a game. All names are those of the rules.
#[derive(Clone, Debug, Default)]
pub struct PictureOptions {
    /// Boards and their orientation.
    pub boards: Vec<BoardOptions>,
    /// The text that is shown for a content.
    pub signs: BTreeMap<String, String>,
    /// The colour of a content.
    pub colours: BTreeMap<String, String>,
    /// The symbol of a content in SVG: shapes from back to front.
    pub symbols: BTreeMap<String, Vec<Shape>>,
    /// The caption above facts, by the name of the facts.
    pub captions: BTreeMap<String, String>,
    /// Names of facts that are not drawn.
    pub hidden: Vec<String>,
    /// True if names have no meaning, so that pictures stay the same if names change. Otherwise they
    /// are read as people read them: colours, chess men, walls, places such as `a1`.
    pub ignores_names: bool,
}

/// Facts that form a board. Arguments are counted from 0.
#[derive(Clone, Debug)]
pub struct BoardOptions {
    /// The name of the facts.
    pub facts: String,
    /// The argument that is the row; `None` if the board is a single line.
    pub row: Option<usize>,
    /// The argument that is the column.
    pub column: usize,
    /// True if rows are counted from the bottom.
    pub first_row_is_below: bool,
    /// True if columns are counted from the right.
    pub first_column_is_right: bool,
    /// The content that marks an empty cell.
    pub empty: Option<String>,
    /// The surface of the board.
    pub look: Option<Look>,
    /// The height and the width of blocks, between which the lines are thick.
    pub blocks: Option<[usize; 2]>,
}

/// A shape in a square of 100 by 100 units, with the origin in the upper left corner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// An SVG path, as in the attribute `d`. It consists only of command letters, numbers
    /// and separators.
    pub path: String,
    /// The paint of the interior.
    pub fill: Paint,
    /// The paint of the outline.
    pub stroke: Paint,
    /// The width of the outline.
    pub width: u32,
}

/// The paint of a shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Paint {
    /// No paint.
    None,
    /// The colour of the content: the colour chosen for it, the colour of its role, or else
    /// the text colour.
    Content,
    /// The text colour.
    Ink,
    /// The background colour.
    Paper,
    /// A given SVG colour.
    Colour(String),
}
