use ggp_engine::machine::*;
use ggp_engine::propnet::possible_facts;
use std::time::Instant;
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let t = Instant::now();
        let reading = ggp_gdl::check::read(ggp_gdl::span::Sources::from(ggp_gdl::span::Source::new(path.clone(), text)), &Default::default());
        let game = reading.game.unwrap();
        let a = t.elapsed();
        let t = Instant::now();
        let mut m = DatalogMachine::for_few_states(&game, Limits::default()).unwrap();
        let b = t.elapsed();
        let t = Instant::now();
        let s = m.initial().unwrap();
        let mut out = Vec::new();
        for r in game.roles() { m.legal(&s, r, &mut out).unwrap(); }
        let c = t.elapsed();
        let t = Instant::now();
        let bounds = ggp_gdl::datalog::Bounds { work: 5_000_000, ..Default::default() };
        let p = possible_facts(&game, bounds).map(|p| p.len());
        println!("{path} read {a:?} make {b:?} legal {c:?} possible {:?} {p:?}", t.elapsed());
    }
}
