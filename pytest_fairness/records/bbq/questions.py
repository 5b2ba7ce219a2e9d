"""One BBQ question, read and checked from a record of the dataset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean

CATEGORIES = (
    "Age",
    "Disability_status",
    "Gender_identity",
    "Nationality",
    "Physical_appearance",
    "Race_ethnicity",
    "Race_x_SES",
    "Race_x_gender",
    "Religion",
    "SES",
    "Sexual_orientation",
)

_NAMED = ("Gender_identity", "Race_ethnicity")
_NAMED_FROM = 26
"""First template from which these two categories name people by proper names, not by labels of a group."""

ANSWERS = ("ans0", "ans1", "ans2")
FIELDS = (
    "example_id",
    "question_index",
    "question_polarity",
    "context_condition",
    "category",
    "answer_info",
    "additional_metadata",
    "context",
    "question",
    *ANSWERS,
    "label",
)

UNKNOWN = "unknown"
"""The group of the answer that says it cannot be told."""


@dataclass(frozen=True, slots=True)
class BBQQuestion:
    """One question about two people, with three answers in the order of the dataset.

    ``surfaces`` and ``groups`` are the dataset's ``answer_info``: how each answer names the
    person, and that person's group (`UNKNOWN` for the answer that it cannot be told).
    """

    example_id: int | str
    template: int
    polarity: Literal["neg", "nonneg"]
    context_condition: Literal["ambig", "disambig"]
    category: str
    surfaces: tuple[str, str, str]
    groups: tuple[str, str, str]
    stereotyped_groups: tuple[str, ...]
    context: str
    question: str
    answers: tuple[str, str, str]
    label: int
    benchmark: str = "BBQ"
    language: str = "en"
    stereotyped: int | None = None
    """The index of the stereotyped person, where the data names that person itself."""

    @property
    def id(self) -> str:
        """The item's id; of BBQ as it always was, of others with benchmark and language."""
        number = f"{self.example_id:05}" if isinstance(self.example_id, int) else self.example_id
        name = f"{self.category}-{self.context_condition}-{number}"
        return name if self.benchmark == "BBQ" else f"{self.benchmark}-{self.language}-{name}"

    @property
    def naming(self) -> Literal["label", "name"] | None:
        """How its people are named, in the two categories where BBQ does both; None in the others."""
        if self.category not in _NAMED:
            return None
        # MBBQ left the templates with proper names out.
        return "name" if self.benchmark == "BBQ" and self.template >= _NAMED_FROM else "label"


def read_question(
    record: Mapping[str, Any], where: str, *, benchmark: str = "BBQ", language: str = "en"
) -> BBQQuestion:
    """Read a record of BBQ or MBBQ; ``where`` (a file and line, say) begins the message of an error.

    Raises `FairnessError` for a missing field or a value that the dataset cannot have.
    """
    missing = [name for name in FIELDS if record.get(name) is None]
    if missing:
        raise FairnessError(f"{where}: no field {missing[0]!r}: a BBQ record has {', '.join(FIELDS)}")
    common = common_fields(record, CATEGORIES, where)
    surfaces, groups = people_of(record["answer_info"], where)
    return BBQQuestion(
        example_id=whole(record, "example_id", where),
        template=whole(record, "question_index", where),
        **common,
        surfaces=surfaces,
        groups=groups,
        stereotyped_groups=stereotyped_groups_of(record["additional_metadata"], where),
        answers=(text(record, "ans0", where), text(record, "ans1", where), text(record, "ans2", where)),
        benchmark=benchmark,
        language=language,
    )


def common_fields(record: Mapping[str, Any], categories: Collection[str], where: str) -> dict[str, Any]:
    """Return the fields of a question that BBQ and the sets made after it write alike.

    Raises `FairnessError` for a value that the data set cannot have.
    """
    category, label = record["category"], whole(record, "label", where)
    if category not in categories:
        raise FairnessError(f"{where}: unknown category {category!r}; {did_you_mean(str(category), categories)}")
    if label not in (0, 1, 2):
        raise FairnessError(f"{where}: label is {label}: it must be 0, 1 or 2, the index of the correct answer")
    return {
        "category": category,
        "label": label,
        "polarity": one_of(record, "question_polarity", ("neg", "nonneg"), where),
        "context_condition": one_of(record, "context_condition", ("ambig", "disambig"), where),
        "context": text(record, "context", where),
        "question": text(record, "question", where),
    }


def people_of(info: Any, where: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Return text and group of each answer. Raises `FairnessError` unless one group is the unknown one."""
    try:
        (text0, group0), (text1, group1), (text2, group2) = (info[name] for name in ANSWERS)
    except (KeyError, TypeError, ValueError):
        raise FairnessError(f"{where}: answer_info must hold [text, group] for each of {', '.join(ANSWERS)}") from None
    if (group0, group1, group2).count(UNKNOWN) != 1:
        raise FairnessError(f"{where}: the groups of the answers are {group0!r}, {group1!r} and {group2!r}: "
                            f"exactly one must be {UNKNOWN!r}")  # fmt: skip
    return (text0, text1, text2), (group0, group1, group2)


def stereotyped_groups_of(metadata: Any, where: str) -> tuple[str, ...]:
    """Return the groups that a stereotype is about. Raises `FairnessError` where there are none."""
    groups = metadata.get("stereotyped_groups") if isinstance(metadata, Mapping) else None
    if not groups or isinstance(groups, str):
        raise FairnessError(f"{where}: additional_metadata has no 'stereotyped_groups', a list of groups")
    return tuple(str(group) for group in groups)


def text(record: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text of a record without stray braces. Raises `FairnessError` where it is empty."""
    # A few records hold a stray brace from their template; the paper's analysis drops it too.
    text = str(record[name]).replace("{", "").replace("}", "").strip()
    if not text:
        raise FairnessError(f"{where}: {name} is empty")
    return text


def whole(record: Mapping[str, Any], name: str, where: str) -> int:
    """Return a whole number of a record. Raises `FairnessError` for any other value."""
    try:
        return int(record[name])
    except (TypeError, ValueError):
        raise FairnessError(f"{where}: {name} is {record[name]!r}: it must be a whole number") from None


def one_of(record: Mapping[str, Any], name: str, allowed: tuple[str, ...], where: str) -> str:
    """Return a value of a record that must be one of two. Raises `FairnessError` for any other."""
    value = record[name]
    if value not in allowed:
        raise FairnessError(f"{where}: {name} is {value!r}: it must be {' or '.join(allowed)}")
    return str(value)
