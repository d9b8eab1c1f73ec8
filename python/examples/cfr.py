"""CFR+ by OpenSpiel on an exported game tree: how to play where roles choose at once.

    python python/examples/cfr.py games/oshi_zumo.kif

The tree in the EFG format is a game of OpenSpiel like its own, so that its solvers in C++ run on it.
Shown is the exploitability: the points of 100 that a role would gain on average if it knew the strategies
of the others (Tammelin, "Solving large imperfect information games using CFR+", 2014).
"""

import argparse

import pyspiel

import ggp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game", help="rule file")
    parser.add_argument("--iterations", type=int, default=100)
    arguments = parser.parse_args()

    game = ggp.load(arguments.game)
    tree = pyspiel.load_efg_game(game.efg())
    solver = pyspiel.CFRPlusSolver(tree)
    for iteration in range(1, arguments.iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration % max(arguments.iterations // 5, 1) == 0:
            loss = pyspiel.nash_conv(tree, solver.average_policy()) / game.num_players()
            print(f"after {iteration} iterations: exploitability {loss:.3f}")

    policy, first = solver.average_policy(), tree.new_initial_state()
    values = pyspiel.expected_returns(first, policy, -1, True)
    for role, value in zip(game.roles, values, strict=True):
        print(f"{role}: {value:.1f} points on average")
    shares = policy.action_probabilities(first)
    for action, share in sorted(shares.items(), key=lambda pair: -pair[1])[:5]:
        print(f"{share:6.1%}  {first.action_to_string(action)}")


if __name__ == "__main__":
    main()
