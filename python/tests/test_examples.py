"""The examples, as somebody would run them, with less work than by default."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import nbclient
import nbformat
import pyspiel
import pytest
from common import CORPUS, ROOT, load, needs_corpus

import ggp

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


# By game: the iterations of CFR+, the points of the first role, and where they come from.
VALUES = {
    "matching_pennies": (100, 50),
    "kuhn_poker": (2000, 50 - 25 / 18),  # Kuhn, 1950
    "leduc_poker": (500, 50 - 3 * 0.0856),  # Southey and others, 2005
    "liars_dice": (500, 175 / 4),  # by linear programming
    "monty_hall": (1, 200 / 3),
    "paid_look": (1, 2517 / 32),  # by dynamic programming over beliefs
}


def exploitability(tree: str, folder: Path, *arguments: str) -> tuple[list[tuple[float, float]], float]:
    """By player the points and those of a best answer, and the exploitability."""
    (folder / "tree.efg").write_text(tree)
    shown = run("exploitability.py", str(folder / "tree.efg"), str(folder / "table.json"), *arguments)
    points = re.findall(r": (-?[0-9.]+) points, (-?[0-9.]+) by a best answer", shown)
    loss = re.search(r"^exploitability ([0-9.]+)$", shown, re.MULTILINE)
    assert loss, shown
    return [(float(value), float(best)) for value, best in points], float(loss[1])


@pytest.mark.parametrize("name", VALUES)
def test_values_of_hidden_games(name: str, tmp_path: Path) -> None:
    iterations, value = VALUES[name]
    points, loss = exploitability(load(name).efg(), tmp_path, "--solve", str(iterations))
    assert points[0][0] == pytest.approx(value, abs=2e-3)
    assert loss < 5e-3
    # Best answers bound the value on both sides.
    assert points[0][1] > value - 1e-3
    if len(points) > 1:
        assert 100 - points[1][1] < value + 1e-3


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_exploitability_is_that_of_the_games_of_openspiel(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text('{"information sets": {}}')
    points, loss = exploitability(load(name).efg(), tmp_path)
    game = pyspiel.load_game(name)
    uniform = pyspiel.UniformRandomPolicy(game)
    points_of_a_chip = {"kuhn_poker": 25, "leduc_poker": 3}[name]
    assert loss == pytest.approx(pyspiel.exploitability(game, uniform) * points_of_a_chip, abs=1e-3)
    values = pyspiel.expected_returns(game.new_initial_state(), uniform, -1, True)
    assert [value for value, _ in points] == pytest.approx(
        [50 + points_of_a_chip * value for value in values], abs=1e-3
    )


def test_exploitability_reads_tables(tmp_path: Path) -> None:
    tree = load("matching_pennies").efg()
    table = {"1 1": {"(lay heads)": 1}, "2 1": {"(lay heads)": 0.25, "(lay tails)": 0.75}}
    (tmp_path / "table.json").write_text(json.dumps({"information sets": table}))
    assert exploitability(tree, tmp_path) == ([(25, 75), (75, 100)], 37.5)
    for wrong, part in (
        ({"1 2": {"(lay heads)": 1}}, "the tree has no information sets 1 2"),
        ({"1 1": {"(lay edge)": 1}}, r"information set 1 1 has no moves (lay edge)"),
        ({"1 1": {"(lay heads)": 0.9}}, "have the sum 0.9, not 1"),
    ):
        (tmp_path / "table.json").write_text(json.dumps({"information sets": wrong}))
        with pytest.raises(AssertionError, match=re.escape(part)):
            exploitability(tree, tmp_path)


def test_exploitability_of_a_player(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    rules = "games/kuhn_poker.kif"
    shown = run("exploitability.py", rules, str(table), "--player", "ismcts:300", "--seeds", "1")
    assert "12 of 12 information sets are in the table" in shown
    loss = re.search(r"^exploitability ([0-9.]+)$", shown, re.MULTILINE)
    assert loss
    assert 0 < float(loss[1]) < 11
    shown = run("exploitability.py", rules, str(table), "--player", "random")
    # As the engine measures it: cargo bench --bench exploitability.
    assert "exploitability 11.4583" in shown


@needs_corpus
@pytest.mark.parametrize("key", ["montyhall", "montyhall_ggpcpp", "pennies", "scissor_paper_rock"])
def test_values_of_public_hidden_games(key: str, tmp_path: Path) -> None:
    lines = map(json.loads, (CORPUS / "gdl2" / "values.jsonl").read_text().splitlines())
    kinds = ("best_one_player", "equilibrium")
    (known,) = (line["value"] for line in lines if line["key"] == key and line["kind"] in kinds)
    value = float(Fraction(known if isinstance(known, str) else known[0]))
    game = ggp.load(CORPUS / "gdl2" / "games" / f"{key}.kif")
    points, loss = exploitability(game.efg(), tmp_path, "--solve", "2000")
    assert points[0][0] == pytest.approx(value, abs=1e-3)
    assert loss < 0.05


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
