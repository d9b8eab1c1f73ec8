//! Values of positions: an estimate and proved bounds.

/// The value of one point of score. Smaller differences encode the distance of the end, so
/// that near wins and far losses are preferred.
pub(super) const POINT: i32 = 1_000_000;
/// An upper bound of all distances.
const FAR: i32 = 500_000;
const EVEN: i32 = 50 * POINT;
pub(super) const WORST: i32 = -1;
pub(super) const BEST: i32 = 101 * POINT;

/// The value of a position for one role.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// The expected score in units of 1 / [`POINT`], by estimates where nothing is proved.
    pub(super) expected: i32,
    /// The proved lower bound of the score.
    pub(super) least: u8,
    /// The proved upper bound of the score.
    pub(super) most: u8,
}

impl Value {
    pub(super) fn end(score: u8) -> Self {
        Value {
            expected: i32::from(score) * POINT,
            least: score,
            most: score,
        }
    }

    pub(super) fn estimate(score: f64) -> Self {
        // Estimates are strictly between the values of terminal states with 0 and 100.
        let score = 1.0 + 0.98 * score.clamp(0.0, 100.0);
        Value {
            expected: (score * f64::from(POINT)) as i32,
            least: 0,
            most: 100,
        }
    }

    /// The value of a terminal state without a score, or of a position in which a role has no
    /// legal move.
    pub(super) fn unknown() -> Self {
        Value {
            expected: 0,
            least: 0,
            most: 100,
        }
    }

    pub(super) fn is_proved(self) -> bool {
        self.least == self.most
    }

    /// The value with its expected score clamped to the proved bounds.
    pub(super) fn clipped(self) -> Self {
        Value {
            expected: self.expected.clamp(lowest(self.least), highest(self.most)),
            ..self
        }
    }

    /// The value one joint move earlier.
    pub(super) fn before(self) -> Self {
        Value {
            expected: self.expected - (self.expected - EVEN).signum(),
            ..self
        }
    }
}

pub(super) fn lowest(score: u8) -> i32 {
    let value = i32::from(score) * POINT;
    if value > EVEN { value - FAR } else { value }
}

pub(super) fn highest(score: u8) -> i32 {
    let value = i32::from(score) * POINT;
    if value < EVEN { value + FAR } else { value }
}

/// The alpha-beta window. The role does not choose lower values, and the others do not allow
/// higher ones.
#[derive(Copy, Clone)]
pub(super) struct Window {
    pub(super) alpha: i32,
    pub(super) beta: i32,
}

impl Window {
    pub(super) const FULL: Window = Window {
        alpha: WORST,
        beta: BEST,
    };

    /// The window for a position one joint move later, whose value differs by at most 1.
    pub(super) fn after(self) -> Window {
        Window {
            alpha: self.alpha - 1,
            beta: self.beta + 1,
        }
    }
}
