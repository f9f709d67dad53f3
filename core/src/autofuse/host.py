"""The plugin host: finds plugins, isolates the broken ones, and answers which specs there are and what is behind them.

Hooks are called when first asked for and once per run. A plugin that cannot be imported, is written for a newer API or
yields something else than the hook's spec type is kept, with its cause, for `autofuse plugins` and `autofuse doctor`;
everything else works.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import pluggy

from autofuse import API_VERSION, hookspecs
from autofuse.config import Config
from autofuse.errors import EXIT_BROKEN, AutofuseError
from autofuse.types import Spec

__all__ = ["BUILT_IN", "Clash", "Host", "Plugin"]

BUILT_IN = frozenset(
    {
        "autofuse",
        "autofuse-formats",
        "autofuse-att-summary",
        "autofuse-att-perf",
        "autofuse-att-verify",
        "autofuse-nwa-precision",
    }
)
"""Distributions that belong to the project; against them another plugin wins a name only when the config prefers it."""


@dataclass
class Plugin:
    """One entry point of the group `autofuse`, loaded or not."""

    name: str
    distribution: str
    version: str
    module: str
    cause: Optional[str] = None
    """Why it is broken; None when it works."""
    disabled: bool = False
    specs: Dict[str, List[Spec]] = field(default_factory=dict)
    """What each hook that was called so far yielded."""

    @property
    def built_in(self) -> bool:
        """Whether it belongs to the project."""
        return self.distribution in BUILT_IN

    @property
    def status(self) -> str:
        """`ok`, `broken` or `disabled`."""
        if self.disabled:
            return "disabled"
        return "broken" if self.cause else "ok"


@dataclass(frozen=True)
class Clash:
    """Two or more plugins yield a spec of one name for one hook."""

    hook: str
    name: str
    plugins: Tuple[Plugin, ...]
    winner: Optional[Plugin]
    """None: no rule decides, so the name is not usable until the config says which to prefer."""

    def __str__(self) -> str:
        who = " and ".join(f"{plugin.distribution} {plugin.version}" for plugin in self.plugins)
        used = f"{self.winner.distribution} is used" if self.winner else "none is used"
        return f"{self.hook} {self.name!r} comes from {who}; {used} (set [plugins.prefer] {self.name} in the config)"


class Host:
    """All plugins of this interpreter and what they offer."""

    def __init__(self, config: Config = Config(), third_party: bool = True) -> None:  # noqa: B008 (frozen)
        self.config = config
        self.plugins: List[Plugin] = []
        self.clashes: List[Clash] = []
        self._manager = pluggy.PluginManager("autofuse")
        self._manager.add_hookspecs(hookspecs)
        self._modules: Dict[int, Plugin] = {}
        self._specs: Dict[str, Dict[str, Spec]] = {}
        self._owners: Dict[int, Plugin] = {}
        self._objects: Dict[str, Any] = {}
        disabled = _disabled(config)
        for entry, distribution, version in _entry_points():
            plugin = Plugin(entry.name, distribution, version, entry.value)
            self.plugins.append(plugin)
            plugin.disabled = entry.name in disabled or distribution in disabled or not (third_party or plugin.built_in)
            if not plugin.disabled:
                self._register(plugin, entry)

    def specs(self, hook: str) -> Dict[str, Spec]:
        """Name → spec of everything the hook yields, built-in plugins first; calls the hook at the first use."""
        if hook not in self._specs:
            self._specs[hook] = self._collect(hook)
        return self._specs[hook]

    def owner(self, spec: Spec) -> Plugin:
        """The plugin that yielded the spec."""
        return self._owners[id(spec)]

    def load(self, spec: Spec) -> Any:
        """The object that the spec's factory names; AutofuseError (exit code 3) when it cannot be imported."""
        if spec.factory not in self._objects:
            self._objects[spec.factory] = self._import(spec)
        return self._objects[spec.factory]

    def call_all(self) -> None:
        """Calls every hook, so that `plugins` and `clashes` are complete."""
        for hook in hookspecs.HOOKS:
            self.specs(hook)

    def add(self, module: Any, name: str, distribution: str = "", version: str = "") -> Plugin:
        """Registers a plugin module that no entry point names (tests, embedding)."""
        plugin = Plugin(name, distribution or name, version, getattr(module, "__name__", name))
        self.plugins.append(plugin)
        self._adopt(plugin, module)
        return plugin

    def _register(self, plugin: Plugin, entry: metadata.EntryPoint) -> None:
        try:
            module = entry.load()
        except (Exception, SystemExit) as error:
            plugin.cause = f"import failed: {_describe(error)}"
            return
        self._adopt(plugin, module)

    def _adopt(self, plugin: Plugin, module: Any) -> None:
        needed = getattr(module, "API_VERSION", API_VERSION)
        if not isinstance(needed, int) or needed > API_VERSION:
            plugin.cause = f"needs API version {needed}, this host has {API_VERSION}; upgrade autofuse"
            return
        unknown = sorted(name for name in vars(module) if _is_unknown_hook(module, name))
        if unknown:
            plugin.cause = f"unknown hook {unknown[0]}; known hooks: {', '.join(hookspecs.HOOKS)}"
            return
        try:
            self._manager.register(module, name=f"{plugin.distribution}:{plugin.name}:{len(self._modules)}")
        except (ValueError, pluggy.PluginValidationError) as error:
            plugin.cause = _describe(error)
            return
        self._modules[id(module)] = plugin

    def _collect(self, hook: str) -> Dict[str, Spec]:
        found: Dict[str, List[Tuple[Plugin, Spec]]] = {}
        for plugin, spec in self._yielded(hook):
            self._owners[id(spec)] = plugin
            found.setdefault(spec.name, []).append((plugin, spec))
        chosen: Dict[str, Spec] = {}
        for name, offers in found.items():
            spec = offers[0][1] if len(offers) == 1 else self._decide(hook, name, offers)
            if spec is not None:
                chosen[name] = spec
        return chosen

    def _yielded(self, hook: str) -> Iterator[Tuple[Plugin, Spec]]:
        implementations = getattr(self._manager.hook, hook).get_hookimpls()
        order = {id(plugin): index for index, plugin in enumerate(self.plugins)}
        owned = [(self._modules[id(impl.plugin)], impl) for impl in implementations]
        for plugin, impl in sorted(owned, key=lambda pair: order[id(pair[0])]):
            specs = self._call(plugin, hook, impl)
            plugin.specs[hook] = specs
            for spec in specs:
                yield plugin, spec

    def _call(self, plugin: Plugin, hook: str, impl: Any) -> List[Spec]:
        arguments = {"api_version": API_VERSION}
        try:
            specs = list(impl.function(**{name: arguments[name] for name in impl.argnames}))
        except (Exception, SystemExit) as error:
            plugin.cause = f"{hook} failed: {_describe(error)}"
            return []
        wanted = hookspecs.HOOKS[hook]
        for spec in specs:
            problem = _problem(spec, wanted)
            if problem:
                plugin.cause = f"{hook} yields {problem}"
                return []
        return specs

    def _decide(self, hook: str, name: str, offers: Sequence[Tuple[Plugin, Spec]]) -> Optional[Spec]:
        preferred = self.config.preferred.get(name)
        by_rule = [offer for offer in offers if preferred in (offer[0].distribution, offer[0].name)]
        by_rule = by_rule or [offer for offer in offers if offer[0].built_in]
        winner = by_rule[0] if len({id(plugin) for plugin, _ in by_rule}) == 1 else None
        self.clashes.append(Clash(hook, name, tuple(p for p, _ in offers), winner[0] if winner else None))
        return winner[1] if winner else None

    def _import(self, spec: Spec) -> Any:
        module_name, _, attribute = spec.factory.partition(":")
        try:
            found: Any = importlib.import_module(module_name)
            for part in attribute.split("."):
                found = getattr(found, part)
        except AutofuseError:
            raise
        except (Exception, SystemExit) as error:
            plugin = self.owner(spec)
            plugin.cause = plugin.cause or f"{spec.factory}: {_describe(error)}"
            raise AutofuseError(
                f"{spec.name} of plugin {plugin.name} ({plugin.distribution} {plugin.version}) is broken: "
                f"{_describe(error)}",
                spec.factory,
                "see `autofuse doctor`",
                EXIT_BROKEN,
            ) from error
        return found


def _entry_points() -> Iterable[Tuple[metadata.EntryPoint, str, str]]:
    """Entry points of the group with their distribution, the project's own first, then by name."""
    found: Dict[Tuple[str, str], Tuple[metadata.EntryPoint, str, str]] = {}
    for distribution in metadata.distributions():
        for entry in _of_group(distribution):
            name = (distribution.metadata["Name"] or "unknown").lower().replace("_", "-")
            # The first distribution of a name on sys.path is the one that imports find.
            found.setdefault((name, entry.name), (entry, name, distribution.version))
    return sorted(found.values(), key=lambda item: (item[1] not in BUILT_IN, item[1], item[0].name))


def _of_group(distribution: metadata.Distribution) -> List[metadata.EntryPoint]:
    text = distribution.read_text("entry_points.txt")
    if not text or "[autofuse]" not in text:
        return []
    return [entry for entry in distribution.entry_points if entry.group == "autofuse"]


def _disabled(config: Config) -> frozenset[str]:
    named = os.environ.get("AUTOFUSE_DISABLE_PLUGINS", "")
    return frozenset(name.strip() for name in named.split(",") if name.strip()) | frozenset(config.disabled)


def _is_unknown_hook(module: Any, name: str) -> bool:
    marked = hasattr(getattr(module, name, None), "autofuse_impl")
    return marked and name not in hookspecs.HOOKS


def _problem(spec: Any, wanted: type) -> Optional[str]:
    if not isinstance(spec, wanted):
        return f"{type(spec).__name__} where {wanted.__name__} is expected"
    if not isinstance(spec.name, str) or not spec.name or any(c.isspace() for c in spec.name):
        return f"a {wanted.__name__} with the name {spec.name!r}; a name is a word"
    module, colon, attribute = str(spec.factory).partition(":")
    if not (module and colon and attribute):
        return f"a {wanted.__name__} with the factory {spec.factory!r}; `package.module:object` is expected"
    return None


def _describe(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def interpreter() -> str:
    """`3.11.7` and such."""
    return ".".join(str(part) for part in sys.version_info[:3])
