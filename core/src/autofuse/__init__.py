"""autofuse: a small plugin host for people who tune and debug automatic operator fusion on Ascend chips.

Everything the tool does is done by plugins; this package finds them, gives them the command line, the line scanner and
the report model, and keeps the others working when one is broken.
"""

__all__ = ["API_VERSION", "__version__"]

__version__ = "0.1.0"

API_VERSION = 1
"""Version of the hook interface. Within one version arguments and fields are added, never removed."""
