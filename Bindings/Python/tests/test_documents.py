"""docs/bring-your-own-data.md: its statements of DuckDB make files that are decided as it says.
docs/test.md: its test of pytest holds for a chat that `push-fanout init` has made.

PUSH_FANOUT_COMMAND is the push-fanout that runs its commands, or else the one that `make demo`
built.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections import Counter

import duckdb
import pytest
from worlds_under_test import COMMAND, ROOT

from push_fanout import Fanout

PAGE = "docs/bring-your-own-data.md"


def blocks_of_the_page(page=PAGE):
    """The language and the text of each block, in their order."""
    parts = pathlib.Path(ROOT, page).read_text(encoding="utf-8").split("\n```")[1:]
    return [part.split("\n", 1) for part in parts if part.split("\n", 1)[0]]


def test_what_the_statements_write_is_decided(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of_the_page()
    assert [language for language, _ in blocks].count("sql") == 5
    for language, text in blocks:
        if language == "sql":
            duckdb.connect().execute(text)
        elif language == "sh" and "push-fanout" not in text:
            subprocess.run(["bash", "-euc", text], check=True)
    fanout = Fanout.open("app.ndjson", users="users.csv", members="members.csv")
    messages = pathlib.Path("messages.csv").read_text().splitlines()[1:]
    pushes = dict(
        zip((row.split(",")[0] for row in messages), fanout.decide_batch("messages.csv").pushes)
    )
    rows = next(text for language, text in blocks if language == "text").splitlines()[1:]
    shown = Counter(row.split(",")[0] for row in rows if row.split(",")[2] == "push")
    assert shown.total() > 0
    assert pushes == {message: shown[message] for message in pushes}
    # The quiet hours of Shanghai stop the message of 23:30, and the mention passes the level.
    assert pushes == {"1002": 3, "1001": 1, "1003": 2}
    from_writers = Fanout.open(members="writers.csv").decide_batch("messages.csv")
    assert from_writers.pushes.tolist() == [1, 1, 1]


def test_the_page_is_true():
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "scripts", "docs-examples"), COMMAND, PAGE],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("rules", ["easemob", "rongcloud", "open"])
def test_expectations_are_tests(rules, tmp_path):
    subprocess.run([COMMAND, "init", "-q", "--rules", rules, tmp_path / "chat"], check=True)
    blocks = dict(blocks_of_the_page("docs/test.md"))
    (tmp_path / "chat" / "test_settings.py").write_text(blocks["python"])

    def run():
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=tmp_path / "chat", capture_output=True, text=True,
        )  # fmt: skip

    done = run()
    assert done.returncode == 0, done.stdout
    settings = tmp_path / "chat" / "settings.ndjson"
    settings.write_text(settings.read_text().replace('"state":"foreground"', '"state":"offline"'))
    done = run()
    assert done.returncode == 1
    assert "1 failed" in done.stdout
