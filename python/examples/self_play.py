"""A policy-value network trained by self-play, with PyTorch on one processor core.

    pip install torch --index-url https://download.pytorch.org/whl/cpu
    python python/examples/self_play.py games/connect_four_small.kif --minutes 3

One network sees the facts of a state, and says for each role how good each of its actions is, and which
score it expects. All roles of all matches act by it, and it learns from the results: proximal policy
optimization (Schulman et al., 2017) with generalized advantage estimation (Schulman et al., 2016). At the
end it plays, without any search, against random players and against `mcts:1000`.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn

import ggp

# The joint moves of each match between two updates, and the passes over them in an update.
HORIZON, EPOCHS, PARTS = 32, 2, 4
# The most random joint moves at the beginning of a match.
OPENING = 10
# The discount of differences further ahead, the range of trust, and the weights of two parts of the loss.
TRACE, CLIP, ENTROPY, VALUE = 0.95, 0.2, 0.03, 0.5


class Network(nn.Module):
    """From facts to logits of all actions, by role, and expected scores, 0 to 1."""

    def __init__(self, facts: int, actions: list[int], width: int = 128) -> None:
        super().__init__()
        self.actions = actions
        self.body = nn.Sequential(nn.Linear(facts, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, sum(actions))
        self.value = nn.Linear(width, len(actions))

    def forward(self, facts: torch.Tensor, masks: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        hidden = self.body(facts)
        logits = self.policy(hidden).masked_fill(~masks, -1e9)
        return list(logits.split(self.actions, 1)), self.value(hidden).sigmoid()


class Matches:
    """Many matches at a time, with arrays that the engine writes and the network reads."""

    def __init__(self, game: ggp.Game, lanes: int) -> None:
        self.batch = ggp.Batch(game, lanes, seed=1, max_length=500)
        roles = range(self.batch.num_roles)
        self.counts = [self.batch.num_actions(role) for role in roles]
        self.facts = np.zeros((lanes, self.batch.num_facts), np.float32)
        self.by_role = [np.zeros((lanes, count), np.bool_) for count in self.counts]
        self.rewards = np.zeros((lanes, len(self.counts)), np.float32)
        self.ends = np.zeros(lanes, np.uint8)
        self.rng = np.random.default_rng(1)
        self.random = np.zeros((lanes, len(self.counts)), np.int32)
        self.opening = np.zeros(lanes, np.int64)

    def look(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The facts and the legal actions of all states."""
        self.batch.observe(0, self.facts)
        for role, mask in enumerate(self.by_role):
            self.batch.legal_mask(role, mask)
        return torch.from_numpy(self.facts.copy()), torch.from_numpy(np.concatenate(self.by_role, 1))

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The scores, 0 to 1, which matches have ended, and which have made these actions.

        Matches begin with random actions. If not, all would soon be the same match.
        """
        self.batch.sample(self.random)
        own = self.opening <= 0
        made = np.where(own[:, None], actions.numpy(), self.random)
        self.batch.step(made.astype(np.int32), self.rewards, self.ends)
        self.opening -= 1
        again = self.ends != 0
        self.opening[again] = self.rng.integers(0, OPENING, int(again.sum()))
        return torch.from_numpy(self.rewards / 100), torch.from_numpy(again.astype(np.float32)), torch.from_numpy(own)


def likelihood(logits: list[torch.Tensor], actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The logarithms of the probabilities of actions, and the entropies, by role."""
    spread = [torch.distributions.Categorical(logits=of, validate_args=False) for of in logits]
    logs = [of.log_prob(actions[:, role]) for role, of in enumerate(spread)]
    return torch.stack(logs, 1), torch.stack([of.entropy() for of in spread], 1)


def update(network: Network, optimizer: torch.optim.Optimizer, matches: Matches) -> None:
    """Plays some joint moves in all matches and learns from them."""
    kept: list[tuple[torch.Tensor, ...]] = []
    with torch.no_grad():
        for _ in range(HORIZON):
            facts, masks = matches.look()
            logits, values = network(facts, masks)
            actions = torch.stack([torch.distributions.Categorical(logits=of).sample() for of in logits], 1)
            logs, _ = likelihood(logits, actions)
            scores, ends, own = matches.step(actions)
            kept.append((facts, masks, actions, logs, values, own, scores, ends))
        _, after = network(*matches.look())

    advantage, advantages = torch.zeros_like(after), []
    for *_, values, _, scores, ends in reversed(kept):
        goes_on = (1 - ends).unsqueeze(1)
        advantage = scores + goes_on * after - values + TRACE * goes_on * advantage
        advantages.append(advantage)
        after = values
    facts, masks, actions, logs, values, own, *_ = (torch.cat(of) for of in zip(*kept, strict=True))
    gains = torch.cat(advantages[::-1])
    targets = values + gains
    # Where a role has no choice, or acted at random, nothing is learned about its actions.
    has_choice = torch.stack([(of.sum(1) > 1) & own for of in masks.split(network.actions, 1)], 1)
    gains = (gains - gains[has_choice].mean()) / (gains[has_choice].std() + 1e-6) * has_choice

    for _ in range(EPOCHS):
        for part in torch.randperm(len(facts)).chunk(PARTS):
            logits, value = network(facts[part], masks[part])
            new, entropy = likelihood(logits, actions[part])
            ratio, gain = (new - logs[part]).exp(), gains[part]
            surer = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            loss = VALUE * (value - targets[part]).square().mean() - surer.mean() - ENTROPY * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(game: ggp.Game, *, minutes: float, lanes: int) -> Network:
    """A network that has learned for some minutes."""
    matches = Matches(game, lanes)
    network = Network(matches.batch.num_facts, matches.counts)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    began, updates, shown = time.monotonic(), 0, 0
    while (spent := (time.monotonic() - began) / 60 / minutes) < 1:
        # Smaller changes as time goes by.
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - spent)
        update(network, optimizer, matches)
        updates += 1
        if int(spent * 5) > shown:
            shown = int(spent * 5)
            points = measure(game, network, "random", 20)
            print(f"{updates * HORIZON * lanes:,} joint moves: {points:.1f} of 100 points against random")
    return network


def measure(game: ggp.Game, network: Network, opponent: str, rounds: int) -> float:
    """The mean score against players of this text, after two random joint moves, in every role."""

    def choose(state: ggp.State, player: int) -> int:
        """The action that the network finds the best."""
        legal = [state.legal_actions_mask(of) for of in range(game.num_players())]
        facts, masks = torch.tensor([state.observation_tensor(player)]), torch.tensor([sum(legal, [])]).bool()
        with torch.no_grad():
            logits, _ = network(facts, masks)
        return int(logits[player].argmax())

    cup = ggp.tournament(game, {"network": choose, opponent: opponent}, rounds=rounds, opening=2)
    (points,) = (found["mean_score"] for found in cup["players"] if found["name"] == "network")
    return points or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game", help="rule file of a game of several players without chance")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--lanes", type=int, default=512, help="matches at a time")
    arguments = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    game = ggp.load(arguments.game)
    if game.num_players() < 2 or game.num_players() < len(game.roles):
        parser.error(f"{game.name} is for one player, or has chance")
    network = train(game, minutes=arguments.minutes, lanes=arguments.lanes)
    for opponent in ("random", "mcts:100", "mcts:1000"):
        print(f"against {opponent}: {measure(game, network, opponent, 50):.1f} of 100 points")


if __name__ == "__main__":
    main()
