"""Offline checks of a bundle: signature, answers, seal and verdicts, each with the place of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.attestation.bundles import (
    ANSWERS,
    DRAFT,
    RESULTS,
    STATEMENT,
    AnswerTree,
    block_span,
    file_digest,
    json_digest,
    line_problem,
    part_digests,
)
from pytest_fairness.attestation.signatures import envelope_text, open_bundle, open_envelope, signature_problem
from pytest_fairness.attestation.statements import (
    EVAL_RESULT,
    STATEMENT_TYPE,
    TEST_RESULT,
    bundle_subjects,
    make_eval_result,
    make_test_result,
)
from pytest_fairness.extending import (
    SEAL,
    RunResults,
    Seal,
    ThresholdResult,
    TomlFile,
    counted,
    parse_seal,
    read_results,
    read_seal,
)
from pytest_fairness.extending import json_text as json

MOST_PLACES = 20
"""The most places of one file that are named."""


@dataclass(slots=True)
class BundleCheck:
    """The result of a check of a bundle."""

    problems: list[str] = field(default_factory=list)
    """The places of changes, in words; none where everything is as it was signed."""
    results: RunResults | None = None
    tree: AnswerTree | None = None
    statement: Mapping[str, Any] = field(default_factory=dict)
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class Signer:
    """The signer that a bundle must have: a key, or an identity of sigstore."""

    key: Any = None
    identity: str = ""
    issuer: str = ""


def verify_bundle(folder: Path, signer: Signer, required: Seal | None = None) -> BundleCheck:
    """Return the check of a bundle, without a request.

    Args:
        folder: The folder of the bundle.
        signer: Who must have signed it.
        required: The seal that the run must be under; None for any, and for none.
    """
    check = BundleCheck()
    problems = check.problems
    files = {name: data for name in (RESULTS, ANSWERS, SEAL) if (data := _read(folder / name)) is not None}
    payload = _signed_payload(folder, STATEMENT, signer, problems)
    statement = _parse_statement(payload, TEST_RESULT, f"{STATEMENT}.json", problems)
    check.statement = statement
    predicate = _mapping(statement.get("predicate"))
    facts = _mapping(predicate.get("fairness"))
    signed = _subjects(statement)
    for name in sorted({RESULTS, ANSWERS, *signed, *files}):
        if name not in files:
            if name in (RESULTS, ANSWERS, SEAL):
                problems.append(f"{name}: it {'was signed, and ' * (name in signed)}is missing")
        elif signed.get(name) != file_digest(files[name]):
            problems += _changes(name, files[name], facts, is_signed=name in signed)
    content, check.results = _read_results(files.get(RESULTS), problems)
    lines = _lines(files.get(ANSWERS, b""))
    check.tree = AnswerTree.of(lines)
    seal = _read_seal(folder, files, problems)
    if required is not None and (seal is None or seal.digest != required.digest):
        problems.append(f"{SEAL}: the run is {'not under a seal' if seal is None else 'under another seal than named'}")
    check.is_sealed = seal is not None
    if check.results is not None:
        sealed = sealed_digests(seal) if seal is not None else {}
        expected = make_test_result(check.results, content, files, check.tree, sealed)
        if statement:
            problems += _predicate_differences(f"{STATEMENT}.json", predicate, expected)
        problems += verdict_problems(check.results, seal)
        if any((folder / name).exists() for name in (f"{DRAFT}.json", f"{DRAFT}.sigstore.json")):
            draft = _parse_statement(_signed_payload(folder, DRAFT, signer, problems), EVAL_RESULT, DRAFT, problems)
            digest = file_digest(files[SEAL]) if SEAL in files else ""
            claimed = make_eval_result(check.results, check.tree, digest)
            if draft:
                problems += _predicate_differences(f"{DRAFT}.json", _mapping(draft.get("predicate")), claimed)
            if draft and _subjects(draft) != _subjects({"subject": _own_subjects(files)}):
                problems.append(f"{DRAFT}.json: its subjects are other files")
    check.problems = list(dict.fromkeys(problems))
    return check


def _own_subjects(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    return [{"name": name, "digest": digest} for name, digest in bundle_subjects(files).items()]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None


def _signed_payload(folder: Path, name: str, signer: Signer, problems: list[str]) -> bytes:
    """Return the payload of a signed statement, whose signature is checked; empty where there is none."""
    by_identity, by_key = folder / f"{name}.sigstore.json", folder / f"{name}.json"
    content = _read(by_identity if signer.identity else by_key)
    if content is None:
        wanted = by_identity if signer.identity else by_key
        other = by_key if signer.identity else by_identity
        way = f"; {other.name} is there: name its signer" if other.exists() else ""
        problems.append(f"{wanted.name}: it is missing{way}")
        return b""
    try:
        if signer.identity:
            return open_bundle(content.decode("utf-8", "replace"), signer.identity, signer.issuer)
        envelope = json.loads(content)
        payload = open_envelope(envelope)
    except FairnessError as error:
        problems.append(f"{name}{'.sigstore' if signer.identity else ''}.json: {error}")
        return b""
    except (ValueError, RecursionError) as error:
        problems.append(f"{by_key.name}: not valid JSON: {error}")
        return b""
    if problem := signature_problem(envelope, signer.key):
        problems.append(f"{by_key.name}: {problem}")
    elif envelope_text(envelope).encode() != content:
        problems.append(f"{by_key.name}: its layout was edited")
    return payload


def _parse_statement(payload: bytes, kind: str, where: str, problems: list[str]) -> dict[str, Any]:
    if not payload:
        return {}
    try:
        statement = json.loads(payload)
    except (ValueError, RecursionError) as error:
        problems.append(f"{where}: its payload is not valid JSON: {error}")
        return {}
    if not isinstance(statement, dict) or statement.get("_type") != STATEMENT_TYPE:
        problems.append(f"{where}: its payload is no in-toto statement")
        return {}
    if statement.get("predicateType") != kind:
        problems.append(f"{where}: predicateType is {str(statement.get('predicateType'))[:80]!r}, not {kind}")
    return statement


def _subjects(statement: Mapping[str, Any]) -> dict[str, str]:
    subjects = statement.get("subject")
    rows = [row for row in subjects if isinstance(row, dict)] if isinstance(subjects, list) else []
    return {str(row.get("name")): str(_mapping(row.get("digest")).get("sha256")) for row in rows}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _changes(name: str, content: bytes, facts: Mapping[str, Any], *, is_signed: bool) -> Iterator[str]:
    """Yield the places at which a file differs from what was signed."""
    if not is_signed:
        yield f"{name}: it was not signed"
        return
    places = {RESULTS: _changed_parts, ANSWERS: _changed_answers, SEAL: _changed_entries}[name](content, facts)
    named = list(dict.fromkeys(places))
    for change in named[:MOST_PLACES]:
        yield f"{name}: {change}"
    if len(named) > MOST_PLACES:
        yield f"{name}: {len(named) - MOST_PLACES} more places"
    if not named:
        yield f"{name}: its layout was edited: spaces, line ends, or the order of keys"


def _changed_parts(content: bytes, facts: Mapping[str, Any]) -> Iterator[str]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        yield f"not valid JSON: {error}"
        return
    now, signed = part_digests(_mapping(parsed)), _mapping(facts.get("parts"))
    if (run := _mapping(_mapping(parsed).get("run")).get("id")) != facts.get("run"):
        yield f"it is of run {str(run)[:8]}, and run {str(facts.get('run'))[:8]} was signed"
    for part in [*signed, *(part for part in now if part not in signed)]:
        if now.get(part) != signed.get(part):
            yield f"{part} {'is missing' if part not in now else 'was added' if part not in signed else 'was edited'}"


def _changed_answers(content: bytes, facts: Mapping[str, Any]) -> Iterator[str]:
    answers = _mapping(facts.get("answers"))
    lines = _lines(content)
    tree = AnswerTree.of(lines)
    signed = answers.get("leaves")
    if not content.endswith(b"\n"):
        yield f"line {len(lines)} is cut off"
    if tree.leaves != signed:
        yield f"it has {counted(tree.leaves, 'line')}, and {signed} were signed"
    for number, line in enumerate(lines):
        if problem := line_problem(line, number):
            yield f"line {number + 1}: {problem}"
    blocks = answers.get("blocks")
    for index, (block, original) in enumerate(
        zip(tree.blocks, blocks if isinstance(blocks, list) else [], strict=False)
    ):
        if block != original:
            yield f"{block_span(index, tree.leaves)} are not as signed"


def _changed_entries(content: bytes, facts: Mapping[str, Any]) -> Iterator[str]:
    try:
        seal = parse_seal(TomlFile.parse(content.decode("utf-8", "replace"), SEAL))
    except FairnessError as error:
        yield str(error)
        return
    now, signed = sealed_digests(seal), _mapping(facts.get("sealed"))
    where = {entry.id: entry.where for entry in _entries(seal)}
    for name in [*signed, *(name for name in now if name not in signed)]:
        if now.get(name) != signed.get(name):
            state = "is missing" if name not in now else "was added" if name not in signed else "was edited"
            yield f"{name} {state}{f' ({where[name]})' if name in where else ''}"


def sealed_digests(seal: Seal) -> dict[str, str]:
    """Return the digest of each entry of a seal, by the id of its probe or threshold."""
    return {entry.id: json_digest({**asdict(entry), "where": ""}) for entry in _entries(seal)}


def _entries(seal: Seal) -> list[Any]:
    return [*seal.thresholds.values(), *seal.probes.values()]


def _lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "replace")
    return text.removesuffix("\n").split("\n") if text else []


def _read_results(content: bytes | None, problems: list[str]) -> tuple[dict[str, Any], RunResults | None]:
    if content is None:
        return {}, None
    try:
        parsed = json.loads(content)
        return parsed, read_results(parsed, RESULTS)
    except FairnessError as error:
        problems.append(str(error))
    except (ValueError, RecursionError) as error:
        problems.append(f"{RESULTS}: not valid JSON: {error}")
    return {}, None


def _read_seal(folder: Path, files: Mapping[str, bytes], problems: list[str]) -> Seal | None:
    if SEAL not in files:
        return None
    try:
        return read_seal(folder / SEAL)
    except FairnessError as error:
        problems.append(str(error))
        return None


def _predicate_differences(where: str, signed: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths at which a predicate says something else than the files of the bundle."""
    paths = list(_paths(signed, expected, ""))
    for path in paths[:MOST_PLACES]:
        yield f"{where}: {path} does not fit the files"
    if len(paths) > MOST_PLACES:
        yield f"{where}: {len(paths) - MOST_PLACES} more places"


def _paths(first: Any, second: Any, path: str) -> Iterator[str]:
    if isinstance(first, dict) and isinstance(second, dict):
        for name in [*first, *(name for name in second if name not in first)]:
            inner = f"{path}.{name}" if path else str(name)
            if name not in first or name not in second:
                yield inner
            else:
                yield from _paths(first[name], second[name], inner)
    elif isinstance(first, list) and isinstance(second, list | tuple):
        if len(first) != len(second):
            yield f"{path} ({len(first)} for {len(second)})"
        for index, (one, other) in enumerate(zip(first, second, strict=False)):
            name = one.get("id") if isinstance(one, dict) else None
            yield from _paths(one, other, f"{path}[{index}]{f' {name}' if name else ''}")
    elif first != second:
        yield path


def verdict_problems(results: RunResults, seal: Seal | None) -> Iterator[str]:
    """Yield the verdicts that do not follow from their numbers, from the seal or from each other.

    `pytest --fairness-verify` computes them again from the answers, with the tests and the store.

    Args:
        results: The results.
        seal: The seal; None for a run without one.
    """
    for index, row in enumerate(results.thresholds):
        if row.verdict == "fair" and (problem := _fair_problem(row, seal)):
            yield f"{RESULTS}: thresholds[{index}] {row.id} is fair, and {problem}"
        if row.outcome == "accepted" and (row.accepted is None or row.accepted.state != "accepted"):
            yield f"{RESULTS}: thresholds[{index}] {row.id} is accepted, and by no entry that covers its verdict"
    for model in sorted({row.model for row in results.thresholds} - {line.model for line in results.release} - {""}):
        yield f"{RESULTS}: release of {model} is missing"
    for line in results.release:
        rows = [row for row in results.thresholds if row.model in (line.model, "")]
        counts = {state: sum(row.verdict == state for row in rows) for state in line.counts}
        if counts != line.counts:
            yield f"{RESULTS}: release of {line.model} counts {line.counts}, and its thresholds are {counts}"
        if line.verdict == "fair" and counts["fair"] != len(rows):
            yield f"{RESULTS}: release of {line.model} is fair, and {len(rows) - counts['fair']} thresholds are not"
    if seal is not None:
        yield from _missing_rows(results.thresholds, seal)


def _missing_rows(rows: Sequence[ThresholdResult], seal: Seal) -> Iterator[str]:
    """Yield the tests that have fewer rows, on one of their models, than the seal has sets of parameters."""
    places: dict[str, list[str]] = {}
    for name, entry in seal.thresholds.items():
        places.setdefault(_test_of(name), []).append(entry.where)
    for test, sealed in places.items():
        models = [row.model for row in rows if _test_of(row.id) == test]
        # A row of a test that was not run may have no model: it stands for all.
        number = min((sum(other in (model, "") for other in models) for model in models), default=0)
        if number < len(sealed):
            has = f"{counted(number, 'row')} for {len(sealed)} sets of parameters" if number else "no row"
            yield f"{RESULTS}: {test} is sealed ({sealed[0]}), and has {has}"


def _test_of(name: str) -> str:
    return name.partition("[")[0]


def _fair_problem(row: ThresholdResult, seal: Seal | None) -> str:
    """Return why a row cannot be fair; empty where it can."""
    estimate, (low, high) = row.estimate, row.bounds
    if estimate.value is None or not row.comparisons:
        return "compares no estimate"
    if (low is not None and (estimate.low is None or estimate.low < low)) or (
        high is not None and (estimate.high is None or estimate.high > high)
    ):
        return f"its interval {estimate.low} to {estimate.high} is not inside {low} to {high}"
    if row.failing:
        return f"{row.failing[0].metric} is not inside its bounds"
    if any(comparison.decision != "true" for comparison in row.comparisons):
        return "not every comparison holds"
    if row.seal is not None and row.seal.differences:
        return f"it differs from its seal: {row.seal.differences[0]}"
    if (row.seal.digest if row.seal is not None else "") != (seal.digest if seal is not None else ""):
        return "it was judged under another seal" if row.seal is not None else "it was judged under no seal"
    return ""


def summarize(check: BundleCheck) -> Sequence[str]:
    """Return the lines that say what was verified."""
    statement = check.statement
    predicate = _mapping(statement.get("predicate"))
    facts, tree, results = _mapping(predicate.get("fairness")), check.tree, check.results
    assert results is not None  # noqa: S101 - only of a bundle without problems
    assert tree is not None  # noqa: S101 - the same
    seal = f"under {SEAL}" if check.is_sealed else "without a seal"
    lines = [
        f"verified: run {results.run.id[:8]} of {results.run.started}, {seal}, commit {results.run.git or 'unknown'}",
        f"  {counted(tree.leaves, 'answer')}, Merkle root {tree.root[:16]}",
        f"  {predicate.get('result')}: "
        + "; ".join(f"{model} is {verdict}" for model, verdict in facts["release"].items()),
    ]
    for entry in facts["accepted"]:
        decision = f"by {entry['by']} until {entry['until']}: {entry['reason']}"
        lines.append(f"  {entry['state']}: {entry['threshold']} ({entry['verdict']}) {decision}")
    return lines
