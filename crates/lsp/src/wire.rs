//! The transport: messages on standard input and output, each a header with a length and a
//! JSON body. A body that is not a message gets an error as its answer, and the next message is
//! read.
//!
//! The library for messages knows only numbers of 32 bits and strings as identifiers of
//! requests. So any other identifier, and any string, is inside the server a string with its
//! JSON text.

use ggp_gdl::counted::counted;
use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, ErrorCode, Message, Response};
use serde_json::Value;

/// Maximum length of a header line in bytes.
const LINE: u64 = 4096;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until everything is written and the input ends.
    ///
    /// # Errors
    ///
    /// If a message could not be read or written.
    pub fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<_>| {
            thread
                .join()
                .unwrap_or_else(|fault| std::panic::resume_unwind(fault))
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// A connection over standard input and output, for messages of at most `most` bytes.
///
/// # Errors
///
/// If the system gives no threads.
pub fn stdio(most: u64) -> io::Result<(Connection, Threads)> {
    let (to_server, receiver) = bounded(0);
    let (sender, from_server) = bounded::<Message>(0);
    let refusals = sender.clone();
    let reader = thread::Builder::new().spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(body) = read(&mut input, most)? {
            let message = match message(&body) {
                Ok(message) => message,
                Err(answer) => {
                    // After an error of the output, nobody gets an answer.
                    let _ = refusals.send(answer.into());
                    continue;
                }
            };
            let is_last =
                matches!(&message, Message::Notification(notice) if notice.method == "exit");
            // The server has ended, and has reported why.
            if to_server.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    })?;
    let writer = thread::Builder::new().spawn(move || {
        let mut output = io::stdout().lock();
        from_server
            .into_iter()
            .try_for_each(|message| write(&message, &mut output))
    })?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

/// Reads the body of a message; `None` at the end of the input.
fn read(input: &mut impl BufRead, most: u64) -> io::Result<Option<Vec<u8>>> {
    let fault = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim_end_matches(['\r', '\n']).split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let value = value.trim();
                let number = value.parse::<u64>();
                length =
                    Some(number.map_err(|_| fault(format!("{value:?} is not a Content-Length")))?);
            }
            Some(_) => {}
            None if text.trim_end().is_empty() => break,
            None => {
                return Err(fault(format!(
                    "{:?} is not a header line: each message begins with \
                     \"Content-Length: BYTES\" and an empty line",
                    text.trim_end()
                )));
            }
        }
    }
    let length = length.ok_or_else(|| fault("a message has no Content-Length".to_owned()))?;
    if length > most {
        return Err(fault(format!(
            "a message of {} is too long, the limit is {most}: \
             --max-bytes allows larger files, and messages with them",
            counted(length, "byte")
        )));
    }
    // Memory is allocated for the data received, not for the length announced.
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(fault(format!(
            "the input ended within a message of {}",
            counted(length, "byte")
        )));
    }
    Ok(Some(body))
}

/// The message of a body, or the answer to a body that is not a message.
fn message(body: &[u8]) -> Result<Message, Response> {
    let refusal = |id: &Value, code: ErrorCode, text: String| {
        Response::new_err(id.to_string().into(), code as i32, text)
    };
    let mut value: Value = serde_json::from_slice(body).map_err(|error| {
        let text = format!("the message is not JSON: {error}");
        refusal(&Value::Null, ErrorCode::ParseError, text)
    })?;
    let id = value.get("id").cloned().unwrap_or_default();
    let is_small = id.as_i64().is_some_and(|id| i32::try_from(id).is_ok());
    if let Some(inner) = value.get_mut("id").filter(|_| !is_small) {
        *inner = id.to_string().into();
    }
    serde_json::from_value(value).map_err(|_| {
        let text = "the message is not a request, a notification or an answer of JSON-RPC";
        refusal(&id, ErrorCode::InvalidRequest, text.to_owned())
    })
}

/// Writes a message.
fn write(message: &Message, output: &mut impl Write) -> io::Result<()> {
    let mut value = serde_json::to_value(message)?;
    value["jsonrpc"] = "2.0".into();
    if matches!(message, Message::Response(_))
        && let Some(text) = value["id"].as_str()
    {
        value["id"] = serde_json::from_str(text)?;
    }
    let text = value.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::{message, read, write};
    use lsp_server::{Message, Response};
    use serde_json::{Value, json};

    #[test]
    fn invalid_messages_are_reported() {
        for (input, expected) in [
            ("hello\r\n\r\n", "\"hello\" is not a header line"),
            ("Content-Length: x\r\n\r\n", "\"x\" is not a Content-Length"),
            (
                "Content-Length: 1000000000000\r\n\r\n{}",
                "a message of 1000000000000 bytes is too long, the limit is 100",
            ),
            ("Content-Type: json\r\n\r\n{}", "has no Content-Length"),
            (
                "Content-Length: 50\r\n\r\n{}",
                "ended within a message of 50 bytes",
            ),
        ] {
            let error = read(&mut input.as_bytes(), 100).expect_err(input);
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(read(&mut &b""[..], 100).is_ok_and(|message| message.is_none()));
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!(
            "content-length: {}\nContent-Type: x\n\n{body}{body}",
            body.len()
        );
        assert!(read(&mut text.as_bytes(), 100).is_ok_and(|message| message.is_some()));
    }

    fn written(message: &Message) -> Value {
        let mut bytes = Vec::new();
        write(message, &mut bytes).expect("memory can be written");
        let body = read(&mut &bytes[..], 1000).expect("it is right");
        serde_json::from_slice(&body.expect("there is one")).expect("it is JSON")
    }

    #[test]
    fn answers_have_the_identifiers_of_their_requests() {
        let ids = [
            json!(1),
            json!("1"),
            json!("\"1\""),
            json!("null"),
            json!(i32::MAX),
            json!(i64::from(i32::MAX) + 1),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(1.5),
            json!(""),
        ];
        let mut inner = Vec::new();
        for id in ids {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": "a" }).to_string();
            let Ok(Message::Request(request)) = message(body.as_bytes()) else {
                panic!("{body}");
            };
            assert!(
                !inner.contains(&request.id),
                "{id} has the identifier of another"
            );
            inner.push(request.id.clone());
            let answer = written(&Response::new_ok(request.id, 7).into());
            assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": id, "result": 7 }));
        }
    }

    #[test]
    fn what_is_not_a_message_gets_an_error() {
        for (body, id, code) in [
            ("", json!(null), -32700),
            ("{]", json!(null), -32700),
            ("\u{0}", json!(null), -32700),
            ("[]", json!(null), -32600),
            ("7", json!(null), -32600),
            ("{}", json!(null), -32600),
            (r#"{"id":3000000000}"#, json!(3_000_000_000_u64), -32600),
            (r#"{"id":"a","method":1}"#, json!("a"), -32600),
        ] {
            let answer = message(body.as_bytes()).expect_err(body);
            let answer = written(&answer.into());
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&id, &json!(code))
            );
        }
    }
}
