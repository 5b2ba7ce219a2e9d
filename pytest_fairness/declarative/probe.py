"""Probes that a file declares: the arguments of their marks, and their thresholds."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness.core.controls import OPTIONS, read_controls
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.extensions import GRADERS
from pytest_fairness.core.formatting import LONGEST_TITLE, title_fault
from pytest_fairness.core.grader_declarations import DeclaredGrader, GraderDeclaration
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.tools import read_tools
from pytest_fairness.declarative.data import AllowedFolders
from pytest_fairness.declarative.expressions import Expression, ExpressionError, ProbeVocabulary
from pytest_fairness.declarative.file_readers import read_jsonl, read_yaml
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.declarative.items import ITEM_COLUMNS, WORDINGS, DeclarationBuilder, slots_of
from pytest_fairness.declarative.source import DeclarationError, LocatedValue, located_error
from pytest_fairness.declarative.validation import check, check_parameters, schema
from pytest_fairness.graders.propensities import Likelihood
from pytest_fairness.tables.recorded_table import RecordedTable

T = TypeVar("T")
CARD = ("question", "method", "source", "groups", "harms")
"""The fields of a card that become paragraphs; its limits are a section."""


@dataclass(frozen=True, slots=True)
class DeclaredThreshold:
    """One declared threshold: its expression and the arguments of its marks."""

    name: str
    title: str
    """The claim that reports show, in one line; by default the key in the file."""
    line: int
    expression: Expression
    marks: Mapping[str, Any]
    """The further arguments of its mark: scale, slices, exclude."""
    flaky: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DeclaredProbe:
    """One probe of a file."""

    name: str
    line: int
    arguments: Mapping[str, Any]
    """Arguments of its mark: items, graders, repetitions and so on."""
    thresholds: list[DeclaredThreshold]
    model: Model | None = None
    """The model of a recorded table; None where the run names it."""


def read_probes(path: Path, shown: str | None = None, allowed: Path | None = None) -> list[DeclaredProbe]:
    """Return the probes that a file declares; messages call the file ``shown`` (default: its name).

    The files that it refers to must lie in its folder, or in ``allowed``.

    Raises `DeclarationError`, in one line with file and line, for the first mistake.
    """
    file = shown or path.name
    lines_by_name: dict[str, int] = {}
    return [
        _probe(document, path, AllowedFolders(path.parent, allowed), lines_by_name)
        for document in _documents(path, file)
    ]


def card_of(path: Path) -> str:
    """Return the card of a suite that a file declares, in Markdown; empty where no probe of it has any.

    Raises `DeclarationError` for a file that cannot be read.
    """
    suite = suite_in(path) or path.stem
    cards = [card for document in _documents(path, path.name) if (card := document.get("card"))]
    parts = [f"# {suite}"] if cards else []
    for card in cards:
        parts += [f"**{name.capitalize()}.** {card.value[name].text.strip()}" for name in CARD if name in card.value]
        if "limits" in card.value:
            parts.append(f"## Limits\n\n{card.value['limits'].text.strip()}")
    return "\n\n".join(parts)


def _documents(path: Path, file: str) -> list[LocatedValue]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise located_error(file, 1, None, f"it cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise located_error(file, data.count(b"\n", 0, error.start) + 1, None, "it is not UTF-8: save it so") from None
    documents = (read_jsonl if path.suffix == ".jsonl" else read_yaml)(text, file)
    if not documents:
        raise located_error(file, 1, None, "it is empty: declare a probe by `template` and `grade`")
    for document in documents:
        if document.value is None:
            raise document.error("it is empty: declare a probe by `template` and `grade`")
        check(document)
    return documents


def _probe(document: LocatedValue, path: Path, folders: AllowedFolders, lines_by_name: dict[str, int]) -> DeclaredProbe:
    name_node = document.get("probe")
    name = name_node.text if name_node else slug(suite_in(path) or path.stem) or "probe"
    _register_name(name, name_node or document, lines_by_name)
    if "table" in document.value:
        return _table_probe(document, name, folders, lines_by_name)
    for required in ("template", "grade"):
        if required not in document.value:
            meaning = schema()["properties"][required]["description"]
            raise document.error(f"a probe needs `{required}`: {meaning}")
    builder = DeclarationBuilder(document, folders, name)
    vary = builder.vary()
    choices = _choice_values(document)
    graders = read_graders(document.value["grade"], folders, choices, _tool_names(document))
    rows = builder.rows()
    item_values: dict[str, set[str]] = {}
    for row, _ in rows:
        for key, value in row.items():
            if key not in ITEM_COLUMNS:
                item_values.setdefault(str(key), set()).add(str(value))
    vocabulary = ProbeVocabulary(
        graders.values, {attribute: list(groups) for attribute, groups in vary.items()}, item_values
    )
    thresholds = _thresholds(document, vocabulary, lines_by_name)
    control = _control(document, vocabulary)
    used = frozenset(word for threshold in thresholds for word in _used_names(threshold)) | control
    crossed = document.get("crossed")
    varied = {slot for groups in vary.values() for slot in slots_of(groups)}
    if crossed is not None and crossed.text not in varied:
        raise crossed.error(f"`vary` fills in nothing called {crossed.text!r}; {did_you_mean(crossed.text, varied)}")
    if calibration := document.get("calibration"):
        from pytest_fairness.stats.calibration.labels import read_labels

        _located(calibration, lambda: read_labels(folders.path(calibration)))
    if formats := document.get("formats"):
        from pytest_fairness.core.answer_formats import Formats

        _located(formats, lambda: Formats.of(formats.plain))
    mark_arguments = {key: document.value[key].plain for key in _PASSED if key in document.value}
    if "placebo" in document.value:
        mark_arguments["placebo"] = WORDINGS
    if "confidence" in mark_arguments:
        mark_arguments["confidence"] = float(mark_arguments["confidence"])
    line = document.value["template"].key_line or document.line
    hides_choices = any(isinstance(grader, Likelihood) for grader in graders.graders.values())
    items = list(builder.items(rows, vary, used, hides_choices=hides_choices))
    arguments = {"items": items, "grade": dict(graders.graders), **mark_arguments}
    return DeclaredProbe(name, line, arguments, thresholds)


def _table_probe(
    document: LocatedValue, name: str, folders: AllowedFolders, lines_by_name: dict[str, int]
) -> DeclaredProbe:
    table, grader_values = read_table(document, folders)
    vocabulary = vocabulary_of(table, grader_values)
    thresholds = _thresholds(document, vocabulary, lines_by_name)
    _control(document, vocabulary)
    mark_arguments = {
        key: document.value[key].plain for key in ("harm", "sources", "confidence", "control") if key in document.value
    }
    line = document.value["table"].key_line or document.line
    return DeclaredProbe(name, line, {**table.arguments, **mark_arguments}, thresholds, table.model)


_PASSED = (
    "tools",
    "repetitions",
    "harm",
    "sources",
    "crossed",
    "formats",
    "confidence",
    "calibration",
    "control",
    "literal",
)


def _control(document: LocatedValue, vocabulary: ProbeVocabulary) -> frozenset[str]:
    """Return the attributes of a declaration's controls.

    Raises:
        DeclarationError: It names a grade, an attribute or a level that the probe does not have.
    """
    declared = document.get("control")
    used: set[str] = set()
    for grade, node in declared.value.items() if declared else ():
        if grade not in vocabulary.grades:
            raise node.key_error(f"there is no grade {grade!r}; {did_you_mean(grade, vocabulary.grades)}")
        also = node.get("also")
        for other in also.value if also else ():
            if other.text not in vocabulary.grades:
                raise other.error(f"there is no grade {other.text!r}; {did_you_mean(other.text, vocabulary.grades)}")
        attributes = {name: levels for name, levels in node.value.items() if name not in OPTIONS}
        if not attributes:
            raise node.error("it names no attribute: write {ATTRIBUTE: [HIGHER, LOWER]}")
        for name, levels in attributes.items():
            values = _values_of(name, levels, vocabulary)
            for level in levels.value:
                if level.text not in values:
                    raise level.error(f"{name} is never {level.text!r}; {did_you_mean(level.text, values)}")
        used |= attributes.keys()
    if declared is not None:
        _located(declared, lambda: read_controls(declared.plain))
    return frozenset(used)


def _values_of(name: str, node: LocatedValue, vocabulary: ProbeVocabulary) -> Collection[str]:
    """Return the values of an attribute of items or prompts. Raises `DeclarationError` for an unknown one."""
    attributes = {**vocabulary.others, **vocabulary.groups}
    if name not in attributes:
        raise node.key_error(f"no item or prompt has {name!r}; {did_you_mean(name, attributes)}")
    return attributes[name]


def _thresholds(
    document: LocatedValue, vocabulary: ProbeVocabulary, lines_by_name: dict[str, int]
) -> list[DeclaredThreshold]:
    declared = document.get("thresholds")
    return [
        _threshold(title, node, vocabulary, lines_by_name)
        for title, node in (declared.value.items() if declared else ())
    ]


def _threshold(
    title: str, node: LocatedValue, vocabulary: ProbeVocabulary, lines_by_name: dict[str, int]
) -> DeclaredThreshold:
    assertion = node.value["assert"] if isinstance(node.value, dict) else node
    name = slug(title)
    if not name:
        raise node.key_error(f"the name {title!r} has no letter and no digit: give it one")
    _register_name(name, node, lines_by_name)
    try:
        expression = Expression.parse(" ".join(assertion.text.split()), vocabulary)
    except ExpressionError as error:
        column = assertion.inline + error.offset if assertion.inline is not None else assertion.column
        raise assertion.error(str(error), line=assertion.first or assertion.line, column=column) from None
    scale, flaky = node.get("scale"), node.get("flaky")
    try:
        mark_scale = None if scale is None else MarkScale(**{mark: tuple(ends) for mark, ends in scale.plain.items()})
    except FairnessError as error:
        assert scale is not None  # noqa: S101 - none raises nothing
        raise scale.error(str(error).removeprefix("scale: ")) from None
    line = assertion.first or assertion.line
    expression = replace(expression, title=_title(node, "metric"))
    claim = _title(node, "title") or " ".join(title.split())
    marks = {"scale": mark_scale} | _slices_and_exclusions(node, vocabulary)
    return DeclaredThreshold(name, claim, line, expression, marks, flaky.plain if flaky else None)


def _slices_and_exclusions(node: LocatedValue, vocabulary: ProbeVocabulary) -> dict[str, Any]:
    """Return the slices and the excluded groups of a threshold, for its mark.

    Raises:
        DeclarationError: It names an attribute or a group that the probe does not have.
    """
    marks: dict[str, Any] = {}
    if slices := node.get("slices"):
        attributes = {**vocabulary.others, **vocabulary.groups}
        for name in slices.value:
            if name.text not in attributes:
                raise name.error(f"no item or prompt has {name.text!r}; {did_you_mean(name.text, attributes)}")
        marks["slices"] = tuple(name.text for name in slices.value)
    if exclude := node.get("exclude"):
        for by, groups in exclude.value.items():
            values = _values_of(by, groups, vocabulary)
            for group in groups.value:
                if group.text not in values:
                    raise group.error(f"{by} has no group {group.text!r}; {did_you_mean(group.text, values)}")
        marks["exclude"] = {by: tuple(group.text for group in groups.value) for by, groups in exclude.value.items()}
    return marks


def _title(node: LocatedValue, field_name: str) -> str:
    """Return a title in one line; empty where the threshold declares none."""
    declared = node.get(field_name)
    if declared is None:
        return ""
    title = " ".join(declared.text.split())
    if fault := title_fault(title):
        raise declared.error(f"it {fault}: write one line of 1 to {LONGEST_TITLE} characters")
    return title


_NAMES_OF_PYTEST = ("setup_module", "teardown_module", "setup_function", "teardown_function", "pytestmark")
"""Names in a module that pytest takes for something else than a test."""


def _register_name(name: str, node: LocatedValue, lines_by_name: dict[str, int]) -> None:
    if name in _NAMES_OF_PYTEST:
        raise node.key_error(f"{name!r} has a meaning for pytest: take another name, for a probe by `probe:`")
    if name in lines_by_name:
        raise node.key_error(f"{name!r} is already the name of what stands in line {lines_by_name[name]}: take another")
    lines_by_name[name] = node.key_line or node.line


def _choice_values(document: LocatedValue) -> list[str] | None:
    declared = document.get("choices")
    if declared is None:
        return None
    return list(declared.value) if isinstance(declared.value, dict) else [node.text for node in declared.value]


def _tool_names(document: LocatedValue) -> list[str]:
    """Return the names of the tools that a file declares. Raises `DeclarationError` for an invalid tool."""
    declared = document.get("tools")
    return [] if declared is None else [tool.name for tool in _located(declared, lambda: read_tools(declared.plain))]


def _located(node: LocatedValue, read: Callable[[], T]) -> T:
    """Return what a reader of a mark's argument returns.

    Raises:
        DeclarationError: It refuses the value; the error has the position of that.
    """
    try:
        return read()
    except DeclarationError:
        raise
    except FairnessError as error:
        raise node.error(str(error)) from None


def _used_names(threshold: DeclaredThreshold) -> set[str]:
    """Return the names that a threshold uses: keywords of its expression, those of `where` among them, and slices."""
    keywords = {str(node.arg) for node in ast.walk(threshold.expression.tree) if isinstance(node, ast.keyword)}
    return keywords | {*threshold.marks.get("slices", ()), *threshold.marks.get("exclude", ())}


def slug(title: str) -> str:
    """Return a title as the name of a test, with the letters, digits and vowel signs of any script.

    >>> slug("Women and men, alike"), slug("Männer & Frauen"), slug("男女同等录用"), slug("!")
    ('women_and_men_alike', 'männer_frauen', '男女同等录用', '')
    """
    composed = unicodedata.normalize("NFC", title)  # names of files on macOS are decomposed
    parts = (sign if _is_of_word(sign) or sign in ".-" else "_" for sign in composed)
    return re.sub("_+", "_", "".join(parts)).strip("_.-").lower()


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign).startswith("M")


@dataclass(frozen=True, slots=True)
class DeclaredGraders:
    """The graders of one probe."""

    graders: Mapping[str, Any]
    """Graders by the name of the grade, as a mark takes them."""
    values: Mapping[str, Collection[str] | None]
    """The values of each grade, as an expression spells them; None if it may have any."""


def read_graders(
    declared: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str]
) -> DeclaredGraders:
    """Return the graders of a probe.

    Args:
        declared: The mapping under ``grade``.
        folders: Where files that it names may lie.
        choices: The values of the probe's choices, if it has any.
        tools: The names of the tools that the probe offers.

    Raises:
        DeclarationError: A grader is not known, cannot be loaded, or its parameters do not fit.
    """
    graders: dict[str, Any] = {}
    values: dict[str, Collection[str] | None] = {}
    for name, node in declared.value.items():
        declared_grader = _read_grader(name, node, folders, choices, tools)
        graders[name] = declared_grader.grader
        values |= declared_grader.values
    return DeclaredGraders(graders, values)


def _read_grader(
    grade: str, node: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str]
) -> DeclaredGrader:
    """Return the grader of one node, with the values of its grades."""
    try:
        kind, declaration = _read_declaration(grade, node, folders, choices, tools)
        return DeclaredGrader(kind.from_declaration(declaration), kind.declared_values(declaration))
    except DeclarationError:
        raise
    except (FairnessError, TypeError) as error:
        raise node.error(str(error)) from None


def _read_declaration(
    grade: str, node: LocatedValue, folders: AllowedFolders, choices: Sequence[str] | None, tools: Sequence[str]
) -> tuple[type[DeclarativeGrader], GraderDeclaration]:
    name, parameters = (node.text, node) if node.text else next(iter(node.value.items()))
    try:
        kind = GRADERS.load_class(name, DeclarativeGrader)
    except FairnessError as error:
        raise node.error(str(error)) if node.text else parameters.key_error(str(error)) from None
    check_parameters(parameters, name, kind.schema, stands_alone=bool(node.text))
    texts = [entry.text for entry in parameters.value] if isinstance(parameters.value, list) else []
    return kind, GraderDeclaration(
        grade,
        {} if node.text else parameters.plain,
        texts,
        choices,
        tools,
        lambda path: folders.path(replace(parameters, text=path)),
        lambda field: _read_grader(grade, parameters.value[field], folders, choices, tools),
    )


_OF_PROMPTS = (
    *("template", "system", "language", "vary", "draw", "items", "choices"),
    *("repetitions", "calibration", "literal"),
)
"""The fields of a declaration that do not apply to a recorded table."""


def read_table(
    document: LocatedValue, folders: AllowedFolders
) -> tuple[RecordedTable, Mapping[str, Collection[str] | None]]:
    """Return the table that a declaration names, and the values of the grades that its graders give.

    Raises:
        DeclarationError: The file cannot be read, lacks a column, or the declaration has fields about prompts.
    """
    for name in _OF_PROMPTS:
        if node := document.get(name):
            raise node.key_error(f"a recorded table has no {name!r}: what was asked is in the table")
    declared = document.value["table"]
    fields = declared.value
    lists = {name: [child.text for child in fields[name].value] for name in ("groups", "grades") if name in fields}
    texts = {name: fields[name].text for name in ("item", "source", "model") if name in fields}
    extremes = fields["extremes"].plain if "extremes" in fields else None
    select = {name: node.text for name, node in fields["select"].value.items()} if "select" in fields else None
    options: dict[str, Any] = {"item": "sample", **texts, **lists, "extremes": extremes, "select": select}
    if tools := document.get("tools"):
        options["tools"] = [child.plain for child in tools.value]
    file = folders.path(fields["file"])
    values: Mapping[str, Collection[str] | None] = {}
    if grade := document.get("grade"):
        names = _located(declared, lambda: RecordedTable(file, **options).tool_names)
        graders = read_graders(grade, folders, None, names)
        options["graders"], values = graders.graders, graders.values
    table = RecordedTable(file, **options)
    try:
        table.items()
    except FairnessError as error:
        raise declared.error(str(error)) from None
    except OSError as error:
        raise fields["file"].error(f"it cannot be read: {error.strerror}") from None
    return table, values


def vocabulary_of(table: RecordedTable, grader_values: Mapping[str, Collection[str] | None]) -> ProbeVocabulary:
    """Return the names that thresholds on a table may use."""
    values = table.values
    grades = {**dict.fromkeys(table.grades), **grader_values}
    return ProbeVocabulary(grades, values["groups"], values["slices"], table.explain_no_grade)
