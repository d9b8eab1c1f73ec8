"""The package as its users see it."""

from __future__ import annotations

import copy
import doctest
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from common import COINS, CORPUS, GAMES, ROOT, arrays, load, needs_corpus

import ggp


def test_rules_come_from_texts_and_paths() -> None:
    path = GAMES / "tic_tac_toe.kif"
    for source in (path, str(path), path.read_text()):
        game = ggp.load(source)
        assert len(game.roles) == 2
        assert game.num_players() == 2
        assert game.has_network
    assert ggp.load(path).name == "tic_tac_toe"


def test_errors_of_rules_have_places() -> None:
    text = "(role a)\n(<= (legal a go) (true (at ?x)) (not (far ?y)))"
    with pytest.raises(ggp.RulesError, match="error") as raised:
        ggp.load(text)
    errors = [found for found in raised.value.findings if found["severity"] == "error"]
    assert errors
    places = [found["place"] for found in errors if found["place"] is not None]
    assert any(place["line"] == 2 for place in places)
    assert ggp.check(text) == raised.value.findings
    assert not [found for found in ggp.check(GAMES / "nim.kif") if found["severity"] == "error"]
    with pytest.raises(OSError, match="nowhere"):
        ggp.load("nowhere.kif")
    with pytest.raises(TypeError):
        ggp.load(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ggp.load()


def test_a_match_in_actions_and_in_texts_is_the_same(connect_four: ggp.Game) -> None:
    by_action = connect_four.new_initial_state()
    by_text = connect_four.new_initial_state()
    random = np.random.default_rng(1)
    while not by_action.is_terminal():
        player = by_action.current_player()
        assert player in (0, 1)
        assert by_action.legal_actions(1 - player) == []
        legal = by_action.legal_actions()
        assert legal == sorted(legal)
        mask = by_action.legal_actions_mask()
        assert [action for action, is_legal in enumerate(mask) if is_legal] == legal
        action = int(random.choice(legal))
        text = by_action.action_to_string(player, action)
        assert by_action.action_to_string(action) == text
        assert by_action.string_to_action(player, text) == action
        moves = [by_text.legal_moves(role)[0] for role in range(2)]
        moves[player] = text
        by_action.apply_action(action)
        by_text.play(*moves)
        assert by_action.facts() == by_text.facts()
    assert by_action.current_player() == ggp.OVER
    assert sum(by_action.returns()) == 100
    assert by_action.goals() == by_action.returns()
    assert by_action.history() == by_text.history()
    with pytest.raises(ggp.MatchError) as raised:
        by_action.apply_action(0)
    assert raised.value.details["error"] == "game_over"


def test_illegal_actions_are_refused(connect_four: ggp.Game) -> None:
    state = connect_four.new_initial_state()
    wait = connect_four.actions(0).index("wait")
    with pytest.raises(ggp.MatchError) as raised:
        state.apply_action(wait)
    assert raised.value.details["error"] == "illegal_move"
    for action in (-1, 8, 2**40):
        with pytest.raises(ValueError, match="no action"):
            state.apply_action(action)
    with pytest.raises(ValueError, match="actions are needed"):
        state.apply_actions([0])
    with pytest.raises(ggp.MatchError):
        state.play("(drop 1)")
    with pytest.raises(ValueError, match="."):
        state.play("(drop", "wait")
    with pytest.raises(IndexError):
        state.legal_moves(2)
    assert state.move_number() == 0


def test_states_are_copied_and_written_down(connect_four: ggp.Game) -> None:
    state = connect_four.new_initial_state()
    state.apply_action(3)
    for same in (
        state.clone(),
        copy.copy(state),
        copy.deepcopy(state),
        connect_four.deserialize_state(state.serialize()),
        pickle.loads(pickle.dumps(state)),
        connect_four.state(state.facts()),
    ):
        assert same.facts() == state.facts()
        same.apply_action(same.legal_actions()[0])
        assert same.facts() != state.facts()
    assert state.child(2).history()[-1] == ["wait", "(drop 3)"]
    game = pickle.loads(pickle.dumps(connect_four))
    assert game.name == connect_four.name
    for text in ("", "{}", '{"moves": [["wait"]]}', '{"moves": [["a", "b"]]}'):
        with pytest.raises((ValueError, ggp.Error)):
            connect_four.deserialize_state(text)


def test_players_who_choose_at_once_do_so_in_one_node() -> None:
    game = load("prisoners_dilemma")
    state = game.new_initial_state()
    assert state.current_player() == ggp.SIMULTANEOUS
    assert state.is_simultaneous_node()
    assert state.legal_actions(0)
    assert state.legal_actions(1)
    with pytest.raises(ValueError, match="apply_actions"):
        state.apply_action(0)
    state.apply_actions([0, 1])
    assert state.history() == [[game.actions(0)[0], game.actions(1)[1]]]


def test_chance_chooses_after_the_players_do() -> None:
    game = ggp.load(COINS)
    assert game.num_players() == 1
    state = game.new_initial_state()
    assert state.current_player() == 0
    state.apply_action(state.string_to_action(0, "heads"))
    assert state.is_chance_node()
    assert not state.history()
    outcomes = state.chance_outcomes()
    assert [probability for _, probability in outcomes] == [0.5, 0.5]
    again = pickle.loads(pickle.dumps(state))
    assert again.is_chance_node()
    scores = [state.child(action).returns()[0] for action, _ in outcomes]
    assert sorted(scores) == [0, 100]


def test_observations_are_the_facts(connect_four: ggp.Game) -> None:
    state = connect_four.new_initial_state()
    for action in (0, 1, 0, 6):
        state.apply_action(action)
        tensor = state.observation_tensor(0)
        assert len(tensor) == connect_four.observation_tensor_shape()[0]
        held = [fact for fact, holds in zip(connect_four.facts, tensor, strict=True) if holds]
        assert sorted(held) == state.facts()
        assert state.observation_string(1).startswith(state.facts()[0])


def test_rules_with_hidden_information_show_no_facts() -> None:
    game = ggp.load(COINS + "(<= (sees guesser ?side) (does random ?side))")
    assert game.has_hidden_information
    assert game.new_initial_state().observation_tensor(0) == [0.0] * 8
    # All choose at once, so the guesser does not know the coin in the tree either.
    assert '"guesser" }' in game.efg()
    assert game.efg().count('p "" 1 1 ""') == 1


def test_explanations_and_drawings() -> None:
    state = load("tic_tac_toe").new_initial_state()
    why = state.why("terminal")
    assert "does not hold" in str(why)
    assert why.trees
    assert why._repr_html_().startswith("<pre>")
    moves = [state.legal_moves(role)[0] for role in range(2)]
    after = state.clone()
    after.play(*moves)
    fact = next(fact for fact in after.facts() if fact not in state.facts())
    assert str(state.why(f"(next {fact})", moves=moves)).startswith(f"(next {fact})  holds")
    assert "not in the state" in str(state.why(f"(true {fact})"))
    assert state._repr_svg_().startswith("<svg")
    assert str(state)
    with pytest.raises(ValueError, match="."):
        state.why("(no such thing)")


def test_puzzles_are_solved_and_answers_checked() -> None:
    game = load("buttons_and_lights")
    solution = game.solve()
    assert solution.verdict == "solved"
    assert solution.plan is not None
    assert len(solution.plan) == 6
    state = game.new_initial_state()
    for move in solution.plan:
        state.play(move)
    assert state.returns() == [100]
    record = solution.record
    assert record is not None
    assert game.verify(record)["verdict"] == "right"
    assert game.verify(json.dumps(record))["verdict"] == "right"
    twice = solution.record or {}
    twice["start"].append(twice["start"][0])
    with pytest.raises(ValueError, match="twice"):
        game.verify(twice)
    record["answer"]["plans"][0] = record["answer"]["plans"][0][:-1]
    assert game.verify(record)["verdict"] == "wrong"
    with pytest.raises(ValueError, match="other rules"):
        load("senku").verify(solution.record or {})
    assert len(game.solve(all=True, method="breadth-first").plans) > 1
    with pytest.raises(ValueError, match="no method"):
        game.solve(method="magic")
    for bad in (-1.0, float("nan"), 1e10):
        with pytest.raises(ValueError, match="time"):
            game.solve(time=bad)
    with pytest.raises(ggp.Error):
        load("nim").solve()


def test_values_are_proved() -> None:
    game = load("tic_tac_toe")
    proof = game.prove()
    assert (proof["proved"], proof["value"]) == (True, 50)
    assert len(proof["moves"]) == 9
    state = game.new_initial_state()
    # After a corner, only the centre does not lose.
    (corner,) = (move for move in state.legal_moves(0) if "1 1" in move)
    state.play(corner, state.legal_moves(1)[0])
    values = {found["move"]: found["value"] for found in game.prove(1, state=state)["moves"]}
    (centre,) = (move for move, value in values.items() if value == 50)
    assert "2 2" in centre
    # Time that runs out is a result, not an error.
    open_proof = load("hex").prove(time=0.2)
    assert (open_proof["proved"], open_proof["value"]) == (False, None)
    for little in (0, 1e-6, 1e-3):
        unproved = load("hex").prove(time=little)
        assert (unproved["proved"], unproved["bounds"]) == (False, (0, 100))
        assert len(unproved["moves"]) == 25
    # All is proved, though roles that choose at once can be sure of nothing.
    at_once = load("rock_paper_scissors").prove()
    assert (at_once["proved"], at_once["value"], at_once["bounds"]) == (True, None, (0, 100))
    with pytest.raises(ValueError, match="no role"):
        game.prove(2)
    with pytest.raises(ValueError, match="another game"):
        game.prove(state=load("nim").new_initial_state())


def test_properties_are_proved() -> None:
    claims = {claim["subject"]: claim for claim in load("tic_tac_toe").audit()["claims"]}
    for subject in ("turns", "sum", "ends"):
        assert claims[subject]["verdict"] == "holds"
        assert claims[subject]["basis"] in ("positions", "induction", "rules")
    claims = {claim["subject"]: claim for claim in load("prisoners_dilemma").audit()["claims"]}
    assert claims["turns"]["verdict"] == "fails"


def test_perft_counts() -> None:
    levels = load("tic_tac_toe").perft(2)
    assert [level["paths"] for level in levels] == [1, 9, 72]


def test_players_choose_and_play() -> None:
    game = load("nim")
    state = game.new_initial_state()
    player = ggp.Player("mcts:500", seed=1)
    chosen = []
    while not state.is_terminal():
        advice = player.choose(state)
        role = state.current_player()
        moves = [state.legal_moves(other)[0] for other in range(2)]
        moves[role] = advice["move"]
        assert advice["move"] in state.legal_moves(role)
        assert advice["candidates"][0]["move"] == advice["move"]
        state.play(*moves)
        chosen.append(moves)
    again = ggp.play(game, ["mcts:500", "random"], seed=2)
    assert again == ggp.play(game, ["mcts:500", "random"], seed=2)
    assert again["scores"] == [100, 0]
    assert again["fault"] is None
    assert ggp.play(game, ["random", "random"], max_moves=1)["scores"] is None
    with pytest.raises(ValueError, match="unknown player"):
        ggp.Player("wizard")
    with pytest.raises(ValueError, match="one player for each role: 2, not 1"):
        ggp.play(game, ["random"])
    # Chance needs no player.
    assert ggp.play(ggp.load(COINS), ["random"])["scores"] in ([0, 100], [0, 0])


def test_a_table_makes_a_player_perfect(tmp_path: Path) -> None:
    table, rules = tmp_path / "nim.table", GAMES / "nim.kif"
    subprocess.run([sys.executable, "-m", "ggp", "tabulate", rules, "-o", table], check=True)
    nim = ggp.load(rules)
    advice = ggp.Player("auto", table=table).choose(nim.new_initial_state())
    best = advice["candidates"][0]
    assert (best["move"], best["bounds"]) == (advice["move"], (100.0, 100.0))
    assert best["distance"] == len(advice["line"])
    assert nim.prove()["value"] == advice["value"]
    with pytest.raises(ValueError, match=r"not a file of `ggp tabulate`"):
        ggp.Player("auto", table=rules)
    with pytest.raises(FileNotFoundError):
        ggp.Player("auto", table=tmp_path / "missing")
    with pytest.raises(ValueError, match=r"nim\.table was made from other rules"):
        ggp.Player("auto", table=table).choose(load("tic_tac_toe").new_initial_state())
    with pytest.raises(ValueError, match="a table is for the player auto"):
        ggp.Player("mcts:10", table=table)


def test_functions_play() -> None:
    game = load("tic_tac_toe")

    def first(state: ggp.State, player: int) -> int:
        return state.legal_actions(player)[0]

    def last(state: ggp.State, player: int) -> str:
        return state.legal_moves(player)[-1]

    played = ggp.play(game, [first, last])
    assert played["lapses"] == []
    assert played["moves"][0] == ["(mark 1 1)", "wait"]
    assert played["moves"][1] == ["wait", "(mark 3 3)"]
    # Chance is not a player.
    guessed = ggp.play(ggp.load(COINS), [lambda state, player: ("heads", "tails")[player]])
    assert (guessed["lapses"], guessed["moves"][0][1]) == ([], "heads")
    cup = ggp.tournament(game, {"first": first, "random": "random"}, rounds=5, opening=1, jobs=2)
    assert len(cup["matches"]) == 10
    # Mistakes of a function end the match, and the tournament.
    for wrong in (0, -1, 99, "garbage"):
        with pytest.raises(ValueError, match=f"returned {wrong}, which is not legal"):
            ggp.play(game, [first, lambda state, player: wrong])
    with pytest.raises(ZeroDivisionError):
        ggp.play(game, [first, lambda state, player: 1 // 0])
    for _ in range(10):
        with pytest.raises(ZeroDivisionError):
            ggp.tournament(game, {"wrong": lambda state, player: 1 // 0, "random": "random"}, rounds=3, jobs=8)

    # Also where other functions are interrupted by it.
    def deep(state: ggp.State, player: int) -> str:
        return ggp.Player("mcts:30s").choose(load("othello").new_initial_state())["move"]

    def wrong_later(state: ggp.State, player: int) -> int:
        time.sleep(0.3)
        return 1 // 0

    with pytest.raises(ZeroDivisionError):
        ggp.tournament(game, {"deep": deep, "wrong": wrong_later}, rounds=3, jobs=6)
    with pytest.raises(TypeError):
        ggp.play(game, [first, lambda state, player: None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a player is a text or a function"):
        ggp.play(game, ["random", 3])  # type: ignore[list-item]

    def slow(state: ggp.State, player: int) -> int:
        time.sleep(0.05)
        return first(state, player)

    assert "TO" in ggp.play(game, [slow, "random"], play_clock=0.01)["lapses"][0]


def test_a_tournament_rates_players() -> None:
    games = [load("nim"), load("tic_tac_toe")]
    players = {"deep": "mcts:300", "shallow": "mcts:30", "blind": "random"}
    cup = ggp.tournament(games, players, rounds=2, opening=1, seed=5, jobs=2)
    # Three pairs, two seats, two games, two rounds.
    assert len(cup["matches"]) == 24
    assert cup == ggp.tournament(games, players, rounds=2, opening=1, seed=5)
    best, *_, worst = cup["players"]
    assert worst["name"] == "blind"
    assert best["elo"] is not None and best["margin"] is not None and worst["elo"] is not None
    assert best["elo"] > worst["elo"] and best["margin"] > 0
    for player in cup["players"]:
        assert player["roles"] == 16 == player["won"] + player["drawn"] + player["lost"]
        assert player["lapses"] == 0
    openings = {(found["game"], found["round"], *found["moves"][0]) for found in cup["matches"]}
    assert len(openings) == 4
    for found in cup["matches"]:
        assert found["scores"] is not None and sum(found["scores"]) == 100
    # A game for one role is an opponent of its players.
    alone = ggp.tournament(load("hanoi"), ["random", "mcts:200"], max_moves=30)
    assert [len(found["players"]) for found in alone["matches"]] == [1, 1]
    with pytest.raises(ValueError, match="more players are needed"):
        ggp.tournament(games, ["random"])
    for odd in (3, ["random", 3], {"a": 3, "b": "random"}):
        with pytest.raises(TypeError, match="players?"):
            ggp.tournament(games, odd)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`games` is a game"):
        ggp.tournament("nim", ["random"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two players are called random"):
        ggp.tournament(games, ["random", "random"])
    with pytest.raises(ValueError, match="unknown player"):
        ggp.tournament(games, ["random", "wizard"])
    with pytest.raises(ggp.LimitError, match="more than"):
        ggp.tournament(games, ["random", "mcts:1"], rounds=1_000_000)
    for opening in (-1, "2-4", (4, 2), (1, 2, 3)):
        with pytest.raises(ValueError, match="opening is a number"):
            ggp.tournament(games, ["random", "mcts:1"], opening=opening)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pairing is"):
        ggp.tournament(games, ["random", "mcts:1"], pairing="knockout")
    with pytest.raises(ValueError, match="a tournament needs a game"):
        ggp.tournament([], ["random", "mcts:1"])
    odd_numbers: dict[str, tuple[Any, ...]] = {
        "rounds": (-1, 0, "3"),
        "seed": (-1, 0.5),
        "threads": (0, None),
        "jobs": (0,),
        "memory": (-1,),
        "max_moves": (-1, 1 << 70),
    }
    for name, values in odd_numbers.items():
        for value in values:
            kind = ValueError if isinstance(value, int) else TypeError
            with pytest.raises(kind, match=f"^{name} is a whole number.*, not "):
                ggp.tournament(games, ["random", "mcts:1"], **{name: value})


def test_a_tournament_goes_on_from_its_results(tmp_path: Path) -> None:
    file = tmp_path / "cup.jsonl"
    games, players = [load("nim"), load("tic_tac_toe")], ["random", "mcts:30", "mcts:3"]
    whole = ggp.tournament(games, players, rounds=2, opening=(0, 2), pairing="swiss", results=file)
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == len(whole["matches"])
    # An incomplete line is played again.
    file.write_text("".join(lines[:3]) + lines[3][:50])
    assert ggp.tournament(games, players, rounds=2, opening=(0, 2), pairing="swiss", results=file) == whole
    again = file.read_text().splitlines(keepends=True)
    assert again[:3] == lines[:3] and len(again) == len(lines)
    with pytest.raises(ValueError, match="another tournament"):
        ggp.tournament(games, players, rounds=2, seed=1, results=file)


def test_bundled_games_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "tic_tac_toe" in ggp.games()
    assert ggp.load("tic_tac_toe").roles == ["cross", "nought"]
    assert ggp.load("lights_out_4x4_unsolvable").solve().verdict == "unsolvable"
    with pytest.raises(FileNotFoundError, match="ggp.games"):
        ggp.load("no_such_game")
    with pytest.raises(ValueError, match="the text is empty"):
        ggp.load(" ")
    # A path may have a bracket in it.
    (tmp_path / "nim(1).kif").write_text((GAMES / "nim.kif").read_text())
    assert ggp.load("nim(1).kif").roles == load("nim").roles


def test_a_pickled_game_and_its_states_belong_together() -> None:
    game = load("nim")
    state = game.new_initial_state()
    again, other = pickle.loads(pickle.dumps((game, state)))
    assert again.perft(1, state=other) == game.perft(1, state=other)
    assert ggp.Player("mcts:10").choose(other)["nodes"] == 10


def test_a_state_waits_for_chance() -> None:
    game = ggp.load(COINS)
    state = game.new_initial_state()
    state.apply_action(0)
    assert state.is_chance_node()
    for work in (
        lambda: game.perft(1, state=state),
        lambda: game.prove(0, state=state),
        lambda: ggp.Player("mcts:10").choose(state),
        lambda: state.play("heads", "heads"),
    ):
        with pytest.raises(ValueError, match="chance chooses in this state"):
            work()
    with pytest.raises(IndexError, match="no player 99"):
        state.legal_actions(99)
    with pytest.raises(ValueError, match="several players choose at once: name one"):
        load("prisoners_dilemma").new_initial_state().legal_actions()


# Threads, processes and signals.


def test_threads_share_a_game(connect_four: ggp.Game) -> None:
    results = []

    def work(seed: int) -> None:
        batch = ggp.Batch(connect_four, 64, seed=7)
        actions, rewards, ends = arrays(batch)
        state = connect_four.new_initial_state()
        for _ in range(200):
            batch.sample(actions)
            batch.step(actions, rewards, ends)
            if state.is_terminal():
                state = connect_four.new_initial_state()
            state.apply_action(state.legal_actions()[0])
        results.append(batch.states())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 4


def test_a_batch_in_use_refuses_other_threads(connect_four: ggp.Game) -> None:
    batch = ggp.Batch(connect_four, 512)
    means = np.zeros((512, 2), np.float32)
    thread = threading.Thread(target=batch.rollouts, args=(20_000, means))
    thread.start()
    refused = False
    while thread.is_alive():
        try:
            batch.reset()
        except RuntimeError:
            refused = True
    thread.join()
    assert refused


def _child(game: ggp.Game, answers: multiprocessing.Queue[list[str]]) -> None:
    state = game.new_initial_state()
    batch = ggp.Batch(game, 64)
    actions, rewards, ends = arrays(batch)
    batch.sample(actions)
    batch.step(actions, rewards, ends)
    ggp.Player("mcts:100").choose(state)
    answers.put(state.facts())


def test_a_fork_after_use_works(connect_four: ggp.Game) -> None:
    state = connect_four.new_initial_state()
    ggp.Player("mcts:100").choose(state)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_child, args=(connect_four, answers))
    process.start()
    assert answers.get(timeout=60) == state.facts()
    process.join()
    assert process.exitcode == 0


def test_ctrl_c_ends_long_work() -> None:
    game = load("senku")
    for work in (
        lambda: game.solve(method="breadth-first", memory=100_000),
        lambda: load("hex").prove(time=600),
        lambda: ggp.tournament(load("hex"), ["mcts:60s", "mcts:50s"], jobs=2),
        # A function of one's own that thinks for long.
        lambda: ggp.play(
            load("othello"),
            [lambda state, player: ggp.Player("mcts:60s").choose(state)["move"], "random"],
        ),
        lambda: ggp.Player("mcts:600s").choose(load("othello").new_initial_state()),
        lambda: load("othello").perft(30),
    ):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        began = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        # A second after the signal, and some for a busy machine.
        assert time.monotonic() - began < 5


def test_the_command_is_part_of_the_package(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ggp", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("--version").stdout == f"ggp {ggp.__version__}\n"
    legal = run("legal", str(GAMES / "nim.kif"))
    assert legal.returncode == 0
    assert legal.stdout
    assert run("legal", "nowhere.kif").returncode == 2
    assert run("no-such-command").returncode == 2
    answer = tmp_path / "answer.json"
    puzzle = GAMES / "buttons_and_lights.kif"
    record = ggp.load(puzzle).solve().record
    answer.write_text(json.dumps(record))
    assert run("verify", str(puzzle), str(answer)).returncode == 0


# Files that broke something, and reference answers.


@needs_corpus
def test_hostile_files_raise_exceptions() -> None:
    for path in sorted((CORPUS / "hostile").rglob("*")):
        if path.suffix not in (".kif", ".gdl", ".txt") or path.stat().st_size > 2_000_000:
            continue
        try:
            game = ggp.load(path, ground_time=1.0)
            state = game.new_initial_state()
            for role in range(len(game.roles)):
                state.legal_moves(role)
        except (ggp.Error, OSError, KeyboardInterrupt):
            continue


@needs_corpus
def test_reference_answers() -> None:
    lines = (CORPUS / "conformance" / "perft.jsonl").read_text().splitlines()
    checked = 0
    for line in lines[::12]:
        known = json.loads(line)
        perft = [level for level in known["perft"] if level["paths"] < 5_000]
        if not perft or known["gdl2"]:
            continue
        game = ggp.load(CORPUS / "conformance" / known["file"])
        # The reference orders the roles as the rules do.
        assert game.roles == known["roles"], known["key"]
        state = game.new_initial_state()
        if "init" in known:
            assert [fact.lower() for fact in state.facts()] == known["init"], known["key"]
        for role in range(len(game.roles)):
            assert len(state.legal_moves(role)) == known["init_legal"][role]["count"]
        counted = game.perft(perft[-1]["d"])
        for mine, theirs in zip(counted, known["perft"], strict=False):
            assert mine["paths"] == theirs["paths"], known["key"]
            assert mine["distinct"] == theirs["distinct"], known["key"]
        checked += 1
    assert checked >= 15


def test_the_documentation_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspiel")
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert (failed, tried > 30) == (0, True)
    failed, tried = doctest.testmod(ggp)
    assert (failed, tried > 5) == (0, True)
