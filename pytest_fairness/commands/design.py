"""The command that designs a benchmark: ``pytest-fairness design``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.commands.parsing import Commands, add_store
from pytest_fairness.core.errors import FairnessError, near

if TYPE_CHECKING:
    from pytest_fairness.design.designers.protocol import Designer
    from pytest_fairness.design.loop import Design
    from pytest_fairness.design.objectives import Objective
    from pytest_fairness.design.records import Iteration
    from pytest_fairness.design.students import Student
    from pytest_fairness.engine.engine import Engine

_EXAMPLES = """examples:
  pytest-fairness design                                  a trained student, the embedded optimiser, a ratio of 1
  pytest-fairness design --designer openai:gpt-5-mini     a language model designs
  pytest-fairness design --student openai:gpt-5-mini      a language model is tested, on emotions told in words
  pytest-fairness design --objective worst --accuracy 0.8 --iterations 40
  pytest-fairness design --objective front --iterations 30
  pytest-fairness design --out mine.json --resume         go on with a design that was stopped
  pytest suites/emotion --fairness-data emotion=DIR       run DIR/design.json as a gate
"""
_DESIGNERS = ("optimiser", "rs-ppr", "bon-tm", "bon-ml")
_STUDENTS = ("trained", "linear")
_SAMPLES, _SAMPLES_OF_MODELS = 1000, 100


def add(commands: Commands) -> None:
    """Declare it."""
    parser = commands.add_parser(
        "design",
        help="choose a benchmark's parameters so that it shows what it should",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--student",
        default="trained",
        metavar="WHO",
        help=f"{' or '.join(_STUDENTS)}, a .safetensors file of weights, or a model, provider:name (trained)",
    )
    parser.add_argument(
        "--designer", default="optimiser", metavar="WHO", help=f"{', '.join(_DESIGNERS)}, or a model, provider:name"
    )
    parser.add_argument("--objective", choices=("target", "worst", "front"), default="target", help="what is wanted")
    parser.add_argument("--target", type=float, default=1.0, metavar="RHO", help="the ratio to reach (1.0)")
    parser.add_argument("--accuracy", type=float, default=0.8, metavar="SHARE", help="with worst: at least (0.8)")
    parser.add_argument("--iterations", type=int, default=10, metavar="N", help="evaluations at most (10)")
    parser.add_argument("--threshold", type=float, default=0.05, metavar="GAP", help="stop under this gap (0.05)")
    parser.add_argument(
        "--samples", type=int, metavar="N", help=f"a neurotype and evaluation ({_SAMPLES}; models {_SAMPLES_OF_MODELS})"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="decides all draws (0)")
    parser.add_argument("--out", type=Path, default=Path("design.json"), metavar="FILE", help="the frozen benchmark")
    parser.add_argument("--resume", action="store_true", help="go on from FILE's record, FILE with the ending .jsonl")
    add_store(parser)
    parser.set_defaults(run=_design)


def _design(chosen: argparse.Namespace) -> None:
    from pytest_fairness.design.emotion import EmotionBenchmark
    from pytest_fairness.design.frozen import Frozen
    from pytest_fairness.design.loop import design, explained
    from pytest_fairness.design.spaces import EMOTION

    _check_torch()
    if chosen.samples is not None and chosen.samples < 2:
        raise FairnessError(f"--samples is {chosen.samples}: it must be at least 2")
    objective = _objective(chosen)
    with _engine(chosen) as engine:
        designer = _designer(chosen, engine)
        student, model = _student(chosen, engine)
        samples = chosen.samples or (_SAMPLES_OF_MODELS if model else _SAMPLES)
        benchmark = EmotionBenchmark(student, samples, target=chosen.target)
        found = design(
            benchmark,
            EMOTION,
            objective=objective,
            designer=designer,
            iterations=chosen.iterations,
            threshold=chosen.threshold,
            seed=chosen.seed,
            record=chosen.out.with_suffix(".jsonl"),
            resume=chosen.resume,
            about={"student": model or chosen.student, "samples": samples},
            on_iteration=_tell,
        )
    for line in explained(found):
        print(line)
    if chosen.objective == "front":
        _tell_front(found)
    Frozen.of(found, benchmark, model).write(chosen.out)
    print(f"written: {chosen.out}")


def _check_torch() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("torch", "sklearn") if find_spec(name) is None]
    if missing:
        raise FairnessError(f"a design needs {' and '.join(missing)}: pip install './pytest-fairness[design]'")


def _objective(chosen: argparse.Namespace) -> Objective:
    from pytest_fairness.design.objectives import Front, Target, Worst

    if chosen.objective == "worst":
        return Worst(chosen.accuracy)
    return Front(target=chosen.target) if chosen.objective == "front" else Target(chosen.target)


@contextmanager
def _engine(chosen: argparse.Namespace) -> Iterator[Engine | None]:
    """An engine, where a model is to be asked."""
    if ":" not in f"{chosen.student}{chosen.designer}":
        yield None
        return
    from pytest_fairness.design.asking import opened_engine

    with opened_engine(chosen.store) as engine:
        yield engine


def _model(name: str) -> Any:
    from pytest_fairness.models.aliases import read_aliases
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.environment import read_environment
    from pytest_fairness.models.registry import resolve

    context = ModelContext(Path.cwd(), read_environment())
    return resolve(name, aliases=read_aliases(context.root), context=context)


def _designer(chosen: argparse.Namespace, engine: Engine | None) -> Designer:
    from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
    from pytest_fairness.design.designers.language import LanguageDesigner
    from pytest_fairness.design.designers.optimiser import Optimiser

    name = chosen.designer
    if engine is not None and ":" in name:
        from pytest_fairness.design.asking import ask

        model = _model(name)
        return LanguageDesigner(model.name, lambda prompt: ask(engine, model, [prompt], chosen.seed)[0])
    known: dict[str, Designer] = {
        each.name: each for each in (Optimiser(), RandomReplay(), BestOfTarget(), BestOfLearned())
    }
    if name not in known:
        raise FairnessError(f"designer is {name!r}: {near(name, known)}, or provider:name for a model")
    return known[name]


def _student(chosen: argparse.Namespace, engine: Engine | None) -> tuple[Student, str]:
    """The student, and its name where it is a language model."""
    from pytest_fairness.design.classifier import Classifier
    from pytest_fairness.design.closed_form import LinearReader

    name = chosen.student
    if name == "linear":
        return LinearReader(), ""
    if name.endswith(".safetensors"):
        return Classifier.load(name), ""
    if name == "trained":
        from pytest_fairness.design.training import train

        print("training a student, once, on samples of its own ...")
        return train(seed=chosen.seed), ""
    if engine is None or ":" not in name:
        raise FairnessError(f"student is {name!r}: {near(name, _STUDENTS)}, a .safetensors file, or provider:name")
    from pytest_fairness.design.asking import ask
    from pytest_fairness.design.descriptions import TextStudent
    from pytest_fairness.graders.choice import Choice

    model = _model(name)
    return TextStudent(
        lambda prompts: [each.answer for each in ask(engine, model, prompts)], Choice().grade
    ), model.name


def _tell(iteration: Iteration) -> None:
    """One line, as each iteration completes. What a model wrote is shown without control characters."""
    from pytest_fairness.report.texts import visible

    if iteration.parameters is None:
        print(f"{iteration.number:3}  skipped: {visible(iteration.notes[-1])[:200]}", flush=True)
        return
    values = ", ".join(
        ("on" if value else "off")
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
        for value in iteration.parameters.values()
    )
    ratio = iteration.figures.get("accuracy_ratio")
    losses = " ".join(f"{loss:.3f}" for loss in iteration.losses)
    repaired = f"  ({len(iteration.notes)} repaired)" if iteration.notes else ""
    print(f"{iteration.number:3}  {values}  ratio {ratio}  loss {losses}{repaired}", flush=True)


def _tell_front(found: Design) -> None:
    ends = getattr(found.task.objective, "ends", ())
    print("Pareto front, none of which another beats in all ends:")
    print(f"  iteration  {'  '.join(f'{end:>12}' for end in ends)}")
    for each in found.front:
        print(f"  {each.number:>9}  {'  '.join(f'{loss:12.3f}' for loss in each.losses)}")
