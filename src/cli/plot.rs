//! Curves over depth on a logarithmic scale, as SVG.

use anyhow::anyhow;
use plotters::prelude::*;

/// Numbers by depth, from 0. What is 0 is left out.
pub(super) struct Curve {
    pub label: String,
    pub values: Vec<u64>,
}

const SIZE: (u32, u32) = (960, 600);

/// Draws curves into one picture.
///
/// # Errors
///
/// If there is nothing to draw.
pub(super) fn svg(title: &str, what: &str, curves: &[Curve]) -> anyhow::Result<String> {
    let values = || curves.iter().flat_map(|curve| &curve.values);
    let most = values().copied().max().unwrap_or(0);
    let longest = curves.iter().map(|curve| curve.values.len()).max();
    let (Some(longest), 1..) = (longest, most) else {
        return Err(anyhow!("there is nothing to draw of {title}"));
    };
    let mut text = String::new();
    draw(&mut text, title, what, curves, longest.max(2), most)
        .map_err(|error| anyhow!("cannot draw {title}: {error}"))?;
    Ok(text)
}

fn draw(
    text: &mut String,
    title: &str,
    what: &str,
    curves: &[Curve],
    longest: usize,
    most: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let depths = 0..longest as u64 - 1;
    let numbers = (0.8..most as f64 * 2.0).log_scale();
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(90)
        .build_cartesian_2d(depths, numbers)?;
    chart
        .configure_mesh()
        .x_desc("depth")
        .y_desc(what)
        .light_line_style(TRANSPARENT)
        .y_label_formatter(&|number| format!("{number:.0}"))
        .draw()?;
    for (number, curve) in curves.iter().enumerate() {
        let colour = Palette99::pick(number).to_rgba();
        let points = (0..).zip(&curve.values).filter(|point| *point.1 > 0);
        let points = points.map(|(depth, &value)| (depth, value as f64));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.4))
        .position(SeriesLabelPosition::LowerMiddle)
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Curve, svg};

    #[test]
    fn each_curve_has_its_line_and_its_name() {
        let curve = |label: &str, values: &[u64]| Curve {
            label: label.to_owned(),
            values: values.to_vec(),
        };
        let curves = [curve("one", &[1, 10, 1000]), curve("two", &[1, 0, 7])];
        let drawn = svg("a title", "states", &curves).expect("there is something");
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
        for text in ["one", "two", "a title", "states", "depth"] {
            assert!(drawn.contains(text), "{text}");
        }
        assert!(svg("empty", "states", &[]).is_err());
        assert!(svg("empty", "states", &[curve("one", &[0])]).is_err());
    }
}
