"""Makes the writers of `precision_twins` importable by the tests beside it, and gives the fixtures built on them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from precision_twins import Runs


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Two empty runs in a temporary folder."""
    return Runs(tmp_path)
