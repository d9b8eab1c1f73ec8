"""The adapters, with the conformance tests of their libraries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from common import COINS, GAMES, load

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
    # By agent and turn: all that it saw and did, and what it saw and did since its last action.
    seen: dict[str, list[tuple[set[str], set[str]]]] = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        observed, _, over, cut, _ = env.last()
        ever, since = (
            {text for text, bit in zip(names[agent], half, strict=True) if bit}
            for half in np.split(observed["observation"], 2)
        )
        assert since <= ever
        seen[agent].append((ever, since))
        env.step(None if over or cut else int(np.flatnonzero(observed["action_mask"])[0]))
        if agent in env.agents and not over:
            # Its own action is not forgotten before the others have moved.
            assert env.observe(agent)["observation"][: len(names[agent])].any()
    for agent, turns in seen.items():
        # Each has a card of its own, although the right player was not asked when it was dealt, and remembers it.
        (own,) = (text for text in turns[0][1] if text.startswith("(own "))
        assert all(own in ever for ever, _ in turns)
        assert all(own not in since for _, since in turns[1:]), agent
        assert all(before <= after for (before, _), (after, _) in zip(turns, turns[1:], strict=False))
    assert "check" in seen["right"][0][1]
    assert "check" in seen["left"][-1][1]


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
            ever, shown = ({text for text, bit in zip(names, half, strict=True) if bit} for half in np.split(observed, 2))
            assert text in shown <= ever
            assert "(choose 1)" in ever
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


def test_observations_of_hidden_games_of_openspiel_are_those_of_states() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    observation = pytest.importorskip("open_spiel.python.observation")
    import ggp.openspiel

    recall = pyspiel.IIGObservationType(perfect_recall=True)
    for name in ("kuhn_poker", "krieg_tic_tac_toe", "monty_hall", "tic_tac_toe"):
        rules = load(name)
        ggp.openspiel.register(rules, f"seen_{name}", proof_time=0.5)
        game = pyspiel.load_game(f"seen_{name}")
        kind = game.get_type()
        assert not kind.provides_information_state_tensor
        assert kind.provides_information_state_string == rules.has_hidden_information
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(state.legal_actions()[-1])
            for player in range(game.num_players()):
                assert state.observation_tensor(player) == state._state.observation_tensor(player)
                assert state.observation_string(player) == state._state.observation_string(player)
                assert state.information_state_string(player) == state._state.information_state_string(player)
                # An empty one would be taken for a whole one.
                with pytest.raises((ggp.Error, pyspiel.SpielError), match="information state"):
                    state.information_state_tensor(player)
                observer = observation.make_observation(game, recall)
                assert observer.string_from(state, player) == state.information_state_string(player)
                with pytest.raises(ggp.Error, match="no information state as a tensor"):
                    observer.set_from(state, player)
        public = pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
        if rules.has_hidden_information:
            with pytest.raises(ggp.Error, match="what is public is not told apart"):
                observation.make_observation(game, public)
        else:
            assert observation.make_observation(game, public) is not None
        with pytest.raises(ValueError, match="no parameters"):
            observation.make_observation(game, params={"planes": 3})


def test_texts_of_states_of_openspiel_have_choices_that_wait() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import ggp.openspiel

    for number, (rules, turn_based) in enumerate(((ggp.load(COINS), False), (load("rock_paper_scissors"), True))):
        ggp.openspiel.register(rules, f"waits_{number}", proof_time=0.5, turn_based=turn_based)
        state = pyspiel.load_game(f"waits_{number}").new_initial_state()
        texts = {str(state), *(str(state.child(action)) for action in state.legal_actions())}
        assert len(texts) == len(state.legal_actions()) + 1


@pytest.mark.parametrize("name", ["eight_puzzle", "buttons_and_lights"])
def test_masks_of_resets_agree_with_vectors_of_gymnasium(name: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    import ggp.gymnasium

    game, count, draw = load(name), 5, np.random.default_rng(4)
    many = ggp.gymnasium.Puzzles(game, count, max_length=7)
    singles = gymnasium.vector.SyncVectorEnv(
        [lambda: ggp.gymnasium.Puzzle(game, max_length=7)] * count,
        autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP,
    )
    observed, info = many.reset(seed=1)
    expected, _ = singles.reset(seed=1)
    for step in range(40):
        assert (observed == expected).all()
        if step % 3 == 2:
            which = draw.random(count) < 0.5
            which[step % count] = True
            # The option is not taken out of the dictionary, which others read, too.
            options = {"reset_mask": which}
            seeds = [None if draw.random() < 0.5 else int(draw.integers(9)) for _ in range(count)]
            observed, info = many.reset(seed=seeds, options=options)
            assert list(options) == ["reset_mask"]
            expected, _ = singles.reset(seed=seeds, options={"reset_mask": which})
            assert (observed == expected).all()
        actions = np.array([draw.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        observed, rewards, over, cut, info = many.step(actions)
        expected, other_rewards, other_over, other_cut, _ = singles.step(actions)
        assert (rewards == other_rewards).all() and (over == other_over).all() and (cut == other_cut).all()


def test_what_a_reset_cannot_do_is_refused() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    import ggp.gymnasium

    game = load("hanoi")
    many = ggp.gymnasium.Puzzles(game, 3)
    seeds = [many.np_random_seed for _ in range(2) if many.reset(seed=5)]
    assert seeds == [5, 5]
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([True, False, False], TypeError, "array of bool"),
        (np.array([1, 0, 0]), TypeError, "array of bool"),
        (np.zeros(3, np.bool_), ValueError, "at least one of them true"),
        (np.ones(4, np.bool_), ValueError, "3 elements"),
        (np.ones((3, 1), np.bool_), ValueError, "3 elements"),
    ]
    before = many.step(np.array([many.reset()[1]["action_mask"][0].argmax()] * 3))[0]
    for mask, error, text in wrong:
        with pytest.raises(error, match=text):
            many.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="the only option is `reset_mask`, not size"):
        many.reset(options={"size": 3})
    odd: Any
    right: Any
    for odd in ([1], [1] * 4, "abc", [1, None, "3"], 0.5, []):
        with pytest.raises(ValueError, match="a number, or a list of 3 numbers or None, not"):
            many.reset(seed=odd)
    # Nothing was reset.
    mask = np.array([True, False, False])
    assert (many.reset(options={"reset_mask": mask})[0][1:] == before[1:]).all()
    for right in (np.int64(3), [1, None, 3], (1, 2, 3), np.arange(3), None):
        many.reset(seed=right)
    assert many.np_random_seed == 3
    with pytest.raises(ValueError, match="no options, and so none of these: size"):
        ggp.gymnasium.Puzzle(game).reset(options={"size": 3})
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(many)
    wrapped.reset()
    wrapped.step(np.array([many.reset()[1]["action_mask"][0].argmax()] * 3))
    wrapped.reset(options={"reset_mask": mask})
    assert wrapped.episode_lengths.tolist() == [0, 1, 1]


def test_games_of_several_roles_are_no_puzzles() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    with pytest.raises(ValueError, match="2 roles"):
        ggp.gymnasium.Puzzle(load("nim"))
    for name, text in (("nim", "2 roles"), ("monty_hall", "see ggp.gymnasium.Puzzle")):
        with pytest.raises(ValueError, match=text):
            ggp.gymnasium.Puzzles(load(name), 2)
    with pytest.raises(ValueError, match="'raise' or 'stay'"):
        ggp.gymnasium.Puzzle(load("hanoi"), illegal="foo")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'ansi'"):
        ggp.gymnasium.Puzzle(load("hanoi"), render_mode="human")


def test_environments_of_agents_refuse_modes_that_they_do_not_have() -> None:
    pytest.importorskip("pettingzoo")
    import ggp.pettingzoo

    for make in (ggp.pettingzoo.env, ggp.pettingzoo.parallel_env):
        with pytest.raises(ValueError, match="'ansi'"):
            make(load("nim"), render_mode="human")
        env = make(load("nim"), render_mode="ansi")
        env.reset()
        assert env.render() == str(env._state)
