"""Steps a CPU second of random play in many matches at a time, next to pgx if it is there.

    python python/benches/batch.py [FILE | FILE=NAME ...]

NAME is the game of pgx that FILE has the rules of.

Each step draws legal actions, makes them, begins again where a match is over, and writes an
observation, as float32 or as bits. pgx does the same in one compiled function on the CPU; its
observations have a byte for each number.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

# One thread for everybody; to be set before jax is imported.
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np

import ggp

GAMES = Path(__file__).parents[2] / "games"
SECONDS = 2.0
# Bundled games; pgx has the first two, with the same boards.
BUNDLED = ("connect_four=connect_four", "tic_tac_toe=tic_tac_toe", "othello", "breakthrough", "checkers")


def ours(path: Path, lanes: int, *, bits: bool) -> float:
    game = ggp.load(path)
    batch = ggp.Batch(game, lanes, seed=1)
    actions = np.zeros((lanes, batch.num_roles), np.int32)
    rewards = np.zeros((lanes, batch.num_roles), np.float32)
    ends = np.zeros(lanes, np.uint8)
    shape, kind = (batch.num_bytes, np.uint8) if bits else (batch.num_facts, np.float32)
    facts: np.ndarray = np.zeros((lanes, shape), kind)
    rounds, ended = 0, 0
    began = time.process_time()
    while time.process_time() - began < SECONDS:
        for _ in range(100):
            batch.sample(actions)
            batch.step(actions, rewards, ends)
            batch.observe(0, facts)
        rounds += 100
        ended += int((ends != 0).sum())
    took = time.process_time() - began
    # The answer: the state that is observed is that of the actions.
    holds = np.unpackbits(facts[0], bitorder="little") if bits else facts[0]
    state = game.state([game.facts[fact] for fact in np.flatnonzero(holds)])
    batch.sample(actions)
    for role in range(batch.num_roles):
        assert game.actions(role)[actions[0, role]] in state.legal_moves(role)
    assert ended > 0
    return rounds * lanes / took


def theirs(name: str, lanes: int) -> float | None:
    try:
        import jax
        import jax.numpy as jnp
        import pgx
        from pgx.experimental import auto_reset
    except ImportError:
        return None
    env = pgx.make(name)
    step = auto_reset(env.step, env.init)

    def play(state, key):  # type: ignore[no-untyped-def]
        key, draw, chance = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(draw, logits)
        return jax.vmap(step)(state, actions, jax.random.split(chance, lanes)), key

    @jax.jit
    def rounds(state, key):  # type: ignore[no-untyped-def]
        def one(_, pair):  # type: ignore[no-untyped-def]
            return play(*pair)

        return jax.lax.fori_loop(0, 20, one, (state, key))

    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), lanes))
    state, key = jax.block_until_ready(rounds(state, jax.random.PRNGKey(1)))
    made = 0
    began = time.process_time()
    while time.process_time() - began < SECONDS:
        state, key = jax.block_until_ready(rounds(state, key))
        made += 20
    return made * lanes / (time.process_time() - began)


def main() -> None:
    def bundled(game: str) -> str:
        stem, equals, name = game.partition("=")
        return f"{GAMES / stem}.kif{equals}{name}"

    games = sys.argv[1:] or [bundled(game) for game in BUNDLED]
    print("game, lanes, million steps a CPU second with float32, with bits, of pgx, times as fast")
    for game in games:
        file, _, name = game.partition("=")
        for lanes in (512, 4096):
            numbers, bits = (ours(Path(file), lanes, bits=bits) / 1e6 for bits in (False, True))
            row = f"{Path(file).stem}, {lanes}, {numbers:.1f}, {bits:.1f}"
            other = theirs(name, lanes) if name else None
            if other is not None:
                other /= 1e6
                row += f", {other:.2f}, {numbers / other:.1f} and {bits / other:.1f}"
            print(row)


if __name__ == "__main__":
    main()
