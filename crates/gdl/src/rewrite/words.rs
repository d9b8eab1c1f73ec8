//! Words that say nothing, and those that mean something.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::check::Keyword;

/// What our words are made of, three at a time.
const SYLLABLES: &str = "\
    ba be bi bo bu da de di do du fa fe fi fo fu ga ge gi go gu ka ke ki ko ku la le li lo lu \
    ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro ru sa se si so su ta te ti to tu \
    va ve vi vo vu za ze zi zo zu";

/// Words that other programs reserve, beside [`Keyword::ALL`].
const RESERVED: &[&str] = &["<=", "random", "knows", "infinity", "_", "nil"];

/// Whether some program gives a word, in lower case, a meaning.
pub fn is_reserved(lower: &str) -> bool {
    RESERVED.contains(&lower) || Keyword::ALL.iter().any(|keyword| keyword.as_str() == lower)
}

/// Whether a word, in lower case, is one that [`Words`] draw.
pub fn is_drawn(lower: &str) -> bool {
    let word = lower.strip_prefix('?').unwrap_or(lower).as_bytes();
    let is_syllable = |pair: &[u8]| {
        std::str::from_utf8(pair).is_ok_and(|pair| {
            SYLLABLES
                .split_ascii_whitespace()
                .any(|other| other == pair)
        })
    };
    word.len() >= 6 && word.chunks(2).all(is_syllable)
}

/// Words drawn by a seed, each once.
pub struct Words {
    random: Xoshiro256PlusPlus,
    syllables: Vec<&'static str>,
    used: HashSet<String>,
}

impl Words {
    /// The words of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut syllables: Vec<&str> = SYLLABLES.split_ascii_whitespace().collect();
        syllables.shuffle(&mut random);
        Words {
            random,
            syllables,
            used: HashSet::new(),
        }
    }

    /// A word for a name; for a variable one with its sign.
    pub fn instead_of(&mut self, name: &str) -> String {
        let sign = if name.starts_with('?') { "?" } else { "" };
        loop {
            let syllables = &self.syllables;
            let draw = |_| syllables[self.random.random_range(0..syllables.len())];
            // Past what three can say, longer words come.
            let length = 3 + self.used.len() / 100_000;
            let word: String = (0..length).map(draw).collect();
            if !is_reserved(&word) && self.used.insert(word.clone()) {
                return format!("{sign}{word}");
            }
        }
    }
}
