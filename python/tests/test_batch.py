"""Many matches at a time, compared with one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from common import arrays, load

import ggp


def test_arrays_have_the_right_type_and_shape(connect_four: ggp.Game) -> None:
    batch = ggp.Batch(connect_four, 4)
    batch.sample(np.zeros((4, 2), "<i4"))
    batch.sample(np.zeros(8, np.int32))
    for wrong in (np.zeros((4, 2), ">i4"), np.zeros((4, 2), np.float64)):
        with pytest.raises(TypeError, match="an array of int32"):
            batch.sample(wrong)
    with pytest.raises(TypeError, match="an array of uint8"):
        batch.observe(0, np.zeros((4, batch.num_facts), ">f4"))
    with pytest.raises(ValueError, match="4 × 2 elements, not 2 × 4"):
        batch.sample(np.zeros((2, 4), np.int32))


def test_a_lane_is_a_state(connect_four: ggp.Game) -> None:
    batch = ggp.Batch(connect_four, 70, seed=5)
    actions, rewards, ends = arrays(batch)
    facts = np.zeros((70, batch.num_facts), np.float32)
    for _ in range(5):
        batch.sample(actions)
        batch.step(actions, rewards, ends)
    batch.observe(0, facts)
    for lane in (0, 63, 64, 69, -1, -70):
        state = batch.state(lane)
        assert state.observation_tensor(0) == facts[lane].tolist()
        assert state.history() == []
    batch.state(69).apply_action(batch.state(69).legal_actions()[0])
    for lane in (70, 1 << 40, -71, -(1 << 40)):
        with pytest.raises(IndexError, match="the number of matches is 70"):
            batch.state(lane)


def test_rollouts_end(connect_four: ggp.Game) -> None:
    # No match of this game has more than 42 moves.
    batch = ggp.Batch(connect_four, 2)
    out = np.zeros((2, 2), np.float32)
    with pytest.raises(ggp.LimitError, match="`max_length` above 3"):
        batch.rollouts(1, out, max_length=3)
    assert (out == 0).all()
    batch.rollouts(1, out)


def test_a_batch_agrees_with_states(connect_four: ggp.Game) -> None:
    batch = ggp.Batch(connect_four, 70, seed=3)
    actions, rewards, ends = arrays(batch)
    facts = np.zeros((70, batch.num_facts), np.float32)
    bits = np.zeros((70, batch.num_bytes), np.uint8)
    masks = [np.zeros((70, batch.num_actions(role)), np.bool_) for role in range(2)]
    states = [connect_four.new_initial_state() for _ in range(70)]
    ended = 0
    for _ in range(60):
        batch.observe(0, facts)
        batch.observe(1, bits)
        assert (np.unpackbits(bits, axis=1, bitorder="little")[:, : batch.num_facts] == facts).all()
        for role, mask in enumerate(masks):
            batch.legal_mask(role, mask)
        batch.sample(actions)
        batch.step(actions, rewards, ends)
        for lane, state in enumerate(states):
            assert state.observation_tensor() == facts[lane].tolist()
            for role in range(2):
                legal = {connect_four.actions(role).index(text) for text in state.legal_moves(role)}
                assert legal == set(np.flatnonzero(masks[role][lane]))
            state.play(
                *[connect_four.actions(role)[actions[lane, role]] for role in range(2)]
            )
            assert state.is_terminal() == (ends[lane] == ggp.TERMINAL)
            assert state.returns() == rewards[lane].tolist()
            if state.is_terminal():
                ended += 1
                states[lane] = connect_four.new_initial_state()
    assert ended > 70


def test_arrays_of_another_kind_are_refused(connect_four: ggp.Game) -> None:
    batch = ggp.Batch(connect_four, 10)
    actions, rewards, ends = arrays(batch)
    batch.sample(actions)
    batch.sample(actions.reshape(-1))
    batch.sample(memoryview(actions))  # type: ignore[arg-type, unused-ignore]
    for wrong, error in (
        (np.zeros((10, 2), np.int64), TypeError),
        (np.zeros((9, 2), np.int32), ValueError),
        (np.zeros((10, 4), np.int32)[:, ::2], ValueError),
        (bytes(80), TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            batch.sample(wrong)  # type: ignore[arg-type]
    actions.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        batch.sample(actions)
    actions = actions.copy()
    actions[7] = 3
    with pytest.raises(ValueError, match=r"role . is not legal in match 7"):
        batch.step(actions, rewards, ends)
    with pytest.raises(IndexError):
        batch.legal_mask(2, ends)
    for lanes in (0, 2**40):
        with pytest.raises(ValueError, match="lanes"):
            ggp.Batch(connect_four, lanes)
    with pytest.raises(OverflowError):
        ggp.Batch(connect_four, -1)
    with pytest.raises(ggp.LimitError, match="memory"):
        ggp.Batch(connect_four, 100_000, memory=1)


def test_matches_are_cut_and_reset() -> None:
    game = load("connect_four")
    batch = ggp.Batch(game, 5, max_length=3, auto_reset=False)
    actions, rewards, ends = arrays(batch)
    first = batch.states()
    for length in range(3):
        assert (ends == 0).all(), length
        batch.sample(actions)
        batch.step(actions, rewards, ends)
    assert (ends == ggp.CUT).all()
    assert (rewards == 0).all()
    batch.sample(actions)
    assert (actions == -1).all()
    batch.reset(np.array([1, 0, 0, 0, 1], np.bool_))
    after = np.frombuffer(batch.states(), np.uint8).reshape(5, -1)
    start = np.frombuffer(first, np.uint8).reshape(5, -1)
    assert [(after[lane] == start[lane]).all() for lane in range(5)] == [True, False, False, False, True]
    batch.set_states(start)
    assert batch.states() == first


def test_rollouts_agree_with_random_play() -> None:
    game = load("tic_tac_toe")
    batch = ggp.Batch(game, 4)
    means = np.zeros((4, 2), np.float32)
    batch.rollouts(20_000, means)
    # The first player wins 58.5 % of random matches and draws 12.7 % (counted by others).
    assert np.allclose(means.sum(axis=1), 100, atol=0.01)
    assert np.allclose(means[:, 0], 64.8, atol=1.5)
