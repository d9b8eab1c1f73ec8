//! Random rule sets that are nearly always valid.

use std::fmt::Write as _;

use rand::{Rng, RngExt};

use crate::change;

const CONSTANTS: [&str; 3] = ["a", "b", "c"];
const VARIABLES: [&str; 3] = ["?x", "?y", "?z"];

/// A random rule set, or a changed copy of a known text.
pub fn any(known: &[String], random: &mut impl Rng) -> String {
    match random.random_bool(0.3) {
        true => generate(random),
        false => change::changed(known, random),
    }
}

/// Rules of a random game. Each relation has a level: a rule uses relations of its own level
/// and below, and negates those of lower levels only.
pub fn generate(random: &mut impl Rng) -> String {
    let mut out = String::new();
    let roles = random.random_range(1..4);
    for role in 0..roles {
        let is_chance = role == 2 && random.random();
        let name = if is_chance {
            "random".to_owned()
        } else {
            format!("r{role}")
        };
        let _ = writeln!(out, "(role {name})");
        let _ = writeln!(out, "(legal {name} wait)");
        let _ = writeln!(
            out,
            "(<= (legal {name} (take ?x)) (e0 ?x) {})",
            literal(1, &["?x"], random)
        );
        let _ = writeln!(out, "(<= (goal {name} 100) {})", literal(3, &[], random));
        let _ = writeln!(out, "(<= (goal {name} 0) (not (d1 a)))");
    }
    for constant in CONSTANTS {
        if random.random_bool(0.7) {
            let _ = writeln!(out, "(e0 {constant})");
        }
        let _ = writeln!(
            out,
            "(e1 {constant} {})",
            CONSTANTS[random.random_range(0..3)]
        );
        if random.random() {
            let _ = writeln!(out, "(init (s {constant}))");
        }
    }
    let _ = writeln!(out, "(e0 a) (init (p a b))");
    for level in 1..4 {
        for _ in 0..random.random_range(1..4) {
            rule(&mut out, &format!("(d{level} ?x)"), level, random);
        }
    }
    for _ in 0..random.random_range(1..5) {
        let head = [
            "(next (s ?x))",
            "(next (p ?x ?x))",
            "(next (s (f ?x)))",
            "(next (p a ?x))",
        ];
        rule(&mut out, head[random.random_range(0..4)], 3, random);
    }
    let _ = writeln!(out, "(<= (next (s ?x)) (does r0 (take ?x)))");
    let _ = writeln!(out, "(<= terminal {})", literal(3, &[], random));
    out
}

/// A rule whose head has the variable `?x`.
fn rule(out: &mut String, head: &str, level: usize, random: &mut impl Rng) {
    let _ = write!(out, "(<= {head}");
    let mut bound = vec!["?x"];
    let _ = write!(out, " {}", binder(level, "?x", random));
    for variable in &VARIABLES[1..random.random_range(1..4)] {
        let _ = write!(out, " {}", binder(level, variable, random));
        bound.push(variable);
    }
    for _ in 0..random.random_range(0..4) {
        let _ = write!(out, " {}", literal(level, &bound, random));
    }
    out.push_str(")\n");
}

/// A literal that binds a variable.
fn binder(level: usize, variable: &str, random: &mut impl Rng) -> String {
    match random.random_range(0..6) {
        0 => format!("(e0 {variable})"),
        1 => format!("(true (s {variable}))"),
        2 => format!("(e1 {variable} {})", term(&[variable], random)),
        3 => format!("(true (p {variable} {}))", term(&[], random)),
        4 => format!("(d{} {variable})", random.random_range(1..=level)),
        _ => format!("(or (e0 {variable}) (true (s {variable})))"),
    }
}

/// A test of bound variables.
fn literal(level: usize, bound: &[&str], random: &mut impl Rng) -> String {
    let atom = |below: usize, random: &mut _| match pick(4, random) {
        0 => format!("(e0 {})", term(bound, random)),
        1 => format!("(true (s {}))", term(bound, random)),
        2 => format!("(true (p {} {}))", term(bound, random), term(bound, random)),
        _ if below == 0 => format!("(e1 {} {})", term(bound, random), term(bound, random)),
        _ => format!("(d{} {})", 1 + pick(below, random), term(bound, random)),
    };
    match pick(5, random) {
        0 => format!("(not {})", atom(level - 1, random)),
        1 => format!("(distinct {} {})", term(bound, random), term(bound, random)),
        2 => format!("(or {} {})", atom(level, random), atom(level - 1, random)),
        _ => atom(level, random),
    }
}

fn pick(below: usize, random: &mut impl Rng) -> usize {
    random.random_range(0..below)
}

fn term(bound: &[&str], random: &mut impl Rng) -> String {
    match random.random_range(0..4) {
        0 | 1 if !bound.is_empty() => bound[random.random_range(0..bound.len())].to_owned(),
        2 => format!("(f {})", CONSTANTS[random.random_range(0..3)]),
        _ => CONSTANTS[random.random_range(0..3)].to_owned(),
    }
}
