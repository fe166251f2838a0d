"""``python -m dissensus`` is the command ``dissensus``."""

import sys

from dissensus._dissensus import main

sys.exit(main())
