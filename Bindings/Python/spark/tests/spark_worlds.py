"""Worlds, and what Spark and the engine alone make of them."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
from worlds_under_test import ORACLE, ROOT

from push_fanout import OUTCOMES, Fanout
from push_fanout.spark import decide, members

DATA = Path(ROOT) / "data"


def random_world(folder, seed, rules):
    """The bytes of a random world's settings and messages."""
    script = os.path.join(ORACLE, "fuzz_world.py")
    subprocess.run(
        [sys.executable, script, "--out", str(folder), "--seed", str(seed), "--rules", rules],
        check=True, capture_output=True,
    )  # fmt: skip
    return [(Path(folder) / f"{name}.ndjson").read_bytes() for name in ("settings", "messages")]


def texts(data):
    """Lines that are not blank."""
    return [line for line in data.decode().split("\n") if line.strip()]


def lines(spark, data):
    """A DataFrame of lines, as spark.read.text gives it."""
    return spark.createDataFrame([(line,) for line in texts(data)], "value string")


def parts_of(spark, settings):
    """Settings as the driver reads them, and DataFrames of lines of users and members."""
    kinds = {"user": {}, "member": {}}
    others = []
    for line in texts(settings):
        record = json.loads(line)
        key = (record.get("conversation"), record.get("user"), record.get("id"))
        if record["kind"] in kinds:
            # The last of a key counts in a file; a DataFrame may have a key once.
            kinds[record["kind"]][key] = line
        else:
            others.append(line)
    users, rows = (
        lines(spark, "\n".join(kinds[kind].values()).encode()) for kind in ("user", "member")
    )
    return {"settings": "\n".join(others).encode(), "users": users, "members": rows}


@functools.lru_cache(maxsize=1)
def expected_rows(fanout, messages):
    """The rows of `push-fanout evaluate`, in an order that does not depend on files."""
    rows = map(json.loads, fanout.evaluate(messages).splitlines())
    return sorted(
        (row["message"], row["user"], row["action"], row["reason"], row.get("scope") or "")
        for row in rows
    )


def expected_counts(fanout, messages):
    """A row for each message, as `push-fanout evaluate --format counts` has them."""
    rows = map(json.loads, fanout.evaluate(messages, "counts").splitlines())
    return sorted(
        (row["message"], row["conversation"], row["recipients"], sorted(row["counts"].items()))
        for row in rows
    )


def columns_of(frame, *names):
    """The columns of a DataFrame as lists, much faster than as rows."""
    table = frame.select(*names).toArrow()
    return [table[name].to_pylist() for name in names]


def found_rows(frame):
    words = {
        code: (outcome.action, outcome.reason, outcome.scope or "")
        for code, outcome in OUTCOMES.items()
    }
    columns = columns_of(frame, "message", "user", "code")
    return sorted((message, user, *words[code]) for message, user, code in zip(*columns))


def found_counts(frame):
    return sorted(
        (
            row["id"], row["conversation"], row["recipients"],
            sorted((OUTCOMES[code].key, count) for code, count in row["counts"].items()),
        )
        for row in frame.collect()
    )  # fmt: skip


def expected_held(fanout, messages):
    """The held pushes, as the engine alone has them."""
    read = fanout.messages(messages)
    ids = read.columns()["id"]
    table = pyarrow.table(fanout.decisions(read, ids=True).held)
    columns = (table[name].to_pylist() for name in ("message", "user", "code", "pushAt"))
    return sorted((ids[number], *row) for number, *row in zip(*columns))


def found_held(frame):
    return sorted(zip(*columns_of(frame, "message", "user", "code", "pushAt")))


def pushes_of(rows):
    """Who gets a push for which message."""
    return sorted((row[0], row[1]) for row in rows if row[2] == "push")


def found_pushes(spark, shards, frame):
    """The same from bitmaps."""
    rows = frame.collect()
    conversations = sorted({row["conversation"] for row in rows})
    asked = spark.createDataFrame([(id,) for id in conversations], "conversation string")
    ids = {}
    for row in members(shards, asked).collect():
        ids.setdefault(row["conversation"], {})[row["rank"]] = row["user"]
    found = []
    for row in rows:
        bits = np.unpackbits(np.frombuffer(row["bitmap"], "uint8"), bitorder="little")
        assert row["members"] == len(ids.get(row["conversation"], {}))
        ranks = np.flatnonzero(bits).tolist()
        assert len(ranks) == row["pushes"]
        found += [(row["id"], ids[row["conversation"]][rank]) for rank in ranks]
    return sorted(found)


def same_as_engine(spark, shards, frame, fanout, messages, folder, **options):
    """Counts, rows, bitmaps and held pushes of Spark are those of the engine."""
    assert found_counts(decide(frame, shards, **options)) == expected_counts(fanout, messages)
    rows = expected_rows(fanout, messages)
    given = decide(frame, shards, "rows", path=folder / "rows", **options)
    assert found_rows(given) == rows
    bitmaps = decide(frame, shards, "bitmap", **options)
    assert found_pushes(spark, shards, bitmaps) == pushes_of(rows)
    held = decide(frame, shards, "held", path=folder / "held", **options)
    assert found_held(held) == expected_held(fanout, messages)


def slice_folder():
    """Where real days are: in data/, or in PUSH_DATA."""
    more = os.environ.get("PUSH_DATA")
    return DATA if more is None else Path(more)


def slice_files(name):
    """The files of a day."""
    kinds = ("users", "members", "messages")
    return [str(slice_folder() / f"{name}.{kind}.csv.gz") for kind in kinds]


@functools.lru_cache(maxsize=1)
def day_engine(name):
    """The engine of a day."""
    users, members, _ = slice_files(name)
    return Fanout.open(users=users, members=members)


def engine(settings):
    return Fanout.from_ndjson(settings, threads=1)
