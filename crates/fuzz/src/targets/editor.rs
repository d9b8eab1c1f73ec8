//! Messages of an editor: each request is answered once, places in answers are inside the
//! text, and the server's texts are those of a simple model.
//!
//! Each line of an input is a message in JSON. At the end, each open text is compared with
//! a new document that has the model's text: layout, outline and findings are the same.

mod model;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use ggp_gdl::check::ReadOptions;
use ggp_lsp::{Settings, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use crate::{Known, json, rules};
use model::Text;

/// The longest text that is opened.
const LONGEST: usize = 20_000;
/// The documents.
const URIS: [&str; 2] = ["file:///a.kif", "file:///b%20c.kif"];
/// The document that a text is compared with.
const FRESH: &str = "file:///fresh.kif";
/// The longest time until an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time limit for commands.
const COMMAND: Duration = Duration::from_millis(200);

/// Texts that edits insert.
const PIECES: [&str; 16] = [
    "",
    "",
    "(",
    ")",
    "\n",
    "\r\n",
    "\r",
    " ",
    "é",
    "\u{1d11e}",
    "?x",
    "; \u{1f600}\n",
    "(<= (next (a ?x)) (true (a ?x)))\n",
    "\u{feff}",
    "\0",
    "(role \u{1d11e}é)",
];

/// A session of messages.
pub fn make(known: &Known, random: &mut Xoshiro256PlusPlus) -> String {
    let mut texts: BTreeMap<&str, Text> = BTreeMap::new();
    let mut lines = Vec::new();
    for number in 0..random.random_range(2..20) {
        let uri = URIS[usize::from(random.random_range(0..4) == 0)];
        let mut message = match texts.get_mut(uri) {
            None => {
                let text = opened(known, random);
                texts.insert(uri, Text::new(&text));
                json!({ "method": "textDocument/didOpen", "params": { "textDocument": {
                    "uri": uri, "languageId": "kif", "version": number, "text": text,
                } } })
            }
            Some(text) if random.random_bool(0.4) => {
                let changes: Vec<Value> = (0..random.random_range(1..4))
                    .map(|_| edit(text, random))
                    .collect();
                json!({ "method": "textDocument/didChange", "params": {
                    "textDocument": { "uri": uri, "version": number },
                    "contentChanges": changes,
                } })
            }
            Some(_) if random.random_range(0..30) == 0 => {
                texts.remove(uri);
                json!({ "method": "textDocument/didClose", "params": {
                    "textDocument": { "uri": uri },
                } })
            }
            Some(text) => request(uri, text, number, random),
        };
        if random.random_range(0..8) == 0 {
            let words = PIECES.map(str::to_owned);
            json::change(&mut message, &words, random);
        }
        lines.push(message.to_string());
    }
    lines.join("\n")
}

/// A text to open.
fn opened(known: &Known, random: &mut Xoshiro256PlusPlus) -> String {
    let text = match random.random_range(0..3) {
        0 => known.texts[random.random_range(0..known.texts.len())].clone(),
        _ => rules::any(&known.texts, random),
    };
    let text: String = text.chars().take(LONGEST).collect();
    match random.random_range(0..4) {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace(" a", " \u{1d11e}é"),
        _ => text,
    }
}

/// An edit, which is applied to the text as well.
fn edit(text: &mut Text, random: &mut Xoshiro256PlusPlus) -> Value {
    let piece = PIECES[random.random_range(0..PIECES.len())];
    if random.random_range(0..20) == 0 {
        *text = Text::new(piece);
        return json!({ "text": piece });
    }
    let start = place(text, random);
    let end = match random.random_range(0..3) {
        0 => start,
        1 => (start.0, start.1 + random.random_range(0..6)),
        _ => place(text, random),
    };
    text.change(start, end, piece);
    json!({ "text": piece, "range": {
        "start": { "line": start.0, "character": start.1 },
        "end": { "line": end.0, "character": end.1 },
    } })
}

/// A line and a character, now and then outside the text.
fn place(text: &Text, random: &mut Xoshiro256PlusPlus) -> (u32, u32) {
    let mut place = text.place(random.random_range(0..=text.len()));
    match random.random_range(0..12) {
        0 => place.1 += random.random_range(1..100),
        1 => place.0 += random.random_range(1..100),
        2 => place.1 = u32::MAX - 10,
        _ => {}
    }
    place
}

/// A request about a document.
fn request(uri: &str, text: &Text, id: i32, random: &mut Xoshiro256PlusPlus) -> Value {
    let methods = [
        "hover",
        "definition",
        "references",
        "prepareRename",
        "rename",
        "completion",
        "codeAction",
        "formatting",
        "documentSymbol",
        "codeLens",
        "command",
        "foldingRange",
    ];
    let method = methods[random.random_range(0..methods.len())];
    if method == "command" {
        let commands = ["ggp.perft", "ggp.playout", "ggp.check", "ggp"];
        let command = commands[random.random_range(0..commands.len())];
        return json!({ "id": id, "method": "workspace/executeCommand", "params": {
            "command": command, "arguments": [uri],
        } });
    }
    let (start, end) = (place(text, random), place(text, random));
    let at = |(line, character)| json!({ "line": line, "character": character });
    let names = ["a", "?y", "new", "", "(", "next", "\u{1d11e}", "?", "x y"];
    // More fields than a request has are ignored.
    json!({ "id": id, "method": format!("textDocument/{method}"), "params": {
        "textDocument": { "uri": uri },
        "position": at(start),
        "range": { "start": at(start), "end": at(end) },
        "context": { "includeDeclaration": random.random::<bool>(), "diagnostics": [] },
        "newName": names[random.random_range(0..names.len())],
        "options": { "tabSize": 2, "insertSpaces": true },
    } })
}

/// The client's side of a session.
struct Session {
    client: Connection,
    /// The texts as of now.
    texts: BTreeMap<String, Text>,
    /// The requests without an answer, with the document that each is about.
    asked: Vec<(RequestId, Option<Text>)>,
    /// The last findings of each document.
    findings: BTreeMap<String, Value>,
    answers: u64,
}

impl Session {
    fn tell(&mut self, message: Message) -> Result<(), String> {
        let sent = self.client.sender.send(message);
        sent.map_err(|_| "the server has ended".to_owned())
    }

    fn ask(&mut self, id: RequestId, method: &str, params: Value) -> Result<(), String> {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let mut text = self.texts.get(uri).cloned();
        // An answer does not say to which of several requests with the same name it belongs.
        for (_, other) in self.asked.iter_mut().filter(|(known, _)| *known == id) {
            (*other, text) = (None, None);
        }
        self.asked.push((id.clone(), text));
        self.tell(Message::Request(Request::new(
            id,
            method.to_owned(),
            params,
        )))
    }

    /// Applies a notification to the texts.
    fn apply(&mut self, notice: &Notification) {
        let params = notice.params.clone();
        match notice.method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(opened) = serde_json::from_value::<DidOpenTextDocumentParams>(params) {
                    let item = opened.text_document;
                    let text = Text::new(&item.text);
                    self.texts.insert(item.uri.as_str().to_owned(), text);
                }
            }
            "textDocument/didChange" => {
                if let Ok(changed) = serde_json::from_value::<DidChangeTextDocumentParams>(params)
                    && let Some(text) = self.texts.get_mut(changed.text_document.uri.as_str())
                {
                    for change in changed.content_changes {
                        match change.range {
                            None => *text = Text::new(&change.text),
                            Some(range) => {
                                let place = |at: lsp_types::Position| (at.line, at.character);
                                text.change(place(range.start), place(range.end), &change.text);
                            }
                        }
                    }
                }
            }
            "textDocument/didClose" => {
                if let Ok(closed) = serde_json::from_value::<DidCloseTextDocumentParams>(params) {
                    self.texts.remove(closed.text_document.uri.as_str());
                }
            }
            _ => {}
        }
    }

    /// The next message of the server.
    fn receive(&mut self, until: Instant) -> Result<Option<Response>, String> {
        match self.client.receiver.recv_deadline(until) {
            Ok(Message::Response(response)) => {
                let known = self.asked.iter().position(|(id, _)| *id == response.id);
                let Some(known) = known else {
                    return Err(format!("an answer without a request: {response:?}"));
                };
                let (_, text) = self.asked.remove(known);
                self.answers += 1;
                if let (Some(text), Ok(result)) = (text, &response.response_result) {
                    check_ranges(result, &text)?;
                }
                Ok(Some(response))
            }
            Ok(Message::Notification(notice)) => {
                if notice.method == "textDocument/publishDiagnostics" {
                    let uri = notice.params["uri"].as_str().unwrap_or_default();
                    let found = notice.params["diagnostics"].clone();
                    self.findings.insert(uri.to_owned(), found);
                }
                Ok(None)
            }
            Ok(other) => Err(format!("an unknown message: {other:?}")),
            Err(_) => Err(format!("no answer to {:?}", self.asked)),
        }
    }

    /// Waits until all requests are answered. Returns the answer to the last one.
    fn wait(&mut self) -> Result<Option<Response>, String> {
        let until = Instant::now() + PATIENCE;
        let mut last = None;
        while !self.asked.is_empty() {
            last = self.receive(until)?.or(last);
        }
        Ok(last)
    }

    /// Everything that the server shows of a document.
    fn shown(&mut self, uri: &str) -> Result<Vec<String>, String> {
        let mut shown = Vec::new();
        for method in ["formatting", "documentSymbol"] {
            let params = json!({
                "textDocument": { "uri": uri },
                "options": { "tabSize": 2, "insertSpaces": true },
            });
            let id = RequestId::from(format!("{method} of {uri}"));
            self.ask(id, &format!("textDocument/{method}"), params)?;
            let answer = self.wait()?;
            let answer = answer.map(|response| response.response_result);
            shown.push(format!("{answer:?}"));
        }
        Ok(shown)
    }
}

/// Checks that all ranges in an answer are inside a text.
fn check_ranges(answer: &Value, text: &Text) -> Result<(), String> {
    let place = |value: &Value| {
        let number = |name: &str| value[name].as_u64().and_then(|n| u32::try_from(n).ok());
        Some((number("line")?, number("character")?))
    };
    if let (Some(start), Some(end)) = (place(&answer["start"]), place(&answer["end"])) {
        return match text.has(start) && text.has(end) && start <= end {
            true => Ok(()),
            false => Err(format!("there is no range {answer} in the text")),
        };
    }
    match answer {
        Value::Array(items) => items.iter().try_for_each(|item| check_ranges(item, text)),
        Value::Object(fields) => fields
            .values()
            .try_for_each(|field| check_ranges(field, text)),
        _ => Ok(()),
    }
}

fn open(uri: &str, text: &str) -> Message {
    let params = json!({ "textDocument": {
        "uri": uri, "languageId": "kif", "version": 1, "text": text,
    } });
    Message::Notification(Notification::new("textDocument/didOpen".to_owned(), params))
}

pub fn run(input: &str, _: u64) -> Result<u64, String> {
    let (server, client) = Connection::memory();
    let settings = Settings {
        time: COMMAND,
        read: ReadOptions::default(),
    };
    let server = thread::spawn(move || serve(server, &settings));
    let mut session = Session {
        client,
        texts: BTreeMap::new(),
        asked: Vec::new(),
        findings: BTreeMap::new(),
        answers: 0,
    };
    let first = RequestId::from("initialize".to_owned());
    session.ask(first, "initialize", json!({ "capabilities": {} }))?;
    session.wait()?;
    let params = json!({});
    session.tell(Notification::new("initialized".to_owned(), params).into())?;
    for line in input.lines() {
        match serde_json::from_str::<Message>(line) {
            // These end the server, which is another matter.
            Ok(Message::Request(request)) if request.method == "shutdown" => {}
            Ok(Message::Notification(notice)) if notice.method == "exit" => {}
            Ok(Message::Request(request)) => {
                session.ask(request.id, &request.method, request.params)?;
            }
            Ok(Message::Notification(notice)) => {
                session.apply(&notice);
                session.tell(Message::Notification(notice))?;
            }
            Ok(response) => session.tell(response)?,
            Err(_) => {}
        }
    }
    session.wait()?;
    let texts: Vec<(String, Text)> = session.texts.clone().into_iter().collect();
    for (uri, text) in texts {
        // Names are replaced below, so they must not be words of a text.
        let has = |name: &&str| text.text().contains(name);
        if !URIS.contains(&&*uri) || URIS.iter().chain([&FRESH]).any(has) {
            continue;
        }
        session.texts.insert(FRESH.to_owned(), text.clone());
        session.findings.remove(FRESH);
        session.tell(open(FRESH, &text.text()))?;
        let (own, fresh) = (session.shown(&uri)?, session.shown(FRESH)?);
        let until = Instant::now() + PATIENCE;
        while !session.findings.contains_key(FRESH) {
            session.receive(until)?;
        }
        // The findings of all texts are there once another request is answered.
        let sync = RequestId::from("sync".to_owned());
        session.ask(sync, "sync", Value::Null)?;
        session.wait()?;
        let found = |uri: &str| session.findings.get(uri).map(Value::to_string);
        let pairs = own
            .into_iter()
            .map(Some)
            .chain([found(&uri)])
            .zip(fresh.into_iter().map(Some).chain([found(FRESH)]));
        for (own, fresh) in pairs {
            let own = own.map(|own| own.replace(&uri, FRESH));
            if own != fresh {
                return Err(format!(
                    "{uri} shows\n{own:?}\nand its text as a new document\n{fresh:?}"
                ));
            }
            session.answers += 1;
        }
    }
    let answers = session.answers;
    drop(session);
    match server.join() {
        Ok(_) => Ok(answers),
        Err(_) => Err("the server ended with a panic".to_owned()),
    }
}
