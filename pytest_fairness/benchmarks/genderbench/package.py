"""The installed genderbench package: its probing code without its API clients, and without side effects.

It pins clients older than ours, so it is installed with ``pip install --no-deps``, and its
clients are never imported. It seeds the global `random` and downloads as it likes: what it
does is done within `undisturbed`.
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

from pytest_fairness.core.errors import FairnessError, did_you_mean

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
    probes = _imported("genderbench.probes")
    if sys.version_info < (3, 12):
        _give_locals(sys.modules["genderbench.probes.hiring_an.hiring_an_metric_calculator"])
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
    harness = _imported("genderbench.harnesses.default")
    with undisturbed():
        probes = harness.DefaultHarness().probes
    return {
        type(probe).__name__.removesuffix("Probe"): {
            "num_repetitions": probe.num_repetitions,
            "sample_k": probe.sample_k,
        }
        for probe in probes
    }


def _imported(name: str) -> ModuleType:
    installed_version()
    with _without_clients():
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise FairnessError(
                f"genderbench needs {error.name}, which is not installed: pip install {' '.join(NEEDS)}"
            ) from None


def _give_locals(module: Any) -> None:
    """Let its calculator of HiringAn read a function's ``locals()`` in a comprehension, as from Python 3.12 on.

    Before, a comprehension is a function of its own (PEP 709), and GenderBench's calculator raises a `KeyError`.
    """
    module.locals = lambda: sys._getframe(2).f_locals


@contextmanager
def _without_clients() -> Iterator[None]:
    """Within the block, its package of generators is there but its ``__init__`` is not run: it imports the clients."""
    spec = None if _GENERATORS in sys.modules else find_spec(_GENERATORS)
    if spec is None:
        yield
        return
    bare = sys.modules[_GENERATORS] = module_from_spec(spec)
    try:
        yield
    finally:
        if sys.modules.get(_GENERATORS) is bare:  # who wants the clients imports them later, whole
            del sys.modules[_GENERATORS]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within the block nothing is downloaded and no warning given; after it, `random` goes on where it was.

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
    """Make sure that an evaluator which splits answers into words can do so.

    Raises `FairnessError`, in one line, where NLTK's punkt model is not on this machine.
    """
    tokenize = getattr(sys.modules[type(evaluator).__module__], "word_tokenize", None)
    if tokenize is None:
        return
    try:
        tokenize("Yes. No.")
    except LookupError as error:
        named = re.search(r"punkt\w*", str(error))
        model = named[0] if named else "punkt"
        raise FairnessError(
            f"GenderBench's {name} needs NLTK's {model} model, which is not here: python -m nltk.downloader {model}"
        ) from None
