//! Numbers as people read them.

/// `1,234,567`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn digits_stand_in_threes() {
        let found = [0, 999, 1000, 123_456, 1_234_567].map(thousands);
        assert_eq!(found, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
