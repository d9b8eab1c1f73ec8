//! Tournament schedules: assignments of players to the roles of a game.
//!
//! In: the numbers of players and roles, and for Swiss pairing the standings. Out: seatings.
//! Every group of players meets once in each rotation of the roles, so that each player plays
//! every role equally often within a round.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of the player at each role.
pub type Seating = Vec<usize>;

/// All groups with as many different players as possible, in all rotations; `None` if there
/// are more than `most` seatings.
///
/// The seed determines the order of players within a group, so that rounds can differ.
pub fn round_robin(players: usize, roles: usize, seed: u64, most: usize) -> Option<Vec<Seating>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut seatings = Vec::new();
    if players == 0 || roles == 0 {
        return Some(seatings);
    }
    // Player numbers in ascending order, all different if possible.
    let step = usize::from(players >= roles);
    let mut group: Vec<usize> = (0..roles).map(|place| place * step).collect();
    loop {
        let mut different = group.clone();
        different.dedup();
        if different.len() == players.min(roles) {
            if seatings.len() + roles > most {
                return None;
            }
            seatings.extend(rotations(&group, &mut random));
        }
        let can_rise = |place: &usize| group[*place] + step * (roles - 1 - *place) + 1 < players;
        let Some(place) = (0..roles).rev().find(can_rise) else {
            return Some(seatings);
        };
        let next = group[place] + 1;
        for (after, player) in group[place..].iter_mut().enumerate() {
            *player = next + after * step;
        }
    }
}

/// A group in random order, in all rotations.
fn rotations(group: &[usize], random: &mut impl Rng) -> Vec<Seating> {
    let mut order = group.to_vec();
    order.shuffle(random);
    let rotated = |by: usize| {
        let mut seating = order.clone();
        seating.rotate_left(by);
        seating
    };
    (0..order.len()).map(rotated).collect()
}

/// The standing of a player.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Standing {
    /// The sum of the points of its matches.
    pub points: f64,
    /// The number of matches.
    pub matches: u64,
}

impl Standing {
    fn mean(&self) -> f64 {
        match self.matches {
            0 => 0.5,
            matches => self.points / matches as f64,
        }
    }
}

/// Swiss pairing: groups of players with similar standings that have seldom met, in all
/// rotations.
///
/// If the number of players is not divisible, those with the most matches are left out, the
/// lowest in standing first. `met` returns the number of earlier meetings of two players.
pub fn swiss(
    standings: &[Standing],
    roles: usize,
    seed: u64,
    met: impl Fn(usize, usize) -> u64,
) -> Vec<Seating> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..standings.len()).collect();
    order.shuffle(&mut random);
    order.sort_by(|&a, &b| standings[b].mean().total_cmp(&standings[a].mean()));
    if roles == 0 || standings.len() < roles {
        // There are too few players for a group.
        return round_robin(standings.len(), roles, seed, usize::MAX).unwrap_or_default();
    }
    for _ in 0..standings.len() % roles {
        let most = order.iter().map(|&player| standings[player].matches).max();
        let idle = order
            .iter()
            .rposition(|&player| Some(standings[player].matches) == most);
        order.remove(idle.expect("there are players"));
    }
    let mut seatings = Vec::new();
    while !order.is_empty() {
        let mut group = vec![order.remove(0)];
        while group.len() < roles {
            let often = |player: usize| group.iter().map(|&other| met(player, other)).sum::<u64>();
            let next = (0..order.len()).min_by_key(|&place| often(order[place]));
            group.push(order.remove(next.expect("the number of players is divisible")));
        }
        seatings.extend(rotations(&group, &mut random));
    }
    seatings
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn every_player_plays_every_role_equally_often() {
        for (players, roles, count) in [
            (2, 2, 2),
            (4, 2, 12),
            (3, 1, 3),
            (5, 3, 30),
            (2, 3, 6),
            (3, 4, 12),
            (1, 2, 2),
        ] {
            let seatings = round_robin(players, roles, 7, 1000).expect("few enough");
            assert_eq!(seatings.len(), count, "{players} players, {roles} roles");
            for role in 0..roles {
                let mut often = BTreeMap::new();
                for seating in &seatings {
                    *often.entry(seating[role]).or_insert(0) += 1;
                }
                let values: BTreeSet<_> = often.values().collect();
                assert!(often.len() == players && values.len() == 1, "{often:?}");
            }
        }
    }

    #[test]
    fn too_many_seatings_are_rejected() {
        assert_eq!(round_robin(60, 6, 0, 10_000), None);
        assert_eq!(round_robin(0, 2, 0, 10), Some(Vec::new()));
    }

    fn standing(points: f64) -> Standing {
        Standing { points, matches: 2 }
    }

    #[test]
    fn neighbours_that_have_not_met_are_paired() {
        let standings = [2.0, 0.0, 2.0, 0.0].map(standing);
        let seatings = swiss(&standings, 2, 1, |_, _| 0);
        let pairs: BTreeSet<BTreeSet<usize>> = seatings
            .iter()
            .map(|seating| seating.iter().copied().collect())
            .collect();
        assert_eq!(
            pairs,
            BTreeSet::from([BTreeSet::from([0, 2]), BTreeSet::from([1, 3])])
        );
        assert_eq!(seatings.len(), 4);
        let seatings = swiss(&standings, 2, 1, |a, b| u64::from(a % 2 == b % 2));
        assert!(
            seatings
                .iter()
                .all(|seating| seating[0] % 2 != seating[1] % 2)
        );
    }

    #[test]
    fn the_player_with_the_most_matches_is_left_out() {
        let mut standings = [2.0, 1.0, 0.0].map(standing);
        standings[0].matches = 4;
        let seatings = swiss(&standings, 2, 1, |_, _| 0);
        assert!(seatings.iter().all(|seating| !seating.contains(&0)));
    }
}
