"""Games of one player as environments of Gymnasium, one at a time (`Puzzle`) or many (`Puzzles`).

An observation has the facts, float32, 1 for those that hold. The reward is the score at the end,
divided by 100; it is 0 where a match is cut after `max_length` steps. Faults of the rules raise `ggp.MatchError`.
The legal actions are in `info["action_mask"]` (int8); an action that is not legal
raises `ValueError`, or, with `illegal="stay"`, changes nothing, so that agents that know no masks
can play.

A `Puzzle` may have chance, which moves by itself, as the player does where it has no choice. With hidden
information, an observation has the moves and percepts of the player, and nothing else, in place of the facts: 1
for each of its `Game.percepts` that it ever had, and for each action that it ever made; then the same again, since
its last action. The order of earlier turns is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

import ggp

__all__ = ["Puzzle", "Puzzles"]

_LENGTH = 1_000


def _checked(game: ggp.Game) -> None:
    if game.num_players() != 1:
        raise ValueError(f"{game.name} has {len(game.roles)} roles; see ggp.pettingzoo")
    if len(game.roles) != 1 or game.has_hidden_information:
        raise ValueError(f"{game.name} has chance or hidden information; see ggp.gymnasium.Puzzle")


class Puzzle(gymnasium.Env[np.ndarray, int]):
    """A game of one role, or of one role and chance."""

    def __init__(
        self,
        game: ggp.Game,
        *,
        max_length: int = _LENGTH,
        illegal: Literal["raise", "stay"] = "raise",
        render_mode: str | None = None,
    ) -> None:
        if game.num_players() != 1:
            raise ValueError(f"{game.name} has {len(game.roles)} roles; see ggp.pettingzoo")
        if illegal not in ("raise", "stay"):
            raise ValueError(f"`illegal` is 'raise' or 'stay', not {illegal!r}")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"`render_mode` is None or 'ansi', not {render_mode!r}")
        self.metadata = {"render_modes": ["ansi"]}
        self.render_mode = render_mode
        self.observation_space = spaces.Box(
            0.0, 1.0, tuple(game.observation_tensor_shape()), np.float32
        )
        self.action_space = spaces.Discrete(self._count(game))  # type: ignore[assignment]
        self._game = game
        self._seen = np.zeros(game.observation_tensor_shape(), np.float32)
        self._moves = -1
        self._max_length = max_length
        self._illegal = illegal

    @staticmethod
    def _count(game: ggp.Game) -> int:
        (role,) = (role for role, name in enumerate(game.roles) if name != "random")
        return len(game.actions(role))

    def _observed(self) -> tuple[np.ndarray, dict[str, Any]]:
        mask = np.zeros(self._count(self._game), np.int8)
        mask[self._state.legal_actions(0)] = 1
        return self._seen.copy(), {"action_mask": mask}

    def _see(self) -> None:
        """Notes what the player sees of a joint move, or of the start."""
        if self._state.move_number() == self._moves:
            return
        self._moves = self._state.move_number()
        seen = np.asarray(self._state.observation_tensor(0), np.float32)
        self._seen = np.maximum(self._seen, seen) if self._game.has_hidden_information else seen

    def _is_over(self) -> bool:
        return self._state.is_terminal() or self._state.move_number() >= self._max_length

    def _go_on(self) -> None:
        """Makes the moves of chance, and those of the player where it has only one."""
        while len(self._game.roles) > 1 and not self._is_over():
            actions = self._state.legal_actions()
            if len(actions) > 1 and not self._state.is_chance_node():
                return
            self._state.apply_action(int(self.np_random.choice(actions)))
            self._see()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if options:
            raise ValueError(f"there are no options, and so none of these: {', '.join(options)}")
        self._state = self._game.new_initial_state()
        self._steps = 0
        self._seen[:] = 0
        self._moves = -1
        self._see()
        self._go_on()
        return self._observed()

    def step(
        self, action: int
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        action = int(action)
        if action in self._state.legal_actions(0):
            self._seen[:] = 0
            self._state.apply_action(action)
            self._see()
            self._go_on()
        elif self._illegal == "raise":
            raise ValueError(f"action {action} is not legal")
        self._steps += 1
        over = self._state.is_terminal()
        cut = not over and (self._is_over() or self._steps >= self._max_length)
        facts, info = self._observed()
        return facts, self._state.returns()[0] / 100, over, cut, info

    def render(self) -> str | None:
        return str(self._state) if self.render_mode == "ansi" else None


class Puzzles(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, Any]):
    """Many games of one role at a time, without chance, over `ggp.Batch`.

    A game that is over begins again in the same step, whose observation is that of the new one; the last
    observation of the old one is in `info["final_obs"]` then. `info["action_mask"]` has the legal
    actions.

    Nothing in these games is random, so the seeds of `reset` change nothing but `np_random`. Its only option is
    `reset_mask` (bool, of shape num_envs): the games that begin again; all others go on.
    """

    def __init__(self, game: ggp.Game, num_envs: int, *, max_length: int = _LENGTH) -> None:
        _checked(game)
        self._batch = ggp.Batch(game, num_envs, max_length=max_length, auto_reset=False)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
        facts, actions = self._batch.num_facts, self._batch.num_actions(0)
        self.single_observation_space = spaces.Box(0.0, 1.0, (facts,), np.float32)
        self.single_action_space = spaces.Discrete(actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def _observed(self) -> tuple[np.ndarray, dict[str, Any]]:
        facts = np.empty((self.num_envs, self._batch.num_facts), np.float32)
        mask = np.empty((self.num_envs, self._batch.num_actions(0)), np.int8)
        self._batch.observe(0, facts)
        self._batch.legal_mask(0, mask.view(np.uint8))
        return facts, {"action_mask": mask}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        seeds = list(seed) if isinstance(seed, Sequence | np.ndarray) else [seed] * self.num_envs
        if len(seeds) != self.num_envs or not all(one is None or isinstance(one, int | np.integer) for one in seeds):
            raise ValueError(f"`seed` is a number, or a list of {self.num_envs} numbers or None, not {seed!r}")
        options = dict(options or {})
        which = options.pop("reset_mask", None)
        if options:
            raise ValueError(f"the only option is `reset_mask`, not {', '.join(options)}")
        if which is not None:
            if not isinstance(which, np.ndarray) or which.dtype != np.bool_:
                raise TypeError(f"`reset_mask` is an array of bool, not {which!r}")
            if which.shape != (self.num_envs,) or not which.any():
                raise ValueError(f"`reset_mask` has {self.num_envs} elements, at least one of them true, not {which}")
            which = np.ascontiguousarray(which)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        self._batch.reset(which)
        return self._observed()

    def step(self, actions: np.ndarray) -> tuple[
        np.ndarray,
        np.ndarray,
        np.ndarray,
        np.ndarray,
        dict[str, Any],
    ]:
        rewards = np.empty((self.num_envs, 1), np.float32)
        ends = np.empty(self.num_envs, np.uint8)
        chosen = np.ascontiguousarray(actions, np.int32).reshape(self.num_envs, 1)
        self._batch.step(chosen, rewards, ends)
        for lane in np.flatnonzero(ends > ggp.CUT):
            # One of these raises the exception for the fault of the rules.
            state = self._batch.state(int(lane))
            state.returns(), state.legal_moves(0)
        over, cut = ends == ggp.TERMINAL, ends == ggp.CUT
        facts, info = self._observed()
        ended = ends != 0
        if ended.any():
            last, masks = facts, info["action_mask"]
            self._batch.reset(ended)
            facts, info = self._observed()
            # As the environments of Gymnasium give them: an entry for each one that ended.
            info["final_obs"] = np.full(self.num_envs, None, dtype=object)
            for lane in np.flatnonzero(ended):
                info["final_obs"][lane] = last[lane]
            info["_final_obs"] = ended
            info["final_info"] = {"action_mask": masks, "_action_mask": ended}
            info["_final_info"] = ended
        return facts, rewards[:, 0].astype(np.float64) / 100, over, cut, info
