"""The adapters, with the conformance tests of their libraries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from common import GAMES, load

import ggp

ALL = sorted(path.stem for path in GAMES.glob("*.kif"))


@pytest.mark.parametrize("name", ALL)
def test_openspiel(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import ggp.openspiel

    game = load(name)
    if not game.has_network:
        pytest.skip(f"{name} has no network")
    if game.has_hidden_information:
        with pytest.raises(ggp.Error, match="sees"):
            ggp.openspiel.register(game, f"ggp_{name}")
        return
    ggp.openspiel.register(game, f"ggp_{name}", max_length=200, proof_time=2.0)
    pyspiel.random_sim_test(
        pyspiel.load_game(f"ggp_{name}"), num_sims=1, serialize=False, verbose=False
    )


def test_openspiel_algorithms_run() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    for name in ("nim", "prisoners_dilemma"):
        if f"ggp_{name}" not in pyspiel.registered_names():
            test_openspiel(name)
    mcts = pytest.importorskip("open_spiel.python.algorithms.mcts")

    import ggp.openspiel

    game = pyspiel.load_game("ggp_nim")
    assert game.get_type().dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert game.utility_sum() == 100
    dilemma = pyspiel.load_game("ggp_prisoners_dilemma").get_type()
    assert dilemma.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    assert dilemma.utility == pyspiel.GameType.Utility.GENERAL_SUM
    # One player never chooses at once with another, proved or not.
    ggp.openspiel.register(load("hanoi"), "alone_hanoi", proof_time=0.1)
    puzzle = pyspiel.load_game("alone_hanoi").get_type()
    assert puzzle.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    random = np.random.RandomState(1)
    bots = [
        mcts.MCTSBot(
            game, 2, 300, mcts.RandomRolloutEvaluator(1, random), solve=True, random_state=random
        )
        for _ in range(2)
    ]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    # The first player wins nim with these piles.
    assert state.returns() == [100, 0]


def test_trees_are_games_of_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = load("goofspiel")
    tree = pyspiel.load_efg_game(game.efg())
    assert tree.num_players() == 2
    state, own = tree.new_initial_state(), game.new_initial_state()
    # The tree has the players of one turn one after another.
    while not state.is_terminal():
        actions = []
        for player in range(2):
            legal = own.legal_actions(player)
            if len(legal) > 1 or not own.is_simultaneous_node():
                assert len(state.legal_actions()) == len(legal)
                texts = [state.action_to_string(action) for action in state.legal_actions()]
                chosen = own.action_to_string(player, legal[-1])
                state.apply_action(state.legal_actions()[texts.index(chosen)])
            actions.append(legal[-1])
        own.apply_actions(actions)
        while not own.is_terminal() and own.current_player() == 0 and len(own.legal_actions()) == 1:
            own.apply_action(own.legal_actions()[0])
    assert own.is_terminal()
    assert state.returns() == own.returns()
    with pytest.raises(ggp.LimitError, match="more than 5 nodes"):
        game.efg(max_nodes=5)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "nim", "goofspiel", "three_player_connect"])
def test_pettingzoo_in_turns(name: str) -> None:
    test = pytest.importorskip("pettingzoo.test")
    import ggp.pettingzoo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = load(name)
        test.api_test(ggp.pettingzoo.env(game), num_cycles=200)
        test.seed_test(lambda: ggp.pettingzoo.env(game), num_cycles=50)


@pytest.mark.parametrize("name", ["prisoners_dilemma", "light_cycles", "tic_tac_toe"])
def test_pettingzoo_at_once(name: str) -> None:
    test = pytest.importorskip("pettingzoo.test")
    import ggp.pettingzoo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = load(name)
        test.parallel_api_test(ggp.pettingzoo.parallel_env(game), num_cycles=100)
        # This test ignores the masks.
        if name != "tic_tac_toe":
            test.parallel_seed_test(lambda: ggp.pettingzoo.parallel_env(game), num_cycles=50)


@pytest.mark.parametrize("name", ["eight_puzzle", "senku", "buttons_and_lights"])
def test_gymnasium(name: str) -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    import ggp.gymnasium

    game = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = ggp.gymnasium.Puzzle(game, max_length=50, illegal="stay")
        checker.check_env(env, skip_render_check=True)
    with pytest.raises(ValueError, match="not legal"):
        env = ggp.gymnasium.Puzzle(game)
        env.reset()
        env.step(len(game.actions(0)) + 1)


def test_gymnasium_vectors_agree_with_single_environments() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    game = load("eight_puzzle")
    many = ggp.gymnasium.Puzzles(game, 8, max_length=20)
    singles = [ggp.gymnasium.Puzzle(game, max_length=20) for _ in range(8)]
    observed, info = many.reset(seed=1)
    for lane, single in enumerate(singles):
        first, _ = single.reset()
        assert (observed[lane] == first).all()
    random = np.random.default_rng(2)
    for step in range(1, 41):
        masks = info["action_mask"]
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in masks])
        observed, rewards, over, cut, info = many.step(actions)
        for lane, single in enumerate(singles):
            facts, reward, is_over, is_cut, _ = single.step(int(actions[lane]))
            assert (rewards[lane], over[lane], cut[lane]) == (reward, is_over, is_cut)
            if is_over or is_cut:
                assert info["_final_obs"][lane]
                assert (info["final_obs"][lane] == facts).all()
                facts, _ = single.reset()
            assert (observed[lane] == facts).all()
        assert cut.all() == (step % 20 == 0)


def test_games_of_several_roles_are_no_puzzles() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    with pytest.raises(ValueError, match="2 roles"):
        ggp.gymnasium.Puzzle(load("nim"))
    with pytest.raises(ValueError, match="'raise' or 'stay'"):
        ggp.gymnasium.Puzzle(load("hanoi"), illegal="foo")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'ansi'"):
        ggp.gymnasium.Puzzle(load("hanoi"), render_mode="human")
