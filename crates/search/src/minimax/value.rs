//! What a position is worth: by estimates, and by proof.

/// A score of 1. What is left is for the distance of the end: a good one is worth
/// more if it is near, a bad one if it is far.
pub(super) const POINT: i32 = 1_000_000;
/// More than any distance.
const FAR: i32 = 500_000;
const EVEN: i32 = 50 * POINT;
pub(super) const WORST: i32 = -1;
pub(super) const BEST: i32 = 101 * POINT;

/// What a position is worth.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// By estimates, where nothing better is known, in units of 1 / [`POINT`].
    pub(super) value: i32,
    /// The score that is proved to be had.
    pub(super) least: u8,
    /// The score that is proved not to be passed.
    pub(super) most: u8,
}

impl Value {
    pub(super) fn end(score: u8) -> Self {
        Value {
            value: i32::from(score) * POINT,
            least: score,
            most: score,
        }
    }

    pub(super) fn estimate(score: f64) -> Self {
        // No estimate is as good or as bad as an end.
        let score = 1.0 + 0.98 * score.clamp(0.0, 100.0);
        Value {
            value: (score * f64::from(POINT)) as i32,
            least: 0,
            most: 100,
        }
    }

    /// Of an end without a score, or a position in which somebody has no move.
    pub(super) fn unknown() -> Self {
        Value {
            value: 0,
            least: 0,
            most: 100,
        }
    }

    pub(super) fn is_proved(self) -> bool {
        self.least == self.most
    }

    /// With a value that fits what is proved.
    pub(super) fn clipped(self) -> Self {
        Value {
            value: self.value.clamp(lowest(self.least), highest(self.most)),
            ..self
        }
    }

    /// One joint move earlier.
    pub(super) fn before(self) -> Self {
        Value {
            value: self.value - (self.value - EVEN).signum(),
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

/// The values that matter: worse ones are not chosen, better ones not allowed.
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

    /// For a position one joint move later, whose value changes by at most 1.
    pub(super) fn after(self) -> Window {
        Window {
            alpha: self.alpha - 1,
            beta: self.beta + 1,
        }
    }
}
