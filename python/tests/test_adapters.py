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


# By game: the expected score of the first player, and the iterations of CFR+.
VALUES = {"kuhn_poker": (50 - 25 / 18, 60), "matching_pennies": (50, 10), "monty_hall": (200 / 3, 10)}


@pytest.mark.parametrize("name", VALUES)
def test_cfr_of_openspiel_runs_on_hidden_games(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")
    mccfr = pytest.importorskip("open_spiel.python.algorithms.external_sampling_mccfr")
    scores = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")
    gains = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    import ggp.openspiel

    game = load(name)
    ggp.openspiel.register(game, f"turns_{name}", proof_time=1.0, turn_based=True)
    registered = pyspiel.load_game(f"turns_{name}")
    assert registered.get_type().dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert registered.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    value, iterations = VALUES[name]
    solver = cfr.CFRPlusSolver(registered)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    found = scores.policy_value(registered.new_initial_state(), [policy] * game.num_players())
    assert found[0] == pytest.approx(value, abs=0.5)
    if game.num_players() == 2:
        assert gains.nash_conv(registered, policy) < 0.5
        mccfr.ExternalSamplingSolver(registered).iteration()
    state = registered.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    last = state._state
    assert state.information_state_string(0) == last.information_state_string(0)
    assert state.observation_string(0) == last.observation_string(0)
    assert state.observation_tensor(0) == last.observation_tensor(0)
    with pytest.raises(ValueError, match="1000"):
        registered.new_initial_state()._apply_action(1_000)


def test_players_of_one_turn_do_not_see_each_other() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import ggp.openspiel

    # Without `sees`, each knows the moves of the turns before.
    ggp.openspiel.register(load("rock_paper_scissors"), "turns_of_hands", proof_time=1.0, turn_based=True)
    state = pyspiel.load_game("turns_of_hands").new_initial_state()
    before = state.information_state_string(1)
    assert state.current_player() == 0
    state.apply_action(1)
    assert state.current_player() == 1
    assert state.information_state_string(1) == before
    copy = state.clone()
    copy.apply_action(2)
    assert copy.information_state_string(1) != before


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "nim", "goofspiel", "three_player_connect", "kuhn_poker"])
def test_pettingzoo_in_turns(name: str) -> None:
    test = pytest.importorskip("pettingzoo.test")
    import ggp.pettingzoo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = load(name)
        test.api_test(ggp.pettingzoo.env(game), num_cycles=200)
        test.seed_test(lambda: ggp.pettingzoo.env(game), num_cycles=50)


def test_agents_observe_their_own_moves_and_percepts() -> None:
    pytest.importorskip("pettingzoo")
    import ggp.pettingzoo

    game = load("kuhn_poker")
    names = {agent: [*game.percepts(role), *game.actions(role)] for role, agent in enumerate(game.roles[:2])}
    env = ggp.pettingzoo.env(game)
    env.reset(seed=1)
    seen: dict[str, list[set[str]]] = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        observed, _, over, cut, _ = env.last()
        bits = observed["observation"]
        seen[agent].append({text for text, bit in zip(names[agent], bits, strict=True) if bit})
        env.step(None if over or cut else int(np.flatnonzero(observed["action_mask"])[0]))
    # Each has a card of its own, although the right player was not asked when it was dealt.
    assert [len([text for text in seen[agent][0] if text.startswith("(own ")]) for agent in seen] == [1, 1]
    assert "check" in seen["right"][0]
    assert "check" in seen["left"][-1]
    assert not any("own" in text for text in seen["left"][-1])


@pytest.mark.parametrize("name", ["prisoners_dilemma", "light_cycles", "tic_tac_toe", "matching_pennies"])
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


@pytest.mark.parametrize("name", ["eight_puzzle", "senku", "buttons_and_lights", "monty_hall", "paid_look"])
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


def test_a_puzzle_may_have_chance() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    game = load("monty_hall")
    names = [*game.percepts(0), *game.actions(0)]
    env = ggp.gymnasium.Puzzle(game)
    won = 0.0
    for seed in range(300):
        observed, info = env.reset(seed=seed)
        assert not observed.any()
        over = False
        for text in ("(choose 1)", "switch"):
            assert not over
            action = game.actions(0).index(text)
            assert info["action_mask"][action]
            observed, reward, over, _, info = env.step(action)
            shown = {text for text, bit in zip(names, observed, strict=True) if bit}
            assert text in shown
            assert any(text.startswith("(prize" if over else "(opened") for text in shown)
        assert over
        won += reward
    assert 0.55 < won / 300 < 0.78


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
