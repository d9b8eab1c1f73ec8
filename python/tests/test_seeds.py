"""Random numbers: different each time without a seed, the same with equal seeds, and others for each match of a player."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from common import arrays, load

import ggp

# Two dozen shuffled cards: two matches that are dealt independently are never alike.
DEALS = (
    "(role random) (role one) (role two)"
    + "".join(f"(rank {rank}) (before {rank} {rank + 1})" for rank in range(24))
    + """
    (rank 24) (init (step 0))
    (<= (legal random (deal ?r)) (rank ?r))
    (<= (legal one (say ?r)) (rank ?r))
    (<= (legal two (say ?r)) (rank ?r))
    (<= (next (step ?b)) (true (step ?a)) (before ?a ?b))
    (<= (next (dealt ?a ?r)) (true (step ?a)) (does random (deal ?r)))
    (<= (next (dealt ?a ?r)) (true (dealt ?a ?r)))
    (<= terminal (true (step 24)))
    (goal one 50) (goal two 50) (goal random 0)"""
)


@pytest.fixture(scope="module")
def deals() -> ggp.Game:
    return ggp.load(DEALS)


@pytest.fixture(scope="module")
def alone() -> ggp.Game:
    """The same for one player."""
    return ggp.load(DEALS.replace("(role two)", "").replace("(<= (legal two (say ?r)) (rank ?r))", "").replace("(goal two 50)", ""))


Deal = Callable[[Any, Any], object]


def by_batch(games: Any, seed: int | None) -> object:
    batch = ggp.Batch(games[0], 3, seed=seed)
    actions, rewards, ends = arrays(batch)
    for _ in range(5):
        batch.sample(actions)
        batch.step(actions, rewards, ends)
    return batch.states()


def by_rollouts(games: Any, seed: int | None) -> object:
    batch = ggp.Batch(load("tic_tac_toe"), 20, seed=seed)
    means = np.zeros((20, 2), np.float32)
    batch.rollouts(7, means)
    return means.tolist()


def by_play(games: Any, seed: int | None) -> object:
    return ggp.play(games[0], ["random", "mcts:5"], seed=seed)["moves"]


def by_player(games: Any, seed: int | None) -> object:
    player, state = ggp.Player("random", seed=seed), games[0].new_initial_state()
    return [player.choose(state, 1)["move"] for _ in range(10)]


def by_belief(games: Any, seed: int | None) -> object:
    game = load("battleship")
    state, draw = game.new_initial_state(), random.Random(1)
    for _ in range(3):
        state.play(*(draw.choice(state.legal_moves(role)) for role in range(len(game.roles))))
    belief = ggp.Belief(game, 0, members=50, joint_moves=500, seed=seed)
    for made, percepts in state.knowledge(0):
        belief.update(made, percepts)
    return [member.facts() for member, _ in belief.members()]


def by_belief_of_a_state(games: Any, seed: int | None) -> object:
    belief = load("kuhn_poker").new_initial_state().belief(0, seed=seed)
    return draws(belief)


def by_belief_of_a_view(games: Any, seed: int | None) -> object:
    belief = load("kuhn_poker").new_initial_state().view(0).belief(seed=seed)
    return draws(belief)


def draws(belief: ggp.Belief) -> list[list[str]]:
    belief.update("wait", ["(own queen)"])
    return [belief.sample().facts() for _ in range(64)]


def by_env(games: Any, seed: int | None) -> object:
    import ggp.pettingzoo

    env = ggp.pettingzoo.env(games[0])
    env.reset(seed=seed)
    for _ in range(16):
        env.step(0)
    return env._state.facts()


def by_parallel_env(games: Any, seed: int | None) -> object:
    import ggp.pettingzoo

    env = ggp.pettingzoo.parallel_env(games[0])
    env.reset(seed=seed)
    for _ in range(8):
        env.step(dict.fromkeys(env.agents, 0))
    return env._state.facts()


def by_puzzle(games: Any, seed: int | None) -> object:
    import ggp.gymnasium

    env = ggp.gymnasium.Puzzle(games[1])
    env.reset(seed=seed)
    return [env.step(0)[0].tolist() for _ in range(8)]


ALL: list[Deal] = [
    by_batch,
    by_rollouts,
    by_play,
    by_player,
    by_belief,
    by_belief_of_a_state,
    by_belief_of_a_view,
    by_env,
    by_parallel_env,
    by_puzzle,
]


@pytest.mark.parametrize("deal", ALL, ids=lambda deal: deal.__name__)
def test_seeds_repeat_and_their_absence_does_not(deal: Deal, deals: ggp.Game, alone: ggp.Game) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    games = (deals, alone)
    for seed in (0, 7):
        assert deal(games, seed) == deal(games, seed)
    assert deal(games, 1) != deal(games, 2)
    assert deal(games, None) != deal(games, None)


def test_environments_go_on_with_their_random_numbers(deals: ggp.Game, alone: ggp.Game) -> None:
    pytest.importorskip("pettingzoo")
    import ggp.pettingzoo

    env = ggp.pettingzoo.parallel_env(deals)
    seen = []
    for seed in (3, None, None, 3):
        env.reset(seed=seed)
        for _ in range(5):
            env.step(dict.fromkeys(env.agents, 0))
        seen.append(tuple(env._state.facts()))
    assert seen[0] == seen[3]
    assert len(set(seen)) == 3


def _drawn(answers: multiprocessing.Queue[Any]) -> None:
    game = ggp.load(DEALS)
    answers.put((by_batch((game, game), None), ggp.play(game, ["random", "random"])["moves"]))


@pytest.mark.drawn_seeds
def test_forked_processes_draw_different_numbers() -> None:
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [context.Process(target=_drawn, args=(answers,)) for _ in range(2)]
    for process in processes:
        process.start()
    (batch, moves), (other, other_moves) = (answers.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    assert batch != other and moves != other_moves


# Players of many matches.


def played(player: ggp.Player, game: ggp.Game, chance: random.Random) -> tuple[tuple[str, ...], ...]:
    """The joint moves of a match of a player in all roles."""
    state = game.new_initial_state()
    players = [role for role, name in enumerate(game.roles) if name != "random"]
    while not state.is_terminal() and state.move_number() < 40:
        legal = [state.legal_moves(role) for role in range(len(game.roles))]
        moves = [chance.choice(texts) for texts in legal]
        for role in players:
            if len(legal[role]) > 1:
                moves[role] = player.choose(state, role)["move"]
                assert moves[role] in legal[role]
        state.play(*moves)
    return tuple(map(tuple, state.history()))


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "rock_paper_scissors", "kuhn_poker", "krieg_tic_tac_toe"])
@pytest.mark.parametrize("spec", ["random", "mcts:2", "ismcts:4", "greedy"])
def test_each_match_of_a_player_has_random_numbers_of_its_own(name: str, spec: str) -> None:
    game = load(name)
    if spec == "ismcts:4" and not game.has_hidden_information:
        pytest.skip("ismcts is for games with hidden information")
    rounds = 4 if spec == "greedy" else 12

    def matches(seed: int) -> list[tuple[tuple[str, ...], ...]]:
        player, chance = ggp.Player(spec, seed=seed), random.Random(1)
        # Chance does the same in all of them.
        found = []
        for _ in range(rounds):
            chance.seed(1)
            found.append(played(player, game, chance))
        return found

    first = matches(5)
    assert first == matches(5)
    # A search may prefer the same of two moves in all matches.
    if spec in ("random", "ismcts:4") or (spec == "mcts:2" and name != "kuhn_poker"):
        assert len(set(first)) > 2, first


@pytest.mark.parametrize(
    ("name", "spec"), [("connect_four", "mcts:50"), ("goofspiel", "mcts:50"), ("kuhn_poker", "ismcts:50")]
)
def test_a_player_keeps_the_search_trees_of_matches_in_turn(name: str, spec: str) -> None:
    game = load(name)
    # Positions after other first moves that do not look alike, for each role with a choice.
    asked: dict[str, tuple[ggp.State, int]] = {}
    first = game.new_initial_state()
    for joint in product(*(first.legal_moves(role) for role in range(len(game.roles)))):
        state = first.clone()
        state.play(*joint)
        for player, role in enumerate(role for role, text in enumerate(game.roles) if text != "random"):
            if len(state.legal_moves(role)) > 1:
                asked.setdefault(state.information_state_string(player), (state, role))
    places = list(asked.values())[:8]
    assert len(places) >= 3

    player_of_all = ggp.Player(spec, seed=1)

    def visits() -> list[int]:
        advice = [player_of_all.choose(state, role) for state, role in places]
        return [sum(candidate["visits"] for candidate in one["candidates"]) for one in advice]

    for before, after in zip(visits(), visits(), strict=True):
        assert 0 < before <= 60 < after
