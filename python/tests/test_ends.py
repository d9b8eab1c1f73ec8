"""Ends of matches: rewards are numbers, whatever the end, and faults of the rules are reported."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from common import arrays, load

import ggp

# A walk ends well at `good`. It is stuck at `dead`; at the others, it ends without exactly one valid score.
WALK = """
    (role walker) (init (at start))
    (door start good) (door start dead) (door start none) (door start two) (door start wrong) (door start start)
    (<= (legal walker (go ?y)) (true (at ?x)) (door ?x ?y))
    (<= (next (at ?y)) (does walker (go ?y)))
    (end good) (end none) (end two) (end wrong)
    (<= terminal (true (at ?x)) (end ?x))
    (<= (goal walker 70) (true (at good)))
    (<= (goal walker 20) (true (at two))) (<= (goal walker 30) (true (at two)))
    (<= (goal walker 170) (true (at wrong)))"""
# The same with chance, which needs no score, and with another player, who has one.
CHANCE = "(role random) (<= (legal random wait) (true (at ?x)))"
OTHER = "(role other) (<= (legal other wait) (true (at ?x))) (goal other 30)"
# By place: the end of a match that goes there, or stays for three joint moves.
ENDS = {"good": ggp.TERMINAL, "start": ggp.CUT, "dead": ggp.STUCK}
ENDS |= dict.fromkeys(("none", "two", "wrong"), ggp.UNSCORED)
FAULTS = [place for place, end in ENDS.items() if end > ggp.CUT]
LENGTH = 3


@pytest.fixture(scope="module", params=["", CHANCE, OTHER, CHANCE + OTHER], ids=["alone", "chance", "two", "all"])
def walk(request: pytest.FixtureRequest) -> ggp.Game:
    return ggp.load(request.param + WALK)


@pytest.mark.parametrize("auto_reset", [True, False])
def test_a_batch_reports_all_ends_with_finite_rewards(walk: ggp.Game, auto_reset: bool) -> None:
    walker = walk.roles.index("walker")
    batch = ggp.Batch(walk, len(ENDS), max_length=LENGTH, auto_reset=auto_reset)
    actions, rewards, ends = arrays(batch)
    for lane, place in enumerate(ENDS):
        actions[lane, walker] = walk.actions(walker).index(f"(go {place})")
    found: dict[str, int] = {}
    for _ in range(LENGTH):
        batch.step(actions, rewards, ends)
        assert np.isfinite(rewards).all()
        for lane, place in enumerate(ENDS):
            if ends[lane]:
                found.setdefault(place, int(ends[lane]))
            expected = {"walker": 70.0, "other": 30.0} if ends[lane] == ggp.TERMINAL else {}
            assert rewards[lane].tolist() == [expected.get(role, 0.0) for role in walk.roles]
    assert found == ENDS


@pytest.mark.parametrize("name", [name for name in ggp.games() if name.split("_")[0] not in ("chess", "lattaque")])
def test_no_bundled_game_has_rewards_that_are_no_numbers(name: str) -> None:
    try:
        game = ggp.load(name)
        batch = ggp.Batch(game, 64, seed=1, max_length=5)
    except (ggp.Error, OSError):
        pytest.skip(f"{name} has no network, or needs an instance")
    actions, rewards, ends = arrays(batch)
    players = [role for role, text in enumerate(game.roles) if text != "random"]
    for _ in range(12):
        batch.sample(actions)
        batch.step(actions, rewards, ends)
        assert np.isfinite(rewards).all()
        assert (rewards[ends != ggp.TERMINAL] == 0).all()
        assert set(ends) <= {0, ggp.TERMINAL, ggp.CUT}
        assert ((rewards >= 0) & (rewards <= 100))[:, players].all()


def steps(env: Any, action: int) -> Any:
    env.reset(seed=1)
    for _ in range(LENGTH):
        yield env.step(action)


def test_puzzles_end_with_a_reward_or_a_fault() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    for rules, place in itertools.product((WALK, CHANCE + WALK), ENDS):
        game = ggp.load(rules)
        action = game.actions(game.roles.index("walker")).index(f"(go {place})")
        env = ggp.gymnasium.Puzzle(game, max_length=LENGTH)
        if place in FAULTS:
            with pytest.raises(ggp.MatchError):
                list(steps(env, action))
            continue
        for _, reward, over, cut, _ in steps(env, action):
            assert reward == (0.7 if over else 0.0)
            if over or cut:
                break
        assert (over, cut) == (place == "good", place == "start")


def test_many_puzzles_end_with_a_reward_or_a_fault() -> None:
    pytest.importorskip("gymnasium")
    import ggp.gymnasium

    game = ggp.load(WALK)
    number = {place: game.actions(0).index(f"(go {place})") for place in ENDS}
    envs = ggp.gymnasium.Puzzles(game, 2, max_length=LENGTH)
    envs.reset()
    for step in range(LENGTH):
        _, rewards, over, cut, _ = envs.step(np.array([number["start"], number["good"]]))
        assert rewards.tolist() == [0.0, 0.7]
        assert (over.tolist(), cut.tolist()) == ([False, True], [step == LENGTH - 1, False])
    for place in FAULTS:
        envs.reset()
        with pytest.raises(ggp.MatchError):
            envs.step(np.array([number["good"], number[place]]))


@pytest.mark.parametrize("kind", ["env", "parallel_env"])
def test_environments_of_agents_end_with_rewards_or_a_fault(kind: str) -> None:
    pytest.importorskip("pettingzoo")
    import ggp.pettingzoo

    for rules, place in itertools.product((OTHER + WALK, CHANCE + OTHER + WALK), ENDS):
        game = ggp.load(rules)
        env: Any = getattr(ggp.pettingzoo, kind)(game, max_length=LENGTH)
        number = game.actions(game.roles.index("walker")).index(f"(go {place})")

        def play(env: Any = env, number: int = number) -> tuple[dict[str, float], bool, bool]:
            env.reset(seed=1)
            if kind == "parallel_env":
                while True:
                    _, rewards, over, cut, _ = env.step({"walker": number, "other": 0})
                    if not env.agents:
                        return rewards, over["walker"], cut["walker"]
            while True:
                _, _, over, cut, _ = env.last()
                if over or cut:
                    return env.rewards, over, cut
                env.step(number)

        if place in FAULTS:
            with pytest.raises(ggp.MatchError):
                play()
            continue
        scores = {"walker": 0.7, "other": 0.3} if place == "good" else {"walker": 0.0, "other": 0.0}
        assert play() == (scores, place == "good", place == "start")


def test_games_of_openspiel_end_with_returns_or_a_fault() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    import ggp.openspiel

    for number, rules in enumerate((WALK, OTHER + WALK)):
        game = ggp.load(rules)
        ggp.openspiel.register(game, f"walk_{number}", max_length=LENGTH, proof_time=0.5)
        for place in ENDS:
            state = pyspiel.load_game(f"walk_{number}").new_initial_state()
            walker = game.roles.index("walker")
            action = game.actions(walker).index(f"(go {place})")
            steps = 0
            while not state.is_terminal() and steps < (1 if place in FAULTS else LENGTH):
                state.apply_actions([action if role == walker else 0 for role in range(len(game.roles))]) if (
                    state.is_simultaneous_node()
                ) else state.apply_action(action)
                steps += 1
            if place in FAULTS:
                with pytest.raises((ggp.MatchError, pyspiel.SpielError)):
                    state.legal_actions(), state.returns()
            else:
                assert state.is_terminal()
                assert np.isfinite(state.returns()).all() and np.isfinite(state.rewards()).all()


def test_playouts_that_do_not_end_have_no_mean(walk: ggp.Game) -> None:
    batch = ggp.Batch(walk, 3)
    states = np.frombuffer(batch.states(), np.uint8).reshape(3, -1).copy()
    walker, (actions, rewards, ends) = walk.roles.index("walker"), arrays(batch)
    # Once more, in a state without a legal move.
    only = ggp.Batch(walk, 1, auto_reset=False)
    actions[0, walker] = walk.actions(walker).index("(go dead)")
    only.step(actions[:1], rewards[:1], ends[:1])
    states[1] = np.frombuffer(only.states(), np.uint8)
    batch.set_states(states)
    out = np.full((3, batch.num_roles), 9, np.float32)
    with pytest.raises(ggp.LimitError, match="none of 50 playouts from match 1 ended"):
        batch.rollouts(50, out)
    assert np.isfinite(out).all()
    assert not out[1].any() and out[0, walker] > 0 and out[2, walker] > 0
