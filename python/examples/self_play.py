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
HORIZON, EPOCHS, PARTS = 32, 3, 8
# The discount of differences further ahead, the range of trust, and the weights of two parts of the loss.
TRACE, CLIP, ENTROPY, VALUE = 0.95, 0.2, 0.01, 0.5


class Network(nn.Module):
    """From facts to logits of all actions, by role, and expected scores, 0 to 1."""

    def __init__(self, facts: int, actions: list[int], width: int = 256) -> None:
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

    def look(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The facts and the legal actions of all states."""
        self.batch.observe(0, self.facts)
        for role, mask in enumerate(self.by_role):
            self.batch.legal_mask(role, mask)
        return torch.from_numpy(self.facts.copy()), torch.from_numpy(np.concatenate(self.by_role, 1))

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores, 0 to 1, and which matches have ended."""
        self.batch.step(actions.to(torch.int32).numpy(), self.rewards, self.ends)
        scores = np.nan_to_num(self.rewards) / 100
        return torch.from_numpy(scores), torch.from_numpy((self.ends != 0).astype(np.float32))


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
            scores, ends = matches.step(actions)
            kept.append((facts, masks, actions, logs, values, scores, ends))
        _, after = network(*matches.look())

    advantage, advantages = torch.zeros_like(after), []
    for *_, values, scores, ends in reversed(kept):
        goes_on = (1 - ends).unsqueeze(1)
        advantage = scores + goes_on * after - values + TRACE * goes_on * advantage
        advantages.append(advantage)
        after = values
    facts, masks, actions, logs, values, *_ = (torch.cat(of) for of in zip(*kept, strict=True))
    gains = torch.cat(advantages[::-1])
    targets = values + gains
    # Where a role has no choice, nothing is learned about its actions.
    has_choice = torch.stack([of.sum(1) > 1 for of in masks.split(network.actions, 1)], 1)
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
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    began, updates, shown = time.monotonic(), 0, 0
    while (spent := (time.monotonic() - began) / 60 / minutes) < 1:
        # Smaller changes as time goes by.
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - spent)
        update(network, optimizer, matches)
        updates += 1
        if int(spent * 5) > shown:
            shown = int(spent * 5)
            points = play(game, network, "random", 40)
            print(f"{updates * HORIZON * lanes:,} joint moves: {points:.1f} of 100 points against random")
    return network


@torch.no_grad()
def choose(game: ggp.Game, network: Network, state: ggp.State, role: int) -> int:
    """The action that the network finds the best."""
    masks = [np.array(state.legal_actions_mask(of), np.bool_) for of in range(game.num_players())]
    short = [mask[:count] for mask, count in zip(masks, network.actions, strict=True)]
    facts = torch.tensor([state.observation_tensor(role)])
    logits, _ = network(facts, torch.from_numpy(np.concatenate(short)).unsqueeze(0))
    return int(logits[role].argmax())


def play(game: ggp.Game, network: Network, opponent: str, matches: int) -> float:
    """The mean score after two random joint moves, in every role, against players of this text."""
    scores = []
    for match in range(matches):
        own, rng = match % game.num_players(), np.random.default_rng(match // game.num_players())
        state = game.new_initial_state()
        others = {role: ggp.Player(opponent, seed=match) for role in range(game.num_players()) if role != own}
        made = 0
        while not state.is_terminal():
            roles = range(game.num_players()) if state.is_simultaneous_node() else [state.current_player()]
            actions = []
            for role in roles:
                if made < 2:
                    actions.append(int(rng.choice(state.legal_actions(role))))
                elif role == own:
                    actions.append(choose(game, network, state, role))
                else:
                    actions.append(state.string_to_action(role, others[role].choose(state, role)["move"]))
            if state.is_simultaneous_node():
                state.apply_actions(actions)
            else:
                state.apply_action(actions[0])
            made += 1
        scores.append(state.returns()[own])
    return float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game", help="rule file of a game without chance")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--lanes", type=int, default=512, help="matches at a time")
    arguments = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    game = ggp.load(arguments.game)
    network = train(game, minutes=arguments.minutes, lanes=arguments.lanes)
    for opponent in ("random", "mcts:100", "mcts:1000"):
        print(f"against {opponent}: {play(game, network, opponent, 100):.1f} of 100 points in 100 matches")


if __name__ == "__main__":
    main()
