//! What somebody wants of a picture, where the structure of the rules says too little.

use std::collections::BTreeMap;

/// Wishes for the picture of a game. Names are those of the rules.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Boards, and which way they lie.
    pub boards: Vec<BoardWish>,
    /// What is written for a content.
    pub signs: BTreeMap<String, String>,
    /// In which colour a content is drawn.
    pub colours: BTreeMap<String, String>,
    /// What is drawn for a content, in pictures of lines: shapes from back to front.
    pub symbols: BTreeMap<String, Vec<Shape>>,
    /// What is written above facts, by the name of the facts.
    pub captions: BTreeMap<String, String>,
    /// Names of facts that are not drawn.
    pub hidden: Vec<String>,
}

/// Facts that are a board. Arguments are counted from 0.
#[derive(Clone, Debug)]
pub struct BoardWish {
    /// The name of the facts.
    pub facts: String,
    /// The argument that is the row; none if the board is one line.
    pub row: Option<usize>,
    /// The argument that is the column.
    pub column: usize,
    /// Whether rows are counted from below.
    pub first_row_is_below: bool,
    /// Whether columns are counted from the right.
    pub first_column_is_right: bool,
    /// The content that stands for an empty place.
    pub empty: Option<String>,
}

/// A shape on a field of 100 by 100, from the upper left corner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// As in the attribute `d` of a path in SVG; has nothing but letters of commands,
    /// numbers and what stands between them.
    pub path: String,
    /// What is within.
    pub fill: Paint,
    /// The line around.
    pub stroke: Paint,
    /// The width of the line.
    pub width: u32,
}

/// How a shape is painted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Paint {
    /// Not at all.
    None,
    /// As the content: in the colour wished for it, that of the role it belongs to, or as
    /// words are.
    Content,
    /// As words are.
    Ink,
    /// As the ground.
    Paper,
    /// In a colour of SVG.
    Colour(String),
}
