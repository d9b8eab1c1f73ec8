//! Animations: a series of drawings as one animated SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::canvas::{Canvas, document};
use super::{LINE, MARGIN, paint, pictures};
use crate::{Drawing, text};

/// Seconds for each drawing, for all of them at most, and extra seconds for the last one.
const PACE: f64 = 0.8;
const ALL: f64 = 90.0;
const END: f64 = 3.0;

/// Renders captioned drawings as an endless animation. A piece that does not change from
/// one drawing to the next is written only once. Readers who prefer reduced motion, and
/// programs without animation, see the last drawing.
pub fn film(frames: &[(Drawing, String)], title: &str) -> String {
    let frames: Vec<_> = frames.iter().map(|(one, said)| (one, &**said)).collect();
    animated(&frames, title, false)
}

/// Renders drawings as an animation of their boards, heaps and piles alone; see
/// [`thumbnail`](super::thumbnail) and [`film`].
pub fn thumbnail_film(frames: &[Drawing], title: &str) -> String {
    let bare = frames.iter().any(|frame| {
        let mut canvas = Canvas::new(true);
        pictures(&mut canvas, frame);
        !canvas.is_empty()
    });
    let frames: Vec<_> = frames.iter().map(|one| (one, "")).collect();
    animated(&frames, title, bare)
}

fn animated(frames: &[(&Drawing, &str)], title: &str, bare: bool) -> String {
    let mut size = [0.0f64; 2];
    let mut pieces: Vec<Piece> = Vec::new();
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    for (number, (drawing, caption)) in frames.iter().enumerate() {
        let mut canvas = Canvas::new(bare);
        let mut top = MARGIN;
        if !caption.is_empty() {
            canvas.words("", MARGIN, MARGIN + 14.0, caption);
            top += LINE + 6.0;
        }
        match bare {
            true => pictures(&mut canvas, drawing),
            false => paint(&mut canvas, drawing, top),
        }
        let (found, reached) = canvas.pieces();
        size = [0, 1].map(|k| size[k].max(reached[k]));
        let mut still = BTreeMap::new();
        for piece in found {
            // A piece that occurs twice is drawn twice.
            let known = shown.remove(piece).unwrap_or_else(|| {
                pieces.push(Piece {
                    text: piece.to_owned(),
                    first: number,
                    end: number,
                });
                pieces.len() - 1
            });
            pieces[known].end = number + 1;
            still.insert(piece.to_owned(), known);
        }
        shown = still;
    }
    let mut body = String::new();
    for piece in &pieces {
        let text = piece.text.trim_end();
        if piece.first == 0 && piece.end == frames.len() {
            let _ = writeln!(body, "{text}");
        } else {
            let class = class(piece.first, piece.end);
            let _ = writeln!(body, "<g class=\"f {class}\">{text}</g>");
        }
    }
    let spans = pieces
        .iter()
        .map(|piece| (piece.first, piece.end))
        .collect();
    let description = frames
        .last()
        .map_or_else(String::new, |(drawing, _)| text(drawing));
    document(
        bare,
        size,
        title,
        &description,
        &style(&spans, frames.len()),
        &body,
    )
}

/// A piece of a drawing that is visible from frame `first` until before frame `end`.
struct Piece {
    text: String,
    first: usize,
    end: usize,
}

fn class(first: usize, end: usize) -> String {
    format!("f{first}-{end}")
}

fn style(spans: &BTreeSet<(usize, usize)>, frames: usize) -> String {
    let pace = PACE.min(ALL / frames.max(1) as f64);
    let whole = frames as f64 * pace + END;
    let at = |frame: usize| format!("{:.4}%", frame as f64 * pace / whole * 100.0);
    let mut still = String::from(".f{visibility:hidden}");
    let mut moving = String::new();
    let mut keys = String::new();
    for &(first, end) in spans {
        if (first, end) == (0, frames) {
            continue;
        }
        let class = class(first, end);
        if end == frames {
            let _ = write!(still, ".{class}{{visibility:visible}}");
        }
        let _ = write!(
            moving,
            ".{class}{{animation:k{class} {whole:.2}s step-end infinite}}"
        );
        let _ = write!(keys, "@keyframes k{class}{{");
        if first > 0 {
            let _ = write!(keys, "0%{{visibility:hidden}}");
        }
        let _ = write!(keys, "{}{{visibility:visible}}", at(first));
        if end < frames {
            let _ = write!(keys, "{}{{visibility:hidden}}", at(end));
        }
        keys.push('}');
    }
    format!("{still}@media (prefers-reduced-motion:no-preference){{{moving}}}{keys}")
}
