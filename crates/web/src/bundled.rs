//! The games that are embedded in the program, as files.

use include_dir::{Dir, include_dir};

static BUNDLED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/games");

/// The folder of files that need the rules of another game.
const INSTANCES: &str = "instances/";

/// Games whose matches are shown at the top of the start page, in turn.
const FEATURED: [&str; 3] = ["connect_four", "breakthrough", "othello"];

/// The place of a game among those whose matches are shown at the top, from 1 on.
pub(super) fn featured(id: &str) -> Option<usize> {
    let place = FEATURED.iter().position(|featured| *featured == id)?;
    Some(place + 1)
}

/// The names of all games that are embedded, ascending.
pub fn names() -> Vec<String> {
    let folders = std::iter::once(&BUNDLED).chain(BUNDLED.get_dir("instances"));
    let stems = folders.flat_map(Dir::files).filter_map(|file| {
        let name = file.path().file_name()?.to_str()?;
        Some(name.strip_suffix(".kif")?.to_owned())
    });
    let mut names: Vec<String> = stems.collect();
    names.sort();
    names
}

/// Returns whether there is a game of this name.
pub(super) fn exists(id: &str) -> bool {
    files(id).iter().all(|file| BUNDLED.contains(file))
}

/// The first instance of rules that need one, or the game itself.
pub(super) fn playable(id: &str) -> String {
    let mut names = names().into_iter();
    let first = names.find(|name| rules_of(name) == Some(id));
    first.unwrap_or_else(|| id.to_owned())
}

/// The game that an instance belongs to: the longest name that is a prefix of the
/// instance's name. `None` for a game of its own.
pub(super) fn rules_of(instance: &str) -> Option<&str> {
    let is_game = |name: &str| BUNDLED.contains(format!("{name}.kif"));
    if is_game(instance) {
        return None;
    }
    let ends = instance
        .rmatch_indices('_')
        .map(|(end, _)| &instance[..end]);
    let mut games = ends.filter(|game| is_game(game));
    games.next()
}

/// The family of a game: the shortest name of a rule file that its name begins with. Sizes,
/// instances and other variants of a game belong to the same family.
pub(super) fn family(id: &str) -> &str {
    let ends = id.match_indices('_').map(|(end, _)| &id[..end]);
    let mut games = ends.filter(|name| BUNDLED.contains(format!("{name}.kif")));
    games.next().unwrap_or(id)
}

/// The rules of an embedded game: the names and texts of its files; `None` if no game has this name.
///
/// ```
/// let rules = ggp_web::bundled::rules("tic_tac_toe").expect("it is embedded");
/// assert_eq!(rules[0].0, "tic_tac_toe.kif");
/// assert!(ggp_web::bundled::rules("../secret").is_none());
/// ```
pub fn rules(name: &str) -> Option<Vec<(String, String)>> {
    let files = files(name).into_iter();
    files
        .map(|file| text(&file).map(|text| (file, text)))
        .collect()
}

/// The files of a game.
pub(super) fn files(id: &str) -> Vec<String> {
    let own = format!("{id}.kif");
    match rules_of(id) {
        Some(game) => vec![format!("{game}.kif"), format!("{INSTANCES}{own}")],
        None => vec![own],
    }
}

/// The picture file of a game. An instance without one uses that of its rules.
pub(super) fn picture(id: &str, text: impl Fn(&str) -> Option<String>) -> Option<String> {
    let own = |id: &str| text(&format!("{id}.picture.toml"));
    own(id).or_else(|| own(rules_of(id)?))
}

/// The content of a file.
pub(super) fn text(file: &str) -> Option<String> {
    let file = BUNDLED.get_file(file)?;
    file.contents_utf8().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_belong_to_one_family() {
        for (id, expected) in [
            ("hitori_3x3_a", "hitori"),
            ("lights_out_all_on_5x5", "lights_out"),
            ("breakthrough_small", "breakthrough"),
            ("breakthrough", "breakthrough"),
            ("three_player_race", "three_player_race"),
            ("no_such_game", "no_such_game"),
        ] {
            assert_eq!(family(id), expected);
        }
    }

    #[test]
    fn an_instance_is_drawn_as_its_rules_say_unless_it_has_a_say() {
        let check = |id: &str, there: &[&str], expected: Option<&str>| {
            let text = |file: &str| there.contains(&file).then(|| file.to_owned());
            let found = picture(id, text);
            assert_eq!(found.as_deref(), expected, "{id} {there:?}");
        };
        let (rules, own) = ("sudoku.picture.toml", "sudoku_4x4.picture.toml");
        check("sudoku", &[rules], Some(rules));
        check("sudoku_4x4", &[rules], Some(rules));
        check("sudoku_4x4", &[rules, own], Some(own));
        check("sudoku_4x4", &[own], Some(own));
        check("sudoku_9x9", &[own], None);
        // A game of its own.
        check("lights_out_all_on", &["lights_out.picture.toml"], None);
    }
}
