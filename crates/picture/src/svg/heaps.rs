//! Heaps and piles.

use super::canvas::{Canvas, role_class};
use super::{LETTER, LINE, MARGIN, PLACE};
use crate::Cell;
use crate::drawing::{Drawing, DrawnEntry, DrawnTable};

/// The width of a stone in a heap, and the largest heap that is drawn as stones.
const STONE: f64 = 22.0;
const STONES: usize = 12;
/// The largest heap for which there is room where there are no labels.
const FEW: usize = 6;
/// The height of a thing in a pile.
const THING: f64 = 26.0;
/// The longest bar.
const BAR: f64 = 600.0;

/// The cell of an entry, to which moves and clicks refer.
fn cell(drawing: &Drawing, table: &DrawnTable, entry: usize) -> Cell {
    (drawing.boards.len() + table.origin, 0, entry)
}

/// Draws heaps: a stone for each unit if no heap is large, or else bars.
pub(super) fn bars(canvas: &mut Canvas, drawing: &Drawing, table: &DrawnTable, mut y: f64) -> f64 {
    if !canvas.bare {
        canvas.words("", MARGIN, y + 14.0, &table.title);
        y += LINE;
    }
    let said = |entry: &DrawnEntry| format!("{} {}", entry.key, entry.values.join(" "));
    let lengths = table
        .entries
        .iter()
        .map(|entry| said(entry).chars().count());
    let start = match canvas.bare {
        true => MARGIN,
        false => MARGIN + lengths.max().unwrap_or(0) as f64 * LETTER + 14.0,
    };
    let most = table.entries.iter().filter_map(|entry| entry.bar).max();
    let most = most.unwrap_or(0);
    let unit = (BAR / most.max(1) as f64).min(14.0);
    let width = match most {
        ..=FEW if canvas.bare => FEW as f64 * STONE + 8.0,
        ..=STONES => STONES as f64 * STONE + 8.0,
        _ => BAR,
    };
    for (number, entry) in table.entries.iter().enumerate() {
        let owner = entry
            .owner
            .map(|owner| format!("rim {}", role_class(owner)));
        let class = owner.unwrap_or_else(|| "thing".to_owned());
        if !canvas.bare {
            canvas.words("", MARGIN, y + 17.0, &said(entry));
        }
        canvas.open(&said(entry), cell(drawing, table, number));
        canvas.rect("tray", [start, y, width, STONE + 2.0], 5.0);
        let count = entry.bar.unwrap_or(0);
        if most > STONES {
            let length = count as f64 * unit;
            canvas.rect(&class, [start, y + 3.0, length, STONE - 4.0], 3.0);
        } else {
            for stone in 0..count {
                let x = start + 4.0 + (stone as f64 + 0.5) * STONE;
                canvas.circle(&class, x, y + STONE / 2.0 + 1.0, STONE / 2.0 - 2.0);
            }
        }
        canvas.close();
        y += STONE + 8.0;
    }
    y
}

/// Draws piles. Things that have an order are as wide as their place in it, and have a rod.
pub(super) fn piles(canvas: &mut Canvas, drawing: &Drawing, table: &DrawnTable, mut y: f64) -> f64 {
    if !canvas.bare {
        canvas.words("", MARGIN, y + 14.0, &table.title);
        y += LINE + 4.0;
    }
    let values = table.entries.iter().flat_map(|entry| &entry.values);
    let words = values.chain(table.ranks.keys());
    let words = words.chain(table.entries.iter().map(|entry| &entry.key));
    let longest = words.map(|word| word.chars().count()).max().unwrap_or(0);
    let is_ordered = !table.ranks.is_empty();
    let least = if is_ordered { 3.0 * PLACE } else { PLACE };
    let width = (longest as f64 * LETTER + 20.0).max(least);
    // The picture keeps its size during a match.
    let height = table.height().max(table.ranks.len());
    let floor = y + height as f64 * THING + 6.0;
    let last = table.ranks.len().saturating_sub(1).max(1);
    for (number, entry) in table.entries.iter().enumerate() {
        let middle = MARGIN + (number as f64 + 0.5) * (width + 16.0);
        canvas.open(&entry.key, cell(drawing, table, number));
        canvas.rect(
            "tray",
            [middle - width / 2.0 - 4.0, y, width + 8.0, floor - y],
            6.0,
        );
        if is_ordered {
            canvas.rect("dark", [middle - 3.0, y + 4.0, 6.0, floor - y - 4.0], 2.0);
        }
        for (level, value) in entry.values.iter().rev().enumerate() {
            let top = floor - (level as f64 + 1.0) * THING;
            let rank = table.ranks.get(value).copied().unwrap_or(last);
            let wide = width * (0.35 + 0.65 * rank as f64 / last as f64);
            canvas.rect("thing", [middle - wide / 2.0, top, wide, THING - 2.0], 5.0);
            canvas.middle("", middle, top + THING / 2.0 - 1.0, wide - 8.0, value);
        }
        canvas.rect(
            "dark",
            [middle - width / 2.0 - 4.0, floor, width + 8.0, 4.0],
            1.0,
        );
        canvas.close();
        canvas.label(middle, floor + 15.0, width, &entry.key);
    }
    floor + LINE + 8.0
}
