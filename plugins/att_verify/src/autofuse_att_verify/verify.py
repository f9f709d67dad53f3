"""The work of verify-tiling as a function: from a request to a result, with everything temporary gone afterwards.

What can only be a mistake of the caller raises AutofuseError before anything is compiled; from then on every outcome is
a Result. Showing it is left to `reports`, the options to `cli`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from array import array
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from autofuse.errors import AutofuseError
from autofuse.files import atomic_open, make_folder

from autofuse_att_verify.build import BuildFailed, Built, build
from autofuse_att_verify.checks import Limits, failure, single_checks
from autofuse_att_verify.compare import comparison_checks
from autofuse_att_verify.compile_config import CompileConfig, link_words, load_config
from autofuse_att_verify.contract import Contract
from autofuse_att_verify.files import open_plain
from autofuse_att_verify.header import read_layout
from autofuse_att_verify.inputs import Wanted, choose_contract, describe_inputs, difference, explicit_contract
from autofuse_att_verify.interrupts import temporary_folder
from autofuse_att_verify.layout import LayoutError, Struct, decode
from autofuse_att_verify.layout_check import check_layout
from autofuse_att_verify.logs import LoggedCall
from autofuse_att_verify.result import COMPILE_FAILED, RUNNING, RUNTIME_FAILED, SUCCEEDED, Result
from autofuse_att_verify.runner import Answer, Job, Runner
from autofuse_att_verify.scene import Sources, is_kept_build, read_sources
from autofuse_att_verify.signature import Signature, default_aiv_num, finds_tiling_key, key_bits
from autofuse_att_verify.sweep_spec import Plan, read_spec
from autofuse_att_verify.toolkits import Toolkit, choose_toolkit

__all__ = ["Request", "Run", "prepare", "verify"]

_PLOG = re.compile(rb"^\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] \w+\([^)\n]*\):[^\n]*\n", re.MULTILINE)
_ERROR = re.compile(rb"^\[ERROR\] \w+\([^)\n]*\):\S+ ([^\n]*\S)", re.MULTILINE)
_MOST_ERRORS = 5
_LONGEST_ERROR = 500
_MOST_LOG = 16 << 20
_MOST_OUTPUT = 4096
_MOST_PRINTED = 64 << 20
_LARGEST_DATA = 1 << 30
_HEADER = "autofuse_tiling_data.h"
_STALE = ("att.log", "sweep_heatmap.svg", "sweep_heatmap.html")
"""Files that not every run writes: those of an earlier run would be taken for this one's."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    source_dir: str
    output: Path
    scene: Optional[str] = None
    graph: Optional[str] = None
    wanted: Wanted = field(default_factory=Wanted)
    case: Optional[str] = None
    compile_config: Optional[str] = None
    toolkit: str = "auto"
    timeout: float = 60.0
    keep_build: bool = False

    @property
    def optimise(self) -> bool:
        """Compile for many calls rather than for one."""
        return self.wanted.sweep is not None


@dataclass
class Run:
    """A request whose inputs are checked: everything the work needs."""

    request: Request
    sources: Sources
    signature: Optional[Signature]
    contract: Contract
    toolkit: Toolkit
    config: CompileConfig
    runner: Runner
    logged: Optional[LoggedCall]
    default_limit: Optional[int]
    result: Result
    plan: Optional[Plan] = None
    """The points of a sweep."""

    @property
    def passes_limit(self) -> bool:
        """Whether an inductor call gets a ResLimit."""
        return self.contract.abi.kind == "inductor" and self.contract.aiv_num_given

    def limits(self) -> Limits:
        """What the results of the contract's own call are measured by."""
        abi = self.contract.abi
        if abi.kind != "inductor" or self.passes_limit:
            return Limits(abi.kind, self.contract.aiv_num, "aiv_num", abi.block_dim_width)
        source = "the default ResLimit of the source" if self.default_limit else "the source shows no default ResLimit"
        return Limits(abi.kind, self.default_limit, source, abi.block_dim_width)

    def job(self, built: Built, folder: Path, points: array[int], single: bool, jobs: int = 1) -> Job:
        """The job for a runner."""
        return Job(
            library=built.library,
            kind="inductor" if self.contract.abi.kind == "inductor" else "tf",
            dims=self.contract.abi.shape_dims,
            points=points,
            folder=folder,
            single=single,
            timeout=self.request.timeout,
            jobs=jobs,
            find_key=single and finds_tiling_key(self.sources.texts()),
            library_folders=(*self.toolkit.library_folders, *link_words(self.config.extra_links).folders),
            environment={"ASCEND_HOME_PATH": self.toolkit.home} if self.toolkit.home else {},
        )


def prepare(
    request: Request,
    runner: Runner,
    logged_call: Callable[[Sources, Optional[Contract]], Optional[LoggedCall]],
    notice: Callable[[str], None],
) -> Run:
    """Reads and checks every input; AutofuseError when one is wrong. Nothing is compiled or written here."""
    sources = read_sources(request.source_dir, request.scene, request.graph)
    signature = sources.signature()
    explicit = explicit_contract(request.wanted)
    logged = logged_call(sources, explicit)
    contract = choose_contract(request.wanted, explicit, sources, signature, logged)
    default_limit = default_aiv_num(sources.texts()) if contract.abi.kind == "inductor" else None
    sweep = request.wanted.sweep
    plan = None if sweep is None else read_spec(sweep, _symbols(signature, contract), contract)
    describe_inputs(contract, default_limit, plan.hardware if plan else (), notice)
    toolkit = choose_toolkit(request.toolkit)
    notice(f"toolkit: {toolkit.name} ({toolkit.why})")
    config = load_config(request.compile_config)
    problem = runner.problem()
    if problem:
        raise AutofuseError(f"the {runner.name} runner cannot be used: {problem}")
    result = Result(
        scene=sources.scene,
        source_dir=sources.folder,
        toolkit={"name": toolkit.name, "why": toolkit.why, "home": toolkit.home},
        inputs={
            "dynamic_dims": list(contract.dynamic_dims),
            "aiv_num": contract.aiv_num,
            "ub_size": contract.ub_size,
            "origin": contract.origin,
        },
        abi=contract.abi.as_json(),
        case=request.case or (logged.case if logged and logged.case else None),
        log=logged.path if logged else None,
        runner=runner.name,
    )
    return Run(request, sources, signature, contract, toolkit, config, runner, logged, default_limit, result, plan)


def _symbols(signature: Optional[Signature], contract: Contract) -> Tuple[str, ...]:
    if signature is not None:
        return signature.symbols
    return tuple(f"s{index}" for index in range(contract.abi.shape_dims))


def verify(run: Run, work: Callable[[Run, Built, Path], None], notice: Callable[[str], None]) -> Result:
    """Builds, lets `work` call the library and fill in the result, and writes result.json whatever happened."""
    output = make_folder(run.request.output)
    _check_writable(output)
    if run.request.keep_build:
        _check_free(output / "build")
    for stale in _STALE:
        with contextlib.suppress(OSError):
            (output / stale).unlink()
    begun = False
    run.result.status = RUNNING
    try:
        with temporary_folder() as folder:
            built = _build(run, folder, notice)
            begun = built is not None
            if built is not None:
                work(run, built, folder)
            if run.request.keep_build:
                _keep(folder, output, run.result, notice)
    except KeyboardInterrupt:
        run.result.fail(RUNTIME_FAILED if begun else COMPILE_FAILED, "interrupted")
        raise
    except OSError as error:
        place = str(error.filename or tempfile.gettempdir())
        raise AutofuseError(
            f"cannot work there: {error.strerror or error}", place, "see to the folder of temporary files (TMPDIR)"
        ) from error
    finally:
        # An error that is not the code's own (a full disk, a plugin's bug) leaves no result behind that looks like one.
        if run.result.status != RUNNING:
            run.result.write(output)
    return run.result


def call_once(run: Run, built: Built, folder: Path) -> None:
    """The `work` of a verification: one call with every check."""
    result = run.result
    with ThreadPoolExecutor(1) as pool:
        layout = pool.submit(_layout, run, built)
        job = run.job(built, folder, _points(run), single=True)
        begin = time.monotonic()
        answer = _single_answer(run.runner, job)
        result.run_seconds = round(time.monotonic() - begin, 6)
        _keep_log(job, run.request.output)
        result.logged_errors = _logged_errors(run.request.output / "att.log")
        _take(run, job, answer, layout)


def _points(run: Run) -> array[int]:
    contract = run.contract
    return array("I", [*contract.dynamic_dims, contract.aiv_num, contract.ub_size, int(run.passes_limit)])


def _build(run: Run, folder: Path, notice: Callable[[str], None]) -> Optional[Built]:
    try:
        built = _build_tiling(run, folder, notice)
    except BuildFailed as error:
        run.result.compiler = {**_shown(error.compiler, folder), "output": error.output}
        run.result.fail(COMPILE_FAILED, str(error.diagnostic))
        return None
    run.result.compiler = _shown(built.compiler, folder)
    return built


def _build_tiling(run: Run, folder: Path, notice: Callable[[str], None]) -> Built:
    """Builds everything; without CANN once more without the shape inference, when only that needs its headers."""
    try:
        return build(run.sources, run.toolkit, run.config, folder / "all", run.request.optimise)
    except BuildFailed as error:
        tiling = run.sources.without_infershape()
        header = error.diagnostic.missing_header
        if run.toolkit.name != "shim" or not header or len(tiling.units) == len(run.sources.units) or not tiling.units:
            raise
        notice(f"{header} is not there: left out {', '.join(sorted(set(run.sources.units) - set(tiling.units)))}")
        return build(tiling, run.toolkit, run.config, folder / "tiling", run.request.optimise)


def _shown(compiler: Dict[str, Any], folder: Path) -> Dict[str, Any]:
    """The compiler's entry without the name of a folder that is gone."""
    flags = [flag.replace(str(folder), "<build>") for flag in compiler.get("flags", [])]
    return {**compiler, "flags": flags}


def _single_answer(runner: Runner, job: Job) -> Answer:
    answer: Answer = {}
    with contextlib.closing(_iterator(runner, job)) as answers:
        for line in answers:
            # The first word counts: a call that came back and then left processes behind is still shown.
            answer = {**line, **answer}
    return answer or {"fatal": "the runner gave no answer", "phase": "runner"}


def _iterator(runner: Runner, job: Job) -> Any:
    return runner.run(job)


def _take(run: Run, job: Job, answer: Answer, layout: Future[Tuple[Optional[Struct], Optional[str]]]) -> None:
    """Moves an answer into the result."""
    result = run.result
    result.exports = list(answer.get("exports", []))
    result.reports = [str(report) for report in answer.get("reports", [])]
    result.output = _output(job)
    result.res_limit_passed = run.passes_limit if run.contract.abi.kind == "inductor" else None
    result.choice = list(answer.get("templates", []))
    result.result_performance = dict(answer.get("results", {}))
    if "ret" in answer:
        _take_values(run, job, answer, layout)
    problem = failure(answer, run.contract)
    if problem:
        result.fail(RUNTIME_FAILED, problem.reason, problem.phase)
        return
    result.status = SUCCEEDED
    result.checks = single_checks(answer, run.limits(), result.tiling_key)
    result.checks += comparison_checks(run.request.case, run.logged, _difference(run), result)


def _difference(run: Run) -> Optional[str]:
    """Why nothing can be compared with the log."""
    if run.logged is None:
        return None
    return difference(run.logged, run.contract, _symbols(run.signature, run.contract))


def _take_values(run: Run, job: Job, answer: Answer, layout: Future[Tuple[Optional[Struct], Optional[str]]]) -> None:
    result = run.result
    width = run.contract.abi.block_dim_width
    if answer["ret"] == 0:
        result.block_dim = int(answer["block_dim"]) & ((1 << width) - 1)
        result.workspace_size = int(answer["workspace"]) & 0xFFFFFFFF
    result.tiling_data = _data(job, answer.get("size"))
    if result.tiling_data is None:
        result.tiling_data_note = "the bytes that the call left could not be read"
        return
    shape, result.tiling_data_note = layout.result()
    if shape is not None and result.tiling_data is not None:
        if shape.size != len(result.tiling_data):
            result.tiling_data_note = (
                f"{_HEADER} describes {shape.size} bytes, GetTilingDataSize says {len(result.tiling_data)}"
            )
        else:
            result.tiling_data_fields = decode(shape, result.tiling_data)
    result.tiling_key = _tiling_key(run, answer)


def _tiling_key(run: Run, answer: Answer) -> Optional[int]:
    """What FindBestTilingKey says, else the field `tiling_key` of the tiling data itself."""
    if "key" in answer:
        bits, signed = key_bits(run.sources.texts())
        value = int(answer["key"]) & ((1 << bits) - 1)
        return value - (1 << bits) if signed and value >> (bits - 1) else value
    fields = run.result.tiling_data_fields
    own = fields.get("tiling_key") if isinstance(fields, dict) else None
    return own if isinstance(own, int) else None


def _layout(run: Run, built: Built) -> Tuple[Optional[Struct], Optional[str]]:
    """The layout of the tiling data, or why there is none; the preprocessor does the macros."""
    header = next((name for name in run.sources.files if name.split("/")[-1] == _HEADER), None)
    if header is None:
        return None, f"no {_HEADER}"
    name = run.signature.data_type if run.signature and run.signature.data_type else "AutofuseTilingData"
    path = built.source_folder / header
    try:
        words = [*built.command, "-E", "-x", "c++", str(path)]
        answer = subprocess.run(words, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        layout = read_layout(answer.stdout.decode("utf-8", "replace"), name)
        check_layout(layout, path, built.command, built.source_folder.parent.parent)
        return layout, None
    except LayoutError as error:
        return None, f"{_HEADER}: {error}"
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError, RecursionError) as error:
        return None, f"{_HEADER} cannot be read: {type(error).__name__}"


def _keep_log(job: Job, output: Path) -> None:
    """att.log: the log lines of the call; with a CANN that prints them itself, the lines of that form in its output."""
    log, printed = open_plain(job.log_path), open_plain(job.output_path)
    with contextlib.ExitStack() as stack:
        for file in filter(None, (log, printed)):
            stack.callback(file.close)
        out = stack.enter_context(atomic_open(output / "att.log"))
        if log is not None and os.fstat(log.fileno()).st_size:
            shutil.copyfileobj(log, out, 1 << 20)
        elif printed is not None:
            out.writelines(found[0] for found in _PLOG.finditer(printed.read(_MOST_PRINTED)))


def _logged_errors(log: Path) -> List[str]:
    """The first messages of level ERROR, without what stands before the file and line."""
    with open(log, "rb") as file:
        text = file.read(_MOST_LOG)
    found = [match[1].decode("utf-8", "replace")[:_LONGEST_ERROR] for match in _ERROR.finditer(text)]
    return found[:_MOST_ERRORS]


def _output(job: Job) -> Optional[str]:
    file = open_plain(job.output_path)
    if file is None:
        return None
    with file:
        text = _PLOG.sub(b"", file.read(_MOST_OUTPUT * 16))[:_MOST_OUTPUT]
    return text.decode("utf-8", "replace") or None


def _data(job: Job, size: object) -> Optional[bytes]:
    """The bytes that the runner saved; None when they are not there as it said."""
    file = open_plain(job.data_path)
    if file is None:
        return None
    with file:
        content = file.read(_LARGEST_DATA + 1)
    return content if len(content) == size else None


def _check_writable(folder: Path) -> None:
    """Fails now rather than after the compiler has run."""
    probe = folder / f".autofuse-{os.getpid()}.tmp"
    try:
        probe.write_bytes(b"x" * 4096)
    except OSError as error:
        raise AutofuseError(f"cannot write to the output folder: {error.strerror or error}", str(folder)) from None
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()


def _check_free(target: Path) -> None:
    if target.exists() and not is_kept_build(target / "CMakeLists.txt"):
        raise AutofuseError("is in the way of --keep-build", str(target), "it is not of an earlier run")


def _keep(folder: Path, output: Path, result: Result, notice: Callable[[str], None]) -> None:
    """Copies the last build to `output`/build, in place of one that an earlier run left."""
    builds = [path for path in (folder / "tiling", folder / "all") if (path / "CMakeLists.txt").is_file()]
    target = output / "build"
    shutil.rmtree(target, ignore_errors=True)
    if not builds:
        notice("there is no build to keep")
        return
    try:
        shutil.copytree(builds[0], target, symlinks=True, ignore=_no_specials)
    except (OSError, shutil.Error) as error:
        raise AutofuseError(f"cannot keep the build: {error}", str(target)) from None
    result.build_dir = str(target)
    notice(f"the build is kept in {target}")


def _no_specials(folder: str, names: List[str]) -> List[str]:
    """Pipes and the like, which the calls may have left there, are no part of the build."""
    plain = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if not any(is_kind(mode) for is_kind in plain)]
