"""result.json: everything one run of verify-tiling found out, written atomically, also when it failed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

from autofuse.files import atomic_open

from autofuse_att_verify.checks import Check

__all__ = ["COMPILE_FAILED", "RUNNING", "RUNTIME_FAILED", "SUCCEEDED", "Result"]

SUCCEEDED = "SUCCEEDED"
COMPILE_FAILED = "COMPILE_FAILED"
RUNTIME_FAILED = "RUNTIME_FAILED"
RUNNING = ""
"""Before there is any outcome; never written."""
_MOST_HEX = 1 << 20


@dataclass
class Result:
    """The result of one run; None is "not known"."""

    scene: str
    source_dir: str
    toolkit: Dict[str, Any]
    inputs: Dict[str, Any]
    abi: Dict[str, Any]
    case: Optional[str] = None
    log: Optional[str] = None
    status: str = RUNNING
    error: Optional[str] = None
    phase: Optional[str] = None
    """Where a failed call ended: `load`, `GetTilingDataSize`, `AutofuseTiling` …"""
    block_dim: Optional[int] = None
    workspace_size: Optional[int] = None
    tiling_key: Optional[int] = None
    tiling_data: Optional[bytes] = None
    tiling_data_fields: Optional[Any] = None
    tiling_data_note: Optional[str] = None
    """Why the bytes are not decoded."""
    choice: List[Dict[str, Any]] = field(default_factory=list)
    """Chosen templates with objective and pipes, as the call's own log lines tell."""
    result_performance: Dict[str, str] = field(default_factory=dict)
    checks: List[Check] = field(default_factory=list)
    exports: List[str] = field(default_factory=list)
    reports: List[str] = field(default_factory=list)
    """What the code reported as errors (REPORT_INNER_ERR_MSG)."""
    logged_errors: List[str] = field(default_factory=list)
    """The first messages of level ERROR in att.log, from the file and line on."""
    output: Optional[str] = None
    """What the code wrote to its standard output and error, the first 4 KiB."""
    compiler: Dict[str, Any] = field(default_factory=dict)
    runner: Optional[str] = None
    res_limit_passed: Optional[bool] = None
    run_seconds: Optional[float] = None
    build_dir: Optional[str] = None
    sweep: Optional[Dict[str, Any]] = None

    @property
    def passed(self) -> bool:
        """SUCCEEDED and no failed check."""
        return self.status == SUCCEEDED and all(check.passed is not False for check in self.checks)

    def fail(self, status: str, error: str, phase: Optional[str] = None) -> None:
        """Records a failure."""
        self.status, self.error, self.phase = status, error, phase

    def as_json(self) -> Dict[str, Any]:
        """The object in result.json."""
        data = self.tiling_data
        value: Dict[str, Any] = {
            "schema_version": "verify-tiling/v1",
            "scene": self.scene,
            "status": self.status,
            "passed": self.passed,
            "error": self.error,
            "phase": self.phase,
            "toolkit": self.toolkit["name"],
            "toolkit_reason": self.toolkit["why"],
            "toolkit_home": self.toolkit["home"],
            "source_dir": self.source_dir,
            "case": self.case,
            "log": self.log,
            "inputs": self.inputs,
            "abi": self.abi,
            "res_limit_passed": self.res_limit_passed,
            "block_dim": self.block_dim,
            "workspace_size": self.workspace_size,
            "tiling_key": self.tiling_key,
            "tiling_data_size": None if data is None else len(data),
            "tiling_data": None if data is None else data[:_MOST_HEX].hex(),
            "tiling_data_fields": self.tiling_data_fields,
            "tiling_data_note": self.tiling_data_note,
            "choice": self.choice,
            "result_performance": self.result_performance,
            "checks": [check.as_json() for check in self.checks],
            "exports": self.exports,
            "reports": self.reports,
            "logged_errors": self.logged_errors,
            "output": self.output,
            "compiler": self.compiler,
            "runner": self.runner,
            "run_seconds": self.run_seconds,
            "build_dir": self.build_dir,
            "sweep": self.sweep,
        }
        if data is not None and len(data) > _MOST_HEX:
            value["tiling_data_sha256"] = hashlib.sha256(data).hexdigest()
        return value

    def write(self, folder: Path) -> Path:
        """Writes result.json into `folder`; AutofuseError when that is not possible."""
        path = folder / "result.json"
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=2, allow_nan=False)
        with atomic_open(path) as out:
            # A name that is no valid text on this system stays readable, but not as the surrogates Python keeps.
            out.write(text.encode("utf-8", "backslashreplace") + b"\n")
        return path
