//! Name patterns with `*` and `?`.

/// Whether the name matches: `*` matches any text, `?` any character.
pub(super) fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    // The position of the last star, and the end of the text it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                g += 1;
                n += 1;
            }
            _ => match star {
                Some((at, eaten)) => {
                    star = Some((at, eaten + 1));
                    g = at + 1;
                    n = eaten + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks_match_text() {
        for (glob, name, fits) in [
            ("chess", "chess", true),
            ("chess", "chess@v0", false),
            ("chess*", "chess@v0", true),
            ("*/or_*", "mini/or_basic", true),
            ("*a*b", "xaxxbxb", true),
            ("?", "", false),
            ("queens??", "queens06", true),
        ] {
            assert_eq!(matches(glob, name), fits, "{glob} {name}");
        }
    }
}
