"""Decides between plugins that claim the same word: a name, a reporter's alias or suffix, a pair of layouts.

A plugin of the project wins over others, unless the config prefers another one; between others nothing decides, and
nobody gets the word until the config does. All claimants are named in the `Clash` that is kept for the user.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from autofuse.discovery import canonical
from autofuse.plugin import Plugin
from autofuse.types import LayoutSpec, ReporterSpec, Spec

__all__ = ["Clash", "Offer", "decide", "settle"]


class Offer(NamedTuple):
    """A spec and the plugin that yields it."""

    plugin: Plugin
    spec: Spec


@dataclass(frozen=True)
class Clash:
    """Two or more plugins claim one word of one hook (or, for the hook `plugin`, have one name)."""

    hook: str
    name: str
    plugins: Tuple[Plugin, ...]
    winner: Optional[Plugin]
    """None: no rule decides, so the name is not usable until the config says which to prefer."""

    def __str__(self) -> str:
        who = " and ".join(f"{plugin.origin} (plugin {plugin.name})" for plugin in self.plugins)
        used = f"{self.winner.origin} is used" if self.winner else "none is used"
        advice = f'set "{self.name}" in [plugins.prefer] of the config'
        return f"{self.hook} {self.name!r} comes from {who}; {used} ({advice})"


def settle(hook: str, offers: Sequence[Offer], preferred: Mapping[str, str]) -> Tuple[List[Offer], List[Clash]]:
    """The offers that stay, in the given order, each without the words it lost; and every clash there was.

    An offer that loses its name (also to an alias) or its pair of layouts goes; one that loses an alias or suffix stays
    without it.
    """
    lost, clashes = _losses(hook, offers, _names, preferred)
    staying = [offer for index, offer in enumerate(offers) if not lost[index]]
    lost, more = _losses(hook, staying, _further_words, preferred)
    kept = [_without(offer, lost[i]) for i, offer in enumerate(staying) if offer.spec.name.lower() not in lost[i]]
    return kept, clashes + more


def decide(plugins: Iterable[Plugin], preferred: Optional[str]) -> Optional[Plugin]:
    """The plugin that gets a word: the preferred one, else the project's own, else none."""
    known = list(dict.fromkeys(plugins))
    chosen = [plugin for plugin in known if preferred and _is_called(plugin, preferred)]
    chosen = chosen or [plugin for plugin in known if plugin.built_in]
    return chosen[0] if len(chosen) == 1 else None


def _is_called(plugin: Plugin, name: str) -> bool:
    return canonical(name) in (canonical(plugin.distribution), canonical(plugin.name)) or name == plugin.module


def _losses(
    hook: str, offers: Sequence[Offer], words: Callable[[Spec], Iterable[str]], preferred: Mapping[str, str]
) -> Tuple[List[Set[str]], List[Clash]]:
    """For each offer the words it loses to another one, and the clashes."""
    claims: Dict[str, List[int]] = {}
    for index, offer in enumerate(offers):
        for word in dict.fromkeys(words(offer.spec)):
            claims.setdefault(word, []).append(index)
    lost: List[Set[str]] = [set() for _ in offers]
    clashes = []
    for word, indexes in claims.items():
        if len(indexes) > 1:
            claimants = [offers[index].plugin for index in indexes]
            winner = decide(claimants, preferred.get(word))
            clashes.append(Clash(hook, word, tuple(claimants), winner))
            # A plugin that claims a word twice over gets it once.
            kept = indexes[claimants.index(winner)] if winner else None
            for index in indexes:
                if index != kept:
                    lost[index].add(word)
    return lost, clashes


def _names(spec: Spec) -> Iterable[str]:
    if isinstance(spec, LayoutSpec):
        return (spec.name, f"{spec.stored}->{spec.plain}")
    return (spec.name,)


def _further_words(spec: Spec) -> Iterable[str]:
    if isinstance(spec, ReporterSpec):
        return [word.lower() for word in (spec.name, *spec.aliases, *spec.suffixes)]
    return ()


def _without(offer: Offer, lost: Set[str]) -> Offer:
    if not lost or not isinstance(offer.spec, ReporterSpec):
        return offer
    aliases = tuple(alias for alias in offer.spec.aliases if alias.lower() not in lost)
    suffixes = tuple(suffix for suffix in offer.spec.suffixes if suffix.lower() not in lost)
    return Offer(offer.plugin, replace(offer.spec, aliases=aliases, suffixes=suffixes))
