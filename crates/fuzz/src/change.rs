//! Changed copies of texts: damage to bytes, to tokens and to whole forms.

use rand::{Rng, RngExt};

/// The longest text that is made.
const LONGEST: usize = 200_000;

/// Tokens that mean something in rules or in messages.
const SPECIAL: [&str; 24] = [
    "(", ")", "<=", "not", "or", "and", "distinct", "true", "does", "init", "next", "legal",
    "goal", "terminal", "role", "random", "sees", "?x", "100", "()", "NIL", "START", "PLAY", ";",
];

/// One of the texts with a few changes.
pub fn changed(known: &[String], random: &mut impl Rng) -> String {
    let text = pick(known, random);
    // Bytes are damaged seldom: that is soon found by the first pass.
    if random.random_range(0..8) == 0 {
        return damaged(text, random);
    }
    let mut forms: Vec<Vec<String>> = forms(text);
    for _ in 0..random.random_range(1..6) {
        match random.random_range(0..7) {
            0 if !forms.is_empty() => {
                let at = random.random_range(0..forms.len());
                forms.remove(at);
            }
            1 if !forms.is_empty() => {
                let form = forms[random.random_range(0..forms.len())].clone();
                forms.push(form);
            }
            // A form of another text.
            2 => {
                let others = self::forms(pick(known, random));
                if !others.is_empty() {
                    forms.push(others[random.random_range(0..others.len())].clone());
                }
            }
            _ => change_tokens(&mut forms, random),
        }
    }
    let mut text = String::new();
    for form in forms {
        text += &form.join(" ");
        text.push('\n');
        if text.len() > LONGEST {
            break;
        }
    }
    text
}

fn pick<'t>(known: &'t [String], random: &mut impl Rng) -> &'t str {
    &known[random.random_range(0..known.len())]
}

/// A text with a few damaged bytes.
pub fn damaged(text: &str, random: &mut impl Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.random_range(1..10) {
        let at = random.random_range(0..=bytes.len());
        match random.random_range(0..3) {
            0 => bytes.insert(at, random.random()),
            1 => bytes.truncate(at.max(1)),
            _ if at < bytes.len() => bytes[at] = random.random(),
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Changes tokens of one form, so that brackets still match.
fn change_tokens(forms: &mut [Vec<String>], random: &mut impl Rng) {
    if forms.is_empty() {
        return;
    }
    let from = random.random_range(0..forms.len());
    let other = forms[random.random_range(0..forms.len())].clone();
    let form = &mut forms[from];
    let words: Vec<usize> = (0..form.len()).filter(|&at| is_word(&form[at])).collect();
    let Some(&at) = words.get(random.random_range(0..words.len().max(1))) else {
        return;
    };
    match random.random_range(0..6) {
        0 => form[at] = SPECIAL[random.random_range(2..SPECIAL.len())].to_owned(),
        // A word of another form, often a name with another meaning.
        1 | 2 => {
            let words: Vec<&String> = other.iter().filter(|word| is_word(word)).collect();
            if !words.is_empty() {
                form[at] = words[random.random_range(0..words.len())].clone();
            }
        }
        3 => {
            form.remove(at);
        }
        4 => {
            let word = form[at].clone();
            form.insert(at, word);
        }
        _ => {
            let wrapper = ["f", "not", "or", "s", "true"][random.random_range(0..5)];
            form.splice(
                at..=at,
                [
                    "(".to_owned(),
                    wrapper.to_owned(),
                    form[at].clone(),
                    ")".to_owned(),
                ],
            );
        }
    }
}

fn is_word(token: &str) -> bool {
    !matches!(token, "(" | ")")
}

/// The tokens of each form. Comments are left out.
fn forms(text: &str) -> Vec<Vec<String>> {
    let mut forms = Vec::new();
    let mut form: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default();
        let spaced = line.replace('(', " ( ").replace(')', " ) ");
        for token in spaced.split_whitespace() {
            match token {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            form.push(token.to_owned());
            if depth == 0 {
                forms.push(std::mem::take(&mut form));
            }
        }
    }
    if !form.is_empty() {
        forms.push(form);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_split_at_the_outermost_brackets() {
        let found = forms("(a (b c)) ; (no)\n(d)e");
        let words: Vec<String> = found.iter().map(|form| form.join(" ")).collect();
        assert_eq!(words, ["( a ( b c ) )", "( d )", "e"]);
    }
}
