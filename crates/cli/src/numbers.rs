//! Numbers: parsed from options and formatted for people.

use std::time::Duration;

use rand::TryRng;
use rand::rngs::SysRng;

/// A seed of this number of bits that nobody can guess.
pub(super) fn unknown_seed(bits: u32) -> u64 {
    let drawn = SysRng.try_next_u64();
    drawn.expect("the system has random numbers") >> (u64::BITS - bits)
}

/// Parses a time in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds from 0 to 1000000000".to_owned()),
    }
}

/// Formats a number with separators: `1,234,567`.
pub fn thousands(number: u64) -> String {
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
    fn digits_are_grouped_by_threes() {
        let found = [0, 999, 1000, 123_456, 1_234_567].map(thousands);
        assert_eq!(found, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
