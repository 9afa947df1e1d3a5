"""Reading settings and messages says how far it is, and an interrupt ends it."""

from __future__ import annotations

import signal
import time

import polars
import pytest

from push_fanout import Fanout

MEMBERS = 3_000_000
MESSAGES = 1_000_000


class Interrupted(Exception):
    pass


@pytest.fixture(name="calls", scope="module")
def fixture_calls(tmp_path_factory):
    """Calls of a second or more on one thread, and how much each of them reads."""
    folder = tmp_path_factory.mktemp("long")
    numbers = polars.int_range(MEMBERS, eager=True)
    members = polars.DataFrame(
        {"conversation": (numbers % 1000).cast(str), "user": (numbers % 9973).cast(str)}
    )
    members.write_csv(folder / "members.csv")
    line = b'{"kind":"member","conversation":"g%d","user":"u%d"}\n'
    settings = b"".join(line % (n % 1000, n % 9973) for n in range(MESSAGES))
    fanout = Fanout.open(members=members.head(1000), threads=1)
    numbers = polars.int_range(MESSAGES, eager=True)
    messages = polars.DataFrame(
        {"id": numbers, "conversation": numbers % 1000, "sender": numbers % 9973, "at": numbers}
    )
    messages.write_parquet(folder / "messages.parquet")
    line = b'{"id":"m","conversation":"%d","sender":"%d","at":%d}\n'
    lines = b"".join(line % (n % 1000, n % 9973, n) for n in range(MESSAGES))
    (folder / "messages.ndjson").write_bytes(lines)
    return {
        "open a file": (
            lambda **more: Fanout.open(members=folder / "members.csv", threads=1, **more),
            MEMBERS,
        ),
        "open a table": (lambda **more: Fanout.open(members=members, threads=1, **more), MEMBERS),
        "open bytes": (lambda **more: Fanout.from_ndjson(settings, threads=1, **more), MESSAGES),
        "messages of a file": (
            lambda **more: fanout.messages(folder / "messages.ndjson", **more), MESSAGES
        ),
        "messages of Parquet": (
            lambda **more: fanout.messages(folder / "messages.parquet", **more), MESSAGES
        ),
        "messages of a table": (lambda **more: fanout.messages(messages, **more), MESSAGES),
    }  # fmt: skip


CALLS = [
    "open a file", "open a table", "open bytes",
    "messages of a file", "messages of Parquet", "messages of a table",
]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_says_how_far_it_is_and_can_be_ended(calls, name):
    call, count = calls[name]
    seen = []
    call(progress=lambda *numbers: seen.append(numbers))
    assert len(seen) > 1 and seen == sorted(seen) and {total for _, total in seen} == {0}
    assert 0 < seen[-1][0] <= count

    def stop(done, total):
        raise Interrupted(done)

    with pytest.raises(Interrupted):
        call(progress=stop)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_a_call(calls, name):
    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Interrupted):
            calls[name][0]()
        waited = time.monotonic() - start - 0.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert waited < 0.3
