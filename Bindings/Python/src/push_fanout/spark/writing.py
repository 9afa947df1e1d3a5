"""The files that workers write: what messages were decided to."""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from typing import Any

from ..arrow import pyarrow_module
from ..parquet import write_batches
from .storage import Storage
from .tables import numbers, repeated
from .working import SUMMARIES, DecideSpec, Task, summary_batches


def files(spec: DecideSpec, batches: Iterator[Any]) -> Iterator[Any]:
    """Decides the messages of a partition, writes a Parquet file, and reports it."""
    task = Task(spec)
    start = time.monotonic()
    is_summary = spec.output in SUMMARIES
    found = summary_batches(task, batches) if is_summary else _row_batches(task, batches)
    report = _written(spec, task.partition, found)
    task.finish()
    if task.seen:
        report["messages"] = task.messages
        yield _reported(report, start)


def merged_files(spec: DecideSpec, batches: Iterator[Any]) -> Iterator[Any]:
    """Writes summaries of messages to conversations that are split, whose parts were put together,
    as a Parquet file, and reports it."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    start = time.monotonic()
    report = _written(spec, context.partitionId(), batches)
    if report["rows"]:
        yield _reported({**report, "messages": report["rows"]}, start)


def _written(spec: DecideSpec, partition: int, batches: Iterator[Any]) -> dict[str, Any]:
    """Writes a file that no other attempt of the task writes; nothing for no rows."""
    schema = output_schema(spec.output)
    name = f"_attempts/{partition:05}-{uuid.uuid4().hex}.parquet"
    with tempfile.TemporaryDirectory(prefix="push-fanout-") as folder:
        path = os.path.join(folder, "rows.parquet")
        rows = write_batches(
            path, schema, (batch.cast(schema) for batch in batches), compression="zstd",
            use_dictionary=[name for name in schema.names if name != "bitmap"]
            if spec.output == "bitmap" else True,
        )  # fmt: skip
        size = os.path.getsize(path)
        if rows:
            Storage(spec.place).put(path, name)
            spec.add("bytes_written", size)
    return {"partition": partition, "file": name, "rows": rows, "bytes": size}


def _reported(report: dict[str, Any], start: float) -> Any:
    pa = pyarrow_module()
    report["seconds"] = round(time.monotonic() - start, 3)
    text = json.dumps(report).encode()
    buffers = [None, numbers([0, len(text)], pa.int32()).buffers()[1], pa.py_buffer(text)]
    return pa.RecordBatch.from_arrays([pa.Array.from_buffers(pa.string(), 1, buffers)], ["report"])


def empty_file(output: str) -> bytes:
    """A Parquet file of an output without rows."""
    pa = pyarrow_module()
    file = io.BytesIO()
    pa.parquet.write_table(output_schema(output).empty_table(), file)
    return file.getvalue()


def output_schema(output: str) -> Any:
    """The columns of the files of an output."""
    pa = pyarrow_module()
    if output in SUMMARIES:
        counts = ("counts", pa.map_(pa.int16(), pa.int64()))
        bitmap = [("members", pa.int64()), ("bitmap", pa.binary())]
        return pa.schema(
            [("id", pa.string()), ("conversation", pa.string()), ("at", pa.int64()),
             ("settings", pa.int32()), ("recipients", pa.int64()), ("pushes", pa.int64()),
             *([counts] if output == "counts" else bitmap)]
        )  # fmt: skip
    text = pa.dictionary(pa.int32(), pa.string())
    held = [("pushAt", pa.int64())] if output == "held" else []
    return pa.schema(
        [("message", text), ("conversation", text), ("at", pa.int64()),
         ("user", pa.large_string()), ("code", pa.uint8()), *held]
    )  # fmt: skip


def _row_batches(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    pa = pyarrow_module()
    is_held = task.spec.output == "held"
    schema = output_schema(task.spec.output)
    for messages, rows in task.decided(batches):
        ids, conversations = (rows[name].combine_chunks() for name in ("_id", "_conversation"))
        at = rows["_at"].combine_chunks()
        found = pushes = 0
        decisions = task.fanout.decisions(messages, ids=True)
        for batch in pa.RecordBatchReader.from_stream(decisions.held if is_held else decisions):
            number = batch["message"].cast(pa.int32())
            found += batch.num_rows
            # A push has an odd code.
            odd = pa.compute.bit_wise_and(batch["code"], repeated(1, batch.num_rows, pa.uint8()))
            pushes += pa.compute.sum(odd).as_py() or 0
            yield pa.RecordBatch.from_arrays(
                [
                    pa.DictionaryArray.from_arrays(number, ids),
                    pa.DictionaryArray.from_arrays(number, conversations),
                    at.take(number), *batch.columns[1:],
                ],
                schema=schema,
            )  # fmt: skip
        if is_held:
            task.spec.add("held", found)
        else:
            task.spec.add("decisions", found)
            task.spec.add("pushes", pushes)
