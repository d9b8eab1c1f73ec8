//! The results of a tournament as tables, comma-separated values and a picture.

use anyhow::anyhow;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use plotters::prelude::*;

use ggp_play::rating::Rating;
use ggp_play::tournament::{Row, Tally};

/// The tables, best player first.
pub(super) fn text(tally: &Tally) -> String {
    let mut blocks = vec![players(tally)];
    if tally.players.len() > 2 {
        blocks.push(cross(tally));
    }
    if tally.games.len() > 1 {
        blocks.push(games(tally));
    }
    blocks.join("\n")
}

/// The numbers of players, best first.
fn ranking(tally: &Tally) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tally.players.len()).collect();
    let elo = |player: &usize| {
        tally.players[*player]
            .elo
            .map_or(f64::MIN, |elo| elo.rating)
    };
    order.sort_by(|a, b| elo(b).total_cmp(&elo(a)));
    order
}

fn players(tally: &Tally) -> String {
    let head = "player|Elo|±|Glicko-2|±|roles|won|drawn|lost|mean score|late|\
                unreachable|illegal|crashed|slowest s";
    let rows = ranking(tally).into_iter().map(|number| {
        let player = &tally.players[number];
        let [elo, elo_margin] = rating(player.elo);
        let [glicko, glicko_margin] = rating(player.glicko2);
        let [roles, won, drawn, lost] =
            [player.roles, player.won, player.drawn, player.lost].map(|n| n.to_string());
        let [late, unreachable, illegal, crashed] = [
            player.late,
            player.unreachable,
            player.illegal,
            player.crashed,
        ]
        .map(|n| n.to_string());
        let (score, slowest) = (
            decimal(player.mean_score, 1),
            format!("{:.3}", player.slowest),
        );
        let name = player.name.clone();
        vec![
            name,
            elo,
            elo_margin,
            glicko,
            glicko_margin,
            roles,
            won,
            drawn,
            lost,
            score,
            late,
            unreachable,
            illegal,
            crashed,
            slowest,
        ]
    });
    table(head.split('|').map(str::to_owned).collect(), rows)
}

fn rating(rating: Option<Rating>) -> [String; 2] {
    match rating {
        None => [String::new(), String::new()],
        Some(Rating { rating, margin }) => [rating, margin].map(|n| format!("{n:.0}")),
    }
}

fn decimal(number: Option<f64>, digits: usize) -> String {
    number.map_or(String::new(), |number| format!("{number:.digits$}"))
}

fn cross(tally: &Tally) -> String {
    let order = ranking(tally);
    let mut head = vec!["share of the points against".to_owned()];
    head.extend(
        order
            .iter()
            .map(|&number| tally.players[number].name.clone()),
    );
    let rows = order.iter().map(|&number| {
        let shares = order
            .iter()
            .map(|&other| decimal(tally.cross[number][other], 3));
        let name = tally.players[number].name.clone();
        std::iter::once(name).chain(shares).collect()
    });
    table(head, rows)
}

fn games(tally: &Tally) -> String {
    let order = ranking(tally);
    let mut head = ["mean score in", "matches", "moves", "Elo", "±"]
        .map(str::to_owned)
        .to_vec();
    head.extend(
        order
            .iter()
            .map(|&number| tally.players[number].name.clone()),
    );
    let rows = tally.games.iter().map(|game| {
        let [elo, margin] = rating(game.elo);
        let (matches, length) = (game.matches.to_string(), format!("{:.1}", game.mean_length));
        let scores = order
            .iter()
            .map(|&number| decimal(game.mean_scores[number], 1));
        let first = [game.name.clone(), matches, length, elo, margin];
        first.into_iter().chain(scores).collect()
    });
    table(head, rows)
}

/// Columns, the first for names.
fn table(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    rows.for_each(|row| {
        table.add_row(row);
    });
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// A line for each role of each match.
///
/// # Errors
///
/// The error of writing.
pub(super) fn csv(rows: &[Row]) -> anyhow::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "id",
        "game",
        "round",
        "seed",
        "role",
        "player",
        "score",
        "moves",
        "errors",
        "slowest_s",
        "fault",
    ])?;
    for row in rows {
        for (role, player) in row.players.iter().enumerate() {
            let errors = row.errors.iter().filter(|error| error.role == role);
            let errors: Vec<&str> = errors.map(|error| &error.error[..]).collect();
            let score = row.scores.as_ref().map(|scores| scores[role].to_string());
            let slowest = row.slowest.get(role).map(f64::to_string);
            out.write_record([
                &row.id,
                &row.game,
                &row.round.to_string(),
                &row.seed.to_string(),
                &row.roles[role],
                player.as_deref().unwrap_or_default(),
                &score.unwrap_or_default(),
                &row.moves.len().to_string(),
                &errors.join("; "),
                &slowest.unwrap_or_default(),
                row.fault.as_deref().unwrap_or_default(),
            ])?;
        }
    }
    Ok(out.into_inner()?)
}

/// The side of a cell and the width of names, in pixels.
const CELL: u32 = 72;
const NAMES: u32 = 190;

/// The cross table as a picture. The color of a cell is the share of points of the player in
/// the row against the player in the column.
///
/// # Errors
///
/// The error of drawing.
pub(super) fn svg(tally: &Tally) -> anyhow::Result<String> {
    let mut text = String::new();
    draw(tally, &mut text).map_err(|error| anyhow!("cannot draw the cross table: {error}"))?;
    Ok(text)
}

fn draw(tally: &Tally, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    let order = ranking(tally);
    let side = CELL * order.len() as u32;
    let root = SVGBackend::with_string(text, (NAMES + side + 20, 60 + side + 20));
    let root = root.into_drawing_area();
    root.fill(&WHITE)?;
    let font = |size: u32| ("sans-serif", size).into_font().color(&BLACK);
    let middle = Pos::new(HPos::Center, VPos::Center);
    let corner = |place: usize| (place as u32 * CELL) as i32;
    for (row, &player) in order.iter().enumerate() {
        let y = 60 + corner(row);
        let name = &tally.players[player].name;
        let elo = rating(tally.players[player].elo);
        let left = font(14).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw_text(name, &left, (10, y + CELL as i32 / 2 - 9))?;
        let elo = format!("{} ± {}", elo[0], elo[1]);
        root.draw_text(&elo, &font(12).pos(left.pos), (10, y + CELL as i32 / 2 + 9))?;
        let x = NAMES as i32 + corner(row) + CELL as i32 / 2;
        root.draw_text(name, &font(12).pos(middle), (x, 40))?;
        for (column, &other) in order.iter().enumerate() {
            let x = NAMES as i32 + corner(column);
            let cell = [(x, y), (x + CELL as i32 - 2, y + CELL as i32 - 2)];
            let share = tally.cross[player][other];
            let colour = share.map_or(RGBColor(235, 235, 235), shade);
            root.draw(&Rectangle::new(cell, colour.filled()))?;
            let centre = (x + CELL as i32 / 2, y + CELL as i32 / 2);
            root.draw_text(&decimal(share, 2), &font(15).pos(middle), centre)?;
        }
    }
    root.present()?;
    Ok(())
}

/// A color from red over white to green.
fn shade(share: f64) -> RGBColor {
    let fade = |amount: f64| (255.0 - 150.0 * amount.clamp(0.0, 1.0)) as u8;
    let (loss, win) = (fade(1.0 - 2.0 * share), fade(2.0 * share - 1.0));
    RGBColor(win, loss, win.min(loss))
}
