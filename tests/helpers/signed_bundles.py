"""A signed run in a folder, and random edits of it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pytest_fairness.attestation.attestations import AttestationExport
from pytest_fairness.attestation.bundles import ANSWERS, RESULTS, AnswerTree
from pytest_fairness.attestation.signatures import envelope_text, read_private_key, sign_statement
from pytest_fairness.attestation.statements import TEST_RESULT, bundle_subjects, make_statement, make_test_result
from pytest_fairness.attestation.verification import sealed_digests
from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.core.seals import SealedProbe, SealedThreshold, read_seal, seal_text
from pytest_fairness.extending import read_results
from pytest_fairness.report.exports.exporter import RunReference
from pytest_fairness.store.samples import StoredSample
from tests.helpers import report_views

PROBE = "test_hiring.py::test_hiring"
EDITS = ("bound", "answer", "grade", "verdict", "order", "cut", "older", "signature", "payload", "seal", "removed")


def write_keys(folder: Path, kind: str = "ed25519") -> tuple[Path, Path]:
    """Write a private key and its public key, and return their files."""
    key = Ed25519PrivateKey.generate() if kind == "ed25519" else generate_private_key(SECP256R1())
    private, public = folder / "private.pem", folder / "public.pem"
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    public.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


def sample(items: int) -> StoredSample:
    """Return a sample of that many items, with one prompt for each of two groups, asked three times."""
    attempts = []
    for number in range(items):
        item = ProbeItem(
            f"person-{number:05}", [Prompt(f"Hire {group} {number}?", {"gender": group}) for group in ("woman", "man")]
        )
        for prompt in item.prompts:
            for repetition in range(3):
                grade = Grade.none("refusal") if number % 7 == 6 else Grade(bool((number + repetition) % 2))
                attempts.append(report_views.graded(item, prompt, repetition, {"hired": grade}, f"Answer ü {number}"))
    return StoredSample(PROBE, report_views.MODEL, "key", attempts, graders={"hired": "YesNo v1"})


def write_seal(folder: Path) -> Path:
    """Write the seal of the thresholds of `export`, and return its file."""
    ids = ("test_hiring.py::test_alike", "test_hiring.py::test_other")
    thresholds = [SealedThreshold(id=name, title=name, probe=PROBE, bounds=("ratio >= 0.8",)) for name in ids]
    path = folder / SEAL
    path.write_text(seal_text([SealedProbe(id=PROBE, items="2 items")], thresholds), encoding="utf-8")
    return path


def export(
    folder: Path, key: Path, *options: str, run: str = "0123456789abcdef", items: int = 60, moves_seal: bool = False
) -> Path:
    """Export a run of two thresholds under a seal, the second of them accepted, and return the folder."""
    path = write_seal(folder)
    seal = read_seal(path)
    assert seal is not None
    sealed: dict[str, Any] = {"seal": {"digest": seal.digest, "differences": []}}
    other = "test_hiring.py::test_other"
    entry = {"threshold": other, "title": "other", "model": report_views.MODEL, "verdict": "undecided"}
    accepted = {**entry, "reason": "too few", "by": "Ada", "until": "2026-02-01", "state": "accepted"}
    rows = [
        report_views.row(**sealed),
        report_views.row("undecided", id=other, threshold="other", outcome="accepted", accepted=accepted, **sealed),
    ]
    view = report_views.view(rows, samples=[sample(items)])
    object.__setattr__(view.results.run, "id", run)
    if moves_seal:
        path.write_text(path.read_text(encoding="utf-8").replace("0.8", "0.7"), encoding="utf-8")
    exporter, parser = AttestationExport(), ArgumentParser()
    exporter.add_arguments(parser)
    arguments = parser.parse_args([f"--key={key}", f"--seal={path}", *options])
    out = folder / run
    exporter.export(RunReference("latest", lambda: view), out, arguments)
    return out


def sign_again(bundle: Path, key: Path, content: Any) -> None:
    """Write other results into a bundle, and sign it as its signer could."""
    (bundle / RESULTS).write_text(json.dumps(content), encoding="utf-8")
    files = {name: (bundle / name).read_bytes() for name in (RESULTS, ANSWERS, SEAL)}
    seal, tree = read_seal(bundle / SEAL), AnswerTree.of(files[ANSWERS].decode().splitlines())
    assert seal is not None
    predicate = make_test_result(read_results(content, RESULTS), content, files, tree, sealed_digests(seal))
    sign_payload(bundle, key, make_statement(TEST_RESULT, bundle_subjects(files), predicate))


def sign_payload(bundle: Path, key: Path, payload: bytes) -> None:
    """Write a signed payload as the statement of a bundle."""
    text = envelope_text(sign_statement(payload, read_private_key(key)))
    (bundle / "attestation.json").write_text(text, encoding="utf-8")


def edit(bundle: Path, older: Path, kind: str, random: Random) -> str:
    """Edit one file of a bundle at random, and return the place that a check must name.

    Args:
        bundle: The folder, which is changed.
        older: The folder of an earlier run by the same signer.
        kind: One of `EDITS`.
        random: Where the edit is.
    """
    results, answers, statement = bundle / "results.json", bundle / "answers.jsonl", bundle / "attestation.json"
    if kind in ("bound", "verdict"):
        content = json.loads(results.read_text(encoding="utf-8"))
        row = random.choice(content["thresholds"])
        if kind == "bound":
            row["bounds"][random.randrange(2)] *= random.choice((0.5, 0.9, 1.1))
        else:
            row["verdict"] = "fair" if row["verdict"] != "fair" else random.choice(("unfair", "undecided", "invalid"))
        results.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return f"results.json: thresholds[{content['thresholds'].index(row)}] {row['id']} was edited"
    if kind in ("answer", "grade", "order"):
        lines = answers.read_text(encoding="utf-8").split("\n")[:-1]
        number = random.randrange(len(lines) - 1)
        if kind == "answer":
            lines[number] = lines[number].replace('"answer":"Answer', f'"answer":"Other{random.randrange(10)}')
        elif kind == "grade":
            head, mark, tail = lines[number].partition('"hired":')
            value = '{"ungraded":"refusal"}' if tail.startswith(("true", "false")) else "true"
            lines[number] = f"{head}{mark}{value}}}{tail[tail.index('}') + 1 :].lstrip('}')}"
        else:
            lines[number], lines[number + 1] = lines[number + 1], lines[number]
        answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return f"answers.jsonl: line {number + 1}: "
    if kind == "cut":
        file = random.choice((results, answers, statement, bundle / SEAL))
        content = file.read_bytes()
        file.write_bytes(content[: random.randrange(len(content) - 1)])
        return f"{file.name}"
    if kind == "older":
        statement.write_bytes((older / "attestation.json").read_bytes())
        return "results.json: it is of run "
    if kind in ("signature", "payload"):
        envelope = json.loads(statement.read_text(encoding="utf-8"))
        holder, name = (envelope["signatures"][0], "sig") if kind == "signature" else (envelope, "payload")
        text = holder[name]
        index = random.randrange(len(text.rstrip("=")))
        other = random.choice(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".replace(text[index], "")
        )
        holder[name] = text[:index] + other + text[index + 1 :]
        statement.write_text(json.dumps(envelope, indent=1) + "\n", encoding="utf-8")
        return "attestation.json: "
    if kind == "seal":
        seal = bundle / SEAL
        seal.write_text(
            seal.read_text(encoding="utf-8").replace("0.8", f"0.{random.randrange(8)}", 1), encoding="utf-8"
        )
        return f"{SEAL}: test_hiring.py::test_alike was edited ({SEAL}:4)"
    file = random.choice((results, answers, statement, bundle / SEAL))
    file.unlink()
    return f"{file.name}: it "
