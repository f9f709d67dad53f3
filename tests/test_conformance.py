"""The project's own plugins pass the kit that a vendor's plugin has to pass."""

from __future__ import annotations

import pytest
from autofuse.plugin import BUILT_IN


@pytest.mark.parametrize("distribution", sorted(BUILT_IN))
def test_distribution_conforms(distribution, autofuse_cli):
    result = autofuse_cli("plugins", "check", distribution)
    failed = [line for line in result.stdout.splitlines() if line.startswith("failed")]
    assert (result.exit_code, failed) == (0, []), result.stderr
