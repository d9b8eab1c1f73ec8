//! Groups of permutations as chains of stabilizers.
//!
//! A permutation of `n` points is the list of their images. A chain has base points, and
//! for each one its orbit in the group that fixes all earlier base points, with one element
//! of that group for each point of the orbit. The order of the group is the product of the
//! sizes of the orbits.
//!
//! Source: Sims, Computational methods in the study of permutation groups (1970); Seress,
//! Permutation Group Algorithms (2003), chapter 4.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The images of all points.
pub(super) type Permutation = Vec<u16>;

/// Number of random elements in a row that add nothing, after which a chain is believed to
/// be complete: one that lacks an element passes each of them with a chance of at most 1/2.
const ROUNDS: usize = 20;
/// Number of elements that random ones are made of, and of products before the first one.
const SLOTS: usize = 10;
const MIXED: usize = 50;
/// The memory of a level without elements, in permutations.
const LEVEL: usize = 2 + size_of::<Option<[Permutation; 2]>>() / size_of::<u16>();

/// The product that applies `second` after `first`.
pub(super) fn product(second: &[u16], first: &[u16]) -> Permutation {
    first.iter().map(|&point| second[point as usize]).collect()
}

/// The permutation that takes all points back.
pub(super) fn inverse(of: &[u16]) -> Permutation {
    let mut back = vec![0; of.len()];
    for (&image, point) in of.iter().zip(0..) {
        back[image as usize] = point;
    }
    back
}

/// The permutation that moves nothing.
pub(super) fn identity(points: usize) -> Permutation {
    (0..points as u16).collect()
}

fn is_identity(of: &[u16]) -> bool {
    of.iter().zip(0..).all(|(&image, point)| image == point)
}

/// Limits on the work for groups.
pub(super) struct Work {
    /// The number of products of permutations that are left for all groups.
    pub products: usize,
    /// Limit on the memory of one group, in permutations.
    pub kept: usize,
}

impl Work {
    /// None if no products are left.
    fn spend(&mut self, products: usize) -> Option<()> {
        self.products = self.products.checked_sub(products)?;
        Some(())
    }
}

/// A group that is given by generators.
pub(super) struct Group {
    points: usize,
    levels: Vec<Level>,
    /// The memory that is used, in permutations.
    kept: usize,
}

/// A base point, and the group that fixes the earlier ones.
struct Level {
    base: u16,
    generators: Vec<Permutation>,
    orbit: Vec<u16>,
    /// By point of the orbit: an element that takes the base point there, and its inverse.
    to: Vec<Option<[Permutation; 2]>>,
}

impl Level {
    fn new(base: u16, points: usize) -> Level {
        let mut to = vec![None; points];
        to[base as usize] = Some([identity(points), identity(points)]);
        Level {
            base,
            generators: Vec::new(),
            orbit: vec![base],
            to,
        }
    }

    /// Adds a generator. Returns the number of products that this took.
    fn add(&mut self, generator: &[u16]) -> usize {
        self.generators.push(generator.to_vec());
        // Points before `old` have met all generators but the new one.
        let (old, mut next, mut products) = (self.orbit.len(), 0, 0);
        while next < self.orbit.len() {
            let point = self.orbit[next];
            let first = match next < old {
                true => self.generators.len() - 1,
                false => 0,
            };
            for number in first..self.generators.len() {
                let image = self.generators[number][point as usize];
                if self.to[image as usize].is_none() {
                    let [before, _] = self.to[point as usize].as_ref().expect("it is reached");
                    let there = product(&self.generators[number], before);
                    let back = inverse(&there);
                    self.to[image as usize] = Some([there, back]);
                    self.orbit.push(image);
                    products += 2;
                }
            }
            next += 1;
        }
        products
    }
}

impl Group {
    /// The group with these generators. Its first base points are `base`. None if `work` does
    /// not suffice.
    ///
    /// A group may come out too small, with a chance of about one in a million:
    /// [`Group::complete`] excludes that.
    pub fn new(
        points: usize,
        base: &[u16],
        generators: &[&[u16]],
        work: &mut Work,
    ) -> Option<Group> {
        let kept = LEVEL * base.len();
        (kept <= work.kept).then_some(())?;
        let mut group = Group {
            points,
            levels: base.iter().map(|&base| Level::new(base, points)).collect(),
            kept,
        };
        for &generator in generators {
            if !is_identity(generator) {
                group.add(0, generator, work)?;
            }
        }
        let mut slots: Vec<Permutation> = generators
            .iter()
            .cycle()
            .take(generators.len().max(SLOTS))
            .map(|&generator| generator.to_vec())
            .collect();
        let (mut random, mut last) = (
            Xoshiro256PlusPlus::seed_from_u64(generators.len() as u64),
            identity(points),
        );
        let (mut count, mut kept) = (0, 0);
        while kept < ROUNDS && slots.len() > 1 {
            // Product replacement: each slot is multiplied by others.
            let [one, other] = [0; 2].map(|_| random.random_range(0..slots.len()));
            if one == other {
                continue;
            }
            slots[one] = product(&slots[one], &slots[other]);
            last = product(&last, &slots[one]);
            count += 1;
            work.spend(2)?;
            if count > MIXED {
                match group.insert(&last, 0, work)? {
                    true => kept = 0,
                    false => kept += 1,
                }
            }
        }
        Some(group)
    }

    /// Adds a generator of the group of a level.
    fn add(&mut self, level: usize, generator: &[u16], work: &mut Work) -> Option<()> {
        if level == self.levels.len() {
            let moved = generator
                .iter()
                .zip(0..)
                .find(|(image, point)| *image != point);
            let (_, base) = moved.expect("it is not the identity");
            self.levels.push(Level::new(base, self.points));
            self.kept += LEVEL;
        }
        let products = self.levels[level].add(generator);
        self.kept += products + 1;
        (self.kept <= work.kept).then_some(())?;
        work.spend(products + 1)
    }

    /// Adds an element of the group of a level. Returns false if it is known.
    fn insert(&mut self, element: &[u16], level: usize, work: &mut Work) -> Option<bool> {
        let (rest, at) = self.sift(element.to_vec(), level);
        work.spend(at - level + 1)?;
        if at == self.levels.len() && is_identity(&rest) {
            return Some(false);
        }
        // It fixes all base points before `at`, so it belongs to all groups up to there. The
        // first level knows all generators.
        for level in level.max(1)..=at {
            self.add(level, &rest, work)?;
        }
        Some(true)
    }

    /// Divides an element of the group of a level by elements of the chain. Returns what is
    /// left, and the level that lacks a divisor.
    fn sift(&self, mut element: Permutation, from: usize) -> (Permutation, usize) {
        for (level, at) in self.levels[from..].iter().zip(from..) {
            let image = element[level.base as usize];
            let Some([_, back]) = &level.to[image as usize] else {
                return (element, at);
            };
            if image != level.base {
                element = product(back, &element);
            }
        }
        (element, self.levels.len())
    }

    /// Adds all elements that are still missing (Schreier's lemma). None if `work` does not
    /// suffice.
    pub fn complete(&mut self, work: &mut Work) -> Option<()> {
        let mut level = self.levels.len();
        while level > 0 {
            level -= 1;
            let mut added = false;
            let orbit = self.levels[level].orbit.clone();
            let generators = self.levels[level].generators.clone();
            for (point, generator) in orbit
                .iter()
                .flat_map(|&point| generators.iter().map(move |generator| (point, generator)))
            {
                let image = generator[point as usize];
                let to = |point: u16| self.levels[level].to[point as usize].as_ref();
                let [there, _] = to(point).expect("it is in the orbit");
                let [_, back] = to(image).expect("it is in the orbit");
                let fixes = product(back, &product(generator, there));
                work.spend(2)?;
                added |= self.insert(&fixes, level + 1, work)?;
            }
            if added {
                level = self.levels.len();
            }
        }
        Some(())
    }

    /// The natural logarithm of the number of elements that fix the first `base` base points.
    pub fn ln_order(&self, base: usize) -> f64 {
        let sizes = self.levels[base..]
            .iter()
            .map(|level| level.orbit.len() as f64);
        sizes.map(f64::ln).sum()
    }

    /// True if the group has an element.
    pub fn contains(&self, element: &[u16]) -> bool {
        let (rest, _) = self.sift(element.to_vec(), 0);
        is_identity(&rest)
    }

    /// The group that fixes the first `base` base points.
    pub fn stabilizer(mut self, base: usize) -> Group {
        self.levels.drain(..base);
        self
    }

    /// An element that takes the first base points to these points.
    pub fn taking(&self, images: &[u16]) -> Option<Permutation> {
        let mut images = images.to_vec();
        let mut element = identity(self.points);
        for (number, level) in (0..images.len()).zip(&self.levels) {
            let [there, back] = level.to[images[number] as usize].as_ref()?;
            element = product(&element, there);
            for image in &mut images {
                *image = back[*image as usize];
            }
        }
        Some(element)
    }

    /// The first of all products of `element` after an element of the group, by the images of
    /// the base points. It is written to `element`.
    pub fn first_of_coset(&self, element: &mut Permutation, room: &mut Permutation) {
        for level in &self.levels {
            let image = |&&point: &&u16| element[point as usize];
            let least = level
                .orbit
                .iter()
                .min_by_key(image)
                .expect("the base point");
            if *least != level.base {
                let [there, _] = (level.to[*least as usize].as_ref()).expect("it is in the orbit");
                room.clear();
                room.extend(there.iter().map(|&point| element[point as usize]));
                std::mem::swap(element, room);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom;
    use rustc_hash::FxHashSet;

    fn enough() -> Work {
        Work {
            products: 1 << 30,
            kept: 1 << 20,
        }
    }

    fn group(points: usize, base: &[u16], generators: &[Permutation]) -> Group {
        let generators: Vec<&[u16]> = generators.iter().map(|g| &g[..]).collect();
        Group::new(points, base, &generators, &mut enough()).unwrap()
    }

    /// All elements, one product after the other.
    fn elements(points: usize, generators: &[Permutation]) -> FxHashSet<Permutation> {
        let mut known: FxHashSet<Permutation> = [identity(points)].into_iter().collect();
        let mut new = vec![identity(points)];
        while let Some(element) = new.pop() {
            for generator in generators {
                let next = product(generator, &element);
                if known.insert(next.clone()) {
                    new.push(next);
                }
            }
        }
        known
    }

    /// Two random generators that keep some points to themselves.
    fn random_generators(seed: u64) -> Vec<Permutation> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..2)
            .map(|_| {
                let mut points: Permutation = identity(7);
                let kept = seed as usize % 4;
                points[kept..].shuffle(&mut random);
                points
            })
            .collect()
    }

    #[test]
    fn a_chain_has_the_elements_that_products_reach() {
        for seed in 0..40 {
            let generators = random_generators(seed);
            let all = elements(7, &generators);
            let mut chain = group(7, &[6, 2], &generators);
            let size = |chain: &Group| chain.ln_order(0).exp().round() as usize;
            assert_eq!(size(&chain), all.len(), "seed {seed}");
            chain.complete(&mut enough()).unwrap();
            assert_eq!(size(&chain), all.len(), "seed {seed}");
            for element in elements(7, &random_generators(seed + 4)).iter().take(500) {
                assert_eq!(chain.contains(element), all.contains(element));
            }
            for images in (0..7).flat_map(|a| (0..7).map(move |b| [a, b])) {
                let expected = all.iter().any(|e| [e[6], e[2]] == images);
                let taking = chain.taking(&images).filter(|e| [e[6], e[2]] == images);
                assert_eq!(taking.is_some(), expected, "seed {seed}, {images:?}");
                assert!(taking.is_none_or(|e| all.contains(&e)));
            }
        }
    }

    #[test]
    fn schreiers_lemma_completes_a_chain() {
        // The chain of a group that knows its generators alone.
        for seed in 0..40 {
            let generators = random_generators(seed);
            let mut chain = Group {
                points: 7,
                levels: vec![],
                kept: 0,
            };
            for generator in generators
                .iter()
                .filter(|generator| !is_identity(generator))
            {
                chain.add(0, generator, &mut enough()).unwrap();
            }
            chain.complete(&mut enough()).unwrap();
            let size = chain.ln_order(0).exp().round() as usize;
            assert_eq!(size, elements(7, &generators).len(), "seed {seed}");
            let little = &mut Work {
                products: 3,
                kept: 1 << 20,
            };
            assert!(chain.complete(little).is_none() || size < 3, "seed {seed}");
        }
    }

    #[test]
    fn elements_of_a_coset_have_the_same_first_one() {
        for seed in 0..20 {
            let generators = random_generators(seed);
            let squares: Vec<Permutation> = generators.iter().map(|g| product(g, g)).collect();
            let (all, small) = (elements(7, &generators), elements(7, &squares));
            let subgroup = group(7, &[], &squares);
            let first = |element: &Permutation| {
                let mut first = element.clone();
                subgroup.first_of_coset(&mut first, &mut Vec::new());
                first
            };
            let firsts: FxHashSet<Permutation> = all.iter().map(first).collect();
            assert_eq!(firsts.len() * small.len(), all.len(), "seed {seed}");
            for element in all.iter().take(100) {
                let expected = first(element);
                assert!(
                    small
                        .iter()
                        .all(|s| first(&product(element, s)) == expected)
                );
            }
        }
    }
}
