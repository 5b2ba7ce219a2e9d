"""Cost of a test of a declared item, against the same suite in Python.

    python -m tests.benchmarks.declared [ITEMS] [ROUNDS]

Both ask a simulated model the same prompts, from a warm store, without other plugins: what is compared is pytest and
this plugin. Printed are the seconds of processor time of each run, in turn, and the cost of one more test: of a run
with all items less one with ten.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

PYTHON = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def items():
    for n in range({count}):
        yield ProbeItem(f"{{n:05}}", [
            Prompt(f"{{name}} applies, case {{n}}. Yes or no?", {{"gender": group}}, slots={{"name": name}})
            for group, name in (("female", "Anna"), ("male", "Ben"))
        ])

@pytest.mark.probe(items=items, grade={{"hired": YesNo()}})
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""
YAML = """
probe: hiring
template: "{{{{ name }}}} applies, case {{{{ n }}}}. Yes or no?"
vary:
  gender:
    female: {{name: Anna}}
    male: {{name: Ben}}
grade: {{hired: yes-no}}
items:
{rows}
"""


def seconds(folder: Path) -> float:
    """Return the processor's seconds of one run; raise where a test failed."""
    start = _used()
    arguments = ["-q", "--disable-plugin-autoload", "-p", "fairness", "-p", "no:cacheprovider"]
    fairness = ["--fairness-report=none", "--fairness-model=simulated:half?base=0.5"]
    command = [sys.executable, "-m", "pytest", *arguments, *fairness]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(process.stdout + process.stderr)
    return _used() - start


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write(root: Path, count: int) -> dict[str, Path]:
    """Write the two suites, each in a folder of its own."""
    rows = "\n".join(f"  - {{id: '{n:05}', n: {n}}}" for n in range(count))
    texts = {"python": ("test_hiring.py", PYTHON.format(count=count))}
    texts["declared"] = ("hiring.probe.yaml", YAML.format(rows=rows))
    folders = {}
    for kind, (name, text) in texts.items():
        folders[kind] = root / f"{kind}_{count}"
        folders[kind].mkdir()
        (folders[kind] / name).write_text(text, encoding="utf-8")
        (folders[kind] / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folders


def main(items: int = 2_000, rounds: int = 2) -> None:
    """Print what each kind of suite costs."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    with tempfile.TemporaryDirectory() as name:
        few, many = write(Path(name), 10), write(Path(name), items)
        for folder in (*few.values(), *many.values()):
            seconds(folder)  # fills the store
        costs_of: dict[str, list[float]] = {"python": [], "declared": []}
        for _ in range(rounds):
            for kind, costs in costs_of.items():
                least, most = seconds(few[kind]), seconds(many[kind])
                costs.append(1000 * (most - least) / (items - 10))
                print(f"{kind:9} 10 items {least:6.2f} s, {items:,} items {most:6.2f} s: {costs[-1]:.3f} ms a test")
    python, declared = median(costs_of["python"]), median(costs_of["declared"])
    print(f"python {python:.3f} ms, declared {declared:.3f} ms: {python / declared:.1f} times")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
