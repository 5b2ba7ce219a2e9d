"""The summary of a run in GitHub's Markdown, for the page of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.formatting import bounds_phrase, counted, figures, format_level
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.results import RunResults
from pytest_fairness.core.search_results import SearchResult
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report import findings, next_steps, phrases
from pytest_fairness.report.decisions import decision_line, decisions_worst_first
from pytest_fairness.report.markdown_escaping import escape, fenced
from pytest_fairness.report.probe_phrases import probe_lines
from pytest_fairness.report.provenance import provenance_facts
from pytest_fairness.report.release import NOT_JUDGED, effective_verdict, rank, reason_of, sentence, worst_first
from pytest_fairness.report.repeat_commands import command_of_run
from pytest_fairness.report.shown_names import shown_view
from pytest_fairness.report.threshold_view import SideView, ThresholdView
from pytest_fairness.report.view import View

LIMIT = 1024 * 1024
"""The most bytes of a summary of one step that GitHub accepts; a longer one is not shown at all."""

MOST_TEXT = 2000
"""The most characters of one prompt or answer."""
MOST_ANSWERS = 10
"""The most answers on each side of an example."""

MARKS = "A healthy, B cautionary, C critical, D catastrophic, - not marked."

_ROOM_FOR_NOTE = 400


def job_summary(view: View, limit: int = LIMIT) -> str:
    """Return the run as Markdown, at most ``limit`` bytes of UTF-8.

    Releases come first, then what the models did with the probes, then thresholds, worst first, with advice for the
    undecided, then an example of each unfair or undecided one; fair thresholds and marks are last. Lines are short and
    there is no table, for phones. If it is too long, examples are dropped first and fair thresholds second; a line
    names what was left out and where it is.
    """
    view = shown_view(view)
    rows = worst_first([threshold.row for threshold in view.thresholds])
    not_fair = [row for row in rows if row.verdict not in ("fair", NOT_JUDGED)]
    with_example = [
        threshold
        for threshold in view.thresholds
        if threshold.example and threshold.row.verdict in ("unfair", "undecided")
    ]
    examples_shown = sorted(with_example, key=lambda threshold: rank(threshold.row))
    # In order of priority for the available bytes.
    sections = {
        "releases": list(_releases(view.results)),
        "competence": list(_competence(view.results)),
        "groups": [f"- {escape(text[:MOST_TEXT])}" for text in phrases.without_groups(rows)],
        "decisions": list(_decisions(view.results)),
        "marks": list(_marks(view.results)),
        "broken": list(_not_fair(not_fair)),
        "unjudged": list(_unjudged(rows)),
        "searches": list(_searches(view.results.searches)),
        "own": list(_overrides(rows)),
        "method": list(_method(view)),
        "fair": list(_fair([row for row in rows if row.verdict == "fair"])),
        "examples": [
            ("\n### Examples\n" if threshold is examples_shown[0] else "") + _example(threshold)
            for threshold in examples_shown
        ],
    }
    room = limit - _ROOM_FOR_NOTE
    included: dict[str, Sequence[str]] = {}
    for name, lines in sections.items():
        included[name] = _first_that_fit(lines, room)
        room -= sum(map(_size, included[name]))
    note = _omission_note(sections, included, view.results.run.id)
    order = (
        "releases",
        "competence",
        "groups",
        "decisions",
        "broken",
        "unjudged",
        "searches",
        "own",
        "examples",
        "fair",
        "marks",
    )
    lines = [line for name in order for line in included[name]] + note + list(included["method"])
    return "".join(f"{line}\n" for line in lines)


def _releases(results: RunResults) -> Iterator[str]:
    names = ModelNames(results.run.names)
    yield "## Fairness"
    yield ""
    for line in results.release:
        yield f"- **{escape(names.introduce(line.model) or 'no model')}**: {escape(sentence(line))}"
        rows = [row for row in results.thresholds if row.model == line.model]
        if step := next_steps.next_step(line, rows):
            yield f"  - next: {escape(step)}"
        if turns := findings.turns(rows):
            yield f"  - {escape(turns)}"
        for finding, example, remedy in next_steps.causes(line):
            yield f"  - {escape(finding)}{f', for example {escape(example)}' if example else ''}"
            if remedy:
                yield f"    - {escape(remedy)}"
        for row in results.thresholds:
            yield from (f"  - {escape(remark)}" for remark in phrases.outside(row) if row.model == line.model)
    if any(phrases.is_simulated(model) for model in results.run.models):
        yield f"- simulated: {phrases.SIMULATED}"


def _competence(results: RunResults) -> Iterator[str]:
    """Yield sentences on what each model did with its probes."""
    heading = "\n### Competence\n\n"
    models = list(dict.fromkeys(probe.model for probe in results.probes))
    for model in models:
        name = f"{escape(model)}: " if len(models) > 1 else ""
        for line in probe_lines([probe for probe in results.probes if probe.model == model]):
            text = escape(line.text[:MOST_TEXT])
            yield f"{heading}- {name}{f'**{text}**' if line.is_alarm else text}"
            heading = ""


def _decisions(results: RunResults) -> Iterator[str]:
    """Yield the accepted verdicts of the project, the broken ones first."""
    if results.acceptances:
        yield "\n### Accepted verdicts\n"
    for entry in decisions_worst_first(results.acceptances or ()):
        yield f"- {escape(decision_line(entry)[:MOST_TEXT])}"


def _searches(searches: Sequence[SearchResult]) -> Iterator[str]:
    """Yield the results of searches, with the texts and the command of each flip."""
    if searches:
        yield "\n### Searches\n"
    for search in searches:
        yield f"- **{escape(search.id)}** on {escape(search.model)}: {escape(phrases.search(search))}"
        if search.flip:
            texts = "\n".join([*search.flip.texts, search.command])
            yield f"\n{fenced(texts)}\n"


def _marks(results: RunResults) -> Iterator[str]:
    """Yield a line for each suite, field and harm, with the mark of each model."""
    names: dict[str, dict[str, str]] = {}
    for line in results.marks:
        names.setdefault(line.name, {})[line.model] = line.mark or NOT_MARKED
    if names:
        yield "\n### Marks\n"
    is_alone = len({line.model for line in results.marks}) == 1
    for name, letters_by_model in names.items():
        letters = ", ".join(
            letter if is_alone else f"{letter} of {escape(model or 'no model')}"
            for model, letter in letters_by_model.items()
        )
        yield f"- {escape(name)}: {letters}"
    if names:
        yield f"\n{MARKS}"


def _not_fair(rows: Sequence[ThresholdResult]) -> Iterator[str]:
    """Yield the thresholds that are not fair, as a list under each verdict."""
    heading = ""
    for group in _group_invalid(rows):
        group_heading = _HEADINGS[effective_verdict(group[0])]
        yield ("" if group_heading == heading else f"\n### {group_heading}\n\n") + _item(*group)
        heading = group_heading


def _group_invalid(rows: Sequence[ThresholdResult]) -> Iterable[list[ThresholdResult]]:
    """Return the rows in order, grouped: invalid ones with the same reason form one group."""
    groups: dict[tuple[str, ...], list[ThresholdResult]] = {}
    for number, row in enumerate(rows):
        is_shared = effective_verdict(row) == "invalid"
        key = (phrases.invalid_reason(row), _suite_and_model(row)) if is_shared else (str(number),)
        groups.setdefault(key, []).append(row)
    return groups.values()


_HEADINGS = {
    "unfair": "Unfair",
    "invalid": "Nothing can be concluded",
    "undecided": "Undecided",
    "accepted": "Accepted",
}


def _item(row: ThresholdResult, *others: ThresholdResult) -> str:
    """Return a list item on a threshold, or on some that differ only in their titles."""
    claims = [escape(phrases.title(one)) for one in (row, *others)]
    where = f"{_suite_and_model(row)}{_outcome(row)}"
    if (finding := findings.finding(row)) and row.verdict in findings.CLAIMS:
        claim = f"{findings.CLAIMS[row.verdict]}: {claims[0]}{f' ({where})' if where else ''}"
        lines = [f"- **{escape(finding)}**", claim, *map(escape, findings.details(row))]
    else:
        lines = [f"- {', '.join(f'**{claim}**' for claim in claims)}", where]
    if row.verdict == "invalid":
        lines += [escape(phrases.invalid_reason(row)[:MOST_TEXT]), escape(phrases.unjudged_tallies(row))]
    elif row.estimate.value is not None:
        lines += [escape(_numbers(row)), escape(phrases.tallies(row))]
    if row.verdict == "undecided":
        lines.append(escape(row.advice[:MOST_TEXT]))
    remarks = (phrases.slices(row), phrases.excluded(row))
    lines += [escape(remark[:MOST_TEXT]) for remark in remarks]
    return "\n  - ".join(filter(None, lines))


def _fair(rows: Sequence[ThresholdResult]) -> Iterator[str]:
    for row in rows:
        heading = "\n### Fair\n\n" if row is rows[0] else ""
        where = f"{_suite_and_model(row)}{_outcome(row)}"
        remarks = (phrases.base_rates(row), phrases.slices(row), phrases.excluded(row))
        numbers = "; ".join(filter(None, (_numbers(row), *remarks)))
        yield f"{heading}- **{escape(row.threshold)}** ({where}): {escape(numbers)}"


def _outcome(row: ThresholdResult) -> str:
    return f" ({row.special_outcome})" if row.special_outcome else ""


def _numbers(row: ThresholdResult) -> str:
    value, low, high = figures(row.estimate, row.comparisons)
    interval = f"{value} ({format_level(row.estimate.confidence or 0.95)} CI {low} to {high})"
    bounds = bounds_phrase(row)
    mark = f", mark {row.estimate.mark or NOT_MARKED}" if row.estimate.scale is not None or row.estimate.mark else ""
    return f"{interval}{f', required {bounds}' if bounds else ''}{mark}"


def _unjudged(rows: Iterable[ThresholdResult]) -> Iterator[str]:
    """Yield thresholds that were not judged, by reason, suite and model, since many may share one reason."""
    names_by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.verdict == NOT_JUDGED:
            names_by_reason.setdefault((reason_of(row), _suite_and_model(row)), []).append(escape(row.threshold))
    if names_by_reason:
        yield "\n### Not judged\n"
    for (reason, suite_and_model), names in names_by_reason.items():
        yield f"- {escape(reason[:MOST_TEXT])} ({suite_and_model}): {', '.join(f'**{name}**' for name in names)}"


def _overrides(rows: Iterable[ThresholdResult]) -> Iterator[str]:
    overrides = [(row, override) for row in rows if (override := phrases.override_note(row))]
    if overrides:
        yield "\n### Overridden in pyproject.toml\n"
    for row, override in overrides:
        text = override.removeprefix("overridden in pyproject.toml: ")
        yield f"- **{escape(row.threshold)}** ({_suite_and_model(row)}): {escape(text)}"


def _suite_and_model(row: ThresholdResult) -> str:
    return ", ".join(escape(name) for name in (row.suite, row.model) if name)


def _example(threshold: ThresholdView) -> str:
    """Return the example of a threshold, in a collapsed element."""
    row, example = threshold.row, threshold.example
    assert example is not None  # noqa: S101 - only those with one are shown
    title = f"{row.verdict}: {row.threshold}, item {example.item}"
    parts = ["", "<details>", f"<summary>{escape(title)}</summary>", ""]
    for side in example.sides:
        parts += [_side(side), ""]
    if example.command:
        parts += ["Repeat with", "", fenced(example.command), ""]
    return "\n".join([*parts, "</details>"])


def _side(side: SideView) -> str:
    prompt = "\n\n".join(f"{message['role']}: {message['content']}" for message in side.prompt.conversation)
    shown = side.attempts[:MOST_ANSWERS]
    answers = "\n\n".join(f"{number}. {_answer(graded)}" for number, graded in enumerate(shown, start=1))
    if len(side.attempts) > len(shown):
        answers += f"\n\n{counted(len(side.attempts) - len(shown), 'more answer')}"
    prompt_label = "Prompt" if len(side.attempts) == side.numbers.attempts else "One of its prompts"
    subject = f"Group **{escape(side.group)}** in this item: " if side.group else "This item: "
    heading = f"{side.label.capitalize() or f'{subject}{phrases.tally(side.numbers)}. {prompt_label}'}:"
    return "\n\n".join([heading, fenced(_shorten(prompt)), "Answers:", fenced(answers)])


def _answer(graded: GradedAttempt) -> str:
    return f"{_shorten(phrases.answer_or_error(graded))}\n   [{_shorten(phrases.grades(graded))}]"


def _shorten(text: str) -> str:
    excess = len(text) - MOST_TEXT
    return text if excess <= 0 else f"{text[:MOST_TEXT]} ... ({counted(excess, 'more character')})"


def _method(view: View) -> Iterator[str]:
    yield "\n### Method\n"
    for fact in provenance_facts(view):
        yield f"- {fact.name}: {escape('; '.join(fact.lines)[:MOST_TEXT])}"
    if view.results.run.command:
        yield f"- Repeat with: {escape(command_of_run(view.results.run)[:MOST_TEXT])}"
    if promise := phrases.promise(view.results.thresholds):
        yield f"- {promise}"


def _first_that_fit(lines: Sequence[str], room: int) -> Sequence[str]:
    """Return the first lines that fit into ``room`` bytes."""
    for number, line in enumerate(lines):
        room -= _size(line)
        if room < 0:
            return lines[:number]
    return lines


def _size(line: str) -> int:
    return len(line.encode()) + 1


def _omission_note(sections: dict[str, list[str]], included: dict[str, Sequence[str]], run: str) -> list[str]:
    names = {"examples": "examples", "fair": "fair thresholds", "broken": "other thresholds"}
    parts = [
        f"{len(sections[name]) - len(included[name]):,} of {len(sections[name]):,} {noun}"
        for name, noun in names.items()
        if len(included[name]) < len(sections[name])
    ]
    if not parts and all(len(included[name]) == len(lines) for name, lines in sections.items()):
        return []
    missing = f"Left out, for GitHub's limit on the size of a summary: {', '.join(parts) or 'lines of the lists'}."
    return [f"\n{missing} Full report: `pytest-fairness report {run[:8]}`."]
