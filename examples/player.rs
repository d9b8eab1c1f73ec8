//! A player of one's own, in a match against the program: it takes the middle one of its moves.
//!
//! cargo run --release --example player -- games/tic_tac_toe.kif

use ggp::*;

struct Mine(AnyMachine, RoleId);

impl Agent for Mine {
    fn begin(&mut self, _: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, _: &Pace) -> Result<Advice, PlayerError> {
        let Mine(machine, me) = self;
        let mut state = machine.initial()?;
        for joint in observation.joint_moves().expect("nothing is hidden") {
            state = machine.next(&state, joint)?;
        }
        // A better player thinks here.
        let legal = machine.legal_moves(&state, *me)?;
        Ok(Advice::of(legal[legal.len() / 2]))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a rule file")?;
    let game = Game::from_text(&path, &std::fs::read_to_string(&path)?)?;
    let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default())?;
    let (start, pace) = (machine.initial()?, Pace::new(None, Some(1000)));
    let mut players: Vec<Box<dyn Agent>> = Vec::new();
    for role in game.roles() {
        players.push(match role.index() {
            0 => Box::new(Mine(machine.clone(), role)),
            _ => "auto"
                .parse::<AgentSpec>()?
                .agent(Brief::new(&game, role))?,
        });
        players[role.index()].begin(&pace)?;
    }
    let (mut this, mut played) = (Match::new(machine, start), Vec::new());
    while !this.is_over()? {
        let observation = |role| Observation::of_joint_moves(role, played.clone());
        let moves = game.roles().zip(&mut players);
        let moves =
            moves.map(|(role, player)| Ok(player.choose(&observation(role), &pace)?.chosen));
        let joint = moves.collect::<Result<Vec<Move>, PlayerError>>()?;
        this.play(joint.clone())?;
        played.push(joint);
    }
    for (role, score) in game.roles().zip(this.scores()?) {
        println!("{} {}", game.role_name(role), score.get());
    }
    Ok(())
}
