"""Tabular Q-learning by self-play: what is each move worth in each state?

    python python/examples/q_learning.py games/tic_tac_toe.kif

Every role learns its own table, and the other roles are part of its world, so that games of any number
of roles work as long as their states fit in memory. After an action the value of the state before moves
towards the reward, or towards the value of the best action afterwards (Watkins and Dayan, "Q-learning",
1992). At the end it plays against random players and against `mcts:1000`.
"""

import argparse

import numpy as np

import ggp


class Tables:
    """A table of action values for each role, with a row for each state that was met."""

    def __init__(self, batch: ggp.Batch) -> None:
        self.rows: dict[bytes, int] = {}
        counts = [batch.num_actions(role) for role in range(batch.num_roles)]
        self.values = [np.zeros((1024, count), np.float32) for count in counts]

    def find(self, states: np.ndarray) -> np.ndarray:
        """The rows of states, which are given as bits."""
        found = [self.rows.setdefault(state.tobytes(), len(self.rows)) for state in states]
        while len(self.rows) > len(self.values[0]):
            self.values = [np.concatenate([values, np.zeros_like(values)]) for values in self.values]
        return np.array(found)

    def choose(self, state: ggp.State, player: int) -> int:
        """The action with the greatest value."""
        legal = state.legal_actions(player)
        bits = np.packbits(np.array(state.observation_tensor(player)) > 0, bitorder="little")
        row = self.rows.get(bits.tobytes())
        return legal[0] if row is None else max(legal, key=lambda action: self.values[player][row, action])


def learn(game: ggp.Game, *, lanes: int, steps: int, seed: int = 1) -> Tables:
    """Learns while all roles choose the best move so far, or now and then a random one."""
    rng = np.random.default_rng(seed)
    batch = ggp.Batch(game, lanes, seed=seed, max_length=500)
    tables = Tables(batch)
    shape = (batch.lanes, batch.num_roles)
    actions, rewards = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    ends = np.zeros(lanes, np.uint8)
    bits = np.zeros((lanes, batch.num_bytes), np.uint8)
    masks = [np.zeros((lanes, batch.num_actions(role)), np.bool_) for role in range(batch.num_roles)]

    def look() -> np.ndarray:
        for role, mask in enumerate(masks):
            batch.legal_mask(role, mask)
        batch.observe(0, bits)
        return tables.find(bits)

    rows = look()
    for step in range(steps):
        # Fewer random moves, and smaller changes, as time goes by.
        left = 1.0 - step / steps
        batch.sample(actions)
        is_greedy = rng.random(lanes) >= 0.5 * left
        for role, mask in enumerate(masks):
            values = np.where(mask, tables.values[role][rows], -np.inf)
            # Equal values are told apart by chance.
            best = (values + 1e-3 * rng.random(values.shape)).argmax(1)
            actions[:, role] = np.where(is_greedy, best, actions[:, role])
        batch.step(actions, rewards, ends)
        after = look()
        for role, mask in enumerate(masks):
            known = np.where(mask, tables.values[role][after], -np.inf).max(1)
            target = np.where(ends == 0, known, rewards[:, role])
            table, chosen = tables.values[role], actions[:, role]
            table[rows, chosen] += (0.05 + 0.45 * left) * (target - table[rows, chosen])
        rows = after
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game", help="rule file of a small game of several players without chance")
    parser.add_argument("--lanes", type=int, default=512, help="matches at a time")
    parser.add_argument("--steps", type=int, default=6000, help="joint moves of each")
    arguments = parser.parse_args()

    game = ggp.load(arguments.game)
    if game.num_players() < 2 or game.num_players() < len(game.roles):
        parser.error(f"{game.name} is for one player, or has chance")
    tables = learn(game, lanes=arguments.lanes, steps=arguments.steps)
    print(f"{arguments.lanes * arguments.steps:,} joint moves, {len(tables.rows):,} states")
    for opponent, rounds in (("random", 100), ("mcts:1000", 10)):
        cup = ggp.tournament(game, {"tables": tables.choose, opponent: opponent}, rounds=rounds)
        (points,) = (player["mean_score"] for player in cup["players"] if player["name"] == "tables")
        print(f"against {opponent}: {points or 0:.1f} of 100 points in {len(cup['matches'])} matches")


if __name__ == "__main__":
    main()
