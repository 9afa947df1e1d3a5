"""Replays and comparisons: their numbers and pages are the command's, and the notebook runs.

PUSH_FANOUT_COMMAND is the push-fanout to compare with, or else the one that `make program` built.
PUSH_WRITE_NOTEBOOK=1 writes the outputs of the notebook into it.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pandas
import polars
import pyarrow
import pytest
from worlds_under_test import COMMAND, MESSAGE, MESSAGES, NIGHT, RECORDS, ROOT

import push_fanout
from push_fanout import CompareResult, Error, Fanout, Page, ReplayResult, compare, replay

NOTEBOOK = pathlib.Path(ROOT, "Bindings", "Python", "docs", "what-if.ipynb")
DAYS = ["fcc-2016-03-03", "qa-2021-05-19"]


def command(*arguments, cwd=None):
    run = subprocess.run([COMMAND, *arguments], capture_output=True, cwd=cwd, timeout=120)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout


def without_costs(result):
    """A result but for what differs between runs, and for commands that show more."""
    result = json.loads(result)
    result.pop("cost", None)
    result.get("follow", {}).pop("explain", None)
    result.get("top", {}).pop("follow", None)
    for peak in result.get("peaks", []):
        peak.pop("decidingSeconds", None)
    return result


def files_of(day):
    return {
        kind: os.path.join(ROOT, "data", f"{day}.{kind}.csv.gz")
        for kind in ("users", "members", "messages")
    }


REPLAYS = {
    "plain": ({}, []),
    "everything": (
        {"hold": True, "per_person": True, "rate_limit": 20, "week_zone": "Asia/Tokyo"},
        ["--hold", "--per-person", "--rate-limit", "20/s", "--time-zone", "Asia/Tokyo"],
    ),
    "slice": (
        {"from_": "2016-03-03T12:00", "to": 1457046000000, "csv_zone": "Europe/Berlin",
         "conversation": ["c317", "c2"], "user": "u3"},
        ["--from", "2016-03-03T12:00", "--to", "1457046000000", "--zone", "Europe/Berlin",
         "--conversation", "c317", "c2", "--user", "u3"],
    ),
    "top": ({"top": 3}, ["--top", "3"]),
    "followed": (
        {"follow_user": "u3", "follow_conversation": "c317"},
        ["--follow-user", "u3", "--follow-conversation", "c317"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLAYS)
def test_a_replay_is_the_commands(name):
    files = files_of(DAYS[0])
    options, flags = REPLAYS[name]
    fanout = Fanout.open(users=files["users"], members=files["members"])
    result = replay(fanout, files["messages"], **options)
    named = [part for kind in files for part in (f"--{kind}", files[kind])]
    expected = without_costs(command("replay", *named, *flags, "--json"))
    assert without_costs(result.json) == expected
    assert expected["decisions"] > 0
    # The engine is as it was.
    assert fanout.sequence == 1
    assert without_costs(replay(fanout, files["messages"], **options).json) == expected


@pytest.mark.parametrize("day", DAYS)
def test_a_comparison_is_the_commands(day):
    files = files_of(day)
    fanout = Fanout.open(users=files["users"], members=files["members"])
    result = compare(
        fanout, files["messages"], "rooms>100.unset.level=mention",
        a=["app.devicePolicy=anyOffline"], name_a="before", name_b="after", top=3, rate_limit="5/s",
    )  # fmt: skip
    named = [part for kind in files for part in (f"--{kind}", files[kind])]
    expected = command(
        "compare", *named, "--b", "rooms>100.unset.level=mention", "--a",
        "app.devicePolicy=anyOffline", "--name-a", "before", "--name-b", "after", "--top", "3",
        "--rate-limit", "5/s", "--json",
    )  # fmt: skip
    assert without_costs(result.json) == without_costs(expected)
    assert result["changed"] > 0 and len(result["users"]["losers"]) == 3


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_rows_are_the_commands(tmp_path, form):
    files = files_of(DAYS[0])
    fanout = Fanout.open(users=files["users"], members=files["members"])
    named = [part for kind in files for part in (f"--{kind}", files[kind])]
    held, people = tmp_path / f"held.{form}", tmp_path / "people.csv"
    replay(fanout, files["messages"], held=held, people=str(people))
    outputs = ["--held", f"expected.{form}", "--people", "expected.people.csv"]
    command("replay", *named, *outputs, cwd=tmp_path)
    assert held.read_bytes() == (tmp_path / f"expected.{form}").read_bytes()
    assert people.read_bytes() == (tmp_path / "expected.people.csv").read_bytes()
    assert held.stat().st_size > 1000 and people.stat().st_size > 1000
    compare(fanout, files["messages"], "unset.level=mention", people=people)
    change = ["--b", "unset.level=mention", "--people", "expected.people.csv"]
    command("compare", *named, *change, cwd=tmp_path)
    assert people.read_bytes() == (tmp_path / "expected.people.csv").read_bytes()
    assert people.read_bytes().startswith(b"user,days,pushesA,pushesB\n")


def test_rows_are_there_when_they_are_complete(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    people, held = tmp_path / "people.csv", tmp_path / "held.csv"
    people.write_text("as it was")
    with pytest.raises(Error, match="messages.ndjson:2"):
        replay(fanout, b'{"id":"m","conversation":"g","at":0}\n{', people=people, held=held)
    messages = [MESSAGE]
    with pytest.raises(Error, match="are one file"):
        replay(fanout, messages, people=people, held=people)
    with pytest.raises(Error, match="name a file"):
        compare(fanout, messages, "unset.level=none", people="-")
    with pytest.raises(Error, match="cannot write .*: ") as failure:
        replay(fanout, messages, held=tmp_path / "none" / "held.csv")
    assert failure.value.status == "PF_IO"
    assert os.listdir(tmp_path) == ["people.csv"] and people.read_text() == "as it was"


def test_pages_are_the_commands(tmp_path):
    files = files_of(DAYS[0])
    fanout = Fanout.open(users=files["users"], members=files["members"])
    results = {
        "replay": replay(fanout, files["messages"], hold=True, per_person=True),
        "compare": compare(fanout, files["messages"], "unset.level=mention"),
    }
    for name, result in results.items():
        (tmp_path / name).write_bytes(result.json)
        assert result.to_html() == command("report", str(tmp_path / name)).decode()
        page = result.to_html(
            title="<T>", note="drawn", price_per_million="$0.50", print_figures=True
        )
        flags = ["--title", "<T>", "--note", "drawn", "--price-per-million", "$0.50"]
        assert (
            page
            == command("report", str(tmp_path / name), *flags, "--print-figures").decode()
        )  # fmt: skip
        assert page != result.to_html() and "&lt;T&gt;" in page


def test_a_generated_world_from_every_source(tmp_path):
    command(
        "generate", "--output", "world", "--users", "500", "--format", "ndjson", cwd=tmp_path
    )  # fmt: skip
    world = tmp_path / "world"
    settings, messages = world / "settings.ndjson", world / "messages.ndjson"
    presence, changes = world / "presence.csv", world / "changes.ndjson"
    expected = without_costs(
        command(
            "replay", "--settings", str(settings), "--messages", str(messages), "--presence",
            str(presence), "--changes", str(changes), "--hold", "--json",
        )
    )  # fmt: skip
    assert expected["presenceRows"] > 0 and expected["settingsChanges"] > 0
    lines = [json.loads(line) for line in messages.read_text().splitlines()]
    half = len(lines) // 2
    for name, part in (("one", lines[:half]), ("two", lines[half:])):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in part))
    rows = pandas.read_csv(presence, dtype={"conversation": str, "user": str})
    change_rows = [json.loads(line) for line in changes.read_text().splitlines()]
    sources = {
        "paths": (messages, presence, changes),
        "bytes": (messages.read_bytes(), presence.read_bytes(), changes.read_bytes()),
        "records": (lines, rows.to_dict("records"), change_rows),
        "generators": (iter(lines), iter(rows.to_dict("records")), iter(change_rows)),
        "frames": (
            polars.from_dicts(lines, infer_schema_length=None),
            polars.from_pandas(rows.assign(online=rows["online"] == 1)),
            change_rows,
        ),
        "files": ([tmp_path / "one.ndjson", tmp_path / "two.ndjson"], [presence], [changes]),
    }
    fanout = Fanout.open(settings)
    for name, (message, online, change) in sources.items():
        result = replay(fanout, message, presence=online, changes=change, hold=True)
        assert without_costs(result.json) == expected, name
    expected = without_costs(
        command(
            "compare", "--settings", str(settings), "--messages", str(messages), "--presence",
            str(presence), "--b", "unset.quietHours=23:00-07:00", "--json",
        )
    )  # fmt: skip
    result = compare(fanout, lines, "unset.quietHours=23:00-07:00", presence=rows)
    assert without_costs(result.json) == expected


def test_rule_sets_are_compared(tmp_path):
    (tmp_path / "rong.ndjson").write_text('{"kind":"app","rules":"rongcloud"}\n')
    members = [{"conversation": "g", "user": user} for user in ("ann", "ben")]
    fanout = Fanout.open(members=members)
    message = {"id": "m", "conversation": "g", "at": NIGHT}
    result = compare(fanout, [message], tmp_path / "rong.ndjson")
    assert (result["a"]["rules"], result["b"]["rules"]) == ("easemob", "rongcloud")
    assert result["messages"] == 1


# ------------------------------------------------------------------------------------- What is seen


def test_results_are_frames_and_say_what_they_are():
    fanout = Fanout.from_ndjson(RECORDS)
    lines = [message for message in MESSAGES if message["conversation"] == "g"]
    day = replay(fanout, lines, hold=True)
    assert repr(day) == "<ReplayResult: 8 messages, 32 decisions, 8 pushes>"
    assert day["pushes"] == 8 and isinstance(day, ReplayResult)
    assert day.to_arrow().schema.names == ["action", "reason", "scope", "count"]
    assert sum(day.to_polars()["count"]) == 32
    assert day.to_pandas()["count"].tolist() == [row["count"] for row in day["outcomes"]]
    assert day.__dataframe__().num_rows() == 4
    assert ">quietHours</td>" in day._repr_html_() and day._repr_html_().startswith("<table>")
    assert "minutes" in day.tables and "people.neverReasons" not in day.tables
    hours = day.table("hours")
    assert repr(hours) == "<Figures: hours, 1 rows: at, messages, decisions, pushes>"
    assert hours.columns() == {
        "at": [NIGHT // 3_600_000 * 3_600_000], "messages": [8], "decisions": [32], "pushes": [8]
    }  # fmt: skip
    assert str(hours.to_arrow().schema.field("at").type) == "timestamp[ms, tz=UTC]"
    assert "2024-06-03T15:00:00Z" in hours._repr_html_()
    for name in day.tables:
        table = day.table(name)
        assert table.to_arrow().num_rows == len(table) == table.to_polars().height, name
    assert day.table("hold.outcomes").columns()["held"] == [
        row["held"] for row in day["hold"]["outcomes"]
    ]
    what_if = compare(fanout, lines, "everyone.level=none")
    assert repr(what_if) == "<CompareResult: 8 messages, 8 pushes become 0; 16 decisions differ>"
    assert isinstance(what_if, CompareResult)
    assert what_if.to_pandas().columns.tolist() == ["action", "reason", "scope", "a", "b"]
    for name in what_if.tables:
        table = what_if.table(name)
        assert table.to_arrow().num_rows == len(table) == len(table.to_pandas()), name
    page = what_if.to_html()
    assert isinstance(page, str) and page.startswith("<!DOCTYPE html>")
    assert repr(page) == f"<Page: {len(page):,} characters>"
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    with pytest.raises(KeyError, match="there is no table 'hour'; there are outcomes, changes"):
        what_if.table("hour")


def test_messages_that_were_read_and_tables_are_replayed_as_records_are():
    fanout, day = Fanout.from_ndjson(RECORDS), 1_717_387_200_000
    records = [
        {"id": f"m{number}", "conversation": "g", "at": day + number * 60_000, "mentions": ["ann"]}
        for number in range(50)
    ]
    table = pyarrow.Table.from_pylist(records)
    expected = replay(fanout, records, hold=True, from_=day + 600_000)
    assert expected["messages"] == 40
    for source in (table, fanout.messages(records), fanout.messages(table), table.to_batches()):
        found = replay(fanout, source, hold=True, from_=day + 600_000)
        assert without_costs(found.json) == without_costs(expected.json)
    late = pyarrow.Table.from_pylist(LATE)
    for source, name in ((late, "messages"), (fanout.messages(late), "messages")):
        with pytest.raises(Error, match=f"^{name}:2: the instant is earlier than that of the mess"):
            replay(fanout, source)
    unknown = pyarrow.Table.from_pylist([{"id": "m", "conversation": "g", "at": 1, "x": "y"}])
    with pytest.raises(Error, match='^messages: unknown column "x"'):
        replay(fanout, unknown)
    assert replay(fanout, unknown, skip_invalid=True)["skippedLines"] == 1
    other = Fanout.from_ndjson(RECORDS)
    with pytest.raises(Error, match="of another engine"):
        replay(other, fanout.messages(records))


def test_nothing_comes_to_nothing():
    fanout = Fanout.from_ndjson(RECORDS)
    for nothing in ([], b"", iter([]), pyarrow.table({"id": pyarrow.array([], "string")})):
        result = replay(fanout, nothing)
        assert (result["messages"], result.to_arrow().num_rows) == (0, 0)
    assert replay(fanout, [], presence=[], changes=b"\n")["decisions"] == 0
    assert "html" in replay(fanout, []).to_html()


# ------------------------------------------------------------------------------------------- Errors

LATE = [{"id": "m", "conversation": "g", "at": at} for at in (5, 4)]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda f: replay(f, LATE), Error,
         "messages.ndjson:2: the instant is earlier than that of the message before"),
        (lambda f: replay(f, [{"id": "m", "conversation": "no", "at": 1}]), Error,
         'messages.ndjson:1: there is no conversation "no"'),
        (lambda f: replay(f, [{"id": "m"}]), Error, "messages.ndjson:1: "),
        (lambda f: replay(f, "/none.csv"), Error, "/none.csv: cannot be opened"),
        (lambda f: replay(f, "csv:-"), Error, 'a path is "csv:-"; name a file'),
        (lambda f: replay(f, [], presence=[{"at": 1}]), Error, 'presence: unknown field "at"'),
        (lambda f: replay(f, [], changes=[{"kind": "user", "id": "u"}]), Error,
         "changes.ndjson:1: "),
        (lambda f: replay(f, [], from_="soon"), Error, "from soon is not an instant; give a day"),
        (lambda f: replay(f, [], from_=2, to=1), Error, "from 2 is not before to 1"),
        (lambda f: replay(f, [], rate_limit=0), Error, "rate-limit 0/s is not a rate like 10000/s"),
        (lambda f: replay(f, [], follow_user="nobody"), Error, 'there is no user "nobody"'),
        (lambda f: replay(f, [], week_zone="Mars"), Error, "Mars"),
        (lambda f: replay(f, [], delimiter=";"), Error, "delimiter, columns and zone are for CSV"),
        (lambda f: replay(f, [], hold=1), TypeError, "hold must be a bool, not int"),
        (lambda f: compare(f, f.messages([]), ""), TypeError, "messages that were read cannot be"),
        (lambda f: replay([], []), TypeError, "the settings must be a Fanout, not list"),
        (lambda f: compare(f, [], "unset.levl=none"), Error,
         "b unset.levl=none is no change; did you mean unset.level=none?"),
        (lambda f: compare(f, [], []), Error, 'there is no option "b"'),
        (lambda f: compare(f, [], "unset.level=none", top=-1), Error, "top -1 is negative"),
        (lambda f: compare(f, [], "rooms=no.unset.level=all"), Error, ""),
        (lambda f: replay(f, []).to_html(price_per_million="free"), Error,
         "price-per-million free is not a price"),
    ],
)  # fmt: skip
def test_errors_are_in_words(call, kind, words):
    with pytest.raises(kind) as raised:
        call(Fanout.from_ndjson(RECORDS))
    assert words in str(raised.value)
    if kind is Error:
        assert raised.value.status != "PF_INTERNAL"


def test_bad_lines_are_left_out_if_asked_for():
    fanout = Fanout.from_ndjson(RECORDS)
    good = {"id": "m", "conversation": "g", "at": 6}
    result = replay(fanout, [*LATE, good], skip_invalid=True)
    assert (result["messages"], result["skippedLines"]) == (2, 1)
    closed = Fanout.from_ndjson(RECORDS)
    result = replay(closed, [good])
    closed.close()
    assert result["messages"] == 1 and "html" in result.to_html()
    with pytest.raises(ValueError, match="the engine is closed"):
        replay(closed, [good])


# --------------------------------------------------------------------------------------- Long calls


class Interrupted(Exception):
    pass


@pytest.fixture(name="long", scope="module")
def fixture_long():
    ids = [f"u{number}" for number in range(2000)]
    fanout = Fanout.open(members=polars.DataFrame({"conversation": ["g"] * 2000, "user": ids}))
    line = '{"id":"m","conversation":"g","sender":"u%d","at":%d}\n'
    return fanout, "".join(line % (n % 2000, n) for n in range(1_000_000)).encode()


def test_a_replay_says_how_far_it_is_and_can_be_ended(long):
    fanout, lines = long
    seen = []
    result = replay(fanout, lines, progress=lambda *numbers: seen.append(numbers))
    assert result["messages"] == 1_000_000
    assert len(seen) > 1 and seen == sorted(seen) and {total for _, total in seen} == {0}

    def stop(done, total):
        raise Interrupted(done)

    for call in (
        lambda: replay(fanout, lines, progress=stop),
        lambda: compare(fanout, lines, "unset.level=none", progress=stop),
    ):
        with pytest.raises(Interrupted):
            call()


@pytest.mark.parametrize("call", ["replay", "compare"])
def test_an_interrupt_ends_a_replay(long, call):
    fanout, lines = long
    calls = {
        "replay": lambda: replay(fanout, lines, per_person=True),
        "compare": lambda: compare(fanout, lines, "unset.level=none"),
    }

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.monotonic()
    try:
        # It takes seconds.
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Interrupted):
            calls[call]()
        waited = time.monotonic() - start - 0.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert waited < 0.3


# ----------------------------------------------------------------------------------------- Notebook


def run_cell(source, names):
    """Runs a cell as a notebook does; the value of its last expression, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_the_notebook_runs_and_ends_in_the_page(monkeypatch, tmp_path, is_elsewhere):
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    identifiers = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identifiers)) == len(identifiers)
    monkeypatch.chdir(tmp_path if is_elsewhere else NOTEBOOK.parent)
    names = {"__name__": "__main__"}
    writes = bool(os.environ.get("PUSH_WRITE_NOTEBOOK"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    value = None
    for number, cell in enumerate(cells, 1):
        value = run_cell("".join(cell["source"]), names)
        # The page has what the run cost.
        text = "<Page>" if isinstance(value, Page) else repr(value)
        data = {"text/plain": text.splitlines(True)}
        output = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        if writes:
            cell["outputs"] = [{**output, "data": data}]
            cell["execution_count"] = number
        assert [out["data"] for out in cell["outputs"]] == [data], cell["id"]
        assert cell["execution_count"] == number
    if writes:
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    assert isinstance(value, push_fanout.Page)
    assert value == names["what_if"].to_html(
        title="Mentions only in groups of more than 500",
        note="Messages are real, settings are drawn.",
    )
    assert re.search(r"<h1[^>]*>Mentions only in groups of more than 500</h1>", value)
    assert value._repr_html_().startswith("<iframe srcdoc=")
