"""Tournaments and self-play on a cluster of two machines, which are processes here."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ggp

ray: Any = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

import ggp.ray  # noqa: E402

# Ray asks for a token otherwise, which it keeps in the user's folder.
os.environ["RAY_AUTH_MODE"] = "disabled"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    arguments = {"num_cpus": 1, "include_dashboard": False}
    machines: Any = Cluster(initialize_head=True, head_node_args=arguments)
    ray.init(address=machines.address, log_to_driver=False)
    yield machines
    ray.shutdown()
    machines.shutdown()


def games() -> list[ggp.Game]:
    return [ggp.load("nim"), ggp.load("tic_tac_toe")]


def slow(folder: Path, seconds: float) -> Any:
    """A player that leaves a file with the number of its process for every move, and takes its time."""

    def choose(state: ggp.State, player: int) -> int:
        (folder / f"{os.getpid()} {time.monotonic_ns()}").touch()
        time.sleep(seconds)
        return state.legal_actions()[0]

    return choose


def workers(folder: Path, count: int) -> set[int]:
    """The numbers of processes that have played, once there are so many."""
    while len(found := {int(file.name.split()[0]) for file in folder.iterdir()}) < count:
        time.sleep(0.05)
    return found


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_result_is_that_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    players: dict[str, Any] = {"deep": "mcts:100", "blind": "random"}
    players["first"] = lambda state, player: state.legal_actions()[0]
    for pairing in ("round-robin", "swiss"):
        file = tmp_path / f"{pairing}.jsonl"
        here = ggp.tournament(games(), players, rounds=3, opening=(0, 2), pairing=pairing)
        there = ggp.ray.tournament(games(), players, rounds=3, opening=(0, 2), pairing=pairing, results=file)
        assert here == there
        assert len(rows(file)) == len(there["matches"]) > 0
        # Nothing is left to be played.
        again = ggp.tournament(games(), players, rounds=3, opening=(0, 2), pairing=pairing, results=file)
        assert again == here and len(rows(file)) == len(there["matches"])


def test_what_is_lost_with_a_worker_or_a_machine_is_played_again(cluster: Any, tmp_path: Path) -> None:
    machine = cluster.add_node(num_cpus=2)
    (folder := tmp_path / "moves").mkdir()
    players = {"slow": slow(folder, 0.05), "random": "random"}
    file, found = tmp_path / "cup.jsonl", []

    def play() -> None:
        found.append(ggp.ray.tournament(games()[1], players, rounds=12, results=file, progress=False))

    running = threading.Thread(target=play)
    running.start()
    # All three processors play. One process is killed, then a machine leaves.
    os.kill(min(workers(folder, 3)), signal.SIGKILL)
    workers(folder, 4)
    cluster.remove_node(machine, allow_graceful=False)
    running.join()
    assert found[0]["matches"] == ggp.tournament(games()[1], players, rounds=12)["matches"]
    assert len({row["id"] for row in rows(file)}) == len(rows(file)) == 24


def test_a_driver_that_was_killed_goes_on(cluster: Any, tmp_path: Path) -> None:
    (folder := tmp_path / "moves").mkdir()
    file = tmp_path / "cup.jsonl"
    driver = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import ray
from pathlib import Path
from test_ray import ggp, games, slow
ray.init(address={cluster.address!r}, log_to_driver=False)
players = {{"slow": slow(Path({str(folder)!r}), 0.01), "random": "random"}}
ggp.ray.tournament(games(), players, rounds=10, results={str(file)!r})
"""
    first = subprocess.Popen([sys.executable, "-c", driver], stderr=subprocess.DEVNULL)
    while not file.exists() or len(rows(file)) < 3:
        assert first.poll() is None
        time.sleep(0.05)
    first.kill()
    first.wait()
    before = rows(file)
    assert len(before) < 40
    subprocess.run([sys.executable, "-c", driver], check=True, stderr=subprocess.DEVNULL)
    after = rows(file)
    assert after[: len(before)] == before
    assert len({row["id"] for row in after}) == len(after) == 40


def test_failures_of_players_are_raised(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "cup.jsonl"

    def wrong(state: ggp.State, player: int) -> int:
        return 1 // 0

    with pytest.raises(ZeroDivisionError):
        ggp.ray.tournament(games(), {"wrong": wrong, "random": "random"}, results=file)
    with pytest.raises(ValueError, match="unknown player"):
        ggp.ray.tournament(games(), ["random", "wizard"])
    with pytest.raises(ValueError, match="largest machine of the cluster has [12] CPU"):
        ggp.ray.tournament(games(), ["random", "first"], threads=3)
    odd: Any
    for odd in ({"threads": 0}, {"rounds": -1}, {"seed": -1}, {"rounds": "3"}):
        [name] = odd
        with pytest.raises((ValueError, TypeError), match=f"^{name} is a whole number.*, not "):
            ggp.ray.tournament(games(), ["random", "first"], **odd)
    with pytest.raises(ValueError, match="needs a game"):
        ggp.ray.tournament([], ["random", "first"])
    with pytest.raises(ValueError, match="another tournament"):
        ggp.tournament(games(), ["random", "mcts:1"], results=file)
        ggp.ray.tournament(games(), ["random", "mcts:2"], results=file)
    # Somebody else's result is not believed.
    [first, *others] = file.read_text().splitlines()
    changed = json.loads(first) | {"scores": [17, 83]}
    file.write_text("\n".join([json.dumps(changed), *others]) + "\n")
    with pytest.raises(ValueError, match="other scores"):
        ggp.ray.tournament(games(), ["random", "mcts:1"], results=file)


def test_late_moves_of_busy_machines_are_told_apart(cluster: Any, tmp_path: Path) -> None:
    (folder := tmp_path / "moves").mkdir()
    file = tmp_path / "cup.jsonl"
    players = {"slow": slow(folder, 0.05), "random": "random"}
    cup = ggp.ray.tournament(games()[0], players, play_clock=0.01, results=file)
    [late] = [player for player in cup["players"] if player["name"] == "slow"]
    assert late["lapses"] > 0
    # Several threads may wait at once.
    assert all(row["waited"] >= 0.0 for row in rows(file))
    # The shares of waiting are set here, as those of the machine that tests this are not known.
    for waited, overbooked in ((0.0, 0), (0.3, late["lapses"])):
        lines = [json.dumps(row | {"waited": waited}) + "\n" for row in rows(file)]
        file.write_text("".join(lines))
        cup = ggp.tournament(games()[0], players, play_clock=0.01, results=file)
        [same] = [player for player in cup["players"] if player["name"] == "slow"]
        assert (same["lapses"], same["overbooked"]) == (late["lapses"], overbooked)


def test_waiting_for_a_processor_is_measured() -> None:
    allowed = os.sched_getaffinity(0)
    one = min(allowed)
    endless = f"import os\nos.sched_setaffinity(0, {{{one}}})\nwhile True: pass"
    busy = subprocess.Popen([sys.executable, "-c", endless])
    os.sched_setaffinity(0, {one})
    try:
        time.sleep(0.3)
        with ggp.ray._Waits() as waits:
            begin = time.monotonic()
            while time.monotonic() - begin < 1.0:
                pass
        assert waits.share > 0.2
    finally:
        os.sched_setaffinity(0, allowed)
        busy.kill()
        busy.wait()


def test_matches_have_processors_of_their_own() -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("there is one processor")
    with ggp.ray._own_processors(1):
        first = os.sched_getaffinity(0)
        assert len(first) == 1
        code = "import ggp.ray, os\nwith ggp.ray._own_processors(1): print(os.sched_getaffinity(0))"
        # A child would inherit what this thread may use.
        both = f"import os\nos.sched_setaffinity(0, {allowed})\n{code}"
        other = subprocess.run([sys.executable, "-c", both], capture_output=True, text=True, check=True)
        assert not first & set(map(int, other.stdout.strip(" {}\n").split(",")))
    assert os.sched_getaffinity(0) == allowed


def test_self_play_goes_on_without_a_worker(cluster: Any) -> None:
    game = ggp.load("tic_tac_toe")

    def first(weights: float, facts: np.ndarray, masks: list[np.ndarray]) -> Any:
        """The first legal action of each role, and what is known of the call."""
        actions = np.stack([mask.argmax(1) for mask in masks], 1)
        return actions, {"weights": np.full(len(facts), weights), "pids": np.full(len(facts), os.getpid())}

    pool = ggp.ray.SelfPlay(game, first, 0.5, workers=1, lanes=8, steps=20)
    block = next(pool)
    assert block["facts"].shape[:2] == (20, 8) == block["ends"].shape
    assert block["rewards"].shape == (20, 8, 2) == block["actions"].shape
    assert block["version"] == 0 and (block["weights"] == 0.5).all()
    # What the policy saw is in the block, and the rewards are those of the rules.
    batch = ggp.Batch(game, 8, seed=1, max_length=1000)
    facts = np.zeros((8, batch.num_facts), np.float32)
    rewards, ends = np.zeros((8, 2), np.float32), np.zeros(8, np.uint8)
    for step in range(20):
        batch.observe(0, facts)
        assert (ggp.ray.unpack(block["facts"][step], batch.num_facts) == facts).all()
        for role in range(2):
            mask = np.zeros((8, batch.num_actions(role)), np.bool_)
            batch.legal_mask(role, mask)
            assert (ggp.ray.unpack(block["masks"][role][step], mask.shape[1]) == mask).all()
        batch.step(np.ascontiguousarray(block["actions"][step]), rewards, ends)
        assert (block["rewards"][step] == rewards).all() and (block["ends"][step] == ends).all()
    assert block["ends"].any() and (block["rewards"] > 0).any()
    batch.observe(0, facts)
    assert (ggp.ray.unpack(block["last"], batch.num_facts) == facts).all()
    pool.update(0.25)
    killed = int(block["pids"][0, 0])
    os.kill(killed, signal.SIGKILL)
    while (block := next(pool))["version"] == 0 or block["pids"][0, 0] == killed:
        pass
    assert (block["weights"] == 0.25).all()
    pool.close()
    with pytest.raises(ValueError, match="close"):
        next(pool)
    with pytest.raises(ValueError, match="at least 1"):
        ggp.ray.SelfPlay(game, first, workers=0)
