//! What playouts come to.

/// Count, sum and sum of squares of some whole numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Moments {
    /// How many numbers.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares.
    pub squares: u128,
}

impl Moments {
    /// Takes in one number.
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.squares += u128::from(number) * u128::from(number);
    }

    /// Takes in the numbers of others.
    pub fn merge(&mut self, other: Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean; none of no numbers.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard deviation, as estimated from a sample; none of fewer than
    /// two numbers.
    pub fn deviation(self) -> Option<f64> {
        let count = u128::from(self.count);
        // n Σx² - (Σx)² is exact and never negative, however close the numbers.
        // Squares that were not summed say nothing.
        let spread = (count * self.squares).checked_sub(self.sum * self.sum)?;
        let degrees = count * count.saturating_sub(1);
        (degrees > 0).then(|| (spread as f64 / degrees as f64).sqrt())
    }
}

/// What a run came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Joint moves, also those of playouts that were not finished.
    pub state_changes: u64,
    /// State changes of each playout that reached the end or the depth limit;
    /// its count is the number of playouts.
    pub lengths: Moments,
    /// Whether the sum of the lengths is not known, only their number.
    pub lengths_unknown: bool,
    /// By role: the goals of the playouts that reached the end. All have the
    /// same count: a playout with a bad goal for some role counts for none.
    pub goals: Vec<Moments>,
    /// Playouts cut by the depth limit.
    pub cut: u64,
    /// Playouts that showed the rules to be wrong: a role without a move, a
    /// goal that is missing or none.
    pub faults: u64,
    /// The first of these faults.
    pub fault: Option<String>,
}

impl Tally {
    /// Nothing played yet, for so many roles.
    pub fn new(roles: usize) -> Self {
        Tally {
            goals: vec![Moments::default(); roles],
            ..Tally::default()
        }
    }

    /// Takes in what another thread played.
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
    fn mean_and_deviation_are_those_of_the_textbook() {
        let mut moments = Moments::default();
        assert_eq!((moments.mean(), moments.deviation()), (None, None));
        for number in [2, 4, 4, 4, 5, 5, 7, 9] {
            moments.add(number);
        }
        assert_eq!(moments.mean(), Some(5.0));
        assert_eq!(moments.deviation(), Some((32.0f64 / 7.0).sqrt()));
    }

    #[test]
    fn halves_make_the_whole() {
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
