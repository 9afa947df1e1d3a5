"""Files with one defect are refused at their line, in the words of the command.

PUSH_DEFECTS=1100 tries so many, PUSH_SEED=n begins with another seed; PUSH_FANOUT_COMMAND is the
program whose words are compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from worlds_under_test import COMMAND, ORACLE

from push_fanout import Error, Fanout

FIRST = int(os.environ.get("PUSH_SEED", "0"))
COUNT = int(os.environ.get("PUSH_DEFECTS", "60"))


def words_of(call):
    try:
        call()
    except Error as error:
        assert error.status in ("PF_INVALID", "PF_REFUSED")
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_a_defect_is_named_where_it_is(tmp_path, seed):
    subprocess.run(
        [sys.executable, os.path.join(ORACLE, "fuzz_bad.py"), "--out", str(tmp_path), "--seed",
         str(seed), "--debatable"], check=True, capture_output=True,
    )  # fmt: skip
    expected = json.loads((tmp_path / "expect.json").read_text())
    settings, messages = tmp_path / "settings.ndjson", tmp_path / "messages.ndjson"

    def from_files():
        Fanout.open(settings, threads=1).decide_batch(messages)

    def from_bytes():
        Fanout.from_ndjson(settings.read_bytes()).decide_batch(messages.read_bytes())

    files, from_memory = words_of(from_files), words_of(from_bytes)
    if expected.get("ok"):
        assert (files, from_memory) == (None, None), expected["what"]
    else:
        place = f"{expected['file']}:{expected['line']}: "
        assert files is not None and files.startswith(f"{tmp_path}/{place}"), expected["what"]
        assert from_memory == files.removeprefix(f"{tmp_path}/")
    done = subprocess.run(
        [COMMAND, "evaluate", "--settings", settings, "--messages", messages,
         "--format", "summary"], capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode == 0) == bool(expected.get("ok"))
    assert done.stderr.rstrip("\n") == (files or done.stderr.rstrip("\n"))
