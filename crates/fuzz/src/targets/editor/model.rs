//! The text of a document as the protocol describes it, in UTF-16 code units.

/// A text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    units: Vec<u16>,
}

const RETURN: u16 = b'\r' as u16;
const FEED: u16 = b'\n' as u16;

impl Text {
    pub fn new(text: &str) -> Text {
        Text {
            units: text.encode_utf16().collect(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf16(&self.units).expect("no pair is cut")
    }

    /// The number of code units.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// The start and the end of each line, without the characters that end it.
    fn lines(&self) -> Vec<(usize, usize)> {
        let mut lines = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < self.units.len() {
            let skipped = match &self.units[at..] {
                [RETURN, FEED, ..] => 2,
                [RETURN | FEED, ..] => 1,
                _ => 0,
            };
            if skipped > 0 {
                lines.push((start, at));
                start = at + skipped;
            }
            at += skipped.max(1);
        }
        lines.push((start, self.units.len()));
        lines
    }

    /// Whether there is such a line and character.
    pub fn has(&self, (line, character): (u32, u32)) -> bool {
        let lines = self.lines();
        let line = lines.get(line as usize);
        line.is_some_and(|(start, end)| character as usize <= end - start)
    }

    /// The line and character of an offset.
    pub fn place(&self, offset: usize) -> (u32, u32) {
        let lines = self.lines();
        let line = lines.partition_point(|&(start, _)| start <= offset) - 1;
        (line as u32, (offset - lines[line].0) as u32)
    }

    /// The offset of a place. A place beyond a line or the text is at its end, one within a
    /// pair of code units is after it.
    fn offset(&self, (line, character): (u32, u32)) -> usize {
        let lines = self.lines();
        let Some(&(start, end)) = lines.get(line as usize) else {
            return self.units.len();
        };
        let at = (start + character as usize).min(end);
        let is_cut = (self.units.get(at)).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
        at + usize::from(is_cut)
    }

    /// Replaces the text between two places. If the end is before the start, nothing is
    /// removed.
    pub fn change(&mut self, start: (u32, u32), end: (u32, u32), text: &str) {
        let (start, end) = (self.offset(start), self.offset(end));
        let units: Vec<u16> = text.encode_utf16().collect();
        self.units.splice(start..end.max(start), units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_code_units() {
        let mut text = Text::new("a\r\n\u{1d11e}b\rc\n");
        assert!(text.has((0, 1)) && !text.has((0, 2)));
        assert!(text.has((3, 0)) && !text.has((4, 0)));
        assert_eq!(text.place(5), (1, 2));
        text.change((1, 1), (1, 9), "x");
        assert_eq!(text.text(), "a\r\n\u{1d11e}x\rc\n");
        text.change((0, 9), (7, 0), "");
        assert_eq!(text.text(), "a");
    }
}
