"""What a worker does to make a shard: tables and a snapshot, on the shared storage."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..arrow import pyarrow_module
from ..engine import Fanout, UnknownZones
from ..errors import Error
from .manifest import snapshot_identity
from .problems import as_json, bad_rows
from .storage import Storage
from .tables import (
    conversations_table,
    engine_columns,
    flat,
    joined,
    members_table,
    positions,
    replaced,
    sorted_by,
    users_table,
    without_row,
)

REPORT = "shard int, what string, report string"
"""The columns of what the workers report: what is ``"shard"`` or ``"problem"``."""
CONVERSATION, USER, MEMBER, REMOVED, KNOWN = range(5)
"""The kinds of rows that a shard is made of: records, members who are removed, and users whose
settings are used if the shard has not got them."""


class BuildSpec(NamedTuple):
    """What all shards have in common.

    Attributes:
        path: the folder on the shared storage.
        folder: where the shards are made, in that folder.
        number: that of the settings.
        settings: the app's record.
        identity: what the snapshots are written with.
        is_strict: whether a bad row ends the job: only the first is looked for.
        old: the folder of each shard that is changed; empty when they are made again.
        giants: the conversations that are split.
    """

    path: str
    folder: str
    number: int
    settings: str
    identity: int
    is_strict: bool
    old: tuple[str, ...]
    giants: frozenset[str]


class Parts:
    """The tables of a shard: columns of the records, and ``_line`` for those that are NDJSON."""

    def __init__(self, users: Any, members: Any, conversations: Any) -> None:
        self.users = users
        self.members = members
        self.conversations = conversations


def _received(batches: Iterator[Any], shard: int) -> dict[int, Any]:
    """The rows of each kind."""
    pa = pyarrow_module()
    kinds: dict[int, list[Any]] = {}
    for batch in batches:
        # Rows of one kind often come together.
        kind = batch["_kind"]
        first = kind[0].as_py() if len(kind) else None
        if first is not None and pa.compute.all(pa.compute.equal(kind, first)).as_py():
            kinds.setdefault(first, []).append(batch)
        else:
            for value in pa.compute.unique(kind).to_pylist():
                kinds.setdefault(value, []).append(batch.filter(pa.compute.equal(kind, value)))
        if not pa.compute.all(pa.compute.equal(batch["_shard"], shard)).as_py():
            raise RuntimeError("rows came to the partition of another shard")
    return {kind: pa.Table.from_batches(parts) for kind, parts in kinds.items()}


def build(spec: BuildSpec, batches: Iterator[Any]) -> Iterator[Any]:
    """Makes the shard of a partition."""
    from pyspark import TaskContext

    pa = pyarrow_module()
    context = TaskContext.get()
    assert context is not None
    shard = context.partitionId()
    start = time.monotonic()
    rows = _received(batches, shard)
    if spec.old and not rows:
        return
    with tempfile.TemporaryDirectory(prefix="push-fanout-") as local:
        shard_build = _ShardBuild(spec, shard, rows)
        collected = time.monotonic()
        with shard_build.opened() as fanout:
            built = time.monotonic()
            report = shard_build.write(fanout, local)
        report["seconds"] = {
            "collect": round(collected - start, 3),
            "build": round(built - collected, 3),
            "write": round(time.monotonic() - built, 3),
        }
    found = [("shard", json.dumps(report))]
    found += [("problem", json.dumps(problem)) for problem in shard_build.problems]
    columns = [[shard] * len(found), *zip(*found)]
    types = (pa.int32(), pa.string(), pa.string())
    yield pa.RecordBatch.from_arrays(
        [pa.array(list(column), type) for column, type in zip(columns, types)],
        ["shard", "what", "report"],
    )


class _ShardBuild:
    def __init__(self, spec: BuildSpec, shard: int, rows: dict[int, Any]) -> None:
        self.spec = spec
        self.shard = shard
        self.problems: list[dict[str, Any]] = []
        self.storage = Storage(spec.path)
        self.parts = self._changed(rows) if spec.old else self._new(rows)

    def _new(self, rows: dict[int, Any]) -> Parts:
        return Parts(
            self._once("users", users_table(rows.get(USER)), ["id"]),
            members_table(rows.get(MEMBER)),
            self._once("conversations", conversations_table(rows.get(CONVERSATION)), ["id"]),
        )

    def _changed(self, rows: dict[int, Any]) -> Parts:
        """The old tables with changes: the latest record of each key."""
        pa = pyarrow_module()
        folder = self.spec.old[self.shard]
        users, members, conversations = (
            self.storage.read_table(f"{folder}/{name}.parquet")
            for name in ("users", "members", "conversations")
        )
        users = replaced(users, users_table(rows.get(USER)), ["id"])
        known = users_table(rows.get(KNOWN))
        is_new = pa.compute.invert(pa.compute.is_in(known["id"], value_set=users["id"]))
        users = sorted_by(joined(users, known.filter(is_new)), "id")
        for kind in (REMOVED, MEMBER):
            changed = members_table(rows.get(kind))
            members = replaced(members, changed, ["conversation", "user"], kind == MEMBER)
        changed = conversations_table(rows.get(CONVERSATION))
        return Parts(users, members, sorted_by(replaced(conversations, changed, ["id"]), "id"))

    def _once(self, kind: str, table: Any, keys: list[str]) -> Any:
        """A table without rows whose key another has."""
        pa = pyarrow_module()
        if len(pa.compute.unique(table[keys[0]])) == table.num_rows and len(keys) == 1:
            return table
        counts = table.group_by(keys).aggregate([([], "count_all")])
        if counts.num_rows == table.num_rows:
            return table
        numbered = table.append_column("_number", pa.array(range(table.num_rows)))
        kept = numbered.group_by(keys).aggregate([("_number", "min")])["_number_min"]
        is_kept = pa.compute.is_in(numbered["_number"], value_set=kept.combine_chunks())
        for row in table.filter(pa.compute.invert(is_kept)).to_pylist():
            self._problem(kind, row, "is given twice; one row a key, or quarantine the others")
        return table.filter(is_kept)

    def _problem(self, kind: str, row: dict[str, Any], text: str) -> None:
        line = row.get("_line")
        fields = {name: value for name, value in row.items() if name != "_line"}
        keys = ("conversation", "user") if kind == "members" else ("id",)
        self.problems.append(
            {
                "kind": kind, "key": as_json({name: row.get(name) for name in keys}),
                "problem": text, "record": line if line is not None else as_json(fields),
            }
        )  # fmt: skip

    def opened(self) -> Fanout:
        """An engine of the tables, without the rows that it refuses."""
        while True:
            try:
                fanout = self._open()
            except _BadRow as bad:
                table = getattr(self.parts, bad.kind)
                row = table.slice(bad.row, 1).to_pylist()[0]
                self._problem(bad.kind, row, bad.text)
                setattr(self.parts, bad.kind, without_row(table, bad.row))
                if not self.spec.is_strict:
                    continue
                # The job ends; what else is wrong does not matter.
                app = self.spec.settings.encode()
                return Fanout.from_ndjson(app, threads=1, unknown_zones="ignore")
            members = self.parts.members
            if fanout.memory()["membership_count"] == members.num_rows:
                return fanout
            kept = self._once("members", members, ["conversation", "user"])
            if kept.num_rows == members.num_rows:
                return fanout
            self.parts.members = kept

    def _open(self) -> Fanout:
        pa = pyarrow_module()
        parts = self.parts
        is_line = {
            kind: pa.compute.is_valid(getattr(parts, kind)["_line"])
            for kind in ("users", "members")
        }
        has_lines = any(pa.compute.any(mask).as_py() for mask in is_line.values())
        lines = _Lines(self.spec.settings)
        if has_lines:
            # The first place of an id is its rank; what comes later replaces what it says.
            users = parts.users["_line"].to_pylist()
            for row, id in enumerate(parts.users["id"].to_pylist()):
                lines.add(users[row] or as_json({"kind": "user", "id": id}), "users", row)
        records = parts.conversations["_line"].to_pylist()
        for line in self._parents(records):
            lines.add(line, None, 0)
        for row, line in enumerate(records):
            lines.add(line, "conversations", row)
        tables: dict[str, Any] = {}
        rows: dict[str, list[int]] = {}
        for kind, mask in is_line.items():
            table = getattr(parts, kind)
            rows[kind] = positions(mask, False) if has_lines else []
            typed = table.filter(pa.compute.invert(mask)) if has_lines else table
            tables[kind] = engine_columns(typed) if typed.num_rows else None
        members = parts.members["_line"]
        for row in positions(is_line["members"], True):
            lines.add(members[row].as_py(), "members", row)
        try:
            # What is refused, `check_users` has refused.
            return Fanout.open(lines.data(), **tables, threads=1, unknown_zones="ignore")
        except Error as error:
            found = re.match(r"(users|members|settings\.ndjson):(\d+): ", str(error))
            if not found:
                raise
            kind, row = found[1], int(found[2]) - 1
            if kind in tables:
                row = rows[kind][row] if has_lines else row
            else:
                place = lines.places[row]
                if place is None:
                    raise
                kind, row = place
            raise _BadRow(kind, row, str(error)[found.end() :]) from None

    def _parents(self, lines: list[str]) -> list[str]:
        """Records of threads' parents that have no members in this shard, but elsewhere or
        before; for a thread a parent has to be known."""
        parents = {json.loads(line).get("parent") for line in lines if '"parent"' in line}
        parents -= {None}
        if not self.spec.old:
            parents &= self.spec.giants
        known = set(self.parts.conversations["id"].to_pylist())
        return [
            as_json({"kind": "conversation", "id": parent}) for parent in sorted(parents - known)
        ]

    def write(self, fanout: Fanout, local: str) -> dict[str, Any]:
        """Writes the tables and the snapshot to the shared storage."""
        pa = pyarrow_module()
        folder = f"{self.spec.folder}/shard-{self.shard:05}"
        report: dict[str, Any] = {"shard": self.shard, "folder": folder, "bytes": 0}
        if self.problems and self.spec.is_strict:
            return report
        for name in ("users", "members", "conversations"):
            table = getattr(self.parts, name)
            report[name] = table.num_rows
            path = os.path.join(local, name)
            pa.parquet.write_table(table, path, compression="zstd")
            self.storage.put(path, f"{folder}/{name}.parquet")
        path = os.path.join(local, "snapshot")
        fanout.write_snapshot(
            path,
            identity=snapshot_identity(self.spec.identity, folder),
            sequence=self.spec.number,
        )
        report["bytes"] = os.path.getsize(path)
        self.storage.put(path, f"{folder}/snapshot")
        return report


class _Lines:
    """Lines of settings, and which row of which table each is from."""

    def __init__(self, first: str) -> None:
        self._lines = first.splitlines()
        self.places: list[tuple[str, int] | None] = [None] * len(self._lines)

    def add(self, line: str, kind: str | None, row: int) -> None:
        self._lines.append(line)
        self.places.append(None if kind is None else (kind, row))

    def data(self) -> bytes:
        return "".join(f"{line}\n" for line in self._lines).encode()


class _BadRow(Exception):
    def __init__(self, kind: str, row: int, text: str) -> None:
        super().__init__(text)
        self.kind, self.row, self.text = kind, row, text


def check_users(
    settings: str, unknown_zones: UnknownZones, batches: Iterator[Any]
) -> Iterator[Any]:
    """Adds the column ``_problem``: what is wrong with the settings of a user."""
    pa = pyarrow_module()
    for batch in batches:
        table = pa.Table.from_batches([batch])
        texts: list[str | None] = [None] * table.num_rows
        flat_table = flat(table, {"_id": "id"}, "_fields")
        is_line = pa.compute.is_valid(flat_table["_line"])
        typed, lined = positions(is_line, False), positions(is_line, True)
        fields = engine_columns(flat_table.take(pa.array(typed, pa.int64())))
        lines = flat_table["_line"].take(pa.array(lined, pa.int64())).to_pylist()

        def check_fields(start: int) -> None:
            Fanout.open(
                settings.encode(), users=fields.slice(start), threads=1,
                unknown_zones=unknown_zones,
            ).close()  # fmt: skip

        def check_lines(start: int) -> None:
            text = settings + "".join(f"{line}\n" for line in lines[start:])
            Fanout.from_ndjson(text.encode(), threads=1, unknown_zones=unknown_zones).close()

        for row, text in bad_rows(len(typed), check_fields, lambda error: _row_of(error, 0)):
            texts[typed[row]] = text
        before = settings.count("\n")
        for row, text in bad_rows(len(lined), check_lines, lambda error: _row_of(error, before)):
            texts[lined[row]] = text
        yield batch.append_column("_problem", pa.array(texts, pa.string()))


def _row_of(error: Error, before: int) -> tuple[int, str]:
    found = re.match(r"[^:]+:(\d+): ", str(error))
    if not found:
        raise error
    return int(found[1]) - 1 - before, str(error)[found.end() :]
