"""Signatures of in-toto statements, in DSSE envelopes: by a key file, or by an identity with sigstore."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import json_text as json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey
    PublicKey = Ed25519PublicKey | EllipticCurvePublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_KINDS = "an Ed25519 or P-256 key in PEM, as `openssl genpkey -algorithm ed25519` writes it"
_EXTRA = "install pytest-fairness[attestation]"


def read_private_key(path: Path) -> PrivateKey:
    """Return the private key of a file.

    Raises:
        FairnessError: The file cannot be read, or holds no key that is supported; in one line, without its content.
    """
    content = _read(path)
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise FairnessError(f"signatures need the package cryptography: {_EXTRA}") from None
    try:
        key: Any = load_pem_private_key(content, None)
    except (ValueError, TypeError):  # it is malformed, or encrypted
        raise FairnessError(f"{path} is no private key without a password: name {_KINDS}") from None
    except UnsupportedAlgorithm:  # a curve that the library does not have
        key = None
    if key is None or not _is_supported(key.public_key()):
        raise FairnessError(f"{path} is a key of another kind: name {_KINDS}")
    return key  # type: ignore[no-any-return]  # of a supported kind


def read_public_key(path: Path) -> PublicKey:
    """Return the public key of a file.

    Raises:
        FairnessError: The file cannot be read, or holds no key that is supported; in one line.
    """
    content = _read(path)
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        raise FairnessError(f"signatures need the package cryptography: {_EXTRA}") from None
    try:
        key: Any = load_pem_public_key(content)
    except ValueError:
        raise FairnessError(
            f"{path} is no public key: name {_KINDS}, and `openssl pkey -pubout` its public part"
        ) from None
    except UnsupportedAlgorithm:  # a curve that the library does not have
        key = None
    if not _is_supported(key):
        raise FairnessError(f"{path} is a key of another kind: name {_KINDS}")
    return key  # type: ignore[no-any-return]  # of a supported kind


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FairnessError(f"the key {path} cannot be read: {error.strerror}") from None


def _is_supported(key: Any) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    is_p256 = isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)
    return is_p256 or isinstance(key, Ed25519PublicKey)


def key_id(key: PublicKey) -> str:
    """Return the id of a public key, as in-toto and TUF compute it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if isinstance(key, Ed25519PublicKey):
        kind = scheme = "ed25519"
        public = key.public_bytes_raw().hex()
    else:
        kind, scheme = "ecdsa", "ecdsa-sha2-nistp256"
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        public = key.public_bytes(serialization.Encoding.PEM, form).decode()
    canonical = json.dumps(
        {"keytype": kind, "keyval": {"public": public}, "scheme": scheme},
        separators=(",", ":"),
        ensure_ascii=False,
    ).replace("\\n", "\n")
    return sha256(canonical.encode()).hexdigest()


def sign_statement(payload: bytes, key: PrivateKey) -> dict[str, Any]:
    """Return the DSSE envelope of a statement, signed by a key.

    Args:
        payload: The statement, as JSON.
        key: The private key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    encoded = _pre_authentication_encoding(PAYLOAD_TYPE, payload)
    signature = key.sign(encoded) if isinstance(key, Ed25519PrivateKey) else key.sign(encoded, _ecdsa())
    return {
        "payload": b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key_id(key.public_key()), "sig": b64encode(signature).decode()}],
    }


def envelope_text(envelope: dict[str, Any]) -> str:
    """Return the text of an envelope's file."""
    return json.dumps(envelope, indent=1) + "\n"


def open_envelope(envelope: Any) -> bytes:
    """Return the payload of an envelope, whose signature is not checked.

    Raises:
        FairnessError: It is no envelope of an in-toto statement; in a few words.
    """
    keys = {"payload", "payloadType", "signatures"}
    if not isinstance(envelope, dict) or envelope.keys() != keys:
        raise FairnessError("it is no DSSE envelope")
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise FairnessError(f"payloadType is not {PAYLOAD_TYPE}")
    return _decoded(envelope["payload"], "payload")


def signature_problem(envelope: dict[str, Any], key: PublicKey) -> str:
    """Return why an envelope is not signed by a key, in a few words; empty where it is.

    Args:
        envelope: The envelope; `open_envelope` accepts it.
        key: The public key.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    signatures = envelope["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], dict):
        return "signatures is no list of one signature"
    (entry,) = signatures
    if entry.keys() != {"keyid", "sig"}:
        return "its signature needs keyid and sig, and nothing else"
    expected = key_id(key)
    if entry["keyid"] != expected:
        return f"keyid is {str(entry['keyid'])[:12]!r}, and the named key is {expected[:12]}"
    encoded = _pre_authentication_encoding(envelope["payloadType"], open_envelope(envelope))
    try:
        signature = _decoded(entry["sig"], "sig")
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, encoded)
        else:
            key.verify(signature, encoded, _ecdsa())
    except FairnessError as error:
        return str(error)
    except InvalidSignature:
        return "the signature does not fit the payload: one of them has changed since it was signed"
    return ""


def _decoded(text: Any, name: str) -> bytes:
    try:
        content = b64decode(text, validate=True)
    except (TypeError, ValueError, Base64Error):
        raise FairnessError(f"{name} is not base64") from None
    if b64encode(content).decode() != text:
        raise FairnessError(f"{name} is not base64 as it was written")
    return content


def _pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that DSSE signs."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _ecdsa() -> Any:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    return ECDSA(SHA256())


def sign_by_identity(payload: bytes) -> str:
    """Return sigstore's bundle of a statement, signed by the identity of this process: of a CI job, or of a person.

    A person is asked in a browser. The signature, the identity and the statement's digest become public in a log.

    Args:
        payload: The statement, as JSON.

    Raises:
        FairnessError: sigstore is not installed, or has no identity; in one line.
    """
    try:
        from sigstore.dsse import Statement
        from sigstore.errors import Error
        from sigstore.models import ClientTrustConfig
        from sigstore.oidc import IdentityToken, Issuer, IssuerError, detect_credential
        from sigstore.sign import SigningContext
    except ImportError:
        raise FairnessError("an identity needs the package sigstore: install it, or name a key by --key") from None
    try:
        config = ClientTrustConfig.production()
        ambient = detect_credential()
        token = IdentityToken(ambient) if ambient else Issuer(config.signing_config.get_oidc_url()).identity_token()
        with SigningContext.from_trust_config(config).signer(token) as signer:
            return str(signer.sign_dsse(Statement(payload)).to_json())
    except (Error, IssuerError, OSError) as error:
        raise FairnessError(f"sigstore has not signed: {_first_line(error)}") from None


def open_bundle(text: str, identity: str, issuer: str) -> bytes:
    """Return the payload of sigstore's bundle, after its signature, certificate and log entry were checked offline.

    Args:
        text: The bundle.
        identity: Who must have signed: an address, or the URL of a workflow.
        issuer: Who vouches for the identity: ``https://token.actions.githubusercontent.com``.

    Raises:
        FairnessError: It is not signed so, or sigstore is not installed; in one line.
    """
    try:
        from sigstore.errors import Error
        from sigstore.models import Bundle
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity
    except ImportError:
        raise FairnessError("it is signed by an identity: install the package sigstore") from None
    try:
        verifier = Verifier.production(offline=True)
        kind, payload = verifier.verify_dsse(Bundle.from_json(text), Identity(identity=identity, issuer=issuer))
    except (Error, ValueError, OSError) as error:
        raise FairnessError(f"it is not signed by {identity}: {_first_line(error)}") from None
    if kind != PAYLOAD_TYPE:
        raise FairnessError(f"payloadType is not {PAYLOAD_TYPE}")
    return bytes(payload)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
