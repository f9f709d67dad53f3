"""Which template was chosen and why: the ATT record parsers, the run model, and the commands that are views of it."""
