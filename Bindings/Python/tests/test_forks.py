"""What works in a child of a fork, and what is refused (docs/c.md)."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable

import pyarrow
import pytest
from worlds_under_test import MESSAGE, MESSAGES, RECORDS

from push_fanout import Error, Fanout

FORKED = "the engine was opened before a fork; open it again with reopen()"


def in_child(body: Callable[[], None]) -> None:
    """Runs `body` in a child, which has two minutes."""
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside threads: they are what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(120)
            body()
            gc.collect()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    path = tmp_path / "settings.ndjson"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return path


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(Error) as raised:
        call()
    assert (raised.value.status, str(raised.value)) == ("PF_FORKED", FORKED)


def test_an_engine_with_threads_is_refused_and_can_be_opened_again(path):
    fanout = Fanout.open(path, threads=2)
    decision = fanout.decide(MESSAGE)
    messages = fanout.messages(MESSAGES)
    decisions = fanout.decisions(messages)
    batch = fanout.decide_batch(messages)

    def body() -> None:
        refused(lambda: fanout.decide(MESSAGE))
        refused(lambda: fanout.decide_batch(messages))
        refused(lambda: decision.pushes)
        refused(lambda: pyarrow.table(decisions))
        refused(lambda: fanout.update(b""))
        assert FORKED in repr(fanout)
        # What was copied out is plain memory.
        assert batch.pushes.sum() == 8
        again = fanout.reopen()
        assert again.threads == 1
        assert again.decide(MESSAGE).pushes == ["ben"]
        assert again.decide_batch(MESSAGES).pushes.sum() == 8
        # What is opened anew has one thread.
        assert Fanout.from_ndjson(RECORDS, threads=4).threads == 1

    in_child(body)
    assert fanout.decide(MESSAGE).pushes == ["ben"]


def test_handles_that_cannot_be_used_are_freed_in_a_child(path):
    held = [Fanout.open(path, threads=2)]
    kept = [held[0].decide(MESSAGE), held[0].messages(MESSAGES), held[0].decisions(MESSAGES)]

    def body() -> None:
        held.clear()
        kept.clear()
        gc.collect()

    in_child(body)
    assert held[0].decide(MESSAGE).pushes == ["ben"]


def test_settings_from_bytes_are_gone():
    fanout = Fanout.from_ndjson(RECORDS, threads=2)

    def body() -> None:
        with pytest.raises(Error, match="cannot be opened again") as raised:
            fanout.reopen()
        assert raised.value.status == "PF_MISUSE"

    in_child(body)


def test_a_quiet_engine_of_one_thread_works_on(path):
    # Another engine uses threads, as a server would have one.
    others = Fanout.open(path, threads=2)
    others.decide_batch(MESSAGES)
    fanout = Fanout.from_ndjson(RECORDS, threads=1)
    fanout.decide(MESSAGE)

    def body() -> None:
        assert fanout.decide(MESSAGE).pushes == ["ben"]
        fanout.update({"kind": "user", "id": "ben", "level": "none"})
        assert fanout.decide(MESSAGE).pushes == []
        in_child(lambda: list(fanout.decide(MESSAGE).rows()))

    in_child(body)
    assert fanout.decide(MESSAGE).pushes == ["ben"]


def test_forks_while_a_thread_decides(tmp_path):
    snapshot = tmp_path / "world.snapshot"
    Fanout.from_ndjson(RECORDS).write_snapshot(snapshot)
    fanout = Fanout.open(snapshot=snapshot, threads=2)
    stop = threading.Event()

    def decide() -> None:
        while not stop.is_set():
            fanout.decide_batch(MESSAGES)

    thread = threading.Thread(target=decide)
    thread.start()
    try:

        def body() -> None:
            refused(lambda: fanout.decide(MESSAGE))
            assert fanout.reopen().decide(MESSAGE).pushes == ["ben"]

        for _ in range(30):
            in_child(body)
    finally:
        stop.set()
        thread.join()


def test_a_store_cannot_be_used_in_a_child(tmp_path):
    store = Fanout.open(store=tmp_path / "app.store", access="create", threads=1)

    def body() -> None:
        refused(lambda: store.decide(MESSAGE))
        with pytest.raises(Error) as raised:
            store.reopen()
        assert raised.value.status == "PF_FORKED"

    in_child(body)


def _decide_in_worker(path: str) -> list[str]:
    return Fanout.open(path).decide(MESSAGE).pushes


def _decide_inherited(_: int) -> list[str]:
    return _inherited[0].decide(MESSAGE).pushes


_inherited: list[Fanout] = []


def test_workers_of_multiprocessing(path):
    context = multiprocessing.get_context("fork")
    Fanout.open(path, threads=2).decide_batch(MESSAGES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with context.Pool(2) as pool:
            assert pool.map(_decide_in_worker, [str(path)] * 4) == [["ben"]] * 4
        _inherited.append(Fanout.from_ndjson(RECORDS, threads=1))
        with context.Pool(2) as pool:
            assert pool.map(_decide_inherited, range(4)) == [["ben"]] * 4
    _inherited.clear()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_decide_in_worker, [str(path)]) == [["ben"]]
