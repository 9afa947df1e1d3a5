"""Where settings and messages come from: which source is what, and files by what is in them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any, NamedTuple, Union

from .arrow import ArrowTable, Batches, Table, batches_of, pyarrow_module, table_of
from .errors import Error
from .records import Records, ndjson

Path = Union[str, "os.PathLike[str]"]
BYTES = (bytes, bytearray, memoryview)


class Given(NamedTuple):
    """A source, as the engine reads it; one of the last four is not None.

    Attributes:
        name: what errors call it.
        path: a file that the engine reads itself: NDJSON or CSV, packed or not.
        data: NDJSON.
        table: a table.
        records: dictionaries.
    """

    name: str
    path: str | None = None
    data: bytes | None = None
    table: Table | None = None
    records: Any = None


def given(source: Any, name: str, zone: tzinfo | None = None) -> Given:
    """A source as the engine reads it; a text is the path of a file.

    Raises:
        TypeError: something that is no source, and what to give instead.
        Error: a file that cannot be opened.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        table = _table_at(path)
        return Given(path, path) if table is None else Given(path, table=Table(table, path, zone))
    if isinstance(source, BYTES):
        return Given(name, data=bytes(source))
    if (table := table_of(source)) is not None:
        return Given(name, table=Table(table, name, zone))
    if callable(getattr(source, "read", None)):
        return _given_file(source, name, zone)
    if not hasattr(source, "keys") and hasattr(source, "__iter__"):
        table, source = batches_of(source)
        if table is not None:
            return Given(name, table=Table(table, name, zone))
    return Given(name, records=source)


def given_text(source: Any, name: str, zone: tzinfo | None = None) -> Given:
    """The same, where a text is NDJSON, and only a `pathlib.Path` is a path."""
    if not isinstance(source, str):
        return given(source, name, zone)
    if source.strip() and "{" not in source:
        raise TypeError(
            f"{name} must be text of NDJSON, not {source[:40]!r}; the path of a file is a "
            "pathlib.Path here"
        )
    return Given(name, data=source.encode("utf-8", "surrogatepass"))


def lines_of(source: Given, zone: tzinfo | None, kind: str | None = None) -> bytes:
    """A source as lines of NDJSON.

    Args:
        kind: what is said to be the kind of records that do not say it.

    Raises:
        Error: what is wrong with a file; CSV.
    """
    if source.data is not None:
        return source.data
    if source.path is not None:
        if source.path.lower().removesuffix(".gz").endswith(".csv"):
            raise Error(
                f"{source.path}: CSV cannot be read here; give NDJSON or a table", "PF_MISUSE"
            )
        data = read_settings(source.path)
        if not data:
            raise Error(f"{source.path}:1: the file is empty", "PF_INVALID")
        return data
    if source.table is not None:
        from .parquet import table_lines

        return table_lines(source.table.table(), kind)
    return ndjson(source.records, source.name, zone)


def given_settings(source: Any) -> tuple[str, bytes]:
    """What errors call settings of all kinds, and their lines."""
    found = given(source, "settings.ndjson")
    return found.name, lines_of(found, None)


def _given_file(file: Any, name: str, zone: tzinfo | None) -> Given:
    """What an open file has."""
    label = getattr(file, "name", None)
    name = label if isinstance(label, str) else name
    data = file.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not isinstance(data, BYTES):
        raise TypeError(f"{name} is a file whose read() gives {type(data).__name__}")
    kind = _kind_of(bytes(data[:8]))
    if kind is None:
        return Given(name, data=bytes(data))
    import io

    with _reading(name):
        return Given(name, table=Table(_opened(io.BytesIO(data), kind), name, zone))


# ------------------------------------------------------------------------------------------- Files


def is_path(source: object) -> bool:
    """Whether a source is the path of a file."""
    return isinstance(source, (str, os.PathLike))


def _kind_of(start: bytes) -> str | None:
    """What a file is, by its first bytes; None for text."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "file"
    if start.startswith(b"\xff\xff\xff\xff"):
        return "stream"
    return "feather" if start.startswith(b"FEA1") else None


def _table_at(path: str) -> ArrowTable | None:
    """The table of a file, or of a folder of Parquet files; None for text."""
    if os.path.isdir(path):
        return _folder(path)
    if path.lower().endswith(".parquet"):
        kind: str | None = "parquet"
    else:
        if not os.path.isfile(path):
            # It is not there, or a pipe, of which nothing may be read twice.
            return None
        with opening(path), open(path, "rb") as file:
            kind = _kind_of(file.read(8))
    if kind is None:
        return None
    with _reading(path), opening(path):
        # pyarrow says less of a file that it cannot open.
        open(path, "rb").close()
        return _opened(path, kind)


def _opened(file: Any, kind: str) -> ArrowTable:
    pa = pyarrow_module()
    if kind == "feather":
        raise pa.ArrowInvalid("Feather of version 1 cannot be read; write it again as version 2")
    if kind == "parquet":
        return _parquet([file])
    if kind == "stream":
        return pa.ipc.open_stream(file)  # type: ignore[no-any-return]
    table = table_of(pa.ipc.open_file(file))
    assert table is not None
    return table


def _folder(path: str) -> ArrowTable | None:
    """The rows of a folder of Parquet files, by the names of these; None for another folder."""
    names = [
        os.path.join(folder, name)
        for folder, _, files in os.walk(path)
        for name in files
        if name.lower().endswith((".parquet", ".pq")) and not name.startswith((".", "_"))
    ]
    if not names:
        return None
    with _reading(path):
        return _parquet(sorted(names))


def _parquet(files: list[Any]) -> ArrowTable:
    """The rows of Parquet files, one after the other, as one table."""
    pa = pyarrow_module()

    def with_zones(parquet: Any, batch: Any) -> Any:
        # Timestamps of 96 bits have no time zone for pyarrow; those who write them mean UTC.
        for index in range(len(parquet.schema)):
            column = parquet.schema.column(index)
            if column.physical_type == "INT96" and column.path in batch.schema.names:
                at = batch.schema.get_field_index(column.path)
                moments = batch[at].cast(pa.timestamp("us"), safe=False)
                batch = batch.set_column(
                    at, column.path, pa.compute.assume_timezone(moments, "UTC")
                )
        return batch

    first = pa.parquet.ParquetFile(files[0])
    none = pa.RecordBatch.from_pylist([], first.schema_arrow.remove_metadata())
    schema = with_zones(first, none).schema

    def batches() -> Iterator[Any]:
        for file in files:
            parquet = first if file is files[0] else pa.parquet.ParquetFile(file)
            for batch in parquet.iter_batches(1 << 20):
                batch = with_zones(parquet, batch.replace_schema_metadata(None))
                if batch.schema.names != schema.names:
                    raise Error(f"{file}: has other columns than {files[0]}", "PF_INVALID")
                yield from pa.Table.from_batches([batch]).cast(schema).to_batches()

    return Batches(schema, batches())


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Says in which file a problem is."""
    pa = pyarrow_module()
    try:
        yield
    except pa.ArrowInvalid as error:
        raise Error(f"{path}: {error}", "PF_INVALID") from None


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


Source = Union[bytes, Path, ArrowTable, Records]
"""Settings or messages: bytes of NDJSON, the path of a file, a table, or records."""
