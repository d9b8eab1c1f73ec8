"""Games with hidden information: percepts, beliefs, and players that know no more."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from operator import methodcaller
from pathlib import Path

import numpy as np
import pytest
from common import CORPUS, GAMES, arrays, load, needs_corpus

import ggp

GDL2 = CORPUS / "gdl2"


def states(game: ggp.Game) -> Iterator[tuple[ggp.State, float]]:
    """All states of a small game, history by history, with their probabilities if all choose with equal ones."""
    waiting = [(game.new_initial_state(), 1.0)]
    while waiting:
        state, chance = waiting.pop()
        yield state, chance
        if not state.is_terminal():
            legal = [state.legal_moves(role) for role in range(len(game.roles))]
            joints = list(product(*legal))
            for joint in joints:
                after = state.clone()
                after.play(*joint)
                waiting.append((after, chance / len(joints)))


@pytest.fixture(scope="module")
def kuhn() -> ggp.Game:
    return load("kuhn_poker")


@pytest.fixture
def dealt(kuhn: ggp.Game) -> ggp.State:
    """Left has the jack, and has checked; right, with the king, has bet."""
    state = kuhn.new_initial_state()
    state.play("wait", "wait", "(deal jack king)")
    state.play("check", "wait", "wait")
    state.play("wait", "bet", "wait")
    return state


def test_percepts_and_knowledge(kuhn: ggp.Game, dealt: ggp.State) -> None:
    assert dealt.percepts(0) == ["bet"]
    assert dealt.percepts(1) == []
    assert dealt.percepts(0, ["call", "wait", "wait"]) == ["(other king)"]
    assert dealt.percepts(1, ["call", "wait", "wait"]) == ["call", "(other jack)"]
    known = (("wait", ("(own jack)",)), ("check", ()), ("wait", ("bet",)))
    assert dealt.knowledge(0) == known
    text = "left: did wait | saw (own jack); did check; did wait | saw bet"
    assert dealt.information_state_string(0) == dealt.information_state_string() == text
    so_far = "so far did check, wait | saw (own jack), bet"
    assert dealt.observation_string(0) == f"left: did wait | saw bet; {so_far}"
    first = kuhn.new_initial_state()
    assert first.knowledge(0) == ()
    assert first.percepts(0) == []
    assert first.information_state_string(0) == "left:"
    # The texts are the labels of information sets in the exported tree.
    assert f'"{text.removeprefix("left: ")}"' in kuhn.efg()
    # What was written down, and what begins later, is known as well.
    assert pickle.loads(pickle.dumps(dealt)).knowledge(0) == known
    later = kuhn.state(dealt.facts())
    later.play("call", "wait", "wait")
    assert later.knowledge(1) == (("wait", ("call", "(other jack)")),)
    names = [*kuhn.percepts(0), *kuhn.actions(0)]
    tensor = dealt.observation_tensor(0)
    assert kuhn.observation_tensor_shape() == [len(tensor)] == [2 * len(names)]
    shown = [text for text, bit in zip(names * 2, tensor, strict=True) if bit]
    assert shown == ["bet", "(own jack)", "check", "wait", "bet", "wait"]


def test_faults_are_explained(kuhn: ggp.Game, dealt: ggp.State) -> None:
    for wrong in (lambda: dealt.percepts(3), lambda: dealt.belief(3), lambda: ggp.Belief(kuhn, 7)):
        with pytest.raises(IndexError, match="the game has 3 roles"):
            wrong()
    with pytest.raises(ValueError, match="is chance: name another role"):
        dealt.belief(2)
    with pytest.raises(ValueError, match="must be at least 1"):
        ggp.Belief(kuhn, 0, members=0)
    with pytest.raises(ggp.MatchError, match="may not play bet"):
        dealt.percepts(0, ["bet", "wait", "wait"])
    belief = ggp.Belief(kuhn, 0)
    with pytest.raises(ValueError, match="its percepts cannot follow"):
        belief.update("wait", ["(own jack)", "(own queen)"])
    with pytest.raises(ValueError, match="jak"):
        belief.update("wait", ["(own jak)"])
    with pytest.raises(ValueError, match="ace"):
        belief.share("(card left ace)")
    assert belief.move_number() == 0
    with pytest.raises(ValueError, match="name one"):
        kuhn.new_initial_state().information_state_string()
    open_game = load("tic_tac_toe")
    state = open_game.new_initial_state()
    for refused in (
        lambda: state.percepts(0),
        lambda: state.knowledge(0),
        lambda: state.view(0),
        lambda: state.belief(0),
        lambda: ggp.Belief(open_game, 0),
        lambda: open_game.percepts(0),
    ):
        with pytest.raises(ggp.Error, match="the rules have no `sees`"):
            refused()
    joint = [state.legal_moves(role)[0] for role in range(2)]
    state.play(*joint)
    assert state.information_state_string(0) == f"cross: {' '.join(joint)}"


def test_a_belief_follows_turns(kuhn: ggp.Game, dealt: ggp.State) -> None:
    belief = ggp.Belief(kuhn, 0)
    assert (len(belief), belief.histories, belief.is_exact) == (1, 1, True)
    for made, percepts in dealt.knowledge(0):
        belief.update(made, percepts)
    assert belief.knowledge() == dealt.knowledge(0)
    assert belief.information_state_string() == dealt.information_state_string(0)
    assert (len(belief), belief.histories) == (2, 2)
    assert belief.knows("(card left jack)") is True
    assert belief.knows("(card right king)") is False
    assert belief.share("(card right king)") == pytest.approx(0.5)
    assert belief.share("(card left king)") == 0
    assert belief.legal_moves() == ["call", "fold"]
    before = belief.clone()
    belief.update("call", ["(other king)"])
    assert (belief.knows("(card right king)"), len(belief), len(before)) == (True, 1, 2)
    assert belief.legal_moves() == []
    with pytest.raises(ValueError, match="the match is over in all"):
        belief.drop_ended()
    ((state, weight),) = belief.members()
    assert weight == 1
    assert state.history()[0] == ["wait", "wait", "(deal jack king)"]
    assert state.knowledge(0) == belief.knowledge()
    assert belief.sample().facts() == state.facts()
    # A later start is known to all roles.
    known = ggp.Belief(kuhn, 0, start=dealt)
    assert known.knows("(card right king)")


@pytest.mark.parametrize("name", ["kuhn_poker", "monty_hall"])
def test_beliefs_agree_with_enumeration(name: str) -> None:
    game = load(name)
    alike = defaultdict(list)
    for state, chance in states(game):
        for role, role_name in enumerate(game.roles):
            if role_name != "random":
                alike[role, state.knowledge(role)].append((state, chance))
    assert len(alike) > 20
    for (role, known), fitting in alike.items():
        belief = ggp.Belief(game, role)
        for made, percepts in known:
            belief.update(made, list(reversed(percepts)))
        assert belief.is_exact
        assert belief.histories == len(fitting)
        total = sum(chance for _, chance in fitting)
        shares: dict[tuple[str, ...], float] = defaultdict(float)
        for state, chance in fitting:
            shares[tuple(state.facts())] += chance / total
        found = {tuple(state.facts()): weight for state, weight in belief.members()}
        assert found == pytest.approx(shares)
        legal = {tuple(state.legal_moves(role)) for state, _ in fitting if not state.is_terminal()}
        assert [tuple(belief.legal_moves())] == list(legal or {()})
        state = fitting[0][0]
        assert state.view(role).knowledge() == known
        by_state = state.belief(role)
        assert by_state.information_state_string() == state.information_state_string(
            state.view(role).player
        )


@pytest.mark.parametrize("name", ["kuhn_poker", "monty_hall"])
def test_what_is_known_does_not_depend_on_the_sample(name: str) -> None:
    game = load(name)
    alike = defaultdict(list)
    for state, _ in states(game):
        for role, role_name in enumerate(game.roles):
            if role_name != "random":
                alike[role, state.knowledge(role)].append(state)
    answers = []
    for (role, known), fitting in alike.items():
        belief = ggp.Belief(game, role, members=1, seed=0)
        for made, percepts in known:
            belief.update(made, percepts)
        is_over = belief.sample().is_terminal()
        facts = [set(state.facts()) for state in fitting if state.is_terminal() == is_over]
        for fact in set.union(*facts):
            answer = belief.knows(fact)
            assert answer in (set(fact in others for others in facts) == {True}, None)
            answers.append((answer, belief.is_exact))
    assert (True, False) in answers and (False, False) in answers
    assert sum(answer is None for answer, _ in answers) * 10 < len(answers)


def test_samples(kuhn: ggp.Game) -> None:
    game = load("battleship")
    state = game.new_initial_state()
    draw = random.Random(1)
    for _ in range(3):
        state.play(*(draw.choice(state.legal_moves(role)) for role in range(len(game.roles))))
    belief = state.belief(0, members=50, joint_moves=500, seed=1)
    assert len(belief) <= 50
    assert not belief.is_exact
    facts = [member.facts() for member, _ in belief.members()]
    again = state.belief(0, members=50, joint_moves=500, seed=1)
    assert facts == [member.facts() for member, _ in again.members()]
    assert belief.sample().knowledge(0) == state.knowledge(0)
    everywhere = set.intersection(*map(set, facts))
    assert belief.knows(min(everywhere)) is True
    assert belief.knows(max(set.union(*map(set, facts)) - everywhere)) is False
    draws = [kuhn.new_initial_state().belief(0, seed=seed) for seed in range(30)]
    for one in draws:
        one.update("wait", ["(own queen)"])
    assert {"(card right jack)", "(card right king)"} <= {
        fact for one in draws for fact in one.sample().facts()
    }


def test_ctrl_c_ends_a_belief() -> None:
    game = load("battleship")
    state = game.new_initial_state()
    draw = random.Random(1)
    for _ in range(6):
        state.play(*(draw.choice(state.legal_moves(role)) for role in range(len(game.roles))))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            state.belief(0, members=100_000_000, joint_moves=10_000_000_000)
    assert time.monotonic() - began < 5
    assert len(state.belief(0, members=10)) <= 10


def digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def lowered(texts: list[str]) -> list[str]:
    """As in the reference answers, which fold letter case."""
    return sorted(text.lower() for text in texts)


@needs_corpus
@pytest.mark.parametrize("path", sorted((GDL2 / "games").glob("*.kif")), ids=lambda path: path.stem)
def test_reference_percepts_and_beliefs(path: Path) -> None:
    game = ggp.load(path)

    def records(name: str) -> list[dict]:
        lines = map(json.loads, (GDL2 / name).read_text().splitlines())
        return [line for line in lines if line["key"] == path.stem]

    for played in records("traces.jsonl")[:5]:
        state = game.new_initial_state()
        for step in played["steps"]:
            expected = step["sees"]
            roles = range(len(game.roles))
            assert [lowered(state.percepts(role, step["move"])) for role in roles] == expected
            state.play(*step["move"])
            assert [lowered(state.percepts(role)) for role in roles] == expected
    # The large ones take long in Python.
    traces = {played["playout"]: played for played in records("traces.jsonl")}
    for record in records("beliefs.jsonl")[:4]:
        role = game.roles.index(record["role"])
        belief = ggp.Belief(game, role, members=1_000_000, joint_moves=10_000_000)
        after = record["after"]
        for step, known in zip(traces[record["playout"]]["steps"], after[1:], strict=False):
            if known["states"] > 300:
                break
            belief.update(step["move"][role], step["sees"][role])
            found = [digest(lowered(state.facts())) for state, _ in belief.members()]
            assert (len(found), belief.histories, digest(found)) == (
                known["states"],
                known["histories"],
                known["sha"],
            )


def test_a_view_holds_what_its_role_knows_and_nothing_else(kuhn: ggp.Game) -> None:
    # The king of the other one is not to be seen in whatever a view shows.
    seen = []
    for card in ("queen", "king"):
        state = kuhn.new_initial_state()
        state.play("wait", "wait", f"(deal jack {card})")
        view = state.view(0)
        shown = {}
        for name in dir(view):
            if not name.startswith("__") and name not in ("action_to_string", "belief", "game"):
                value = getattr(view, name)
                shown[name] = value() if callable(value) else value
        belief = view.belief()
        members = sorted((member.facts(), weight) for member, weight in belief.members())
        seen.append((shown, repr(view), members))
        assert not hasattr(view, "__dict__")
    assert seen[0] == seen[1]
    names = {"role", "player", "move_number", "legal_moves", "legal_actions"}
    names |= {"percepts", "knowledge", "information_state_string"}
    assert set(seen[0][0]) == names
    with pytest.raises(TypeError, match="a view cannot be pickled"):
        pickle.dumps(view)
    with pytest.raises(TypeError, match="a belief cannot be pickled"):
        pickle.dumps(view.belief())
    with pytest.raises(AttributeError):
        view.note = "by the other role"  # type: ignore[attr-defined]


@pytest.mark.parametrize("role", [-1, 2**70])
def test_numbers_that_are_no_roles_are_index_errors(kuhn: ggp.Game, role: int) -> None:
    state = kuhn.new_initial_state()
    player, batch = ggp.Player("random"), ggp.Batch(kuhn, 1)
    asks: list[Callable[[int], object]] = [
        state.legal_moves,
        state.percepts,
        state.knowledge,
        state.view,
        state.belief,
        kuhn.actions,
        kuhn.percepts,
        batch.num_actions,
        batch.num_percepts,
        lambda role: ggp.Belief(kuhn, role),
        lambda role: player.choose(state, role),
    ]
    for ask in asks:
        with pytest.raises(IndexError, match=f"there is no role {role}: roles are numbered from 0"):
            ask(role)


def test_functions_play_by_views(kuhn: ggp.Game) -> None:
    views = []

    def player(view: ggp.View, number: int) -> str:
        assert isinstance(view, ggp.View)
        assert (view.player, view.role) == (number, number)
        assert [view.action_to_string(action) for action in view.legal_actions()] == sorted(
            view.legal_moves(), key=kuhn.actions(view.role).index
        )
        belief = view.belief()
        assert belief.legal_moves() == view.legal_moves()
        views.append(view)
        return view.legal_moves()[0]

    played = ggp.play(kuhn, [player, player], seed=5)
    assert played["scores"] is not None
    assert len(views) >= 2
    state = kuhn.new_initial_state()
    for joint in played["moves"]:
        for view in views:
            if view.move_number() == state.move_number():
                assert view.knowledge() == state.knowledge(view.role)
                assert view.percepts() == tuple(state.percepts(view.role))
        state.play(*joint)
    cup = ggp.tournament(kuhn, {"own": player, "engine": "ismcts:50"}, rounds=2, seed=1)
    assert len(cup["matches"]) == 4
    assert not any(match["lapses"] for match in cup["matches"])


@pytest.mark.parametrize("spec", ["ismcts:200", "auto:50", "mcts:50", "random"])
def test_agents_choose_by_knowledge(spec: str, kuhn: ggp.Game) -> None:
    chosen = []
    for card in ("queen", "king"):
        state = kuhn.new_initial_state()
        state.play("wait", "wait", f"(deal jack {card})")
        by_state = ggp.Player(spec, seed=3).choose(state)
        by_view = ggp.Player(spec, seed=3).choose(state.view(0))
        assert by_state == by_view
        chosen.append(by_state)
    assert chosen[0] == chosen[1]
    # A player goes on with the match that it is in.
    player = ggp.Player(spec, seed=3)
    assert player.choose(state)["move"] in state.legal_moves(0)
    state.play("check", "wait", "wait")
    state.play("wait", "bet", "wait")
    assert player.choose(state.view(0))["move"] in state.legal_moves(0)
    with pytest.raises(IndexError, match="the view is that of role 0"):
        player.choose(state.view(0), 1)


@pytest.mark.parametrize("name", ["kuhn_poker", "battleship", "krieg_tic_tac_toe"])
def test_batches_have_the_percepts_of_matches(name: str) -> None:
    game = load(name)
    batch = ggp.Batch(game, 5, seed=3, auto_reset=False)
    roles = range(len(game.roles))
    percepts = {role: game.percepts(role) for role in roles}
    bits = {role: np.ones((5, batch.num_percepts(role)), np.float32) for role in roles}
    actions, rewards, ends = arrays(batch)
    states = [game.new_initial_state() for _ in range(5)]
    for _ in range(8):
        for role in roles:
            batch.observe(role, bits[role])
            for lane, state in enumerate(states):
                row = zip(percepts[role], bits[role][lane], strict=True)
                assert [text for text, bit in row if bit] == state.percepts(role)
        for lane, state in enumerate(states):
            assert batch.state(lane).facts() == state.facts()
        batch.sample(actions)
        batch.step(actions, rewards, ends)
        for state, row in zip(states, actions, strict=True):
            if not state.is_terminal():
                state.play(*(game.actions(role)[row[role]] for role in roles))
    with pytest.raises(ValueError, match="out"):
        batch.observe(0, np.zeros((5, 1), np.float32))


# All bundled rules with percepts; the large ones take long to prepare.
HIDDEN = sorted(
    path.stem for path in GAMES.glob("*.kif") if "(sees " in path.read_text() and not path.stem.startswith("lattaque")
)


def history_asks(game: ggp.Game) -> list[Callable[[ggp.State], object]]:
    """All that depends on the moves that led to a state."""
    asks: list[Callable[[ggp.State], object]] = []
    players = [role for role, name in enumerate(game.roles) if name != "random"]
    for player, role in enumerate(players):
        asks += [methodcaller(name, role) for name in ("percepts", "knowledge", "view")]
        texts = ("information_state_string", "observation_string", "observation_tensor")
        asks += [methodcaller(name, player) for name in texts]
    return asks


@pytest.mark.parametrize("auto_reset", [True, False])
@pytest.mark.parametrize("name", HIDDEN)
def test_states_of_a_batch_have_what_roles_know(name: str, auto_reset: bool) -> None:
    game = load(name)
    lanes, asks = 4, history_asks(game)
    own = next(role for role, text in enumerate(game.roles) if text != "random")
    batch = ggp.Batch(game, lanes, seed=2, auto_reset=auto_reset, max_length=6)
    actions, rewards, ends = arrays(batch)
    states = [game.new_initial_state() for _ in range(lanes)]

    def compare() -> None:
        for lane, state in enumerate(states):
            found = batch.state(lane)
            assert found == state and found.history() == state.history()
            for ask in asks:
                assert ask(found) == ask(state)

    for step in range(12):
        compare()
        if step == 8:
            batch.reset(np.array([1, 0, 0, 1], np.uint8))
            states[0], states[3] = game.new_initial_state(), game.new_initial_state()
        batch.sample(actions)
        batch.step(actions, rewards, ends)
        for lane, row in enumerate(actions):
            if auto_reset and ends[lane]:
                states[lane] = game.new_initial_state()
            elif row[0] >= 0:
                states[lane].play(*(game.actions(role)[action] for role, action in enumerate(row)))
    compare()
    # Which states these are is not known to the batch, and so neither is what roles know.
    batch.set_states(np.frombuffer(batch.states(), np.uint8))
    for lane in range(lanes):
        lost = batch.state(lane)
        assert lost.facts() == states[lane].facts() and lost.history() == []
        for known in (lost, lost.clone(), pickle.loads(pickle.dumps(lost))):
            choose: Callable[[ggp.State], object] = partial(ggp.Player("random").choose, role=own)
            more: list[Callable[[ggp.State], object]] = [methodcaller("belief", own), choose]
            for ask in [*asks, *more]:
                if not known.is_terminal():
                    with pytest.raises(ggp.Error, match="the moves that led to this state of a batch are not known"):
                        ask(known)
    batch.reset()
    assert [batch.state(lane) for lane in range(lanes)] == [game.new_initial_state()] * lanes


def test_players_of_a_lane_know_no_more_than_their_role(kuhn: ggp.Game) -> None:
    # Whatever the other one holds, the advice for a state of a batch is that for its match.
    batch = ggp.Batch(kuhn, 64, seed=1)
    actions, rewards, ends = arrays(batch)
    batch.sample(actions)
    batch.step(actions, rewards, ends)
    advice: dict[str, set[str]] = defaultdict(set)
    for lane in range(batch.lanes):
        state = batch.state(lane)
        assert state.belief(0).knows(state.facts()[1]) is not True or "left" in state.facts()[1]
        chosen = ggp.Player("ismcts:50", seed=3).choose(state)
        advice[state.information_state_string(0)].add(json.dumps(chosen, sort_keys=True))
    assert len(advice) == 3
    assert all(len(found) == 1 for found in advice.values())


def test_moves_of_a_batch_are_kept_within_its_memory(kuhn: ggp.Game) -> None:
    endless = ggp.load(
        "(role one) (role random) (side heads) (side tails) (init (turn 1)) (<= (next (turn 1)) (true (turn 1)))"
        "(<= (legal one (call ?s)) (side ?s)) (<= (legal random (throw ?s)) (side ?s))"
        "(<= (sees one (thrown ?s)) (does random (throw ?s))) (<= terminal (true (turn 2))) (goal one 0)"
    )
    batch = ggp.Batch(endless, 1024, seed=1, memory=1)
    actions, rewards, ends = arrays(batch)
    for _ in range(200):
        batch.sample(actions)
        batch.step(actions, rewards, ends)
    lengths = [batch.state(lane).move_number() for lane in range(batch.lanes)]
    assert set(lengths) <= {0, 200} and 0 in lengths
    for lane, length in enumerate(lengths[:50]):
        if length == 0:
            with pytest.raises(ggp.Error, match="more than `memory`"):
                batch.state(lane).view(0)
    # Those that begin again are known.
    batch.reset()
    batch.step(actions, rewards, ends)
    assert [batch.state(lane).move_number() for lane in range(8)] == [1] * 8


@pytest.mark.parametrize("name", HIDDEN)
def test_observations_hold_all_that_a_player_ever_saw_and_did(name: str) -> None:
    game = load(name)
    (size,), draw = game.observation_tensor_shape(), random.Random(2)
    players = [role for role, text in enumerate(game.roles) if text != "random"]
    most = max(len(game.percepts(role)) for role in players)
    assert size == 2 * (most + max(len(game.actions(role)) for role in players))
    for _ in range(3):
        state = game.new_initial_state()
        while True:
            for player, role in enumerate(players):
                tensor, known = state.observation_tensor(player), state.knowledge(role)
                assert len(tensor) == size
                for half, turns in ((tensor[: size // 2], known), (tensor[size // 2 :], known[-1:])):
                    percepts = {game.percepts(role)[bit] for bit in range(most) if half[bit]}
                    actions = {game.actions(role)[bit] for bit in range(size // 2 - most) if half[most + bit]}
                    assert percepts == {percept for _, told in turns for percept in told}
                    assert actions == {made for made, _ in turns}
            if state.is_terminal() or state.move_number() > 12:
                break
            state.play(*(draw.choice(state.legal_moves(role)) for role in range(len(game.roles))))


@pytest.mark.parametrize("name", ["kuhn_poker", "tic_tac_toe", "hanoi"])
def test_matches_that_begin_in_other_states_do_not_look_alike(name: str) -> None:
    game = load(name)
    state = game.new_initial_state()
    texts, facts = {state.information_state_string(0)}, {"the initial state"}
    for _ in range(3):
        state.play(*(state.legal_moves(role)[0] for role in range(len(game.roles))))
        later = game.state(state.facts())
        texts.add(later.information_state_string(0))
        facts.add(str(state.facts()))
        assert later.information_state_string(0).startswith(f"{game.roles[0]} from {state.facts()[0]}")
        if game.has_hidden_information:
            assert later.view(0).information_state_string() == later.information_state_string(0)
            assert later.belief(0).information_state_string() == later.information_state_string(0)
    assert len(texts) == len(facts) > 2


def test_a_tree_begins_where_all_know_the_state(kuhn: ggp.Game, dealt: ggp.State) -> None:
    with pytest.raises(ggp.Error, match="begins where all roles know the state"):
        kuhn.efg(state=dealt)
    assert kuhn.efg(state=kuhn.new_initial_state()) == kuhn.efg()
    # Here left knows both cards.
    assert kuhn.efg(state=kuhn.state(dealt.facts())).count("p ") == 1


def test_a_value_needs_that_nothing_is_hidden() -> None:
    for name in ("monty_hall", "kuhn_poker"):
        with pytest.raises(ggp.Error, match="does not know it"):
            ggp.load(name).prove()
    shown = ggp.load(
        "(role one) (role random) (side heads) (side tails) (init (turn 1))"
        "(<= (legal one (call ?s)) (side ?s)) (<= (legal random (throw ?s)) (side ?s))"
        "(<= (next (called ?s)) (does one (call ?s))) (<= (sees one (thrown ?s)) (does random (throw ?s)))"
        "(<= (next (thrown ?s)) (does random (throw ?s)))"
        "(<= terminal (true (called ?s))) (<= (goal one 100) (true (called ?s)) (true (thrown ?s)))"
        "(<= (goal one 0) (true (called ?s)) (not (true (thrown ?s)))) (goal random 0)"
    )
    assert len(shown.prove()["moves"]) == 2
