"""Writes the logs of generated tiling code from a model of a run: the twin of the log parsers, for tests.

`Run` says what happened, `write` makes log files of it, `expected` says what a parser should make of those.
"""
