"""The unit that the log writer's parts hand on: one message, who wrote it, and what of the model it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from logwriter.model import GroupKey, TemplateKey

__all__ = ["Entry", "Origin"]


@dataclass(frozen=True)
class Origin:
    """Where in the run an entry comes from; `call` counts the calls of the run in the order of the model."""

    pid: int
    tid: int
    call: Optional[int] = None


@dataclass(frozen=True)
class Entry:
    """One message before it is wrapped into a line."""

    origin: Origin
    operator: Optional[str]
    """What stands in brackets before the text; None: nothing does."""
    text: str
    kind: str
    """What it says: `start`, `value`, `choice` …; `chatter` for what holds no tiling data."""
    level: str = "INFO"
    module: str = "GE"
    process_name: str = "python3"
    file: str = "tiling_func.cpp"
    line: int = 1
    function: str = "GetTiling"
    group: Optional[GroupKey] = None
    template: Optional[TemplateKey] = None
    name: str = ""
    """Name of a value; empty for the objective."""
