//! Lists of canonical texts and their digests.

use sha2::{Digest, Sha256};

/// The SHA-256 of bytes, in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The digest of a list: the digest of its distinct lines, sorted by bytes and joined by
/// line feeds.
pub fn list_digest(list: &[String]) -> String {
    sha256(canonical_list(list).join("\n").as_bytes())
}

/// The distinct lines, sorted by bytes.
pub(super) fn canonical_list(list: &[String]) -> Vec<&str> {
    let mut lines: Vec<&str> = list.iter().map(String::as_str).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_list_has_the_digest_of_nothing() {
        assert!(list_digest(&[]).starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let once = list_digest(&list(&["a", "b"]));
        assert_eq!(list_digest(&list(&["b", "a", "b"])), once);
        assert_eq!(once, sha256(b"a\nb"));
    }
}
