"""Equal games, states and views: keys of tables and members of sets."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
from typing import Any

import pytest
from common import COINS, GAMES, load

import ggp

# Small ones, with chance, hidden information and roles that choose at once among them.
NAMES = ["tic_tac_toe", "nim", "rock_paper_scissors", "dice_race", "kuhn_poker", "monty_hall", "matching_pennies", "hanoi"]


def walked(game: ggp.Game, seed: int, length: int) -> ggp.State:
    """The state after some random joint moves."""
    state, draw = game.new_initial_state(), random.Random(seed)
    for _ in range(length):
        if not state.is_terminal():
            state.play(*(draw.choice(state.legal_moves(role)) for role in range(len(game.roles))))
    return state


def same(state: ggp.State) -> list[ggp.State]:
    """Copies of all kinds."""
    again: list[ggp.State] = [
        state.clone(),
        copy.copy(state),
        copy.deepcopy(state),
        pickle.loads(pickle.dumps(state)),
        state.game.deserialize_state(state.serialize()),
        load(state.game.name).deserialize_state(state.serialize()),
    ]
    return again


@pytest.mark.parametrize("name", NAMES)
def test_states_are_equal_as_their_facts_or_histories_are(name: str) -> None:
    game = load(name)
    states = [walked(game, seed, length) for seed in range(6) for length in range(4)]
    for one in states:
        for other in states:
            alike = one.facts() == other.facts()
            if game.has_hidden_information:
                alike = alike and one.history() == other.history()
            assert (one == other) == alike
            assert (one != other) != alike
            assert not alike or hash(one) == hash(other)
    table = {state: number for number, state in enumerate(states)}
    for state in states:
        for copied in same(state):
            assert copied == state and hash(copied) == hash(state)
            assert table[copied] == table[state]
    assert len({*states}) == len(table) == len({*(copied for state in states for copied in same(state))})


def test_other_objects_are_not_equal(connect_four: ggp.Game) -> None:
    state = connect_four.new_initial_state()
    others: list[Any] = [None, 1, "state", connect_four, state.facts(), load("nim").new_initial_state()]
    for other in others:
        assert state != other and not state == other
    changed = state.clone()
    changed.apply_action(0)
    assert changed != state and hash(changed) != hash(state)


def test_ways_to_one_position_meet_in_a_table(connect_four: ggp.Game) -> None:
    def after(*actions: int) -> ggp.State:
        state = connect_four.new_initial_state()
        for action in actions:
            state.apply_action(action)
        return state

    assert after(0, 1, 2) == after(2, 1, 0) != after(0, 2, 1)
    assert {after(0, 1, 2): "value"}[connect_four.state(after(2, 1, 0).facts()[::-1])] == "value"
    # All positions after three moves, as perft counts them.
    level: set[ggp.State] = {connect_four.new_initial_state()}
    for counted in connect_four.perft(3):
        assert len(level) == counted["distinct"]
        level = {state.child(action) for state in level for action in state.legal_actions()}


def test_choices_that_chance_has_not_answered_count() -> None:
    game = ggp.load(COINS)
    before = game.new_initial_state()
    heads, tails, again = before.child(0), before.child(1), before.child(0)
    assert heads.facts() == tails.facts() == before.facts()
    assert len({before, heads, tails, again}) == 3
    assert heads == again == pickle.loads(pickle.dumps(heads))


def test_hidden_matches_with_equal_facts_differ_by_their_moves() -> None:
    game = load("kuhn_poker")

    def dealt(*joints: tuple[str, str, str]) -> ggp.State:
        state = game.new_initial_state()
        for joint in joints:
            state.play(*joint)
        return state

    deal = ("wait", "wait", "(deal jack king)")
    state = dealt(deal)
    later = game.state(state.facts())
    assert later.facts() == state.facts() and later != state
    assert later == game.state([*reversed(state.facts()), state.facts()[0]]) == pickle.loads(pickle.dumps(later))
    assert state == dealt(deal) != dealt(("wait", "wait", "(deal queen king)"))


def test_views_are_equal_as_their_matches_look_alike() -> None:
    game = load("kuhn_poker")
    views = {}
    for cards in ("jack king", "jack queen", "queen king"):
        state = game.new_initial_state()
        state.play("wait", "wait", f"(deal {cards})")
        views[cards] = state.view(0)
        assert state.view(0) == state.view(0) != state.view(1)
        assert load("kuhn_poker").deserialize_state(state.serialize()).view(0) == state.view(0)
        assert game.state(state.facts()).view(0) != state.view(0)
    assert views["jack king"] == views["jack queen"] != views["queen king"]
    assert len(set(views.values())) == 2


def test_games_are_equal_as_their_rules_are() -> None:
    text = (GAMES / "nim.kif").read_text()
    game = load("nim")
    for again in (ggp.load("nim"), ggp.load(text), load("nim"), pickle.loads(pickle.dumps(game)), ggp.load(text, ground_time=1.0)):
        assert again == game and hash(again) == hash(game)
        assert len({again, game}) == 1
        # What is equal can be used in place of the other.
        state = again.new_initial_state()
        assert state == game.new_initial_state() and {state} == {game.new_initial_state()}
        assert game.perft(1, state=state) == game.perft(1)
    for other in (load("tic_tac_toe"), ggp.load(text + " "), ggp.load(text, case_sensitive=True)):
        assert other != game
        with pytest.raises(ValueError, match="another game"):
            game.perft(1, state=other.new_initial_state())


def _find(table: dict[ggp.State, int], answers: multiprocessing.Queue[list[int]]) -> None:
    game = load("nim")
    answers.put([table[walked(game, seed, 2)] for seed in range(4)])


def test_a_table_hits_in_another_process() -> None:
    game = load("nim")
    table = {walked(game, seed, 2): seed for seed in range(4)}
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_find, args=(table, answers))
    process.start()
    assert answers.get(timeout=120) == [table[walked(game, seed, 2)] for seed in range(4)]
    process.join()
