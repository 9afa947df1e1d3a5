"""Opens and failures leave nothing behind: PUSH_OPENS=10000 tries so many."""

from __future__ import annotations

import ctypes
import gc
import os
import tracemalloc
from datetime import datetime

import polars
import pyarrow
import pytest
from worlds_under_test import MESSAGE, MESSAGES, NIGHT, RECORDS

from push_fanout import Error, Fanout

OPENS = int(os.environ.get("PUSH_OPENS", "1000"))
FRAME = polars.DataFrame({"conversation": ["g"] * 50, "user": [f"u{n}" for n in range(50)]})
NAIVE = polars.DataFrame({"id": ["m"], "conversation": ["g"], "at": [datetime(2024, 6, 3)]})
BAD = polars.DataFrame({"conversation": ["g"], "user": ["u"], "level": ["loud"]})


def resident() -> int:
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def one_round() -> None:
    with Fanout.from_ndjson(RECORDS, threads=1) as fanout:
        decision = fanout.decide(MESSAGE)
        list(decision.rows())
        assert decision.counts and decision.stamp and decision.codes is not None
        batch = fanout.decide_batch(MESSAGES, parts=("counts", "codes", "bitmaps"))
        assert batch.counts.sum() and batch.codes_of(0) is not None
        decisions = fanout.decisions(MESSAGES, ids=True)
        pyarrow.table(decisions)
        decisions.users.__arrow_c_stream__()
        fanout.explain(MESSAGE, "ann")
        senders = [{"kind": "sender", "platform": "apns", "topic": "t"}]
        assert list(fanout.requests(MESSAGE, senders))
        next(fanout.requests(MESSAGE, senders))
        fanout.next_change("ann", "g", NIGHT)
        fanout.update({"kind": "user", "id": "eve"})
        fanout.members("g")
        with pytest.raises(Error):
            fanout.decide({**MESSAGE, "at": -1})
        with pytest.raises(Error):
            fanout.update(b"{")
        assert len(fanout.messages(NAIVE, time_zone="UTC")) == 1
        with pytest.raises(Error):
            fanout.messages(NAIVE)
        fanout.decide_batch(MESSAGES, progress=lambda done, total: None)
        with pytest.raises(ZeroDivisionError):
            fanout.decide_batch(MESSAGES, progress=lambda done, total: 1 / 0)
    Fanout.open(members=FRAME, threads=1).decide(MESSAGE)
    with pytest.raises(Error):
        Fanout.open(members=BAD)
    with pytest.raises(Error):
        Fanout.from_ndjson(b"{")


def test_opens_leave_nothing_behind():
    warm_up = max(100, OPENS // 4)
    for _ in range(warm_up):
        one_round()
    gc.collect()
    before = resident()
    for _ in range(OPENS):
        one_round()
    gc.collect()
    growth = resident() - before
    print(f"{OPENS} rounds: {growth} bytes more resident")
    # A leak of 300 bytes a round would be more in a run of 10,000.
    assert growth < OPENS * 200 + 1_000_000


def test_python_keeps_no_object():
    for _ in range(50):
        one_round()
    gc.collect()
    tracemalloc.start()
    try:
        one_round()
        gc.collect()
        before = tracemalloc.take_snapshot()
        rounds = max(500, OPENS // 10)
        for _ in range(rounds):
            one_round()
        gc.collect()
        found = tracemalloc.take_snapshot().compare_to(before, "filename")
    finally:
        tracemalloc.stop()
    ours = {
        str(change.traceback[0].filename): change.size_diff
        for change in found
        if "push_fanout" in str(change.traceback[0].filename)
    }
    # Caches of types grow to some 6 KB; an object a round would be 28 KB.
    assert all(size < rounds * 32 for size in ours.values()), ours
