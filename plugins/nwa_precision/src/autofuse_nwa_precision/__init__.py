"""The command `precision`: compares the dumps of a run with automatic fusion to those of a run without it."""
