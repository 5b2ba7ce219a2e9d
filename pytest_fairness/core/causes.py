"""Causes of invalid thresholds: what was found, its count, one example and the remedy, as frozen dataclasses.

A cause is found once, where its threshold is judged; releases share it, and every output shows the same texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten

from pytest_fairness.core.serialization import OPTIONAL, JsonRecord

MOST_CAUSES = 5
"""The most causes that an output lists; of more, it gives the number."""
ONLY_THESE = "the same command asks only these again"
"""The end of the remedy of requests that failed, whose answers the store lacks."""
_MOST_PARTS = 3
"""The most parts of one cause with counts of their own."""
_LONGEST_EXAMPLE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseResult(JsonRecord):
    """A cause why a threshold is invalid, or cannot be fair."""

    kind: str
    """A word for programs: ``truncated``, ``format``, ``unread``, ``no call``, ``timeout``, ``no response``, ..."""
    finding: str
    """The observation: of counted answers a participle after their number, else a sentence."""
    unit: str = "answers"
    count: int | None = None
    """Those of the threshold's own part of the sample; None for what is not counted."""
    of: int | None = None
    where: str = ""
    """The part of the sample that its threshold is about, in words; empty for the whole sample."""
    groups: str = ""
    """The counts of the groups, where they are far apart: ``40 of 40 of female, 0 of 40 of male``."""
    silent: Sequence[str] = ()
    """The groups of which nothing was read."""
    example: str = ""
    """One answer or error from its beginning, cut at the end of a word."""
    remedy: str = ""
    """The way out, with the option to type."""

    @property
    def text(self) -> str:
        """The finding with its counts.

        >>> CauseResult(kind="truncated", finding="cut off at max_tokens=100", count=112, of=200).text
        '112 of 200 answers cut off at max_tokens=100'
        """
        if self.count is None:
            return self.finding
        where = f" where {self.where}" if self.where else ""
        groups = f" ({self.groups})" if self.groups else ""
        return f"{self.count:,} of {self.of:,} {self.unit} {self.finding}{where}{groups}"

    @property
    def label(self) -> str:
        """The finding in short, to refer to it: ``answers cut off at max_tokens=100 (112 of 200)``."""
        if self.count is None:
            return self.finding.partition(" (")[0].partition(": ")[0]
        return f"{self.unit} {self.finding} ({self.count:,} of {self.of:,})"

    @property
    def sentence(self) -> str:
        """All of it in one line: finding, example and remedy."""
        example = f", as {self.example}" if self.example else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.text}{example}{remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCauseResult(JsonRecord):
    """A cause that thresholds of a release share."""

    kind: str
    text: str
    """The finding, with the counts of each probe."""
    thresholds: Sequence[str]
    """The ids of the thresholds."""
    count: int | None = field(default=None, metadata=OPTIONAL)
    """The count of its largest part."""
    silent: Sequence[str] = ()
    example: str = ""
    remedy: str = ""


def quote(text: str) -> str:
    """Return a text in quotes, from its beginning; of a long one as many whole words as fit, and an ellipsis.

    >>> quote("I would hire her.")
    "'I would hire her.'"
    >>> quote("word " * 60)[-15:]
    " word word ...'"
    """
    short = shorten(text, _LONGEST_EXAMPLE, placeholder=" ...")
    if short in ("", "...") and text.strip():  # one endless word
        short = f"{text.strip()[:_LONGEST_EXAMPLE]} ..."
    return repr(short)


def share_causes(rows: Iterable[tuple[str, str, Sequence[CauseResult]]]) -> list[SharedCauseResult]:
    """Return the causes of a release, the most frequent first, each once.

    A cause of which the finding and the remedy are the same is one, whatever its counts in different parts of the
    samples. What is not counted, such as a missing response, comes before what is, where it is the first cause of a
    threshold.

    Args:
        rows: Id, probe and causes of each threshold.
    """
    shared: dict[tuple[str, str, str], list[tuple[str, str, CauseResult]]] = {}
    for test, probe, causes in rows:
        for cause in causes:
            shared.setdefault((cause.kind, cause.finding, cause.remedy), []).append((test, probe, cause))
    results = [_shared(members) for members in shared.values()]
    return sorted(results, key=lambda result: -max(result.count or 0, len(result.thresholds)))


def _shared(members: Sequence[tuple[str, str, CauseResult]]) -> SharedCauseResult:
    """Return one cause of several thresholds."""
    largest = max((cause for _, _, cause in members), key=lambda cause: (cause.of or 0, cause.count or 0))
    parts = {(probe, cause.where) for _, probe, cause in members}
    of_probes: dict[str, CauseResult] = {}
    for _, probe, cause in members:
        if probe not in of_probes or (cause.of or 0) > (of_probes[probe].of or 0):
            of_probes[probe] = cause
    text, shown = largest.text, 1
    if largest.count is not None and len(of_probes) > 1:
        ordered = sorted(of_probes.items(), key=lambda part: -(part[1].count or 0))[:_MOST_PARTS]
        counts = [f"{cause.count:,} of {cause.of:,} ({_part_name(probe, cause.where)})" for probe, cause in ordered]
        text, shown = f"{largest.unit} {largest.finding}: {', '.join(counts)}", len(ordered)
    more = len(parts) - shown
    if largest.where and more:  # a sample as a whole says more than its parts
        text += f", and in {more} other part{'s' * (more > 1)} of the sample"
    elif len(of_probes) > shown:
        text += f", and in {len(of_probes) - shown} more"
    return SharedCauseResult(
        kind=largest.kind,
        text=text,
        thresholds=list(dict.fromkeys(test for test, _, _ in members)),
        count=largest.count,
        silent=list(dict.fromkeys(group for _, _, cause in members for group in cause.silent)),
        example=largest.example,
        remedy=largest.remedy,
    )


def _part_name(probe: str, where: str) -> str:
    name = probe.rpartition("::")[2].removeprefix("test_").replace("_", " ")
    return ", ".join(filter(None, (name, where)))


def cause_sentences(causes: Sequence[CauseResult], message: str) -> list[str]:
    """Return the sentences on causes that follow a threshold's message: the first one whole, and how many follow.

    Args:
        causes: Its causes, the first being the reason of its verdict.
        message: The message, which may have given that already.

    >>> cut = CauseResult(kind="truncated", finding="cut off", count=9, of=20, example="'Yes, I'", remedy="raise it")
    >>> cause_sentences([cut, cut], "invalid: 45.0% of the attempts are ungraded")
    ["9 of 20 answers cut off, as 'Yes, I'; raise it", 'and 1 other cause']
    """
    if not causes:
        return []
    first, more = causes[0], len(causes) - 1
    if first.example and first.example in message:
        first = replace(first, example="")
    example = first.example and f"as {first.example}"
    is_given = first.kind in ("no response", "few") or first.text in message
    texts = [example, first.remedy] if is_given else [first.sentence]
    others = [f"and {more} other cause{'s' * (more > 1)}"] if more else []
    return [*filter(None, texts), *others]
