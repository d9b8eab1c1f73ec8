//! Parser for the three notations of a grid.

use super::{Grid, GridError, Row};

/// Reads a text as one grid.
pub(super) fn grid(name: &str, text: &str) -> Result<Grid, GridError> {
    let reader = Reader { name };
    let text = without_byte_order_mark(text);
    let lines: Vec<(usize, &str)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.trim_matches(is_blank)))
        .collect();
    let is_text = |(_, line): &&(usize, &str)| !line.is_empty();
    let Some(&(first, start)) = lines.iter().find(is_text) else {
        return Err(reader.error(1, "the text contains no grid"));
    };
    let (last, _) = *lines
        .iter()
        .rfind(is_text)
        .expect("there is a first line with text");
    if start.starts_with("[[") || start == "[" {
        return reader.bracketed(&lines[first - 1..last]);
    }
    if first == last && start.contains('/') {
        return reader.joined(first, start);
    }
    let mut rows = Vec::new();
    for &(number, line) in &lines[first - 1..last] {
        if line.is_empty() {
            return Err(reader.error(number, "there is an empty line between the rows"));
        }
        rows.push(reader.row(number, line)?);
    }
    reader.grid(rows)
}

/// Reads a list of grids, one on each line, in brackets or with `/` between the rows.
/// Empty lines, lines that begin with `#`, and text after a grid and a blank are
/// ignored. `name` is used in messages only.
///
/// # Errors
///
/// [`GridError`] for the first line that is not a grid.
pub fn puzzles(name: &str, text: &str) -> Result<Vec<Grid>, GridError> {
    let reader = Reader { name };
    let mut grids = Vec::new();
    for (number, line) in (1..).zip(without_byte_order_mark(text).lines()) {
        let line = line.trim_matches(is_blank);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        grids.push(if line.starts_with('[') {
            // A remark may follow the last bracket.
            let end = line.rfind(']').map_or(line.len(), |last| last + 1);
            reader.bracketed(&[(number, &line[..end])])?
        } else {
            let word = line.split(is_blank).next().expect("a line has a word");
            reader.joined(number, word)?
        });
    }
    Ok(grids)
}

/// The text without a byte order mark.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

struct Reader<'a> {
    name: &'a str,
}

impl Reader<'_> {
    fn error(&self, line: usize, message: impl Into<String>) -> GridError {
        GridError {
            name: self.name.to_owned(),
            line,
            message: message.into(),
        }
    }

    /// Rows joined by `/`.
    fn joined(&self, number: usize, line: &str) -> Result<Grid, GridError> {
        let rows = line.split('/').map(|row| {
            let row = row.trim_matches(is_blank);
            if row.is_empty() {
                return Err(self.error(number, "there is an empty row between two `/`"));
            }
            self.row(number, row)
        });
        self.grid(rows.collect::<Result<_, _>>()?)
    }

    /// Rows in brackets, on one line or several.
    fn bracketed(&self, lines: &[(usize, &str)]) -> Result<Grid, GridError> {
        let mut rows = Vec::new();
        let mut row: Option<Row> = None;
        let mut depth = 0;
        let mut closed = false;
        let mut value = String::new();
        for &(line, text) in lines {
            for c in text.chars().chain(['\n']) {
                if closed && !is_blank(c) {
                    return Err(self.error(line, "there is text after the last `]`"));
                }
                if matches!(c, '[' | ']' | ',') || is_blank(c) {
                    if !value.is_empty() {
                        match &mut row {
                            Some(row) => row.cells.push(std::mem::take(&mut value)),
                            None => {
                                let message = format!("`{value}` is outside of a row");
                                return Err(self.error(line, message));
                            }
                        }
                    }
                } else {
                    value.push(c);
                    continue;
                }
                match c {
                    '[' if depth == 2 => {
                        return Err(self.error(line, "there is a `[` inside a row"));
                    }
                    '[' => {
                        depth += 1;
                        if depth == 2 {
                            let cells = Vec::new();
                            row = Some(Row { line, cells });
                        }
                    }
                    ']' => {
                        if let Some(row) = row.take() {
                            self.check(&row)?;
                            rows.push(row);
                        }
                        // The text starts with a bracket, so there is one to close.
                        depth -= 1;
                        closed = depth == 0;
                    }
                    _ => {}
                }
            }
        }
        if !closed {
            let line = lines.last().map_or(1, |(line, _)| *line);
            return Err(self.error(line, "a `]` is missing"));
        }
        self.grid(rows)
    }

    /// One row, not empty.
    fn row(&self, line: usize, text: &str) -> Result<Row, GridError> {
        let cells: Vec<String> = if text.contains(',') {
            let cells = text.split(',').map(|cell| cell.trim_matches(is_blank));
            // Blanks also separate cells, so `1, 2 3` has three cells.
            let mut all = Vec::new();
            for cell in cells {
                if cell.is_empty() {
                    let message =
                        "there is an empty cell next to a comma; use a name such as `.` for it";
                    return Err(self.error(line, message));
                }
                all.extend(cell.split_whitespace().map(str::to_owned));
            }
            all
        } else if text.contains(is_blank) {
            text.split_whitespace().map(str::to_owned).collect()
        } else {
            text.chars().map(String::from).collect()
        };
        let row = Row { line, cells };
        self.check(&row)?;
        Ok(row)
    }

    /// Rejects characters that a rule file would not read as part of a name.
    fn check(&self, row: &Row) -> Result<(), GridError> {
        for c in row.cells.iter().flat_map(|cell| cell.chars()) {
            if matches!(c, '(' | ')' | ';' | '?') || c.is_control() {
                let c = c.escape_debug();
                let message = format!(
                    "the character `{c}` cannot be part of a cell; brackets, `;`, `?` and \
                     control characters mean something else in rules"
                );
                return Err(self.error(row.line, message));
            }
        }
        Ok(())
    }

    /// The rows as a grid, if they have equal lengths.
    fn grid(&self, rows: Vec<Row>) -> Result<Grid, GridError> {
        let Some(first) = rows.first() else {
            return Err(self.error(1, "the grid has no rows"));
        };
        let columns = first.cells.len();
        for (number, row) in (1..).zip(&rows) {
            let found = row.cells.len();
            if found == 0 {
                return Err(self.error(row.line, format!("row {number} is empty")));
            }
            if found != columns {
                let found = match found {
                    1 => "1 cell".to_owned(),
                    _ => format!("{found} cells"),
                };
                let message = format!("row {number} has {found}, but row 1 has {columns}");
                return Err(self.error(row.line, message));
            }
        }
        Ok(Grid {
            name: self.name.to_owned(),
            rows,
        })
    }
}
