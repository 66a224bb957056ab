"""Some tests have a long form, with the numbers that docs/evidence.md reports: APPLOCKER_LONG=1."""

import os

IS_LONG = "APPLOCKER_LONG" in os.environ
