"""Checks that what a plugin hands to the host is what the hook asks for: the module, and each spec it yields."""

from __future__ import annotations

import inspect
from typing import Any, Dict, Iterable, Iterator, List, Optional

from autofuse import API_VERSION
from autofuse.hookspecs import HOOKS
from autofuse.types import CommandSpec, FormatSample, LayoutSample, LayoutSpec, ParserSpec, ReporterSpec, Spec

__all__ = ["SpecProblem", "checked_specs", "module_problem"]


class SpecProblem(Exception):
    """What is wrong with what a hook gave, as a sentence that begins with the hook's name."""


def module_problem(module: Any) -> Optional[str]:
    """Why the object behind an entry point is no plugin of this host; None when it is one."""
    needed = getattr(module, "API_VERSION", API_VERSION)
    if not isinstance(needed, int) or needed > API_VERSION:
        return f"needs API version {needed!r}, this host has {API_VERSION}; upgrade autofuse"
    hooks: Dict[str, str] = {}
    for name in dir(module):
        found = inspect.getattr_static(module, name, None)
        found = getattr(found, "__func__", found)
        options = getattr(found, "autofuse_impl", None) if inspect.isroutine(found) else None
        if options is not None:
            hook = options.get("specname") or name
            problem = _hook_problem(hook, options, hooks)
            hooks[hook] = name
        else:
            problem = f"{name} has no @hookimpl" if name in HOOKS and callable(found) else None
        if problem:
            return problem
    return None


def checked_specs(hook: str, result: Any) -> List[Spec]:
    """The specs in what a hook implementation gave; SpecProblem that says what is wrong with one."""
    wanted = HOOKS[hook]
    if isinstance(result, Spec):
        raise SpecProblem(f"returns a {type(result).__name__}; yield it instead")
    if not isinstance(result, Iterable):
        raise SpecProblem(f"gives {type(result).__name__} where {wanted.__name__} objects are expected")
    specs = list(result)
    names = set()
    for spec in specs:
        problem = next(_problems(spec, wanted), None)
        if problem:
            raise SpecProblem(f"yields {problem}")
        if spec.name in names:
            raise SpecProblem(f"yields two {wanted.__name__} objects with the name {spec.name!r}")
        names.add(spec.name)
    return specs


def _hook_problem(hook: str, options: Any, others: Dict[str, str]) -> Optional[str]:
    """A mistyped hook name is an error at start, not a hook that is never called."""
    if hook not in HOOKS:
        return f"unknown hook {hook}; known hooks: {', '.join(HOOKS)}"
    if hook in others:
        return f"implements {hook} twice"
    if options.get("hookwrapper") or options.get("wrapper"):
        return f"{hook} is a hook wrapper, which autofuse does not call"
    return None


def _problems(spec: Any, wanted: type) -> Iterator[str]:
    """What is wrong with a spec, as the end of a sentence that begins with `yields`."""
    kind = wanted.__name__
    if not isinstance(spec, wanted) or not isinstance(spec, Spec):
        yield f"{type(spec).__name__} where {kind} is expected"
        return
    if not isinstance(spec.name, str) or not _is_word(spec.name):
        yield f"a {kind} with the name {spec.name!r}; a name is a word"
    if not isinstance(spec.summary, str):
        yield f"{kind} {spec.name} with the summary {spec.summary!r}; one line of text is expected"
    if not _is_factory(spec.factory):
        yield f"{kind} {spec.name} with the factory {spec.factory!r}; `package.module:object` is expected"
    for problem in _particular_problems(spec):
        yield f"{kind} {spec.name} with {problem}"


def _is_word(name: str) -> bool:
    return bool(name) and name.isprintable() and not any(c.isspace() for c in name) and not name.startswith("-")


def _is_factory(factory: Any) -> bool:
    module, colon, attribute = factory.partition(":") if isinstance(factory, str) else ("", "", "")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *attribute.split(".")))


def _particular_problems(spec: Spec) -> Iterator[str]:
    if isinstance(spec, CommandSpec) and not isinstance(spec.section, str):
        yield f"the section {spec.section!r}; text is expected"
    if isinstance(spec, ReporterSpec):
        if not _is_tuple_of(str, spec.aliases) or not all(_is_word(alias) for alias in spec.aliases):
            yield f"the aliases {spec.aliases!r}; a tuple of words is expected"
        if not _is_tuple_of(str, spec.suffixes) or not all(suffix.startswith(".") for suffix in spec.suffixes):
            yield f'the suffixes {spec.suffixes!r}; a tuple such as (".csv",) is expected'
    if isinstance(spec, LayoutSpec) and not (_is_layout(spec.stored) and _is_layout(spec.plain)):
        yield f"the layouts {spec.stored!r} and {spec.plain!r}; two names are expected"
    if isinstance(spec, LayoutSpec) and not _is_tuple_of(LayoutSample, spec.samples):
        yield f"the samples {spec.samples!r}; a tuple of LayoutSample is expected"
    if isinstance(spec, ParserSpec):
        yield from _parser_problems(spec)


def _is_layout(name: Any) -> bool:
    return isinstance(name, str) and _is_word(name)


def _parser_problems(spec: ParserSpec) -> Iterator[str]:
    from autofuse.records import Record

    if not _is_tuple_of(bytes, spec.markers) or not spec.markers or not all(spec.markers):
        yield f'the markers {spec.markers!r}; a tuple such as (b"[PROF]",) is expected'
    elif any(b"\n" in marker or b"\r" in marker for marker in spec.markers):
        yield "a marker that holds a line end"
    if not isinstance(spec.records, tuple) or not spec.records or not all(_is_record(kind) for kind in spec.records):
        yield f"the records {spec.records!r}; a tuple of subclasses of {Record.__name__} is expected"
    if not _is_tuple_of(FormatSample, spec.samples):
        yield f"the samples {spec.samples!r}; a tuple of FormatSample is expected"
    elif not spec.samples:
        yield "no samples; at least one line of the format is expected"


def _is_record(kind: Any) -> bool:
    from autofuse.records import Record

    return isinstance(kind, type) and issubclass(kind, Record)


def _is_tuple_of(kind: type, value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)
