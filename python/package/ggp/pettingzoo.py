"""Rule sets as environments of PettingZoo: `env` for turns, `parallel_env` for joint moves.

An observation is a dictionary with the facts (`observation`, float32) and the legal actions
(`action_mask`, int8). Rewards are the scores at the end, divided by 100; they are 0 where a match is cut after
`max_length` joint moves. Chance moves by itself. The `seed` of `reset` is that of its moves: without one, they are
different each time. There are no options. Faults of the rules raise `ggp.MatchError`.

With hidden information, the observation of an agent has its own moves and percepts, and nothing else, in place of
the facts: 1 for each of its `Game.percepts` that it ever had, with zeros up to the greatest number of percepts of an
agent, and 1 for each action that it ever made, with zeros up to the greatest number of actions; then the same
again, since its last action. The order of earlier turns is not in it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

import ggp

__all__ = ["AEC", "Parallel", "env", "parallel_env"]

_LENGTH = 1_000


def env(game: ggp.Game, *, max_length: int = _LENGTH, render_mode: str | None = None) -> AEC:
    """An environment in which the agents move one after another, also where they choose at once:
    then none sees the choices of the others."""
    return AEC(game, max_length=max_length, render_mode=render_mode)


def parallel_env(
    game: ggp.Game, *, max_length: int = _LENGTH, render_mode: str | None = None
) -> Parallel:
    """An environment in which all agents move at once. Those without a choice have one legal
    action."""
    return Parallel(game, max_length=max_length, render_mode=render_mode)


class _Rules:
    """The parts that both kinds of environments share."""

    def __init__(self, game: ggp.Game, max_length: int) -> None:
        self.game = game
        self.max_length = max_length
        names = game.roles
        self.roles = {name: role for role, name in enumerate(names) if name != "random"}
        self.chance = names.index("random") if "random" in names else None
        self.actions = {name: game.actions(role) for name, role in self.roles.items()}
        self.numbers = {
            name: {text: number for number, text in enumerate(texts)}
            for name, texts in self.actions.items()
        }
        shape = tuple(game.observation_tensor_shape())
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for name, texts in self.actions.items():
            self.observation_spaces[name] = spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (len(texts),), np.int8),
                }
            )
            self.action_spaces[name] = spaces.Discrete(len(texts))

    def legal(self, state: ggp.State, name: str) -> list[int]:
        numbers = self.numbers[name]
        return sorted(numbers[text] for text in state.legal_moves(self.roles[name]))

    def observe(self, state: ggp.State, name: str) -> dict[str, np.ndarray]:
        mask = np.zeros(len(self.actions[name]), np.int8)
        if not state.is_terminal():
            mask[self.legal(state, name)] = 1
        return {"observation": self.seen(state, name), "action_mask": mask}

    def seen(self, state: ggp.State, name: str) -> np.ndarray:
        """The facts, or what an agent saw and did, of the whole match and of the last turn."""
        player = list(self.roles).index(name)
        return np.asarray(state.observation_tensor(player), np.float32)

    def play(self, state: ggp.State, chosen: dict[str, int], chance: random.Random) -> None:
        moves = ["" for _ in self.game.roles]
        for name, action in chosen.items():
            moves[self.roles[name]] = self.actions[name][action]
        if self.chance is not None:
            moves[self.chance] = chance.choice(state.legal_moves(self.chance))
        state.play(*moves)

    def rewards(self, state: ggp.State) -> dict[str, float]:
        return {
            name: value / 100 for name, value in zip(self.roles, state.returns(), strict=True)
        }


class _Seats:
    """The methods that both kinds of environments share."""

    _state: ggp.State

    def _set_up(self, game: ggp.Game, max_length: int, render_mode: str | None) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"`render_mode` is None or 'ansi', not {render_mode!r}")
        self._rules = _Rules(game, max_length)
        self.render_mode = render_mode
        self.possible_agents = list(self._rules.roles)
        self.observation_spaces = self._rules.observation_spaces
        self.action_spaces = self._rules.action_spaces
        self._chance = random.Random()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def render(self) -> str | None:
        return str(self._state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Does nothing: there is nothing to release."""


class AEC(_Seats, AECEnv):  # type: ignore[misc]
    """See `env`."""

    def __init__(self, game: ggp.Game, *, max_length: int, render_mode: str | None) -> None:
        super().__init__()
        self.metadata = {
            "name": game.name,
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self._set_up(game, max_length, render_mode)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self._chance = random.Random(seed)
        self._state = self._rules.game.new_initial_state()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        shape = self._rules.game.observation_tensor_shape()
        # With hidden information, by agent: its moves and percepts, all and since its last action.
        self._seen = {name: np.zeros(shape, np.float32) for name in self.agents}
        self._begin_turn()

    def _play(self) -> None:
        """Makes the joint move, and notes what the agents see of it."""
        self._rules.play(self._state, self._chosen, self._chance)
        if self._rules.game.has_hidden_information:
            for name, seen in self._seen.items():
                np.maximum(seen, self._rules.seen(self._state, name), out=seen)

    def _begin_turn(self) -> None:
        """Makes the forced joint moves, and finds the agents that choose."""
        while True:
            if self._state.is_terminal():
                self.terminations = dict.fromkeys(self.agents, True)
                self.rewards = self._rules.rewards(self._state)
            elif self._state.move_number() >= self._rules.max_length:
                self.truncations = dict.fromkeys(self.agents, True)
            else:
                legal = {name: self._rules.legal(self._state, name) for name in self.agents}
                self._chosen = {name: actions[0] for name, actions in legal.items()}
                self._waiting = [name for name, actions in legal.items() if len(actions) > 1]
                if not self._waiting:
                    self._play()
                    continue
                self.agent_selection = self._waiting[0]
                return
            self.agent_selection = self.agents[0]
            return

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        observed = self._rules.observe(self._state, agent)
        if self._rules.game.has_hidden_information:
            observed["observation"] = self._seen[agent].copy()
        if agent != self.agent_selection:
            observed["action_mask"][:] = 0
        return observed

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if action is None or action not in self._rules.legal(self._state, agent):
            raise ValueError(f"action {action} of {agent} is not legal")
        self._chosen[agent] = int(action)
        self._seen[agent][len(self._seen[agent]) // 2 :] = 0
        self._waiting.pop(0)
        if self._waiting:
            self.agent_selection = self._waiting[0]
        else:
            self._play()
            self._begin_turn()
        self._accumulate_rewards()


class Parallel(_Seats, ParallelEnv):  # type: ignore[misc]
    """See `parallel_env`."""

    def __init__(self, game: ggp.Game, *, max_length: int, render_mode: str | None) -> None:
        self.metadata = {"name": game.name, "render_modes": ["ansi"]}
        self._set_up(game, max_length, render_mode)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        if seed is not None:
            self._chance = random.Random(seed)
        self._state = self._rules.game.new_initial_state()
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def _observations(self) -> dict[str, Any]:
        return {name: self._rules.observe(self._state, name) for name in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        agents = self.agents
        chosen = {agent: int(action) for agent, action in actions.items()}
        for agent in agents:
            if chosen.get(agent) not in self._rules.legal(self._state, agent):
                raise ValueError(f"action {chosen.get(agent)} of {agent} is not legal")
        self._rules.play(self._state, chosen, self._chance)
        over = self._state.is_terminal()
        cut = not over and self._state.move_number() >= self._rules.max_length
        rewards = self._rules.rewards(self._state)
        observations = self._observations()
        if over or cut:
            self.agents = []
        return (
            observations,
            rewards,
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            {agent: {} for agent in agents},
        )
