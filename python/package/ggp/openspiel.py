"""Rule sets as games of OpenSpiel, for its algorithms in Python.

>>> import pyspiel, ggp, ggp.openspiel                                      # doctest: +SKIP
>>> ggp.openspiel.register(ggp.load("connect_four.kif"), "my_connect_four") # doctest: +SKIP
>>> game = pyspiel.load_game("my_connect_four")                             # doctest: +SKIP

The algorithms of OpenSpiel in C++ crash on every game that is registered from Python, also on its
own (open_spiel 2.0.2, `MCTSBot.step`): use those in Python.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyspiel

import ggp

__all__ = ["register"]

_LENGTH = 1_000


def register(
    game: ggp.Game,
    short_name: str,
    *,
    max_length: int = _LENGTH,
    proof_time: float = 5.0,
    turn_based: bool = False,
) -> None:
    """Registers a rule set as a game of this name.

    The game is declared as sequential, which some algorithms require, only if there is one player, or it is
    proved that players never choose at once (where chance chooses, too, that cannot be proved yet); and as
    one of a constant sum only if that is proved. Proofs take at most `proof_time` seconds (see
    `Game.audit`). With `turn_based`, players who choose at once do so one after another, and none sees the choices
    of the others before the turn is over; then every game is sequential. Matches are cut after `max_length` joint moves, with equal shares of the constant sum, or
    0, for everybody.

    With hidden information, or with `turn_based`, states have `information_state_string`: all that a player knows, see
    `State.information_state_string`. With hidden information, an observation has the percepts and actions of a
    player, of the whole match and of the last turn: see `State.observation_tensor`. No game has an information
    state as a tensor: to ask for one raises `ggp.Error`, as does asking for what all players know in common.

    Raises `ggp.LimitError` if the rules have no network.
    """
    hides = game.has_hidden_information
    knows = hides or turn_based
    kinds = pyspiel.GameType
    has_chance = game.num_players() < len(game.roles)
    outcomes = 0
    if has_chance:
        outcomes = max(
            len(game.actions(role)) for role, name in enumerate(game.roles) if name == "random"
        )
    players = game.num_players()
    proved = {
        claim["subject"]
        for claim in game.audit(time=proof_time)["claims"]
        if claim["verdict"] == "holds" and claim["basis"] in ("positions", "induction", "rules")
    }
    sum_of_scores = None
    if "sum" in proved and not has_chance:
        sum_of_scores = _sum_of_scores(game, max_length)
    cut = (sum_of_scores or 0.0) / players
    if sum_of_scores is None:
        utility = kinds.Utility.GENERAL_SUM
    elif sum_of_scores == 0:
        utility = kinds.Utility.ZERO_SUM
    else:
        utility = kinds.Utility.CONSTANT_SUM
    game_type = kinds(
        short_name=short_name,
        long_name=game.name,
        dynamics=(
            kinds.Dynamics.SEQUENTIAL
            if turn_based or players == 1 or "turns" in proved
            else kinds.Dynamics.SIMULTANEOUS
        ),
        chance_mode=(
            kinds.ChanceMode.EXPLICIT_STOCHASTIC if has_chance else kinds.ChanceMode.DETERMINISTIC
        ),
        information=(
            kinds.Information.IMPERFECT_INFORMATION
            if knows
            else kinds.Information.PERFECT_INFORMATION
        ),
        utility=utility,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=knows,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=game.num_distinct_actions(),
        max_chance_outcomes=outcomes,
        num_players=players,
        min_utility=0.0,
        max_utility=100.0,
        utility_sum=sum_of_scores,
        # The steps of a joint move: of the players, and of chance.
        max_game_length=max_length * ((players if turn_based else 1) + has_chance),
    )

    class Registered(pyspiel.Game):  # type: ignore[misc]
        def __init__(self, params: Any = None) -> None:
            super().__init__(game_type, info, params or {})

        def new_initial_state(self) -> _State:
            return _State(self, game.new_initial_state(), max_length, cut, turn_based)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer | _Recaller:
            if params:
                raise ValueError(f"observations have no parameters: {params}")
            if iig_obs_type is not None:
                is_own = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
                if not iig_obs_type.public_info or (hides and not is_own):
                    raise ggp.Error(
                        "an observation has all that a player sees: what is public is not told apart from it"
                    )
                if iig_obs_type.perfect_recall:
                    return _Recaller()
            return _Observer(math.prod(game.observation_tensor_shape()))

    pyspiel.register_game(game_type, Registered)


def _sum_of_scores(game: ggp.Game, max_length: int) -> float | None:
    """The sum of the scores at the end of a match, if it ends in time."""
    played = ggp.play(game, ["random"] * len(game.roles), seed=0, max_moves=max_length)
    return None if played["scores"] is None else float(sum(played["scores"]))


class _State(pyspiel.State):  # type: ignore[misc]
    """A state of OpenSpiel."""

    def __init__(
        self,
        game: Any,
        state: ggp.State,
        max_length: int,
        cut: float,
        turn_based: bool,
        chosen: tuple[int, ...] = (),
    ) -> None:
        super().__init__(game)
        self._state = state
        self._max_length = max_length
        self._cut = cut
        self._turn_based = turn_based
        # The actions of the first players, where all choose at once.
        self._chosen = chosen

    def _is_cut(self) -> bool:
        return self._state.move_number() >= self._max_length

    def current_player(self) -> int:
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        player = self._state.current_player()
        if player == ggp.SIMULTANEOUS and self._turn_based:
            return self._next(self._chosen)[1]
        return player

    def _next(self, chosen: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """The actions of the first players with the only ones of the next, and the player with a choice after them."""
        while len(chosen) < self.num_players():
            legal = self._state.legal_actions(len(chosen))
            if len(legal) > 1:
                break
            chosen = (*chosen, legal[0])
        return chosen, len(chosen)

    def _legal_actions(self, player: int) -> list[int]:
        return [] if self.is_terminal() else self._state.legal_actions(player)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self._state.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        if not (self._turn_based and self._state.is_simultaneous_node()):
            self._state.apply_action(action)
            return
        chosen, player = self._next(self._chosen)
        if action not in self._state.legal_actions(player):
            raise ValueError(f"action {action} of player {player} is not legal")
        self._chosen, player = self._next((*chosen, action))
        if player == self.num_players():
            self._state.apply_actions(self._chosen)
            self._chosen = ()

    def _apply_actions(self, actions: list[int]) -> None:
        self._state.apply_actions(actions)

    def _action_to_string(self, player: int, action: int) -> str:
        return self._state.action_to_string(player, action)

    def is_terminal(self) -> bool:
        return self._state.is_terminal() or self._is_cut()

    def returns(self) -> list[float]:
        if self._is_cut() and not self._state.is_terminal():
            return [self._cut] * self.num_players()
        return self._state.returns()

    def rewards(self) -> list[float]:
        return self.returns()

    def __str__(self) -> str:
        # The moves that were chosen already, where others choose before the joint move is made.
        chosen = [self._state.action_to_string(player, action) for player, action in enumerate(self._chosen)]
        if self._state.is_chance_node():
            chosen += json.loads(self._state.serialize()).get("pending", ())
        return " ".join([*self._state.facts(), *(f"chosen: {text}" for text in chosen)])

    def __deepcopy__(self, memo: dict[int, Any]) -> _State:
        return _State(
            self.get_game(),
            self._state.clone(),
            self._max_length,
            self._cut,
            self._turn_based,
            self._chosen,
        )


class _Observer:
    """The facts of a state, which every player sees, or what a player saw and did."""

    def __init__(self, size: int) -> None:
        self.tensor = np.zeros(size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: _State, player: int) -> None:
        self.tensor[:] = state._state.observation_tensor(player)

    def string_from(self, state: _State, player: int) -> str:
        return state._state.observation_string(player)


class _Recaller:
    """All that a player knows, as a text."""

    def __init__(self) -> None:
        self.tensor = None
        self.dict: dict[str, np.ndarray] = {}

    def set_from(self, state: _State, player: int) -> None:
        raise ggp.Error(
            "there is no information state as a tensor: use `information_state_string`, or `observation_tensor`, "
            "which has no order of earlier turns"
        )

    def string_from(self, state: _State, player: int) -> str:
        return state._state.information_state_string(player)
