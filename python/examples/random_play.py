"""Random play in thousands of matches at a time.

    python python/examples/random_play.py games/connect_four.kif

For every role it shows the mean score, and how often each score came.
"""

import argparse
import time
from collections import Counter

import numpy as np

import ggp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game", help="rule file")
    parser.add_argument("--lanes", type=int, default=4096, help="matches at a time")
    parser.add_argument("--steps", type=int, default=1000, help="joint moves of each")
    arguments = parser.parse_args()

    game = ggp.load(arguments.game)
    # A match that ends begins again at once. Matches of games without an end are cut.
    batch = ggp.Batch(game, arguments.lanes, seed=1, max_length=500)
    shape = (batch.lanes, batch.num_roles)
    actions, rewards = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    ends = np.zeros(batch.lanes, np.uint8)

    scores: list[Counter[float]] = [Counter() for _ in game.roles]
    began = time.process_time()
    for _ in range(arguments.steps):
        batch.sample(actions)
        batch.step(actions, rewards, ends)
        over = rewards[ends == ggp.TERMINAL]
        for counter, column in zip(scores, over.T, strict=True):
            counter.update(column.tolist())
    seconds = time.process_time() - began

    made = arguments.steps * batch.lanes
    print(f"{made:,} joint moves, {made / seconds / 1e6:.1f} million for each second of processor time")
    for role, counter in zip(game.roles, scores, strict=True):
        if role == "random":
            continue
        matches = sum(counter.values())
        mean = sum(score * times for score, times in counter.items()) / max(matches, 1)
        shares = ", ".join(f"{score:.0f} in {times / matches:.1%}" for score, times in sorted(counter.items()))
        print(f"{role}: {mean:.1f} on average of {matches:,} matches ({shares})")


if __name__ == "__main__":
    main()
