"""Tournaments and self-play on the machines of a cluster, with Ray.

    cup = ggp.ray.tournament(ggp.load("connect_four"), ["mcts:1s", "minimax:1s"], rounds=500, results="cup.jsonl")

A match is a task: it is repeated where a worker is killed or a machine leaves, and its result is known by
its id, so that none counts twice. Matches that `results` has are not played again.

The functions begin Ray on this machine unless `ray.init` was called, or `RAY_ADDRESS` names a cluster. All
machines need the same version of this package.
"""

import contextlib
import fcntl
import json
import os
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import ray

from ggp._ggp import Batch, Game, State, _Tournament
from ggp.types import Tournament

__all__ = ["SelfPlay", "tournament", "unpack"]

# The seconds that a task is to take, the most matches of one, and the tasks for each that runs.
TASK_SECONDS, TASK_MATCHES, TASKS_AHEAD = 1.0, 64, 2
# The seconds between looks at threads that wait, and between reports.
LOOK, REPORT = 0.05, 10.0

# The tournament that this process plays matches of, by the name that the driver has given it.
_cups: dict[str, _Tournament] = {}


def tournament(
    games: Game | Sequence[Game],
    players: Sequence[str] | Mapping[str, str | Callable[[State, int], int | str]],
    *,
    rounds: int = 1,
    pairing: str = "round-robin",
    seed: int = 0,
    start_clock: float | None = None,
    play_clock: float | None = None,
    opening: int | tuple[int, int] = 0,
    max_moves: int = 1000,
    threads: int = 1,
    memory: int = 256,
    results: str | PathLike[str] | None = None,
    retries: int = 3,
    progress: bool = True,
) -> Tournament:
    """Plays a tournament as `ggp.tournament` does, with the same result, on all machines of a cluster.

    Each match has `threads` processors of its own, as many as each of its players, which think in turns; no
    machine may have fewer than that, or `ValueError` is raised. A
    task that is lost with its worker or its machine is repeated `retries` times, then
    `ray.exceptions.RayError` is raised; exceptions of functions are raised at once. What was
    finished by then is in `results`. `progress` writes the number of finished matches to the
    standard error, at most once in ten seconds.

    Late moves of matches whose threads had to wait for a processor for a tenth of the time or more are
    `overbooked` in the standings: the machine was too busy for the clocks.
    """
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    arguments = {
        "rounds": rounds,
        "pairing": pairing,
        "seed": seed,
        "start_clock": start_clock,
        "play_clock": play_clock,
        "opening": opening,
        "max_moves": max_moves,
        "threads": threads,
        "memory": memory,
        "results": None,
    }
    cup = _Tournament(games, players, arguments | {"results": results})
    if cup.threads > (most := _most_processors()):
        raise ValueError(f"threads is {cup.threads}, and the largest machine of the cluster has {most} CPU{'s' * (most != 1)}")
    # Within a list, it is not fetched before a process needs it.
    shared = [ray.put((games, players, arguments))]
    task = ray.remote(num_cpus=cup.threads, max_retries=retries)(_play_some)
    name = uuid.uuid4().hex
    run = _Run(cup, lambda due: task.remote(name, shared, due), cup.threads, progress)
    while due := cup.open():
        run.stage(due)
    return cup.result()


def _processors() -> float:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
    return resources.get("CPU", 1.0)


def _most_processors() -> int:
    """The number of processors of the largest machine."""
    machines: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call, unused-ignore]
    return max((int(machine["Resources"].get("CPU", 0)) for machine in machines if machine["Alive"]), default=0)


class _Run:
    """The tasks of a tournament."""

    def __init__(self, cup: _Tournament, begin: Callable[[list[Any]], Any], threads: int, progress: bool) -> None:
        self.cup, self.begin, self.threads, self.progress = cup, begin, threads, progress
        self.seconds, self.matches = 0.0, 0
        self.reported = time.monotonic()

    def stage(self, due: list[Any]) -> None:
        """Plays all of these matches."""
        waiting, all_matches = deque(due), len(self.cup) + len(due)
        running: set[Any] = set()
        try:
            while waiting or running:
                most = TASKS_AHEAD * max(1, int(_processors()) // self.threads)
                while waiting and len(running) < most:
                    part = [waiting.popleft() for _ in range(min(self.size(), len(waiting)))]
                    running.add(self.begin(part))
                ended, _ = ray.wait(list(running), timeout=1.0)
                for reference in ended:
                    running.remove(reference)
                    seconds, lines = ray.get(reference)
                    self.seconds += seconds
                    self.matches += len(lines)
                    for line in lines:
                        self.cup.add(line)
                self.report(all_matches)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def size(self) -> int:
        """The number of matches of a task."""
        if self.matches == 0:
            return 1
        mean = max(self.seconds / self.matches, 1e-3)
        return max(1, min(TASK_MATCHES, int(TASK_SECONDS / mean)))

    def report(self, all_matches: int) -> None:
        now = time.monotonic()
        if self.progress and now - self.reported >= REPORT:
            self.reported = now
            print(f"{len(self.cup)} of {all_matches} matches", file=sys.stderr, flush=True)


def _play_some(cup_name: str, shared: list[Any], due: list[Any]) -> tuple[float, list[str]]:
    """Plays some matches. The result has the seconds that they took, and their rows."""
    cup = _cups.get(cup_name)
    if cup is None:
        _cups.clear()
        games, players, arguments = ray.get(shared[0])
        cup = _cups[cup_name] = _Tournament(games, players, arguments)
    begin, lines = time.monotonic(), []
    for _, game, round_number, number, seating in due:
        with _own_processors(cup.threads), _Waits() as waits:
            row = json.loads(cup.play(game, round_number, number, seating))
        row["waited"] = waits.share
        lines.append(json.dumps(row))
    return time.monotonic() - begin, lines


@contextlib.contextmanager
def _own_processors(count: int) -> Iterator[None]:
    """Keeps this thread, and those that it starts, on processors that no other match of this machine has.

    If too few are free, the system chooses.
    """
    allowed = os.sched_getaffinity(0)
    folder = Path(tempfile.gettempdir(), f"ggp-processors-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as files:
        own: set[int] = set()
        for processor in sorted(allowed):
            file = files.enter_context(open(folder / str(processor), "w"))
            # The lock ends with this process at the latest.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                own.add(processor)
            if len(own) == count:
                os.sched_setaffinity(0, own)
                break
        try:
            yield
        finally:
            os.sched_setaffinity(0, allowed)


class _Waits:
    """How long the threads of this process wait for a processor, as a share of the time."""

    def __init__(self) -> None:
        self.share = 0.0
        self.over = threading.Event()
        self.first = self.read()
        self.last = dict(self.first)
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> "_Waits":
        self.begin = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.last |= self.read()
        waited = sum(time - self.first.get(thread, 0) for thread, time in self.last.items())
        self.share = round(waited / 1e9 / (time.monotonic() - self.begin), 4)

    def watch(self) -> None:
        # Threads end with their matches, and what they have waited is gone then.
        while not self.over.wait(LOOK):
            self.last |= self.read()

    def read(self) -> dict[str, int]:
        """The nanoseconds that each thread has waited."""
        waited = {}
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError, IndexError, ValueError):
                waited[thread] = int(Path("/proc/self/task", thread, "schedstat").read_text().split()[1])
        return waited


# Weights, facts and legal actions to actions, and what else is to be kept of the choice.
Policy = Callable[[Any, np.ndarray, list[np.ndarray]], np.ndarray | tuple[np.ndarray, dict[str, np.ndarray]]]


class SelfPlay:
    """Workers that play matches of a game against themselves, as an endless iterator over what they saw.

    Each of the `workers` steps `lanes` matches by `policy(weights, facts, masks)`, which gets the facts of all states
    (float32, `[lanes, facts]`) and for each role the legal actions (bool, `[lanes, actions]`), and returns the
    actions (int32, `[lanes, roles]`), or a pair of them and a dictionary of more arrays to keep, such as
    the logarithms of probabilities. Matches that have ended begin again. Random numbers of equal seeds are equal; without
    a seed, they are different each time.

    A block is what one worker saw in `steps` steps, a dictionary of arrays whose first axis is the step:

    - `facts`: the facts before the step, as bits (uint8, `[steps, lanes, bytes]`; see `unpack`)
    - `masks`: by role, the legal actions, as bits (the same)
    - `actions` (int32, `[steps, lanes, roles]`), `rewards` (float32, the same; scores where a match is `ggp.TERMINAL`, else 0)
      and `ends` (uint8, `[steps, lanes]`), as `Batch.step` has them
    - what else the policy returned
    - `last`: the facts after the last step (`[lanes, bytes]`), and `version`: how often `update` had been called

    A worker that is killed, or whose machine leaves, is begun again elsewhere, as often as that happens; exceptions of
    the policy are raised.

        pool = SelfPlay(game, policy, weights, workers=8)
        for block in pool:
            ...
            pool.update(weights)
    """

    def __init__(
        self,
        game: Game,
        policy: Policy,
        weights: Any = None,
        *,
        workers: int,
        lanes: int = 512,
        steps: int = 64,
        seed: int | None = None,
        max_length: int = 1000,
    ) -> None:
        if game.has_hidden_information:
            raise ValueError(f"{game.name} has hidden information, and a policy gets facts; use ggp.Batch")
        if min(workers, lanes, steps) < 1:
            raise ValueError("workers, lanes and steps must be at least 1")
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        if seed is None:
            seed = int.from_bytes(os.urandom(8))
        self.version = -1
        self.update(weights)
        # Workers that begin again fetch it again.
        self.shared = [ray.put((game, policy))]
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Worker)
        self.workers: list[Any] = [kind.remote(self.shared, lanes, steps, [seed, number], max_length) for number in range(workers)]
        self.running = {self._begin(worker): worker for worker in self.workers}

    def _begin(self, worker: Any) -> Any:
        return worker.play.remote(self.version, self.weights)

    def update(self, weights: Any) -> None:
        """Sets the weights of blocks that are begun from now on."""
        self.version += 1
        self.weights = ray.put(weights)

    def __iter__(self) -> "SelfPlay":
        return self

    def __next__(self) -> dict[str, Any]:
        if not self.running:
            raise ValueError("the workers were ended by close()")
        [ended], _ = ray.wait(list(self.running), num_returns=1)
        worker = self.running.pop(ended)
        self.running[self._begin(worker)] = worker
        block: dict[str, Any] = ray.get(ended)
        return block

    def close(self) -> None:
        """Ends the workers."""
        for worker in self.workers:
            ray.kill(worker)
        self.workers, self.running = [], {}


class _Worker:
    def __init__(self, shared: list[Any], lanes: int, steps: int, seed: list[int], max_length: int) -> None:
        game, self.policy = ray.get(shared[0])
        if ray.get_runtime_context().was_current_actor_reconstructed:
            # Its first matches were played already.
            seed = [*seed, *os.urandom(8)]
        own = int(np.random.default_rng(seed).integers(1 << 62))
        self.batch = Batch(game, lanes, seed=own, max_length=max_length)
        self.steps = steps
        roles = range(self.batch.num_roles)
        self.bits = np.zeros((lanes, self.batch.num_bytes), np.uint8)
        self.facts = np.zeros((lanes, self.batch.num_facts), np.float32)
        self.masks = [np.zeros((lanes, self.batch.num_actions(role)), np.bool_) for role in roles]
        self.rewards = np.zeros((lanes, len(roles)), np.float32)
        self.ends = np.zeros(lanes, np.uint8)

    def play(self, version: int, weights: Any) -> dict[str, Any]:
        seen: dict[str, list[np.ndarray]] = {}
        masks: list[list[np.ndarray]] = [[] for _ in self.masks]
        for _ in range(self.steps):
            self.batch.observe(0, self.facts)
            self.batch.observe(0, self.bits)
            for role, mask in enumerate(self.masks):
                self.batch.legal_mask(role, mask)
                masks[role].append(np.packbits(mask, axis=1, bitorder="little"))
            chosen = self.policy(weights, self.facts, self.masks)
            actions, more = chosen if isinstance(chosen, tuple) else (chosen, {})
            actions = np.ascontiguousarray(actions, np.int32)
            self.batch.step(actions, self.rewards, self.ends)
            own = {"facts": self.bits, "actions": actions, "rewards": self.rewards, "ends": self.ends}
            for name, array in (own | more).items():
                seen.setdefault(name, []).append(np.array(array))
        self.batch.observe(0, self.bits)
        block: dict[str, Any] = {name: np.stack(arrays) for name, arrays in seen.items()}
        return block | {
            "masks": [np.stack(arrays) for arrays in masks],
            "last": self.bits.copy(),
            "version": version,
        }


def unpack(bits: np.ndarray, count: int) -> np.ndarray:
    """The facts or the legal actions of a block, of which there are `count` (uint8, `[…, count]`)."""
    return np.unpackbits(bits, axis=-1, count=count, bitorder="little")
