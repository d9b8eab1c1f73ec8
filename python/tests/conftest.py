"""Fixtures of all tests."""

from __future__ import annotations

import pytest
from common import load

import ggp


@pytest.fixture(scope="module")
def connect_four() -> ggp.Game:
    return load("connect_four")
