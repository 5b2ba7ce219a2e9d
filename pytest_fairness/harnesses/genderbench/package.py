"""The installed genderbench package: its probing code without its API clients, and without side effects.

It pins clients older than ours, so it is installed with ``pip install --no-deps``, and its
clients are never imported. It seeds the global `random` and downloads files, so it runs
within `undisturbed`.
"""

from __future__ import annotations

import importlib
import random
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean

NEEDS = ("nltk", "pandas", "tqdm")
"""The packages that its probing code imports besides numpy and scipy."""
_GENERATORS = "genderbench.generators"


def installed_version() -> str:
    """Return the version of the package.

    Raises `FairnessError`, in one line, where it is not installed.
    """
    try:
        return version("genderbench")
    except PackageNotFoundError:
        raise FairnessError(
            "genderbench is not installed: "
            f"pip install --no-deps genderbench==0.5.0 and pip install {' '.join(NEEDS)} (Python 3.11)"
        ) from None


def probe_classes() -> dict[str, type[Any]]:
    """Return its probes by name, without the ending: ``Direct``, ``JobsLum``.

    Raises `FairnessError`, in one line, where the package or what its probing code needs is not installed.
    """
    probes = _import("genderbench.probes")
    if sys.version_info < (3, 12):
        _patch_locals(sys.modules["genderbench.probes.hiring_an.hiring_an_metric_calculator"])
    return {name.removesuffix("Probe"): getattr(probes, name) for name in probes.__all__}


def probe_class(name: str) -> type[Any]:
    """Return one of its probes. Raises `FairnessError` as `probe_classes`, and for a name that is none."""
    classes = probe_classes()
    if name not in classes:
        raise FairnessError(f"GenderBench has no probe {name!r}; {did_you_mean(name, classes)}")
    return classes[name]


@cache
def harness_options() -> dict[str, dict[str, Any]]:
    """Return repetitions and sample size of each probe in its own default harness."""
    harness = _import("genderbench.harnesses.default")
    with undisturbed():
        probes = harness.DefaultHarness().probes
    return {
        type(probe).__name__.removesuffix("Probe"): {
            "num_repetitions": probe.num_repetitions,
            "sample_k": probe.sample_k,
        }
        for probe in probes
    }


def _import(name: str) -> ModuleType:
    installed_version()
    with _without_clients():
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise FairnessError(
                f"genderbench needs {error.name}, which is not installed: pip install {' '.join(NEEDS)}"
            ) from None


def _patch_locals(module: Any) -> None:
    """Make a function's ``locals()`` readable in a comprehension of HiringAn's calculator, as from Python 3.12 on.

    Before, a comprehension is a function of its own (PEP 709), and GenderBench's calculator raises a `KeyError`.
    """
    module.locals = lambda: sys._getframe(2).f_locals


@contextmanager
def _without_clients() -> Iterator[None]:
    """Replace its package of generators by an empty one within the block: its ``__init__`` would import the clients."""
    spec = None if _GENERATORS in sys.modules else find_spec(_GENERATORS)
    if spec is None:
        yield
        return
    bare = sys.modules[_GENERATORS] = module_from_spec(spec)
    try:
        yield
    finally:
        if sys.modules.get(_GENERATORS) is bare:  # so that a later import loads the real package
            del sys.modules[_GENERATORS]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Suppress downloads and warnings within the block, and restore the state of `random` after it.

    The warnings are of files that it leaves open, and of samples where all answers agree.
    """
    nltk: Any = importlib.import_module("nltk")
    state, download = random.getstate(), nltk.download
    nltk.download = lambda *_, **__: False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        nltk.download = download
        random.setstate(state)


def check_tokenizer(name: str, evaluator: object) -> None:
    """Check that the tokenizer of an evaluator has its model.

    Raises `FairnessError`, in one line, where NLTK's punkt model is not on this machine.
    """
    tokenize = getattr(sys.modules[type(evaluator).__module__], "word_tokenize", None)
    if tokenize is None:
        return
    try:
        tokenize("Yes. No.")
    except LookupError as error:
        match = re.search(r"punkt\w*", str(error))
        model = match[0] if match else "punkt"
        raise FairnessError(
            f"GenderBench's {name} needs NLTK's {model} model, which is not here: python -m nltk.downloader {model}"
        ) from None
