"""The export ``attestation``: a run as signed files that others can check offline."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.attestation.bundles import (
    ANSWERS,
    DRAFT,
    RESULTS,
    STATEMENT,
    AnswerTree,
    answer_lines,
)
from pytest_fairness.extending import (
    SEAL,
    Exporter,
    RunReference,
    RunResults,
    Seal,
    counted,
    read_seal,
    results_text,
    write_text,
)
from pytest_fairness.extending import json_text as json


class AttestationExport(Exporter):
    """The export ``attestation``."""

    help = "a run as an in-toto statement, signed, with all answers and the seal"
    out = "the folder to write"

    def add_arguments(self, parser: ArgumentParser) -> None:
        signer = parser.add_mutually_exclusive_group(required=True)
        signer.add_argument(
            "--key", type=Path, metavar="FILE", help="sign with this private key: Ed25519 or P-256, in PEM"
        )
        signer.add_argument(
            "--identity", action="store_true", help="sign as this CI job, or as yourself, by sigstore, in a public log"
        )
        parser.add_argument(
            "--seal", type=Path, default=Path(SEAL), metavar="FILE", help=f"the seal of the run ({SEAL})"
        )
        parser.add_argument(
            "--subject",
            action="append",
            default=[],
            metavar="NAME=SHA256",
            help="what the run has tested: an image, or weights, by its digest (repeatable)",
        )
        parser.add_argument(
            "--eval-result", action="store_true", help="add in-toto's draft of an evaluation result (July 2026)"
        )

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        from pytest_fairness.attestation.signatures import (
            envelope_text,
            read_private_key,
            sign_by_identity,
            sign_statement,
        )
        from pytest_fairness.attestation.statements import (
            EVAL_RESULT,
            TEST_RESULT,
            bundle_subjects,
            make_eval_result,
            make_statement,
            make_test_result,
            result_of,
        )
        from pytest_fairness.attestation.verification import sealed_digests, verdict_problems

        key = None if arguments.key is None else read_private_key(arguments.key)
        tested = dict(map(_read_subject, arguments.subject))
        view = run.read()
        results = view.results
        text = results_text(results).encode("utf-8", "backslashreplace")
        content = json.loads(text)
        lines = list(answer_lines(view.samples))
        files = {
            RESULTS: text,
            ANSWERS: "".join(f"{line}\n" for line in lines).encode(),
        }
        seal = _seal_of(results, arguments.seal)
        if seal is not None:
            files[SEAL] = arguments.seal.read_text(encoding="utf-8-sig").encode()
        if problem := next(verdict_problems(results, seal), ""):
            raise FairnessError(f"nothing was signed, as it would not be verified: {problem}")
        tree = AnswerTree.of(lines)
        subjects = {**bundle_subjects(files), **tested}
        predicate = make_test_result(results, content, files, tree, {} if seal is None else sealed_digests(seal))
        statements = {STATEMENT: make_statement(TEST_RESULT, subjects, predicate)}
        if arguments.eval_result:
            draft = make_eval_result(results, tree, "" if seal is None else seal.digest)
            statements[DRAFT] = make_statement(EVAL_RESULT, bundle_subjects(files), draft)
        written = {name: data.decode() for name, data in files.items()}
        for name, payload in statements.items():
            if key is None:
                written[f"{name}.sigstore.json"] = sign_by_identity(payload)
            else:
                written[f"{name}.json"] = envelope_text(sign_statement(payload, key))
        _write(out, written)
        return f"{result_of(results)}: {counted(len(lines), 'answer')}, Merkle root {tree.root[:16]}, written to {out}"


def _read_subject(text: str) -> tuple[str, dict[str, str]]:
    name, _, digest = text.rpartition("=")
    digest = digest.removeprefix("sha256:")
    if not name or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise FairnessError(f"--subject is {text!r:.100}: write NAME=SHA256, 64 hexadecimal digits")
    if name in (RESULTS, ANSWERS, SEAL):
        raise FairnessError(f"--subject is {text!r:.100}: {name} is a file of the bundle: give another name")
    return name, {"sha256": digest}


def _seal_of(results: RunResults, path: Path) -> Seal | None:
    """Return the seal of a run; None for a run without one.

    Raises:
        FairnessError: The file is another seal than that of the run.
    """
    digests = {row.seal.digest for row in results.thresholds if row.seal is not None}
    if not digests:
        return None
    seal = read_seal(path)
    if seal is None:
        raise FairnessError(f"the run is under a seal, and {path} is missing: name the file by --seal")
    if digests != {seal.digest}:
        commit = f": check out commit {results.run.git}" if results.run.git else ""
        raise FairnessError(f"{path} is not the seal of the run, or not of all its thresholds{commit}")
    return seal


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a bundle, and remove those of an earlier one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (STATEMENT, DRAFT):
            for suffix in (".json", ".sigstore.json"):
                (folder / f"{name}{suffix}").unlink(missing_ok=True)
        (folder / SEAL).unlink(missing_ok=True)
    except OSError as error:
        raise FairnessError(f"the folder {folder} cannot be written: {error.strerror}") from None
    for name, text in files.items():
        write_text(folder / name, text)
