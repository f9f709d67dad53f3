"""One call in an ATT log: its shape, hardware and choice; the inputs of a run and what its result is compared with.

Reading logs is the business of att_summary; this module asks its model for the one call that fits the sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Mapping, Optional, Sequence, Tuple

__all__ = ["LoggedCall"]


@dataclass(frozen=True)
class LoggedCall:
    """The call of a log that a run is made and compared with."""

    path: str
    operator: str
    shape: Mapping[str, int]
    """Shape symbol → value, in the order logged."""
    aiv_num: Optional[int]
    ub_size: Optional[int]
    templates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Chosen template (`graph0_result0_g0_R1`) → its values as logged, pipes included."""

    def ordered(self, symbols: Sequence[str]) -> Optional[List[int]]:
        """The values in the order of `symbols`; by position when all names are others, None when they do not fit."""
        if len(self.shape) != len(symbols):
            return None
        named = [symbol for symbol in symbols if symbol in self.shape]
        if named and len(named) != len(symbols):
            return None
        return [self.shape[symbol] for symbol in symbols] if named else list(self.shape.values())

    @property
    def case(self) -> str:
        """The chosen templates, joined."""
        return ";".join(self.templates)

    @property
    def block_dims(self) -> Tuple[int, ...]:
        """block_dim of each chosen template that logged one."""
        values: List[int] = []
        for template in self.templates.values():
            text = template.get("block_dim", "")
            if text.lstrip("-").isdigit():
                values.append(int(text))
        return tuple(values)
