"""Files, snapshots and stores."""

from __future__ import annotations

import gzip
import json
import os

import pyarrow
import pyarrow.parquet
import pytest
from worlds_under_test import MESSAGE, MESSAGES, NIGHT, NOON, RECORDS

from push_fanout import Error, Fanout


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def rows(fanout):
    return list(fanout.decide(MESSAGE).rows())


EXPECTED = rows(Fanout.from_ndjson(RECORDS))


def test_settings_come_from_files(tmp_path):
    (tmp_path / "s.ndjson").write_text(lines(RECORDS))
    (tmp_path / "s.ndjson.gz").write_bytes(gzip.compress(lines(RECORDS).encode()))
    assert rows(Fanout.open(tmp_path / "s.ndjson")) == EXPECTED
    assert rows(Fanout.open(str(tmp_path / "s.ndjson.gz"))) == EXPECTED
    (tmp_path / "members.csv").write_text("conversation,user\ng,eve\n")
    fanout = Fanout.open(tmp_path / "s.ndjson", members=tmp_path / "members.csv")
    assert fanout.decide(MESSAGE).members == ["ann", "ben", "cid", "dän", "eve"]
    table = pyarrow.table({"conversation": ["g"], "user": ["eve"]})
    for settings in ("s.ndjson", "s.ndjson.gz"):
        fanout = Fanout.open(tmp_path / settings, members=table)
        assert fanout.decide(MESSAGE).members == ["ann", "ben", "cid", "dän", "eve"]


def test_messages_come_from_files(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    (tmp_path / "m.ndjson").write_text(lines(MESSAGES))
    (tmp_path / "m.ndjson.gz").write_bytes(gzip.compress(lines(MESSAGES).encode()))
    (tmp_path / "m.csv").write_text(
        "id,conversation,at\n"
        + "".join(f"{m['id']},{m['conversation']},{m['at']}\n" for m in MESSAGES)
    )
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(MESSAGES), tmp_path / "m.parquet")
    expected = fanout.decide_batch(MESSAGES).codes.tolist()
    for name in ("m.ndjson", "m.ndjson.gz", "m.csv", "m.parquet"):
        assert fanout.decide_batch(tmp_path / name).codes.tolist() == expected, name
    (tmp_path / "bad.csv").write_text("id,conversation,at\nm,g,soon\n")
    with pytest.raises(Error, match="bad.csv:2: "):
        fanout.messages(tmp_path / "bad.csv")


def test_a_file_that_is_not_there_is_said_in_the_same_words(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    table = pyarrow.table({"id": ["u"]})
    words = set()
    for call in (
        lambda: Fanout.open(tmp_path / "no.ndjson"),
        lambda: Fanout.open(tmp_path / "no.ndjson", users=table),
        lambda: fanout.messages(tmp_path / "no.ndjson"),
        lambda: fanout.messages(tmp_path / "no.parquet"),
        lambda: Fanout.open(users=tmp_path / "no.parquet"),
        lambda: Fanout.open(tmp_path / "no.parquet"),
    ):
        with pytest.raises(Error) as raised:
            call()
        assert raised.value.status == "PF_IO"
        words.add(str(raised.value).replace(".parquet", ".ndjson"))
    assert words == {f"{tmp_path}/no.ndjson: cannot be opened: No such file or directory"}
    with pytest.raises(Error, match="is a directory; name a file"):
        Fanout.open(tmp_path)
    with pytest.raises(Error, match="is a directory; name a file"):
        fanout.messages(tmp_path)
    with pytest.raises(ValueError, match="null byte"):
        Fanout.open("a\0b")
    (tmp_path / "s.ndjson.gz").write_bytes(b"no gzip")
    with pytest.raises(Error, match="s.ndjson.gz: "):
        Fanout.open(tmp_path / "s.ndjson.gz", users=table)


def test_parquet_in_and_out_in_two_lines(tmp_path):
    os.chdir(tmp_path)
    pyarrow.parquet.write_table(
        pyarrow.table({"conversation": ["g", "g"], "user": ["ann", "ben"]}), "members.parquet"
    )
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(MESSAGES), "messages.parquet")
    fanout = Fanout.open(members="members.parquet")
    fanout.decisions("messages.parquet").write_parquet("decisions.parquet")
    assert pyarrow.parquet.read_table("decisions.parquet").num_rows == 16
    # A file that is replaced keeps its mode.
    for mode in (0o600, 0o640, 0o664):
        os.chmod("decisions.parquet", mode)
        fanout.decisions("messages.parquet").write_parquet("decisions.parquet")
        assert os.stat("decisions.parquet").st_mode & 0o777 == mode


def settings_table(records):
    """Records of all kinds in one table, as `pyarrow.json` reads them from a file."""
    import io

    import pyarrow.json

    return pyarrow.json.read_json(io.BytesIO(lines(records).encode()))


@pytest.mark.parametrize("ordered", [True, False])
def test_settings_of_all_kinds_come_from_one_table(tmp_path, ordered):
    records = RECORDS if ordered else [*RECORDS[5:], *RECORDS[:5]]
    path = tmp_path / "world.parquet"
    pyarrow.parquet.write_table(settings_table(records), path)
    expected = Fanout.from_ndjson(records).decide(MESSAGE)
    for source in (path, settings_table(records)):
        found = Fanout.open(source).decide(MESSAGE)
        assert list(found.rows()) == list(expected.rows())
        assert found.members == expected.members
    bad = [*records, {"kind": "member", "conversation": "g", "user": "x", "level": "loud"}]
    pyarrow.parquet.write_table(settings_table(bad), path)
    with pytest.raises(Error) as raised:
        Fanout.open(path)
    assert str(raised.value).startswith(f"{path}:{len(bad)}: ")


def test_a_table_of_settings_needs_kinds(tmp_path):
    with pytest.raises(Error, match='settings: there is no column "kind"'):
        Fanout.open(pyarrow.table({"id": ["u"]}))
    with pytest.raises(Error, match="settings:2: "):
        Fanout.open(pyarrow.table({"kind": ["app", None], "id": [None, "u"]}))
    with pytest.raises(TypeError, match="users are given twice"):
        Fanout.open(pyarrow.table({"kind": ["user"], "id": ["u"]}), users=[{"id": "v"}])
    (tmp_path / "bad.parquet").write_bytes(b"no Parquet")
    with pytest.raises(Error, match="bad.parquet: "):
        Fanout.open(tmp_path / "bad.parquet")


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "users.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [f"u{n}" for n in range(1000)]}), path)
    data = bytearray(path.read_bytes())
    data[4:64] = b"\xff" * 60
    path.write_bytes(data)
    with pytest.raises(Error) as raised:
        Fanout.open(users=path)
    assert str(raised.value).startswith(f"{path}: ")
    with pytest.raises(Error) as raised:
        Fanout.from_ndjson(b"").messages(path)
    assert str(raised.value).startswith(f"{path}: ")


def test_a_failed_write_leaves_nothing(tmp_path):
    decisions = Fanout.from_ndjson(RECORDS).decisions(MESSAGES)
    path = tmp_path / "d.parquet"
    path.write_bytes(b"earlier")
    with pytest.raises(Exception, match="(?i)compression|codec"):
        decisions.write_parquet(path, compression="none such")
    assert path.read_bytes() == b"earlier"
    with pytest.raises(Error, match="no/d.parquet: cannot be written: No such file"):
        decisions.write_parquet(tmp_path / "no" / "d.parquet")
    with pytest.raises(Error, match="is not a regular file"):
        decisions.write_parquet("/dev/null")
    assert [file.name for file in tmp_path.iterdir()] == ["d.parquet"]
    os.symlink("d.parquet", tmp_path / "link.parquet")
    decisions.write_parquet(tmp_path / "link.parquet")
    assert os.path.islink(tmp_path / "link.parquet")
    assert pyarrow.parquet.read_table(path).num_rows == 32


def test_snapshots(tmp_path):
    path = tmp_path / "world.snapshot"
    Fanout.from_ndjson(RECORDS).write_snapshot(path, identity=(1, 2), sequence=7)
    fanout = Fanout.open(snapshot=path, identity=(1, 2))
    assert rows(fanout) == EXPECTED
    assert fanout.snapshot_sequence == 7
    assert rows(fanout.reopen()) == EXPECTED
    with pytest.raises(Error) as raised:
        Fanout.open(snapshot=path, identity=(1, 3))
    assert raised.value.status == "PF_SNAPSHOT"
    for identity in ((1, -1), (1 << 64, 0)):
        with pytest.raises(ValueError, match="a number of identity is out of range"):
            Fanout.open(snapshot=path, identity=identity)
    with pytest.raises(TypeError, match="a number of identity must be an integer"):
        Fanout.open(snapshot=path, identity=("a", "b"))  # type: ignore[arg-type]


def test_settings_from_bytes_cannot_be_opened_again(tmp_path):
    with pytest.raises(Error, match="cannot be opened again") as raised:
        Fanout.from_ndjson(RECORDS).reopen()
    assert raised.value.status == "PF_MISUSE"
    (tmp_path / "s.ndjson").write_text(lines(RECORDS))
    fanout = Fanout.open(tmp_path / "s.ndjson")
    (tmp_path / "s.ndjson").write_text(lines([*RECORDS, {"kind": "user", "id": "eve"}]))
    assert (fanout.user_count, fanout.reopen().user_count) == (4, 5)


def test_a_store_keeps_changes(tmp_path):
    path = tmp_path / "app.store"
    with Fanout.open(store=path, access="create") as fanout:
        fanout.update(lines(RECORDS), now=NOON)
        assert rows(fanout) == EXPECTED
        assert fanout.update({"kind": "user", "id": "ben", "level": "none"}, now=NIGHT) == 1
        assert fanout.decide(MESSAGE).pushes == []
        assert fanout.decide_batch(MESSAGES).pushes.sum() == 0
    del fanout
    with Fanout.open(store=path) as fanout:
        assert fanout.decide(MESSAGE).pushes == []
        assert fanout.decide({**MESSAGE, "ext": {}}).pushes == []
        with pytest.raises(Error) as raised:
            fanout.update({"kind": "user", "id": "eve"})
        assert raised.value.status == "PF_STORE"
    with pytest.raises(Error, match="no.store"):
        Fanout.open(store=tmp_path / "no.store")
    with pytest.raises(ValueError, match='access must be "read", "write" or "create"'):
        Fanout.open(store=path, access="append")  # type: ignore[arg-type]


def test_options_out_of_range():
    with pytest.raises(Error, match="threads must be 0 ... 1024"):
        Fanout.from_ndjson(RECORDS, threads=-1)
    with pytest.raises(Error, match="threads must be 0 ... 1024"):
        Fanout.open(users=[{"id": "u"}], threads=1025)
    with pytest.raises(Error, match="threads must be 0 ... 1024"):
        Fanout.from_ndjson(RECORDS, threads=2**32 + 1)
