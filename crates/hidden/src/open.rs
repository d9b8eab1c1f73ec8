//! Whether all roles always know the position, although the rules have `sees`.
//!
//! In: a state that all roles know. Out: whether they know each later one. Roles that know a
//! position know the next one as well if joint moves that look alike to one of them never lead
//! to different positions. So each position is looked at once, whatever leads to it.

use std::collections::hash_map::Entry;

use ggp_engine::machine::PlayError;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::step::joints;
use super::world::{State, World};

/// The positions whose successors are looked at together.
const TOGETHER: usize = 256;

/// Whether all roles but `random` know each position after a state that they know; `None` if there
/// are more than `most` positions, or one has more joint moves.
///
/// # Errors
///
/// Those of the machine.
pub fn is_open(world: &mut World, start: &State, most: usize) -> Result<Option<bool>, PlayError> {
    let game = world.game().clone();
    let roles: Vec<RoleId> = game.roles().filter(|role| !game.is_random(*role)).collect();
    let mut met: FxHashSet<State> = FxHashSet::default();
    met.insert(world.key(start));
    let mut open = vec![start.clone()];
    while !open.is_empty() {
        let some = open.split_off(open.len().saturating_sub(TOGETHER));
        let mut tries: Vec<(usize, Vec<Move>)> = Vec::new();
        for (at, status) in world.status(&some)?.iter().enumerate() {
            let product = status.legal.iter().try_fold(1usize, |product, legal| {
                product.checked_mul(legal.len().max(1))
            });
            if product.is_none_or(|product| product > most) {
                return Ok(None);
            }
            if !status.terminal {
                joints(&status.legal, &mut |joint| tries.push((at, joint.to_vec())));
            }
        }
        let pairs = tries.iter().map(|(at, joint)| (&some[*at], &joint[..]));
        let after = world.steps(&pairs.collect::<Vec<_>>())?;
        let mut seen: FxHashMap<(usize, RoleId, Move, Vec<TermId>), State> = FxHashMap::default();
        for ((at, joint), state) in tries.iter().zip(after) {
            let key = world.key(&state);
            for role in &roles {
                let told = world.told(&state, *role);
                match seen.entry((*at, *role, joint[role.index()], told)) {
                    Entry::Occupied(other) if *other.get() != key => return Ok(Some(false)),
                    Entry::Occupied(_) => {}
                    Entry::Vacant(place) => {
                        place.insert(key.clone());
                    }
                }
            }
            if met.insert(key) {
                open.push(state);
            }
            if met.len() > most {
                return Ok(None);
            }
        }
    }
    Ok(Some(true))
}
