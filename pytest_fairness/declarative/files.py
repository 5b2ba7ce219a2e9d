"""Names of files that declare probes, and the suites that they name."""

from __future__ import annotations

from pathlib import PurePath

ENDINGS = (".probe.yaml", ".probe.yml", ".probe.jsonl")


def suite_in(path: PurePath | str) -> str | None:
    """Return the suite that a file declares: its name without the ending; None where it declares none.

    >>> suite_in("suites/pay.probe.yaml"), suite_in("suites/test_pay.py")
    ('pay', None)
    """
    name = PurePath(path).name
    ending = next((ending for ending in ENDINGS if name.endswith(ending) and name != ending), None)
    return None if ending is None else name.removesuffix(ending)
