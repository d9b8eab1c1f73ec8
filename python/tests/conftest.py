"""Fixtures of all tests."""

from __future__ import annotations

import os
import random

import pytest
from common import load

import ggp

# Every network is made anew.
os.environ["GGP_CACHE"] = ""


@pytest.fixture(scope="module")
def connect_four() -> ggp.Game:
    return load("connect_four")


@pytest.fixture(autouse=True)
def same_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds that nobody gave, and that the package draws from the system, are the same in each run of a test."""
    if request.node.get_closest_marker("drawn_seeds") is None:
        # Not the whole path, which depends on the folder from which the tests are started.
        name = f"{request.node.path.name} {request.node.name}"
        monkeypatch.setattr(os, "urandom", random.Random(name).randbytes)
