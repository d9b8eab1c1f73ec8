"""The dictionaries that functions of this package return."""

from typing import Literal, NotRequired, TypedDict

__all__ = [
    "Advice",
    "Audit",
    "Candidate",
    "Checked",
    "Claim",
    "Finding",
    "Level",
    "Note",
    "Place",
    "Played",
    "Proof",
    "ProvedMove",
    "Standing",
    "Tournament",
    "TournamentMatch",
]


class Place(TypedDict):
    """A place in the rules: line and column from 1, and the text there."""

    file: str
    line: int
    column: int
    text: str


class Note(TypedDict):
    """A place that a finding refers to."""

    message: str
    place: Place


class Finding(TypedDict):
    """A finding about rules. `severity` is `error` or `warning`."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    place: Place | None
    notes: list[Note]
    help: str | None


class Claim(TypedDict):
    """A statement about all matches. `positions`, `induction` and `rules` are proofs. `moves` lead to an
    example, and `cycle` back to the same position."""

    subject: str
    role: str | None
    verdict: Literal["holds", "fails", "open"]
    basis: Literal["seen", "example", "positions", "induction", "rules"]
    severity: Literal["remark", "warning", "error"]
    text: str
    moves: NotRequired[list[str]]
    cycle: NotRequired[list[str]]


class Audit(TypedDict):
    """The result of `Game.audit`. `space` is the number of positions if all were explored; `lengths` are the
    least and the greatest of the playouts that ended."""

    playouts: int
    positions: int
    space: int | None
    lengths: list[int] | None
    claims: list[Claim]
    watched: int
    dead_rules: int
    cut: bool
    interrupted: bool


class Level(TypedDict):
    """The counts of `Game.perft` at one depth; `goal_sums` is by role."""

    depth: int
    paths: int
    distinct: int
    terminal_paths: int
    terminal_distinct: int
    goal_sums: list[int]
    goal_errors: int


class Checked(TypedDict):
    """The result of `Game.verify`."""

    verdict: Literal["right", "wrong", "unchecked"]
    checked: list[str]
    unchecked: list[str]
    reason: str | None


class ProvedMove(TypedDict):
    """A move with the proved value of the state after it."""

    move: str
    value: int | None
    bounds: tuple[int, int]


class Proof(TypedDict):
    """The result of `Game.prove`. A value is `None` if only bounds are known."""

    proved: bool
    value: int | None
    bounds: tuple[int, int]
    positions: int
    moves: list[ProvedMove]


class Candidate(TypedDict):
    """A move with what a search found out about it. Values and bounds are scores, 0 to 100."""

    move: str
    visits: int
    value: float
    bounds: tuple[float, float]
    distance: int | None


class Advice(TypedDict):
    """The result of `Player.choose`. `line` has the expected joint moves. `mix` has the probabilities by which `move`
    was drawn, by move; it is empty if it was not drawn."""

    move: str
    value: float | None
    bounds: tuple[float, float]
    nodes: int
    mix: dict[str, float]
    line: list[list[str]]
    candidates: list[Candidate]


class Played(TypedDict):
    """The result of `ggp.play`. `moves` are by joint move and role, `scores` by role."""

    moves: list[list[str]]
    scores: list[int] | None
    lapses: list[str]
    fault: str | None


class TournamentMatch(Played):
    """A match of a tournament: the number of its game, and the names of the players of its roles."""

    game: int
    round: int
    players: list[str]


class Standing(TypedDict):
    """A player of a tournament. `elo` has a margin of 95 %; meetings with others are won, drawn or lost. Late moves that
    may be the machine's fault are `overbooked`."""

    name: str
    elo: float | None
    margin: float | None
    roles: int
    won: int
    drawn: int
    lost: int
    mean_score: float | None
    lapses: int
    overbooked: int


class Tournament(TypedDict):
    """The result of `ggp.tournament`; `players` are best first."""

    players: list[Standing]
    matches: list[TournamentMatch]
