"""A tournament on all machines of a Ray cluster, or on this one.

    python python/examples/cluster.py games/hex.kif games/kalah.kif --player mcts:0.2s --player minimax:0.2s \
        --rounds 20 --results cup.jsonl

A second start with the same arguments plays what is not in the results yet.
"""

import argparse
import time

import ray

import ggp
import ggp.ray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", help="rule files, or names of bundled games")
    parser.add_argument("--player", action="append", required=True, help="such as mcts:0.2s")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--results")
    options = parser.parse_args()

    # The cluster that this machine is part of, or a new one of this machine alone.
    ray.init(log_to_driver=False)
    games = [ggp.load(game) for game in options.games]
    begin = time.monotonic()
    cup = ggp.ray.tournament(games, options.player, rounds=options.rounds, opening=(2, 4), results=options.results)
    print(f"{len(cup['matches'])} matches, {time.monotonic() - begin:.0f} seconds")
    for player in cup["players"]:
        elo = "" if player["elo"] is None else f"{player['elo']:.0f} ± {player['margin']:.0f}"
        met = f"{player['won']} won, {player['drawn']} drawn, {player['lost']} lost"
        print(f"{player['name']}: {met}, {elo}")


if __name__ == "__main__":
    main()
