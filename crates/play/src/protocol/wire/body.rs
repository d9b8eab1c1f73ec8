//! The end of a request body.

use ggp_stop::Instant;

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Connection, GRACE, WireError};
use crate::protocol::message::Balance;

/// The length of a body by its headers.
#[derive(Copy, Clone, Debug)]
pub(super) enum Framing {
    /// The body has this number of bytes or characters.
    Length(usize),
    /// The body is chunked.
    Chunked,
    /// The length is unknown.
    Unknown,
}

/// A complete body.
pub(super) struct Body {
    pub bytes: Vec<u8>,
    /// True if the body ended where the headers said, so that another request may follow.
    pub is_exact: bool,
}

/// The most bytes of the line before a chunk.
const PIECE_LINE: usize = 1 << 10;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) async fn body(
        &mut self,
        framing: Framing,
        since: Instant,
    ) -> Result<Body, WireError> {
        match framing {
            Framing::Chunked => self.pieces(since).await,
            Framing::Length(length) => self.counted(Some(length), since).await,
            Framing::Unknown => self.counted(None, since).await,
        }
    }

    /// A body of `count` bytes, or more if a list is open there.
    async fn counted(&mut self, length: Option<usize>, since: Instant) -> Result<Body, WireError> {
        let mut balance = Balance::default();
        let mut seen = 0;
        loop {
            let counted = length.unwrap_or(0);
            while seen < self.buffer.len() {
                // Beyond the counted bytes only an open list is read.
                if length == Some(seen) && !balance.is_open() {
                    return Ok(self.take(seen, true));
                }
                balance.push(&self.buffer[seen..=seen]);
                seen += 1;
                if seen > counted && balance.is_whole() {
                    return Ok(self.take(seen, false));
                }
            }
            if length == Some(seen) && !balance.is_open() {
                return Ok(self.take(seen, true));
            }
            // The brackets are balanced although fewer bytes were received than counted.
            if balance.is_whole() {
                return Ok(self.take(seen, false));
            }
            if seen > self.limits.bytes {
                return Err(WireError::TooLarge);
            }
            let is_due = seen < counted || balance.is_open() && length.is_none();
            let deadline = match is_due {
                true => self.deadline(since, seen),
                false => Instant::now() + GRACE,
            };
            match self.fill(deadline, 0).await {
                Ok(()) => {}
                Err(WireError::Closed) => return Ok(self.take(seen, false)),
                Err(WireError::Late) if !is_due => return Ok(self.take(seen, false)),
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, length: usize, is_exact: bool) -> Body {
        let rest = self.buffer.split_off(length);
        Body {
            bytes: std::mem::replace(&mut self.buffer, rest),
            is_exact,
        }
    }

    async fn pieces(&mut self, since: Instant) -> Result<Body, WireError> {
        let mut bytes = Vec::new();
        let mut balance = Balance::default();
        // The processed bytes of the buffer, and the remaining bytes of the chunk with its line
        // break.
        let (mut done, mut left) = (0, 0);
        loop {
            let rest = &self.buffer[done..];
            if left > 2 {
                let part = &rest[..rest.len().min(left - 2)];
                balance.push(part);
                bytes.extend_from_slice(part);
                done += part.len();
                left -= part.len();
            }
            let rest = &self.buffer[done..];
            if left <= 2 {
                let part = rest.len().min(left);
                done += part;
                left -= part;
            }
            let rest = &self.buffer[done..];
            if left == 0 {
                match httparse::parse_chunk_size(rest) {
                    Ok(httparse::Status::Complete((line, 0))) => {
                        self.buffer.drain(..done + line - 2);
                        return self.end_of_pieces(bytes, since).await;
                    }
                    Ok(httparse::Status::Complete((line, size))) => {
                        let size = usize::try_from(size).map_err(|_| WireError::TooLarge)?;
                        if size > self.limits.bytes.saturating_sub(bytes.len()) {
                            return Err(WireError::TooLarge);
                        }
                        done += line;
                        left = size + 2;
                        continue;
                    }
                    Ok(httparse::Status::Partial) if rest.len() < PIECE_LINE => {}
                    _ => return Err(WireError::NotHttp("a chunk has no size")),
                }
            }
            self.buffer.drain(..done);
            done = 0;
            let deadline = match balance.is_whole() {
                true => Instant::now() + GRACE,
                false => self.deadline(since, bytes.len()),
            };
            match self.fill(deadline, bytes.len()).await {
                Ok(()) => {}
                Err(WireError::Closed | WireError::Late) if balance.is_whole() => {
                    return Ok(Body {
                        bytes,
                        is_exact: false,
                    });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips the trailers after the last chunk, up to an empty line. The buffer begins with the
    /// line break before them.
    async fn end_of_pieces(&mut self, bytes: Vec<u8>, since: Instant) -> Result<Body, WireError> {
        loop {
            if let Some(end) = super::head_end(&self.buffer, 0) {
                self.buffer.drain(..end);
                return Ok(Body {
                    bytes,
                    is_exact: true,
                });
            }
            let is_long = self.buffer.len() > PIECE_LINE;
            if is_long || self.fill(since + GRACE, bytes.len()).await.is_err() {
                return Ok(Body {
                    bytes,
                    is_exact: false,
                });
            }
        }
    }
}
