"""The examples, as somebody would run them, with less work than by default."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import nbclient
import nbformat
import pytest
from common import ROOT

EXAMPLES = ROOT / "python" / "examples"
# Set by `.ci/python --long`: the examples do what they do by default.
IS_LONG = "GGP_THOROUGH" in os.environ


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def points(shown: str, opponent: str) -> float:
    found = re.search(rf"against {re.escape(opponent)}: ([0-9.]+) of 100 points", shown)
    assert found, shown
    return float(found[1])


def test_random_play() -> None:
    shown = run("random_play.py", "games/connect_four.kif", "--steps", "100")
    assert "409,600 joint moves" in shown
    means = re.findall(r": ([0-9.]+) on average", shown)
    assert len(means) == 2
    assert 99.8 < sum(map(float, means)) < 100.2
    # Chance, and a role without a goal value of its own.
    assert "on average" in run("random_play.py", "games/goofspiel.kif", "--steps", "50", "--lanes", "100")


def test_q_learning() -> None:
    shown = run("q_learning.py", "games/tic_tac_toe.kif", *([] if IS_LONG else ["--steps", "3000"]))
    assert points(shown, "random") > 85
    assert points(shown, "mcts:1000") > 30
    # Roles that choose at once, and more than two of them.
    assert "against random" in run("q_learning.py", "games/rock_paper_scissors.kif", "--steps", "50")
    assert "against random" in run("q_learning.py", "games/three_player_race.kif", "--steps", "50")


def test_cfr() -> None:
    shown = run("cfr.py", "games/oshi_zumo.kif", "--iterations", "100" if IS_LONG else "20")
    losses = [float(loss) for loss in re.findall(r"exploitability ([0-9.]+)", shown)]
    assert len(losses) == 5
    assert losses[-1] < losses[0]
    assert losses[-1] < 3
    assert re.search(r"^ *[0-9.]+% +\(bid \d\)$", shown, re.MULTILINE)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_self_play() -> None:
    minutes = "3" if IS_LONG else "0.1"
    shown = run("self_play.py", "games/connect_four_small.kif", "--minutes", minutes)
    assert points(shown, "random") > (75 if IS_LONG else 40)
    assert points(shown, "mcts:1000") >= (40 if IS_LONG else 0)


def test_the_notebook() -> None:
    notebook = nbformat.read(EXAMPLES / "boards.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": ROOT}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    assert kinds.count("image/svg+xml") == 3
    assert kinds.count("text/html") == 2
    texts = "".join(output.get("text", "") for output in outputs)
    assert "solved" in texts
    assert "right" in texts
