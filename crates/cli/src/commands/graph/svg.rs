//! A graph as self-contained SVG: no scripts, no fonts to load; colours for light and dark
//! backgrounds that colour-blind people can distinguish, and shapes as well.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::Drawing;
use super::animation::Film;
use super::scene::{Card, Kind, LETTER, LINE, Link, Scene, place};
use super::values::{MEANINGS, Value};
use ggp_gdl::counted::counted;
use ggp_gdl::markup::escaped;

/// Margin around the picture, and room for the step numbers on the left.
const MARGIN: f64 = 20.0;
const STEPS: f64 = 96.0;
const HEADER: f64 = 30.0;

/// The colours of values, if there are any.
const VALUES: &str = "\
.v0{fill:#f2b27a}\
.v1{fill:#fbe6cf}\
.v2{fill:#eee}\
.v3{fill:#d3e9f7}\
.v4{fill:#7fbfe6}\
@media (prefers-color-scheme:dark){\
.v0{fill:#8a4a08}\
.v1{fill:#4a2c0c}\
.v2{fill:#3a3c41}\
.v3{fill:#0d3a57}\
.v4{fill:#0b5d91}\
}";

/// Styles for light and, further down, for dark backgrounds.
const STYLE: &str = "\
svg{background:#fff}\
text{font-family:sans-serif;font-size:12px;fill:#1a1a1a}\
.h{font-size:17px;font-weight:bold}\
.q{fill:#5f6368}\
.m{text-anchor:middle}\
.paper{fill:#fff}\
.e{fill:none;stroke:#7b8490;stroke-width:1.2}\
.b{fill:none;stroke:#a3abb5;stroke-width:1.1;stroke-dasharray:5 3}\
.a{fill:#6b7480}\
.p{fill:none;stroke:#0072b2;stroke-width:3.2}\
.pa{fill:#0072b2}\
.l{font-size:11px;fill:#3c4043;text-anchor:middle}\
.c{stroke-width:1.3}\
.k0{fill:#fff;stroke:#5f6873}\
.k1{fill:#d3e9f7;stroke:#0072b2}\
.k2{fill:#dadada;stroke:#6b6b6b}\
.k3{fill:#fbe6cf;stroke:#b35a00;stroke-dasharray:2 2}\
.k4{fill:#fff;stroke:#5f6873;stroke-dasharray:6 4}\
.in{fill:none}\
.ring{fill:none;stroke:#0072b2;stroke-width:3}\
.g{fill:none;stroke:#c9ced6;stroke-width:.8}\
.w{fill:#5f6873}\
.wt{font-size:9px;fill:#fff;text-anchor:middle}\
@media (prefers-color-scheme:dark){\
svg{background:#1b1c1f}\
text{fill:#ececec}\
.q{fill:#a5a8ad}\
.paper{fill:#1b1c1f}\
.e{stroke:#8b939e}\
.b{stroke:#6a727d}\
.a{fill:#98a1ac}\
.p{stroke:#56b4e9}\
.pa{fill:#56b4e9}\
.l{fill:#d5d7da}\
.k0{fill:#2a2c31;stroke:#a0a8b3}\
.k1{fill:#0d3a57;stroke:#56b4e9}\
.k2{fill:#47484b;stroke:#a9a9a9}\
.k3{fill:#4a2c0c;stroke:#e69f00}\
.k4{fill:#1b1c1f;stroke:#a0a8b3}\
.ring{stroke:#56b4e9}\
.g{stroke:#565b63}\
.w{fill:#a0a8b3}\
.wt{fill:#1b1c1f}\
}";

/// Renders a scene with its title, description, legend and animation, if any.
pub(super) fn text(
    drawing: &Drawing,
    scene: &Scene,
    words: &[String],
    film: Option<&Film>,
) -> String {
    let mut paper = Paper {
        body: String::new(),
        film,
        origin: [MARGIN + STEPS, MARGIN + HEADER + words.len() as f64 * 18.0],
        taken: Taken::default(),
        right: 0.0,
    };
    paper.title(drawing, words);
    paper.steps(drawing, scene);
    for (number, link) in scene.links.iter().enumerate() {
        paper.link(drawing, scene, number, link);
    }
    paper.plan(scene);
    for (middle, card) in scene.layout.middles.iter().zip(&scene.cards) {
        let half = paper.half(card);
        let at = paper.at(*middle);
        paper.taken.push([
            at[0] - half[0],
            at[1] - half[1],
            at[0] + half[0],
            at[1] + half[1],
        ]);
    }
    paper.moves(scene);
    for number in 0..scene.cards.len() {
        paper.card(drawing, scene, number);
    }
    let mut width = (scene.layout.size[0] + STEPS + 2.0 * MARGIN).max(560.0);
    width = width.max(paper.right + MARGIN);
    let longest = words.iter().map(|line| line.chars().count()).max();
    width = width.max(longest.unwrap_or(0) as f64 * LETTER + 2.0 * MARGIN);
    let top = paper.origin[1] + scene.layout.size[1] + 24.0;
    let height = paper.legend(drawing, scene, top, width) + MARGIN;
    let (width, height) = (width.ceil(), height.ceil());
    let mut style = film.map_or(String::new(), Film::style);
    if drawing.valued.is_some() {
        style.push_str(VALUES);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>{STYLE}{style}</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
        escaped(&drawing.name),
        escaped(&words.join("; ")),
        paper.body
    )
}

/// The elements drawn so far.
struct Paper<'f> {
    body: String,
    film: Option<&'f Film>,
    /// The top of the layout.
    origin: [f64; 2],
    /// The areas that labels must not cover.
    taken: Taken,
    /// The right end of move labels next to links.
    right: f64,
}

/// Rectangles (left, top, right, bottom) by the cells of a grid that they touch.
#[derive(Default)]
struct Taken(FxHashMap<(i64, i64), Vec<[f64; 4]>>);

impl Taken {
    fn push(&mut self, place: [f64; 4]) {
        for field in Taken::fields(place) {
            self.0.entry(field).or_default().push(place);
        }
    }

    fn is_free(&self, place: [f64; 4]) -> bool {
        let [left, top, right, bottom] = place;
        let is_apart =
            |one: &[f64; 4]| right < one[0] || left > one[2] || bottom < one[1] || top > one[3];
        let mut near = Taken::fields(place).filter_map(|field| self.0.get(&field));
        near.all(|near| near.iter().all(is_apart))
    }

    fn fields([left, top, right, bottom]: [f64; 4]) -> impl Iterator<Item = (i64, i64)> {
        let [left, top, right, bottom] =
            [left, top, right, bottom].map(|end| (end / 64.0).floor() as i64);
        (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)))
    }
}

impl Paper<'_> {
    fn put(&mut self, what: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{what}").expect("a text takes all");
    }

    fn at(&self, point: [f64; 2]) -> [f64; 2] {
        [point[0] + self.origin[0], point[1] + self.origin[1]]
    }

    fn half(&self, card: &Card) -> [f64; 2] {
        super::scene::size(&card.label).map(|length| length / 2.0)
    }

    fn title(&mut self, drawing: &Drawing, words: &[String]) {
        self.put(format_args!(
            "<text class=\"h\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
            MARGIN + 14.0,
            escaped(&drawing.name)
        ));
        for (k, line) in words.iter().enumerate() {
            let y = MARGIN + HEADER + 4.0 + k as f64 * 18.0;
            self.put(format_args!(
                "<text class=\"q\" x=\"{MARGIN}\" y=\"{y}\">{}</text>",
                escaped(line)
            ));
        }
        if let Some(film) = self.film {
            let y = MARGIN + HEADER + 4.0 + words.len() as f64 * 18.0;
            self.origin[1] += 22.0;
            for (class, line) in film.captions() {
                self.put(format_args!(
                    "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{}</text>",
                    escaped(line)
                ));
            }
        }
    }

    /// The number of each step and of its positions.
    fn steps(&mut self, drawing: &Drawing, scene: &Scene) {
        let mut counts = vec![0usize; scene.layout.ranks.len()];
        for node in &drawing.nodes {
            counts[node.level as usize] += 1;
        }
        for (step, count) in counts.into_iter().enumerate() {
            let [top, bottom] = scene.layout.ranks[step];
            let y = self.origin[1] + (top + bottom) / 2.0;
            let count = counted(count, "position");
            self.put(format_args!(
                "<text x=\"{MARGIN}\" y=\"{:.1}\">step {step}</text>\
                 <text class=\"q\" x=\"{MARGIN}\" y=\"{:.1}\">{count}</text>",
                y - 3.0,
                y + 12.0,
            ));
        }
    }

    /// The class attribute of an element: its appearance and its schedule.
    fn class(&self, class: &str, when: Option<String>) -> String {
        match when {
            Some(when) => format!("class=\"{class} {when}\""),
            None => format!("class=\"{class}\""),
        }
    }

    fn path(&self, route: &[[f64; 2]]) -> String {
        let points = route.iter().map(|point| self.at(*point));
        let points: Vec<String> = points.map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
        format!("M{}C{}", points[0], points[1..].join(" "))
    }

    /// The arrow tip at the end of a route.
    fn tip(&self, route: &[[f64; 2]], size: f64) -> String {
        let [end, before] = [route[route.len() - 1], route[route.len() - 2]].map(|p| self.at(p));
        let [dx, dy] = [end[0] - before[0], end[1] - before[1]];
        let length = dx.hypot(dy).max(1e-9);
        let [dx, dy] = [dx / length * size, dy / length * size];
        let corner = |side: f64| {
            let x = end[0] - dx * 1.5 - dy * 0.75 * side;
            let y = end[1] - dy * 1.5 + dx * 0.75 * side;
            format!("L{x:.1} {y:.1}")
        };
        format!(
            "M{:.1} {:.1}{}{}z",
            end[0],
            end[1],
            corner(1.0),
            corner(-1.0)
        )
    }

    fn link(&mut self, drawing: &Drawing, scene: &Scene, number: usize, link: &Link) {
        let route = &scene.layout.routes[number];
        let class = if link.is_back(drawing) { "b" } else { "e" };
        let when = self.film.map(|film| film.link(link));
        let turned: Vec<[f64; 2]> = route.iter().rev().copied().collect();
        let mut tips = String::new();
        if !link.moves[0].is_empty() {
            tips += &self.tip(route, 5.0);
        }
        if !link.moves[1].is_empty() {
            tips += &self.tip(&turned, 5.0);
        }
        let moves = |moves: &[String], from: usize, to: usize| match moves.is_empty() {
            true => None,
            false => Some(format!("{from} to {to}: {}", moves.join(", "))),
        };
        let (from, to) = link.ends;
        let said = [
            moves(&link.moves[0], from, to),
            moves(&link.moves[1], to, from),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        let group = match when {
            Some(when) => format!("<g class=\"{when}\">"),
            None => "<g>".to_owned(),
        };
        let path = self.path(route);
        self.put(format_args!(
            "{group}<title>{}</title><path class=\"{class}\" d=\"{path}\"/>\
             <path class=\"a\" d=\"{tips}\"/></g>",
            escaped(&said.join("; "))
        ));
    }

    /// Links and nodes of the shortest plans.
    fn plan(&mut self, scene: &Scene) {
        let when = self.film.map(Film::plan);
        for (number, link) in scene.links.iter().enumerate() {
            if link.is_planned {
                let route = &scene.layout.routes[number];
                let (path, tip) = (self.path(route), self.tip(route, 7.0));
                let line = self.class("p", when.clone());
                let end = self.class("pa", when.clone());
                self.put(format_args!(
                    "<path {line} d=\"{path}\"/><path {end} d=\"{tip}\"/>"
                ));
            }
        }
    }

    /// Move labels next to the links, where there is room.
    fn moves(&mut self, scene: &Scene) {
        let mut numbers: Vec<usize> = (0..scene.links.len()).collect();
        numbers.sort_by_key(|number| !scene.links[*number].is_planned);
        for number in numbers {
            let label = scene.links[number].label();
            let route = &scene.layout.routes[number];
            let half = label.chars().count() as f64 * 6.2 / 2.0 + 2.0;
            let Some([x, y]) = self.free_place(route, half) else {
                continue;
            };
            self.taken.push([x - half, y - 7.0, x + half, y + 7.0]);
            self.right = self.right.max(x + half);
            let when = self.film.map(|film| film.link(&scene.links[number]));
            let group = self.class("lg", when);
            self.put(format_args!(
                "<g {group}><rect class=\"paper\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                 height=\"13\"/><text class=\"l\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
                x - half + 1.0,
                y - 6.5,
                2.0 * half - 2.0,
                y + 4.0,
                escaped(&label)
            ));
        }
    }

    /// A point of a route with free room for a label of a given width.
    fn free_place(&self, route: &[[f64; 2]], half: f64) -> Option<[f64; 2]> {
        let curves = (route.len() - 1) / 3;
        let middle = curves / 2;
        let curves = (0..curves).map(|k| (middle + k) % curves);
        let points = curves.flat_map(|curve| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| route[3 * curve + k]);
            [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78].map(|t: f64| {
                let s = 1.0 - t;
                let along = |k: usize| {
                    s * s * s * a[k]
                        + 3.0 * s * s * t * b[k]
                        + 3.0 * s * t * t * c[k]
                        + t * t * t * d[k]
                };
                self.at([along(0), along(1)])
            })
        });
        let is_free = |[x, y]: &[f64; 2]| {
            let place = [x - half, y - 8.0, x + half, y + 8.0];
            place[0] > MARGIN && self.taken.is_free(place)
        };
        points.take(7 * 12).find(is_free)
    }

    fn card(&mut self, drawing: &Drawing, scene: &Scene, number: usize) {
        let card = &scene.cards[number];
        let [x, y] = self.at(scene.layout.middles[number]);
        let [w, h] = self.half(card);
        let node = &drawing.nodes[number];
        let group = match self.film {
            Some(film) => format!("<g class=\"{}\">", film.card(number)),
            None => "<g>".to_owned(),
        };
        let facts = format!("{number}: {}", drawing.facts(node).join(" "));
        self.put(format_args!("{group}<title>{}</title>", escaped(&facts)));
        let shade = node.value.and_then(Value::shade);
        self.frame(card.kind, shade, [x - w, y - h, 2.0 * w, 2.0 * h]);
        self.label(card, [x, y - h + 5.0]);
        if card.is_planned {
            let class = self.class("ring", self.film.map(Film::plan));
            self.put(format_args!(
                "<rect {class} x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>",
                x - w - 1.5,
                y - h - 1.5,
                2.0 * w + 3.0,
                2.0 * h + 3.0
            ));
        }
        if card.ways > 1 {
            let corner = x + w - 1.0;
            self.put(format_args!(
                "<circle class=\"w\" cx=\"{corner:.1}\" cy=\"{:.1}\" r=\"6.5\"/>\
                 <text class=\"wt\" x=\"{corner:.1}\" y=\"{:.1}\">{}</text>",
                y - h + 1.0,
                y - h + 4.2,
                card.ways
            ));
        }
        self.put(format_args!("</g>"));
    }

    /// The border of a node: rounded; double if solved; with square corners if the game is
    /// over.
    fn frame(&mut self, kind: Kind, shade: Option<usize>, [x, y, width, height]: [f64; 4]) {
        let round = if kind == Kind::Ended { 0.0 } else { 5.0 };
        let shade = shade.map_or_else(String::new, |shade| format!(" v{shade}"));
        let class = format!("{}{shade}", kind as usize);
        self.put(format_args!(
            "<rect class=\"c k{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"{round}\"/>"
        ));
        if kind == Kind::Solved {
            self.put(format_args!(
                "<rect class=\"c k{class} in\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\" rx=\"3\"/>",
                x + 2.5,
                y + 2.5,
                width - 5.0,
                height - 5.0
            ));
        }
    }

    /// Board and lines of a node, from the top centre.
    fn label(&mut self, card: &Card, [x, mut y]: [f64; 2]) {
        let label = &card.label;
        let columns = label.cells.first().map_or(0, Vec::len);
        let pitch = place(label);
        let left = x - columns as f64 * pitch / 2.0;
        let height = 14.0;
        let mut lines = String::new();
        for (row, cells) in label.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                if cell.is_some() {
                    let corner = [left + column as f64 * pitch, y + row as f64 * height];
                    let _ = write!(
                        lines,
                        "M{:.1} {:.1}h{pitch}v{height}h-{pitch}z",
                        corner[0], corner[1]
                    );
                }
            }
        }
        if !lines.is_empty() {
            self.put(format_args!("<path class=\"g\" d=\"{lines}\"/>"));
        }
        for cells in &label.cells {
            let signs: Vec<(f64, &String)> = (0..)
                .zip(cells)
                .filter_map(|(k, cell)| Some((left + (f64::from(k) + 0.5) * pitch, cell.as_ref()?)))
                .filter(|(_, sign)| !sign.is_empty())
                .collect();
            let base = y + 11.3;
            // One text with a position for each character, or one text for each sign.
            if signs.iter().all(|(_, sign)| sign.chars().count() == 1) && !signs.is_empty() {
                let places: Vec<String> = signs.iter().map(|(x, _)| format!("{x:.1}")).collect();
                let letters: String = signs.iter().map(|(_, sign)| sign.as_str()).collect();
                self.put(format_args!(
                    "<text class=\"m\" x=\"{}\" y=\"{base:.1}\">{}</text>",
                    places.join(" "),
                    escaped(&letters)
                ));
            } else {
                for (x, sign) in signs {
                    self.put(format_args!(
                        "<text class=\"m\" x=\"{x:.1}\" y=\"{base:.1}\">{}</text>",
                        escaped(sign)
                    ));
                }
            }
            y += height;
        }
        for line in &label.lines {
            self.put(format_args!(
                "<text class=\"m\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + 11.5,
                escaped(line)
            ));
            y += LINE;
        }
    }

    /// The legend of the shapes and colours that occur; returns its bottom.
    fn legend(&mut self, drawing: &Drawing, scene: &Scene, top: f64, width: f64) -> f64 {
        let has = |kind: Kind| scene.cards.iter().any(|card| card.kind == kind);
        let mut entries: Vec<(Entry, String)> = Vec::new();
        let kinds = [
            (Kind::Solved, "solved"),
            (Kind::Ended, "over, not solved"),
            (Kind::Lost, "cannot reach a solution"),
            (Kind::Cut, "moves not tried"),
        ];
        entries.extend(
            kinds
                .into_iter()
                .filter(|(kind, _)| has(*kind))
                .map(|(kind, words)| (Entry::Card(kind), words.to_owned())),
        );
        if let Some(role) = &drawing.valued {
            let shades = drawing.nodes.iter().filter_map(|node| node.value?.shade());
            let mut shades: Vec<usize> = shades.collect();
            shades.sort_unstable();
            shades.dedup();
            for shade in shades {
                let words = format!("{role} can force {}", MEANINGS[shade]);
                entries.push((Entry::Shade(shade), escaped(&words)));
            }
        }
        if scene.cards.iter().any(|card| card.ways > 1) {
            entries.push((Entry::Ways, "number of moves leading here".to_owned()));
        }
        if scene.plan.is_some_and(|moves| moves > 0) {
            entries.push((Entry::Line("p"), "shortest solutions".to_owned()));
        }
        let links = &scene.links;
        if links.iter().any(|link| link.is_back(drawing)) {
            entries.push((
                Entry::Line("b"),
                "to the same or an earlier step".to_owned(),
            ));
        }
        if links
            .iter()
            .any(|link| link.moves.iter().all(|moves| !moves.is_empty()))
        {
            entries.push((Entry::Both, "moves in both directions".to_owned()));
        }
        if self.film.is_some_and(Film::has_pruned) {
            entries.push((Entry::Faded, "pruned".to_owned()));
        }
        let (mut x, mut y) = (MARGIN, top);
        for (entry, words) in entries {
            let needed = 38.0 + words.chars().count() as f64 * LETTER + 18.0;
            if x > MARGIN && x + needed > width - MARGIN {
                (x, y) = (MARGIN, y + 24.0);
            }
            match entry {
                Entry::Card(kind) => self.frame(kind, None, [x, y, 28.0, 16.0]),
                Entry::Shade(shade) => self.frame(Kind::Open, Some(shade), [x, y, 28.0, 16.0]),
                Entry::Ways => self.put(format_args!(
                    "<circle class=\"w\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"6.5\"/>\
                     <text class=\"wt\" x=\"{0:.1}\" y=\"{:.1}\">2</text>",
                    x + 18.0,
                    y + 8.0,
                    y + 11.2
                )),
                Entry::Faded => self.put(format_args!(
                    "<rect class=\"c k0\" opacity=\".25\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"28\" \
                     height=\"16\" rx=\"5\"/>"
                )),
                Entry::Line(class) => self.put(format_args!(
                    "<path class=\"{class}\" d=\"M{x:.1} {0:.1}h28\"/>",
                    y + 8.0
                )),
                Entry::Both => self.put(format_args!(
                    "<path class=\"e\" d=\"M{x:.1} {0:.1}h28\"/>\
                     <path class=\"a\" d=\"M{x:.1} {0:.1}l7 -4v8zM{1:.1} {0:.1}l-7 -4v8z\"/>",
                    y + 8.0,
                    x + 28.0
                )),
            }
            self.put(format_args!(
                "<text class=\"q\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>",
                x + 35.0,
                y + 12.0
            ));
            x += needed;
        }
        y + 16.0
    }
}

/// The sample in a line of the legend.
enum Entry {
    Card(Kind),
    Shade(usize),
    Ways,
    Line(&'static str),
    Both,
    Faded,
}
