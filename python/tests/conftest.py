"""Fixtures of all tests."""

from __future__ import annotations

import os

import pytest
from common import load

import ggp

# Every network is made anew.
os.environ["GGP_CACHE"] = ""


@pytest.fixture(scope="module")
def connect_four() -> ggp.Game:
    return load("connect_four")
