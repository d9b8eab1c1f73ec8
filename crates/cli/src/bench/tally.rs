//! Statistics of playouts.

/// Count, sum and sum of squares of whole numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Moments {
    /// The number of values.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares.
    pub squares: u128,
}

impl Moments {
    /// Adds one value.
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.squares += u128::from(number) * u128::from(number);
    }

    /// Adds the values of another.
    pub fn merge(&mut self, other: Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean; `None` without values.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard deviation, estimated from a sample; `None` for fewer than two values.
    pub fn deviation(self) -> Option<f64> {
        let count = u128::from(self.count);
        // n Σx² - (Σx)² is exact and never negative, however close the values are.
        // Without a sum of squares there is no deviation.
        let spread = (count * self.squares).checked_sub(self.sum * self.sum)?;
        let degrees = count * count.saturating_sub(1);
        (degrees > 0).then(|| (spread as f64 / degrees as f64).sqrt())
    }
}

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Joint moves, including those of unfinished playouts.
    pub state_changes: u64,
    /// State changes of each playout that reached the end or the depth limit; the count is
    /// the number of playouts.
    pub lengths: Moments,
    /// Whether only the number of lengths is known, not their sum.
    pub lengths_unknown: bool,
    /// By role: its goals at the ends of playouts, where it has one valid goal.
    pub goals: Vec<Moments>,
    /// Playouts cut off by the depth limit.
    pub cut: u64,
    /// Faults in the rules that playouts revealed: a role without a move ends its playout
    /// early; a missing or invalid goal counts once for each role.
    pub faults: u64,
    /// One of these faults.
    pub fault: Option<String>,
}

impl Tally {
    /// An empty tally for this number of roles.
    pub fn new(roles: usize) -> Self {
        Tally {
            goals: vec![Moments::default(); roles],
            ..Tally::default()
        }
    }

    /// Adds the results of another thread.
    ///
    /// # Panics
    ///
    /// If the numbers of roles differ.
    pub fn merge(&mut self, other: Tally) {
        assert_eq!(self.goals.len(), other.goals.len(), "roles of one game");
        self.state_changes += other.state_changes;
        self.lengths.merge(other.lengths);
        self.lengths_unknown |= other.lengths_unknown;
        for (mine, theirs) in self.goals.iter_mut().zip(other.goals) {
            mine.merge(theirs);
        }
        self.cut += other.cut;
        self.faults += other.faults;
        self.fault = self.fault.take().or(other.fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_follow_the_textbook() {
        let mut moments = Moments::default();
        assert_eq!((moments.mean(), moments.deviation()), (None, None));
        for number in [2, 4, 4, 4, 5, 5, 7, 9] {
            moments.add(number);
        }
        assert_eq!(moments.mean(), Some(5.0));
        assert_eq!(moments.deviation(), Some((32.0f64 / 7.0).sqrt()));
    }

    #[test]
    fn merging_halves_gives_the_whole() {
        let (mut whole, mut left, mut right) = (Tally::new(1), Tally::new(1), Tally::new(1));
        for number in 0..10 {
            let half = if number < 4 { &mut left } else { &mut right };
            for tally in [half, &mut whole] {
                tally.state_changes += number;
                tally.lengths.add(number);
                tally.goals[0].add(10 * number);
            }
        }
        left.merge(right);
        assert_eq!(left, whole);
    }
}
