//! The editor grammars know the keywords, and no other words.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ggp_gdl::check::Keyword;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("editors")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn keywords() -> BTreeSet<String> {
    Keyword::ALL
        .iter()
        .map(|keyword| keyword.as_str().to_owned())
        .collect()
}

#[test]
fn the_textmate_grammar_knows_the_keywords() {
    let grammar: serde_json::Value =
        serde_json::from_str(&read("textmate/kif.tmLanguage.json")).expect("it is JSON");
    let patterns = grammar["repository"]["keyword"]["patterns"]
        .as_array()
        .expect("a list");
    let mut words = BTreeSet::new();
    for pattern in patterns {
        let pattern = pattern["match"].as_str().expect("a text");
        let pattern = pattern.replace("(?i)", " ").replace("\\s", " ");
        let parts = pattern.split(|c: char| !c.is_ascii_lowercase());
        words.extend(parts.filter(|word| word.len() > 1).map(str::to_owned));
    }
    assert_eq!(words, keywords());
    // Every pattern that is referred to exists.
    let included = grammar["repository"]["form"]["patterns"]
        .as_array()
        .expect("a list");
    for part in included {
        let name = part["include"]
            .as_str()
            .expect("a text")
            .trim_start_matches('#');
        assert!(grammar["repository"][name].is_object(), "{name}");
    }
    let package: serde_json::Value =
        serde_json::from_str(&read("textmate/package.json")).expect("it is JSON");
    assert_eq!(
        package["contributes"]["grammars"][0]["scopeName"],
        grammar["scopeName"]
    );
    serde_json::from_str::<serde_json::Value>(&read("textmate/language-configuration.json"))
        .expect("it is JSON");
}

#[test]
fn the_tree_sitter_grammar_knows_the_keywords() {
    let grammar = read("tree-sitter-kif/grammar.js");
    let mut words = BTreeSet::new();
    for list in grammar.split("words(\"").skip(1) {
        let list = list.split(')').next().expect("it ends");
        let parts = list.split(|c: char| !c.is_ascii_lowercase());
        words.extend(parts.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    assert_eq!(words, keywords());
}

/// The parser is generated from the grammar; see `editors/README.md`.
#[test]
fn the_parser_is_generated_from_the_grammar() {
    let made: serde_json::Value =
        serde_json::from_str(&read("tree-sitter-kif/src/grammar.json")).expect("it is JSON");
    let source = read("tree-sitter-kif/grammar.js");
    for (name, rule) in made["rules"].as_object().expect("rules by name") {
        let start = source.find(&format!("\n    {name}: ")).expect(name);
        // The literal strings in a rule.
        let own = source[start..].split("\n\n").next().expect("it ends");
        let text = rule.to_string();
        for word in own.split('"').skip(1).step_by(2) {
            let any_case: String = (word.chars())
                .map(|c| format!("[{c}{}]", c.to_ascii_uppercase()))
                .collect();
            assert!(
                text.contains(&format!("\"{word}\"")) || text.contains(&any_case),
                "{word}"
            );
        }
    }
    let parser = read("tree-sitter-kif/src/parser.c");
    assert!(parser.contains("const TSLanguage *tree_sitter_kif(void)"));
}
