//! Line charts as SVG.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

/// The points of a curve, in order, and its label.
pub(super) struct Curve {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

/// The title, axis labels and scale of a chart.
pub(super) struct Chart<'c> {
    pub title: &'c str,
    /// The labels of the x axis and the y axis.
    pub across: &'c str,
    pub upwards: &'c str,
    /// Whether the y axis is logarithmic; values not greater than 0 are then left out.
    pub is_logarithmic: bool,
}

const SIZE: (u32, u32) = (960, 600);

type Fault = Box<dyn std::error::Error>;

/// Draws curves into one chart.
///
/// # Errors
///
/// If there is no point to draw.
pub(super) fn svg(chart: &Chart<'_>, curves: &[Curve]) -> anyhow::Result<String> {
    let is_drawn = |point: &&(f64, f64)| {
        point.0.is_finite() && point.1.is_finite() && (point.1 > 0.0 || !chart.is_logarithmic)
    };
    let points: Vec<(f64, f64)> = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .filter(is_drawn)
        .copied()
        .collect();
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let least = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (least, most)
    };
    let ((left, right), (low, high)) = (ends(|point| point.0), ends(|point| point.1));
    if points.is_empty() {
        return Err(anyhow!("{}: there is no point to draw", chart.title));
    }
    let wide = left..if right > left { right } else { left + 1.0 };
    let mut text = String::new();
    let drawn = match chart.is_logarithmic {
        true => draw(
            &mut text,
            chart,
            curves,
            wide,
            (low * 0.8..high * 2.0).log_scale(),
        ),
        false => {
            let (low, high) = (low.min(0.0), high.max(0.0));
            let high = if high > low {
                high + (high - low) * 0.05
            } else {
                low + 1.0
            };
            draw(&mut text, chart, curves, wide, low..high)
        }
    };
    drawn.map_err(|error| anyhow!("cannot draw {}: {error}", chart.title))?;
    Ok(text)
}

fn draw<Y>(
    text: &mut String,
    chart: &Chart<'_>,
    curves: &[Curve],
    wide: std::ops::Range<f64>,
    high: Y,
) -> Result<(), Fault>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let root: DrawingArea<_, Shift> = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut drawn = ChartBuilder::on(&root)
        .caption(chart.title, ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(90)
        .build_cartesian_2d(wide, high)?;
    drawn
        .configure_mesh()
        .x_desc(chart.across)
        .y_desc(chart.upwards)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|number| written(*number))
        .y_label_formatter(&|number| written(*number))
        .draw()?;
    for (number, curve) in curves.iter().enumerate() {
        let colour = Palette99::pick(number).to_rgba();
        let is_drawn = |point: &&(f64, f64)| {
            point.0.is_finite() && point.1.is_finite() && (point.1 > 0.0 || !chart.is_logarithmic)
        };
        let points: Vec<(f64, f64)> = curve.points.iter().filter(is_drawn).copied().collect();
        if let [point] = points[..] {
            // A line of one point would be invisible.
            drawn.draw_series([Circle::new(point, 3, colour.filled())])?;
        }
        drawn
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    drawn
        .configure_series_labels()
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.4))
        .position(SeriesLabelPosition::LowerMiddle)
        .draw()?;
    root.present()?;
    Ok(())
}

/// Formats a number for an axis, with no more digits than needed.
fn written(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e15).contains(&size) => format!("{number:.0e}"),
        size if size < 100.0 => {
            let text = format!("{number:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Chart, Curve, svg, written};

    #[test]
    fn each_curve_has_a_line_and_a_label() {
        let curve = |label: &str, values: &[f64]| Curve {
            label: label.to_owned(),
            points: (0..).map(f64::from).zip(values.iter().copied()).collect(),
        };
        let chart = |is_logarithmic| Chart {
            title: "a title",
            across: "depth",
            upwards: "states",
            is_logarithmic,
        };
        let curves = [
            curve("one", &[1.0, 10.0, 1000.0]),
            curve("two", &[1.0, 0.0, 7.0]),
        ];
        for is_logarithmic in [true, false] {
            let drawn = svg(&chart(is_logarithmic), &curves).expect("there is something");
            assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
            for text in ["one", "two", "a title", "states", "depth"] {
                assert!(drawn.contains(text), "{text}");
            }
            assert_eq!(
                drawn.matches("stroke-width=\"2\"").count(),
                4,
                "two lines, two in the legend"
            );
        }
        assert!(svg(&chart(true), &[]).is_err());
        assert!(svg(&chart(true), &[curve("one", &[0.0])]).is_err());
        assert!(svg(&chart(false), &[curve("one", &[0.0])]).is_ok());
        assert!(svg(&chart(false), &[curve("one", &[f64::NAN])]).is_err());
    }

    #[test]
    fn numbers_on_axes_are_short() {
        let texts = [0.0, 2.5, 1000.0, 0.25, 99.999, 1e18, 1e-7].map(written);
        assert_eq!(
            texts,
            ["0", "2.5", "1000", "0.25", "99.999", "1e18", "1e-7"]
        );
    }
}
