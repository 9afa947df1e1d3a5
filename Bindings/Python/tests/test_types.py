"""A program in the eyes of type checkers: mypy --strict and pyright read it with the package.

Each line with "type: ignore" has to be an error, as unused ones are errors too.
"""

from __future__ import annotations

import gzip
import io
import pathlib
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TypedDict

import duckdb
import numpy as np
import numpy.typing as npt
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from push_fanout import (
    OUTCOMES,
    Batch,
    Change,
    Decision,
    Decisions,
    Error,
    Fanout,
    Messages,
    Outcome,
    Requests,
    Row,
    Stamp,
    Step,
    read_provider_answer,
)


def test_a_typed_program_runs() -> None:
    members = polars.DataFrame({"conversation": ["g"], "user": ["ann"]})
    with Fanout.open(settings=[{"kind": "app", "rules": "easemob"}], members=members) as fanout:
        decision: Decision = fanout.decide({"id": "m", "conversation": "g", "at": 0})
        pushes: list[str] = decision.pushes
        counts: dict[str, int] = decision.counts
        codes: npt.NDArray[np.uint8] = decision.codes
        rows: Iterator[Row] = decision.rows()
        stamp: Stamp = decision.stamp
        outcome: Outcome | None = decision.outcome("ann")
        messages: Messages = fanout.messages([{"id": "m", "conversation": "g", "at": 0}])
        batch: Batch = fanout.decide_batch(messages, parts=["counts"])
        decisions: Decisions = fanout.decisions(messages, ids=True)
        senders = [{"kind": "sender", "platform": "apns", "topic": "t"}]
        requests: Requests = fanout.requests([{"id": "m", "conversation": "g", "at": 0}], senders)
        lines: Iterator[bytes] = requests.chunks()
        step: Step = read_provider_answer("fcm", None, now=0, random=0.5)
        change: Change = fanout.next_change("ann", "g", datetime(2024, 6, 3, tzinfo=timezone.utc))
    assert pushes == ["ann"] and counts == {"push/allowed/default": 1} and len(codes) == 1
    assert next(rows).devices == ("default",) and stamp.sequence == 1
    assert outcome == OUTCOMES[33] and batch.counts[0, 33] == 1
    assert polars.DataFrame(decisions)["user"].to_list() == ["ann"] and change.at is None
    assert next(lines).startswith(b'{"message":"m","user":"ann"') and step.action == "retry"


def test_wrong_types_are_found_by_the_checkers() -> None:
    fanout = Fanout.from_ndjson(b"")
    with pytest.raises(TypeError):
        fanout.decide("m")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        Fanout.open(store="s", access="append")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        fanout.members(1.5)  # type: ignore[arg-type]
    with pytest.raises(Error):
        fanout.update("{")


class Line(TypedDict):
    """A message."""

    id: str
    conversation: str
    at: int


def test_every_source_that_is_read_has_a_type(tmp_path: pathlib.Path) -> None:
    """A line for each row of the table of sources in docs/python.md."""
    fanout = Fanout.from_ndjson(b"")
    line = '{"id":"m","conversation":"g","at":0}\n'
    row: Line = {"id": "m", "conversation": "g", "at": 0}
    table = pyarrow.Table.from_pylist([row])
    frame = polars.DataFrame([row])
    pandas_frame = pandas.DataFrame([row])
    ndjson, packed, csv, parquet, feather, folder = (
        tmp_path / name for name in ("m.ndjson", "m.ndjson.gz", "m.csv", "m.pq", "m.feather", "m")
    )
    ndjson.write_text(line)
    packed.write_bytes(gzip.compress(line.encode()))
    csv.write_text(pandas_frame.to_csv(index=False))
    folder.mkdir()
    for path in (parquet, folder / "m.parquet"):
        pyarrow.parquet.write_table(table, path)
    pyarrow.feather.write_feather(table, feather)
    read: dict[str, Messages] = {
        "the path of an NDJSON file": fanout.messages(str(ndjson)),
        "the path of an NDJSON file with `.gz`": fanout.messages(packed),
        "the path of a CSV file": fanout.messages(csv),
        "the path of a Parquet file, by any name": fanout.messages(parquet),
        "the path of a folder of Parquet files": fanout.messages(folder),
        "the path of an Arrow or Feather file": fanout.messages(feather),
        "bytes of NDJSON": fanout.messages(memoryview(bytearray(line.encode()))),
        "an open file of NDJSON": fanout.messages(open(ndjson, "rb")),
        "an open file of Parquet": fanout.messages(open(parquet, "rb")),
        "a dictionary for each record": fanout.messages([row]),
        "a generator of dictionaries": fanout.messages(each for each in [row]),
        "`pyarrow.Table`": fanout.messages(table),
        "`pyarrow.RecordBatch`": fanout.messages(table.to_batches()[0]),
        "`pyarrow.RecordBatchReader`": fanout.messages(table.to_reader()),
        "`pyarrow.StructArray`": fanout.messages(pyarrow.array([row])),
        "`pyarrow.dataset.Dataset`": fanout.messages(pyarrow.dataset.dataset(table)),
        "`pyarrow.dataset.Scanner`": fanout.messages(pyarrow.dataset.dataset(table).scanner()),
        "`pyarrow.parquet.ParquetFile`": fanout.messages(pyarrow.parquet.ParquetFile(parquet)),
        "a list of paths": fanout.messages([ndjson, csv]),
        "a list of paths of Parquet files": fanout.messages([str(parquet)]),
        "a list of batches": fanout.messages(table.to_batches()),
        "a generator of batches": fanout.messages(each for each in table.to_batches()),
        "a list or generator of frames": fanout.messages(each for each in [frame, frame]),
        "chunks of `pandas.read_csv`": fanout.messages(
            pandas.read_csv(io.StringIO(csv.read_text()), chunksize=1)
        ),
        "`polars.DataFrame`": fanout.messages(frame),
        "`polars.LazyFrame`": fanout.messages(frame.lazy()),
        "`pandas.DataFrame`": fanout.messages(pandas_frame),
        "relations of one DuckDB connection": fanout.messages(duckdb.from_arrow(table)),
    }
    page = (pathlib.Path(__file__).parents[3] / "docs" / "python.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in text.strip("|").split("|")]
        for text in page[page.index("| source |") :].split("\n\n")[0].splitlines()[2:]
    ]
    assert list(read) == [cells[0] for cells in rows if cells[3] == "read"]
    assert all(len(messages) > 0 for messages in read.values())
