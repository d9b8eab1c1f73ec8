//! JSON that commands read.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

/// Parses JSON. `expected` describes it in messages: "a JSON list of …".
///
/// # Errors
///
/// A message with the description, and with the reason or the place if that is known.
pub fn parse<T: DeserializeOwned>(text: &str, expected: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let names_a_field = why.starts_with("missing field") || why.starts_with("unknown");
        match (error.classify(), error.column()) {
            (Category::Data, _) if names_a_field => format!("expected {expected}: {why}"),
            // The value as a whole does not fit. Other reasons of the parser name types of
            // the program.
            (Category::Data, 0) => format!("expected {expected}"),
            (Category::Data, column) => {
                let line = error.line();
                format!(
                    "expected {expected}: the value at line {line}, column {column} does not fit"
                )
            }
            _ => format!("expected {expected}, but it is not valid JSON: {why}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn messages_describe_the_expected_json() {
        #[derive(Debug, serde::Deserialize)]
        struct Pair {
            #[serde(rename = "left")]
            _left: u8,
        }
        let said = |text: &str| parse::<Vec<Pair>>(text, "a JSON list").unwrap_err();
        assert_eq!(said("{}"), "expected a JSON list");
        assert_eq!(
            said("[{}]"),
            "expected a JSON list: missing field `left` at line 1 column 3"
        );
        assert_eq!(
            said("[{\"left\": -1}]"),
            "expected a JSON list: the value at line 1, column 12 does not fit"
        );
        assert!(said("[").starts_with("expected a JSON list, but it is not valid JSON: EOF"));
    }
}
