"""How many examples the property tests try: few by default, many with AUTOFUSE_TEST_EFFORT=thorough (or a number)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["examples"]

_FACTOR = {"": 1.0, "quick": 0.3, "thorough": 40.0}


def examples(count: int) -> settings:
    """Settings for about `count` examples in a default run."""
    wanted = os.environ.get("AUTOFUSE_TEST_EFFORT", "")
    factor = _FACTOR[wanted] if wanted in _FACTOR else float(wanted)
    # Generating a run is slow beside checking it; that is no fault of the test.
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=max(1, int(count * factor)),
        deadline=None,
        suppress_health_check=slow,
        report_multiple_bugs=False,
    )
