//! Rendering of SVG as PNG.

#[cfg(feature = "png")]
pub use with::{check, png};
#[cfg(not(feature = "png"))]
pub use without::{check, png};

#[cfg(feature = "png")]
mod with {
    use anyhow::{Context as _, bail};
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree};

    /// Pixels per unit, unless the picture would become too large.
    const SCALE: f32 = 2.0;
    /// Maximum number of pixels of a picture.
    const MOST: f32 = 64e6;

    /// Checks that this build can write PNG.
    ///
    /// # Errors
    ///
    /// Never in this build.
    pub fn check() -> anyhow::Result<()> {
        Ok(())
    }

    /// Renders an SVG as PNG, in the colours for light backgrounds.
    ///
    /// # Errors
    ///
    /// If it contains text and no font is installed, or it is too large.
    pub fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
        let mut options = Options::default();
        options.fontdb_mut().load_system_fonts();
        if options.fontdb.is_empty() && svg.contains("<text") {
            bail!("a PNG with text needs a font, and none is installed; write an SVG instead");
        }
        // If the default font is missing, any font is better than none.
        let family = options.fontdb.faces().next();
        let family = family.and_then(|face| Some(face.families.first()?.0.clone()));
        let has = |name: &str| {
            let mut faces = options.fontdb.faces();
            faces.any(|face| face.families.iter().any(|(family, _)| family == name))
        };
        let sans = [
            "DejaVu Sans",
            "Arial",
            "Liberation Sans",
            "Noto Sans",
            "Helvetica",
        ];
        let mono = [
            "DejaVu Sans Mono",
            "Courier New",
            "Liberation Mono",
            "Noto Sans Mono",
            "Menlo",
        ];
        let pick = |names: [&str; 5]| names.into_iter().find(|name| has(name)).map(str::to_owned);
        let sans = pick(sans).or(family.clone());
        let mono = pick(mono).or(family);
        for (set, name) in [(false, sans), (true, mono)] {
            let Some(name) = name else { continue };
            match set {
                true => options.fontdb_mut().set_monospace_family(name),
                false => options.fontdb_mut().set_sans_serif_family(name),
            }
        }
        let tree = Tree::from_str(svg, &options).context("cannot parse the picture")?;
        let size = tree.size();
        let scale = SCALE.min((MOST / (size.width() * size.height())).sqrt());
        let [width, height] = [size.width(), size.height()].map(|length| (length * scale) as u32);
        let map = Pixmap::new(width.max(1), height.max(1));
        let mut map = map.context("the picture is too large for a PNG; write an SVG instead")?;
        resvg::render(
            &tree,
            Transform::from_scale(scale, scale),
            &mut map.as_mut(),
        );
        map.encode_png().context("cannot write the picture")
    }
}

#[cfg(not(feature = "png"))]
mod without {
    use anyhow::bail;

    /// Reports that this build cannot write PNG.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn check() -> anyhow::Result<()> {
        png("").map(drop)
    }

    /// Reports that this build cannot write PNG.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn png(_: &str) -> anyhow::Result<Vec<u8>> {
        bail!(
            "this build of ggp has no PNG support: write an SVG, or build with \
             `cargo build --release --features png`"
        )
    }
}
