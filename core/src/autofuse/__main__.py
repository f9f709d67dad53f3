"""`python -m autofuse`."""

import sys

from autofuse.cli.main import main

sys.exit(main())
