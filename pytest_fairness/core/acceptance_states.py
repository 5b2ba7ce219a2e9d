"""States of accepted verdicts in a run, and the name of their file: what every run needs of them."""

from __future__ import annotations

FILE = "fairness-accepted.toml"
"""The file of accepted verdicts, in the folder of the ini file."""

ACCEPTED = "accepted"
"""The state of an acceptance that covers its threshold's verdict; also the outcome of the test that passes by it."""
BROKEN = "broken"
"""The state of an acceptance that does not cover the verdict, for a reason."""
EXPIRED = "expired"
"""The state of an acceptance whose last day is over."""
NOT_NEEDED = "not needed"
"""The state of an acceptance whose threshold is fair."""
NOT_USED = "not used"
"""The state of an acceptance whose threshold was not judged in this run."""
