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
pub(super) const WALL: &str = "M-4 -4 H104 V104 H-4 Z";
/// The names of directions: up, down, left and right; and the walls on these sides of a cell.
pub(super) const DIRECTIONS: [&[&str]; 4] = [
    &["up", "north", "above"],
    &["down", "south", "below"],
    &["left", "west"],
    &["right", "east"],
];
const SIDES: [&str; 4] = ["M-4 -3 H104", "M-4 103 H104", "M-3 -4 V104", "M103 -4 V104"];
/// The comparisons of a cell with the next one: words, and signs on the four sides. The sign is
/// open towards the larger one.
const COMPARISONS: [(&[&str], [&str; 4]); 2] = [
    (
        &["gt", "greater", "larger", "more"],
        [
            "M39 4 L50 -12 L61 4",
            "M39 96 L50 112 L61 96",
            "M4 39 L-12 50 L4 61",
            "M96 39 L112 50 L96 61",
        ],
    ),
    (
        &["lt", "less", "smaller", "fewer"],
        [
            "M39 -12 L50 4 L61 -12",
            "M39 112 L50 96 L61 112",
            "M-12 39 L4 50 L-12 61",
            "M112 39 L96 50 L112 61",
        ],
    ),
];
/// For each direction: the rows and columns to the next cell, a line from the centre of a cell to
/// its side, and one from there to the centre of the next cell.
const LINKS: [([isize; 2], [&str; 2]); 4] = [
    ([-1, 0], ["M50 50 V-4", "M50 -4 V-57"]),
    ([1, 0], ["M50 50 V104", "M50 104 V157"]),
    ([0, -1], ["M50 50 H-4", "M-4 50 H-57"]),
    ([0, 1], ["M50 50 H104", "M104 50 H157"]),
];
/// A disc.
const DISC: &str = "M50 8 A42 42 0 1 1 50 92 A42 42 0 1 1 50 8 Z";
/// A path, and its colour; without one, it has that of the content.
type Area = (&'static str, Option<&'static str>);

/// Things of one or more paths, by their names.
const FIGURES: &[(&[&str], &[Area])] = &[
    (
        &["pellet", "dot", "food", "crumb", "point", "coin"],
        &[(
            "M50 36 A14 14 0 1 1 50 64 A14 14 0 1 1 50 36 Z",
            Some("#b07d00"),
        )],
    ),
    (
        &["peg", "stone", "ball", "marble"],
        &[(
            "M50 16 A34 34 0 1 1 50 84 A34 34 0 1 1 50 16 Z",
            Some("#8a5a33"),
        )],
    ),
    (
        &["arrow", "burned", "burnt"],
        &[(
            "M50 22 A28 28 0 1 1 50 78 A28 28 0 1 1 50 22 Z",
            Some("#5d5346"),
        )],
    ),
    (
        &["pos", "position", "head"],
        &[
            (
                "M50 12 A38 38 0 1 1 50 88 A38 38 0 1 1 50 12 Z",
                Some("#1f6f3d"),
            ),
            (
                "M50 34 A16 16 0 1 1 50 66 A16 16 0 1 1 50 34 Z",
                Some("#f2e6cd"),
            ),
        ],
    ),
    (
        &["exit", "door", "gate"],
        &[
            ("M24 92 V14 H76 V92 Z", Some("#4a3b22")),
            ("M32 92 V22 L66 34 V92 Z", Some("#e9c98f")),
            (
                "M56 58 A5 5 0 1 1 56 68 A5 5 0 1 1 56 58 Z",
                Some("#4a3b22"),
            ),
        ],
    ),
    (
        &["goal", "finish", "target", "flag"],
        &[
            ("M30 8 H36 V94 H30 Z", Some("#4a3b22")),
            ("M36 12 H82 L70 29 L82 46 H36 Z", Some("#d5402b")),
        ],
    ),
    (
        &["gold", "treasure"],
        &[(
            "M14 78 L22 54 H46 L54 78 Z M46 78 L54 54 H78 L86 78 Z M30 50 L38 26 H62 L70 50 Z",
            Some("#d4a017"),
        )],
    ),
    (
        &["ghost", "blinky", "pinky", "inky", "clyde"],
        &[
            (
                "M14 90 V48 A36 36 0 0 1 86 48 V90 L74 78 L62 90 L50 78 L38 90 L26 78 Z",
                None,
            ),
            (
                "M36 38 A9 11 0 1 1 36 60 A9 11 0 1 1 36 38 Z M64 38 A9 11 0 1 1 64 60 A9 11 0 1 1 64 38 Z",
                Some("#ffffff"),
            ),
            (
                "M38 46 A5 5 0 1 1 38 56 A5 5 0 1 1 38 46 Z M66 46 A5 5 0 1 1 66 56 A5 5 0 1 1 66 46 Z",
                Some("#161616"),
            ),
        ],
    ),
    (
        &["pacman"],
        &[
            ("M84 28 A40 40 0 1 0 84 72 L50 50 Z", Some("#f2c200")),
            (
                "M52 22 A6 6 0 1 1 52 34 A6 6 0 1 1 52 22 Z",
                Some("#161616"),
            ),
        ],
    ),
    (
        &["mummy"],
        &[
            (
                "M50 6 C78 6 78 34 72 50 L82 94 H18 L28 50 C22 34 22 6 50 6 Z",
                Some("#cbbf97"),
            ),
            (
                "M28 22 L74 14 L75 18 L27 27 Z M28 44 L74 52 L73 56 L27 49 Z M24 66 L77 58 L78 63 L23 71 Z M22 82 L80 74 L81 79 L21 87 Z",
                Some("#7d6f4a"),
            ),
            (
                "M40 30 A5 5 0 1 1 40 40 A5 5 0 1 1 40 30 Z M60 30 A5 5 0 1 1 60 40 A5 5 0 1 1 60 30 Z",
                Some("#161616"),
            ),
        ],
    ),
    (
        &["explorer", "player", "robot", "agent", "person", "farmer"],
        &[
            ("M16 92 C16 62 32 54 50 54 C68 54 84 62 84 92 Z", None),
            ("M50 10 A20 20 0 1 1 50 50 A20 20 0 1 1 50 10 Z", None),
        ],
    ),
];

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

/// The drawing on a side of a cell, if words name both: a wall, or the sign of a comparison with
/// the next cell.
pub(super) fn side(words: &[String]) -> Option<Vec<Shape>> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let side = DIRECTIONS.iter().position(|names| has(names))?;
    let line = |path: &str, colour: &str, width| Shape {
        path: path.to_owned(),
        fill: Paint::None,
        stroke: Paint::Colour(colour.to_owned()),
        width,
    };
    if has(WALLS) {
        return Some(vec![line(SIDES[side], "#4a3b22", 12)]);
    }
    let (_, signs) = COMPARISONS.iter().find(|(names, _)| has(names))?;
    Some(vec![line(signs[side], "#1a1a1a", 7)])
}

/// A part of a body that continues in the next cell of a direction, if a word names one: the rows
/// and columns to that cell, and the drawing. Its last shape lies in the next cell.
pub(super) fn link(words: &[String]) -> Option<([isize; 2], Vec<Shape>)> {
    let is_named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let side = DIRECTIONS.iter().position(|names| is_named(names))?;
    let (step, [own, next]) = LINKS[side];
    let green = || Paint::Colour("#2f9a57".to_owned());
    let shape = |path: &str, fill, stroke, width| Shape {
        path: path.to_owned(),
        fill,
        stroke,
        width,
    };
    let joint = "M50 28 A22 22 0 1 1 50 72 A22 22 0 1 1 50 28 Z";
    let drawn = vec![
        shape(own, Paint::None, green(), 44),
        shape(joint, green(), Paint::None, 1),
        shape(next, Paint::None, green(), 44),
    ];
    Some((step, drawn))
}

/// Returns whether a word names a direction.
pub(super) fn is_direction(word: &str) -> bool {
    DIRECTIONS.iter().any(|names| names.contains(&word))
}

/// A filled cell.
pub(in crate::names) fn filled_cell() -> Vec<Shape> {
    vec![Shape {
        path: WALL.to_owned(),
        fill: Paint::Colour("#5d5346".to_owned()),
        stroke: Paint::None,
        width: 1,
    }]
}

/// The drawing of a thing other than a chess man.
pub(super) fn thing(word: &str) -> Option<Vec<Shape>> {
    if WALLS.contains(&word) {
        return Some(filled_cell());
    }
    if let Some((_, paths)) = FIGURES.iter().find(|(names, _)| names.contains(&word)) {
        let shape = |&(path, colour): &Area| Shape {
            path: path.to_owned(),
            fill: colour.map_or(Paint::Content, |colour| Paint::Colour(colour.to_owned())),
            stroke: Paint::None,
            width: 1,
        };
        return Some(paths.iter().map(shape).collect());
    }
    let (_, (path, _)) = THINGS.iter().find(|(names, _)| names.contains(&word))?;
    Some(vec![Shape {
        path: (*path).to_owned(),
        fill: Paint::None,
        stroke: Paint::Content,
        width: 13,
    }])
}
