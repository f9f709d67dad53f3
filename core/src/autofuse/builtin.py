"""What the host itself offers through its own hooks: the local executor."""

from __future__ import annotations

from typing import Iterator

from autofuse.types import ExecutorSpec, hookimpl

__all__ = ["autofuse_executors"]


@hookimpl
def autofuse_executors() -> Iterator[ExecutorSpec]:
    """Executors that need nothing but Python, and dask where its extra is installed."""
    yield ExecutorSpec("local", "Processes of this machine", "autofuse.executors:local")
    yield ExecutorSpec("dask", "A dask cluster (extra `dask`; DASK_SCHEDULER_ADDRESS)", "autofuse.executors:dask")
