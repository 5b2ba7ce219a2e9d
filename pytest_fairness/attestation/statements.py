"""Statements of a run in the form of in-toto: a test result, and an evaluation result as its draft stands."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.attestation.bundles import ANSWERS, AnswerTree, file_digest, part_digests
from pytest_fairness.attestation.merkle import BLOCK
from pytest_fairness.extending import SEAL, RunResults, ThresholdResult
from pytest_fairness.extending import json_text as json

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
EVAL_RESULT = "https://in-toto.io/attestation/eval-result/v0.1"
"""The draft of in-toto/attestation#575, as of its commit 159514c5 (July 2026). It is not standardized."""
PASSED, WARNED, FAILED = "PASSED", "WARNED", "FAILED"
_ACCEPTED = "accepted"


def outcome_of(row: ThresholdResult) -> str:
    """Return whether a threshold has passed, has failed, or is accepted with a warning."""
    if row.verdict == "fair":
        return PASSED
    return WARNED if row.outcome == _ACCEPTED and row.verdict in ("unfair", "undecided") else FAILED


def result_of(results: RunResults) -> str:
    """Return the result of a run: the worst of its thresholds. One that was not judged has failed."""
    outcomes = {outcome_of(row) for row in results.thresholds}
    if FAILED in outcomes or not outcomes:
        return FAILED
    return WARNED if WARNED in outcomes else PASSED


def make_statement(predicate_type: str, subjects: Mapping[str, Mapping[str, str]], predicate: Any) -> bytes:
    """Return a statement as JSON.

    Args:
        predicate_type: The URI of its predicate.
        subjects: The digests of what it is about, by name.
        predicate: The predicate.
    """
    content = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": dict(digest)} for name, digest in subjects.items()],
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def bundle_subjects(files: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Return the subjects of a bundle: the digests of its files."""
    return {name: {"sha256": file_digest(content)} for name, content in files.items()}


def make_test_result(
    results: RunResults,
    content: Mapping[str, Any],
    files: Mapping[str, bytes],
    tree: AnswerTree,
    sealed: Mapping[str, str],
) -> dict[str, Any]:
    """Return the predicate of a test result.

    What in-toto does not define stands under ``fairness``.

    Args:
        results: The results of the run.
        content: The same as JSON.
        files: The files of the bundle.
        tree: The answers.
        sealed: The digests of the parts of the seal, by their ids.
    """
    run = results.run
    rows = results.thresholds
    names = {outcome: [row.id for row in rows if outcome_of(row) == outcome] for outcome in (PASSED, WARNED, FAILED)}
    configuration: list[dict[str, Any]] = [
        {"name": name, "annotations": {"version": version}} for name, version in sorted(run.versions.items())
    ]
    if SEAL in files:
        configuration.append({"name": SEAL, "digest": {"sha256": file_digest(files[SEAL])}})
    if run.git and not run.git.endswith("-dirty"):
        configuration.append({"name": "commit", "digest": {"gitCommit": run.git}})
    return {
        "result": result_of(results),
        "configuration": configuration,
        "passedTests": names[PASSED],
        "warnedTests": names[WARNED],
        "failedTests": names[FAILED],
        "fairness": {
            "run": run.id,
            "started": run.started,
            "ended": run.ended,
            "commit": run.git,
            "models": list(run.models),
            "release": {line.model: line.verdict for line in results.release},
            "verdicts": [_verdict(row) for row in rows],
            "accepted": [_acceptance(entry) for entry in results.acceptances or ()],
            "answers": {
                "file": ANSWERS,
                "tree": "RFC 6962, SHA-256",
                "root": tree.root,
                "leaves": tree.leaves,
                "block": BLOCK,
                "blocks": list(tree.blocks),
            },
            "parts": part_digests(content),
            "sealed": dict(sealed),
        },
    }


def _verdict(row: ThresholdResult) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "id": row.id,
        "title": row.threshold,
        "model": row.model,
        "verdict": row.verdict,
        "outcome": row.outcome,
        "metric": estimate.metric,
        "estimate": estimate.value,
        "interval": [estimate.low, estimate.high],
        "bounds": list(row.bounds),
        "attempts": estimate.attempts,
        "run": row.looks.run if row.looks is not None else None,
        "seal": row.seal.digest if row.seal is not None else None,
    }


def _acceptance(entry: Any) -> dict[str, Any]:
    names = ("threshold", "model", "verdict", "reason", "by", "until", "state")
    return {name: getattr(entry, name) for name in names}


def make_eval_result(results: RunResults, tree: AnswerTree, seal_digest: str) -> dict[str, Any]:
    """Return the predicate of an evaluation result, as its draft stands.

    A claim has passed only where the whole interval lies on its side of the bound.

    Args:
        results: The results of the run.
        tree: The answers.
        seal_digest: The SHA-256 of the seal; empty without one.
    """
    run, rows = results.run, [row for row in results.thresholds if row.comparisons]
    predicate: dict[str, Any] = {
        "verifier": {"id": "https://pypi.org/project/pytest-fairness/"},
        "evaluatedAt": run.ended or run.started,
        "suite": {"name": ", ".join(sorted({row.suite for row in rows})), "version": run.git or "unknown"},
        "claims": [
            {
                "metric": row.estimate.metric,
                "comparator": comparison.op,
                "threshold": repr(comparison.bound),
                "passed": row.verdict == "fair",
            }
            for row in rows
            for comparison in row.comparisons
        ],
        "sampleSize": tree.leaves,
        "commitments": {
            "model": _commitment(sorted(run.models)),
            "dataset": _commitment(sorted({row.items_digest for row in rows})),
        },
        "assuranceLevel": "self_attested",
        "subjectProfile": "receipt",
        "receipt": {
            "schema": "pytest-fairness/results/2",
            "merkleRootB64": b64encode(bytes.fromhex(tree.root)).decode(),
        },
        "harness": {"name": "pytest-fairness", "version": run.versions.get("pytest-fairness", "unknown")},
    }
    if seal_digest:
        predicate["preRegistration"] = {"alg": "sha256", "value": seal_digest}
    return predicate


def _commitment(names: Sequence[str]) -> dict[str, Any]:
    return {"alg": "sha256", "value": file_digest("\n".join(names).encode()), "salted": False}
