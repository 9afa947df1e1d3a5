"""One message, and many, in every form in which they are given and answered."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from worlds_under_test import MESSAGE, MESSAGES, NIGHT, NOON, RECORDS

from push_fanout import OUTCOMES, REGISTRY_VERSION, Change, Error, Fanout, Row

ROWS = [
    Row("ann", "none", "quietHours", "app", ()),
    Row("ben", "push", "allowed", "default", ("p1", "p2")),
    Row("dän", "none", "notMentioned", "app", ()),
]


def opened(threads: int = 1) -> Fanout:
    return Fanout.from_ndjson(RECORDS, threads=threads)


def test_a_decision_has_rows_counts_and_pushes():
    decision = opened().decide(MESSAGE)
    assert list(decision.rows()) == ROWS
    assert decision.pushes == ["ben"]
    assert decision.targets() == [("ben", ("p1", "p2"))]
    assert decision.members == ["ann", "ben", "cid", "dän"]
    assert decision.counts == {
        "none/notMentioned/app": 1,
        "none/quietHours/app": 1,
        "push/allowed/default": 1,
    }
    assert (decision.member_count, decision.recipient_count, decision.push_count) == (4, 3, 1)
    assert repr(decision) == "<Decision: 1 pushes, 3 recipients>"


def test_codes_bits_and_ranks_agree():
    decision = opened().decide(MESSAGE)
    codes = decision.codes
    assert codes.dtype == np.uint8
    assert [OUTCOMES[code] if code else None for code in codes.tolist()] == [
        decision.outcome(user) for user in decision.members
    ]
    assert decision.push_ranks.tolist() == np.flatnonzero(codes & 1).tolist() == [1]
    assert np.unpackbits(decision.push_bitmap, bitorder="little")[:4].tolist() == [0, 1, 0, 0]
    assert decision.user_numbers.tolist() == [0, 1, 2, 3]


# The same message: a dictionary that is decided at once, and those that are read as NDJSON.
FORMS = [
    MESSAGE,
    {**MESSAGE, "body": "text"},
    {**MESSAGE, "ext": {}},
    {**MESSAGE, "at": "2024-06-03T23:00:00+08:00"},
    {**MESSAGE, "at": datetime(2024, 6, 3, 15, tzinfo=timezone.utc)},
    {**MESSAGE, "mentions": None, "mentionsAll": None, "silent": None, "reply": None},
    {**MESSAGE, "mentions": []},
    {**MESSAGE, "mentions": [f"nobody{number}" for number in range(40)]},
]


@pytest.mark.parametrize("message", FORMS, ids=range(len(FORMS)))
def test_every_form_of_a_message_is_decided_alike(message):
    assert list(opened().decide(message).rows()) == ROWS


def test_mentions_and_flags_are_read():
    fanout = opened()
    assert fanout.decide({**MESSAGE, "mentions": ["dän"]}).pushes == ["ben", "dän"]
    assert fanout.decide({**MESSAGE, "mentions": ("dän",)}).pushes == ["ben", "dän"]
    assert fanout.decide({**MESSAGE, "mentionsAll": True}).pushes == ["ben", "dän"]
    many = [f"nobody{number}" for number in range(40)] + ["dän"]
    assert fanout.decide({**MESSAGE, "mentions": many}).pushes == ["ben", "dän"]
    assert fanout.decide({**MESSAGE, "silent": True}).pushes == []
    assert fanout.decide({**MESSAGE, "silent": False}).pushes == ["ben"]
    assert fanout.decide({**MESSAGE, "sender": None}).recipient_count == 4
    assert fanout.decide({**MESSAGE, "conversation": "unknown"}).counts == {}


BAD = [
    ({}, "id"),
    ({**MESSAGE, "at": -1}, "at"),
    ({**MESSAGE, "at": True}, "at"),
    ({**MESSAGE, "at": 1 << 70}, ""),
    ({**MESSAGE, "sender": 1.5}, "sender"),
    ({**MESSAGE, "id": ""}, "id"),
    ({**MESSAGE, "mentions": [""]}, "mentions"),
    ({**MESSAGE, "mentions": "dän"}, "mentions"),
    ({**MESSAGE, "silent": 1}, "silent"),
    ({**MESSAGE, "levle": 1}, 'unknown field "levle"'),
    ({**MESSAGE, "channel": "c"}, "channel"),
    ({**MESSAGE, "sender": "\ud800"}, ""),
]


@pytest.mark.parametrize("message, words", BAD, ids=range(len(BAD)))
def test_a_bad_message_is_refused_in_the_words_of_the_reader(message, words):
    fanout = opened()
    with pytest.raises(Error) as raised:
        fanout.decide(message)
    assert raised.value.status == "PF_INVALID"
    assert str(raised.value).startswith("messages.ndjson:1: ")
    assert words in str(raised.value)
    if "\\ud800" not in repr(message):
        with pytest.raises(Error) as again:
            fanout.messages(json.dumps(message).encode())
        assert str(again.value) == str(raised.value)
    assert fanout.decide(MESSAGE).pushes == ["ben"]


def test_what_is_no_message_is_a_type_error():
    for message in (None, "m", 1, [MESSAGE]):
        with pytest.raises(TypeError):
            opened().decide(message)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot have a value of type object"):
        opened().decide({**MESSAGE, "ext": object()})
    with pytest.raises(ValueError, match="no time zone"):
        opened().decide({**MESSAGE, "at": datetime(2024, 6, 3)})


def test_a_decision_stays_as_it_was():
    fanout = opened()
    before = fanout.decide(MESSAGE)
    stamp = before.stamp
    assert stamp[:2] == (fanout.epoch, 1)
    assert fanout.update([{"kind": "user", "id": "ben", "level": "none"}], now=NOON) == 1
    assert fanout.update({"kind": "member", "conversation": "g", "user": "eve"}) == 1
    after = fanout.decide(MESSAGE)
    assert (before.pushes, after.pushes) == (["ben"], ["eve"])
    assert (before.stamp, after.stamp.epoch, after.stamp.sequence) == (stamp, stamp.epoch, 3)
    assert after.stamp.membership != stamp.membership
    assert before.members == ["ann", "ben", "cid", "dän"]
    fanout.remove_member("eve", "g", now=NOON)
    assert fanout.decide(MESSAGE).pushes == []
    del fanout
    assert before.pushes == ["ben"]


def test_equal_memberships_have_equal_stamps():
    fanout = opened()
    first = fanout.decide(MESSAGE).stamp
    fanout.update({"kind": "user", "id": "ben", "level": "none"})
    second = fanout.decide(MESSAGE).stamp
    assert (second.epoch, second.membership) == (first.epoch, first.membership)
    assert second.sequence == first.sequence + 1
    members, stamp = fanout.members("g")
    assert (members, stamp.membership) == (["ann", "ben", "cid", "dän"], first.membership)
    assert opened().epoch != fanout.epoch


def test_changes_are_made_all_or_none():
    fanout = opened()
    with pytest.raises(Error, match="unknown field") as raised:
        fanout.update(
            b'{"kind":"user","id":"ben","level":"none"}\n{"kind":"user","id":"x","a":1}\n'
        )
    assert ":2: " in str(raised.value)
    assert fanout.decide(MESSAGE).pushes == ["ben"]
    with pytest.raises(Error) as raised:
        fanout.remove_member("nobody", "g")
    assert raised.value.status == "PF_NOT_FOUND"


def test_batches_are_the_decisions_of_each_message():
    fanout = opened(threads=2)
    single = [fanout.decide(message) for message in MESSAGES]
    batch = fanout.decide_batch(MESSAGES, parts=("counts", "codes", "bitmaps"))
    assert len(batch) == len(batch.messages) == 12
    assert [batch.codes_of(index).tolist() for index in range(12)] == [
        decision.codes.tolist() for decision in single
    ]
    assert [batch.push_bitmap_of(index).tolist() for index in range(12)] == [
        decision.push_bitmap.tolist() for decision in single
    ]
    assert [batch.stamp(index) for index in range(12)] == [decision.stamp for decision in single]
    assert batch.recipients.tolist() == [decision.recipient_count for decision in single]
    assert batch.pushes.tolist() == [decision.push_count for decision in single]
    columns = batch.counts_columns()
    found: list[dict[str, int]] = [{} for _ in MESSAGES]
    for message, code, count in zip(columns["message"], columns["code"], columns["count"]):
        found[message][OUTCOMES[int(code)].key] = int(count)
    assert [dict(sorted(counts.items())) for counts in found] == [
        decision.counts for decision in single
    ]
    messages = fanout.messages(MESSAGES)
    assert fanout.decide_batch(messages, parts=()).pushes.tolist() == batch.pushes.tolist()
    for first, count in ((0, 12), (3, 4), (12, 0), (5, None)):
        some = fanout.decide_batch(messages, first=first, count=count)
        numbers = range(12)[first:][:count]
        assert len(some) == len(numbers)
        assert some.pushes.tolist() == batch.pushes[first:][:count].tolist()
    with pytest.raises(Error, match="messages 3 and 10 more, but there are 12"):
        fanout.decide_batch(messages, first=3, count=10)
    with pytest.raises(ValueError, match="first is out of range"):
        fanout.decide_batch(messages, first=-1)


def test_arrays_are_the_memory_of_the_batch():
    batch = opened().decide_batch(MESSAGES, parts=("counts", "codes", "bitmaps"))
    inner = batch._batch
    arrays = [batch.codes, batch.code_starts, batch.counts, batch.push_bitmaps, batch.summaries]
    assert [array.ctypes.data for array in arrays] == [
        inner.codes, inner.code_starts, inner.counts, inner.bitmaps, inner.summaries
    ]  # fmt: skip
    assert batch.codes_of(1).ctypes.data == inner.codes + 4
    codes = batch.codes
    expected = codes.tolist()
    del batch, arrays, inner
    assert codes.tolist() == expected
    with pytest.raises(ValueError, match="read-only"):
        codes[0] = 1


def test_a_batch_says_what_it_was_decided_without():
    batch = opened().decide_batch(MESSAGES, parts=())
    with pytest.raises(ValueError, match='decided without "counts"'):
        batch.counts
    with pytest.raises(ValueError, match='decided without "codes"'):
        batch.codes
    with pytest.raises(ValueError, match='a part is "counts", "codes" or "bitmaps", not \'rows\''):
        opened().decide_batch(MESSAGES, parts=["rows"])  # type: ignore[list-item]
    with pytest.raises(IndexError, match="message 12, but there are 12"):
        opened().decide_batch(MESSAGES).codes_of(12)


def test_messages_are_read_once_and_know_their_ids():
    messages = opened().messages(MESSAGES)
    assert [info.id for info in messages] == [message["id"] for message in MESSAGES]
    assert messages[-1] == ("m11", "none", NIGHT + 11)
    assert messages.columns()["at"] == [NIGHT + number for number in range(12)]
    assert messages.columns()["message"] == list(range(12))
    assert pa.table(messages).to_pydict() == messages.columns()


def test_evaluate_writes_what_the_command_writes():
    evaluated = opened().evaluate([MESSAGE], "counts")
    assert evaluated.stamp.sequence == 1 and evaluated.stamp.epoch > 0
    line = json.loads(evaluated)
    assert line == {
        "message": "m", "conversation": "g", "recipients": 3,
        "counts": opened().decide(MESSAGE).counts,
    }  # fmt: skip
    with pytest.raises(Error):
        opened().evaluate([MESSAGE], "xml")  # type: ignore[arg-type]


def test_explanations_and_next_changes():
    fanout = opened()
    explained = fanout.explain(MESSAGE, "ann")
    assert explained["decision"] == {"action": "none", "reason": "quietHours", "scope": "app"}
    assert fanout.explain(MESSAGE, "ben", content=True)["content"]
    lines = repr(explained).splitlines()
    assert lines[0] == explained["answer"] and lines[-1] == "none/quietHours/app"
    assert [line.split()[:3] for line in lines if line.startswith("STOP")] == [
        ["STOP", "quiet", "hours"]
    ]
    assert any(line.startswith("Would push: from ") for line in lines)
    change = fanout.next_change("ann", "g", NIGHT)
    assert explained["stamp"] == {"epoch": fanout.epoch, "sequence": 1}
    assert change.stamp == (fanout.epoch, 1, 0)
    assert change == Change(NIGHT + 9 * 3_600_000, change.before, change.after, change.stamp)
    assert change.before and change.before.key == "none/quietHours/app"
    assert change.after and change.after.key == "push/allowed/default"
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=NIGHT)
    assert fanout.next_change("ann", "g", moment) == change
    never = fanout.next_change("ben", "g", NIGHT)
    assert never.at is None and never.before == never.after
    with pytest.raises(Error) as raised:
        fanout.next_change("nobody", "g", NIGHT)
    assert raised.value.status == "PF_NOT_FOUND"
    with pytest.raises(Error, match="after is -1"):
        fanout.next_change("ann", "g", -1)


def test_ultra_groups_have_channels():
    fanout = Fanout.from_ndjson(
        [
            {"kind": "app", "rules": "rongcloud"},
            {"kind": "conversation", "id": "u", "type": "ultraGroup", "channels": {"c": "none"}},
            {"kind": "member", "conversation": "u", "user": "ann"},
        ]
    )
    assert fanout.rules == "rongcloud"
    message = {"id": "m", "conversation": "u", "at": NOON, "channel": "c"}
    assert fanout.decide(message).counts == {"none/levelNone/channelDefault": 1}
    change = fanout.next_change("ann", "u", NOON, channel="c")
    assert change.before and change.before.scope == "channelDefault"


def test_the_state_of_an_engine():
    fanout = opened(threads=3)
    assert (fanout.threads, fanout.user_count, fanout.sequence) == (3, 4, 1)
    assert repr(fanout) == "<Fanout: easemob, 4 users, sequence 1>"
    memory = fanout.memory()
    assert (memory["user_count"], memory["membership_count"]) == (4, 4)
    fanout.advance(NOON)
    fanout.warm_up("g", NOON)
    assert REGISTRY_VERSION == len(OUTCOMES) == 95


def test_a_closed_engine_is_refused_and_its_answers_stay():
    with opened() as fanout:
        decision = fanout.decide(MESSAGE)
        batch = fanout.decide_batch(MESSAGES)
        decisions = fanout.decisions(MESSAGES)
    assert repr(fanout) == "<Fanout: closed>"
    for call in (
        lambda: fanout.decide(MESSAGE),
        lambda: fanout.sequence,
        lambda: fanout.update(b""),
        lambda: fanout.reopen(),
        lambda: fanout.messages(MESSAGES),
    ):
        with pytest.raises(ValueError, match="the engine is closed"):
            call()
    fanout.close()
    import pyarrow

    assert decision.pushes == ["ben"]
    assert pyarrow.table(decisions).num_rows == int(batch.recipients.sum())


def test_messages_of_another_engine_are_refused():
    with pytest.raises(Error) as raised:
        opened().decide_batch(opened().messages(MESSAGES))
    assert raised.value.status == "PF_MISUSE"


def test_objects_are_made_by_engines_only():
    decision = opened().decide(MESSAGE)
    with pytest.raises(TypeError):
        Fanout()
    with pytest.raises(TypeError):
        type(decision)()
    with pytest.raises(TypeError):
        pickle.dumps(decision)
    for made in (opened().messages(MESSAGES), opened().decide_batch(MESSAGES)):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copy.deepcopy(made)


def test_threads_decide_while_one_updates():
    fanout = opened(threads=2)
    errors: list[BaseException] = []

    def decide() -> None:
        try:
            for _ in range(300):
                decision = fanout.decide(MESSAGE)
                assert decision.pushes in (["ben"], [])
                assert len(decision.codes) == decision.member_count == 4
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=decide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(300):
        fanout.update({"kind": "user", "id": "ben", "level": ("none", "all")[number % 2]})
    for thread in threads:
        thread.join()
    assert errors == []
    assert fanout.sequence == 301
