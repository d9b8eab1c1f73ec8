//! Messages of the GGP protocol: what is read and written is read as the same.

use ggp_play::protocol::message::{Message, MessageLimits};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub fn run(text: &str, seed: u64) -> Result<u64, String> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let whole = match random.random_range(0..5) {
        0 => text.to_owned(),
        1 => format!("(PLAY m1 ({text}))"),
        2 => format!("(STOP m1 {text})"),
        3 => format!("(PREVIEW ({text}) 10)"),
        _ => format!("(START m1 r0 ({text}) 10 10)"),
    };
    let Ok(message) = Message::parse(&whole, MessageLimits::default()) else {
        return Ok(0);
    };
    let written = message.to_string();
    match Message::parse(&written, MessageLimits::default()) {
        Ok(again) if again.to_string() == written => Ok(1),
        Ok(again) => Err(format!("written twice: {again}\nonce: {written}")),
        Err(error) => Err(format!("not read again: {error}\n{written}")),
    }
}
