"""Bad rows, killed workers, and jobs that are started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest
from conftest import start
from spark_worlds import found_counts, found_rows
from test_changes import prepared
from test_exactness import MESSAGES, typed_world

from push_fanout import Error
from push_fanout.spark import Metrics, Shards, decide, prepare
from push_fanout.spark.readers import read

MEMBERS = [{"conversation": "g", "user": f"u{number}", "level": None} for number in range(20)]
MEMBER_ROW = "conversation string, user string, level string"
USERS = [{"id": f"u{number}", "level": None} for number in range(20)]


def parquet(spark, path, rows):
    """A Parquet file as Spark reads it."""
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return spark.read.parquet(str(path))


def written(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def changed(rows, number, **fields):
    return [*rows[:number], {**rows[number], **fields}, *rows[number + 1 :]]


@pytest.mark.parametrize(
    ("users", "members", "file", "text"),
    [
        (changed(USERS, 5, level="loud"), changed(MEMBERS, 1, level="none"), "users",
         r':6: "level" cannot be "loud"; .* \(\{"id":"u5"\}\)$'),
        (changed(USERS, 1, level="none"), changed(MEMBERS, 7, level="loud"), "members",
         r':8: "level" cannot be "loud"; .* \(\{"conversation":"g","user":"u7"\}\)$'),
        (changed(USERS, 1, level="none"), changed(MEMBERS, 3, user=None, level="all"), "members",
         r':4: the field "user" is missing \(\{"conversation":"g"\}\)$'),
        (changed(USERS, 1, level="none"), changed(MEMBERS, 8, user="u3", level="all"), "members",
         r':9: is given twice; .*"user":"u3"\}\)$'),
        (changed(USERS, 4, id="u3", level="all"), changed(MEMBERS, 8, level="all"), "users",
         r':5: is given twice; .*\(\{"id":"u3"\}\)$'),
    ],
)  # fmt: skip
def test_a_bad_row_of_settings_is_named(spark, tmp_path, users, members, file, text):
    frames = [
        parquet(spark, tmp_path / f"{name}.parquet", rows)
        for name, rows in (("users", users), ("members", members))
    ]
    with pytest.raises(Error, match=f"{file}.parquet{text}"):
        prepare(*frames, path=tmp_path / "shards", shards=2)
    with pytest.raises(Error, match="there are no shards"):
        Shards.open(tmp_path / "shards")
    left = prepare(*frames, path=tmp_path / "shards", shards=2, on_error="quarantine")
    listed = spark.read.parquet(left.summary["quarantine"]).collect()
    assert left.summary["bad_rows"] == len(listed) == 1
    assert listed[0]["file"].endswith(f"{file}.parquet") and listed[0]["kind"] == file
    assert left.summary["members"] == 20 - (file == "members")


def test_a_bad_row_of_csv_is_named(spark, tmp_path):
    members = written(tmp_path / "m.csv", "conversation,user,level", ["g,ann,", "g,ben,loud"])
    with pytest.raises(Error, match=r'm\.csv:2: "level" cannot be "loud".*"user":"ben"'):
        prepare(None, read(spark, members, "members"), path=tmp_path / "shards", shards=2)
    written(members, "conversation,user,level", ["g,ann,", "g,ben,none,1"])
    with pytest.raises(Error, match=r"m\.csv:2: "):
        prepare(None, read(spark, members, "members"), path=tmp_path / "shards", shards=2)
    written(members, "conversation,user,levle", ["g,ann,"])
    with pytest.raises(Error, match=r'm\.csv:1: unknown column "levle"'):
        read(spark, members, "members")


def test_a_bad_message_is_named(spark, tmp_path):
    shards = prepared(spark, tmp_path / "shards", typed_world(3))
    messages = [
        {"id": f"m{number}", "conversation": ["giant", "a"][number % 2], "at": 1717426800000,
         "body": "text"}
        for number in range(40)
    ]  # fmt: skip
    for number in (6, 7, 30):
        messages[number]["body"] = "song"
    frame = parquet(spark, tmp_path / "messages.parquet", messages)
    named = r'messages.parquet:(7|8|31): "body" .*"song".*"id":"m(6|7|30)"'
    with pytest.raises(Exception, match=named):
        decide(frame, shards).collect()
    with pytest.raises(Error, match=named):
        decide(frame, shards, "rows", path=tmp_path / "rows")
    assert not (tmp_path / "rows" / "_SUCCESS").exists()
    metrics = Metrics(spark)
    options = {"on_error": "quarantine", "quarantine": tmp_path / "bad", "metrics": metrics}
    found = decide(frame, shards, "rows", path=tmp_path / "rows", **options)
    good = [message for message in messages if message["body"] == "text"]
    expected = decide(spark.createDataFrame(good), shards, "rows", path=tmp_path / "good")
    assert found_rows(found) == found_rows(expected)
    listed = spark.read.parquet(str(tmp_path / "bad")).collect()
    assert sorted((row["row"], json.loads(row["key"])["id"]) for row in listed) == [
        (7, "m6"), (8, "m7"), (31, "m30"),
    ]  # fmt: skip
    values = metrics.values()
    assert (values["bad_rows"], values["messages"]) == (3, 37)
    assert values["decisions"] == found.count()
    assert values["pushes"] == found.where("code % 2 = 1").count()


@pytest.mark.parametrize("limit", [0, 1024])
def test_bad_messages_have_their_files_and_whole_records(spark, tmp_path, monkeypatch, limit):
    monkeypatch.setattr("push_fanout.spark.deciding.NUMBERED_FILES", limit)
    folder = tmp_path / "messages"
    folder.mkdir()
    bad = {}
    for number, name in enumerate(("a b", "50%", "täglich", "x=1,y+2")):
        rows = [
            {"id": f"{number}{kind}", "conversation": "g", "at": 1717426800000 + number,
             "body": kind, "mentions": ["u1"]}
            for kind in ("text", "song")
        ]  # fmt: skip
        bad[rows[1]["id"]] = rows[1]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"{name}.parquet")
    frame = spark.read.parquet(str(folder))
    places = {id: path.removeprefix("file:").lstrip("/")
              for id, path in frame.select("id", "_metadata.file_path").collect()}  # fmt: skip
    shards = prepare(None, spark.createDataFrame(MEMBERS[:3], MEMBER_ROW),
                     path=tmp_path / "shards", shards=2)  # fmt: skip
    found = decide(frame, shards, path=tmp_path / "counts", on_error="quarantine",
                   quarantine=tmp_path / "bad")  # fmt: skip
    assert sorted(row.id for row in found.collect()) == [f"{number}text" for number in range(4)]
    listed = spark.read.parquet(str(tmp_path / "bad")).collect()
    assert {json.loads(row.key)["id"]: (row.file.removeprefix("file:").lstrip("/"), row.row,
                                        json.loads(row.record))
            for row in listed} == {id: (places[id], 2, bad[id]) for id in bad}  # fmt: skip


def test_an_error_of_a_worker_is_raised_as_what_it_was(spark, tmp_path):
    members = written(tmp_path / "m.csv", "conversation,user", ["g,ann", 'g,"be"n'])
    with pytest.raises(Error, match=r"^.*/m\.csv:2: ") as raised:
        prepare(None, read(spark, members, "members"), path=tmp_path / "shards", shards=2)
    assert "Traceback" not in str(raised.value)


def test_complete_output_is_replaced_only_when_asked(spark, tmp_path):
    world = typed_world(3)
    shards = prepared(spark, tmp_path / "shards", world)
    frame = spark.createDataFrame(world[3], MESSAGES)
    place = tmp_path / "rows"
    # As of a job that was killed.
    (place / "_attempts").mkdir(parents=True)
    (place / "_attempts" / "00000-x.parquet").write_bytes(b"part of a file")
    first = found_rows(decide(frame, shards, "rows", path=place))
    names = sorted(os.listdir(place))
    with pytest.raises(Error, match="has complete output; give overwrite=True"):
        decide(frame, shards, "rows", path=place)
    again = found_rows(decide(frame, shards, "rows", path=place, overwrite=True))
    assert (again, sorted(os.listdir(place))) == (first, names)
    summary = json.loads((place / "_summary.json").read_text())
    assert (summary["messages"], summary["rows"]) == (len(world[3]), len(first))


def processes(word):
    """The numbers of processes whose command line has a word."""
    found = subprocess.run(["pgrep", "-f", word], capture_output=True, text=True).stdout
    return [int(number) for number in found.split() if int(number) != os.getpid()]


def descendants(roots):
    """Processes and what they have started, and so on."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = set(roots)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def kill_during(begun, chosen):
    """Kills one of the chosen processes as soon as a job has begun; the list of who was killed."""
    killed = []

    def work():
        end = time.monotonic() + 300
        while time.monotonic() < end and not killed:
            if begun():
                for number in chosen():
                    os.kill(number, signal.SIGKILL)
                    killed.append(number)
                    return
            time.sleep(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    return killed, thread


@pytest.mark.cluster
def test_a_killed_executor_and_a_killed_worker_change_nothing(tmp_path):
    spark = start("local-cluster[2,1,1024]", spark__task__maxFailures="8")
    try:

        def executors():
            return [n for n in processes("CoarseGrainedExecutorBackend") if n in descendants(
                [os.getpid()])]  # fmt: skip

        def workers():
            return [n for n in processes("pyspark.daemon") if n in descendants(executors())]

        end = time.monotonic() + 300
        while len(executors()) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        assert len(executors()) == 2
        world = typed_world(3)
        shards = prepared(spark, tmp_path / "shards", world, shards=6)
        frame = spark.createDataFrame(world[3] * 3, MESSAGES)
        expected = found_rows(decide(frame, shards, "rows", path=tmp_path / "undisturbed"))
        counts = found_counts(decide(frame, shards))
        for name, chosen in (("executor", executors), ("worker", workers)):
            place = tmp_path / name

            def begun():
                attempts = place / "_attempts"
                return attempts.exists() and len(os.listdir(attempts)) > 0

            killed, thread = kill_during(begun, chosen)
            found = decide(frame, shards, "rows", path=place)
            thread.join()
            assert len(killed) == 1, f"no {name} was there to be killed"
            assert found_rows(found) == expected
        # And while shards are made.
        data = tmp_path / "again" / "data"

        def building():
            return data.exists() and any(data.glob("*/shard-*/snapshot"))

        killed, thread = kill_during(building, executors)
        again = prepared(spark, tmp_path / "again", world, shards=6)
        thread.join()
        assert len(killed) == 1
        assert found_counts(decide(frame, again)) == counts
    finally:
        spark.stop()
