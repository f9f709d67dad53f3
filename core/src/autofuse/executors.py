"""The executors of the hook `autofuse_executors` that the host brings: processes here, or a dask cluster."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ProcessPoolExecutor

from autofuse.errors import AutofuseError

__all__ = ["dask", "local"]


def local(jobs: int) -> Executor:
    """`jobs` processes of this machine; 0 means one per core."""
    return ProcessPoolExecutor(max_workers=jobs or os.cpu_count() or 1)


def dask(jobs: int) -> Executor:
    """The cluster at DASK_SCHEDULER_ADDRESS, or a local one of `jobs` workers; AutofuseError without dask."""
    try:
        from distributed import Client
    except ImportError as error:
        raise AutofuseError("dask is not installed", hint="pip install 'autofuse[dask]'") from error
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    client = Client(address) if address else Client(n_workers=jobs or None, threads_per_worker=1)
    executor: Executor = client.get_executor()
    return executor
