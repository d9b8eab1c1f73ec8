"""Speed next to OpenSpiel and pgx, in the same minute, on one processor: three kinds of use.

    python python/benches/peers.py [GAME ...]

- one state: random play of one match in a Python loop, in joint moves a CPU second. For chosen moves
  see `cargo bench --bench single`, which measures the same in Rust.
- tree search: iterations of Monte Carlo tree search a CPU second. One iteration of OpenSpiel is one random
  playout; one of ggp is several, since a position is evaluated in lanes.
- lockstep: random play of 4,096 matches at once, in joint moves a CPU second; of OpenSpiel, which has no
  such mode, random playouts in C++ one at a time.

Needs numpy and, for the others, `pip install open_spiel pgx`. What is missing is left out.
"""

from __future__ import annotations

import importlib.metadata
import platform
import random
import sys
import time
from collections.abc import Callable
from datetime import date
from types import ModuleType
from typing import Any

# It binds this process to one processor, before jax is imported.
import batch
import numpy as np

import ggp

SECONDS = 2.0
LANES = 4096
# The bundled game, the same game of OpenSpiel, and of pgx.
SAME = {
    "tic_tac_toe": ("tic_tac_toe", "tic_tac_toe"),
    "connect_four": ("connect_four", "connect_four"),
    "breakthrough": ("breakthrough(rows=6,columns=6)", None),
    "reversi": ("othello", "othello"),
    "hex_large": ("hex", "hex"),
    "chess": ("chess", "chess"),
}


def measured(work: Callable[[], int]) -> float:
    """Units of work a CPU second; the first call prepares."""
    work()
    done, began = 0, time.process_time()
    while time.process_time() - began < SECONDS:
        done += work()
    return done / (time.process_time() - began)


def one_match(start: Callable[[], Any]) -> Callable[[], int]:
    """A random match, by the methods that states of ggp and OpenSpiel share."""
    drawn = random.Random(1)

    def work() -> int:
        state, length = start(), 0
        while not state.is_terminal():
            state.apply_action(drawn.choice(state.legal_actions()))
            length += 1
        assert length > 0 and len(state.returns()) > 0
        return length

    return work


def ours(name: str) -> list[float]:
    game = ggp.load(batch.GAMES / f"{name}.kif")
    one = measured(one_match(game.new_initial_state))
    first = game.new_initial_state()

    def search() -> int:
        return int(ggp.Player("mcts:2000").choose(first)["nodes"])

    matches = ggp.Batch(game, LANES, seed=1)
    actions = np.zeros((LANES, matches.num_roles), np.int32)
    rewards = np.zeros((LANES, matches.num_roles), np.float32)
    ends = np.zeros(LANES, np.uint8)

    def steps() -> int:
        matches.sample(actions)
        matches.step(actions, rewards, ends)
        return LANES

    return [one, measured(search), measured(steps)]


def of_openspiel(pyspiel: ModuleType, name: str) -> list[float]:
    game = pyspiel.load_game(name)
    one = measured(one_match(game.new_initial_state))
    first = game.new_initial_state()

    def search() -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 2.0, 500, 1000, False, 1, False)
        bot.step(first)
        return 500

    drawn = one_match(game.new_initial_state)
    length = sum(drawn() for _ in range(50)) / 50

    def playouts() -> int:
        # Four leaves below the first position, each with many playouts: their time is that of C++ alone.
        evaluator = pyspiel.RandomRolloutEvaluator(50, 1)
        pyspiel.MCTSBot(game, evaluator, 2.0, 4, 1000, False, 1, False).step(first)
        return int(4 * 50 * (length - 1))

    return [one, measured(search), measured(playouts)]


def main(names: list[str]) -> None:
    try:
        import pyspiel
    except ImportError:
        pyspiel = None
    versions = {"ggp": ggp.__version__}
    for package in ("open_spiel", "pgx"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    print(f"{date.today()}, {platform.machine()}, one processor:", versions)
    print("| game | program | one state | tree search | lockstep |\n|---|---|---:|---:|---:|")
    for name in names:
        spiel, by_pgx = SAME[name]
        rows: list[tuple[str, list[float | None]]] = [("ggp", [*ours(name)])]
        if pyspiel is not None:
            rows.append(("OpenSpiel", [*of_openspiel(pyspiel, spiel)]))
        if by_pgx is not None:
            rows.append(("pgx", [None, None, batch.theirs(by_pgx, 512)]))
        for program, figures in rows:
            cells = ["" if value is None else f"{value:,.0f}" for value in figures]
            print(f"| {name} | {program} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(SAME))
