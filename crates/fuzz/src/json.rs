//! Changed copies of JSON values.

use rand::{Rng, RngExt};
use serde_json::{Value, json};

/// The depth of lists in lists.
const DEEP: usize = 100;

/// Changes a value in one place. `words` are strings that mean something.
pub fn change(value: &mut Value, words: &[String], random: &mut impl Rng) {
    let at = random.random_range(0..places(value));
    let known = value.clone();
    place(value, at, &mut |value| {
        change_here(value, &known, words, random)
    });
}

/// The number of values in a value, with itself.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(fields) => fields.values().map(places).sum(),
        _ => 0,
    }
}

/// Calls a function with the value at a place. Returns the number of places that are left.
fn place(value: &mut Value, at: usize, then: &mut impl FnMut(&mut Value)) -> Option<usize> {
    let Some(mut at) = at.checked_sub(1) else {
        then(value);
        return None;
    };
    let members: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for member in members {
        at = place(member, at, then)?;
    }
    Some(at)
}

fn change_here(value: &mut Value, known: &Value, words: &[String], random: &mut impl Rng) {
    let choice = random.random_range(0..6);
    match value {
        Value::Array(items) if choice < 4 && !items.is_empty() => {
            let at = random.random_range(0..items.len());
            let other = random.random_range(0..items.len());
            match choice {
                0 => {
                    items.remove(at);
                }
                1 => items.insert(other, items[at].clone()),
                2 => items.swap(at, other),
                _ => {
                    let more = items[at].clone();
                    items.resize(items.len() + random.random_range(1..300), more);
                }
            }
        }
        Value::Object(fields) if choice < 4 && !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = &names[random.random_range(0..names.len())];
            let other = &names[random.random_range(0..names.len())];
            match choice {
                0 => {
                    fields.remove(name);
                }
                1 => {
                    fields.insert(other.clone(), fields[name].clone());
                }
                2 => {
                    let (one, two) = (fields[name].clone(), fields[other].clone());
                    fields.insert(name.clone(), two);
                    fields.insert(other.clone(), one);
                }
                _ => {
                    let moved = fields.remove(name).unwrap_or_default();
                    fields.insert(format!("{name}s"), moved);
                }
            }
        }
        Value::Number(number) if choice < 3 => {
            let number = number.as_i64().unwrap_or(1);
            let less = number.saturating_sub(1);
            let near = [number.saturating_add(1), less, number.saturating_neg()];
            *value = json!(near[choice]);
        }
        Value::String(text) if choice < 4 => {
            *text = match choice {
                0 => format!(" {} ", text.to_uppercase()),
                1 => format!("(not {text})"),
                2 => text.chars().skip(1).collect(),
                _ => word(words, random),
            };
        }
        Value::Bool(yes) if choice < 3 => *yes = !*yes,
        _ => *value = other(known, words, random),
    }
}

fn word(words: &[String], random: &mut impl Rng) -> String {
    match words.is_empty() {
        true => String::new(),
        false => words[random.random_range(0..words.len())].clone(),
    }
}

/// A value that may have another type.
fn other(known: &Value, words: &[String], random: &mut impl Rng) -> Value {
    match random.random_range(0..20) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!([]),
        3 => json!({}),
        4 => json!(0),
        5 => json!(-1),
        6 => json!(i64::MIN),
        7 => json!(u64::MAX),
        8 => json!(u32::MAX),
        9 => json!(1e308),
        10 => json!(5e-324),
        11 => json!(0.5),
        12 => json!(""),
        13 => json!("\0 \u{feff}\u{202e} \u{1d11e}\\\""),
        14 => json!("x".repeat(random.random_range(1..5_000))),
        15 => json!("(".repeat(random.random_range(1..2_000))),
        16 => (0..DEEP).fold(json!(1), |inner, _| json!([inner])),
        17 => known.clone(),
        _ => json!(word(words, random)),
    }
}

/// A value as text, now and then damaged; in one line.
pub fn line(value: &Value, random: &mut impl Rng) -> String {
    let text = value.to_string();
    match random.random_range(0..20) {
        0 => crate::change::damaged(&text, random).replace(['\n', '\r'], " "),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn every_place_is_reached() {
        let value = json!({ "a": [1, [2, 3]], "b": { "c": null } });
        assert_eq!(places(&value), 8);
        for at in 0..8 {
            let mut copy = value.clone();
            assert_eq!(place(&mut copy, at, &mut |value| *value = json!("x")), None);
            assert_ne!(copy, value, "{at}");
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let changed = (0..100).filter(|_| {
            let mut copy = value.clone();
            change(&mut copy, &["w".to_owned()], &mut random);
            copy != value
        });
        assert!(changed.count() > 70);
    }
}
