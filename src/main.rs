use ggp::diagnostic::Style;
use ggp::span::*;
fn main() {
    let quiet = std::env::args().nth(1).unwrap() == "-q";
    for f in std::env::args().skip(2) {
        let b = std::fs::read(&f).unwrap();
        let s = Sources::from(Source::new(&f, String::from_utf8_lossy(&b)));
        let t=std::time::Instant::now();
        let r = ggp::check::read(s, &Default::default());
        if quiet {
            println!("{f} {} {:?} {}", r.game.is_some(), r.findings.iter().map(|d| d.code.as_str()).collect::<std::collections::BTreeSet<_>>(), t.elapsed().as_millis());
        } else {
            for d in &r.findings { println!("{}\n", d.render(&r.sources, Style::Plain)); }
        }
    }
}
