//! The transport: messages on standard input and output, each a header with a length and a
//! JSON body.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};

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
    let reader = thread::Builder::new().spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input, most)? {
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
            .try_for_each(|message| message.write(&mut output))
    })?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

/// Reads a message; `None` at the end of the input.
fn read(input: &mut impl BufRead, most: u64) -> io::Result<Option<Message>> {
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
            "a message of {length} bytes is more than the {most} that are read: \
             --max-bytes allows larger files, and messages with them"
        )));
    }
    // Memory is allocated for the data received, not for the length announced.
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(fault(format!(
            "the input ended within a message of {length} bytes"
        )));
    }
    let message = serde_json::from_slice(&body);
    message
        .map(Some)
        .map_err(|error| fault(format!("a message is not JSON-RPC: {error}")))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn invalid_messages_are_reported() {
        for (input, expected) in [
            ("hello\r\n\r\n", "\"hello\" is not a header line"),
            ("Content-Length: x\r\n\r\n", "\"x\" is not a Content-Length"),
            (
                "Content-Length: 1000000000000\r\n\r\n{}",
                "a message of 1000000000000 bytes is more than the 100",
            ),
            ("Content-Type: json\r\n\r\n{}", "has no Content-Length"),
            (
                "Content-Length: 50\r\n\r\n{}",
                "ended within a message of 50 bytes",
            ),
            ("Content-Length: 2\r\n\r\n{]", "is not JSON-RPC"),
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
}
