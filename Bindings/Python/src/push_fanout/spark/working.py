"""What a worker does with the messages of a shard."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..arrow import pyarrow_module
from ..engine import Fanout, UnknownZones
from ..errors import Error
from ..messages import Messages
from .engines import Target, engine_of
from .problems import Problem, as_json, bad_rows, record_of
from .storage import Storage
from .tables import flat, numbers, repeated

BITMAPS_AT_ONCE = 256
"""How many messages are decided before their bitmaps are handed on."""
SUMMARIES = ("counts", "bitmap")
"""The outputs that have a row for each message."""
TOO_OLD = "is from before the settings, which hold from {} on"


class DecideSpec(NamedTuple):
    """What all tasks of a decision have in common.

    Attributes:
        path: the folder of the shards on the shared storage.
        identity: of the snapshots, by settings.
        targets: the shards, by partition.
        live: the folders whose snapshots may stay on the local disk.
        output: what is made.
        is_strict: whether a bad message ends the job.
        place: the folder of the files; "" when the driver writes none.
        quarantine: the folder for bad messages; "" for none.
        unknown_zones: what is done with users whose time zone the worker does not have.
        files: the files that messages are from, by the numbers that stand for them in rows.
        counters: accumulators by name.
    """

    path: str
    identity: dict[int, int]
    targets: tuple[Target, ...]
    live: frozenset[str]
    output: str
    is_strict: bool
    place: str
    quarantine: str
    unknown_zones: UnknownZones
    files: dict[int, str]
    counters: dict[str, Any]

    def add(self, name: str, more: int) -> None:
        """Adds to an accumulator."""
        if name in self.counters:
            self.counters[name].add(int(more))


class Decided(NamedTuple):
    """Messages that were read, and their rows: columns ``_id``, ``_conversation``, ``_at``,
    ``_digest``, ``_part``."""

    messages: Messages
    rows: Any


class Task:
    """The messages of a partition."""

    def __init__(self, spec: DecideSpec) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        self.spec = spec
        self.partition = context.partitionId()
        self.target = spec.targets[self.partition]
        self.problems: list[Problem] = []
        self.seen = 0
        self.messages = 0
        self.is_split = False
        self.seconds = 0.0
        self._fanout: Fanout | None = None

    @property
    def fanout(self) -> Fanout:
        """The engine of the shard."""
        if self._fanout is None:
            spec = self.spec
            self._fanout = engine_of(
                spec.path, spec.identity[self.target.number], self.target, spec.live,
                spec.unknown_zones, spec.add,
            )  # fmt: skip
            # Here, as an engine that an earlier job has opened refuses users, too.
            if spec.unknown_zones == "refuse":
                spec.add("refused_users", len(self._fanout.unknown_zone_users))
        return self._fanout

    def decided(self, batches: Iterator[Any]) -> Iterator[Decided]:
        """The messages that are understood."""
        pa = pyarrow_module()
        for batch in batches:
            if batch.num_rows == 0:
                continue
            self.is_split = "_part" in batch.schema.names
            table = self._recent(pa.Table.from_batches([batch]))
            is_line = None
            if "_line" in table.column_names:
                is_line = pa.compute.is_valid(table["_line"])
            if "_fields" not in table.column_names:
                parts = [(table, self._read_lines)]
            elif is_line is None:
                parts = [(table, self._read_fields)]
            else:
                typed = table.filter(pa.compute.invert(is_line))
                parts = [(typed, self._read_fields), (table.filter(is_line), self._read_lines)]
            for part, read in parts:
                yield from self._understood(part, read)

    def _recent(self, table: Any) -> Any:
        """The rows that are not from before the settings."""
        pa = pyarrow_module()
        start = repeated(self.target.at, len(table), pa.int64())
        is_old = pa.compute.less(table["_at"], start)
        if not pa.compute.any(is_old).as_py():
            return table
        is_old = pa.compute.fill_null(is_old, False)
        for row in table.filter(is_old).to_pylist():
            self._problem(row, TOO_OLD.format(self.target.at))
        return table.filter(pa.compute.invert(is_old))

    def _understood(self, rows: Any, read: Callable[[Any], Messages]) -> Iterator[Decided]:
        pa = pyarrow_module()
        if rows.num_rows == 0:
            return
        try:
            messages = read(rows)
        except Error:
            bad = list(bad_rows(len(rows), lambda start: _close(read(rows.slice(start))), _row_of))
            for number, text in bad:
                self._problem(rows.slice(number, 1).to_pylist()[0], text)
            kept = sorted(set(range(len(rows))) - {number for number, _ in bad})
            rows = rows.take(pa.array(kept, pa.int64()))
            if rows.num_rows == 0:
                return
            messages = read(rows)
        if rows["_at"].null_count:
            # Decided by which settings would depend on it.
            row = rows.filter(pa.compute.is_null(rows["_at"])).slice(0, 1).to_pylist()[0]
            raise Error(f'"at" of {row["_id"]} is not read; give milliseconds', "PF_INVALID")
        self.seen += len(rows)
        # Of the parts that read a message, one counts it.
        new = len(rows)
        if self.is_split:
            first = repeated(0, new, pa.int32())
            new = pa.compute.sum(pa.compute.equal(rows["_part"], first)).as_py()
        self.messages += new
        self.spec.add("messages", new)
        yield Decided(messages, rows)

    def _read_fields(self, rows: Any) -> Messages:
        names = {"_id": "id", "_conversation": "conversation"}
        table = flat(rows, names, "_fields").drop_columns(["_line"])
        if "at" not in table.column_names:
            table = table.append_column("at", rows["_at"])
        return self.fanout.messages(table)

    def _read_lines(self, rows: Any) -> Messages:
        lines = rows["_line"].to_pylist()
        return self.fanout.messages("".join(f"{line}\n" for line in lines).encode())

    def _problem(self, row: dict[str, Any], text: str) -> None:
        key = {"id": row["_id"], "conversation": row["_conversation"], "at": row["_at"]}
        file = row.get("_file")
        place = (self.spec.files.get(file) if isinstance(file, int) else file, row.get("_row"))
        problem = Problem("messages", as_json(key), text, *place, record_of(row, "messages"))
        if self.spec.is_strict:
            raise Error(problem.text(), "PF_INVALID")
        if not row.get("_part"):
            # A message to a conversation that is split is read by each part, and listed by one.
            self.problems.append(problem)
            self.spec.add("bad_rows", 1)

    def finish(self) -> None:
        """Writes the bad messages."""
        if not self.problems:
            return
        pa = pyarrow_module()
        names = Problem._fields
        types = [pa.int64() if name == "row" else pa.string() for name in names]
        columns = [pa.array(list(column), type) for column, type in zip(zip(*self.problems), types)]
        with tempfile.TemporaryDirectory(prefix="push-fanout-") as folder:
            path = os.path.join(folder, "problems")
            pa.parquet.write_table(pa.table(columns, list(names)), path)
            kind = "split" if self.is_split else "whole"
            name = f"{kind}-{self.partition:05}.parquet"
            Storage(self.spec.quarantine).put(path, name)


def _close(messages: Messages) -> None:
    """Read only to see whether it is understood."""


def _row_of(error: Error) -> tuple[int, str]:
    found = re.match(r"[^:]+:(\d+): ", str(error))
    if not found:
        raise error
    return int(found[1]) - 1, str(error)[found.end() :]


def summaries(spec: DecideSpec, batches: Iterator[Any]) -> Iterator[Any]:
    """A row for each message: its counts, or its bitmap."""
    task = Task(spec)
    yield from summary_batches(task, batches)
    task.finish()


def summary_batches(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of `summaries`."""
    pa = pyarrow_module()
    spec = task.spec
    copies = Copies()
    is_bitmap = spec.output == "bitmap"
    for messages, rows in task.decided(batches):
        step = BITMAPS_AT_ONCE if is_bitmap else len(messages)
        for first in range(0, len(messages), step):
            count = min(step, len(messages) - first)
            start = time.monotonic()
            batch = task.fanout.decide_batch(
                messages, parts=("bitmaps",) if is_bitmap else ("counts",), first=first, count=count
            )
            spec.add("microseconds_deciding", int((time.monotonic() - start) * 1e6))
            part = rows.slice(first, count).combine_chunks()
            recipients, pushes = batch.recipients, batch.pushes
            spec.add("decisions", recipients.sum())
            spec.add("pushes", pushes.sum())
            columns = {
                "id": part["_id"], "conversation": part["_conversation"], "at": part["_at"],
                "settings": repeated(task.target.number, count, pa.int32()),
                "recipients": numbers(recipients, pa.int64()),
                "pushes": numbers(pushes, pa.int64()),
            }  # fmt: skip
            if is_bitmap:
                columns["members"] = numbers(batch.summaries["members"], pa.int64())
                columns["bitmap"] = _binaries(batch)
            else:
                columns["counts"] = _maps(batch)
            if "_part" in part.column_names:
                columns["_part"] = part["_part"]
                columns["_digest"] = part["_digest"]
                columns["_home"] = part["_home"]
                columns["_copy"] = copies.numbers(part)
            yield from pa.table(columns).to_batches()


class Copies:
    """Numbers equal messages, so that the parts of each find together; rows come sorted."""

    def __init__(self) -> None:
        self._last: tuple[Any, ...] | None = None
        self._number = 0

    def numbers(self, rows: Any) -> Any:
        pa = pyarrow_module()
        found = []
        names = ("_at", "_conversation", "_id", "_digest", "_part")
        for key in zip(*(rows[name].to_pylist() for name in names)):
            self._number = self._number + 1 if key == self._last else 0
            self._last = key
            found.append(self._number)
        return numbers(found, pa.int32())


def _maps(batch: Any) -> Any:
    """The counts that are not 0, as a map from code to count for each message."""
    import numpy as np

    pa = pyarrow_module()
    counts = batch.counts
    messages, codes = np.nonzero(counts)
    offsets = np.searchsorted(messages, np.arange(len(counts) + 1))
    return pa.MapArray.from_arrays(
        numbers(offsets, pa.int32()), numbers(codes, pa.int16()),
        numbers(counts[messages, codes], pa.int64()),
    )  # fmt: skip


def _binaries(batch: Any) -> Any:
    pa = pyarrow_module()
    starts = batch.bitmap_starts.astype("int32")
    buffers = [None, pa.py_buffer(starts.tobytes()), pa.py_buffer(batch.push_bitmaps.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, buffers)
