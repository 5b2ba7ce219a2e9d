"""``python -m pytest_fairness``: the command line of the interpreter that is named, wherever its scripts lie."""

import sys

from pytest_fairness.cli.main import main

sys.exit(main())
