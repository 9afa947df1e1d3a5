"""`push-fanout-spark`, and the readers of files."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest
from spark_worlds import expected_counts, expected_rows, found_counts, slice_files
from worlds_under_test import MESSAGES, RECORDS

from push_fanout import Fanout
from push_fanout.spark import Shards, decide
from push_fanout.spark.command import main
from push_fanout.spark.readers import read, value_of


@pytest.fixture(scope="module", autouse=True)
def session(spark):
    """The session that the commands find."""
    return spark


def run(capfd, *arguments):
    """The exit status and what was written."""
    status = main([str(argument) for argument in arguments])
    return status, capfd.readouterr().err


def test_files_in_and_out(spark, tmp_path, capfd):
    users, members, messages = slice_files("fcc-2016-03-03")
    shards = tmp_path / "shards"
    given = ("--users", users, "--members", members, "--shards", shards, "--count", 3)
    status, text = run(capfd, "prepare", *given, "--giant-limit", 100)
    assert status == 0 and "members" in text and "seconds, count members" in text
    decided = ("decide", "--shards", shards, "--messages", messages, "--output")
    status, text = run(capfd, *decided, tmp_path / "counts")
    assert status == 0 and "engines opened" in text
    fanout = Fanout.open(users=users, members=members)
    lines = b"".join(
        row["value"].encode() + b"\n" for row in read(spark, messages, "messages").collect()
    )
    counts = found_counts(spark.read.parquet(str(tmp_path / "counts")))
    assert counts == expected_counts(fanout, lines)
    status, text = run(capfd, *decided, tmp_path / "counts")
    assert status == 1 and text.endswith("has complete output; give overwrite=True to replace it\n")
    assert run(capfd, *decided, tmp_path / "rows", "--format", "rows", "--csv")[0] == 0
    rows = []
    for file in (tmp_path / "rows").glob("*.csv"):
        with open(file, encoding="utf-8", newline="") as stream:
            rows += [tuple(row.values()) for row in csv.DictReader(stream)]
    assert sorted(rows) == expected_rows(fanout, lines)
    assert not (tmp_path / "rows.parquet").exists()


def test_parquet_changes_and_differences(spark, tmp_path, capfd):
    for kind in ("user", "member"):
        rows = [
            {name: value for name, value in row.items() if name != "kind"}
            for row in RECORDS
            if row["kind"] == kind
        ]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{kind}.parquet")
    (tmp_path / "app.ndjson").write_text(json.dumps(RECORDS[0]))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(MESSAGES), tmp_path / "m.parquet")
    shards = tmp_path / "shards"
    assert run(
        capfd, "prepare", "--settings", tmp_path / "app.ndjson", "--users",
        tmp_path / "user.parquet", "--members", tmp_path / "member.parquet", "--shards", shards,
        "--count", 2,
    )[0] == 0  # fmt: skip
    change = {"sequence": 1, "kind": "user", "record": '{"id":"ben","level":"none"}'}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([change]), tmp_path / "c.parquet")
    given = ("--shards", shards, "--changes", tmp_path / "c.parquet", "--at", 0)
    assert run(capfd, "update", *given)[0] == 0
    for number in (1, 2):
        assert run(
            capfd, "decide", "--shards", shards, "--number", number, "--messages",
            tmp_path / "m.parquet", "--output", tmp_path / str(number),
        )[0] == 0  # fmt: skip
    status, text = run(capfd, "compare", tmp_path / "1", tmp_path / "2")
    assert (status, text.endswith("differ in 8 rows\n")) == (1, True)
    assert run(capfd, "compare", tmp_path / "1", tmp_path / "1") == (0, "no differences\n")
    assert run(capfd, "clean", "--shards", shards) == (0, '{"removed": [1]}\n')
    status, text = run(
        capfd, "decide", "--shards", shards, "--number", 1, "--messages", "m", "--output", "o"
    )
    assert status == 1 and text.endswith("there are no shards 1; there are 2\n")


def test_what_is_wrong_is_one_line(tmp_path, capfd):
    status, text = run(capfd, "prepare", "--members", "none.csv", "--shards", tmp_path)
    assert (status, text) == (1, "none.csv: there is no such file or folder\n")
    with pytest.raises(SystemExit) as stopped:
        main(["decide", "--shards", "s", "--messages", "m", "--output", "o", "--csv",
              "--format", "bitmap"])  # fmt: skip
    assert stopped.value.code == 2
    assert "--csv has no bitmaps" in capfd.readouterr().err


def test_the_file_for_spark_submit_is_there(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "push_fanout.spark", "--where"],
        capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert os.path.isfile(done.stdout.strip())
    helped = subprocess.run(
        [sys.executable, done.stdout.strip(), "--help"], capture_output=True, text=True
    )
    assert helped.returncode == 0 and "push-fanout-spark prepare --settings" in helped.stdout


def test_files_of_a_folder_are_read_by_a_task_each(spark, tmp_path):
    folder = tmp_path / "members"
    folder.mkdir()
    (folder / "a.csv").write_text('conversation,user\n"g,1",ann\n\ng,ben\n')
    (folder / "b.ndjson").write_text('{"conversation":"g","user":"cid"}\n')
    frame = read(spark, folder, "members")
    found = sorted((row["value"], row["_file"], row["_row"]) for row in frame.collect())
    assert found == [
        ('{"conversation":"g","user":"cid"}', str(folder / "b.ndjson"), 1),
        ('{"kind":"member","conversation":"g","user":"ben"}', str(folder / "a.csv"), 2),
        ('{"kind":"member","conversation":"g,1","user":"ann"}', str(folder / "a.csv"), 1),
    ]
    assert frame.rdd.getNumPartitions() == 2


def test_cells_have_the_values_of_the_formats():
    assert [
        value_of("at", "2024-06-03T00:00:00Z"), value_of("level", "-1"), value_of("level", "all"),
        value_of("silent", "yes"), value_of("quietSpanMinutes", "60"), value_of("id", "7"),
    ] == ["2024-06-03T00:00:00Z", -1, "all", "yes", 60, "7"]  # fmt: skip


def test_messages_without_ids_are_numbered(spark, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("conversation,at\ng,5\n\ng,6\n")
    members = spark.createDataFrame([("g", "ann")], "conversation string, user string")
    from push_fanout.spark import prepare

    shards = prepare(None, members, path=tmp_path / "shards", shards=1)
    assert Shards.open(tmp_path / "shards").folders == shards.folders
    rows = decide(read(spark, path, "messages"), shards).collect()
    assert sorted(row["id"] for row in rows) == ["1", "2"]
