"""`python -m push_fanout evaluate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest
from test_files import lines, settings_table
from worlds_under_test import MESSAGES, NIGHT, RECORDS

from push_fanout import REGISTRY_VERSION, Fanout


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    pyarrow.parquet.write_table(settings_table(RECORDS), tmp_path / "world.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(MESSAGES), tmp_path / "m.parquet")
    (tmp_path / "world.ndjson").write_text(lines(RECORDS))
    (tmp_path / "m.ndjson").write_text(lines(MESSAGES))
    return tmp_path


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "push_fanout", *arguments], cwd=folder, capture_output=True,
        text=True,
    )  # fmt: skip


def evaluate(folder, *arguments):
    done = run(folder, "evaluate", "--output", "o.parquet", *arguments)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("12 messages, ")
    assert not [file for file in os.listdir(folder) if file.endswith(".part")]
    return pyarrow.parquet.read_table(folder / "o.parquet")


def expected(form):
    text = Fanout.from_ndjson(RECORDS).evaluate(MESSAGES, form)
    return [json.loads(line) for line in text.splitlines()]


WORLD = ("--settings", "world.parquet", "--messages", "m.parquet")


@pytest.mark.parametrize("settings", ["world.parquet", "world.ndjson"])
@pytest.mark.parametrize("messages", ["m.parquet", "m.ndjson"])
def test_rows_are_those_of_the_command(folder, settings, messages):
    table = evaluate(folder, "--settings", settings, "--messages", messages)
    rows = [
        {name: value for name, value in row.items() if value is not None and name != "code"}
        for row in table.to_pylist()
    ]
    assert rows == expected("ndjson")
    assert table.schema.metadata[b"push_fanout.outcomes"] == str(REGISTRY_VERSION).encode()


def test_users_and_members_come_from_files_of_their_own(folder):
    members = [record for record in RECORDS if record["kind"] == "member"]
    table = pyarrow.Table.from_pylist(
        [{k: v for k, v in r.items() if k != "kind"} for r in members]
    )
    pyarrow.parquet.write_table(table, folder / "members.parquet")
    users = pyarrow.table({"id": ["ann", "ben"], "level": ["none", "all"]})
    pyarrow.parquet.write_table(users, folder / "users.parquet")
    table = evaluate(
        folder, "--users", "users.parquet", "--members", "members.parquet", "--messages",
        "m.parquet", "--threads", "1",
    )  # fmt: skip
    assert table["reason"].to_pylist()[:4] == ["levelNone", "allowed", "allowed", "allowed"]


def test_numbers_go_with_their_users(folder):
    table = evaluate(
        folder, *WORLD, "--format", "numbers", "--output-users", "u.parquet", "--compression",
        "none",
    )  # fmt: skip
    users = pyarrow.parquet.read_table(folder / "u.parquet")
    assert users["id"].to_pylist() == ["ann", "ben", "cid", "dän"]
    assert users.schema.metadata == table.schema.metadata
    assert table == pyarrow.table(Fanout.from_ndjson(RECORDS).decisions(MESSAGES)).cast(
        table.schema
    )


def test_counts_and_lists_are_those_of_the_command(folder):
    found = {row["message"]: {} for row in expected("counts")}
    for row in evaluate(folder, *WORLD, "--format", "counts").to_pylist():
        key = "/".join(row[name] for name in ("action", "reason", "scope") if row[name])
        found[row["message"]][key] = row["count"]
    assert found == {row["message"]: row["counts"] for row in expected("counts")}
    table = evaluate(folder, *WORLD, "--format", "pushlist")
    assert table.to_pylist() == expected("pushlist")


def test_pieces_of_messages_make_one_file(folder, monkeypatch, tmp_path):
    import argparse

    from push_fanout import evaluating

    monkeypatch.setattr(evaluating, "MESSAGES_AT_ONCE", 5)
    options = argparse.Namespace(
        settings=folder / "world.ndjson", users=None, members=None, threads=2,
        messages=folder / "m.ndjson", output=tmp_path / "p.parquet", compression="zstd",
        output_users=None, format="pushlist", unknown_zones="refuse",
    )  # fmt: skip
    assert "12 messages, 12 rows" in evaluating.evaluate(options)
    assert pyarrow.parquet.read_table(options.output).to_pylist() == expected("pushlist")
    options.format = "counts"
    evaluating.evaluate(options)
    counts = pyarrow.parquet.read_table(options.output)["count"].to_pylist()
    assert sum(counts) == sum(row["recipients"] for row in expected("counts"))


def test_a_problem_is_one_line_and_leaves_no_output(folder):
    (folder / "bad.ndjson").write_text('{"kind":"user","id":"u","levle":1}\n')
    bad = pyarrow.table({"id": ["m1", "m2"], "conversation": ["g", None], "at": [NIGHT, NIGHT]})
    pyarrow.parquet.write_table(bad, folder / "bad.parquet")
    (folder / "broken.parquet").write_bytes(b"PAR1 broken PAR1")
    before = sorted(os.listdir(folder))
    for arguments, words in [
        (("--settings", "bad.ndjson", "--messages", "m.parquet"),
         'bad.ndjson:1: unknown field "levle"'),
        (("--settings", "world.parquet", "--messages", "bad.parquet"), "bad.parquet:2: "),
        (("--settings", "no.parquet", "--messages", "m.parquet"),
         "no.parquet: cannot be opened: No such file or directory"),
        (("--settings", "world.parquet", "--messages", "broken.parquet"), "broken.parquet: "),
        ((*WORLD, "--threads", "-1"), "threads must be 0 ... 1024"),
    ]:  # fmt: skip
        done = run(folder, "evaluate", *arguments, "--output", "o.parquet")
        assert (done.returncode, done.stdout) == (1, ""), done
        assert done.stderr.startswith(words) and done.stderr.count("\n") == 1, done.stderr
    done = run(folder, "evaluate", *WORLD, "--output", "none/o.parquet")
    assert done.returncode == 1 and "none/o.parquet: cannot be written: No such" in done.stderr
    assert sorted(os.listdir(folder)) == before


def test_wrong_usage_is_two_lines(folder):
    for arguments, words in [
        ((), "the following arguments are required: COMMAND"),
        (("evaluate",), "required: --messages, --output"),
        (("evaluate", "--messages", "m.parquet", "--output", "o.parquet"), "give --settings"),
        (("evaluate", *WORLD, "--output", "o.csv"), "--output must end in .parquet"),
        (("evaluate", *WORLD, "--output", "world.parquet"), "is the same file as world.parquet"),
        (("evaluate", *WORLD, "--output", "o.parquet", "--format", "x"), "invalid choice"),
        (("evaluate", *WORLD, "--output", "o.parquet", "--output-users", "u.parquet"),
         "--output-users is only for --format numbers"),
    ]:  # fmt: skip
        done = run(folder, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        first, second = done.stderr.rstrip("\n").split("\n")
        assert first.startswith("Error: ") and words in first, done.stderr
        assert second.startswith("See 'python -m push_fanout") and "--help" in second
    assert pyarrow.parquet.read_table(folder / "world.parquet").num_rows == len(RECORDS)


def test_help_has_examples(folder):
    done = run(folder, "evaluate", "--help")
    assert done.returncode == 0
    for words in (
        "--settings world.parquet --messages m.parquet --output o.parquet",
        "exit status",
    ):
        assert words in done.stdout


def test_an_interruption_leaves_no_output(folder):
    os.mkfifo(folder / "slow.ndjson")
    command = subprocess.Popen(
        [sys.executable, "-m", "push_fanout", "evaluate", "--settings", "world.parquet",
         "--messages", "slow.ndjson", "--output", "o.parquet"],
        cwd=folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with open(folder / "slow.ndjson", "w", encoding="utf-8"):
        # It has opened the messages, and waits for them.
        command.send_signal(signal.SIGINT)
    errors = command.communicate(timeout=120)[1]
    assert command.returncode == 130
    assert errors == "push_fanout: interrupted; no output was written\n"
    assert not (folder / "o.parquet").exists()
