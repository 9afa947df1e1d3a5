"""What people see of answers, how they become frames, and how long calls end."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from worlds_under_test import MESSAGE, MESSAGES, NIGHT, NOON, RECORDS

from push_fanout import OUTCOMES, Fanout, Outcome
from push_fanout.memory import available_memory


@pytest.fixture(name="fanout")
def fixture_fanout():
    return Fanout.from_ndjson(RECORDS)


def test_objects_say_what_they_are(fanout):
    messages = fanout.messages(MESSAGES)
    batch = fanout.decide_batch(messages)
    decisions = fanout.decisions(messages, ids="views")
    assert repr(messages) == ("<Messages: 12, 2024-06-03T15:00:00Z to 2024-06-03T15:00:00.011Z>")
    assert repr(batch) == "<Batch: 12 messages, 32 decisions, 8 pushes>"
    assert repr(decisions) == (
        "<Decisions: message uint32, user string_view, code uint8; 12 messages>"
    )
    assert repr(decisions.users) == "<Rows: user uint32, id large_string>"
    assert repr(fanout.decide(MESSAGE)) == "<Decision: 1 pushes, 3 recipients>"
    change = fanout.next_change("ann", "g", NIGHT)
    assert repr(change) == (
        "<Change: none/quietHours/app until 2024-06-04T00:00:00Z, then push/allowed/default>"
    )
    assert change.instant.isoformat() == "2024-06-04T00:00:00+00:00"
    never = fanout.next_change("ben", "g", NIGHT)
    assert (repr(never), never.instant) == ("<Change: never; push/allowed/default>", None)


def test_a_notebook_shows_tables(fanout):
    messages = fanout.messages([{**MESSAGES[0], "id": "<m&>"}, *MESSAGES])
    shown = {
        "fanout": (fanout, ["easemob", ">users</td>", ">4<"]),
        "messages": (messages, ["13 messages", "&lt;m&amp;&gt;", "2024-06-03T15:00:00Z"]),
        "decision": (fanout.decide(MESSAGE), ["1 pushes, 3 recipients", ">quietHours</td>"]),
        "batch": (fanout.decide_batch(messages), ["settings 1", ">levelNone</td>", ">9<"]),
        "codes": (fanout.decide_batch(messages, parts=["codes"]), ["13 messages"]),
        "decisions": (fanout.decisions(messages, ids=True), ["none/quietHours/app", "dän"]),
        "users": (fanout.decisions(messages).users, [">dän</td>"]),
        "explanation": (fanout.explain(MESSAGE, "ann"), [">STOP</td>", "Would push"]),
    }
    for name, (answer, words) in shown.items():
        page = answer._repr_html_()
        assert page.startswith("<table>") and page.endswith("</table>"), name
        for word in words:
            assert word in page, (name, word)
    fanout.close()
    assert "closed" in fanout._repr_html_()


def test_answers_become_frames(fanout):
    messages = fanout.messages(MESSAGES)
    batch = fanout.decide_batch(messages)
    decisions = fanout.decisions(messages)
    for answer in (messages, batch, decisions, decisions.users, decisions.held):
        table = answer.to_arrow()
        assert table.num_rows > 0 and pyarrow.table(answer).equals(table)
        rows = table.to_pylist()
        assert answer.to_polars().to_dicts() == rows
        assert polars.DataFrame(answer).to_dicts() == rows
        assert len(answer.to_pandas()) == len(rows)
        assert list(answer.to_pandas().columns) == table.column_names
        assert answer.__dataframe__().num_rows() == len(rows)
    assert decisions.schema.names == ["message", "user", "code"]
    assert messages.to_arrow().to_pydict() == messages.columns()
    columns = pandas.DataFrame(batch.counts_columns())
    words = batch.to_pandas().astype({name: object for name in ("action", "reason", "scope")})
    pandas.testing.assert_frame_equal(columns, words, check_dtype=False)
    assert [info.id for info in messages[2:8:3]] == ["m2", "m5"]


def test_outcomes_cannot_be_changed():
    with pytest.raises(TypeError):
        OUTCOMES[33] = OUTCOMES[60]  # type: ignore[index]
    assert OUTCOMES[33] == Outcome("push", "allowed", "default")


def test_an_explanation_is_an_object_and_a_dictionary(fanout):
    explained = fanout.explain(MESSAGE, "ann")
    assert explained.answer == explained["answer"] and "ann" in explained.answer
    assert explained.outcome == Outcome("none", "quietHours", "app")
    assert explained.steps == explained["steps"] and explained.steps[-1]["stops"]
    assert explained.alternatives == explained["alternatives"]
    assert explained.advice[0].startswith("Would push: from ")
    assert repr(explained).endswith("none/quietHours/app")
    assert fanout.explain(MESSAGE, "cid").outcome is None


# ---------------------------------------------------------------------------------- Copies, pickles


def test_what_belongs_to_an_engine_is_not_copied(fanout):
    messages = fanout.messages(MESSAGES)
    answers = [
        messages, fanout.decide_batch(messages), fanout.decisions(messages), fanout.decide(MESSAGE),
        fanout.decisions(messages).users,
    ]  # fmt: skip
    for answer in answers:
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(
                TypeError, match=f"{type(answer).__name__} cannot be copied or pick"
            ):
                call(answer)
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="opened from files or a snapshot"):
            call(fanout)


def pushes_of(fanout):
    return fanout.decide(MESSAGE).pushes, fanout.threads


def test_an_engine_of_files_is_opened_again_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "m.csv").write_text("conversation,user\ng,ann\ng,ben\n")
    pyarrow.parquet.write_table(
        pyarrow.table({"id": ["ann"], "level": ["none"]}), tmp_path / "u.parquet"
    )
    Fanout.from_ndjson(RECORDS).write_snapshot(tmp_path / "world", identity=(1, 2))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.ndjson").write_text('{"kind":"member","conversation":"g","user":"ann"}\n')
    engines = {
        "files": Fanout.open(members="m.csv", threads=2),
        "parquet": Fanout.open("m.ndjson", users="u.parquet", threads=1),
        "several": Fanout.open(members=["m.csv", "m.csv"], threads=1),
        "snapshot": Fanout.open(snapshot="world", identity=(1, 2), threads=1),
    }
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        monkeypatch.chdir("/")
        for name, fanout in engines.items():
            expected = pushes_of(fanout)
            assert pushes_of(copy.deepcopy(fanout)) == expected, name
            assert pushes_of(pickle.loads(pickle.dumps(fanout))) == expected, name
            assert pool.apply(pushes_of, (fanout,)) == expected, name
    fanout = engines["files"]
    fanout.update({"kind": "user", "id": "eve"})
    with pytest.raises(TypeError, match="were updated since they were opened"):
        pickle.dumps(fanout)


# --------------------------------------------------------------------------------------- Long calls


@pytest.fixture(name="long", scope="module")
def fixture_long():
    """An engine and messages whose decisions take seconds."""
    count = 40_000
    ids = [f"u{number}" for number in range(count)]
    members = polars.DataFrame({"conversation": ["g"] * count, "user": ids})
    fanout = Fanout.open(members=members, threads=2)
    times = np.arange(40_000, dtype="int64") + NOON
    messages = polars.DataFrame({"at": times}).with_columns(
        id=polars.lit("m"), conversation=polars.lit("g"), sender=polars.lit("u1")
    )
    return fanout, messages


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("call", ["decide_batch", "evaluate"])
def test_an_interrupt_ends_a_long_call(long, call):
    fanout, messages = long
    read = fanout.messages(messages)
    lines = b"".join(
        b'{"id":"m","conversation":"g","at":%d}\n' % at for at in messages["at"].to_list()
    )
    calls = {
        "decide_batch": lambda: fanout.decide_batch(read, parts=("bitmaps",)),
        "evaluate": lambda: fanout.evaluate(lines, "pushlist"),
    }
    raised = []

    def interrupt(*_):
        raised.append(time.monotonic())
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # A fast machine decides the batch in 0.2 s.
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(Interrupted):
            calls[call]()
        waited = time.monotonic() - raised[0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert waited < 0.3
    # The handler itself runs soon after the signal.
    assert fanout.decide_batch(read, parts=(), count=10).pushes.tolist() == [39_999] * 10


def test_a_long_call_says_how_far_it_is(long):
    fanout, messages = long
    read = fanout.messages(messages)
    seen = []
    batch = fanout.decide_batch(read, parts=("bitmaps",), progress=lambda *n: seen.append(n))
    assert len(batch) == 40_000
    assert len(seen) > 1 and seen[-1] == (40_000, 40_000) and seen == sorted(seen)
    assert {total for _, total in seen} == {40_000}
    part = fanout.decide_batch(read, parts=("bitmaps",), first=39_990)
    assert (part.push_bitmaps == batch.push_bitmaps[-len(part.push_bitmaps) :]).all()

    def stop(done, total):
        raise Interrupted(done)

    with pytest.raises(Interrupted):
        fanout.decide_batch(read, parts=("bitmaps",), progress=stop)
    lines = fanout.evaluate(MESSAGES, "counts", progress=lambda *n: seen.append(n))
    assert lines == fanout.evaluate(MESSAGES, "counts")
    with pytest.raises(Interrupted):
        fanout.evaluate(MESSAGES, progress=stop)


LIMITED = """
import resource, sys
from push_fanout import Fanout

members = [{"conversation": "g", "user": f"u{n}"} for n in range(20_000)]
fanout = Fanout.open(members=members, threads=1)
messages = fanout.messages([{"id": "m", "conversation": "g", "at": 0}] * 100_000)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 29), resource.RLIM_INFINITY))
if sys.argv[1] == "unchecked":
    import push_fanout.engine
    push_fanout.engine.check_memory = lambda size: None
try:
    fanout.decide_batch(messages)
except MemoryError as error:
    print(error)
print(fanout.decide_batch(messages, parts=("counts",), count=10).pushes.sum())
"""


@pytest.mark.parametrize("kind", ["checked", "unchecked"])
def test_a_batch_that_does_not_fit_is_a_memory_error(kind):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, kind], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    error, pushes = done.stdout.splitlines()
    assert pushes == "200000"
    if kind == "checked":
        # 100,000 messages with 20,000 codes, 160 counts, a start and a summary of 48 bytes.
        size = 100_000 * (20_000 + 640 + 8 + 48) + 8
        assert error.startswith(f"the arrays of these messages take {size:,} bytes, and ")
        assert 'parts=("counts",)' in error
    else:
        assert error.startswith("there is no memory for a batch of 2069600008 bytes")


def test_the_memory_that_is_available_is_some():
    assert 1 << 20 < available_memory() < 1 << 50
