"""What ``python -m push_fanout evaluate`` does."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from . import parquet
from .arrow import pyarrow_module
from .batch import Batch, Decisions
from .display import OutcomeColumns
from .engine import Fanout
from .messages import Messages

MESSAGES_AT_ONCE = 4096
"""How many messages are decided before they are written as counts or lists."""


def evaluate(options: argparse.Namespace) -> str:
    """Decides messages as options say.

    Returns:
        a line about what was done.
    """
    start = time.monotonic()
    with Fanout.open(
        options.settings,
        users=options.users,
        members=options.members,
        threads=options.threads,
        unknown_zones=options.unknown_zones,
    ) as fanout:
        unknown = fanout.unknown_zone_users
        if unknown:
            print(
                f"push-fanout: users of unknown time zones, decided without quiet hours: "
                f"{len(unknown)}",
                file=sys.stderr,
            )
        messages = fanout.messages(options.messages)
        loaded = time.monotonic()
        compression = None if options.compression == "none" else options.compression
        write = {"rows": _rows, "numbers": _numbers, "counts": _counts, "pushlist": _pushes}
        rows = write[options.format](fanout, messages, options, compression)
    end = time.monotonic()
    return (
        f"{len(messages)} messages, {rows} rows, loaded in {loaded - start:.2f} s, decided and "
        f"written in {end - loaded:.2f} s"
    )


def _numbers(fanout: Fanout, messages: Messages, options: Any, compression: str | None) -> int:
    decisions = fanout.decisions(messages)
    if options.output_users is None:
        return decisions.write_parquet(options.output, compression or "none")
    reader = pyarrow_module().RecordBatchReader.from_stream(decisions.users)
    # The users get their name when the decisions have theirs.
    with parquet.complete_file(options.output_users) as path:
        parquet.write_batches(path, reader.schema, iter(reader), compression=compression)
        return decisions.write_parquet(options.output, compression or "none")


def _rows(fanout: Fanout, messages: Messages, options: Any, compression: str | None) -> int:
    pa = pyarrow_module()
    ids = _ids(messages)["id"]
    outcomes = OutcomeColumns(pa)
    decisions: Decisions = fanout.decisions(messages, ids=True)
    reader = pa.RecordBatchReader.from_stream(decisions)
    schema = pa.schema(
        [("message", pa.string()), ("user", pa.large_string()), *outcomes.fields,
         ("code", pa.uint8())],
        metadata=reader.schema.metadata,
    )  # fmt: skip

    def batches() -> Iterator[Any]:
        for batch in reader:
            code = batch["code"]
            columns = [ids.take(batch["message"]), batch["user"], *outcomes.columns(code), code]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return parquet.write_batches(options.output, schema, batches(), compression=compression)


def _counts(fanout: Fanout, messages: Messages, options: Any, compression: str | None) -> int:
    pa = pyarrow_module()
    outcomes = OutcomeColumns(pa)
    ids, conversations = _ids(messages).columns
    schema = pa.schema(
        [("message", pa.string()), ("conversation", pa.string()), *outcomes.fields,
         ("code", pa.uint8()), ("count", pa.uint32())],
        metadata=_metadata(fanout, messages),
    )  # fmt: skip

    def batches() -> Iterator[Any]:
        for first, batch in _pieces(fanout, messages, ("counts",)):
            rows, codes, counts = batch._counts_by_code()
            numbers, code = pa.array(rows + first), pa.array(codes)
            arrays = [
                ids.take(numbers), conversations.take(numbers), *outcomes.columns(code), code,
                pa.array(counts),
            ]  # fmt: skip
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return parquet.write_batches(options.output, schema, batches(), compression=compression)


def _pushes(fanout: Fanout, messages: Messages, options: Any, compression: str | None) -> int:
    pa = pyarrow_module()
    ids = _ids(messages)["id"]
    reader = pa.RecordBatchReader.from_stream(fanout.decisions(messages, ids=True))
    schema = pa.schema(
        [("message", pa.string()), ("push", pa.large_list(pa.large_string()))],
        metadata=reader.schema.metadata,
    )

    def batches() -> Iterator[Any]:
        pushed = pa.chunked_array([], pa.large_string())
        for first, batch in _pieces(fanout, messages, ()):
            counts = batch.pushes.astype("int64")
            starts = pa.array([0, *counts.cumsum().tolist()], pa.int64())
            total = int(counts.sum())
            while len(pushed) < total:
                rows = next(reader)
                is_push = pa.compute.bit_wise_and(rows["code"], 1).cast(pa.bool_())
                pushed = pa.chunked_array([*pushed.chunks, rows["user"].filter(is_push)])
            values = pushed.slice(0, total).combine_chunks()
            pushed = pushed.slice(total)
            lists = pa.LargeListArray.from_arrays(starts, values)
            yield pa.RecordBatch.from_arrays([ids.slice(first, len(batch)), lists], schema=schema)

    return parquet.write_batches(options.output, schema, batches(), compression=compression)


def _pieces(fanout: Fanout, messages: Messages, parts: Any) -> Iterator[tuple[int, Batch]]:
    """Decisions for some messages after the other, with the number of the first."""
    for first in range(0, len(messages), MESSAGES_AT_ONCE):
        count = min(MESSAGES_AT_ONCE, len(messages) - first)
        yield first, fanout.decide_batch(messages, parts=parts, first=first, count=count)


def _ids(messages: Messages) -> Any:
    """The columns id and conversation, each in one piece."""
    pa = pyarrow_module()
    table = pa.table(messages).select(["id", "conversation"])
    return pa.RecordBatch.from_arrays(
        [column.combine_chunks().cast(pa.string()) for column in table.columns], table.schema.names
    )


def _metadata(fanout: Fanout, messages: Messages) -> Any:
    pa = pyarrow_module()
    return pa.RecordBatchReader.from_stream(fanout.decisions(messages)).schema.metadata
