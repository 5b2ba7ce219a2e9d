"""``pytest-fairness design``: a benchmark whose parameters an optimizer or a model chooses."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    Commands,
    add_command,
    add_store,
    did_you_mean,
    number_argument,
    whole_number_argument,
)

if TYPE_CHECKING:
    from pytest_fairness.design.designers.protocol import Designer
    from pytest_fairness.design.emotion import EmotionBenchmark
    from pytest_fairness.design.loop import Design
    from pytest_fairness.design.objectives import Objective
    from pytest_fairness.design.records import Iteration
    from pytest_fairness.design.students import Student
    from pytest_fairness.extending import Engine

_EXAMPLES = """examples:
  pytest-fairness design                                  a trained student, the embedded optimizer, a ratio of 1
  pytest-fairness design --designer openai:gpt-5-mini     a language model designs
  pytest-fairness design --student openai:gpt-5-mini      a language model is tested, on emotions in words
  pytest-fairness design --objective worst --accuracy 0.8 --iterations 40
  pytest-fairness design --objective front --iterations 30
  pytest-fairness design --recordings DIR --objective worst --accuracy 0.5
                                                          on voices of your own: DIR/recordings.csv and WAV files
  pytest-fairness design --compare --seeds 10             gap, spread and iterations of every designer
  pytest-fairness design --out mine.json --resume         continue a design that was stopped
  pytest --pyargs pytest_fairness.suites.emotion          run DIR/design.json as a gate, with emotion = "DIR" in
                                                          [tool.pytest-fairness.data] of pyproject.toml
"""
_DESIGNERS = ("optimizer", "rs-ppr", "bon-tm", "bon-ml")
_STUDENTS = ("trained", "linear")
_SAMPLES, _SAMPLES_OF_MODELS = 1000, 100


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "design", "choose the parameters of a benchmark by an objective")
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--student",
        default="trained",
        metavar="WHO",
        help=f"{' or '.join(_STUDENTS)}, a .safetensors file of weights, or a model, provider:name (trained)",
    )
    parser.add_argument(
        "--designer", default="optimizer", metavar="WHO", help=f"{', '.join(_DESIGNERS)}, or a model, provider:name"
    )
    parser.add_argument(
        "--objective", choices=("target", "worst", "front"), default="target", help="the objective (target)"
    )
    parser.add_argument("--target", type=number_argument, default=1.0, metavar="RHO", help="the ratio to reach (1.0)")
    parser.add_argument(
        "--accuracy",
        type=number_argument,
        default=0.8,
        metavar="SHARE",
        help="least accuracy of the objective worst (0.8)",
    )
    parser.add_argument(
        "--iterations", type=whole_number_argument, default=10, metavar="N", help="maximum number of evaluations (10)"
    )
    parser.add_argument(
        "--threshold", type=number_argument, default=0.05, metavar="GAP", help="stop under this gap (0.05)"
    )
    parser.add_argument(
        "--samples",
        type=whole_number_argument,
        metavar="N",
        help=f"samples per neurotype and evaluation ({_SAMPLES}; models {_SAMPLES_OF_MODELS})",
    )
    parser.add_argument("--seed", type=whole_number_argument, default=0, metavar="N", help="seed of all draws (0)")
    parser.add_argument("--out", type=Path, default=Path("design.json"), metavar="FILE", help="the frozen benchmark")
    parser.add_argument("--resume", action="store_true", help="continue from the record of FILE, which ends in .jsonl")
    parser.add_argument(
        "--recordings", type=Path, metavar="DIR", help="design on recordings: recordings.csv and WAV files in DIR"
    )
    parser.add_argument(
        "--compare", action="store_true", help="compare the designer with the three baselines; writes no file"
    )
    parser.add_argument(
        "--seeds", type=whole_number_argument, default=5, metavar="N", help="searches of each compared designer (5)"
    )
    add_store(parser)
    parser.set_defaults(run=_design)


def _design(options: argparse.Namespace) -> None:
    from pytest_fairness.design.emotion import EmotionBenchmark
    from pytest_fairness.design.frozen import Frozen
    from pytest_fairness.design.loop import design, explained
    from pytest_fairness.design.records import check_record
    from pytest_fairness.design.search_space import EMOTION

    _check_torch() if options.recordings is None else _check_recordings(options)
    record: Path = options.out.with_suffix(".jsonl")
    if options.compare:
        _check_comparison(options)
    else:
        check_record(record, resume=options.resume)
    if options.recordings is not None:
        _design_on_recordings(options, record)
        return
    if options.samples is not None and options.samples < 2:
        raise FairnessError(f"--samples is {options.samples}: it must be at least 2")
    objective = _objective(options)
    with _engine(options) as engine:
        find_model = cache(_model)  # one for each name: the engine closes one for each key
        designer = _designer(options, engine, find_model)
        student, model = _student(options, engine, find_model)
        samples = options.samples or (_SAMPLES_OF_MODELS if model else _SAMPLES)
        benchmark = EmotionBenchmark(student, samples, target=options.target)
        if options.compare:
            _compare(options, benchmark, designer)
            return
        result = design(
            benchmark,
            EMOTION,
            objective=objective,
            designer=designer,
            iterations=options.iterations,
            threshold=options.threshold,
            seed=options.seed,
            record=record,
            resume=options.resume,
            about={"student": model or options.student, "samples": samples},
            on_iteration=_print_iteration,
        )
    for line in explained(result):
        print(line)
    if options.objective == "front":
        _print_front(result)
    Frozen.of(result, benchmark, model).write(options.out)
    print(f"written: {options.out}")


def _check_recordings(options: argparse.Namespace) -> None:
    from importlib.util import find_spec

    usual = {"student": "trained", "samples": None, "compare": False}
    changed = [name for name, value in usual.items() if getattr(options, name) != value]
    if changed:
        raise FairnessError(f"--recordings with --{changed[0]}: a reader is trained on half of the speakers")
    if options.objective == "front":
        raise FairnessError("--recordings with --objective front: name target or worst")
    missing = [name for name in ("parselmouth", "sklearn") if find_spec(name) is None]
    if missing:
        raise FairnessError(f"recordings need {' and '.join(missing)}: pip install './pytest-fairness[recordings]'")


def _design_on_recordings(options: argparse.Namespace, record: Path) -> None:
    """Design the conditions under which recordings are heard, and write the winner with its figures."""
    from pytest_fairness.design.loop import design, explained
    from pytest_fairness.design.records import write_design_file
    from pytest_fairness.design.voice_recordings import RECORDINGS, read_recordings
    from pytest_fairness.extending import json_text

    voices = read_recordings(options.recordings)
    with _engine(options) as engine:
        result = design(
            voices,
            RECORDINGS,
            objective=_objective(options),
            designer=_designer(options, engine, cache(_model)),
            iterations=options.iterations,
            threshold=options.threshold,
            seed=options.seed,
            fresh_evaluate=voices.held_out,
            record=record,
            resume=options.resume,
            about={"recordings": len(voices.recordings), "groups": list(voices.groups)},
            on_iteration=_print_iteration,
        )
    for line in explained(result):
        print(line)
    print(f"ratios are of {voices.groups[0]} to {voices.groups[1]}; fresh figures are of speakers held out")
    document = {
        "schema": 1,
        "recordings": len(voices.recordings),
        "groups": list(voices.groups),
        "parameters": dict(result.best.parameters or {}),
        "search": {"designer": result.designer, "iterations": len(result.iterations), "loss": result.best.loss},
        "figures": {name: figure.document() for name, figure in result.fresh.items()},
    }
    write_design_file(options.out, json_text.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"written: {options.out}")


def _check_comparison(options: argparse.Namespace) -> None:
    if options.objective != "target":
        raise FairnessError(f"--compare with --objective {options.objective}: gaps to a target are compared")
    if options.resume:
        raise FairnessError("--compare with --resume: a comparison keeps no record")


def _compare(options: argparse.Namespace, benchmark: EmotionBenchmark, designer: Designer) -> None:
    """Print a table of the designer and the baselines."""
    from pytest_fairness.design.designer_comparison import compare_designers, comparison_table
    from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
    from pytest_fairness.design.objectives import Target
    from pytest_fairness.design.search_space import EMOTION

    baselines = [make for make in (RandomReplay, BestOfTarget, BestOfLearned) if make.name != designer.name]
    seeds = range(options.seed, options.seed + options.seeds)
    results = compare_designers(
        benchmark,
        EMOTION,
        [lambda: designer, *baselines],
        objective=Target(options.target),
        iterations=options.iterations,
        threshold=options.threshold,
        seeds=seeds,
        on_seed=lambda seed: print(f"seed {seed} of {seeds[0]} to {seeds[-1]} done", flush=True),
    )
    print(*comparison_table(results, options.threshold).text(), sep="\n")
    print("Gaps are those of the winners on fresh seeds; every designer starts at the same random parameters.")


def _check_torch() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("torch", "sklearn") if find_spec(name) is None]
    if missing:
        raise FairnessError(f"a design needs {' and '.join(missing)}: pip install './pytest-fairness[design]'")


def _objective(options: argparse.Namespace) -> Objective:
    from pytest_fairness.design.objectives import Front, Target, Worst

    if options.objective == "worst":
        return Worst(options.accuracy)
    return Front(target=options.target) if options.objective == "front" else Target(options.target)


@contextmanager
def _engine(options: argparse.Namespace) -> Iterator[Engine | None]:
    """Open an engine if the student or the designer is a model."""
    if ":" not in f"{options.student}{options.designer}":
        yield None
        return
    from pytest_fairness.design.queries import opened_engine

    with opened_engine(options.store) as engine:
        yield engine


def _model(name: str) -> Any:
    from pytest_fairness.extending import ModelContext, read_aliases, read_environment, resolve_model

    context = ModelContext(Path.cwd(), read_environment())
    return resolve_model(name, aliases=read_aliases(context.root), context=context)


def _designer(options: argparse.Namespace, engine: Engine | None, find_model: Callable[[str], Any]) -> Designer:
    from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
    from pytest_fairness.design.designers.language import LanguageDesigner
    from pytest_fairness.design.designers.optimizer import Optimizer

    name = options.designer
    if engine is not None and ":" in name:
        from pytest_fairness.design.queries import ask

        model = find_model(name)
        return LanguageDesigner(model.name, lambda prompt: ask(engine, model, [prompt], options.seed)[0])
    built_in: dict[str, Designer] = {
        designer.name: designer for designer in (Optimizer(), RandomReplay(), BestOfTarget(), BestOfLearned())
    }
    if name not in built_in:
        raise FairnessError(f"designer is {name!r}: {did_you_mean(name, built_in)}, or provider:name for a model")
    return built_in[name]


def _student(
    options: argparse.Namespace, engine: Engine | None, find_model: Callable[[str], Any]
) -> tuple[Student, str]:
    """Return the student, and its name where it is a language model."""
    from pytest_fairness.design.classifier import Classifier
    from pytest_fairness.design.closed_form import LinearReader

    name = options.student
    if name == "linear":
        return LinearReader(), ""
    if name.endswith(".safetensors"):
        return Classifier.load(name), ""
    if name == "trained":
        from pytest_fairness.design.training import train

        print("training a student, once, on samples of its own ...")
        return train(seed=options.seed), ""
    if engine is None or ":" not in name:
        raise FairnessError(
            f"student is {name!r}: {did_you_mean(name, _STUDENTS)}, a .safetensors file, or provider:name"
        )
    from pytest_fairness import Choice
    from pytest_fairness.design.descriptions import TextStudent
    from pytest_fairness.design.queries import ask

    model = find_model(name)
    return TextStudent(
        lambda prompts: [attempt.answer for attempt in ask(engine, model, prompts)], Choice().grade
    ), model.name


def _print_iteration(iteration: Iteration) -> None:
    """Print a line for an iteration, without control characters in what a model wrote."""
    from pytest_fairness.extending import escape_controls

    if iteration.parameters is None:
        print(f"{iteration.number:3}  skipped: {escape_controls(iteration.notes[-1])[:200]}", flush=True)
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
    repaired = f"  ({len(iteration.notes)} repaired)" if iteration.notes else ""
    print(f"{iteration.number:3}  {values}  ratio {ratio}  loss {iteration.loss_text}{repaired}", flush=True)


def _print_front(design: Design) -> None:
    ends = getattr(design.task.objective, "ends", ())
    print("Pareto front, none of which another beats in all ends:")
    print(f"  iteration  {'  '.join(f'{end:>12}' for end in ends)}")
    for iteration in design.front:
        print(f"  {iteration.number:>9}  {'  '.join(f'{loss:12.3f}' for loss in iteration.losses)}")
