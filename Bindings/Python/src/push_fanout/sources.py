"""Settings and messages from files, bytes, dictionaries and tables."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Protocol, Union, cast, runtime_checkable

from .errors import Error


@runtime_checkable
class ArrowTable(Protocol):
    """What gives its rows as an Arrow stream: a pyarrow.Table, polars.DataFrame, pandas.DataFrame,
    a relation of DuckDB, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an `ArrowArrayStream`."""


Path = Union[str, "os.PathLike[str]"]
Record = Mapping[str, Any]
Records = Union[Record, Iterable[Record]]
Instant = Union[int, datetime]


def milliseconds(at: Instant, name: str) -> int:
    """An instant as milliseconds since 1970.

    >>> milliseconds(datetime(2024, 6, 3, tzinfo=timezone.utc), "at")
    1717372800000
    """
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise ValueError(f"{name} has no time zone: {at}")
        since = at - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if isinstance(at, bool) or not isinstance(at, int):
        raise TypeError(f"{name} must be milliseconds or a datetime, not {type(at).__name__}")
    if not -(2**63) <= at < 2**63:
        raise ValueError(f"{name} is out of range: {at}")
    return at


def _default(value: object) -> object:
    if isinstance(value, datetime):
        return milliseconds(value, "an instant")
    raise TypeError(f"a record cannot have a value of type {type(value).__name__}")


_encoder = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_default
)


def json_line(record: Record) -> bytes:
    """A record as a line of NDJSON.

    >>> json_line({"kind": "user", "id": "ü"}).decode()
    '{"kind":"user","id":"ü"}\\n'
    """
    if not isinstance(record, dict):
        if not isinstance(record, Mapping):
            raise TypeError(f"a record must be a dictionary, not {type(record).__name__}")
        record = dict(record)
    return _encoder.encode(record).encode("utf-8", "surrogatepass") + b"\n"


def encoded(text: str, name: str) -> bytes:
    """The bytes of an id."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")


def records_of(records: Records) -> Iterable[Record]:
    """One record, or several."""
    return [cast(Record, records)] if isinstance(records, Mapping) else records


def ndjson(source: bytes | bytearray | memoryview | str | Records) -> bytes:
    """Bytes or text of NDJSON as they are, and records as lines."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, str):
        return source.encode("utf-8", "surrogatepass")
    return b"".join(map(json_line, records_of(source)))


def is_path(source: object) -> bool:
    """Whether a source is the path of a file."""
    return isinstance(source, (str, os.PathLike))


def is_parquet(source: object) -> bool:
    """Whether a source is the path of a Parquet file."""
    return is_path(source) and os.fspath(source).lower().endswith(".parquet")  # type: ignore[call-overload]


def is_table(source: object) -> bool:
    """Whether a source gives an Arrow stream."""
    return hasattr(source, "__arrow_c_stream__")


@contextlib.contextmanager
def opening(path: Path) -> Iterator[None]:
    """Says of a file that cannot be opened or read what C says."""
    try:
        yield
    except IsADirectoryError:
        raise Error(f"{os.fspath(path)}: is a directory; name a file", "PF_IO") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Error(f"{os.fspath(path)}: cannot be opened: {reason}", "PF_IO") from None


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    with opening(path), open(path, "rb") as file:
        return file.read()


def read_settings(path: Path) -> bytes:
    """The content of a settings file, unpacked if its name ends in .gz."""
    data = read_bytes(path)
    if not os.fspath(path).lower().endswith(".gz"):
        return data
    import gzip
    import zlib

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise Error(f"{os.fspath(path)}: cannot be read: {error}", "PF_INVALID") from None
