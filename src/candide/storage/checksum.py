"""The checksum of a model file: SHA-256 of all its bytes, with zeros in place of the digits of the checksum itself.

This module does not import NumPy: files are opened before NumPy is imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import require

# The name of the checksum in the metadata, and the digits in its place while it is computed.
CHECKSUM = "checksum"
ZEROS = "0" * hashlib.sha256().digest_size * 2


def checksum_of(parts: Iterable[bytes | memoryview]) -> str:
    """Return the checksum of a file that is written, given its bytes with ``ZEROS`` in place of the checksum."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def stored_checksum(metadata: Mapping[str, str]) -> str:
    """Return the checksum that a file contains."""
    stored = metadata.get(CHECKSUM, "")
    require(len(stored) == len(ZEROS), "it has no checksum")
    return stored


def start_checksum(head: bytes, metadata: Mapping[str, str]) -> Any:
    """Return the ``hashlib`` object after the head of a file, which ends where the arrays begin."""
    return hashlib.sha256(head.replace(stored_checksum(metadata).encode(), ZEROS.encode(), 1))


def verify_checksum(computed: str, metadata: Mapping[str, str]) -> None:
    """Raise ``InvalidContent`` unless a computed checksum equals the stored one."""
    require(computed == stored_checksum(metadata), "its checksum does not match its content")
