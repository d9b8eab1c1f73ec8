use super::*;

fn check(text: &str, expected: &str) {
    let found = match Grid::read("board", text) {
        Ok(grid) => {
            let rows: Vec<String> = grid.rows().map(|row| row.join(" ")).collect();
            rows.join(" | ")
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn a_line_is_a_row() {
    check("1 2\n3 4\n", "1 2 | 3 4");
    check("#.#\r\n._*\r\n\r\n\n", "# . # | . _ *");
    check("\n10, 2\n 3,44", "10 2 | 3 44");
    check("\u{FEFF}ab", "a b");
}

#[test]
fn rows_can_be_joined() {
    check("010/111/010", "0 1 0 | 1 1 1 | 0 1 0");
    check("10 2/3 4\n", "10 2 | 3 4");
}

#[test]
fn rows_can_be_bracketed() {
    check("[[1,2,2],[2,3,1],[1,3,2]]", "1 2 2 | 2 3 1 | 1 3 2");
    check("[\n [1, 2],\n [3, 4]\n]\n", "1 2 | 3 4");
}

#[test]
fn invalid_grids_are_rejected_with_a_line() {
    check("", "board:1: the text contains no grid");
    check("12\n123\n", "board:2: row 2 has 3 cells, but row 1 has 2");
    check(
        "12\n\n34",
        "board:2: there is an empty line between the rows",
    );
    check(
        "1,,2",
        "board:1: there is an empty cell next to a comma; use a name such as `.` for it",
    );
    check("01//01", "board:1: there is an empty row between two `/`");
    check("[[1,2],[3,4]", "board:1: a `]` is missing");
    check("[[1,2],[3]]", "board:1: row 2 has 1 cell, but row 1 has 2");
    check("[[1],[]]", "board:1: row 2 is empty");
    check("[[1,[2]]]", "board:1: there is a `[` inside a row");
    check("[[1],\n2]", "board:2: `2` is outside of a row");
    check("[[1]] x", "board:1: there is text after the last `]`");
    check("[[]]", "board:1: row 1 is empty");
    let message = "board:2: the character `;` cannot be part of a cell; brackets, `;`, `?` and \
                   control characters mean something else in rules";
    check("ab\na;", message);
}

#[test]
fn cells_become_facts_on_the_line_of_their_row() {
    let grid = Grid::read("board", "\nab\n").unwrap();
    let expected = "\n(grid 1 1 a) (grid 1 2 b) (grid_rows 1) (grid_columns 2) (grid_row 1) \
                    (grid_column 1) (grid_column 2) (grid_next 1 2)\n";
    assert_eq!(grid.to_source().text(), expected);
}

#[test]
fn each_line_is_a_puzzle() {
    let text = "# two\n[[1,2],[3,4]] first\n\n01/10 1 remark\n";
    let grids = puzzles("list", text).unwrap();
    let sizes: Vec<_> = grids.iter().map(|g| (g.line(), g.column_count())).collect();
    assert_eq!(sizes, [(2, 2), (4, 2)]);
    let error = puzzles("list", "01/10\n01/1\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "list:2: row 2 has 1 cell, but row 1 has 2"
    );
}
