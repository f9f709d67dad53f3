"""Further runs without fusion that excuse differences: a second one shows the noise, one in fp64 what is right.

Which dump of such a run belongs to which of the close run, and when a difference is excused; reading and measuring is
left to `comparison`.
"""

from __future__ import annotations

from typing import Dict, Optional, Tuple

from autofuse_nwa_precision.dumps.index import DumpFile
from autofuse_nwa_precision.dumps.load import Located
from autofuse_nwa_precision.metrics import Metrics
from autofuse_nwa_precision.models import ModelPairs
from autofuse_nwa_precision.pairing import OUTPUT, Run
from autofuse_nwa_precision.steps import paired_steps

__all__ = ["OtherRun", "closer", "within_noise"]

_NOISE_FACTOR = 2.0
"""Two pairs of equally noisy runs differ by this much in their distance."""

_Output = Tuple[str, str, int]
"""Operator name, type and output index."""


class OtherRun:
    """A further run with the operators of the close run; its dumps are paired with those of the close run."""

    def __init__(self, run: Run, close: Run) -> None:
        self.run = run
        self.used = False
        """Whether any dump of it was asked for and there."""
        self._close = close
        self._models = ModelPairs(close.index.models, run.index.models)
        self._pairs: Dict[_Output, Dict[DumpFile, DumpFile]] = {}

    def dump_for(self, close: Located, op_type: str, name: str) -> Optional[Located]:
        """The dump of the same original output, device and step as one of the close run; None when there is none."""
        found = self._paired((name, op_type, close.index)).get(close.dump)
        if found is None:
            return None
        self.used = True
        return Located(found, OUTPUT, close.index, close.desc)

    def _paired(self, output: _Output) -> Dict[DumpFile, DumpFile]:
        """Dumps of the close run → dumps of this one. RowError when a name is ambiguous."""
        # Threads may do the same work twice, with the same result.
        if output not in self._pairs:
            name, op_type, index = output
            closes = self._close.dumps_of(name, op_type, OUTPUT, index)
            others = self.run.dumps_of(name, op_type, OUTPUT, index)
            steps = paired_steps(closes, others, self._models)
            self._pairs[output] = {step.open: step.close for step in steps if step.open and step.close}
        return self._pairs[output]


def within_noise(fused: Metrics, noise: Metrics) -> bool:
    """True when the fused side is no farther from the close run than noise explains; a mismatch is never noise."""
    if fused.mismatches or noise.mismatches:
        return False
    return _error(fused, noise) <= _NOISE_FACTOR * _error(noise, fused)


def closer(fused: Metrics, unfused: Metrics) -> bool:
    """True when the fused side is closer to the reference run; with a mismatch it never is, and without one it is
    closer than an unfused side that has one."""
    if fused.mismatches or unfused.mismatches:
        return not fused.mismatches
    return _error(fused, unfused) < _error(unfused, fused)


def _error(metrics: Metrics, other: Metrics) -> float:
    """The relative L2 error; against a zero tensor, where it is infinite for any error, the error's own size."""
    if metrics.rel_l2 in (0.0, float("inf")) and other.rel_l2 in (0.0, float("inf")):
        return metrics.rmse or 0.0
    return metrics.rel_l2
