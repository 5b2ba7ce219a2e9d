"""Merkle trees of RFC 6962, with the roots of blocks that show where a change is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

BLOCK = 256
"""The leaves of a block: a power of two, so that each block is a part of the tree."""


def block_roots(leaves: Iterable[bytes]) -> list[bytes]:
    """Return the root of each `BLOCK` leaves, in order.

    Args:
        leaves: The content of the leaves.
    """
    nodes = [sha256(b"\x00" + leaf).digest() for leaf in leaves]
    return [_root(nodes[start : start + BLOCK]) for start in range(0, len(nodes), BLOCK)]


def tree_root(blocks: Sequence[bytes]) -> bytes:
    """Return the root of a tree, from the roots of its blocks: the Merkle Tree Hash of all its leaves.

    >>> tree_root(block_roots([])).hex()[:16]
    'e3b0c44298fc1c14'
    >>> tree_root(block_roots([b"", b"\\x00", b"\\x10"])).hex()[:16]  # three leaves of RFC 6962's test vectors
    'aeb6bcfe274b70a1'
    """
    return _root(blocks) if blocks else sha256().digest()


def _root(nodes: Sequence[bytes]) -> bytes:
    """Return the hash over the nodes of one level; an odd last one moves up as it is.

    Pairs from the left give the same tree as the split at the largest power of two below the number, by which the RFC
    defines it.
    """
    while len(nodes) > 1:
        pairs = [
            sha256(b"\x01" + first + second).digest() for first, second in zip(nodes[::2], nodes[1::2], strict=False)
        ]
        nodes = [*pairs, nodes[-1]] if len(nodes) % 2 else pairs
    return nodes[0]
