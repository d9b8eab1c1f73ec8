"""Games and folders for several files of tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import ggp

ROOT = Path(__file__).parents[2]
GAMES = ROOT / "games"
# Games of other authors: CONTRIBUTING.md says what the folder has.
CORPUS = Path(os.environ.get("GGP_CORPUS") or "/nowhere")
needs_corpus = pytest.mark.skipif(not os.environ.get("GGP_CORPUS"), reason="needs GGP_CORPUS")

COINS = """
    (role random) (role guesser) (init (round 0))
    (<= (legal random ?side) (side ?side) (true (round 0)))
    (<= (legal guesser ?side) (side ?side) (true (round 0)))
    (side heads) (side tails)
    (<= (next (fell ?side)) (does random ?side))
    (<= (next (said ?side)) (does guesser ?side))
    (<= terminal (true (fell ?side)))
    (<= (goal guesser 100) (true (fell ?side)) (true (said ?side)))
    (<= (goal guesser 0) (true (fell ?side)) (not (true (said ?side))))
    (goal random 0)"""


def load(name: str) -> ggp.Game:
    return ggp.load(GAMES / f"{name}.kif")


def arrays(batch: ggp.Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays for actions, rewards and ends."""
    shape = (batch.lanes, batch.num_roles)
    return np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(batch.lanes, np.uint8)
