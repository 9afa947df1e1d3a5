"""Files as DataFrames: Parquet by Spark; CSV and NDJSON by workers, a file each, as lines that know
their places."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..arrow import pyarrow_module
from ..errors import Error
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENDINGS = (".csv", ".csv.gz", ".ndjson", ".ndjson.gz", ".jsonl", ".jsonl.gz")
LINES_AT_ONCE = 8192
NUMBERS = {"mutedUntil", "since", "at", "sentAt"}
WHOLE_NUMBERS = {"quietSpanMinutes"}
BOOLEANS = {
    "mentionsAll", "isMentioned", "force", "silent", "onlineOnly", "persisted", "backlog",
}  # fmt: skip
LISTS = {"mentions"}
COLUMNS = {
    "users": "id level quietStart quietEnd quietSpanMinutes quietLevel quietTimeZone timeZone "
    "mutedUntil",
    "members": "conversation user level mutedUntil since",
    "messages": "id conversation channel sender at sentAt mentions mentionsAll isMentioned force "
    "silent body pushContent persisted backlog reply replyTo",
}
QUIET = {
    "quietStart": "start", "quietEnd": "end", "quietSpanMinutes": "spanMinutes",
    "quietLevel": "level", "quietTimeZone": "timeZone",
}  # fmt: skip


def read(spark: SparkSession, path: str | os.PathLike[str], kind: str) -> DataFrame:
    """A file or a folder of files as a DataFrame for `prepare` and `decide`.

    Args:
        path: Parquet (a file or a folder), or CSV or NDJSON (a file, or a folder of them), with
            .gz or without.
        kind: ``"users"``, ``"members"`` or ``"messages"``: which columns CSV may have.

    Raises:
        Error: when there is no such file, or a column is unknown.
    """
    storage = Storage(path)
    if not storage.exists():
        raise Error(f"{os.fspath(path)}: there is no such file or folder", "PF_IO")
    names = [storage.path] if storage.path.endswith(ENDINGS) else []
    inside = storage.names("") if storage.is_folder() else []
    if "_delta_log" in inside or ".hoodie" in inside:
        form = "delta" if "_delta_log" in inside else "hudi"
        raise Error(
            f"{os.fspath(path)}: is a table of {form.title()}, whose files may have rows of the "
            f'past; give spark.read.format("{form}").load(...)',
            "PF_INVALID",
        )
    if not names and not storage.path.endswith(".parquet"):
        # As Spark does it, what has such names is no part of a folder.
        shown = [name for name in inside if not name.startswith((".", "_"))]
        names = [storage.place(name) for name in shown if name.endswith(ENDINGS)]
    if not names:
        # By default Spark takes the columns of some file for those of all.
        return spark.read.option("mergeSchema", "true").parquet(storage.path)
    for name in names:
        if ".csv" in os.path.basename(name):
            _header(name, kind)
    pa = pyarrow_module()
    files = spark.createDataFrame(
        pa.table({"file": pa.array(names), "number": pa.array(range(len(names)), pa.int32())})
    )
    spread = files.repartitionById(len(names), "number")
    result: DataFrame = spread.mapInArrow(
        functools.partial(_read_files, kind), "value string, _file string, _row bigint"
    )
    return result


def _open(name: str) -> Any:
    pa = pyarrow_module()
    folder, base = os.path.split(name)
    try:
        stream = Storage(folder)._system.open_input_stream(
            Storage(folder)._full(base), compression="gzip" if name.endswith(".gz") else None
        )
    except (OSError, pa.ArrowInvalid) as error:
        raise Error(f"{name}: cannot be read: {error}", "PF_IO") from None
    return io.TextIOWrapper(stream, "utf-8-sig", newline="")


def _header(name: str, kind: str) -> list[str]:
    with _open(name) as file:
        header = next(csv.reader(file, strict=True), [])
    known = COLUMNS[kind].split()
    for column in header:
        if column not in known or header.count(column) > 1:
            what = "unknown" if column not in known else "repeated"
            raise Error(f'{name}:1: {what} column "{column}"', "PF_INVALID")
    return header


def _read_files(kind: str, batches: Iterator[Any]) -> Iterator[Any]:
    pa = pyarrow_module()
    for batch in batches:
        for name in batch["file"].to_pylist():
            is_csv = ".csv" in os.path.basename(name)
            records = _csv_lines(name, kind) if is_csv else _text_lines(name)
            while True:
                rows = [row for _, row in zip(range(LINES_AT_ONCE), records)]
                if not rows:
                    break
                lines, numbers = zip(*rows)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(lines, pa.string()),
                        pa.array([name] * len(lines), pa.string()),
                        pa.array(numbers, pa.int64()),
                    ],
                    ["value", "_file", "_row"],
                )


def _text_lines(name: str) -> Iterator[tuple[str, int]]:
    with _open(name) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield line.rstrip("\r\n"), number


def _csv_lines(name: str, kind: str) -> Iterator[tuple[str, int]]:
    header = _header(name, kind)
    make = _record_maker(header, kind)
    with _open(name) as file:
        reader = csv.reader(file, strict=True)
        next(reader, None)
        number = 0
        try:
            for cells in reader:
                if not cells:
                    continue
                number += 1
                # The engine says what is wrong with a row that is no record.
                record = make(cells, number) if len(cells) == len(header) else cells
                yield json.dumps(record, ensure_ascii=False, separators=(",", ":")), number
        except csv.Error as error:
            raise Error(f"{name}:{number + 1}: {error}", "PF_INVALID") from None


def _record_maker(header: list[str], kind: str) -> Callable[[list[str], int], dict[str, Any]]:
    """What makes a record of cells; a value that is not understood stays a text, which the engine
    refuses."""
    has_id = "id" in header

    def make(cells: list[str], number: int) -> dict[str, Any]:
        record: dict[str, Any] = {} if kind == "messages" else {"kind": kind[:-1]}
        quiet: dict[str, Any] = {}
        for name, cell in zip(header, cells):
            if cell == "":
                continue
            (quiet if name in QUIET else record)[QUIET.get(name, name)] = value_of(name, cell)
        if quiet:
            record["quietHours"] = quiet
        if kind == "messages" and not has_id:
            record["id"] = str(number)
        return record

    return make


def value_of(name: str, cell: str) -> Any:
    """The value of a cell.

    >>> value_of("at", "17"), value_of("mentions", "a;;b"), value_of("silent", "1")
    (17, ['a', 'b'], True)
    """
    if name in LISTS:
        return [item for item in cell.split(";") if item]
    if name in BOOLEANS:
        return {"1": True, "true": True, "0": False, "false": False}.get(cell, cell)
    is_number = name in NUMBERS or name in WHOLE_NUMBERS or name in ("level", "quietLevel")
    if is_number and cell.lstrip("-").isascii() and cell.lstrip("-").isdigit():
        return int(cell)
    return cell
