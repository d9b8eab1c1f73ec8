//! Small games of one role, for answers and checkpoints.

/// Their rules. Everything about them can be found out by trying all plays.
pub const PUZZLES: [&str; 8] = [
    include_str!("../puzzles/walk.kif"),
    include_str!("../puzzles/pairs.kif"),
    include_str!("../puzzles/tokens.kif"),
    include_str!("../puzzles/two_colours.kif"),
    include_str!("../puzzles/three_colours.kif"),
    include_str!("../puzzles/clock.kif"),
    include_str!("../../../games/wolf_goat_cabbage.kif"),
    include_str!("../../../games/buttons_and_lights.kif"),
];
