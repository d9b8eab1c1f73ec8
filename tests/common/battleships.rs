//! Battleship on larger seas than the bundled one.

/// The rules of a game of battleship on square seas, made from the bundled rules. The ships have
/// `longest` cells, one less, and so on to two.
pub fn battleship(side: usize, longest: usize) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/games/battleship.kif");
    let rules = std::fs::read_to_string(path).expect("the game is bundled");
    let mut text = String::new();
    for line in rules.lines() {
        let is_sized = ["(row ", "(sea ", "(follows "];
        if !is_sized.iter().any(|fact| line.starts_with(fact)) && line != "(init (placing 3))" {
            text += line;
            text += "\n";
        }
    }
    for n in 1..=side {
        text += &format!("(row {n}) (sea left {n}) (sea right {})\n", side + n);
    }
    for n in 1..2 * side {
        text += &format!("(follows {n} {})\n", n + 1);
    }
    for length in 4..=longest {
        text += &format!("(length {length}) (after {length} {})\n", length - 1);
    }
    text + &format!("(init (placing {longest}))\n")
}
