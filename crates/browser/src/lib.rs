//! The answers of the page inside a browser: WebAssembly for a page without a server.
//!
//! In: the requests that the page would send to a server. Out: the same answers and events,
//! from [`ggp_answers`]. An [`Engine`] belongs to one worker of the browser and has one thread.
//! Long work is stopped by ending the worker.
//!
//! `.ci/wasm` builds it, and `ggp web --export` writes it next to the page.

mod queue;
mod requests;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use ggp_answers::{Content, Listener};
use ggp_stop::Instant;
use requests::Requests;

/// The games of one worker.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Engine(Requests);

#[wasm_bindgen]
impl Engine {
    /// No games.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        std::panic::set_hook(Box::new(|info| error(&info.to_string())));
        Engine::default()
    }

    /// True if the game is loaded.
    pub fn has(&self, id: &str) -> bool {
        self.0.has(id)
    }

    /// Loads a rule set in JSON, under a name, or else one derived from its content. The answer
    /// is `{"status": N, "content": …}` in JSON, with the description of the game.
    pub fn load(&mut self, id: Option<String>, rules: &str) -> String {
        self.0.load(id, rules).text()
    }

    /// Answers a request of this name, with its body in JSON, about a game if it is about one.
    /// `tell` is called for each event, with its name and its content in JSON. The answer is as
    /// that of [`Engine::load`].
    pub fn ask(&self, what: &str, id: Option<String>, body: &str, tell: Function) -> String {
        let listener = Teller(tell);
        self.0.ask(what, id.as_deref(), body, listener).text()
    }

    /// The values that were learned for a game, as text, if there are some.
    pub fn learned(&self, id: &str) -> Option<String> {
        self.0.learned(id)
    }

    /// Keeps values that another engine has learned. Returns whether they fit.
    pub fn teach(&self, id: &str, text: &str) -> bool {
        self.0.teach(id, text)
    }

    /// Does work that waits for a free moment. Returns whether there was some.
    pub fn rest(&self) -> bool {
        self.0.rest()
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// A function of the worker that takes events.
struct Teller(Function);

impl Listener for Teller {
    fn offer(&self, name: &'static str, content: &dyn Content) {
        // The worker of the page throws nothing.
        let _ = (self.0).call2(&JsValue::NULL, &name.into(), &content.json().into());
    }

    fn send_before(&self, name: &'static str, content: &dyn Content, _until: Instant) -> bool {
        self.offer(name, content);
        true
    }
}
