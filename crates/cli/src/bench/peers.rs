//! Figures of other engines, and the comparison with them.
//!
//! In: a table of games, engines and state changes per CPU second. It is CSV with the
//! columns `game`, `engine` (or `backend`) and `state_changes_per_cpu_s` (or
//! `state_changes_per_cpu_second`) among others; lines that begin with `#` are comments, and
//! an empty figure or 0 means that there is none. Rows as `--json` writes them are read too;
//! their engine is the backend. Games are matched by name; the caller must ensure that their
//! rules are equal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Row, read_rows};

/// The figures of other engines.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Peers {
    /// The engines, in the order of their first appearance.
    engines: Vec<String>,
    /// By game, then by the engine's position.
    figures: BTreeMap<String, BTreeMap<usize, f64>>,
}

/// The figure of another engine for a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rival {
    /// The engine.
    pub engine: String,
    /// Its state changes per CPU second.
    pub state_changes_per_cpu_second: f64,
    /// This program's figure divided by the engine's.
    pub ratio: f64,
}

/// The comparison of a backend with an engine over all games that both have.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Standing {
    /// The backend of this program.
    pub backend: String,
    /// The engine.
    pub engine: String,
    /// Games that both have.
    pub games: usize,
    /// The geometric mean of the ratios.
    pub geometric_mean: f64,
    /// The smallest ratio.
    pub least: f64,
    /// The game of the smallest ratio.
    pub least_game: String,
}

impl Peers {
    /// Reads figures.
    ///
    /// # Errors
    ///
    /// A message with the line of the error.
    pub fn read(text: &str) -> Result<Peers, String> {
        match text.trim_start().starts_with('[') {
            true => Peers::from_rows(&read_rows(text)?),
            false => Peers::from_csv(text),
        }
    }

    fn from_rows(rows: &[Row]) -> Result<Peers, String> {
        let mut peers = Peers::default();
        for (number, row) in (1..).zip(rows) {
            // A game that is over at the start has no speed.
            let figure = row.state_changes_per_cpu_second;
            if let Some(figure) = figure.filter(|figure| *figure != 0.0) {
                let added = peers.insert(&row.game, &row.backend, figure);
                added.map_err(|error| format!("row {number}: {error}"))?;
            }
        }
        Ok(peers)
    }

    fn from_csv(text: &str) -> Result<Peers, String> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| csv_error(&error))?.clone();
        let column = |names: &[&str]| {
            let position = header.iter().position(|name| names.contains(&name));
            position.ok_or_else(|| format!("the column {} is missing", names[0]))
        };
        let game = column(&["game"])?;
        let engine = column(&["engine", "backend"])?;
        let figure = column(&["state_changes_per_cpu_s", "state_changes_per_cpu_second"])?;
        let mut peers = Peers::default();
        for record in reader.records() {
            let record = record.map_err(|error| csv_error(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            let text = &record[figure];
            if text.is_empty() {
                continue;
            }
            let figure = text
                .parse()
                .map_err(|_| format!("line {line}: {text:?} is not a number"))?;
            if figure == 0.0 {
                continue;
            }
            let added = peers.insert(&record[game], &record[engine], figure);
            added.map_err(|error| format!("line {line}: {error}"))?;
        }
        Ok(peers)
    }

    fn insert(&mut self, game: &str, engine: &str, figure: f64) -> Result<(), String> {
        if game.is_empty() || engine.is_empty() {
            return Err("the game or the engine has no name".to_owned());
        }
        if !(figure.is_finite() && figure > 0.0) {
            return Err(format!("{figure} is not a speed"));
        }
        let known = self.engines.iter().position(|name| name == engine);
        let index = known.unwrap_or_else(|| {
            self.engines.push(engine.to_owned());
            self.engines.len() - 1
        });
        let figures = self.figures.entry(game.to_owned()).or_default();
        match figures.insert(index, figure) {
            None => Ok(()),
            Some(_) => Err(format!("{engine} already has a figure for {game}")),
        }
    }

    /// The engines, in the order of the file.
    pub fn engines(&self) -> &[String] {
        &self.engines
    }

    /// All engines with a figure for a row's game; empty if the row has no figure or no
    /// state changes.
    pub fn rivals(&self, row: &Row) -> Vec<Rival> {
        let ours = row.state_changes_per_cpu_second;
        let Some(ours) = ours.filter(|ours| *ours > 0.0) else {
            return Vec::new();
        };
        let figures = self.figures.get(&row.game).into_iter().flatten();
        let rival = |(engine, theirs): (&usize, &f64)| Rival {
            engine: self.engines[*engine].clone(),
            state_changes_per_cpu_second: *theirs,
            ratio: ours / theirs,
        };
        figures.map(rival).collect()
    }
}

/// The standing of each backend against each engine, in the order in which they first
/// appear, over the rivals in the rows.
pub fn standings(rows: &[Row]) -> Vec<Standing> {
    let mut standings: Vec<Standing> = Vec::new();
    for row in rows {
        for rival in &row.against {
            let ratio = rival.ratio;
            let mut known = standings.iter_mut();
            match known.find(|s| s.backend == row.backend && s.engine == rival.engine) {
                Some(standing) => {
                    // Until all rows are seen, this is a sum of logarithms.
                    standing.geometric_mean += ratio.ln();
                    standing.games += 1;
                    if ratio < standing.least {
                        standing.least = ratio;
                        standing.least_game.clone_from(&row.game);
                    }
                }
                None => standings.push(Standing {
                    backend: row.backend.clone(),
                    engine: rival.engine.clone(),
                    games: 1,
                    geometric_mean: ratio.ln(),
                    least: ratio,
                    least_game: row.game.clone(),
                }),
            }
        }
    }
    for standing in &mut standings {
        standing.geometric_mean = (standing.geometric_mean / standing.games as f64).exp();
    }
    standings
}

/// The CSV reader's error in fewer words.
fn csv_error(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line}: {len} fields where the first line has {expected_len}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# Invented figures.
game,engine,state_changes_per_cpu_s
one,swift,100
one,slow,5
two,swift,400
";

    fn row(game: &str, figure: f64) -> Row {
        Row {
            game: game.into(),
            backend: "ours".into(),
            state_changes_per_cpu_second: Some(figure),
            ..Row::default()
        }
    }

    #[test]
    fn ratios_divide_the_rows_figure_by_the_engines() {
        let peers = Peers::read(FILE).unwrap();
        let mut rows = [row("one", 200.0), row("two", 200.0), row("three", 1.0)];
        for row in &mut rows {
            row.against = peers.rivals(row);
        }
        let ratios = rows.each_ref().map(|row| {
            let ratios = row.against.iter().map(|rival| rival.ratio);
            ratios.collect::<Vec<_>>()
        });
        assert_eq!(ratios, [vec![2.0, 40.0], vec![0.5], vec![]]);
        let standings = standings(&rows);
        assert_eq!(standings.len(), 2);
        assert_eq!(
            (standings[0].engine.as_str(), standings[0].games),
            ("swift", 2)
        );
        assert!((standings[0].geometric_mean - 1.0).abs() < 1e-12);
        assert_eq!(
            (standings[0].least, standings[0].least_game.as_str()),
            (0.5, "two")
        );
    }

    #[test]
    fn rows_can_be_read_as_figures() {
        let text = serde_json::to_string(&[row("one", 50.0)]).unwrap();
        let peers = Peers::read(&text).unwrap();
        assert_eq!(peers.engines(), ["ours"]);
        assert_eq!(peers.rivals(&row("one", 100.0))[0].ratio, 2.0);
    }

    #[test]
    fn errors_name_the_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Peers::read(text), Err(expected.to_owned()));
        };
        check(
            "game,engine\n",
            "the column state_changes_per_cpu_s is missing",
        );
        let line = |line: &str| format!("{FILE}{line}\n");
        check(&line("two,slow,fast"), "line 6: \"fast\" is not a number");
        check(&line("two,slow,-3"), "line 6: -3 is not a speed");
        check(
            &line("two,slow"),
            "line 6: 2 fields where the first line has 3",
        );
        check(
            &line("two,swift,1"),
            "line 6: swift already has a figure for two",
        );
        check(
            &line("two,,1"),
            "line 6: the game or the engine has no name",
        );
        let missing = Peers::read("[{\"game\": 3}]").unwrap_err();
        assert!(missing.contains("line 1, column"), "{missing}");
    }
}
