//! The shares of the methods in `auto`.

use super::states;
use std::time::Duration;

/// The part of a method in `auto`.
#[derive(Copy, Clone)]
pub(in crate::solve) enum Share {
    /// `auto` does not run it.
    None,
    /// It runs once, before all searches.
    Analysis(Analysis),
    /// It takes turns on the network, in the order of the table.
    Turn(Turn),
    /// It takes turns on the states, where there is no network, or no method on it has
    /// found an answer.
    States(states::Part),
}

/// The time of an analysis.
#[derive(Copy, Clone)]
pub(in crate::solve) struct Analysis {
    /// The part of the whole time that it has at first.
    pub part: u32,
    /// The most time that is of use to it.
    pub most: Option<Duration>,
    /// Whether it gives up at once in games that it does not suit, so that it is likely to find an answer
    /// in games where it takes longer.
    pub is_apt: bool,
}

/// The turns of a method on the network.
#[derive(Copy, Clone)]
pub(in crate::solve) struct Turn {
    /// The place of the method where the number of positions grows quickly with the depth.
    pub wide: u8,
    /// The unit in which its budget is counted.
    pub unit: Unit,
    /// Whether it also looks for ends with a lower score.
    pub climbs: bool,
}

/// The unit of a slice of the budget.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(in crate::solve) enum Unit {
    /// States expanded one by one.
    States,
    /// States expanded one by one, in many move orders at once.
    Orders,
    /// States expanded one by one, with an estimate that takes far longer than the rest.
    Estimates,
    /// States expanded level by level: small games get enough for all levels.
    Levels,
    /// States of playouts, hundreds at a time.
    Playouts,
    /// Conflicts of a SAT solver.
    Conflicts,
}

/// The usual part of an analysis.
pub(in crate::solve) const PART: u32 = 10;

pub(super) const fn analysis(most: Option<Duration>) -> Share {
    Share::Analysis(Analysis {
        part: PART,
        most,
        is_apt: false,
    })
}

/// An analysis that gives up at once in games that it does not suit.
pub(super) const fn apt_analysis(part: u32, most: Duration) -> Share {
    Share::Analysis(Analysis {
        part,
        most: Some(most),
        is_apt: true,
    })
}

pub(super) const fn turn(wide: u8, unit: Unit, climbs: bool) -> Share {
    Share::Turn(Turn { wide, unit, climbs })
}
