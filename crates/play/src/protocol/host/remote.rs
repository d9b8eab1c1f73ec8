//! A network player as a contender.

use std::sync::Arc;
use std::time::Duration;

use super::exchange::{Address, Envelope, ExchangeError, Patience, exchange};
use super::{HostOptions, PerceptForm, Spelling};
use crate::News;
use crate::protocol::message::{LastTurn, Message, MessageLimits, parse_move, spaced};
use crate::referee::{Contender, Lapse, Position};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::markup;
use ggp_gdl::terms::Terms;

/// The time limit for ABORT.
const ABORT: Duration = Duration::from_secs(1);
/// The answer of a player that is in another match.
pub const BUSY: &str = "busy";
/// The most characters of an answer in a record.
const SHOWN: usize = 200;

/// The data that all network players of a match share.
#[derive(Debug)]
pub struct Invitation {
    game: Game,
    id: String,
    spelling: Spelling,
    options: HostOptions,
}

impl Invitation {
    /// An invitation to the match `id`. With a seed, players see scrambled names.
    pub fn new(game: &Game, id: &str, scrambled: Option<u64>, options: &HostOptions) -> Arc<Self> {
        Arc::new(Invitation {
            game: game.clone(),
            id: id.to_owned(),
            spelling: match scrambled {
                Some(seed) => Spelling::scrambled(game, options.case, seed),
                None => Spelling::plain(game, options.case),
            },
            options: options.clone(),
        })
    }
}

/// A network player.
#[derive(Debug)]
pub struct Remote {
    invitation: Arc<Invitation>,
    address: Address,
    name: String,
    role: RoleId,
    terms: Terms,
    /// The news of the turns before the last one, if the match is resumed.
    missed: Option<Vec<News>>,
}

impl Remote {
    /// A player that plays a role; its name may be empty.
    pub fn new(invitation: &Arc<Invitation>, address: &Address, name: &str, role: RoleId) -> Self {
        Remote {
            invitation: Arc::clone(invitation),
            address: address.clone(),
            name: name.to_owned(),
            role,
            terms: invitation.game.terms().clone(),
            missed: None,
        }
    }

    /// The player in a match that is resumed. It has missed the messages with this news.
    #[must_use]
    pub fn resumed(self, missed: Vec<News>) -> Self {
        Remote {
            missed: Some(missed),
            ..self
        }
    }

    fn send(&self, message: &Message, time: Duration, ply: usize) -> Result<String, ExchangeError> {
        let options = &self.invitation.options;
        let headers = match options.headers {
            false => Vec::new(),
            true => vec![
                ("GGP-Match-ID", self.invitation.id.clone()),
                ("GGP-Match-Step", ply.to_string()),
                ("GGP-Match-Host", "ggp".to_owned()),
            ],
        };
        let envelope = Envelope {
            receiver: &self.name,
            headers: &headers,
        };
        let is_last = matches!(message, Message::Abort { .. });
        let connect = match is_last {
            true => options.connect.min(time),
            false => options.connect,
        };
        let patience = Patience {
            connect,
            answer: time,
            bytes: options.most_bytes,
            // ABORT is sent even if the match is interrupted.
            stop: (!is_last).then_some(&options.stop),
        };
        exchange(&self.address, &envelope, &message.to_string(), &patience)
    }

    fn clock(&self, seconds: u32) -> Duration {
        Duration::from_secs(seconds.into()) + self.invitation.options.grace
    }

    /// The news in the form of messages.
    fn last_turn(&self, news: &News) -> LastTurn {
        let spelled = |text: &String| self.invitation.spelling.send(text);
        match news {
            News::Moves(moves) => LastTurn::of_joint_move(moves.iter().map(spelled).collect()),
            News::Percepts {
                turn,
                own_move,
                percepts,
            } => {
                let percepts = percepts.iter().map(spelled).collect();
                let percepts = Some(percepts).filter(|_| *turn > 0);
                match self.invitation.options.percepts {
                    PerceptForm::List => LastTurn::List(percepts),
                    PerceptForm::Own => LastTurn::Own {
                        turn: *turn as u64,
                        own_move: own_move.as_ref().map(spelled),
                        percepts,
                    },
                }
            }
        }
    }

    fn play(&self, news: &News, ply: usize) -> Result<String, ExchangeError> {
        let message = Message::Play {
            id: self.invitation.id.clone(),
            last: self.last_turn(news),
        };
        self.send(
            &message,
            self.clock(self.invitation.options.play_clock),
            ply,
        )
    }

    /// The legal move in an answer.
    fn understand(&mut self, answer: &str, position: &Position<'_>) -> Result<Move, Lapse> {
        let limits = MessageLimits::default();
        let said = parse_move(answer, limits);
        let said = said.map_err(|_| Lapse::Illegal(shown(answer)))?;
        let said = self.invitation.spelling.receive(&said);
        let game = &self.invitation.game;
        let parsed = game.parse_term(&mut self.terms, &said).ok().map(Move::new);
        if let Some(chosen) = parsed.filter(|chosen| position.legal.contains(chosen)) {
            return Ok(chosen);
        }
        // Letter case is ignored unless names differ only by it.
        let text = |chosen: &Move| spaced(&game.text(position.terms, chosen.term())).to_lowercase();
        let lower = said.to_lowercase();
        let mut alike = position.legal.iter().filter(|chosen| text(chosen) == lower);
        match (alike.next(), alike.next()) {
            (Some(chosen), None) => Ok(*chosen),
            _ => Err(Lapse::Illegal(shown(&said))),
        }
    }
}

/// The beginning of an answer, safe for records and terminals.
fn shown(answer: &str) -> String {
    markup::plain(answer.trim(), SHOWN)
}

fn lapse(error: &ExchangeError) -> Lapse {
    match error {
        ExchangeError::Late | ExchangeError::Interrupted => Lapse::Late,
        ExchangeError::Broken(_) | ExchangeError::NotHttp => Lapse::Unreachable,
        ExchangeError::TooLarge(_) => Lapse::Illegal(error.to_string()),
    }
}

impl Contender for Remote {
    fn start(&mut self) -> Result<(), Lapse> {
        if self.missed.is_some() {
            // The state of the player is unknown, so the match is started again.
            self.abort();
        }
        let (options, rules) = (&self.invitation.options, self.invitation.spelling.rules());
        if let Some(clock) = options.preview_clock {
            let message = Message::Preview {
                rules: rules.to_owned(),
                clock,
            };
            // Many players do not support this message.
            let _ = self.send(&message, self.clock(clock), 0);
        }
        let message = Message::Start {
            id: self.invitation.id.clone(),
            role: self
                .invitation
                .spelling
                .send(self.invitation.game.role_name(self.role)),
            rules: rules.to_owned(),
            start_clock: options.start_clock,
            play_clock: options.play_clock,
        };
        let answer = self.send(&message, self.clock(options.start_clock), 0);
        // Replay the earlier turns; the last one is sent with the next request.
        for (ply, news) in self.missed.iter().flatten().enumerate() {
            let _ = self.play(news, ply);
        }
        match answer {
            Err(error) => Err(lapse(&error)),
            // After any other answer the player is asked for moves.
            Ok(said) if said.trim().eq_ignore_ascii_case(BUSY) => {
                Err(Lapse::Illegal(BUSY.to_owned()))
            }
            Ok(_) => Ok(()),
        }
    }

    fn choose(&mut self, position: &Position<'_>) -> Result<Move, Lapse> {
        let answer = self.play(position.news, position.turn());
        let answer = answer.map_err(|error| lapse(&error))?;
        self.understand(&answer, position)
    }

    fn stop(&mut self, news: &News) {
        let message = Message::Stop {
            id: self.invitation.id.clone(),
            last: self.last_turn(news),
        };
        // The answer does not matter.
        let _ = self.send(&message, self.clock(self.invitation.options.play_clock), 0);
    }

    fn abort(&mut self) {
        let message = Message::Abort {
            id: self.invitation.id.clone(),
        };
        let _ = self.send(&message, ABORT, 0);
    }
}
