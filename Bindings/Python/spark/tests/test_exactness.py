"""Spark decides as the engine does alone, row for row.

PUSH_WORLDS=30 compares so many random worlds, PUSH_SEED=n begins with another seed.
"""

from __future__ import annotations

import json
import os
import random

import pytest
from spark_worlds import (
    day_engine,
    engine,
    expected_counts,
    found_counts,
    lines,
    parts_of,
    random_world,
    same_as_engine,
    slice_files,
    slice_folder,
)
from worlds_under_test import OPEN_MESSAGES, OPEN_PUSHES, OPEN_RECORDS

from push_fanout.spark import Shards, compare, decide, deciding, prepare
from push_fanout.spark.readers import read

FIRST = int(os.environ.get("PUSH_SEED", "0"))
# PUSH_DATA=folder has others; large ones are compared by counts.
SLICES = sorted(path.name.split(".")[0] for path in slice_folder().glob("*.messages.csv.gz"))
RULES = ("easemob", "rongcloud", "open")
SEEDS = range(FIRST, FIRST + int(os.environ.get("PUSH_WORLDS", "6")))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_world_is_decided_as_by_the_engine(spark, tmp_path, seed):
    print(f"PUSH_SEED={seed} PUSH_WORLDS=1 repeats this world")
    settings, messages = random_world(tmp_path, seed, RULES[seed % len(RULES)])
    # In three of six some conversations are split.
    limit = (65_536, 3)[seed // len(RULES) % 2]
    parts = parts_of(spark, settings)
    given = parts.pop("users"), parts.pop("members")
    shards = prepare(*given, **parts, path=tmp_path / "shards", shards=3, giant_limit=limit)
    frame = lines(spark, messages)
    same_as_engine(spark, shards, frame, engine(settings), messages, tmp_path)


def test_settings_read_by_the_driver_are_the_same_world(spark, tmp_path):
    settings, messages = random_world(tmp_path, 3, "rongcloud")
    nobody = spark.createDataFrame([], "conversation string, user string")
    shards = prepare(None, nobody, settings=settings, path=tmp_path / "shards", shards=2)
    same_as_engine(spark, shards, lines(spark, messages), engine(settings), messages, tmp_path)


@pytest.mark.parametrize("limit", [65_536, 60])
@pytest.mark.parametrize("name", SLICES)
def test_a_real_day_is_decided_as_by_the_engine(spark, tmp_path, name, limit):
    users, members, messages = slice_files(name)
    shards = prepare(
        read(spark, users, "users"), read(spark, members, "members"),
        path=tmp_path / "shards", shards=4, giant_limit=limit,
    )  # fmt: skip
    assert shards.giants or limit > 60
    frame = read(spark, messages, "messages")
    fanout = day_engine(name)
    text = b"".join(row["value"].encode() + b"\n" for row in frame.collect())
    recipients = int(fanout.decide_batch(text, parts=()).recipients.sum())
    if recipients > 5_000_000:
        assert found_counts(decide(frame, shards)) == expected_counts(fanout, text)
    else:
        same_as_engine(spark, shards, frame, fanout, text, tmp_path)


def typed_world(seed):
    """Easemob's world as columns: two giants, threads of one, and rooms."""
    rng = random.Random(seed)
    users = [
        {"id": f"ü{number}", "level": rng.choice([None, "all", "mention", "none"]),
         "quietHours": rng.choice([None, {"start": "22:00", "end": "08:00"}]),
         "timeZone": rng.choice([None, "Europe/Berlin", "Asia/Kolkata"]),
         "mutedUntil": rng.choice([None, 1717430000000])}
        for number in range(400)
    ]  # fmt: skip
    rooms = {"giant": 420, "large": 300, "a": 9, "b": 40, "c": 3}
    members = [
        {"conversation": room, "user": f"ü{number}", "level": rng.choice([None, None, "none"]),
         "since": rng.choice([None, None, 1717426900000])}
        for room, size in rooms.items() for number in rng.sample(range(450), size)
    ]  # fmt: skip
    in_giant = [row["user"] for row in members if row["conversation"] == "giant"]
    members += [
        {"conversation": "thread", "user": user, "level": "all", "since": None}
        for user in rng.sample(in_giant, 50)
    ]
    conversations = [
        {"id": "thread", "type": "thread", "parent": "giant"},
        {"id": "side", "type": "thread", "parent": "a"},
        {"id": "b", "type": "private", "parent": None},
        {"id": "c", "type": "room", "parent": None},
    ]
    names = [*rooms, "thread", "side", "nowhere"]
    messages = [
        {"id": f"m{number // 2}", "conversation": rng.choice(names), "sender": f"ü{number % 450}",
         "at": 1717426800000 + rng.randrange(10**8), "silent": rng.choice([None, None, True]),
         "mentions": rng.choice([None, [], [f"Ü{number % 450}", "ü1", "ü2"]])}
        for number in range(300)
    ]  # fmt: skip
    # Equal messages are decided each.
    messages += messages[:20]
    return users, members, conversations, messages


USERS = "id string, level string, quietHours struct<start:string,end:string>, timeZone string, \
mutedUntil bigint"
MEMBERS = "conversation string, user string, level string, since bigint"
MESSAGES = "id string, conversation string, sender string, at bigint, silent boolean, \
mentions array<string>"
APP = {"kind": "app", "rules": "easemob", "timeZone": "Asia/Shanghai"}


def ndjson(rows, **more):
    return b"".join(
        json.dumps(
            {**more, **{name: value for name, value in row.items() if value is not None}}
        ).encode() + b"\n"
        for row in rows
    )  # fmt: skip


@pytest.mark.parametrize(("slices", "limit"), [(1, 100), (3, 100), (None, 100), (None, 1000)])
def test_columns_with_giants_and_threads(spark, tmp_path, monkeypatch, slices, limit):
    monkeypatch.setattr(deciding, "SLICED_MEMBERS", 20)
    seed = int(os.environ.get("PUSH_SEED", "7"))
    print(f"PUSH_SEED={seed} repeats this world")
    users, members, conversations, messages = typed_world(seed)
    frame = spark.createDataFrame(messages, MESSAGES)
    shards = prepare(
        spark.createDataFrame(users, USERS), spark.createDataFrame(members, MEMBERS),
        conversations=spark.createDataFrame(conversations, "id string, type string, parent string"),
        settings=[APP], path=tmp_path / "shards", shards=5, giant_limit=limit,
    )  # fmt: skip
    giants = {id: (giant.first, giant.parts) for id, giant in shards.giants.items()}
    assert giants == ({"giant": (0, 5), "large": (0, 3)} if limit == 100 else {})
    assert sum(shards.members) == len(members)
    # Where the large conversations are whole, their shards have several tasks.
    assert (max(deciding._slices(shards, slices)) > 3) == (limit > 100)
    assert Shards.open(tmp_path / "shards") == shards
    settings = (
        ndjson([APP]) + ndjson(conversations, kind="conversation") + ndjson(users, kind="user")
        + ndjson(members, kind="member")
    )  # fmt: skip
    text = ndjson(messages)
    same_as_engine(spark, shards, frame, engine(settings), text, tmp_path, slices=slices)


def test_files_of_counts_and_bitmaps_have_what_is_decided_later(spark, tmp_path):
    users, members, _, messages = typed_world(5)
    frame = spark.createDataFrame(messages, MESSAGES)
    shards = prepare(
        spark.createDataFrame(users, USERS), spark.createDataFrame(members, MEMBERS),
        settings=[APP], path=tmp_path / "shards", shards=3, giant_limit=100,
    )  # fmt: skip
    for output in ("counts", "bitmap"):
        place = tmp_path / output
        written = decide(frame, shards, output, path=place)
        later = decide(frame, shards, output)
        assert written.schema == later.schema
        assert compare(written, later).count() == 0
        summary = json.loads((place / "_summary.json").read_text())
        assert (summary["messages"], summary["rows"]) == (len(messages), len(messages))
        kinds = {name.split("-")[0] for name in os.listdir(place) if name[0] != "_"}
        assert kinds == {"whole", "split"}


def test_ultra_groups_with_channels(spark, tmp_path):
    settings = ndjson(
        [
            {"kind": "app", "rules": "rongcloud", "timeZone": "Asia/Shanghai"},
            {"kind": "conversation", "id": "u", "type": "ultraGroup", "level": "mention",
             "channels": {"c1": "all", "c2": "none"}},
            *({"kind": "member", "conversation": "u", "user": f"u{number}",
               **({"channels": {"c2": "all"}} if number % 3 else {"level": "none"})}
              for number in range(60)),
        ]
    )  # fmt: skip
    messages = ndjson(
        {"id": f"m{number}", "conversation": "u", "at": 1717426800000 + number,
         **({"channel": f"c{number % 4}"} if number % 4 else {}),
         **({"mentions": ["u1", "u3"]} if number % 5 == 0 else {})}
        for number in range(40)
    )  # fmt: skip
    parts = parts_of(spark, settings)
    given = parts.pop("users"), parts.pop("members")
    shards = prepare(*given, **parts, path=tmp_path / "shards", shards=3, giant_limit=10)
    assert shards.giants["u"].parts == 3
    same_as_engine(spark, shards, lines(spark, messages), engine(settings), messages, tmp_path)


@pytest.mark.parametrize("limit", [65_536, 2])
def test_open_rules_have_columns_for_their_fields(spark, tmp_path, limit):
    schema = (
        "id string, conversation string, sender string, at bigint, text string, "
        "mentionsRoles array<string>, replyToUser {}"
    )
    settings = ndjson(OPEN_RECORDS)
    parts = parts_of(spark, settings)
    given = parts.pop("users"), parts.pop("members")
    shards = prepare(*given, **parts, path=tmp_path / "shards", shards=2, giant_limit=limit)
    assert ("team" in shards.giants) == (limit == 2)
    frame = spark.createDataFrame(OPEN_MESSAGES, schema.format("string"))
    same_as_engine(spark, shards, frame, engine(settings), ndjson(OPEN_MESSAGES), tmp_path)
    pushes = {row.id: row.pushes for row in decide(frame, shards).collect()}
    assert pushes == {
        message["id"]: len(users) for message, users in zip(OPEN_MESSAGES, OPEN_PUSHES)
    }
    # An id may be an integer; a bad row is listed with its text.
    rows = [{**OPEN_MESSAGES[2], "replyToUser": 7}]
    rows.append({**rows[0], "id": "bad", "mentionsRoles": ["r"] * 9})
    frame = spark.createDataFrame(rows, schema.format("bigint"))
    place = tmp_path / "bad"
    decided = decide(frame, shards, path=tmp_path / "o", on_error="quarantine", quarantine=place)
    assert [(row.id, row.pushes) for row in decided.collect()] == [("m2", 1)]
    (bad,) = spark.read.parquet(str(place)).collect()
    assert bad.problem == '"mentionsRoles": 9 roles; at most 8 are allowed'
    assert json.loads(bad.record)["replyToUser"] == "7"


def test_no_messages(spark, tmp_path):
    members = spark.createDataFrame([("g", "ann")], "conversation string, user string")
    shards = prepare(None, members, path=tmp_path / "shards", shards=2)
    frame = spark.createDataFrame([], MESSAGES)
    assert decide(frame, shards).collect() == []
    for output in ("counts", "bitmap", "rows", "held"):
        assert decide(frame, shards, output, path=tmp_path / output).collect() == []
