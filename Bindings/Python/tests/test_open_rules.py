"""What messages have under open rules alone, from every source: a text, roles, and whom they
answer."""

from __future__ import annotations

import json

import pandas
import polars
import pyarrow
import pytest
from test_sources import SOURCE_ROWS, SOURCES, lines
from worlds_under_test import NOON, OPEN_RECORDS, RECORDS, SAID
from worlds_under_test import OPEN_MESSAGES as MESSAGES
from worlds_under_test import OPEN_PUSHES as PUSHES

import push_fanout
from push_fanout import Error, Fanout

NDJSON = lines(MESSAGES).encode()
KINDS = [
    row[0] for row in SOURCE_ROWS
    if row[3] == "read" and row[0] not in ("the path of a CSV file", "chunks of `pandas.read_csv`")
]  # fmt: skip


@pytest.fixture(name="fanout")
def fixture_fanout():
    return Fanout.from_ndjson(OPEN_RECORDS, threads=1)


def test_the_engine_says_by_which_rules_it_decides(fanout):
    assert fanout.rules == "open"
    assert repr(fanout) == "<Fanout: open, 4 users, sequence 1>"


def test_lines_are_decided_as_the_rules_say(fanout):
    rows = [json.loads(line)["push"] for line in fanout.evaluate(NDJSON, "pushlist").splitlines()]
    assert rows == PUSHES


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_has_the_fields(fanout, tmp_path, kind):
    make = SOURCES[kind]
    messages = fanout.messages(make(tmp_path, MESSAGES))
    assert [info.id for info in messages] == [message["id"] for message in MESSAGES]
    batch = fanout.decide_batch(messages)
    assert batch.codes.tolist() == fanout.decide_batch(NDJSON).codes.tolist()
    (tmp_path / "again").mkdir()
    found = fanout.evaluate(make(tmp_path / "again", MESSAGES), devices=True)
    assert found == fanout.evaluate(NDJSON, devices=True)


@pytest.mark.parametrize("number", range(len(MESSAGES)))
def test_a_dictionary_is_decided_as_its_line(fanout, number):
    form = MESSAGES[number]
    present = {name: value for name, value in form.items() if value is not None}
    # The last is written as JSON.
    for given in (form, present, {**form, "body": "text"}):
        assert fanout.decide(given).pushes == PUSHES[number]
    codes = fanout.decide_batch(lines([form]).encode()).codes.tolist()
    assert fanout.decide(form).codes.tolist() == codes
    # A field that is gone has no effect on the next.
    assert fanout.decide(MESSAGES[5]).pushes == []


def test_the_author_may_be_an_integer_and_roles_a_tuple(fanout):
    replies = {**MESSAGES[2], "replyToUser": 7}
    assert fanout.decide(replies).pushes == ["7"]
    assert fanout.decide({**replies, "body": "text"}).pushes == ["7"]
    assert fanout.decide({**MESSAGES[1], "mentionsRoles": ("ops",)}).pushes == ["ben"]
    for table in (pyarrow.Table, polars.DataFrame, pandas.DataFrame):
        make = getattr(table, "from_pylist", table)
        assert fanout.decide_batch(make([replies])).pushes.tolist() == [1]


@pytest.mark.parametrize("make", [pyarrow.Table.from_pylist, polars.DataFrame, list])
def test_senders_of_users_may_be_integers(make):
    users = make([{"id": 1, "level": ["sender"], "importantSenders": [8], "blockedSenders": [9]}])
    members = make([{"conversation": 5, "user": user} for user in (1, 2)])
    settings = b'{"kind":"app","rules":"open","level":"all"}'
    if make is list:
        fanout = Fanout.from_ndjson(settings)
        fanout.update([{"kind": "user", **users[0]}])
        fanout.update([{"kind": "member", **member} for member in members])
    else:
        fanout = Fanout.open(settings, users=users, members=members)
    for sender, pushes in ((7, ["2"]), (8, ["1", "2"]), (9, ["2"])):
        message = {"id": 0, "conversation": 5, "sender": sender, "at": NOON}
        assert fanout.decide(message).pushes == pushes
    assert fanout.decide({**message, "force": True}).counts["none/senderBlocked"] == 1


BAD = [
    ({"mentionsRoles": ["r"] * 9}, '"mentionsRoles": 9 roles; at most 8 are allowed'),
    ({"mentions": ["u"] * 10_001}, '"mentions": 10001 mentioned users; at most 10000 are allowed'),
    ({"mentionsRoles": [""]}, '"mentionsRoles" must not be empty'),
    ({"mentionsRoles": "ops"}, '"mentionsRoles" must be an array of strings'),
    ({"mentionsRoles": [7]}, '"mentionsRoles" must be an array of strings'),
    ({"replyToUser": ""}, '"replyToUser" must not be empty'),
    ({"replyToUser": 1.5}, '"replyToUser" must be a string'),
    ({"text": 7}, '"text" must be a string'),
]


@pytest.mark.parametrize(("fields", "words"), BAD, ids=range(len(BAD)))
def test_what_is_refused_is_named_with_its_column_and_row(fanout, fields, words):
    bad = {**MESSAGES[5], **fields}
    with pytest.raises(Error) as raised:
        fanout.decide(bad)
    assert str(raised.value) == f"messages.ndjson:1: {words}"
    rows = [{**MESSAGES[5], **dict.fromkeys(fields)}, bad]
    for source, name in ((rows, "messages.ndjson"), (pyarrow.Table.from_pylist(rows), "messages")):
        with pytest.raises(Error) as raised:
            fanout.messages(source)
        assert str(raised.value) == f"{name}:2: {words}"
    assert fanout.decide(MESSAGES[0]).pushes == ["ann"]


def test_a_column_that_cannot_be_read_is_named_with_what_to_give(fanout):
    table = pyarrow.table({"id": ["m"], "conversation": ["team"], "at": [NOON]})
    for name, column, words in [
        ("text", pyarrow.array([b"tea"]), '"text" is of the type binary, .*; cast it to text$'),
        ("mentionsRoles", pyarrow.array([[("ops", 1)]], pyarrow.map_("utf8", "int64")),
         '"mentionsRoles" is of the type map'),
    ]:  # fmt: skip
        with pytest.raises(Error, match=f"^messages: {words}"):
            fanout.messages(table.append_column(name, column))


def test_a_vendor_takes_a_text_and_none_of_the_others():
    """As `push-fanout evaluate` does."""
    fanout = Fanout.from_ndjson(RECORDS)
    plain = {"id": "m", "conversation": "g", "at": NOON}
    pushes = fanout.decide(plain).pushes
    assert len(pushes) > 0
    for form in ({**plain, "text": SAID}, {**plain, "text": SAID, "mentionsRoles": None}):
        assert fanout.decide(form).pushes == pushes
        for source in (lines([form]).encode(), polars.DataFrame([form]), pandas.DataFrame([form])):
            assert fanout.decide_batch(source).pushes.tolist() == [len(pushes)]
    for name, value in (("mentionsRoles", ["ops"]), ("replyToUser", "ann")):
        words = f'1: "{name}" belongs to open, but the rules are easemob'
        with pytest.raises(Error) as raised:
            fanout.decide({**plain, name: value})
        assert str(raised.value) == f"messages.ndjson:{words}"
        with pytest.raises(Error) as raised:
            fanout.messages(pyarrow.Table.from_pylist([{**plain, name: value}]))
        assert str(raised.value) == f"messages:{words}"


BEATS = [
    {"user": "ann", "device": "default", "state": "foreground", "seenAt": 5000},
    {"user": "ann", "device": "phone", "state": "foreground", "seenAt": 6000},
]
TWO = (
    b'{"kind":"app","rules":"open"}\n{"kind":"member","conversation":"g","user":"ann"}\n'
    b'{"kind":"member","conversation":"g","user":"ben"}'
)


def pushes(fanout, at):
    return fanout.decide({"id": "m", "conversation": "g", "at": at}).pushes


def test_heartbeats_decide_until_they_are_stale():
    fanout = Fanout.from_ndjson(TWO)
    assert fanout.set_presence(BEATS[0]) == 1
    assert pushes(fanout, 95_000) == ["ben"]
    assert pushes(fanout, 95_001) == ["ann", "ben"]
    assert fanout.set_presence(pyarrow.Table.from_pylist([{**BEATS[0], "seenAt": 90_000}])) == 1
    assert pushes(fanout, 95_001) == ["ben"]
    assert fanout.set_presence(b"") == 0


def test_a_wrong_heartbeat_is_named_and_the_others_count():
    fanout = Fanout.from_ndjson(TWO)
    with pytest.raises(Error, match='presence.ndjson:2: the user "ann" has no device "phone"'):
        fanout.set_presence(BEATS)
    assert pushes(fanout, 5000) == ["ben"]
    with pytest.raises(Error, match='the rules "easemob" have no heartbeats'):
        Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"a"}').set_presence(BEATS)


def test_a_replay_has_heartbeats():
    fanout = Fanout.from_ndjson(TWO)
    messages = [{"id": f"m{at}", "conversation": "g", "at": at} for at in (4999, 5000, 95_001)]
    result = push_fanout.replay(fanout, messages, presence=BEATS[:1])
    assert (result["pushes"], result["presenceRows"]) == (5, 1)
    with pytest.raises(Error, match='has no device "phone"'):
        push_fanout.replay(fanout, messages, presence=BEATS)
    # The engine itself heard of none.
    assert pushes(fanout, 5000) == ["ann", "ben"]
