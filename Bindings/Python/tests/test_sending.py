"""Requests, and what answers of providers mean: the published cases, and what Python adds."""

from __future__ import annotations

import copy
import json
from datetime import datetime, timezone

import polars
import pytest
from test_worlds import worlds

from push_fanout import Error, Fanout, Messages, read_provider_answer

CASES = worlds.request_cases()
SETTINGS = b"""
{"kind":"user","id":"ann","devices":[{"id":"p","platform":"apns","token":"ab12"},{"id":"a","platform":"fcm","token":"T"}]}
{"kind":"member","conversation":"g","user":"ann"}
"""
SENDERS = [
    {"kind": "sender", "platform": "apns", "topic": "t"},
    {"kind": "sender", "platform": "fcm", "project": "p"},
]
MESSAGE = {"id": "m", "conversation": "g", "at": 1717387200000}


class Engine:
    """What worlds.py asks of an engine."""

    def __init__(self, settings: bytes, threads: int) -> None:
        self.fanout = Fanout.from_ndjson(settings, threads=threads)

    def close(self) -> None:
        self.fanout.close()

    def requests(self, messages, senders, templates, platforms, shares):
        found = self.fanout.requests(
            messages, senders, platform=platforms, share_bodies=shares, templates=templates or None
        )
        return b"".join(found.chunks())


def test_there_are_cases():
    assert [len([case for case in CASES if name in case]) for name in ("expect", "refused")] == [
        46,
        9,
    ]
    assert sum(len(case.get("answers", [])) for case in CASES) == 32


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_as_expected(case):
    if "settings" in case:
        worlds.requests(Engine, case)
        return

    def action(platform, status, body):
        return read_provider_answer(platform, status, body, now=0, random=0).action

    worlds.answers(action, case)


def test_requests_are_dictionaries_of_every_source(tmp_path):
    path = tmp_path / "own.ndjson"
    path.write_text("".join(json.dumps(sender) + "\n" for sender in SENDERS))
    with Fanout.from_ndjson(SETTINGS) as fanout:
        wanted = list(fanout.requests(MESSAGE, SENDERS))
        assert [line["device"] for line in wanted] == ["p", "a"]
        at = datetime(2024, 6, 3, 4, tzinfo=timezone.utc)
        for messages in (
            [MESSAGE],
            json.dumps(MESSAGE),
            polars.DataFrame([MESSAGE]),
            {**MESSAGE, "at": at},
        ):
            assert list(fanout.requests(messages, path)) == wanted
        assert list(fanout.requests(MESSAGE, str(path), platform=["fcm"])) == wanted[1:]
        assert list(fanout.requests(MESSAGE, path.read_bytes(), platform="apns")) == wanted[:1]
        shared = list(fanout.requests([MESSAGE], SENDERS, share_bodies=True))
        assert [line.get("bodyId") for line in shared] == [0, 0, 1, 1]
        assert list(fanout.requests([], SENDERS)) == []
        requests = fanout.requests(MESSAGE, SENDERS)
    # It keeps what it needs.
    assert next(requests) == wanted[0]
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(requests)


def test_what_is_wrong_is_named(tmp_path):
    path = tmp_path / "own.ndjson"
    path.write_text(json.dumps(SENDERS[0]) + '\n{"kind":"sender","platform":"apns","topik":"t"}\n')
    fanout = Fanout.from_ndjson(SETTINGS)
    with pytest.raises(
        Error, match=r'own\.ndjson:2: unknown field "topik"; did you mean "topic"\?'
    ):
        fanout.requests(MESSAGE, path)
    with pytest.raises(Error, match=r"senders\.ndjson:1: "):
        fanout.requests(MESSAGE, [{"kind": "sender", "platform": "fcm"}])
    with pytest.raises(ValueError, match='a platform is "apns" or "fcm", not \'hms\''):
        fanout.requests(MESSAGE, SENDERS, platform=["hms"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="platform is empty"):
        fanout.requests(MESSAGE, SENDERS, platform=[])
    read = fanout.messages(MESSAGE)
    assert isinstance(read, Messages)
    with pytest.raises(TypeError, match="have no content"):
        fanout.requests(read, SENDERS)  # type: ignore[arg-type]
    # Behind the requests of the messages before it.
    requests = fanout.requests([MESSAGE, {"id": "m2"}], SENDERS)
    assert [next(requests)["device"] for _ in range(2)] == ["p", "a"]
    with pytest.raises(Error, match="messages") as caught:
        next(requests)
    assert caught.value.status == "PF_INVALID" and list(requests) == []
    with pytest.raises(Error, match="open"):
        Fanout.from_ndjson(b'{"kind":"app","rules":"open"}').requests(MESSAGE, SENDERS)


def test_a_step_has_times():
    step = read_provider_answer("apns", None, now=1000, random=0, surely_not_taken=True)
    assert step == ("retry", 2000, None, False, False)
    gone = b'{"reason":"Unregistered","timestamp":500}'
    found = [
        read_provider_answer("apns", 410, gone, now=1000, random=0, registered_at=at)[2:4]
        for at in (500, 501)
    ]
    assert found == [(500, True), (500, False)]
    late = datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)
    step = read_provider_answer(
        "fcm", 429, now=1000, random=0.5, attempt=3, retry_after=59, expiry=late
    )
    assert step == ("retry", 60000, None, False, False)
    assert read_provider_answer("fcm", 429, now=1000, random=0, expiry=late).retry_at is None
    with pytest.raises(Error, match="attempt must be 1 or more"):
        read_provider_answer("fcm", 200, now=0, random=1.0)
    with pytest.raises(ValueError, match="a platform is"):
        read_provider_answer("hms", 200, now=0, random=0)  # type: ignore[arg-type]
