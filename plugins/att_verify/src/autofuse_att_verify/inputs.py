"""Which contract a run uses (preset, JSON file or log), checked against the scene and the signature in the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, List, Optional, Sequence

from autofuse.errors import AutofuseError

from autofuse_att_verify.contract import Abi, Contract, check_values, load_contract, load_preset
from autofuse_att_verify.logs import LoggedCall
from autofuse_att_verify.scene import Sources
from autofuse_att_verify.signature import Signature
from autofuse_att_verify.sweep_spec import values_given

__all__ = ["DEFAULT_PRESET", "Wanted", "choose_contract", "describe_inputs", "difference", "explicit_contract"]

DEFAULT_PRESET = "A"


@dataclass(frozen=True)
class Wanted:
    """The options that select the contract."""

    preset: Optional[str] = None
    input_json: Optional[str] = None
    aiv_num: Optional[int] = None
    sweep: Optional[str] = None


def choose_contract(
    wanted: Wanted,
    explicit: Optional[Contract],
    sources: Sources,
    signature: Optional[Signature],
    logged: Optional[LoggedCall],
) -> Contract:
    """The contract of this run, `explicit` if given; AutofuseError when scene or source are unlike it."""
    contract = explicit
    if logged is not None and contract is None:
        contract = _from_log(logged, sources, signature).with_aiv_num(wanted.aiv_num)
    if contract is None and wanted.sweep is not None and signature is not None:
        contract = _from_sweep(wanted.sweep, sources, signature, wanted.aiv_num)
    contract = contract or load_preset(DEFAULT_PRESET).with_aiv_num(wanted.aiv_num)
    _check_scene(contract, sources)
    if signature is not None:
        _check_signature(contract, sources, signature)
    return contract


def describe_inputs(
    contract: Contract, default_limit: Optional[int], swept: Sequence[str], notice: Callable[[str], None]
) -> None:
    """Says what the call will get, before anything is compiled; `swept` of `aiv` and `ub` vary."""
    dims = ", ".join(map(str, contract.dynamic_dims))
    notice(
        f"inputs: aiv_num {contract.aiv_num} (from {contract.origin}), ub_size {contract.ub_size}, "
        f"dynamic_dims [{dims}], abi {contract.abi.kind}"
    )
    if contract.abi.kind == "inductor":
        if contract.aiv_num_given or swept:
            why = "--aiv-num was given" if contract.aiv_num_given else f"the sweep goes over {' and '.join(swept)}"
            notice(f"aiv_num is not part of the inductor ABI: a ResLimit with it is passed, for {why}")
        else:
            own = f"the code's own default ({default_limit} cores)" if default_limit else "the code's own default"
            notice(f"aiv_num is not part of the inductor ABI: no ResLimit is passed, {own} holds")


def explicit_contract(wanted: Wanted) -> Optional[Contract]:
    """The contract that options name; None when it is left to a log, a sweep or the default preset."""
    if wanted.input_json is not None:
        return load_contract(wanted.input_json).with_aiv_num(wanted.aiv_num)
    return load_preset(wanted.preset).with_aiv_num(wanted.aiv_num) if wanted.preset is not None else None


def difference(logged: LoggedCall, contract: Contract, symbols: Sequence[str]) -> Optional[str]:
    """Why the result cannot be that of the logged call; None when the inputs are the same, as far as the log tells."""
    dims = logged.ordered(symbols)
    if dims is None or tuple(dims) != contract.dynamic_dims:
        there, here = (" ".join(map(str, values)) for values in (dims or logged.shape.values(), contract.dynamic_dims))
        return f"the call in the log had {_shape(there)}, this one {_shape(here)}"
    if contract.abi.kind == "inductor" and not contract.aiv_num_given:
        return None  # neither number reaches the code
    for name in ("aiv_num", "ub_size"):
        logged_value, value = getattr(logged, name), getattr(contract, name)
        if logged_value is not None and logged_value != value:
            return f"the call in the log had {name} {logged_value}, this one {value}"
    return None


def _from_log(logged: LoggedCall, sources: Sources, signature: Optional[Signature]) -> Contract:
    symbols = signature.symbols if signature is not None else tuple(logged.shape)
    base = load_preset(DEFAULT_PRESET)
    dims = _in_order(logged, symbols, sources)
    aiv_num = logged.aiv_num if logged.aiv_num is not None else base.aiv_num
    ub_size = logged.ub_size if logged.ub_size is not None else base.ub_size
    check_values(dims, aiv_num, ub_size, logged.path)
    kind = "inductor" if sources.scene == "inductor" else ("tf_dynamic" if dims else "tf_static")
    origin = f"log:{logged.path}"
    if logged.aiv_num is None or logged.ub_size is None:
        origin = f"preset_{DEFAULT_PRESET}+{origin}"
    return Contract(tuple(dims), aiv_num, ub_size, Abi(kind, len(dims)), origin)


def _from_sweep(spec: str, sources: Sources, signature: Signature, aiv_num: Optional[int]) -> Optional[Contract]:
    """The contract that a sweep over every shape symbol implies, with the rest of the default preset; else None."""
    given = values_given(spec, signature.symbols)
    if not signature.symbols or not set(signature.symbols) <= set(given):
        return None
    base = load_preset(DEFAULT_PRESET).with_aiv_num(aiv_num)
    dims = tuple(given[symbol][0] for symbol in signature.symbols)
    check_values(dims, base.aiv_num, base.ub_size, "--sweep")
    kind = "inductor" if sources.scene == "inductor" else "tf_dynamic"
    abi = Abi(kind, len(dims))
    return replace(base, dynamic_dims=dims, abi=abi, origin=f"{base.origin}+--sweep")


def _in_order(logged: LoggedCall, symbols: Sequence[str], sources: Sources) -> List[int]:
    """The logged values in the order of the signature."""
    dims = logged.ordered(symbols)
    if dims is not None:
        return dims
    names = ", ".join(logged.shape)
    if len(logged.shape) > len(symbols):
        raise AutofuseError(
            f"AutofuseTiling has {_count(len(symbols))}{_listed(symbols)}, but the call of {logged.operator!r} has "
            f"{len(logged.shape)} ({names})",
            logged.path,
            f"is it a log of {sources.folder}?",
        )
    missing = ", ".join(symbol for symbol in symbols if symbol not in logged.shape)
    hint = f"it has {names or 'no shape'}; give --input-json"
    raise AutofuseError(f"the call of {logged.operator!r} says nothing of {missing}", logged.path, hint)


def _check_scene(contract: Contract, sources: Sources) -> None:
    inductor = contract.abi.kind == "inductor"
    if inductor != (sources.scene == "inductor"):
        kinds = "inductor" if sources.scene == "inductor" else "tf_static, tf_dynamic"
        raise AutofuseError(
            f"abi.kind is {contract.abi.kind} ({contract.origin}), but the scene is {sources.scene}",
            sources.folder,
            f"accepted: {kinds}; use --input-json" if sources.scene == "inductor" else f"accepted: {kinds}",
        )


def _check_signature(contract: Contract, sources: Sources, signature: Signature) -> None:
    if signature.problem:
        raise AutofuseError(
            f"AutofuseTiling cannot be called: {signature.problem}",
            sources.folder,
            f"{signature.text[:300]}; kinds: tf_static, tf_dynamic, inductor",
        )
    declared, given = len(signature.symbols), contract.abi.shape_dims
    if declared != given:
        raise AutofuseError(
            f"AutofuseTiling has {_count(declared)}{_listed(signature.symbols)}, "
            f"but the contract ({contract.origin}) has {given}",
            sources.folder,
            "use a fitting --preset, --input-json or --log, or name every symbol in --sweep",
        )
    if (signature.kind == "inductor") != (contract.abi.kind == "inductor"):
        raise AutofuseError(
            f"the source is of kind {signature.kind_text}, but the contract ({contract.origin}) is {contract.abi.kind}",
            sources.folder,
            signature.text[:200],
        )


def _count(number: int) -> str:
    return f"{number} shape symbol" + ("" if number == 1 else "s")


def _shape(values: str) -> str:
    return f"the shape {values}" if values else "no shape"


def _listed(symbols: Sequence[str]) -> str:
    return f" ({', '.join(symbols)})" if symbols else ""
