{
    // A machine for the examples of `ggp_engine::machine::Machine`.
    let rules = "(role robot) (init (at 0)) (after 0 1) (after 1 2)
        (<= (legal robot go) (true (at ?x)) (after ?x ?y))
        (<= (legal robot stay) (true (at ?x)))
        (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?x)) (does robot stay) (true (at ?x)))
        (<= terminal (true (at 2)))
        (<= (goal robot 100) (true (at 2)))
        (<= (goal robot 0) (not (true (at 2))))";
    let game = ggp_gdl::game::Game::from_text("walk.kif", rules).expect("the rules are valid");
    AnyMachine::new(&game, Backend::Datalog, Limits::default()).expect("they are small")
}
