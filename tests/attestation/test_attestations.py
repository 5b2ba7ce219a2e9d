"""Signed runs: in-toto statements that other tools accept, and edits that are named with their place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from pytest_fairness.attestation.bundles import answer_lines, line_problem
from pytest_fairness.attestation.merkle import BLOCK, block_roots, tree_root
from pytest_fairness.attestation.signatures import read_private_key, read_public_key, sign_statement
from pytest_fairness.attestation.verification import Signer, verdict_problems, verify_bundle
from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.core.seals import Seal, SealedThreshold, read_seal
from pytest_fairness.extending import read_results
from tests.helpers import report_views, signed_bundles

UNSUPPORTED = """\
-----BEGIN PUBLIC KEY-----
ME4wEAYHKoZIzj0CAQYFK4EEACADOgAEDu7qRKDQuxcDGXsUyeQSQXn34cgdFDL6
icMgqmz4SoO0PL8xLn8yKGbbVe48o9mlUCYPGIX0pus=
-----END PUBLIC KEY-----
"""
"""A public key on the curve secp224k1."""
OTHERS = Path(__file__).parents[2] / ".venv-others"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with keys, a signed run, and an older one by the same signer."""
    folder = tmp_path_factory.mktemp("signed")
    key, _ = signed_bundles.write_keys(folder)
    signed_bundles.export(folder, key, "--eval-result")
    signed_bundles.export(folder, key, run="older0000", items=59)
    return folder


@pytest.fixture
def bundle(folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the signed run."""
    return Path(shutil.copytree(folder / "0123456789abcdef", tmp_path / "bundle"))


def problems(folder: Path, bundle: Path) -> list[str]:
    return verify_bundle(bundle, Signer(read_public_key(folder / "public.pem"))).problems


def payload(bundle: Path, name: str = "attestation") -> Any:
    return json.loads(Envelope.from_dict(json.loads((bundle / f"{name}.json").read_text("utf-8"))).payload)


def key_of(folder: Path) -> Any:
    return SSlibKey.from_crypto(read_public_key(folder / "public.pem"))


def test_signed_run_is_verified(folder: Path, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems(folder, bundle) == []
    assert main(["verify", str(bundle), "--key", str(folder / "public.pem")]) == 0
    shown = capsys.readouterr().out
    assert f"under {SEAL}" in shown
    assert "360 answers, Merkle root" in shown
    assert "WARNED: simulated:model is undecided" in shown


def test_statement_has_the_form_of_in_toto(bundle: Path) -> None:
    content = payload(bundle)
    Statement.copy_from_pb(json_format.ParseDict(content, statement_pb2.Statement())).validate()
    assert content["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    result = json_format.ParseDict(content["predicate"], test_result_pb2.TestResult(), ignore_unknown_fields=True)
    assert (result.result, list(result.passed_tests)) == ("WARNED", ["test_hiring.py::test_alike"])
    assert list(result.warned_tests) == ["test_hiring.py::test_other"]
    assert {descriptor.name for descriptor in result.configuration} == {"python", SEAL, "commit"}
    draft = payload(bundle, "eval-result")["predicate"]
    assert draft["preRegistration"]["value"] == content["subject"][2]["digest"]["sha256"]
    assert [claim["passed"] for claim in draft["claims"]] == [True, True, False, False]


@pytest.mark.parametrize("kind", ["ed25519", "p-256"])
def test_other_verifier_accepts_and_refuses_as_this_one(tmp_path: Path, kind: str) -> None:
    private, _ = signed_bundles.write_keys(tmp_path, kind)
    signed = sign_statement(b'{"a": 1}', read_private_key(private))
    Envelope.from_dict(json.loads(json.dumps(signed))).verify([key_of(tmp_path)], 1)
    edited = {**signed, "payload": "eyJhIjogMn0="}
    with pytest.raises(VerificationError):
        Envelope.from_dict(edited).verify([key_of(tmp_path)], 1)


@pytest.mark.parametrize("kind", signed_bundles.EDITS)
def test_edit_is_named_with_its_place(folder: Path, tmp_path: Path, kind: str) -> None:
    check_edits(folder, tmp_path, kind, number=4)


def check_edits(folder: Path, tmp_path: Path, kind: str, number: int) -> None:
    """Check a number of random edits of one kind."""
    for seed in range(number):
        bundle = Path(shutil.copytree(folder / "0123456789abcdef", tmp_path / f"{kind}-{seed}"))
        where = signed_bundles.edit(bundle, folder / "older0000", kind, Random(f"{kind} {seed}"))
        named = problems(folder, bundle)
        assert any(problem.startswith(where) for problem in named), (seed, where, named[:5])
        if kind in ("signature", "payload"):
            try:
                with pytest.raises(VerificationError):
                    Envelope.from_dict(json.loads((bundle / "attestation.json").read_text("utf-8"))).verify(
                        [key_of(folder)], 1
                    )
            except ValueError:  # no base64 any more
                pass
        shutil.rmtree(bundle)


def test_edits_by_the_signer_do_not_hide_a_verdict(folder: Path, bundle: Path) -> None:
    """Check that a fair verdict which does not follow from its numbers is named whoever signs it."""
    results = json.loads((bundle / "results.json").read_text("utf-8"))
    (row,) = [row for row in results["thresholds"] if row["verdict"] == "undecided"]
    row["verdict"], row["outcome"] = "fair", "passed"
    (bundle / "results.json").write_text(json.dumps(results), encoding="utf-8")
    named = problems(folder, bundle)
    assert any("is fair, and its interval 0.75 to 0.95 is not inside 0.8 to 1.2" in problem for problem in named)
    assert any("release of simulated:model counts" in problem for problem in named)


def test_omissions_of_a_dishonest_signer_are_named(folder: Path, bundle: Path) -> None:
    key, signer = folder / "private.pem", Signer(read_public_key(folder / "public.pem"))
    for draft in bundle.glob("eval-result*"):
        draft.unlink()
    original = json.loads((bundle / "results.json").read_text("utf-8"))
    signed_bundles.sign_again(bundle, key, original)
    assert verify_bundle(bundle, signer).problems == []
    fair, accepted = original["thresholds"]
    signed_bundles.sign_again(bundle, key, {**original, "release": []})
    assert verify_bundle(bundle, signer).problems == ["results.json: release of simulated:model is missing"]
    expired = {**accepted, "accepted": {**accepted["accepted"], "state": "expired"}}
    signed_bundles.sign_again(bundle, key, {**original, "thresholds": [fair, expired]})
    (problem,) = verify_bundle(bundle, signer).problems
    assert problem.endswith("test_other is accepted, and by no entry that covers its verdict")


def test_lost_row_of_a_parametrized_threshold_is_named(bundle: Path) -> None:
    results = read_results(json.loads((bundle / "results.json").read_text("utf-8")), "results.json")
    row, _ = results.thresholds
    entries = [SealedThreshold(id=f"{row.id}[group={name}]", title="t", probe="p", where="s:4") for name in "ab"]
    seal = Seal({}, {entry.id: entry for entry in entries}, digest=row.seal.digest if row.seal else "")
    both = [replace(row, id=f"{row.id}[{name}]") for name in "ab"]
    lines = [replace(results.release[0], fair=2, undecided=0)]
    assert list(verdict_problems(replace(results, thresholds=both, release=lines), seal)) == []
    lines = [replace(results.release[0], fair=1, undecided=0)]
    (problem,) = verdict_problems(replace(results, thresholds=both[:1], release=lines), seal)
    assert problem == f"results.json: {row.id} is sealed (s:4), and has 1 row for 2 sets of parameters"


def test_signed_statement_about_nothing_is_refused(folder: Path, bundle: Path) -> None:
    key, signer = folder / "private.pem", Signer(read_public_key(folder / "public.pem"))
    content = payload(bundle)
    for draft in bundle.glob("eval-result*"):
        draft.unlink()
    signed_bundles.sign_payload(bundle, key, json.dumps({**content, "predicate": {}}).encode())
    assert "attestation.json: result does not fit the files" in verify_bundle(bundle, signer).problems
    for name in ("results.json", "answers.jsonl", SEAL):
        (bundle / name).unlink()
    for empty in (b"", json.dumps({**content, "predicate": {}, "subject": []}).encode()):
        signed_bundles.sign_payload(bundle, key, empty)
        named = ["answers.jsonl: it is missing", "results.json: it is missing"]
        assert verify_bundle(bundle, signer).problems == named


def test_key_on_an_unsupported_curve_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "public.pem"
    path.write_text(UNSUPPORTED, encoding="utf-8")
    with pytest.raises(FairnessError, match="is a key of another kind"):
        read_public_key(path)


def test_run_under_another_seal_is_not_verified(folder: Path, bundle: Path, tmp_path: Path) -> None:
    signer = Signer(read_public_key(folder / "public.pem"))
    reviewed = tmp_path / SEAL
    shutil.copy(bundle / SEAL, reviewed)
    assert verify_bundle(bundle, signer, read_seal(reviewed)).problems == []
    reviewed.write_text(reviewed.read_text("utf-8").replace("0.8", "0.9"), encoding="utf-8")
    (problem,) = verify_bundle(bundle, signer, read_seal(reviewed)).problems
    assert problem == f"{SEAL}: the run is under another seal than named"


def test_another_key_is_refused(folder: Path, bundle: Path, tmp_path: Path) -> None:
    signed_bundles.write_keys(tmp_path)
    assert any("keyid is" in problem for problem in problems(tmp_path, bundle))


def test_run_under_another_seal_is_not_exported(tmp_path: Path) -> None:
    key, _ = signed_bundles.write_keys(tmp_path)
    with pytest.raises(FairnessError, match="is not the seal of the run"):
        signed_bundles.export(tmp_path, key, moves_seal=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "."], "name who must have signed"),
        (["verify", "gone", "--key", "public.pem"], "gone is no folder"),
        (["verify", ".", "--key", "private.pem"], "private.pem is no public key"),
        (["verify", ".", "--key", "gone.pem"], "the key gone.pem cannot be read"),
        (["verify", ".", "--identity", "me@example.org"], "attestation.sigstore.json: it is missing"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(folder)
    assert main(arguments) in (1, 2)
    captured = capsys.readouterr()
    assert words in (captured.err or captured.out).splitlines()[0]


def test_answers_with_any_text_are_lines_of_json() -> None:
    attempts = signed_bundles.sample(len(report_views.HOSTILE)).attempts
    for graded, text in zip(attempts[::6], report_views.HOSTILE, strict=True):
        object.__setattr__(graded.attempt.answer, "text", text)
    lines = list(answer_lines([signed_bundles.sample(0), signed_bundles.sample(1)]))
    assert [line_problem(line, number) for number, line in enumerate(lines)] == [""] * 6
    assert json.loads(lines[0])["grades"] == {"hired": False}


@given(st.integers(0, 2 * BLOCK + 5), st.data())
def test_block_roots_are_nodes_of_the_tree(number: int, data: st.DataObject) -> None:
    leaves = [bytes([index % 251, index // 251]) for index in range(number)]
    blocks = block_roots(leaves)
    assert tree_root(blocks) == _root_by_definition(leaves)
    if number:
        index = data.draw(st.integers(0, number - 1))
        leaves[index] += b"x"
        changed = [one != other for one, other in zip(block_roots(leaves), blocks, strict=True)]
        assert changed.index(True) == index // BLOCK
        assert sum(changed) == 1


def _root_by_definition(leaves: list[bytes]) -> bytes:
    """Return the Merkle Tree Hash as RFC 6962 defines it in section 2.1."""
    from hashlib import sha256

    if len(leaves) < 2:
        return sha256(b"\x00" + leaves[0]).digest() if leaves else sha256().digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    parts = (_root_by_definition(leaves[:split]), _root_by_definition(leaves[split:]))
    return sha256(b"\x01" + b"".join(parts)).digest()


SIGSTORE = """
import sys
sys.path.insert(0, sys.argv[1])
from sigstore import dsse
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from pytest_fairness.attestation.signatures import open_bundle, sign_by_identity, PAYLOAD_TYPE
from pytest_fairness import FairnessError

payload = open(sys.argv[2], "rb").read()
key = generate_private_key(SECP256R1())
envelope = dsse._sign(key, dsse.Statement(payload))  # sigstore reads the statement, and signs the same bytes
assert dsse._verify(key.public_key(), envelope) == payload
for text in ("", "{}", envelope.to_json()):
    try:
        open_bundle(text, "me@example.org", "https://example.org")
    except FairnessError as error:
        print("refused:", error)
import sigstore.oidc, sigstore.sign, sigstore.models
class Signer:
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def sign_dsse(self, statement):
        assert statement._contents == payload
        class Bundle:
            to_json = staticmethod(lambda: "signed")
        return Bundle
class Context:
    from_trust_config = staticmethod(lambda config: Context())
    def signer(self, token): return Signer()
sigstore.sign.SigningContext = Context
sigstore.models.ClientTrustConfig.production = staticmethod(lambda: None)
sigstore.oidc.detect_credential = lambda: "token"
sigstore.oidc.IdentityToken = lambda token: token
print(sign_by_identity(payload))
"""


@pytest.mark.slow
def test_sigstore_reads_the_statement_and_refuses_others(bundle: Path, tmp_path: Path) -> None:
    """Everything but the two services that take a network: the certificate, and the log."""
    if not (OTHERS / "sigstore").is_dir():
        if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
            pytest.fail("sigstore is not there: make others")
        pytest.skip("sigstore is not there: make others")
    statement = tmp_path / "statement.json"
    statement.write_bytes(Envelope.from_dict(json.loads((bundle / "attestation.json").read_text("utf-8"))).payload)
    result = subprocess.run(
        [sys.executable, "-c", SIGSTORE, str(OTHERS), str(statement)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("refused: it is not signed by me@example.org") == 3
    assert result.stdout.endswith("signed\n")
