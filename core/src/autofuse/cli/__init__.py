"""The command line: a lazy root, `run`, `plugins`, `doctor` and `schema`."""
