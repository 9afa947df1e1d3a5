"""Where settings and messages come from: which source is what, and files by what is in them."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, NamedTuple, Protocol, Union
from urllib.parse import unquote

from .arrow import (
    ArrowTable,
    Parts,
    Table,
    first_line,
    parquet_batches,
    parts_of,
    pyarrow_module,
    table_of,
)
from .errors import Error
from .records import Record, ndjson

Path = Union[str, "os.PathLike[str]"]
BYTES = (bytes, bytearray, memoryview)
PARTITION_FIELDS = frozenset(
    ["kind", "id", "conversation", "user", "sender", "channel", "parent", "level", "type",
     "timeZone"]
)  # fmt: skip
"""The fields that the name of a folder may give."""


class Given(NamedTuple):
    """A source, as the engine reads it; one of the last four is not None.

    Attributes:
        name: what errors call it.
        paths: files that the engine reads itself: NDJSON or CSV, packed or not.
        data: NDJSON.
        table: a table.
        records: dictionaries.
    """

    name: str
    paths: list[str] | None = None
    data: bytes | None = None
    table: Table | None = None
    records: Any = None


def given(source: Any, name: str, zone: tzinfo | None = None) -> Given:
    """A source as the engine reads it; a text is the path of a file, and a list of them several.

    Raises:
        TypeError: something that is no source, and what to give instead.
        Error: a file that cannot be opened.
    """
    if are_paths(source):
        return _given_paths(paths_of(source), name, zone)
    if isinstance(source, BYTES):
        return Given(name, data=bytes(source))
    if (table := table_of(source, name)) is not None:
        return Given(name, table=Table(table, name, zone))
    # The chunks of pandas are batches, although they can be read whole.
    if callable(getattr(source, "read", None)) and not hasattr(source, "get_chunk"):
        return _given_file(source, name, zone)
    if not hasattr(source, "keys") and hasattr(source, "__iter__"):
        parts, source = parts_of(source, name)
        if parts is not None:
            return Given(name, table=Table(parts, name, zone))
    return Given(name, records=source)


def _given_paths(paths: list[str], name: str, zone: tzinfo | None) -> Given:
    name = paths[0] if len(paths) == 1 else name
    tables = [_table_at(path) for path in paths]
    found = [table for table in tables if table is not None]
    if not found:
        return Given(name, paths=paths)
    if len(found) < len(paths):
        text = paths[tables.index(None)]
        raise TypeError(f"{name}: {text} is no table, but others of these files are; give one kind")
    parts = Parts(
        part
        for path, table in zip(paths, found)
        for part in (table.tables if isinstance(table, Parts) else [(path, table)])
    )
    return Given(name, table=Table(parts, name, zone))


def given_text(source: Any, name: str, zone: tzinfo | None = None) -> Given:
    """The same, where a text is NDJSON, and only a `pathlib.Path` is a path, alone or in a list."""
    if not isinstance(source, str):
        if are_paths(source) and not isinstance(source, os.PathLike):
            texts = [path for path in source if isinstance(path, str)]
            if texts:
                raise TypeError(f"{name}: {texts[0]!r} must be a pathlib.Path here, to be a path")
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
    if source.paths is not None:
        return b"".join(map(_file_lines, source.paths))
    if source.table is not None:
        from .parquet import table_lines

        return b"".join(table_lines(table, kind) for table in source.table.tables())
    return ndjson(source.records, source.name, zone)


def _file_lines(path: str) -> bytes:
    if path.lower().removesuffix(".gz").endswith(".csv"):
        raise Error(f"{path}: CSV cannot be read here; give NDJSON or a table", "PF_MISUSE")
    data = read_settings(path)
    if not data:
        raise Error(f"{path}:1: the file is empty", "PF_INVALID")
    return data if data.endswith(b"\n") else data + b"\n"


@contextlib.contextmanager
def naming(source: Given, name: str) -> Iterator[None]:
    """Has errors call rows of a table, and lines of files, by their source; the library calls them
    lines of `name`."""
    try:
        yield
    except Error as error:
        text = str(error)
        found = re.match(rf"{re.escape(name)}:(\d+):", text)
        if found is None or source.table is None and source.paths is None:
            raise
        place, line = source.name, int(found[1])
        for path in source.paths or ():
            count = _file_lines(path).count(b"\n")
            if line <= count:
                place = path
                break
            line -= count
        text = f"{place}:{line}:{text[found.end() :]}"
        text = text if source.table is None else source.table.named(text)
        raise Error(text, error.status) from None


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
        return Given(name, table=Table(_opened(io.BytesIO(data), kind, name), name, zone))


# ------------------------------------------------------------------------------------------- Files


def are_paths(source: object) -> bool:
    """Whether a source is the path of a file, or a list of paths."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(path, (str, os.PathLike)) for path in source)
    return isinstance(source, (str, os.PathLike))


def paths_of(source: Any) -> list[str]:
    """The paths of a source that is one or several.

    Raises:
        Error: one that is no path, as a shell or a library for storage would have to read it.
    """
    paths = [
        os.fspath(path) for path in (source if isinstance(source, (list, tuple)) else [source])
    ]
    for path in paths:
        if os.path.exists(path):
            continue
        if "://" in path:
            raise Error(
                f"{path}: is an address, and no path of a file; give pyarrow.dataset.dataset(...), "
                "or the file as fsspec or pyarrow.fs opens it",
                "PF_IO",
            )
        if any(sign in path for sign in "*?["):
            raise Error(
                f"{path}: there is no such file, and patterns are not expanded; give "
                "sorted(glob.glob(...))",
                "PF_IO",
            )
    return paths


def _kind_of(start: bytes) -> str | None:
    """What a file is, by its first bytes; None for text."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "file"
    if start.startswith(b"\xff\xff\xff\xff"):
        return "stream"
    return "feather" if start.startswith(b"FEA1") else None


def _table_at(path: str) -> ArrowTable | Parts | None:
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
        return _opened(path, kind, path)


def _opened(file: Any, kind: str, name: str) -> ArrowTable | Parts:
    pa = pyarrow_module()
    if kind == "feather":
        raise pa.ArrowInvalid("Feather of version 1 cannot be read; write it again as version 2")
    if kind == "parquet":
        return Parts(_parquet(pa.parquet.ParquetFile(file), name, {}))
    found = table_of(pa.ipc.open_stream(file) if kind == "stream" else pa.ipc.open_file(file), name)
    assert found is not None
    return found


def _folder(path: str) -> Parts | None:
    """The rows of a folder of Parquet files, by the names of these; None for another folder. What
    Spark does not read is not read: what has a name that begins with a dot or an underscore, such
    as files of a job that runs or has failed."""
    names = []
    for folder, folders, files in os.walk(path):
        _check_files_are_rows(folder, folders)
        folders[:] = [name for name in folders if not _is_hidden(name)]
        names += [
            os.path.join(folder, name)
            for name in files
            if name.lower().endswith((".parquet", ".pq")) and not _is_hidden(name)
        ]
    if not names:
        return None
    pa = pyarrow_module()

    def parts() -> Iterator[tuple[str, Any]]:
        for name in sorted(names):
            fields = _partition_fields(os.path.relpath(name, path))
            with _reading(name):
                yield from _parquet(pa.parquet.ParquetFile(name), name, fields)

    return Parts(parts())


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name.startswith("_") and "=" not in name


def _check_files_are_rows(folder: str, folders: list[str]) -> None:
    """Refuses a table of which some files are no longer, or not yet, a part."""
    kind = advice = ""
    if "_delta_log" in folders:
        kind, advice = "Delta", f"deltalake.DeltaTable({folder!r}).to_pyarrow_dataset()"
    elif ".hoodie" in folders:
        kind, advice = "Hudi", "what Spark reads of it"
    elif "metadata" in folders and any(
        name.endswith(".metadata.json") for name in os.listdir(os.path.join(folder, "metadata"))
    ):
        kind, advice = "Iceberg", "what pyiceberg's table.scan().to_arrow_batch_reader() gives"
    if kind:
        raise Error(
            f"{folder}: is a table of {kind}, whose files may have rows of the past; give {advice}",
            "PF_INVALID",
        )


def _partition_fields(path: str) -> dict[str, str]:
    """The fields that the folders of a path give, as Hive names them: ``conversation=g1``.

    >>> _partition_fields("day=2024-06-03/conversation=a%2Fb/part-0.parquet")
    {'conversation': 'a/b'}
    """
    pairs = [part.partition("=") for part in path.split(os.sep)[:-1]]
    return {
        name: unquote(value)
        for name, _, value in pairs
        if name in PARTITION_FIELDS and value != "__HIVE_DEFAULT_PARTITION__"
    }


def _parquet(parquet: Any, name: str, fields: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """The rows of a ParquetFile, with fields that its path gives."""
    pa = pyarrow_module()
    with _reading(name):
        for batch in parquet_batches(parquet):
            for field, value in fields.items():
                if field not in batch.schema.names:
                    column = pa.repeat(value, batch.num_rows)
                    columns = [*batch.columns, column], [*batch.schema.names, field]
                    batch = pa.RecordBatch.from_arrays(*columns)
            yield name, batch


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Says in which file a problem is."""
    pa = pyarrow_module()
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise Error(f"{path}: {first_line(error)}", "PF_INVALID") from None


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


class ArrowArray(Protocol):
    """An array of structs: a pyarrow.StructArray."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Capsules with an `ArrowSchema` and an `ArrowArray`."""
        ...


class Lazy(Protocol):
    """What makes a table when it is asked: a polars.LazyFrame."""

    def collect(self) -> Any:
        """The table."""


class OpenFile(Protocol):
    """An open file, of bytes or of text."""

    def read(self) -> Any:
        """Its content."""


class ParquetRows(Protocol):
    """A pyarrow.parquet.ParquetFile."""

    def iter_batches(self) -> Any:
        """Its rows."""


class ScannedRows(Protocol):
    """A pyarrow.dataset.Dataset."""

    def scanner(self) -> Any:
        """What reads its rows."""


class Reading(Protocol):
    """A pyarrow.dataset.Scanner."""

    def to_reader(self) -> Any:
        """Its rows."""


Rows = Union[ArrowTable, ArrowArray, Lazy, ParquetRows, ScannedRows, Reading]
Source = Union[
    bytes, bytearray, memoryview, Path, OpenFile, Rows, Record,
    Iterable[Union[Record, Rows, "os.PathLike[str]"]], Iterable[str],
]  # fmt: skip
"""Settings or messages: bytes of NDJSON, the path of a file or several, an open file, a table, a
list or generator of tables, or records."""
