"""Files for the tests of sources."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa


def zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstd,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def json_lines(*records: Any) -> str:
    """Records as lines; a text is a line as it is."""
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
