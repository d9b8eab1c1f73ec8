//! Numbers before nouns, and lists, in messages.

use std::fmt::Display;

/// `1 move`, `2 moves`, `1,000 matches`: a number with a regular noun, of which the last word
/// changes.
///
/// ```
/// use ggp_gdl::counted::counted;
/// assert_eq!(counted(1, "joint move"), "1 joint move");
/// assert_eq!(counted(0, "match"), "0 matches");
/// assert_eq!(counted("2,000", "symmetry"), "2,000 symmetries");
/// ```
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    match &count[..] {
        "1" => format!("1 {noun}"),
        _ => format!("{count} {}", plural(noun)),
    }
}

/// `2 to 5 moves`, or `5 moves` where both ends are equal.
///
/// ```
/// use ggp_gdl::counted::counted_range;
/// assert_eq!(counted_range(2, 5, "move"), "2 to 5 moves");
/// assert_eq!(counted_range(1, 1, "move"), "1 move");
/// ```
pub fn counted_range(least: impl Display, most: impl Display, noun: &str) -> String {
    let (least, most) = (least.to_string(), most.to_string());
    if least == most {
        counted(most, noun)
    } else {
        format!("{least} to {most} {}", plural(noun))
    }
}

/// `1 fact in one state`, `2 facts in one state`: a number with a phrase in the plural, of which
/// the first word with a final s changes.
///
/// ```
/// use ggp_gdl::counted::counted_phrase;
/// assert_eq!(counted_phrase(2, "instances of rules"), "2 instances of rules");
/// assert_eq!(counted_phrase(1, "instances of rules"), "1 instance of rules");
/// assert_eq!(counted_phrase(1, "different matches"), "1 different match");
/// ```
pub fn counted_phrase(count: impl Display, plural: &str) -> String {
    let count = count.to_string();
    let noun = plural.split(' ').find(|word| word.ends_with('s'));
    match (&count[..], noun) {
        ("1", Some(noun)) => format!("1 {}", plural.replacen(noun, &singular(noun), 1)),
        _ => format!("{count} {plural}"),
    }
}

/// The singular of a regular noun.
fn singular(noun: &str) -> String {
    let endings = ["ies", "ses", "xes", "ches", "shes"];
    match endings.iter().find(|ending| noun.ends_with(**ending)) {
        Some(&"ies") => format!("{}y", &noun[..noun.len() - 3]),
        Some(_) => noun[..noun.len() - 2].to_owned(),
        None => noun[..noun.len() - 1].to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
///
/// ```
/// use ggp_gdl::counted::all_listed;
/// assert_eq!(all_listed(&["40", "70", "100"].map(String::from)), "40, 70 and 100");
/// ```
pub fn all_listed(texts: &[String]) -> String {
    match texts {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => texts.concat(),
    }
}

/// The plural of a regular noun.
fn plural(noun: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| noun.ends_with(ending));
    match noun.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}
