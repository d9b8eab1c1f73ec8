"""Networks that are kept for the next process."""

from __future__ import annotations

from pathlib import Path

import pytest
from common import GAMES

import ggp


def test_networks_are_kept_where_they_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = tmp_path / "networks"
    monkeypatch.setenv("GGP_CACHE", str(networks))
    made = ggp.load(GAMES / "go.kif", cache=False)
    assert not networks.exists()
    first = ggp.load(GAMES / "go.kif")
    (file,) = networks.iterdir()
    # What is kept is used, and is not written again.
    file.chmod(0o400)
    before = file.stat()
    kept = ggp.load(GAMES / "go.kif")
    assert (file.stat().st_ino, file.stat().st_size) == (before.st_ino, before.st_size)
    for game in (first, kept):
        assert str(game.new_initial_state()) == str(made.new_initial_state())
        assert game.num_distinct_actions() == made.num_distinct_actions()
