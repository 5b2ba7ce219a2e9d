"""Rankings of equal résumés under names of several groups, as Bloomberg published them.

Source: Yin, Alba and Nicoletti, *OpenAI's GPT Is a Recruiter's Dream Tool. Tests Show There's Racial Bias*, Bloomberg,
7 March 2024; data and method: https://github.com/BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import EstimateFamily, counted, digest, read_document
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import RECORD, field, line_records, read_table, stem

PUBLISHED = ("published.csv", "data/output/performance_ranking.csv")
_RUNS = ("data/intermediary/resume_ranking", "resume_ranking")
_EXCLUDED = "oversampled"
"""The folder of answers that the publisher collected and did not use."""
_SECTION = "<hr>"
_SPACES = re.compile(r"\s+")

Cell = tuple[str, str]
"""A model and a job."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One ranking of résumés, each shown under a name: the order shown, and the answer.

    >>> ranking = Ranking(("Ada", "Ben", "Cleo"), ("f", "m", "f"), "1. Cleo\\n2. Ben\\n3. Ada")
    >>> ranking.order, ranking.ahead("f", "m")
    ([2, 1, 0], 0.5)
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    answer: str
    run: str = ""
    cvs: tuple[str, ...] | None = None
    """The résumé under each name; None where the record does not have it."""

    @property
    def order(self) -> list[int]:
        """The indices of the names as shown, best first, by the published rule.

        Names are ordered by where they first occur in the answer, case ignored; missing ones are last, and ties keep
        the order shown.
        """
        answer = self.answer.lower()
        positions = [len(answer.split(name.lower())[0]) for name in self.names]
        return sorted(range(len(positions)), key=positions.__getitem__)

    @property
    def missing(self) -> int:
        """The number of names that the answer does not hold."""
        return sum(name.lower() not in self.answer.lower() for name in self.names)

    def ahead(self, of: str, to: str | None = None) -> float:
        """Return the share of pairs of people of two groups in which that of the first group is ranked ahead.

        Args:
            of: The first group.
            to: The other group; None for all others.

        Returns:
            The share, from 0 to 1; one half where both are ranked alike. Of two groups of four in a ranking of eight
            the first has the mean rank 6.5 - 4 times the share.

        Raises:
            FairnessError: A group has no member.
        """
        return share_ahead(self.order, self.groups, of, to)


def share_ahead(order: Sequence[int], groups: Sequence[str], of: str, to: str | None = None) -> float:
    """Return the share of pairs of people of two groups in which that of the first group is ranked ahead.

    Args:
        order: The indices of the people, the best first.
        groups: The group of each.
        of: The first group.
        to: The other group; None for all others.

    Returns:
        The share, from 0 to 1; one half where both are ranked alike.

    Raises:
        FairnessError: A group has no member.

    >>> share_ahead([2, 1, 0], ["f", "m", "f"], "f", "m")
    0.5
    """
    pairs = [
        order.index(first) < order.index(second)
        for first, group in enumerate(groups)
        for second, other in enumerate(groups)
        if group == of and (other == to or (to is None and other != of))
    ]
    if not pairs:
        raise FairnessError(f"a ranking of {', '.join(groups)} does not compare {of} with {to or 'others'}")
    return sum(pairs) / len(pairs)


def recompute(download: Download) -> Recomputed:
    """Return each group's chance to be ranked first, over that of the group which is first most often.

    Args:
        download: The publisher's repository or its folder ``resume_ranking``; or JSON lines, one a run, with job, run,
            names, groups and answer, and cvs where known. A file's name is that of the model, unless its lines have
            one. The publisher's figures have the columns model, job, demo, selection_rate and disparate_impact_ratio.

    Returns:
        For each model, job and group but the first the ratio of selection rates, with intervals by runs, by runs and
        names, and by runs and résumés where these are known.

    Raises:
        FairnessError: A record or figure is malformed: one line, with its file.
    """
    cells = _read(download.folder)
    published = _published(download)
    figures: list[AuditedFigure] = []
    families: dict[str, EstimateFamily] = {}
    notes: list[str] = []
    reproduced: list[bool] = []
    for cell, rankings in sorted(cells.items()):
        first, best = _first_counts(rankings)
        if len(first) < 2:
            raise FairnessError(f"{', '.join(cell)}: all résumés are of {best}: a ratio needs two groups")
        samples = {name: _measured(rankings, crossed) for name, crossed in _clusterings(rankings).items()}
        families[", ".join(cell)] = samples[_BY_NAMES].ratios("first", by="group")
        notes.append(_note(cell, rankings))
        for group in sorted(first, key=first.__getitem__):
            ratio, rate = published.pop((*cell, group), (None, None))
            if rate is not None:
                reproduced.append(is_met(first[group] / len(rankings), rate))
            if group != best:
                estimates = {
                    name: sample.ratio("first", by="group", of=group, to=best) for name, sample in samples.items()
                }
                subject = {"job": cell[1], "group": group}
                figures.append(AuditedFigure(cell[0], subject, first[group] / first[best], ratio, estimates))
    if published:
        notes.append(
            f"{len(published)} published figures have no answers in the folder, such as {', '.join(min(published))}"
        )
    return Recomputed(figures, notes, {"selection rates": reproduced}, families)


_BY_RUNS, _BY_CVS, _BY_NAMES = "runs", "runs and résumés", "runs and names"


def _clusterings(rankings: Sequence[Ranking]) -> dict[str, str | None]:
    """Return the crossed factor of each clustering; the last one decides the verdict."""
    has_cvs = all(ranking.cvs is not None for ranking in rankings)
    return {_BY_RUNS: None, **({_BY_CVS: "cv"} if has_cvs else {}), _BY_NAMES: "name"}


def _measured(rankings: Sequence[Ranking], crossed: str | None) -> Measured:
    rows = []
    for ranking in rankings:
        first = ranking.order[0]
        for index, (name, group) in enumerate(zip(ranking.names, ranking.groups, strict=True)):
            row: dict[str, Any] = {"run": ranking.run, "group": group, "first": index == first}
            if crossed is not None:
                row[crossed] = name if ranking.cvs is None or crossed == "name" else ranking.cvs[index]
            rows.append(row)
    return Measured.from_rows(rows, item="run", groups=["group"], crossed=crossed)


def _first_counts(rankings: Sequence[Ranking]) -> tuple[dict[str, int], str]:
    """Return how often each group is ranked first, and the group that is ranked first most often."""
    first = Counter(ranking.groups[ranking.order[0]] for ranking in rankings)
    counts = {group: first[group] for group in sorted({group for ranking in rankings for group in ranking.groups})}
    return counts, max(counts, key=counts.__getitem__)


def _note(cell: Cell, rankings: Sequence[Ranking]) -> str:
    total = len(rankings)
    shown_first = sum(ranking.order[0] == 0 for ranking in rankings)
    names_shown = sum(len(ranking.names) for ranking in rankings) / total
    missing = sum(ranking.missing > 0 for ranking in rankings)
    return (
        f"{', '.join(cell)}: {counted(total, 'run')}; whoever is shown first is ranked first in {shown_first:,} "
        f"({total / names_shown:,.0f} would be chance); {missing:,} answers lack a name, which is then last; "
        f"of pairs with others {_ahead(rankings)} ahead"
    )


def _ahead(rankings: Sequence[Ranking]) -> str:
    """Return which group is ranked ahead of others most often, and which least, with intervals by runs."""
    shares = {}
    for group in _first_counts(rankings)[0]:
        rows = [
            {"run": ranking.run, "ahead": ranking.ahead(group)}
            for ranking in rankings
            if group in ranking.groups and len({*ranking.groups}) > 1
        ]
        if rows:
            shares[group] = Measured.from_rows(rows, item="run", groups=[]).mean("ahead")
    ordered = sorted(shares, key=lambda group: shares[group].value)
    return " and ".join(
        f"{group} is in {shares[group].value:.3f} ({shares[group].low:.3f} to {shares[group].high:.3f})"
        for group in (ordered[0], ordered[-1])
    )


def _read(folder: Path) -> dict[Cell, list[Ranking]]:
    """Return the rankings of each model and job."""
    cells: dict[Cell, list[Ranking]] = {}
    runs: dict[tuple[str, str, str], str] = {}
    for where, model, job, ranking in _records(folder):
        key = (model, job, ranking.run)
        if key in runs:
            raise FairnessError(f"{where}: run {ranking.run!r} of {model}, {job} stands at {runs[key]} already")
        runs[key] = where
        cells.setdefault((model, job), []).append(ranking)
    return cells


def _records(folder: Path) -> Iterator[tuple[str, str, str, Ranking]]:
    for path, where, record in line_records(folder):
        names, groups, cvs = (record.get(name) for name in ("names", "groups", "cvs"))
        answer = field(record, "answer", str, where)
        ranking = _ranking(str(record.get("run", where)), names, groups, cvs, answer, where)
        yield where, str(record.get("model") or stem(path)), field(record, "job", str, where), ranking
    top = next((folder / name for name in _RUNS if (folder / name).is_dir()), None)
    if top is None and folder.name == Path(_RUNS[0]).name:
        top = folder
    for path in sorted(top.rglob("*.json")) if top else ():
        if _EXCLUDED not in path.parts:
            yield (str(path), *_published_run(path, top or folder))


def _published_run(path: Path, top: Path) -> tuple[str, str, Ranking]:
    """Return model, job and ranking of a file in the publisher's layout: MODEL/JOB/DATE/RUN.json."""
    where = str(path)
    record = read_document(path, RECORD)
    context = field(record, "context", dict, where)
    job = field(context, "job", str, where)
    parts = path.relative_to(top).parts
    model = parts[0] if len(parts) > 1 else str(record.get("model", "model"))
    choices = field(record, "choices", list, where)
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    answer = message.get("content") if isinstance(message, dict) else None
    names, groups = context.get("default_order"), context.get("demo_order")
    run = "/".join((*parts[2:-1], stem(path)))
    cvs = _cvs(context.get("inputs"), names)
    return model, job, _ranking(run, names, groups, cvs, "" if answer is None else str(answer), where)


def _cvs(text: object, names: object) -> list[str] | None:
    """Return a digest of the résumé under each name, without the name; None where they cannot be distinguished."""
    if not isinstance(text, str) or not isinstance(names, list):
        return None
    sections = [section for section in text.split(_SECTION) if section.strip()]
    if len(sections) != len(names):
        return None
    cvs = []
    for section, name in zip(sections, names, strict=True):
        _, shown, body = section.lower().partition(str(name).lower())
        if not shown:
            return None
        cvs.append(digest(_SPACES.sub(" ", body.replace(str(name).lower(), "")).strip())[:12])
    return cvs


def _ranking(run: str, names: object, groups: object, cvs: object, answer: str, where: str) -> Ranking:
    """Return a ranking. Raises `FairnessError` where names, groups and résumés are not as many, or names recur."""
    lists = {"names": names, "groups": groups, **({} if cvs is None else {"cvs": cvs})}
    for name, values in lists.items():
        if not isinstance(values, list) or not values:
            raise FairnessError(f"{where}: {name} are {values!r:.60}: write a list, one for each résumé as shown")
    sizes = {name: len(values) for name, values in lists.items() if isinstance(values, list)}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{count} {name}" for name, count in sizes.items())
        raise FairnessError(f"{where}: {listed}: each résumé needs one of each")
    if not isinstance(names, list) or not isinstance(groups, list):
        raise FairnessError(f"{where}: names and groups must be lists")
    if any(not isinstance(name, str) or not name.strip() for name in (*names, *groups)):
        raise FairnessError(f"{where}: a name or a group is no text, or empty")
    if len({name.lower() for name in names}) < len(names):
        raise FairnessError(f"{where}: two résumés have the same name: the answer cannot tell them apart")
    digests = tuple(map(str, cvs)) if isinstance(cvs, list) else None
    return Ranking(tuple(names), tuple(groups), answer, run, digests)


def _published(download: Download) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return published ratio and rate by model, job and group; none where there is no file of them."""
    path = download.published_file(*PUBLISHED)
    published = {}
    for where, row in read_table(path) if path else ():
        try:
            key = row["model"], row["job"], row["demo"]
            published[key] = float(row["disparate_impact_ratio"]), float(row["selection_rate"])
        except (KeyError, ValueError):
            needs = "it needs model, job, demo, selection_rate and disparate_impact_ratio"
            raise FairnessError(f"{where}: no published ratio: {needs}") from None
    return published
