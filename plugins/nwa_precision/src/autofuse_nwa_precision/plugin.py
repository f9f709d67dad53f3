"""The specs of this distribution; nothing is imported but the spec types."""

from __future__ import annotations

from typing import Iterator

from autofuse.types import CommandSpec, DoctorSpec, hookimpl

__all__ = ["autofuse_commands", "autofuse_doctor_checks"]


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """The command precision."""
    yield CommandSpec(
        "precision",
        "Find the fused operator that made the result worse.",
        "autofuse_nwa_precision.cli:command",
        section="Precision",
    )


@hookimpl
def autofuse_doctor_checks() -> Iterator[DoctorSpec]:
    """Whether the metric kernel was compiled."""
    yield DoctorSpec("metric-kernel", "The native metric kernel", "autofuse_nwa_precision.metrics.doctor:check")
