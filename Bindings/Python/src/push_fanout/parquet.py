"""Parquet files, by pyarrow."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .arrow import pyarrow_module
from .errors import Error
from .records import json_line
from .sources import Path

if TYPE_CHECKING:
    import pyarrow as pa

    from .batch import Decisions

ROW_GROUP = 1 << 20
"""Rows of a row group that is written."""
GROUP_BYTES = 1 << 27
"""Bytes in memory at which a row group of fewer rows is written."""


def split_settings(
    tables: list[Any],
    name: str,
    add_lines: Callable[[bytes, str, int], None],
    add_table: Callable[[str, Any, str, int], None],
) -> None:
    """Splits pyarrow.Tables of settings, whose column ``kind`` says what each row is, so that no
    user gets another place in the order: into lines, a table of users and one of members.

    A table that has its users before its members, and other records before both, is not written as
    lines; any other is, and so are tables of different schemas.
    """
    import numpy as np

    pa = pyarrow_module()
    tables = [table for table in tables if table.num_rows > 0]
    for table in tables:
        if "kind" not in table.column_names:
            words = f'{name}: there is no column "kind", which says what each row is'
            raise Error(words, "PF_INVALID")
    if not tables:
        return
    if any(table.schema != tables[0].schema for table in tables):
        add_lines(b"".join(map(table_lines, tables)), name, 0)
        return
    table = pa.concat_tables(tables)
    try:
        texts = pa.compute.cast(table["kind"], pa.string())
    except pa.ArrowNotImplementedError:  # Views, before pyarrow 17.
        texts = pa.array(table["kind"].to_pylist(), pa.string())
    kinds = pa.compute.index_in(texts, pa.array(["user", "member"]))
    numbers = pa.compute.fill_null(kinds, -1).to_numpy()
    others, users = (int(np.count_nonzero(numbers == number)) for number in (-1, 0))
    is_ordered = bool(np.all(numbers[1:] >= numbers[:-1]))
    if not is_ordered:
        others, users = table.num_rows, 0
    add_lines(table_lines(table.slice(0, others)), name, 0)
    if not is_ordered:
        return
    for kind, start, count in (
        ("users", others, users),
        ("members", others + users, table.num_rows - others - users),
    ):
        if count > 0:
            part = table.slice(start, count)
            columns = [
                column
                for column in part.column_names
                if column != "kind" and part[column].null_count < count
            ]
            add_table(kind, part.select(columns), name, start)


def table_lines(table: Any, kind: str | None = None) -> bytes:
    """Rows of a pyarrow.Table as lines of NDJSON, without what is null.

    Args:
        kind: what is said to be the kind of each record; None when the rows say it, or have none.
    """
    table = _with_milliseconds(table)
    start = {} if kind is None else {"kind": kind}
    return b"".join(
        json_line(
            {**start, **{name: _present(value) for name, value in row.items() if value is not None}}
        )
        for batch in table.to_batches(max_chunksize=65_536)
        for row in batch.to_pylist()
    )


def _with_milliseconds(table: Any) -> Any:
    """A table with instants as integers: nanoseconds have no type in Python."""
    pa = pyarrow_module()
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            moments = table[index].cast(pa.timestamp("ms", field.type.tz), safe=False)
            table = table.set_column(index, field.name, moments.cast(pa.int64()))
    return table


def _present(value: Any) -> Any:
    """A value without fields that are null."""
    if isinstance(value, dict):
        return {key: _present(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        # A map of Parquet comes as pairs.
        if value and all(isinstance(part, tuple) and len(part) == 2 for part in value):
            return {key: _present(part) for key, part in value if part is not None}
        return [_present(part) for part in value]
    return value


def _set_access(temporary: str, path: str) -> None:
    """Gives a file the owner, group and mode of the one that it replaces, or those of a new one."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        # As `open` would have made it.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    mode = old.st_mode & 0o777
    with contextlib.suppress(OSError):
        os.chown(temporary, old.st_uid, -1)
    try:
        os.chown(temporary, -1, old.st_gid)
    except OSError:
        # Its own group may do what others may.
        mode &= 0o707 | (mode & 0o007) << 3
    os.chmod(temporary, mode)


@contextlib.contextmanager
def complete_file(path: Path) -> Iterator[str]:
    """The name of a file beside `path`, which takes its place when the block has ended well, and is
    removed otherwise."""
    path = os.path.realpath(os.fspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        raise Error(f"{path}: is not a regular file; Parquet cannot be written to it", "PF_IO")
    try:
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{os.path.basename(path)}.", suffix=".part", dir=os.path.dirname(path)
        )
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror}", "PF_IO") from None
    os.close(descriptor)
    try:
        yield temporary
        _set_access(temporary, path)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror or error}", "PF_IO") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def write_batches(path: Path, schema: pa.Schema, batches: Iterator[Any], **options: Any) -> int:
    """Writes batches as row groups of about `ROW_GROUP` rows or `GROUP_BYTES`; the number of
    rows."""
    pa = pyarrow_module()
    rows = waiting = size = 0
    group: list[Any] = []
    with complete_file(path) as temporary:
        with pa.parquet.ParquetWriter(temporary, schema, **options) as writer:
            for batch in batches:
                group.append(batch)
                waiting += batch.num_rows
                size += batch.nbytes
                if waiting >= ROW_GROUP or size >= GROUP_BYTES:
                    writer.write_table(pa.Table.from_batches(group, schema), ROW_GROUP)
                    rows, waiting, size, group = rows + waiting, 0, 0, []
            if group:
                writer.write_table(pa.Table.from_batches(group, schema), ROW_GROUP)
    return rows + waiting


def write(decisions: Decisions, path: Path, compression: str = "zstd") -> int:
    """Writes decisions as they are: see `Decisions.write_parquet`."""
    pa = pyarrow_module()
    reader = pa.RecordBatchReader.from_stream(decisions)
    has_ids = reader.schema.field("user").type in (pa.large_string(), pa.string_view())
    # Numbers of users ascend within a message; the other columns repeat.
    encodings = {} if has_ids else {"user": "DELTA_BINARY_PACKED"}
    return write_batches(
        path, reader.schema, iter(reader), compression=compression, column_encoding=encodings,
        use_dictionary=["code", "message", *(["user"] if has_ids else [])],
    )  # fmt: skip
