"""What is given to Spark as a table, and what is refused before a job begins."""

from __future__ import annotations

import datetime
import os
import pathlib
import subprocess
import sys

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from spark_worlds import found_counts

from push_fanout import Error, Fanout
from push_fanout.spark import decide, prepare, update
from push_fanout.spark.command import main

NOON = datetime.datetime(2024, 6, 3, 12)
ZONE = "Asia/Shanghai"
AT = 1717387200000
USERS = [{"id": "ann", "mutedUntil": NOON}, {"id": "ben", "mutedUntil": None}]
MEMBERS = [{"conversation": "g", "user": user} for user in ("ann", "ben")]
MESSAGES = [{"id": f"m{n}", "conversation": "g", "at": NOON + datetime.timedelta(n - 1)}
            for n in range(3)]  # fmt: skip


def parquet(path, rows):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return str(path)


def test_errors_of_spark_stay_its_own(spark, tmp_path):
    """Nothing has gone wrong in this process before, so that pyspark has no logger yet."""
    script = pathlib.Path(tmp_path, "first.py")
    script.write_text(
        "import sys\n"
        "from pyspark.errors import AnalysisException\n"
        "from pyspark.sql import SparkSession, functions as F\n"
        "from push_fanout.spark import decide, prepare\n"
        "spark = SparkSession.builder.master('local[1]').getOrCreate()\n"
        "folder = sys.argv[1]\n"
        "shards = prepare(None, folder + '/members.parquet', path=folder + '/s', shards=1)\n"
        "messages = spark.read.parquet(folder + '/messages.parquet')\n"
        "assert decide(messages, shards).count() == 1\n"
        "try:\n"
        "    spark.range(1).select(F.col('nope')).collect()\n"
        "except AnalysisException as error:\n"
        "    print(error.getCondition())\n"
    )
    parquet(tmp_path / "members.parquet", MEMBERS)
    parquet(tmp_path / "messages.parquet", [{"id": "m", "conversation": "g", "at": AT}])
    # The shell of somebody who starts the Python of an environment by its path.
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    environment["PATH"] = "/usr/bin:/bin"
    done = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "UNRESOLVED_COLUMN.WITH_SUGGESTION\n"


@pytest.mark.parametrize("place", ["users", "messages"])
def test_a_local_time_is_refused_in_a_sentence_or_has_a_zone(spark, tmp_path, place):
    users = spark.read.parquet(parquet(tmp_path / "users.parquet", USERS))
    members = parquet(tmp_path / "members.parquet", MEMBERS)
    messages = spark.read.parquet(parquet(tmp_path / "m.parquet", MESSAGES))
    assert dict(messages.dtypes)["at"] == "timestamp_ntz"
    zone = {"time_zone": ZONE}
    shards = prepare(users, members, path=tmp_path / "shards", shards=2, **zone)
    words = 'have no time zone, so that nothing says which instants they are; give time_zone="UTC"'
    with pytest.raises(Error) as raised:
        if place == "users":
            prepare(users, members, path=tmp_path / "refused", shards=2)
        else:
            decide(messages, shards)
    column = {"users": 'users: the timestamps of "mutedUntil"',
              "messages": 'messages: the timestamps of "at"'}[place]  # fmt: skip
    assert str(raised.value).startswith(f"{column} {words}")
    # The answers are those of one engine, which is told the same.
    found = {row.id: (row["at"], row.pushes) for row in decide(messages, shards, **zone).collect()}
    fanout = Fanout.open(users=tmp_path / "users.parquet", members=members, **zone)
    read = fanout.messages(tmp_path / "m.parquet", **zone)
    pushes = fanout.decide_batch(read).pushes.tolist()
    assert found == {info.id: (info.at, n) for info, n in zip(read, pushes)}
    assert found["m1"] == (AT, 2) and found["m0"][1] == 1


def test_frames_and_paths_are_tables(spark, tmp_path):
    paths = [parquet(tmp_path / f"{n}.parquet", [row]) for n, row in enumerate(MEMBERS)]
    users = pandas.DataFrame([{"id": "ann", "level": "none"}])
    shards = prepare(users, paths, path=tmp_path / "shards", shards=2)
    messages = [{"id": f"m{n}", "conversation": "g", "at": AT + n} for n in range(3)]
    frame = pandas.DataFrame(messages)
    expected = found_counts(decide(spark.createDataFrame(messages), shards))
    assert len(expected) == 3
    files = [parquet(tmp_path / f"m{n}.parquet", [row]) for n, row in enumerate(messages)]
    for given in (frame, pyarrow.Table.from_pandas(frame), files, tuple(map(pathlib.Path, files))):
        assert found_counts(decide(given, shards)) == expected
    assert found_counts(decide(files[0], shards)) == expected[:1]
    change = pandas.DataFrame({"sequence": [1], "kind": ["user"], "record": ['{"id":"ann"}']})
    assert decide(files, update(shards, change, at=0)).agg({"pushes": "sum"}).first()[0] == 6
    # Integers of another type, as a sum has it.
    decimals = decide(spark.createDataFrame(messages).selectExpr(
        "id", "conversation", "CAST(at AS DECIMAL(20,0)) AS at"), shards)  # fmt: skip
    assert found_counts(decimals) == expected
    # Members may be all that there is, and users, too.
    assert prepare(users, None, path=tmp_path / "users", shards=1).summary["members"] == 0


def test_parts_of_other_schemas_lose_nothing(spark, tmp_path):
    """Files of a folder, and batches of a reader, of which the first has no senders."""
    shards = prepare(None, spark.createDataFrame(MEMBERS), path=tmp_path / "shards", shards=2)
    rows = [{"id": "m1", "conversation": "g", "at": AT},
            {"sender": "ann", "at": AT, "conversation": "g", "id": "m2"}]  # fmt: skip
    expected = found_counts(decide(spark.createDataFrame(rows[1:]), shards))
    assert [counts[2] for counts in expected] == [1]
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, row in enumerate([rows[0], rows[1]]):
        parquet(folder / f"part-{number}.parquet", [row])
    batches = [pyarrow.RecordBatch.from_pylist([row]) for row in rows]
    reader = pyarrow.RecordBatchReader.from_batches(batches[0].schema, iter(batches))
    for given in (folder, reader):
        found = found_counts(decide(given, shards))
        assert [counts[0] for counts in found] == ["m1", "m2"] and found[1:] == expected
    lines = tmp_path / "lines"
    lines.mkdir()
    for name in ("a.ndjson", "_b.ndjson", ".c.ndjson"):
        (lines / name).write_text('{"id":"m1","conversation":"g","at":0}\n')
    assert decide(lines, shards).count() == 1
    (folder / "_delta_log").mkdir()
    with pytest.raises(Error, match='folder: is a table of Delta, .*format."delta"'):
        decide(folder, shards)


class Connect:
    """What a session of Spark Connect gives."""

    __module__ = "pyspark.sql.connect.dataframe"


def test_what_cannot_be_used_is_named(spark, tmp_path):
    members = spark.createDataFrame(MEMBERS)
    shards = prepare(None, members, path=tmp_path / "shards", shards=1)
    message = "SELECT 'm' AS id, 'g' AS conversation, {} AS at"
    for call, kind, words in [
        (lambda: prepare(None, None, path=tmp_path / "no"), TypeError, "users or members are need"),
        (lambda: prepare(None, members, path=tmp_path / "no", shards="2"), TypeError,
         "shards must be an integer, not str"),
        (lambda: decide(Connect(), shards), TypeError, "messages is a DataFrame of Spark Connect"),
        (lambda: decide(7, shards), TypeError, "messages must be a DataFrame .* not int"),
        (lambda: prepare(None, members, path="s3a://b/f"), Error, "name it s3://"),
        (lambda: prepare(None, members, path="gopher://b"), Error, "^gopher://b: "),
        (lambda: decide(spark.sql(message.format("DATE '2024-06-03'")), shards), Error,
         '^messages: "at" is of the type date, which cannot be read; cast it to timestamp$'),
        (lambda: decide(spark.sql(message.format("CAST(1.5 AS DECIMAL(20,2))")), shards), Error,
         r'^messages: "at" is of the type decimal\(20,2\), .*; cast it to bigint$'),
        (lambda: prepare(None, spark.sql("SELECT 'g' conversation, X'61' user"),
                         path=tmp_path / "no"), Error, '"user" is of the type binary'),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            call()
    assert not (tmp_path / "no").exists()


def test_the_command_names_its_own_option(spark, tmp_path, capsys):
    prepare(None, spark.createDataFrame(MEMBERS), path=tmp_path / "shards", shards=1)
    messages = parquet(tmp_path / "m.parquet", [{"id": "m", "conversation": "g", "at": AT}])
    arguments = ["decide", "--shards", tmp_path / "shards", "--messages", messages,
                 "--output", tmp_path / "out"]  # fmt: skip
    assert main(list(map(str, arguments))) == 0
    assert main(list(map(str, arguments))) == 1
    assert "has complete output; give --overwrite to replace it" in capsys.readouterr().err
