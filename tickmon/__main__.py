"""``python -m tickmon``."""

import sys

from tickmon.cli import main

sys.exit(main())
