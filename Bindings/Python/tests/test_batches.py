"""Goal: tables whose parts have other schemas are read row by row as one table of the same rows: no
part is read by the schema of another, and nothing is lost.

PUSH_SEED=n begins with another seed.
"""

from __future__ import annotations

import os
import random

import polars
import pyarrow
import pyarrow.parquet
import pytest
from worlds_under_test import NIGHT

from push_fanout import Error, Fanout, replay

FIRST = int(os.environ.get("PUSH_SEED", "0"))
PEOPLE = [f"u{number}" for number in range(9)]
TEXTS = [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary("int8", pyarrow.string())]
INSTANTS = [pyarrow.int64(), *(pyarrow.timestamp(unit, "UTC") for unit in ("ms", "us", "ns"))]


def world(draw):
    """Users, members and messages, as dictionaries with all fields; many values are None."""

    def maybe(value):
        return value if draw.random() < 0.5 else None

    users = [
        {
            "id": user, "level": maybe(draw.choice(["none", "mention"])),
            "mutedUntil": maybe(NIGHT + draw.randrange(60) * 1000),
            "quietHours": maybe({"start": "22:00", "end": "08:00"}),
        }
        for user in PEOPLE
    ]  # fmt: skip
    members = [
        {"conversation": room, "user": user, "level": maybe("all")}
        for room in ("g", "h")
        for user in draw.sample(PEOPLE, 7)
    ]
    messages = [
        {
            "id": f"m{number}", "conversation": draw.choice("gh"), "sender": maybe(PEOPLE[0]),
            "at": NIGHT + number * 1000, "mentions": maybe(draw.sample(PEOPLE, 2)),
        }
        for number in range(60)
    ]  # fmt: skip
    return users, members, messages


def varied(rows, draw):
    """Rows as a table with columns in any order and of any type; those without a value may have
    none, or be left out."""
    names = list(rows[0])
    draw.shuffle(names)
    columns = {}
    for name in names:
        values = [row[name] for row in rows]
        if values == [None] * len(rows):
            if draw.random() < 0.5:
                columns[name] = pyarrow.nulls(len(rows))
            continue
        column = pyarrow.array(values)
        if pyarrow.types.is_string(column.type):
            column = column.cast(draw.choice(TEXTS))
        elif pyarrow.types.is_int64(column.type):
            stamps = column.cast(pyarrow.timestamp("ms")).cast(pyarrow.timestamp("ms", "UTC"))
            kind = draw.choice(INSTANTS)
            column = column if kind == pyarrow.int64() else stamps.cast(kind)
        elif pyarrow.types.is_list(column.type) and draw.random() < 0.5:
            column = column.cast(pyarrow.large_list(pyarrow.large_string()))
        columns[name] = column
    return pyarrow.table(columns)


def cut(rows, draw):
    """Rows in tables of 1 to 9 rows."""
    while rows:
        count = draw.randrange(1, 10)
        yield varied(rows[:count], draw)
        rows = rows[count:]


def lying(parts):
    """A reader whose batches are not of its schema, which pyarrow does not see."""
    batches = [batch for part in parts for batch in part.to_batches()]
    return pyarrow.RecordBatchReader.from_batches(batches[0].schema, iter(batches))


def folder(parts, path):
    path.mkdir()
    for number, part in enumerate(parts):
        pyarrow.parquet.write_table(part, path / f"part-{number:05}.parquet")
    return path


FORMS = {
    "a list": lambda parts, path: list(parts),
    "a generator": lambda parts, path: parts,
    "batches": lambda parts, path: [batch for part in parts for batch in part.to_batches()],
    "a reader": lambda parts, path: lying(parts),
    "frames of polars": lambda parts, path: map(polars.from_arrow, parts),
    "frames of pandas": lambda parts, path: (part.to_pandas() for part in parts),
    "a folder": folder,
    "paths": lambda parts, path: sorted(folder(parts, path).iterdir()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 6))
def test_parts_are_the_rows_of_one_table(tmp_path, form, seed):
    draw = random.Random(seed)
    users, members, messages = world(draw)

    def source(rows, name):
        return FORMS[form](cut(rows, draw), tmp_path / name)

    kinds = {"user": users, "member": members}
    records = [{"kind": kind, **row} for kind, rows in kinds.items() for row in rows]
    expected = Fanout.from_ndjson(records)
    codes = expected.decide_batch(messages).codes.tolist()
    fanout = Fanout.open(users=source(users, "u"), members=source(members, "m"))
    assert fanout.members("g")[0] == expected.members("g")[0]
    assert fanout.decide_batch(source(messages, "s")).codes.tolist() == codes
    # What is written as lines: settings of all kinds, changes, and the rows of `evaluate`.
    fields = {name: None for record in records for name in record}
    rows = [{**fields, **record} for record in records]
    for other in (Fanout.open(source(rows, "a")), Fanout.from_ndjson(b"")):
        if other.user_count == 0:
            assert other.update(source(rows, "c")) == len(rows)
        assert other.decide_batch(messages).codes.tolist() == codes
    assert expected.evaluate(source(messages, "e")) == expected.evaluate(messages)
    replayed, told = replay(expected, source(messages, "r")), replay(expected, messages)
    assert replayed["outcomes"] == told["outcomes"]


def test_long_columns_of_other_offsets():
    """So long that reading them by the other offsets leaves the memory."""
    for first, second in [(pyarrow.large_string(), pyarrow.string()), TEXTS[:2]]:
        tables = [
            pyarrow.table(
                {"conversation": pyarrow.array(["g"] * 100_000, kind),
                 "user": pyarrow.array([f"{kind}{n}" for n in range(100_000)], kind)}
            ) for kind in (first, second)
        ]  # fmt: skip
        fanout = Fanout.open(members=tables)
        assert len(fanout.members("g")[0]) == 200_000


def test_what_a_later_part_raises_is_raised_and_names_it(tmp_path):
    good = pyarrow.table({"id": ["1"], "conversation": ["g"], "at": [NIGHT]})
    fanout = Fanout.from_ndjson(b"")

    def broken():
        yield good
        raise ZeroDivisionError("the source is broken")

    with pytest.raises(ZeroDivisionError, match="the source is broken"):
        fanout.messages(broken())
    dated = good.set_column(2, "at", pyarrow.array([0], pyarrow.date32()))
    bare = good.set_column(2, "at", pyarrow.array([0], pyarrow.timestamp("ms")))
    for part, words in [(dated, '"at" is of the type date32'), (bare, 'the timestamps of "at"')]:
        with pytest.raises(Error, match=f"^messages: batch 2: {words}"):
            fanout.messages(iter([good, part]))
        path = folder([good, part], tmp_path / words[-3:].strip('"'))
        with pytest.raises(Error, match=f"/part-00001.parquet: {words}"):
            fanout.messages(path)
    assert len(fanout.messages([good, bare], time_zone="UTC")) == 2
    # A row is counted over all parts.
    empty = good.set_column(1, "conversation", pyarrow.array([""]))
    with pytest.raises(Error, match='^messages:3: "conversation" must not be empty'):
        fanout.messages([good, good, empty])
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.parquet").write_bytes(b"PAR1 is not all")
    with pytest.raises(Error, match="/a.parquet: "):
        fanout.messages(tmp_path / "parts")
