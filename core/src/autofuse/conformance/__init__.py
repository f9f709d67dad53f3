"""The conformance kit: runs everything that a plugin offers the way the host does, on samples and on hostile input.

`autofuse plugins check` prints what `check_plugin` gives; a plugin's own tests may call it as well. There is one module
for the parsers, one for what renders or converts, one for commands, one for the rest.
"""

from __future__ import annotations

from autofuse.conformance.kit import Check, check_plugin, find_plugins

__all__ = ["Check", "check_plugin", "find_plugins"]
