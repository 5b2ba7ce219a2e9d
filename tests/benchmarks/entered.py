"""Functions and files of the package that the test of one stored threshold enters.

    python tests/benchmarks/entered.py [--list]

A small project is run twice in processes of their own: the second run has its answers from the store. Counted are the
distinct functions of the package, comprehensions and lambdas apart, from the set-up of the threshold's test to the end
of its teardown's report; ``--list`` prints them by file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest_fairness

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.helpers.project_sources import ONE_THRESHOLD

PACKAGE = Path(pytest_fairness.__file__).parent
CONFTEST = """
import sys
import pytest

PACKAGE = {package!r}
entered = set()

@pytest.fixture(scope="session")
def model():
    return lambda text: "Yes." if int(text.split()[1]) % 3 else "No."

def profile(frame, event, value):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
        entered.add(code.co_filename[len(PACKAGE) + 1 :] + " " + code.co_qualname)

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    if item.get_closest_marker("threshold"):
        sys.setprofile(profile)
    try:
        return (yield)
    finally:
        sys.setprofile(None)

def pytest_unconfigure(config):
    (config.rootpath / "entered.txt").write_text("\\n".join(sorted(entered)))
"""


def main() -> None:
    """Run the project twice, and print the counts of the second run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "conftest.py").write_text(CONFTEST.replace("{package!r}", repr(str(PACKAGE))))
        (folder / "test_cases.py").write_text(ONE_THRESHOLD)
        for _ in range(2):
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:xdist",
                "-p",
                "no:randomly",
                "-p",
                "no:cacheprovider",
            ]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        entered = [line.split(" ", 1) for line in (folder / "entered.txt").read_text().splitlines()]
    if "--list" in sys.argv:
        for file, function in entered:
            print(file, function)
    rooms = Counter(file.split("/", maxsplit=1)[0] for file, _ in entered)
    print(f"{len(entered)} functions in {len({file for file, _ in entered})} files: {dict(rooms.most_common())}")


if __name__ == "__main__":
    main()
