"""The plugin host: finds plugins, isolates the broken ones, and answers which specs there are and what is behind them.

Hooks are called when first asked for and once per run. A plugin that cannot be imported, is written for a newer API or
yields something else than the hook's spec type is kept, with its cause, for `autofuse plugins` and `autofuse doctor`;
everything else works. Which of several specs of one name counts is decided in `autofuse.clashes`.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

import pluggy

from autofuse import API_VERSION, hookspecs
from autofuse.checks import SpecProblem, checked_specs, module_problem
from autofuse.clashes import Clash, Offer, decide, settle
from autofuse.config import Config
from autofuse.discovery import EntryPoint, canonical, entry_points
from autofuse.errors import EXIT_BROKEN, AutofuseError, describe
from autofuse.plugin import BUILT_IN, Plugin
from autofuse.streams import results_only
from autofuse.types import Spec

__all__ = ["BUILT_IN", "Clash", "Host", "Plugin"]


class Host:
    """All plugins of this interpreter and what they offer."""

    def __init__(self, config: Optional[Config] = None, third_party: bool = True) -> None:
        self.config = config or Config()
        self.plugins: List[Plugin] = []
        self.clashes: List[Clash] = []
        self.disabled = _disabled(self.config)
        """Canonical names of plugins and distributions that the user switched off."""
        self.third_party = third_party
        self._manager = pluggy.PluginManager("autofuse")
        self._manager.add_hookspecs(hookspecs)
        self._modules: Dict[int, Tuple[Plugin, Any]] = {}
        self._specs: Dict[str, Dict[str, Spec]] = {}
        self._owners: Dict[int, Plugin] = {}
        self._objects: Dict[int, Tuple[Spec, Any]] = {}
        self._notice: Optional[Callable[[str], None]] = None
        self._announced: Set[str] = set()
        for entry in _ordered(entry_points()):
            self._take(entry)
        self._settle_plugin_names()

    def specs(self, hook: str) -> Dict[str, Spec]:
        """Name → spec of everything the hook yields, built-in plugins first; calls the hook at the first use."""
        if hook not in self._specs:
            self._specs[hook] = self._collect(hook)
            self._announce_new()
        return self._specs[hook]

    def owner(self, spec: Spec) -> Plugin:
        """The plugin that yielded the spec; a stand-in for a spec that came from elsewhere."""
        return self._owners.get(id(spec)) or Plugin("unknown", "unknown", "", spec.factory)

    def plugin_named(self, name: str) -> Optional[Plugin]:
        """The working plugin with this name; None when there is none, or several and no rule decides."""
        clash = self.clash("plugin", name)
        if clash:
            return clash.winner
        return next((plugin for plugin in self.plugins if plugin.name == name and not plugin.disabled), None)

    def clash(self, hook: str, name: str) -> Optional[Clash]:
        """The clash over this word of the hook, when there is one."""
        return next((clash for clash in self.clashes if (clash.hook, clash.name) == (hook, name)), None)

    def load(self, spec: Spec) -> Any:
        """The object that the spec's factory names; AutofuseError (exit code 3) when it cannot be imported."""
        if id(spec) not in self._objects:
            self._objects[id(spec)] = (spec, self._load(spec))
        return self._objects[id(spec)][1]

    def call_all(self) -> None:
        """Calls every hook, so that `plugins` and `clashes` are complete."""
        for hook in hookspecs.HOOKS:
            self.specs(hook)

    def announce(self, notice: Callable[[str], None]) -> None:
        """Tells of every plugin that is broken and every word that nobody gets, those found later included.

        Without it a command would silently do without a format, say, that its user counts on.
        """
        self._notice = notice
        self._announce_new()

    def add(self, module: Any, name: str, distribution: str = "", version: str = "") -> Plugin:
        """Registers a plugin module that no entry point names (tests, embedding)."""
        plugin = Plugin(name, distribution or name, version, getattr(module, "__name__", name))
        self.plugins.append(plugin)
        self._adopt(plugin, module)
        return plugin

    def add_format(self, path: str) -> Plugin:
        """Registers a format file that lies in none of the folders, such as one that is being written."""
        from autofuse.formats import file_plugin, read_formats

        self.specs("autofuse_record_parsers")
        known = [plugin for plugin in self.plugins if os.path.realpath(plugin.module) == os.path.realpath(path)]
        if known:
            return known[0]
        plugin = file_plugin(path)
        self.plugins.append(plugin)
        read_formats(plugin, [path])
        for spec in plugin.specs.get("autofuse_record_parsers", ()):
            self._owners[id(spec)] = plugin
        return plugin

    def is_disabled(self, plugin: Plugin) -> bool:
        """Whether the config, the environment or --no-plugins switches it off."""
        names = {canonical(plugin.name), canonical(plugin.distribution)}
        return bool(names & self.disabled) or not (self.third_party or plugin.built_in)

    def _announce_new(self) -> None:
        if self._notice is None:
            return
        broken = [plugin for plugin in self.plugins if plugin.status == "broken"]
        lines = [f"plugin {one.name} ({one.origin}) is broken: {one.cause}; see `autofuse doctor`" for one in broken]
        # A command that nobody gets is explained when it is asked for.
        lines += [str(c) for c in self.clashes if c.winner is None and c.hook not in ("autofuse_commands", "plugin")]
        for line in lines:
            if line not in self._announced:
                self._announced.add(line)
                self._notice(line)

    def _take(self, entry: EntryPoint) -> None:
        plugin = Plugin(entry.name, entry.distribution, entry.version, entry.value)
        plugin.causes = [entry.cause] if entry.cause else []
        plugin.disabled = self.is_disabled(plugin)
        self.plugins.append(plugin)
        if plugin.status != "ok":
            return
        try:
            with results_only():
                module = _import(entry.value)
        except (Exception, SystemExit) as error:
            plugin.fail(f"import failed: {describe(error)}")
            return
        self._adopt(plugin, module)

    def _adopt(self, plugin: Plugin, module: Any) -> None:
        try:
            known = self._modules.get(id(module))
            problem = f"is the same module as the plugin {known[0].name}" if known else module_problem(module)
            if problem:
                plugin.fail(problem)
                return
            self._manager.register(module, name=f"{plugin.distribution}:{plugin.name}:{len(self._modules)}")
        except Exception as error:
            # pluggy's own refusal, or an object that answers none of the usual questions.
            plugin.fail(describe(error))
            return
        self._modules[id(module)] = (plugin, module)

    def _settle_plugin_names(self) -> None:
        named: Dict[str, List[Plugin]] = {}
        for plugin in self.plugins:
            if plugin.status == "ok":
                named.setdefault(plugin.name, []).append(plugin)
        for name, plugins in named.items():
            if len(plugins) > 1:
                winner = decide(plugins, self.config.preferred.get(name))
                self.clashes.append(Clash("plugin", name, tuple(plugins), winner))

    def _collect(self, hook: str) -> Dict[str, Spec]:
        kept, clashes = settle(hook, list(self._offers(hook)), self.config.preferred)
        self.clashes.extend(clashes)
        for plugin, spec in kept:
            self._owners[id(spec)] = plugin
        return {spec.name: spec for _, spec in kept}

    def _offers(self, hook: str) -> Iterator[Offer]:
        # An implementation of a plugin that failed later in its registration is not in `_modules`.
        found = getattr(self._manager.hook, hook).get_hookimpls()
        implementations = {
            self._modules[id(impl.plugin)][0]: impl for impl in found if id(impl.plugin) in self._modules
        }
        for plugin in self.plugins:
            if plugin in implementations:
                plugin.specs[hook] = self._ask(plugin, hook, implementations[plugin])
        if hook == "autofuse_record_parsers":
            self._add_formats()
        for plugin in self.plugins:
            for spec in plugin.specs.get(hook, ()):
                self._owners[id(spec)] = plugin
                yield Offer(plugin, spec)

    def _add_formats(self) -> None:
        from autofuse.formats import beside_module, folder_plugins, read_formats

        for plugin, module in self._modules.values():
            read_formats(plugin, beside_module(module))
        for plugin in folder_plugins(self.config) if self.third_party else ():
            plugin.disabled = self.is_disabled(plugin)
            self.plugins.append(plugin)
            if plugin.status == "ok":
                read_formats(plugin, [plugin.module])

    def _ask(self, plugin: Plugin, hook: str, impl: Any) -> List[Spec]:
        arguments = {"api_version": API_VERSION}
        try:
            with results_only():
                return checked_specs(hook, impl.function(**{name: arguments[name] for name in impl.argnames}))
        except SpecProblem as problem:
            plugin.fail(f"{hook} {problem}")
        except (Exception, SystemExit) as error:
            plugin.fail(f"{hook} failed: {describe(error)}")
        return []

    def _load(self, spec: Spec) -> Any:
        try:
            with results_only():
                return spec.load()
        except AutofuseError as error:
            self.owner(spec).fail(str(error))
            raise
        except (Exception, SystemExit) as error:
            plugin = self.owner(spec)
            plugin.fail(f"{spec.factory}: {describe(error)}")
            raise AutofuseError(
                f"{spec.name} of plugin {plugin.name} ({plugin.origin}) is broken: {describe(error)}",
                spec.factory,
                "see `autofuse doctor`",
                EXIT_BROKEN,
            ) from error


def _ordered(found: Iterator[EntryPoint]) -> List[EntryPoint]:
    """The project's own first, then by name."""
    return sorted(found, key=lambda entry: (entry.distribution not in BUILT_IN, entry.distribution, entry.name))


def _import(value: str) -> Any:
    module, _, attribute = value.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found


def _disabled(config: Config) -> FrozenSet[str]:
    named = os.environ.get("AUTOFUSE_DISABLE_PLUGINS", "").split(",")
    return frozenset(canonical(name.strip()) for name in (*named, *config.disabled) if name.strip())
