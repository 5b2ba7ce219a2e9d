"""``pytest-fairness verify``: the check of a signed run, without a request."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.extending import Commands, add_command, escape_controls, read_seal

_ISSUER = "https://token.actions.githubusercontent.com"


def add(commands: Commands) -> None:
    """Declare the command."""
    verify = add_command(
        commands,
        "verify",
        "check a signed run offline: its signature, answers, seal and verdicts",
        "Check the folder that `export attestation` has written, without a request: the signature, the Merkle root of "
        "all answers, the seal, and whether the verdicts follow from their numbers. Each change is named with its "
        "place, and ends with 1. `pytest --fairness-verify` computes the verdicts again (docs/seals.md).",
    )
    verify.add_argument("bundle", type=Path, metavar="FOLDER", help="the folder of the signed run")
    verify.add_argument("--key", type=Path, metavar="FILE", help="the public key of the signer, in PEM")
    verify.add_argument("--identity", default="", metavar="NAME", help="the identity of the signer, by sigstore")
    verify.add_argument("--issuer", default=_ISSUER, metavar="URL", help=f"who vouches for the identity ({_ISSUER})")
    verify.add_argument("--seal", type=Path, metavar="FILE", help="the seal that the run must be under")
    verify.set_defaults(run=_verify)


def _verify(options: Namespace) -> int:
    from pytest_fairness.attestation.signatures import read_public_key
    from pytest_fairness.attestation.verification import Signer, summarize, verify_bundle

    if bool(options.key) == bool(options.identity):
        raise FairnessError("name who must have signed: --key FILE, a public key, or --identity NAME")
    if not options.bundle.is_dir():
        raise FairnessError(
            f"{options.bundle} is no folder: name one that `export attestation` has written; "
            "`pytest --fairness-verify` checks a results file"
        )
    key = read_public_key(options.key) if options.key else None
    required = read_seal(options.seal) if options.seal else None
    if options.seal and required is None:
        raise FairnessError(f"the seal {options.seal} is missing: name the file that was reviewed before the run")
    check = verify_bundle(options.bundle, Signer(key, options.identity, options.issuer), required)
    lines = check.problems or summarize(check)
    for line in lines:
        print(escape_controls(line))
    return 1 if check.problems else 0
