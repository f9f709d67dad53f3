"""verify-tiling: compile the tiling code that Autofuse generated and check its ABI, with CANN or without.

`autofuse_att_verify.verify` is the work as a function; `cli` is the command. Reading logs is left to att_summary.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
