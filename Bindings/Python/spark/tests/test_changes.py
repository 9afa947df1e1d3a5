"""Changed settings, older settings, and what is left on the disk."""

from __future__ import annotations

import os
import random

import pytest
from spark_worlds import engine, found_counts, lines, parts_of, same_as_engine
from test_exactness import APP, MESSAGES, ndjson, typed_world

from push_fanout import Error
from push_fanout.spark import Shards, compare, decide, prepare, update
from push_fanout.spark.engines import cache_folder

CHANGES = "sequence bigint, kind string, record string"
NOON = 1717416000000


def json_text(record):
    return ndjson([record]).decode().strip()


def changed_world(seed):
    """A world, random changes of it, and the world that they lead to."""
    users, members, conversations, messages = typed_world(seed)
    rng = random.Random(seed)
    people = {row["id"]: row for row in users}
    rooms = {row["id"]: row for row in conversations}
    memberships = {(row["conversation"], row["user"]): row for row in members}
    changes = []

    def change(kind, record):
        changes.append((len(changes), kind, json_text(record)))

    for _ in range(120):
        what = rng.random()
        user = f"ü{rng.randrange(470)}"
        if what < 0.3:
            record = {"id": user, "level": rng.choice(["all", "none"]), "timeZone": "Asia/Tokyo"}
            people[user] = record
            change("user", record)
        elif what < 0.6:
            room = rng.choice(["giant", "large", "a", "b", "new"])
            record = {"conversation": room, "user": user, "level": rng.choice(["all", "mention"])}
            memberships[room, user] = record
            change("member", record)
        else:
            key = rng.choice(sorted(memberships))
            if key[0] == "giant" and ("thread", key[1]) in memberships:
                continue
            record = memberships.pop(key)
            change("removeMember", {"conversation": key[0], "user": key[1]})
    rooms["late"] = {"id": "late", "type": "thread", "parent": "giant"}
    change("conversation", rooms["late"])
    rooms["c"] = {"id": "c", "type": "group"}
    change("conversation", rooms["c"])
    for number in range(20):
        messages.append(
            {"id": f"n{number}", "conversation": rng.choice(["late", "new", "c"]),
             "at": 1717426800000 + number}
        )  # fmt: skip
    settings = ndjson([APP]) + b"".join(
        ndjson(rows.values(), kind=kind)
        for kind, rows in (("conversation", rooms), ("user", people), ("member", memberships))
    )
    rng.shuffle(changes)
    return (users, members, conversations, messages), changes, settings


def prepared(spark, folder, world, **options):
    """Shards of lines."""
    users, members, conversations, _ = world
    settings = (
        ndjson([APP]) + ndjson(conversations, kind="conversation") + ndjson(users, kind="user")
        + ndjson(members, kind="member")
    )  # fmt: skip
    parts = parts_of(spark, settings)
    given = parts.pop("users"), parts.pop("members")
    options = {"shards": 6, "giant_limit": 100, **options}
    return prepare(*given, **parts, path=folder, **options)


@pytest.mark.parametrize("is_typed", [False, True])
def test_changes_lead_to_the_same_as_preparing_anew(spark, tmp_path, is_typed):
    seed = int(os.environ.get("PUSH_SEED", "11"))
    print(f"PUSH_SEED={seed} repeats this world")
    world, changes, settings = changed_world(seed)
    if is_typed:
        from test_exactness import MEMBERS, USERS

        shards = prepare(
            spark.createDataFrame(world[0], USERS), spark.createDataFrame(world[1], MEMBERS),
            conversations=spark.createDataFrame(
                world[2], "id string, type string, parent string"
            ),
            settings=[APP], path=tmp_path / "shards", shards=6, giant_limit=100,
        )  # fmt: skip
    else:
        shards = prepared(spark, tmp_path / "shards", world)
    later = update(shards, spark.createDataFrame(changes, CHANGES), at=NOON)
    assert (later.number, later.at) == (2, NOON)
    text = ndjson(world[3])
    same_as_engine(spark, later, lines(spark, text), engine(settings), text, tmp_path)


def test_only_shards_that_a_change_concerns_are_made_anew(spark, tmp_path):
    shards = prepared(spark, tmp_path / "shards", typed_world(3))
    change = [(1, "member", json_text({"conversation": "b", "user": "zoe", "level": "none"}))]
    later = update(shards, spark.createDataFrame(change, CHANGES), at=0)
    kept = [a == b for a, b in zip(shards.folders, later.folders)]
    assert (kept.count(True), kept.count(False)) == (5, 1)
    assert later.summary["shards_built"] == 1


def test_a_message_from_before_is_refused_or_decided_by_older_shards(spark, tmp_path):
    world = typed_world(5)
    shards = prepared(spark, tmp_path / "shards", world, at=1717426800000)
    noon = 1717426800000 + 5 * 10**7
    change = [(1, "user", json_text({"id": f"ü{number}", "level": "none"})) for number in range(99)]
    later = update(shards, spark.createDataFrame(change, CHANGES), at=noon)
    frame = spark.createDataFrame(world[3], MESSAGES)
    older = [message for message in world[3] if message["at"] < noon]
    with pytest.raises(Exception, match=f"is from before the settings, which hold from {noon} on"):
        decide(frame, later).collect()
    found = decide(frame, later, before="older")
    expected = found_counts(decide(frame.where(f"at < {noon}"), shards)) + found_counts(
        decide(frame.where(f"at >= {noon}"), later)
    )
    assert found_counts(found) == sorted(expected)
    assert {(row["at"] < noon, row["settings"]) for row in found.collect()} == {
        (True, 1), (False, 2),
    }  # fmt: skip
    quarantine = tmp_path / "old"
    found = decide(frame, later, on_error="quarantine", quarantine=quarantine)
    assert found.count() == len(world[3]) - len(older)
    assert spark.read.parquet(str(quarantine)).count() == len(older)
    # There are none from before the first settings.
    early = spark.createDataFrame([("m", "a", None, 5, None, None)], MESSAGES)
    with pytest.raises(Exception, match="which hold from 1717426800000 on"):
        decide(early, later, before="older").collect()


def test_old_shards_are_removed(spark, tmp_path):
    path = tmp_path / "shards"
    first = prepared(spark, path, typed_world(3))
    frame = spark.createDataFrame(typed_world(3)[3], MESSAGES)
    before = found_counts(decide(frame, first))
    change = [(1, "member", json_text({"conversation": "b", "user": "zoe", "level": "none"}))]
    second = update(first, spark.createDataFrame(change, CHANGES), at=0)
    (path / "data" / "000009-of-a-job-that-ended").mkdir()
    assert second.clean(keep=2) == []
    assert sorted(os.listdir(path / "data")) == sorted(
        {folder.split("/")[1] for folder in (*first.folders, *second.folders)}
    )
    assert found_counts(decide(frame, first)) == before
    assert second.clean() == [1]
    with pytest.raises(Error, match="there are no shards 1; there are 2"):
        Shards.open(path, 1)
    # What both have is still there.
    decide(frame, second).collect()
    fresh = prepared(spark, path, typed_world(3))
    assert fresh.number == 3 and fresh.clean() == [2]
    assert {name.split("-")[0] for name in os.listdir(path / "data")} == {"000003"}
    assert found_counts(decide(frame, fresh)) == before
    # Copies on the local disk go when others are fetched.
    local = os.path.join(cache_folder(), f"{fresh.identity:016x}")
    assert len([name for name in os.listdir(local) if not name.startswith(".")]) <= 6


@pytest.mark.parametrize(
    ("kind", "record", "text"),
    [
        ("user", '{"id":"a","level":"loud"}', '"level" cannot be "loud"'),
        ("member", '{"user":"a"}', "the record has no conversation and user"),
        ("member", '{"conversation":"a","user":"x","since":"noon"}', '"since"'),
        ("group", "{}", "\"kind\" cannot be 'group'"),
        ("user", "{", "is not an object of JSON"),
        ("conversation", '{"id":"side","type":"thread","parent":"b"}', "the parent of"),
        ("conversation", '{"id":"a","type":"thread","parent":"b"}', "cannot become a thread"),
    ],
)
def test_a_change_that_is_not_understood(spark, shared, kind, record, text):
    with pytest.raises(Error, match=text):
        update(shared, spark.createDataFrame([(1, kind, record)], CHANGES), at=0)
    assert Shards.open(shared.path) == shared


@pytest.fixture(scope="module", name="shared")
def fixture_shared(spark, tmp_path_factory):
    return prepared(spark, tmp_path_factory.mktemp("shared"), typed_world(3))


def test_compare_finds_differences(spark, shared, tmp_path):
    messages = typed_world(3)[3]
    frame = spark.createDataFrame(messages, MESSAGES)
    loud = spark.createDataFrame([{**row, "silent": False} for row in messages], MESSAGES)
    for output in ("counts", "bitmap", "rows", "held"):
        sides = []
        for name, side in (("a", frame), ("b", loud)):
            is_written = output in ("rows", "held")
            options = {"path": tmp_path / f"{output}-{name}"} if is_written else {}
            sides.append(decide(side, shared, output, **options))
        assert compare(sides[0], sides[0]).count() == 0
        differ = compare(sides[0], sides[1]).collect()
        assert differ and all(row["a"] != row["b"] for row in differ)
    with pytest.raises(ValueError, match="of the same kind"):
        compare(frame, frame)
