"""Tells lines that were cut in the middle of a number: by the log's line limit, or by the end of the file.

What is cut elsewhere is either read in full or does not parse; here a shorter number or id would pass for the real one.
"""

from __future__ import annotations

import re
from typing import List, Sequence

from autofuse_att_summary.columns import Block
from autofuse_att_summary.lines import Kind

__all__ = ["lost_digits"]

_SIX_DECIMALS = re.compile(rb"\.\d{6}\Z|nan\Z|inf\Z", re.IGNORECASE)


def lost_digits(event: List[int], strings: Sequence[bytes], block: Block) -> bool:
    """Whether the number or id at the end of a line may go on behind the cut."""
    kind = event[0]
    if kind == Kind.SCORE:
        return True
    if kind == Kind.RESULT_PERF:
        # `%f` prints six decimals.
        return _SIX_DECIMALS.search(strings[event[10]]) is None
    # Each of these ends with a full stop; before it stands an id or a number.
    return kind in (Kind.VALUE, Kind.GROUP_BEGIN, Kind.HARDWARE) and block[event[4] - 1] != ord(".")
