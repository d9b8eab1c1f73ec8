//! Messages on standard input and output: a header with a length, then JSON.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};

/// Bytes of a line of a header.
const LINE: u64 = 4096;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until all is written, and nothing more comes in.
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

/// A connection over standard input and output, for messages of so many bytes at most.
pub fn stdio(most: u64) -> (Connection, Threads) {
    let (to_server, receiver) = bounded(0);
    let (sender, from_server) = bounded::<Message>(0);
    let reader = thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input, most)? {
            let is_last =
                matches!(&message, Message::Notification(notice) if notice.method == "exit");
            // The server is done, and has said why.
            if to_server.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    });
    let writer = thread::spawn(move || {
        let mut output = io::stdout().lock();
        from_server
            .into_iter()
            .try_for_each(|message| message.write(&mut output))
    });
    (Connection { sender, receiver }, Threads { reader, writer })
}

/// Reads a message; none at the end.
fn read(input: &mut impl BufRead, most: u64) -> io::Result<Option<Message>> {
    let fault = |told: String| io::Error::new(io::ErrorKind::InvalidData, told);
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
                    Some(number.map_err(|_| fault(format!("{value:?} is no Content-Length")))?);
            }
            Some(_) => {}
            None if text.trim_end().is_empty() => break,
            None => {
                return Err(fault(format!(
                    "{:?} is no line of a header: before each message there is \
                     \"Content-Length: BYTES\" and an empty line",
                    text.trim_end()
                )));
            }
        }
    }
    let length =
        length.ok_or_else(|| fault("a message came without its Content-Length".to_owned()))?;
    if length > most {
        return Err(fault(format!(
            "a message of {length} bytes is more than the {most} that are read: \
             --max-bytes allows larger files, and messages with them"
        )));
    }
    // Room is made for what comes, not for what is announced.
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
        .map_err(|told| fault(format!("a message is no JSON-RPC: {told}")))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_is_no_message_is_told() {
        for (input, told) in [
            ("hello\r\n\r\n", "\"hello\" is no line of a header"),
            ("Content-Length: x\r\n\r\n", "\"x\" is no Content-Length"),
            (
                "Content-Length: 1000000000000\r\n\r\n{}",
                "a message of 1000000000000 bytes is more than the 100",
            ),
            ("Content-Type: json\r\n\r\n{}", "without its Content-Length"),
            (
                "Content-Length: 50\r\n\r\n{}",
                "ended within a message of 50 bytes",
            ),
            ("Content-Length: 2\r\n\r\n{]", "is no JSON-RPC"),
        ] {
            let error = read(&mut input.as_bytes(), 100).expect_err(input);
            assert!(error.to_string().contains(told), "{error}");
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
