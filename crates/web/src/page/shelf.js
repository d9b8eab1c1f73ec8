// The order of the start page. A name that is not here is shown after those that are, in the
// group that its rules put it into; a name that no game has does nothing.

/** Games that most people know, in the order in which they are shown. */
export const CLASSICS = [
  'chess', 'draughts', 'go', 'reversi', 'hex_large', 'gomoku', 'connect_four', 'tic_tac_toe', 'checkers', 'othello', 'hex',
  'dots_and_boxes', 'kalah', 'nim',
];

/** Puzzles and sizes to show first. */
export const FIRST = ['sudoku_9x9', 'lights_out_5x5', 'eight_puzzle', 'hanoi', 'hitori_5x5', 'senku', 'breakthrough'];
