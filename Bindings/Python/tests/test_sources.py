"""The tables of docs/python.md: every source in every place, and every type of column.

A cell of the page is a test: what it says must be so.
"""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import json
import math
import pathlib

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from worlds_under_test import NOON, ROOT

from push_fanout import Error, Fanout, replay

PAGE = pathlib.Path(ROOT, "docs", "python.md").read_text(encoding="utf-8")
USERS = [{"id": "ann", "level": "none"}, {"id": "ben", "level": None}]
MEMBERS = [{"conversation": "g", "user": user} for user in ("ann", "ben")]
MESSAGES = [
    {"id": "m1", "conversation": "g", "at": NOON, "sender": None},
    {"id": "m2", "conversation": "g", "at": NOON + 1, "sender": "ben"},
]
RECORDS = [
    {"kind": "app", "id": None, "level": None, "conversation": None, "user": None},
    *({"kind": "user", **user, "conversation": None, "user": None} for user in USERS),
    *({"kind": "member", "id": None, "level": None, **member} for member in MEMBERS),
]
PUSHES = [1, 0]


def rows_of(first: str) -> list[list[str]]:
    """The cells of the table of the page whose header begins with a name."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def lines(records) -> str:
    present = [{k: v for k, v in record.items() if v is not None} for record in records]
    return "".join(json.dumps(record) + "\n" for record in present)


def csv(records) -> str:
    table = pandas.DataFrame(records).drop(columns="kind", errors="ignore")
    return table.to_csv(index=False)


def arrow(records) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(records)


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet_of(path, records):
    pyarrow.parquet.write_table(arrow(records), path)
    return path


def folder_of(path, records):
    path.mkdir()
    for number in range(len(records)):
        part = arrow(records).slice(number, 1)
        pyarrow.parquet.write_table(part, path / f"part-{number:03}.parquet")
    written(path / "_SUCCESS", "")
    return path


def feather_of(path, records):
    pyarrow.feather.write_feather(arrow(records), path)
    return path


def relation(records):
    """A relation of the connection that everybody has."""
    duckdb.register(f"records_{id(records)}", arrow(records))
    return duckdb.sql(f"FROM records_{id(records)}")


SOURCES = {
    "the path of an NDJSON file": lambda p, r: written(p / "a.ndjson", lines(r)),
    "the path of an NDJSON file with `.gz`": lambda p, r: written(
        p / "a.ndjson.gz", gzip.compress(lines(r).encode())
    ),
    "the path of a CSV file": lambda p, r: written(p / "a.csv", csv(r)),
    "the path of a Parquet file, by any name": lambda p, r: parquet_of(p / "a.PQ", r),
    "the path of a folder of Parquet files": lambda p, r: folder_of(p / "parts.parquet", r),
    "the path of an Arrow or Feather file": lambda p, r: feather_of(p / "a.feather", r),
    "bytes of NDJSON": lambda p, r: lines(r).encode(),
    "text of NDJSON": lambda p, r: lines(r),
    "an open file of NDJSON": lambda p, r: open(written(p / "a.txt", lines(r)), "rb"),
    "an open file of Parquet": lambda p, r: open(parquet_of(p / "a.parquet", r), "rb"),
    "a dictionary for each record": lambda p, r: r,
    "a generator of dictionaries": lambda p, r: (record for record in r),
    "a dictionary of columns": lambda p, r: {name: [x[name] for x in r] for name in r[0]},
    "`pyarrow.Table`": lambda p, r: arrow(r),
    "`pyarrow.RecordBatch`": lambda p, r: arrow(r).to_batches()[0],
    "`pyarrow.RecordBatchReader`": lambda p, r: arrow(r).to_reader(),
    "`pyarrow.StructArray`": lambda p, r: pyarrow.array(r),
    "`pyarrow.dataset.Dataset`": lambda p, r: pyarrow.dataset.dataset(arrow(r)),
    "`pyarrow.dataset.Scanner`": lambda p, r: pyarrow.dataset.dataset(arrow(r)).scanner(),
    "`pyarrow.parquet.ParquetFile`": lambda p, r: pyarrow.parquet.ParquetFile(
        parquet_of(p / "a.parquet", r)
    ),
    "a list of paths": lambda p, r: [
        written(p / f"{number}.ndjson", lines([record])) for number, record in enumerate(r)
    ],
    "a list of paths of Parquet files": lambda p, r: [
        parquet_of(p / f"{number}.parquet", [record]) for number, record in enumerate(r)
    ],
    "a list of batches": lambda p, r: arrow(r).to_batches(max_chunksize=1),
    "a generator of batches": lambda p, r: iter(arrow(r).to_batches(max_chunksize=1)),
    "a list or generator of frames": lambda p, r: iter(
        [pandas.DataFrame(r[:1]), polars.DataFrame(r[1:])]
    ),
    "chunks of `pandas.read_csv`": lambda p, r: pandas.read_csv(
        io.StringIO(pandas.DataFrame(r).to_csv(index=False)), chunksize=1
    ),
    "`polars.DataFrame`": lambda p, r: polars.DataFrame(r),
    "`polars.LazyFrame`": lambda p, r: polars.LazyFrame(r),
    "`pandas.DataFrame`": lambda p, r: pandas.DataFrame(r),
    "relations of one DuckDB connection": lambda p, r: relation(r),
}


def parts(make, folder, *records):
    """A source of each of several tables, each in a folder of its own."""
    for number, part in enumerate(records):
        place = folder / str(number)
        place.mkdir()
        yield make(place, part)


def from_settings(make, folder):
    return Fanout.open(make(folder, RECORDS)).decide_batch(MESSAGES).pushes.tolist()


def from_users_and_members(make, folder):
    users, members = parts(make, folder, USERS, MEMBERS)
    return Fanout.open(users=users, members=members).decide_batch(MESSAGES).pushes.tolist()


def from_messages(make, folder):
    return Fanout.from_ndjson(RECORDS).decide_batch(make(folder, MESSAGES)).pushes.tolist()


def from_update(make, folder):
    fanout = Fanout.from_ndjson(b"")
    assert fanout.update(make(folder, RECORDS)) == len(RECORDS)
    return fanout.decide_batch(MESSAGES).pushes.tolist()


def from_evaluate(make, folder):
    found = Fanout.from_ndjson(RECORDS).evaluate(make(folder, MESSAGES), "pushlist")
    return [len(json.loads(line)["push"]) for line in found.splitlines()]


PLACES = {
    "`settings`": from_settings,
    "`users`, `members`": from_users_and_members,
    "`messages`": from_messages,
    "`update`": from_update,
    "`evaluate`": from_evaluate,
}
HEADER, _, *SOURCE_ROWS = rows_of("source")


def test_the_page_has_all_sources():
    assert HEADER[1:] == list(PLACES)
    assert [row[0] for row in SOURCE_ROWS] == list(SOURCES)


@pytest.mark.parametrize(
    ("source", "place", "says"),
    [(row[0], name, cell) for row in SOURCE_ROWS for name, cell in zip(HEADER[1:], row[1:])],
)
def test_a_source_is_read_or_refused(tmp_path, source, place, says):
    make = SOURCES[source]
    if says == "read":
        assert PLACES[place](make, tmp_path) == PUSHES
        return
    assert says == "refused"
    with pytest.raises((Error, TypeError)) as raised:
        PLACES[place](make, tmp_path)
    assert len(str(raised.value)) > 20


# ----------------------------------------------------------------------------------------- Columns

MASKED = pyarrow.StructArray.from_arrays(
    [pyarrow.array(["ann", "ben"])], ["id"], mask=pyarrow.array([False, True])
)


def typed(values, type) -> pyarrow.Array:
    """Values as they are, cast to a type."""
    return pyarrow.array(values).cast(type)


def list_views():
    ids = pyarrow.array(["ann", "ben"])
    return pyarrow.ListViewArray.from_arrays([1, 0], [1, 1], ids)


def users_of(**columns):
    """The pushes of an engine with two users, of whom the first has the level none."""
    table = pyarrow.table(columns)
    members = pyarrow.table({"conversation": ["g", "g"], "user": table["id"].cast("string")})
    return Fanout.open(users=table, members=members).decide(MESSAGES[0]).pushes


def level(column):
    return users_of(id=["ann", "ben"], level=column) == ["ben"]


def instant(column, **options):
    """Whether a message is read with an instant."""
    table = pyarrow.table({"id": ["m"], "conversation": ["g"], "at": column})
    found = Fanout.from_ndjson(RECORDS).messages(table, **options)
    return [info.at for info in found] == [NOON]


def mentions(column):
    """Whether the first of two messages mentions ben, and the second ann."""
    fanout = Fanout.from_ndjson([*RECORDS, {"kind": "user", "id": "ben", "level": "mention"}])
    table = pyarrow.table({"id": ["1", "2"], "conversation": ["g", "g"], "at": [NOON, NOON]})
    batch = fanout.decide_batch(table.append_column("mentions", column))
    return batch.pushes.tolist() == [1, 0]


def naive(unit="us"):
    return pyarrow.array([NOON], pyarrow.timestamp("ms")).cast(pyarrow.timestamp(unit))


def of_every_unit(zone):
    return all(
        instant(pyarrow.array([NOON], pyarrow.timestamp("ms", zone)).cast(kind))
        for kind in (pyarrow.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns"))
    )


def pandas_levels():
    values = ["none", None, math.nan, pandas.NA]
    users = pandas.DataFrame({"id": list("abcd"), "level": values}, dtype=object)
    until = pandas.Series(pandas.to_datetime([None, "2030-01-01", None, None], utc=True))
    fanout = Fanout.open(
        users=users.assign(mutedUntil=until),
        members=pandas.DataFrame({"conversation": "g", "user": list("abcd")}),
    )
    return fanout.decide(MESSAGES[0]).pushes == ["c", "d"]


QUIET = {"start": "00:00", "end": "23:59"}
COLUMNS = {
    "text: utf8, large_utf8, utf8_view": lambda: all(
        level(typed(["none", None], kind)) for kind in ("utf8", "large_utf8")
    )
    and level(pyarrow.array(["none", None], pyarrow.string_view())),
    "a dictionary of text": lambda: level(pyarrow.array(["none", None]).dictionary_encode()),
    "a run-end encoded column": lambda: level(
        pyarrow.RunEndEncodedArray.from_arrays([1, 2], pyarrow.array(["none", None]))
    ),
    "null, and a value that is null": lambda: users_of(
        id=["ann", "ben"], level=["none", None], timeZone=pyarrow.nulls(2)
    )
    == ["ben"],
    "NaN, NaT, NA and None of pandas": pandas_levels,
    "a row that is null as a whole": lambda: Fanout.open(users=MASKED),
    "an id of integers": lambda: users_of(id=[1, 2], level=["none", None]) == ["2"],
    "an id of floats that are whole": lambda: users_of(id=[1.0, 2.0], level=["none", None])
    == ["2"],
    "an instant of integers, also as float": lambda: instant([NOON]) and instant([float(NOON)]),
    "an instant of decimal(38,0)": lambda: instant(
        pyarrow.array([decimal.Decimal(NOON)], pyarrow.decimal128(38, 0))
    ),
    "an instant of decimal(20,2)": lambda: instant(
        pyarrow.array([decimal.Decimal(NOON)], pyarrow.decimal128(20, 2))
    ),
    "a timestamp with a time zone, of any unit": lambda: of_every_unit("Asia/Tokyo"),
    "a timestamp without a time zone": lambda: instant(naive()),
    'a timestamp without a time zone, and `time_zone="UTC"`': lambda: all(
        instant(naive(unit), time_zone="UTC") for unit in ("s", "ms", "us", "ns")
    ),
    "a date": lambda: instant(pyarrow.array([datetime.date(2024, 6, 3)])),
    "a list, large_list, fixed_size_list or list_view of ids": lambda: all(
        mentions(typed([["ben"], ["ann"]], kind))
        for kind in (
            pyarrow.list_(pyarrow.string()),
            pyarrow.large_list(pyarrow.string()),
            pyarrow.list_(pyarrow.string(), 1),
        )
    )
    and mentions(list_views()),
    "a struct for an object": lambda: users_of(
        id=["ann", "ben"], quietHours=pyarrow.array([QUIET, None])
    )
    == ["ben"],
    "a map for an object": lambda: users_of(
        id=["ann", "ben"],
        quietHours=pyarrow.array(
            [list(QUIET.items()), None], pyarrow.map_(pyarrow.string(), pyarrow.string())
        ),
    ),
    "binary": lambda: level(pyarrow.array([b"none", None])),
    "an extension type, such as periods of pandas": lambda: Fanout.from_ndjson(RECORDS).messages(
        pandas.DataFrame(MESSAGES[:1]).assign(at=pandas.PeriodIndex(["2024-06"], freq="M"))
    ),
    "an unknown column": lambda: users_of(id=["ann", "ben"], levle=["none", None]),
    "text that is not UTF-8": lambda: level(
        pyarrow.Array.from_buffers(
            pyarrow.string(), 2, pyarrow.array([b"\xff", None]).buffers()
        )
    ),
}  # fmt: skip
WORDS = {
    "a row that is null as a whole": "^users:2: the row is null$",
    "an instant of decimal(20,2)": r'^messages: "at" is of the type decimal\(20,2\), which',
    "a timestamp without a time zone": '^messages: the timestamps of "at" have no time zone',
    "a date": '^messages: "at" is of the type date32, .*; cast it to a timestamp with a time zone',
    "a map for an object": '^users: "quietHours" is of the type map, .*; give a struct$',
    "binary": '^users: "level" is of the type binary, which cannot be read; cast it to text$',
    "an extension type, such as periods of pandas": '^messages: "at" is of the extension type pa',
    "an unknown column": '^users: unknown column "levle"; did you mean "level"',
    "text that is not UTF-8": '^users:1: the text in the column "level" is not UTF-8$',
}
_, _, *COLUMN_ROWS = rows_of("column")


def test_the_page_has_all_columns():
    assert [row[0] for row in COLUMN_ROWS] == list(COLUMNS)


@pytest.mark.parametrize(("column", "says"), COLUMN_ROWS)
def test_a_column_is_read_or_refused(column, says):
    if says in ("read", "absent"):
        assert COLUMNS[column]() is True
        return
    assert says == "refused"
    with pytest.raises(Error, match=WORDS[column]):
        COLUMNS[column]()


def broken(*texts):
    """A column of texts in which Latin-1 stands for UTF-8."""
    parts = pyarrow.array([text and text.encode("latin-1") for text in texts], pyarrow.binary())
    return pyarrow.Array.from_buffers(pyarrow.string(), len(texts), parts.buffers())


def test_text_that_is_not_utf8_is_named_by_column_and_row():
    def forms(*texts):
        return broken(*texts), broken(*texts).dictionary_encode()

    words = '^users:3: the text in the column "level" is not UTF-8$'
    for column in forms("all", None, "\xe9"):
        with pytest.raises(Error, match=words):
            Fanout.open(users=pyarrow.table({"id": ["ann", "ben", "cid"], "level": column}))
    words = '^members:2: the text in the column "user" is not UTF-8$'
    for column in forms("ann", "d\xe4n", "\xff"):
        with pytest.raises(Error, match=words):
            Fanout.open(members=pyarrow.table({"conversation": ["g"] * 3, "user": column}))
    fanout = Fanout.from_ndjson(RECORDS)
    plain = {"id": ["a", "b", "c"], "conversation": ["g"] * 3, "at": [NOON] * 3}
    lists = pyarrow.ListArray.from_arrays([0, 1, 1, 2], broken("ann", "\xff"))
    for name, column in {"sender": broken("ann", "ben", "\xff"), "mentions": lists}.items():
        words = f'^messages:3: the text in the column "{name}" is not UTF-8$'
        with pytest.raises(Error, match=words):
            fanout.messages(pyarrow.table({**plain, name: column}))


# -------------------------------------------------------------------------------- Nothing, and more

NOTHING = {
    "a list": list,
    "a generator": lambda: iter(()),
    "bytes": bytes,
    "pyarrow": lambda: arrow(RECORDS).slice(0, 0),
    "no columns": lambda: pyarrow.table({}),
    "a reader": lambda: arrow(RECORDS).slice(0, 0).to_reader(),
    "polars": polars.DataFrame,
    "pandas": pandas.DataFrame,
    "duckdb": lambda: relation(RECORDS).filter("false"),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_nothing_is_nothing(tmp_path, kind):
    fanout = Fanout.from_ndjson(RECORDS)
    messages = fanout.messages(NOTHING[kind]())
    assert len(messages) == 0 and repr(messages) == "<Messages: none>"
    batch = fanout.decide_batch(messages, parts=("counts", "codes", "bitmaps"))
    assert (len(batch), batch.codes.tolist(), batch.counts.shape) == (0, [], (0, 160))
    assert batch.to_arrow().num_rows == 0
    decisions = fanout.decisions(NOTHING[kind]())
    table = decisions.to_arrow()
    assert (table.column_names, table.num_rows) == (["message", "user", "code"], 0)
    assert decisions.write_parquet(tmp_path / "d.parquet") == 0
    assert pyarrow.parquet.read_table(tmp_path / "d.parquet").num_rows == 0
    assert fanout.evaluate(NOTHING[kind]()) == b""
    assert fanout.evaluate(NOTHING[kind](), "csv") == b"message,user,action,reason,scope\n"
    assert fanout.update(NOTHING[kind]()) == 0
    assert fanout.sequence == 1
    if kind == "bytes":
        assert Fanout.open(NOTHING[kind]()).user_count == 0
    else:
        opened = Fanout.open(NOTHING[kind](), users=NOTHING[kind](), members=NOTHING[kind]())
        assert opened.user_count == 0


def test_a_file_of_no_bytes_is_an_error(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    path = written(tmp_path / "m.ndjson", b"")
    for call in (fanout.messages, fanout.evaluate, fanout.update, Fanout.open):
        with pytest.raises(Error, match="m.ndjson:1: the file is empty"):
            call(path)
    # One with a header alone has no rows.
    assert len(fanout.messages(written(tmp_path / "m.csv", b"id,conversation,at\n"))) == 0


def test_relations_of_one_connection_are_read_one_after_the_other():
    """As everybody calls it; also tables of one connection, and a query behind."""
    users = duckdb.sql("SELECT 'ann' AS id, 'none' AS level")
    members = duckdb.sql("SELECT 'g' AS conversation, unnest(['ann', 'ben']) AS user")
    assert Fanout.open(users=users, members=members).decide(MESSAGES[0]).pushes == ["ben"]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE u AS SELECT 'ann' AS id, 'none' AS level")
    connection.execute(
        "CREATE TABLE m AS SELECT 'g' AS conversation, unnest(['ann', 'ben']) AS user"
    )
    for _ in range(2):
        fanout = Fanout.open(users=connection.table("u"), members=connection.table("m"))
        assert fanout.decide(MESSAGES[0]).pushes == ["ben"]
        assert connection.sql("SELECT count(*) FROM m").fetchall() == [(2,)]
    bad = connection.sql("SELECT 'ann' AS id, 'loud' AS level")
    with pytest.raises(Error, match='users:1: "level" cannot be "loud"'):
        Fanout.open(users=bad, members=connection.table("m"))
    with pytest.raises(Error, match='members:1: the field "user" is missing'):
        Fanout.open(users=users, members=connection.sql("SELECT 'g' AS conversation"))
    # `sum` is a decimal for Arrow.
    query = "SELECT 'm' AS id, 'g' AS conversation, sum(x) AS at FROM range(5) t(x)"
    assert Fanout.from_ndjson(RECORDS).messages(connection.sql(query))[0].at == 10


class Failing:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ZeroDivisionError("the source is broken")


def test_what_a_source_raises_is_raised():
    for arguments in ({"users": Failing()}, {"users": arrow(USERS), "members": Failing()}):
        with pytest.raises(ZeroDivisionError, match="the source is broken"):
            Fanout.open(**arguments)
    with pytest.raises(ZeroDivisionError):
        Fanout.from_ndjson(RECORDS).messages(Failing())


def test_numbers_of_numpy_are_numbers():
    fanout = Fanout.from_ndjson(RECORDS)
    plain = {**MESSAGES[0], "at": np.int64(NOON), "mentionsAll": np.bool_(True)}
    assert fanout.decide(plain).pushes == ["ben"]
    assert fanout.decide({**plain, "mentions": np.array(["ann", "ben"])}).push_count == 1
    assert fanout.decide({**plain, "sender": pandas.NA, "silent": math.nan}).push_count == 1
    assert fanout.decide_batch(MESSAGES, first=np.int64(1), count=np.uint8(1)).pushes.tolist() == [
        0
    ]
    assert fanout.messages(MESSAGES)[np.int32(1)].id == "m2"
    assert fanout.next_change("ben", "g", np.int64(NOON)).at is None
    assert fanout.update({"kind": "user", "id": "ben", "mutedUntil": np.int64(NOON + 1)}) == 1
    assert fanout.update([{"kind": "user", "id": "ben", "mutedUntil": np.float64("nan")}]) == 1
    assert fanout.decide(plain).pushes == ["ben"]
    with pytest.raises(Error, match='the field "at" is missing'):
        fanout.decide({**plain, "at": pandas.NaT})
    with pytest.raises(TypeError, match="first must be an integer, not bool"):
        fanout.decide_batch(MESSAGES, first=True)
    with pytest.raises(TypeError, match="a record cannot have a value of type object"):
        fanout.decide({**plain, "ext": object()})


def test_the_records_of_a_frame_are_as_the_frame():
    """`to_dict` has NaN where the frame has nothing."""
    frame = pandas.DataFrame(MESSAGES)
    frame["sender"] = [math.nan, "ben"]
    fanout = Fanout.from_ndjson(RECORDS)
    expected = fanout.decide_batch(frame).codes.tolist()
    assert fanout.decide_batch(frame.to_dict("records")).codes.tolist() == expected
    assert fanout.evaluate(frame.to_dict("records")) == fanout.evaluate(frame)
    # What a filter has left keeps its numbers, which are no field.
    later = frame[frame["at"] > NOON]
    assert [info.id for info in fanout.messages(later)] == ["m2"]
    with pytest.raises(ValueError, match="Out of range float"):
        fanout.messages([{**MESSAGES[0], "at": math.inf}])


def test_ids_may_be_integers_wherever_one_is_asked_for():
    members = pandas.DataFrame({"conversation": [1, 1], "user": [7, 8]})
    fanout = Fanout.open(users=pandas.DataFrame({"id": [7, 8]}), members=members)
    message = {"id": 5, "conversation": 1, "sender": 8, "at": NOON}
    for number in (1, np.int64(1), "1"):
        assert fanout.decide({**message, "conversation": number}).pushes == ["7"]
        assert fanout.members(number)[0] == ["7", "8"]
    assert fanout.messages([message])[0][:2] == ("5", "1")
    assert fanout.evaluate(message, "pushlist") == b'{"message":"5","push":["7"]}\n'
    assert fanout.decide(message).outcome(np.int64(7)).action == "push"
    assert fanout.explain(message, 7).outcome.action == "push"
    assert fanout.next_change(7, 1, NOON).after.action == "push"
    assert fanout.update({"kind": "user", "id": 7, "level": "mention"}) == 1
    assert fanout.decide(message).pushes == []
    for mentions in ([7], (np.int64(7),), np.array([7])):
        assert fanout.decide({**message, "mentions": mentions}).pushes == ["7"]
    fanout.warm_up(1, NOON)
    fanout.remove_member(7, np.int64(1))
    assert fanout.members(1)[0] == ["8"]
    for call in (lambda: fanout.members(True), lambda: fanout.members(1.0)):
        with pytest.raises(TypeError, match="conversation must be a str or an integer"):
            call()


LOCAL = datetime.datetime(2024, 6, 3, 12)
NAIVE = {
    "decide": lambda f, **z: f.decide({**MESSAGES[0], "at": LOCAL}, **z).stamp and f,
    "messages": lambda f, **z: f.messages([{**MESSAGES[0], "at": LOCAL}], **z),
    "numpy": lambda f, **z: f.messages([{**MESSAGES[0], "at": np.datetime64(LOCAL)}], **z),
    "pandas": lambda f, **z: f.messages([{**MESSAGES[0], "at": pandas.Timestamp(LOCAL)}], **z),
    "polars": lambda f, **z: f.messages(polars.DataFrame([{**MESSAGES[0], "at": LOCAL}]), **z),
    "frame": lambda f, **z: f.messages(pandas.DataFrame([{**MESSAGES[0], "at": LOCAL}]), **z),
    "duckdb": lambda f, **z: f.messages(
        duckdb.sql("SELECT 'm' AS id, 'g' AS conversation, TIMESTAMP '2024-06-03 12:00' AS at"), **z
    ),
    "evaluate": lambda f, **z: f.evaluate([{**MESSAGES[0], "at": LOCAL}], **z),
    "update": lambda f, **z: f.update({"kind": "user", "id": "ann", "mutedUntil": LOCAL}, **z),
    "explain": lambda f, **z: f.explain({**MESSAGES[0], "at": LOCAL}, "ann", **z),
    "open": lambda f, **z: Fanout.open(
        users=polars.DataFrame({"id": ["ann"], "mutedUntil": [LOCAL]}), **z
    ),
    "from_ndjson": lambda f, **z: Fanout.from_ndjson(
        [{"kind": "user", "id": "ann", "mutedUntil": LOCAL}], **z
    ),
}


@pytest.mark.parametrize("place", NAIVE)
def test_a_local_time_needs_a_time_zone(place):
    fanout = Fanout.from_ndjson(RECORDS)
    with pytest.raises((Error, ValueError), match='ha(s|ve) no time zone.*time_zone="UTC"'):
        NAIVE[place](fanout)
    with pytest.raises(ValueError, match='there is no time zone "Mars/Base"'):
        NAIVE[place](fanout, time_zone="Mars/Base")
    found = NAIVE[place](fanout, time_zone="Asia/Shanghai")
    if place in ("messages", "numpy", "pandas", "polars", "frame", "duckdb"):
        assert found[0].at == NOON


@pytest.mark.parametrize("at", ["2024-10-27 02:30", "2024-03-31 02:30"])
def test_a_local_time_that_is_twice_or_never_is_refused(at):
    moment = datetime.datetime.fromisoformat(at)
    fanout = Fanout.from_ndjson(RECORDS)
    message = {**MESSAGES[0], "at": moment}
    for source in ([message], polars.DataFrame([message])):
        with pytest.raises((Error, ValueError), match="at|an instant"):
            fanout.messages(source, time_zone="Europe/Berlin")
    assert fanout.messages([message], time_zone="UTC")[0].at % 1000 == 0


def test_int96_of_parquet_is_in_utc(tmp_path):
    table = arrow([{"id": "m", "conversation": "g"}]).append_column("at", naive("ns"))
    path = tmp_path / "m.parquet"
    pyarrow.parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    for source in (path, [path], pyarrow.parquet.ParquetFile(path), open(path, "rb")):
        assert Fanout.from_ndjson(RECORDS).messages(source)[0].at == NOON
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(Error, match='m.parquet: the timestamps of "at" have no time zone'):
        Fanout.from_ndjson(RECORDS).messages(path)


def test_errors_name_what_was_given(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    no_room = pandas.DataFrame(MESSAGES).assign(conversation=["g", None])
    loud = pandas.DataFrame({"kind": "user", "id": ["a", "b"], "level": ["all", "loud"]})
    good = written(tmp_path / "good.ndjson", lines(RECORDS[1:]))
    bad = written(tmp_path / "bad.ndjson", lines([*RECORDS[1:], {"kind": "user"}]))
    open_fanout = Fanout.from_ndjson([{"kind": "app", "rules": "open"}])
    for call, words in [
        (lambda: fanout.messages(no_room), '^messages:2: the field "conversation" is missing'),
        (lambda: replay(fanout, no_room), '^messages:2: the field "conversation" is missing'),
        (lambda: fanout.evaluate(no_room), '^messages:2: the field "conversation" is missing'),
        (lambda: fanout.update(loud), '^changes:2: "level" cannot be "loud"'),
        (lambda: Fanout.from_ndjson(loud), '^settings:2: "level" cannot be "loud"'),
        (lambda: Fanout.open(loud), '^settings:2: "level" cannot be "loud"'),
        (lambda: fanout.update([good, bad]), 'bad.ndjson:5: the field "id" is missing'),
        (lambda: fanout.update(loud.rename(columns={"level": "lvl"})), '^changes: unknown column'),
        (lambda: open_fanout.set_presence(pandas.DataFrame({"user": ["a"], "state": ["asleep"]})),
         "^heartbeats:1: "),
        (lambda: fanout.messages(pandas.DataFrame(MESSAGES).rename(columns={"at": "room"})),
         '^messages: unknown column "room"'),
        (lambda: fanout.messages(pandas.DataFrame(MESSAGES).assign(id=["a", 7])),
         '^messages: "id" has values of several types, int and str'),
        *[(lambda: fanout.messages(polars.DataFrame(MESSAGES).cast({"at": polars.Int128})),
           "^messages: .* Int128, .*; cast it to Int64")
          for name in dir(polars) if name == "Int128"],
        (lambda: fanout.messages([arrow(MESSAGES), arrow(MESSAGES).cast(BINARY)]),
         '^messages: batch 2: "sender" is of the type binary'),
        (lambda: fanout.messages(str(tmp_path / "*.csv")), "patterns are not expanded; .*glob"),
        (lambda: fanout.messages("s3://bucket/m.parquet"), "is an address, .*pyarrow.dataset"),
    ]:  # fmt: skip
        with pytest.raises(Error, match=words):
            call()
    for call, words in [
        (lambda: fanout.messages([arrow(MESSAGES), MESSAGES[0]]), "batch 2 is no table but a dict"),
        (lambda: fanout.messages(duckdb.connect().execute("SELECT 1")), "give con.sql"),
        (lambda: fanout.update([str(good)]), "must be a pathlib.Path here"),
        (lambda: Fanout.open([good, parquet_of(tmp_path / "a.pq", USERS)]), "is no table, but"),
    ]:
        with pytest.raises(TypeError, match=words):
            call()


def test_frames_of_versions_before_the_lowest_are_refused(monkeypatch):
    monkeypatch.setattr(polars, "__version__", "1.9.0")
    with pytest.raises(ImportError, match="users: this is of polars 1.9.0, but 1.10 or later"):
        Fanout.open(users=polars.DataFrame(USERS))


BINARY = arrow(MESSAGES).schema.set(3, pyarrow.field("sender", pyarrow.binary()))


def test_frames_of_pandas_as_they_are():
    """Ids that are floats as one is missing, an index that is a column, sets and columns of ids."""
    fanout = Fanout.open(members=[{"conversation": "g", "user": user} for user in (7, 8)])
    frame = pandas.DataFrame(MESSAGES).assign(sender=[7.0, None], sentAt=[float(NOON), None])
    assert fanout.decide_batch(frame).pushes.tolist() == [1, 2]
    assert fanout.decide_batch(frame.to_dict("records")).pushes.tolist() == [1, 2]
    assert fanout.decide_batch(frame.set_index("id", drop=False)).pushes.tolist() == [1, 2]
    assert fanout.decide_batch(frame.set_index("id")).pushes.tolist() == [1, 2]
    for sender in (7.5, float(2**53)):
        for source in (frame.assign(sender=sender), frame.assign(sender=sender).to_dict("records")):
            with pytest.raises(Error, match='"sender" must be a string'):
                fanout.messages(source)
    fanout.update([{"kind": "user", "id": str(user), "level": "mention"} for user in (7, 8)])
    for mentions in ({7}, frozenset("7"), polars.Series(["7"]), pandas.Series([7]), [7.0]):
        assert fanout.decide({**MESSAGES[0], "mentions": mentions}).pushes == ["7"]


def test_a_folder_is_read_as_spark_reads_it(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    out = folder_of(tmp_path / "out", MESSAGES)
    for hidden in ("_temporary/0/task", ".hidden", "_x"):
        (out / hidden).mkdir(parents=True)
        parquet_of(out / hidden / "part-0.parquet", MESSAGES)
    assert [info.id for info in fanout.messages(out)] == ["m1", "m2"]
    # A field that folders are named by is a column; what is no field is none.
    rooms = tmp_path / "rooms"
    for number, room in enumerate(("g", "a%2Fb", "__HIVE_DEFAULT_PARTITION__")):
        part = rooms / "day=1" / f"conversation={room}"
        part.mkdir(parents=True)
        rows = [{"id": str(number), "at": NOON}]
        parquet_of(part / "p.parquet", rows if number < 2 else [{**rows[0], "conversation": "h"}])
    found = [(info.id, info.conversation) for info in fanout.messages(rooms)]
    assert sorted(found) == [("0", "g"), ("1", "a/b"), ("2", "h")]
    (rooms / "metadata").mkdir()
    written(rooms / "metadata" / "v1.metadata.json", "{}")
    with pytest.raises(Error, match="rooms: is a table of Iceberg, .*pyiceberg"):
        fanout.messages(rooms)
    (out / "_delta_log").mkdir()
    with pytest.raises(Error, match="out: is a table of Delta, .*deltalake.DeltaTable"):
        fanout.messages(out)


def test_words_for_what_is_refused(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    for call, words in [
        (lambda: fanout.messages(7), "messages cannot be a int"),
        (lambda: fanout.messages(MESSAGES)[0:1] and fanout.messages(fanout.messages(MESSAGES)),
         "these are messages already"),
        (lambda: fanout.evaluate(fanout.messages(MESSAGES)), "give what they are of"),
        (lambda: fanout.evaluate("m.ndjson"), "the path of a file is a pathlib.Path here"),
        (lambda: Fanout.open(members={"conversation": ["g"], "user": ["a"]}), "looks like columns"),
        (lambda: Fanout.open(users=io.StringIO("x")), "bytes of users have no form"),
        (lambda: fanout.messages([object()]), "a record must be a dictionary, not object"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=words):
            call()
    with pytest.raises(Error, match="bad.pq: "):
        fanout.messages(written(tmp_path / "bad.pq", b"PAR1 is not all"))
    (tmp_path / "none").mkdir()
    with pytest.raises(Error, match="is a directory; name a file"):
        fanout.messages(tmp_path / "none")
