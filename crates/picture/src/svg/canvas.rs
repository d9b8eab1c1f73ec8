//! SVG output: shapes, text and style.

use std::fmt::{Display, Write};

use super::MARGIN;
use crate::{Cell, DrawnBoard, Paint, Shape};
use ggp_gdl::markup::escaped;

/// The body of an SVG document, and its size.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    /// True if there are no labels and no background.
    pub bare: bool,
    body: String,
    width: f64,
    height: f64,
}

/// The space around a drawing without labels.
const EDGE: f64 = 3.0;

/// Colours of the roles, which colour-blind readers can tell apart (Okabe and Ito, 2008).
const ROLES: [(&str, &str); 8] = [
    ("#0072b2", "#ffffff"),
    ("#e69f00", "#000000"),
    ("#009e73", "#000000"),
    ("#cc79a7", "#000000"),
    ("#56b4e9", "#000000"),
    ("#d55e00", "#000000"),
    ("#f0e442", "#000000"),
    ("#666666", "#ffffff"),
];

/// The styles for light and, further down, for dark backgrounds.
const STYLE: &str = "\
svg{background:#ffffff}\
text{font-family:sans-serif;font-size:15px;fill:#1a1a1a}\
.mono{font-family:monospace;font-size:14px;white-space:pre}\
.quiet{fill:#6a6a6a;font-size:13px}\
.paper,.fill-paper{fill:#ffffff}\
.stroke-paper{stroke:#ffffff}\
    .none{fill:transparent}\
.light{fill:#f0dfbf;stroke:#a98a5c}\
.dark{fill:#cfa877;stroke:#a98a5c}\
.plain{fill:#f2e6cd;stroke:#b39a6f}\
.frame{fill:#2f6cb3;stroke:#2f6cb3}\
.hole{fill:#e6edf5;stroke:#1f4f88}\
.felt{fill:#4f9a6c;stroke:#2d6a47}\
.tray{fill:#f2e6cd;stroke:#b39a6f}\
.border{fill:none;stroke:#5f4a26;stroke-width:3;stroke-linecap:square;pointer-events:none}\
.side{fill:none;stroke-width:6;stroke-linejoin:round;stroke-linecap:round;pointer-events:none}\
.minor{fill:#7a4b00}\
.given{font-weight:bold}\
.entered{fill:#1d4f91}\
.thing{fill:#e9c98f;stroke:#7a5d2c}\
.rim{stroke:#1a1a1a;stroke-width:1}\
.ink,.fill-ink{fill:#1a1a1a}\
.stroke-ink{stroke:#1a1a1a}\
.on{fill:#000;stroke:#fff;stroke-width:2.5;paint-order:stroke}\
@media (prefers-color-scheme:dark){\
svg{background:#21201d}\
text{fill:#ececec}\
g text{fill:#1a1a1a}\
.on{fill:#000}\
.quiet{fill:#a5a5a5}\
.paper{fill:#21201d}\
.rim{stroke:#ececec}\
g .rim{stroke:#1a1a1a}\
}";

/// The colour of a content.
pub(super) enum ContentColour<'c> {
    None,
    Role(usize),
    Colour(&'c str),
}

/// The colour of a role on a board: the one that options name for it, or its default.
pub(super) fn role_colour(board: &DrawnBoard, roles: &[String], role: usize) -> String {
    let named = roles.get(role).and_then(|name| board.colours.get(name));
    named.map_or_else(|| ROLES[role % ROLES.len()].0.to_owned(), String::clone)
}

/// The class of a role's pieces.
pub(super) fn role_class(role: usize) -> String {
    format!("r{}", role % ROLES.len())
}

impl Canvas {
    /// An empty canvas, without labels and background if `bare`.
    pub fn new(bare: bool) -> Self {
        Canvas {
            bare,
            ..Canvas::default()
        }
    }

    /// Extends the size to include a point.
    pub fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// A rectangle with round corners.
    pub fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], round: f64) {
        self.reach(x + width, y + height);
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             rx=\"{round}\"/>"
        ));
    }

    /// A disc.
    pub fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        self.reach(x + radius, y + radius);
        self.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
        ));
    }

    /// A disc in a given colour, on which text of the class `on` is readable.
    pub fn disc(&mut self, colour: &str, x: f64, y: f64, radius: f64) {
        self.reach(x + radius, y + radius);
        self.put(format_args!(
            "<circle class=\"rim\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" style=\"fill:{}\"/>",
            escaped(colour)
        ));
    }

    /// Shapes around a point, in a square of the given width.
    pub fn symbol(
        &mut self,
        shapes: &[Shape],
        own: &ContentColour<'_>,
        x: f64,
        y: f64,
        width: f64,
    ) {
        let (left, top) = (x - width / 2.0, y - width / 2.0);
        self.reach(left + width, top + width);
        self.put(format_args!(
            "<g transform=\"translate({left:.2} {top:.2}) scale({:.3})\">",
            width / 100.0
        ));
        for shape in shapes {
            let mut class = String::new();
            let mut style = String::new();
            for (what, paint) in [("fill", &shape.fill), ("stroke", &shape.stroke)] {
                let colour = match (paint, own) {
                    (Paint::None, _) => "none",
                    (Paint::Colour(colour), _) => colour,
                    (Paint::Content, ContentColour::Colour(colour)) => colour,
                    (Paint::Content, ContentColour::Role(role)) => ROLES[role % ROLES.len()].0,
                    (Paint::Ink, _) | (Paint::Content, ContentColour::None) => {
                        class += &format!("{what}-ink ");
                        continue;
                    }
                    (Paint::Paper, _) => {
                        class += &format!("{what}-paper ");
                        continue;
                    }
                };
                style += &format!("{what}:{};", escaped(colour));
            }
            if shape.stroke != Paint::None {
                style += &format!("stroke-width:{};stroke-linejoin:round", shape.width);
            }
            self.put(format_args!(
                "<path class=\"{}\" d=\"{}\" style=\"{style}\"/>",
                class.trim_end(),
                escaped(&shape.path)
            ));
        }
        self.close();
    }

    /// A line with a style.
    pub fn line(&mut self, class: &str, path: &str, style: &str) {
        self.put(format_args!(
            "<path class=\"{class}\" d=\"{path}\" style=\"{}\"/>",
            escaped(style)
        ));
    }

    /// Returns whether nothing was drawn.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// A pointy-topped hexagon, by its centre and its width.
    pub fn hexagon(&mut self, class: &str, x: f64, y: f64, width: f64) {
        let (half, side) = (width / 2.0, width / 3f64.sqrt());
        self.reach(x + half, y + side);
        let corners = [
            (0.0, -side),
            (half, -side / 2.0),
            (half, side / 2.0),
            (0.0, side),
            (-half, side / 2.0),
            (-half, -side / 2.0),
        ];
        let corners = corners
            .map(|(a, b)| format!("{:.2},{:.2}", x + a, y + b))
            .join(" ");
        self.put(format_args!(
            "<polygon class=\"{class}\" points=\"{corners}\"/>"
        ));
    }

    /// Text centred at a point, shrunk to the given width.
    pub fn middle(&mut self, class: &str, x: f64, y: f64, width: f64, words: &str) {
        let length = words.chars().count().max(1) as f64;
        let size = (width / length / 0.62).clamp(4.0, if class == "quiet" { 13.0 } else { 18.0 });
        self.reach(x + width / 2.0, y + size);
        let base = y + size * 0.35;
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.2}\" y=\"{base:.2}\" text-anchor=\"middle\" \
             style=\"font-size:{size:.1}px\">{}</text>",
            escaped(words)
        ));
    }

    /// Text that begins at a point; blanks are preserved.
    pub fn words(&mut self, class: &str, x: f64, y: f64, words: &str) {
        self.reach(x + words.chars().count() as f64 * 8.8, y + 4.0);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{}</text>",
            escaped(words)
        ));
    }

    /// The label of a column, centred at a point and shrunk to the given width.
    pub fn label(&mut self, x: f64, y: f64, width: f64, words: &str) {
        if !self.bare {
            self.middle("quiet", x, y, width, words);
        }
    }

    /// The label of a row, which ends at a point.
    pub fn row_label(&mut self, x: f64, y: f64, words: &str) {
        if !self.bare {
            self.put(format_args!(
                "<text class=\"quiet\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
                escaped(words)
            ));
        }
    }

    /// Begins the group of a cell, with a title.
    pub fn open(&mut self, title: &str, (board, row, column): Cell) {
        let title = escaped(title);
        self.put(format_args!(
            "<g data-cell=\"{board} {row} {column}\"><title>{title}</title>"
        ));
    }

    /// Begins a group of contents that are there with this share.
    pub fn faint(&mut self, share: f64) {
        let opacity = 0.15 + 0.7 * share;
        self.put(format_args!("<g style=\"opacity:{opacity:.2}\">"));
    }

    /// Begins a group that clicks pass through.
    pub fn untouchable(&mut self) {
        self.put("<g style=\"pointer-events:none\">");
    }

    /// Ends a group.
    pub fn close(&mut self) {
        self.put("</g>");
    }

    /// The body in independent pieces, in order, and its width and height.
    pub fn pieces(&self) -> (Vec<&str>, [f64; 2]) {
        let mut pieces = Vec::new();
        let (mut begin, mut at, mut depth) = (0, 0, 0usize);
        for line in self.body.split_inclusive('\n') {
            at += line.len();
            depth += line.matches("<g ").count();
            depth -= line.matches("</g>").count();
            if depth == 0 {
                pieces.push(&self.body[begin..at]);
                begin = at;
            }
        }
        (pieces, [self.width, self.height])
    }

    /// The complete document, with a title and a description for readers who do not see it.
    pub fn finish(self, title: &str, description: &str) -> String {
        let size = [self.width, self.height];
        document(self.bare, size, title, description, "", &self.body)
    }

    fn put(&mut self, what: impl Display) {
        writeln!(self.body, "{what}").expect("a text takes all");
    }
}

/// A document of a body that ends at a width and a height, with additional styles.
pub(super) fn document(
    bare: bool,
    [right, bottom]: [f64; 2],
    title: &str,
    description: &str,
    style: &str,
    body: &str,
) -> String {
    let start = if bare { MARGIN - EDGE } else { 0.0 };
    let end = if bare { EDGE } else { MARGIN };
    let [width, height] = [right, bottom].map(|length| (length + end - start).ceil());
    let paper = match bare {
        true => String::new(),
        false => format!("<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"),
    };
    let ground = if bare { "svg{background:none}" } else { "" };
    let roles = (0..)
        .zip(ROLES)
        .map(|(k, (fill, text))| format!(".r{k}{{fill:{fill}}}.t{k}{{fill:{text}}}"));
    let roles: String = roles.collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         aria-labelledby=\"title desc\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{start} {start} {width} {height}\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
         <style>{STYLE}{ground}{roles}{style}</style>\n\
         {paper}{body}</svg>\n",
        escaped(title),
        escaped(description),
    )
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_is_taken_for_markup() {
        assert_eq!(
            escaped("<a href=\"x\">&'\u{1}\u{ffff}"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}"
        );
    }
}
