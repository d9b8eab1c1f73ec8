//! The drawings that names call for: chess men, marks, walls and arrows.

use super::Tint;
use crate::options::{Paint, Shape};

/// A path, and whether its interior is painted.
type Line = (&'static str, bool);

/// The chess men, by their names.
const MEN: &[(&str, &[Line])] = &[
    (
        "king",
        &[
            ("M46 4 H54 V11 H61 V19 H54 V30 H46 V19 H39 V11 H46 Z", true),
            (
                "M50 26 C59 27 60 38 55 46 C64 32 88 34 85 53 C83 62 75 65 73 71 L79 79 V88 H21 V79 L27 71 C25 65 17 62 15 53 C12 34 36 32 45 46 C40 38 41 27 50 26 Z",
                true,
            ),
            ("M27 71 C40 65 60 65 73 71 M50 46 V62", false),
        ],
    ),
    (
        "queen",
        &[
            (
                "M17 28 L31 56 L33 22 L45 53 L50 17 L55 53 L67 22 L69 56 L83 28 L74 70 L79 79 V88 H21 V79 L26 70 Z",
                true,
            ),
            (
                "M17 21 A6 6 0 1 1 17 33 A6 6 0 1 1 17 21 Z M33 15 A6 6 0 1 1 33 27 A6 6 0 1 1 33 15 Z M50 10 A6 6 0 1 1 50 22 A6 6 0 1 1 50 10 Z M67 15 A6 6 0 1 1 67 27 A6 6 0 1 1 67 15 Z M83 21 A6 6 0 1 1 83 33 A6 6 0 1 1 83 21 Z",
                true,
            ),
            ("M26 70 C40 64 60 64 74 70", false),
        ],
    ),
    (
        "rook",
        &[
            (
                "M24 16 H37 V25 H44 V16 H56 V25 H63 V16 H76 V35 L67 43 L69 68 L78 77 V88 H22 V77 L31 68 L33 43 L24 35 Z",
                true,
            ),
            ("M33 43 H67 M31 68 H69", false),
        ],
    ),
    (
        "bishop",
        &[
            (
                "M40 60 H60 L63 67 C67 73 74 75 79 79 V88 H21 V79 C26 75 33 73 37 67 Z",
                true,
            ),
            (
                "M50 17 C65 26 71 38 67 49 C65 55 61 59 57 61 H43 C39 59 35 55 33 49 C29 38 35 26 50 17 Z",
                true,
            ),
            ("M50 6 A6 6 0 1 1 50 18 A6 6 0 1 1 50 6 Z", true),
            ("M50 30 V48 M42 38 H58 M37 67 H63", false),
        ],
    ),
    (
        "knight",
        &[
            (
                "M28 88 C26 70 46 62 47 46 C41 52 34 53 30 58 C26 62 19 60 17 54 C15 49 18 45 21 40 C25 33 27 29 31 24 L33 11 L44 18 C66 18 79 40 79 70 V88 Z",
                true,
            ),
            ("M36 33 L42 31 M58 33 C66 44 68 58 67 74", false),
        ],
    ),
    (
        "pawn",
        &[
            (
                "M36 47 H64 L60 54 C61 64 66 70 73 76 V88 H27 V76 C34 70 39 64 40 54 Z",
                true,
            ),
            ("M50 15 A16 16 0 1 1 50 47 A16 16 0 1 1 50 15 Z", true),
            ("M34 76 H66", false),
        ],
    ),
];

/// Other things, by their names. They have the colour of their content, or the text colour.
const THINGS: &[(&[&str], Line)] = &[
    (&["x", "cross"], ("M22 22 L78 78 M78 22 L22 78", false)),
    (
        &["o", "nought", "naught", "circle"],
        ("M50 20 A30 30 0 1 1 50 80 A30 30 0 1 1 50 20 Z", false),
    ),
    (&["up", "north"], ("M50 88 V14 M26 40 L50 14 L74 40", false)),
    (
        &["down", "south"],
        ("M50 12 V86 M26 60 L50 86 L74 60", false),
    ),
    (
        &["left", "west"],
        ("M88 50 H14 M40 26 L14 50 L40 74", false),
    ),
    (
        &["right", "east"],
        ("M12 50 H86 M60 26 L86 50 L60 74", false),
    ),
];

/// The names of cells that nothing enters, and their drawing.
const WALLS: &[&str] = &[
    "wall", "block", "blocked", "hole", "obstacle", "brick", "rock",
];
const WALL: &str = "M-4 -4 H104 V104 H-4 Z";
/// The names of directions: up, down, left and right; and the walls on these sides of a cell.
pub(super) const DIRECTIONS: [&[&str]; 4] = [
    &["up", "north"],
    &["down", "south"],
    &["left", "west"],
    &["right", "east"],
];
const SIDES: [&str; 4] = ["M-4 -3 H104", "M-4 103 H104", "M-3 -4 V104", "M103 -4 V104"];
/// A disc.
const DISC: &str = "M50 8 A42 42 0 1 1 50 92 A42 42 0 1 1 50 8 Z";
/// The names of small things to be collected, and their drawing.
const CRUMBS: &[&str] = &["pellet", "dot", "food", "crumb"];
const CRUMB: &str = "M50 38 A12 12 0 1 1 50 62 A12 12 0 1 1 50 38 Z";

/// The letters that stand for the chess men, in the order of their drawings.
pub(super) const LETTERS: [char; 6] = ['k', 'q', 'r', 'b', 'n', 'p'];

/// The chess man of a name or of a letter, in a colour.
pub(super) fn man(word: &str, tint: &Tint) -> Option<Vec<Shape>> {
    let (_, lines) = MEN.iter().find(|(name, _)| *name == word)?;
    let shape = |&(path, is_painted): &Line| Shape {
        path: path.to_owned(),
        fill: match is_painted {
            true => Paint::Colour(tint.fill.to_owned()),
            false => Paint::None,
        },
        stroke: Paint::Colour(tint.outline.to_owned()),
        width: 4,
    };
    Some(lines.iter().map(shape).collect())
}

/// The name of the chess man that a letter stands for.
pub(super) fn man_of(letter: char) -> Option<&'static str> {
    let at = LETTERS.iter().position(|other| *other == letter)?;
    Some(MEN[at].0)
}

/// A disc in a colour.
pub(super) fn disc(tint: &Tint) -> Vec<Shape> {
    vec![Shape {
        path: DISC.to_owned(),
        fill: Paint::Colour(tint.fill.to_owned()),
        stroke: Paint::Colour(tint.outline.to_owned()),
        width: 4,
    }]
}

/// The wall on a side of a cell, if words name both.
pub(super) fn side(words: &[String]) -> Option<Vec<Shape>> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let side = DIRECTIONS.iter().position(|names| has(names))?;
    has(WALLS).then(|| {
        vec![Shape {
            path: SIDES[side].to_owned(),
            fill: Paint::None,
            stroke: Paint::Colour("#4a3b22".to_owned()),
            width: 12,
        }]
    })
}

/// The drawing of a thing other than a chess man.
pub(super) fn thing(word: &str) -> Option<Vec<Shape>> {
    let solid = |path: &str, colour: &str| Shape {
        path: path.to_owned(),
        fill: Paint::Colour(colour.to_owned()),
        stroke: Paint::None,
        width: 1,
    };
    if WALLS.contains(&word) {
        return Some(vec![solid(WALL, "#5d5346")]);
    }
    if CRUMBS.contains(&word) {
        return Some(vec![solid(CRUMB, "#b07d00")]);
    }
    let (_, (path, _)) = THINGS.iter().find(|(names, _)| names.contains(&word))?;
    Some(vec![Shape {
        path: (*path).to_owned(),
        fill: Paint::None,
        stroke: Paint::Content,
        width: 13,
    }])
}
