// The game that "Write your first game" opens in the editor: short rules with comments that
// explain every part of the language.

export const FIRST_GAME = `; Race to Ten
;
; Players: two, left and right, in turn; left begins.
; Rules:   The players count from 0 to 10. A player adds 1 or 2. The player who
;          reaches 10 wins.
;
; These are complete rules in GDL, the Game Description Language. Change them
; as you like: errors are shown below while you type. Then press Play.

; 1. The players.
(role left)
(role right)

; 2. The facts that are true at the start. You choose the names of facts; only
;    the words of the language, such as role and init, have a fixed meaning.
(init (count 0))
(init (turn left))

; 3. Facts that never change. Numbers are only names, so their order is given.
(after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
(after 5 6) (after 6 7) (after 7 8) (after 8 9) (after 9 10)
(opponent left right)
(opponent right left)

; 4. Rules. Read <= as "if": the first line is true if all other lines are.
;    Words that begin with ? are variables.
(<= (plus ?n 1 ?sum)
    (after ?n ?sum))
(<= (plus ?n 2 ?sum)
    (after ?n ?between)
    (after ?between ?sum))

; 5. The legal moves. Everyone moves in each turn, so the other player waits.
;    "true" asks for a fact of the current position.
(<= (legal ?player (add ?number))
    (true (turn ?player))
    (true (count ?n))
    (plus ?n ?number ?sum))
(<= (legal ?player wait)
    (true (turn ?other))
    (opponent ?other ?player))

; 6. The next position. Only these facts are true there. "does" asks for a move.
(<= (next (count ?sum))
    (does ?player (add ?number))
    (true (count ?n))
    (plus ?n ?number ?sum))
(<= (next (turn ?other))
    (true (turn ?player))
    (opponent ?player ?other))

; 7. The end, and the points of each player, from 0 to 100.
(<= terminal
    (true (count 10)))
(<= (goal ?player 0)
    (true (count 10))
    (true (turn ?player)))
(<= (goal ?player 100)
    (true (count 10))
    (true (turn ?other))
    (opponent ?other ?player))
`;

/** The words of the language: each with its meaning. */
export const WORDS = [
  ['role', 'a player'],
  ['init', 'a fact of the initial position'],
  ['legal', 'a move that a player may make'],
  ['next', 'a fact of the position after the moves'],
  ['terminal', 'the game is over'],
  ['goal', 'the points of a player, from 0 to 100'],
  ['true, does', 'the facts and moves that rules ask for'],
];
