//! Other names for the same game.

/// The rules with every name replaced but those that GDL reserves.
pub fn scrambled(text: &str) -> String {
    const RESERVED: [&str; 16] = [
        "role", "init", "true", "next", "legal", "does", "goal", "terminal", "base", "input",
        "distinct", "not", "or", "and", "sees", "random",
    ];
    let mut names: Vec<String> = Vec::new();
    let mut out = String::new();
    for line in text.lines() {
        let rules = line.split(';').next().unwrap_or_default();
        let mut rest = rules;
        while let Some(c) = rest.chars().next() {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            let is_score = ["100", "50", "0"].contains(&word);
            if word.is_empty() || is_score || RESERVED.contains(&word) {
                let step = word.len().max(c.len_utf8());
                out.push_str(&rest[..step]);
                rest = &rest[step..];
                continue;
            }
            let known = names.iter().position(|name| name == word);
            let number = known.unwrap_or_else(|| {
                names.push(word.to_owned());
                names.len() - 1
            });
            out.push_str(&format!("x{number}y"));
            rest = &rest[end..];
        }
        out.push('\n');
    }
    out
}
