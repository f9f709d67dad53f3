"""`python -m autofuse`."""

import sys

from autofuse.cli.entry import run

sys.exit(run())
