"""Settings and messages from every library of frames, and decisions into them."""

from __future__ import annotations

import ctypes as C
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from worlds_under_test import MESSAGES, NIGHT, NOON, RECORDS

from push_fanout import REGISTRY_VERSION, Error, Fanout, _native

USERS = [
    {"id": "ann", "level": None, "mutedUntil": None,
     "quietHours": {"start": "22:00", "end": "8:00"}, "devices": None},
    {"id": "ben", "level": "all", "mutedUntil": NOON, "quietHours": None,
     "devices": [{"id": "p1", "state": "offline"}, {"id": "p2", "state": "offline"}]},
    {"id": "dän", "level": "mention", "mutedUntil": None, "quietHours": None, "devices": None},
]  # fmt: skip
MEMBERS = [
    {"conversation": "g", "user": "ann", "level": None},
    {"conversation": "g", "user": "cid", "level": "none"},
    {"conversation": "g", "user": "dän", "level": None},
    {"conversation": "g", "user": "ben", "level": None},
]
SETTINGS = b'{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}'
SETTINGS_TABLE = pyarrow.table({"kind": ["user"], "id": ["ann"]})
MESSAGE = {"id": "m", "conversation": "g", "sender": "cid", "at": NIGHT, "mentions": ["dän"]}
EXPECTED = [
    ("ann", "quietHours", ()), ("ben", "allowed", ("p1", "p2")), ("dän", "allowed", ("default",)),
]  # fmt: skip


CONNECTIONS: list[Any] = []


def duckdb_of(records: list[dict[str, Any]]) -> Any:
    table = pyarrow.Table.from_pylist(records)
    # Before DuckDB 1.5 a relation does not keep its connection.
    CONNECTIONS.append(connection := duckdb.connect())
    connection.register("records", table)
    connection.execute("CREATE TABLE copied AS FROM records")
    return connection.sql("FROM copied")


def chunked(records: list[dict[str, Any]]) -> Any:
    """Several batches, with dictionaries of text and instants with a time zone."""
    table = pyarrow.Table.from_pylist(records)
    for name in ("user", "conversation", "level"):
        if name in table.column_names:
            index = table.column_names.index(name)
            table = table.set_column(index, name, table[name].dictionary_encode())
    for name in ("at", "mutedUntil"):
        if name in table.column_names:
            index = table.column_names.index(name)
            kind = pyarrow.timestamp("us", "Asia/Tokyo")
            moments = pyarrow.compute.cast(table[name], pyarrow.timestamp("ms", "UTC")).cast(kind)
            table = table.set_column(index, name, moments)
    return pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])


MAKERS = {
    "pyarrow": pyarrow.Table.from_pylist,
    "chunks": chunked,
    "polars": polars.DataFrame,
    "pandas": lambda records: pandas.DataFrame(records, dtype=object).infer_objects(),
    "duckdb": duckdb_of,
    "dictionaries": list,
    "generator": iter,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_settings_and_messages_come_from(kind):
    make = MAKERS[kind]
    fanout = Fanout.open(settings=SETTINGS, users=make(USERS), members=make(MEMBERS))
    messages = fanout.messages(make([MESSAGE]))
    assert [info.id for info in messages] == ["m"]
    assert fanout.decide_batch(messages).pushes.tolist() == [2]
    rows = fanout.decide(MESSAGE).rows()
    assert [(row.user, row.reason, row.devices) for row in rows] == EXPECTED


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "dictionaries"])
def test_a_problem_names_the_table_and_the_row(kind):
    make = MAKERS[kind]
    users = [*USERS, {**USERS[0], "id": "eve", "level": "loud"}]
    with pytest.raises(Error) as raised:
        Fanout.open(settings=SETTINGS, users=make(users), members=make(MEMBERS))
    assert str(raised.value).startswith("users:4: ") and '"loud"' in str(raised.value)
    with pytest.raises(Error) as raised:
        Fanout.open(users=make(USERS), members=make([*MEMBERS, {"conversation": "g"}]))
    assert str(raised.value).startswith("members:5: ")


def test_what_cannot_be_opened_together_is_refused():
    table = pyarrow.Table.from_pylist(USERS)
    for arguments, words in [
        ({"users": b""}, "bytes of users"),
        ({"users": "users.csv", "members": table}, "cannot be a CSV file"),
        ({"snapshot": "a", "store": "b"}, "cannot be opened together"),
        ({"snapshot": "a", "users": table}, "cannot be opened together"),
        ({"users": [1]}, "a record must be a dictionary"),
        ({"settings": SETTINGS_TABLE, "members": MEMBERS}, "members cannot be dictionaries"),
    ]:
        with pytest.raises(TypeError, match=words):
            Fanout.open(**arguments)


def test_a_stream_that_fails_is_an_error():
    def batches():
        yield pyarrow.RecordBatch.from_pylist(USERS)
        raise ValueError("the source broke")

    schema = pyarrow.Table.from_pylist(USERS).schema
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(ValueError, match="the source broke"):
        Fanout.open(users=reader)
    with pytest.raises(Error, match="must be a struct|cannot be read"):
        Fanout.open(users=pyarrow.chunked_array([[1, 2]]))


@pytest.mark.parametrize("users", ["pyarrow", "dictionaries"])
@pytest.mark.parametrize("members", ["pyarrow", "dictionaries"])
def test_users_and_members_may_come_in_different_forms(users, members):
    fanout = Fanout.open(SETTINGS, users=MAKERS[users](USERS), members=MAKERS[members](MEMBERS))
    rows = fanout.decide(MESSAGE).rows()
    assert [(row.user, row.reason, row.devices) for row in rows] == EXPECTED
    assert fanout.decide(MESSAGE).members == ["ann", "ben", "dän", "cid"]


@pytest.fixture(name="decided")
def fixture_decided():
    fanout = Fanout.from_ndjson(RECORDS)
    expected = [
        (number, user, code)
        for number, message in enumerate(MESSAGES)
        for user, code in enumerate(fanout.decide(message).codes.tolist())
        if code
    ]
    return fanout.decisions(MESSAGES), expected


def test_decisions_go_into_every_library(decided):
    decisions, expected = decided
    columns = ["message", "user", "code"]
    found = {
        "pyarrow": pyarrow.table(decisions).to_pylist(),
        "polars": polars.DataFrame(decisions).to_dicts(),
        "pandas": pyarrow.table(decisions).to_pandas().to_dict("records"),
        "duckdb": [dict(zip(columns, row)) for row in duckdb.sql("FROM decisions").fetchall()],
        "reader": pyarrow.RecordBatchReader.from_stream(decisions).read_all().to_pylist(),
    }
    rows = [dict(zip(columns, row)) for row in expected]
    assert {name: sorted(map(tuple, map(dict.values, part))) for name, part in found.items()} == {
        name: sorted(expected) for name in found
    }
    assert found["pyarrow"] == found["polars"] == found["reader"] == rows


def test_decisions_can_be_read_many_times_and_stay_as_they_are():
    fanout = Fanout.from_ndjson(RECORDS)
    decisions = fanout.decisions(MESSAGES)
    first = pyarrow.table(decisions)
    fanout.update({"kind": "user", "id": "ben", "level": "none"})
    for _ in range(3):
        assert pyarrow.table(decisions) == first
    # DuckDB asks for the stream several times in a query.
    query = """
        SELECT id, count(*) AS pushes FROM decisions JOIN users USING (user)
        WHERE code % 2 = 1 GROUP BY id ORDER BY id"""
    users = decisions.users
    assert users is not None
    for _ in range(2):
        assert duckdb.sql(query).fetchall() == [("ben", 8)]
    assert pyarrow.table(fanout.decisions(MESSAGES)) != first


def test_the_stamp_and_the_registry_are_in_the_metadata(tmp_path):
    fanout = Fanout.from_ndjson(RECORDS)
    fanout.update({"kind": "user", "id": "eve"})
    expected = {
        b"push_fanout.epoch": str(fanout.epoch).encode(),
        b"push_fanout.sequence": b"2",
        b"push_fanout.outcomes": str(REGISTRY_VERSION).encode(),
    }
    decisions = fanout.decisions(MESSAGES)
    assert pyarrow.table(decisions).schema.metadata == expected
    assert pyarrow.table(decisions.users).schema.metadata == expected
    path = tmp_path / "decisions.parquet"
    assert decisions.write_parquet(path) == pyarrow.table(decisions).num_rows
    written = pyarrow.parquet.read_table(path)
    assert written.schema.metadata == expected
    assert written == pyarrow.table(decisions)
    assert [file.name for file in tmp_path.iterdir()] == ["decisions.parquet"]


# ---------------------------------------------------------------------------- No copy, by addresses


class Array(C.Structure):
    """ArrowArray."""


Array._fields_ = [
    ("length", C.c_int64), ("null_count", C.c_int64), ("offset", C.c_int64),
    ("n_buffers", C.c_int64), ("n_children", C.c_int64), ("buffers", C.POINTER(C.c_void_p)),
    ("children", C.POINTER(C.POINTER(Array))), ("dictionary", C.c_void_p),
    ("release", C.c_void_p), ("private_data", C.c_void_p),
]  # fmt: skip
NEXT = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(Array))


class Watched:
    """A relation whose streams note the addresses of the columns that they give."""

    def __init__(self, inner: Any, sizes: tuple[int, ...] = (4, 4, 1)) -> None:
        self.inner = inner
        self.sizes = sizes
        self.addresses: list[list[int]] = []
        self._kept: list[object] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        capsule = self.inner.__arrow_c_stream__()
        address = _native.stream_address(capsule)
        # The second function of the structure is get_next.
        place = C.c_void_p.from_address(address + C.sizeof(C.c_void_p))
        get_next = NEXT(place.value or 0)

        def watch(stream: int, out: Any) -> int:
            status: int = get_next(stream, out)
            array = out.contents
            if array.release:
                self.addresses.append(
                    [
                        child.buffers[1] + child.offset * size
                        for child, size in zip(
                            (array.children[index].contents for index in range(3)), self.sizes
                        )
                    ]
                )
            return status

        watcher = NEXT(watch)
        self._kept.append(watcher)
        place.value = C.cast(watcher, C.c_void_p).value
        return capsule


@pytest.fixture(name="room", scope="module")
def fixture_room():
    """Messages to a room of more members than a batch of small ones has rows."""
    count = 70_000
    members = polars.DataFrame(
        {"conversation": ["g"] * count, "user": [f"u{number}" for number in range(count)]}
    )
    fanout = Fanout.open(members=members)
    return fanout.decisions([{"id": "m", "conversation": "g", "at": NOON}] * 3)


def test_pyarrow_has_the_buffers_of_the_engine(room):
    watched = Watched(room)
    table = pyarrow.table(watched)
    found = [
        [
            chunk.buffers()[1].address + chunk.offset * chunk.type.bit_width // 8
            for chunk in (table[name].chunk(index) for name in table.column_names)
        ]
        for index in range(table["code"].num_chunks)
    ]
    assert len(found) == 3 and found == watched.addresses
    # The users of the room are one buffer for all messages.
    assert len({users for _, users, _ in found}) == 1


def test_polars_has_the_buffers_of_the_engine(room):
    watched = Watched(room)
    frame = polars.DataFrame(watched)
    chunks = [frame[name].get_chunks() for name in ("message", "user", "code")]
    found = [
        [chunk.to_numpy(allow_copy=False).ctypes.data for chunk in parts] for parts in zip(*chunks)
    ]
    assert len(found) == 3 and found == watched.addresses


def test_numpy_has_the_buffers_of_the_engine(room):
    watched = Watched(room)
    for batch in pyarrow.RecordBatchReader.from_stream(watched):
        found = [column.to_numpy(zero_copy_only=True).ctypes.data for column in batch.columns]
        assert found == watched.addresses[-1]
    assert np.sum(pyarrow.table(room)["code"].to_numpy()) > 0


VIEWS = (4, 16, 1)


@pytest.mark.parametrize(("members", "count"), [(70_000, 3), (20, 5000)])
def test_views_are_taken_over_and_shared(members, count):
    """Ids of both forms of views: within the view, and in a buffer of characters."""
    ids = [f"u{number}" if number % 3 else f"user-number-{number}" for number in range(members)]
    fanout = Fanout.open(members=polars.DataFrame({"conversation": ["g"] * members, "user": ids}))
    decisions = fanout.decisions(
        [{"id": "m", "conversation": "g", "at": NOON, "sender": ids[1]}] * count, ids="views"
    )
    expected = (ids[:1] + ids[2:]) * count
    watched = Watched(decisions, VIEWS)
    table = pyarrow.table(watched)
    assert table["user"].type == pyarrow.string_view()
    assert [chunk.buffers()[1].address + chunk.offset * 16 for chunk in table["user"].chunks] == [
        users for _, users, _ in watched.addresses
    ]
    assert table["user"].to_pylist() == expected
    # polars does not tell the address of texts, but gives away what it has taken.
    watched = Watched(decisions, VIEWS)
    frame = polars.DataFrame(watched)
    chunks = [pyarrow.chunked_array(chunk).chunk(0) for chunk in frame["user"].get_chunks()]
    assert [chunk.buffers()[1].address + chunk.offset * 16 for chunk in chunks] == [
        users for _, users, _ in watched.addresses
    ]
    assert frame["user"].to_list() == expected
    if members > 65_536:
        # The views of the room are one buffer for all messages, without the sender's.
        users = [users for _, users, _ in watched.addresses]
        assert users == [users[0], users[0] + 32] * count
    query = "SELECT user, count(*) FROM decisions GROUP BY user ORDER BY user"
    assert duckdb.sql(query).fetchall() == sorted((user, count) for user in ids[:1] + ids[2:])


def test_views_of_large_rooms_with_many_gaps():
    """Members who join later are no recipients: rows of their own for each message, whose views are
    those of the room, beside rooms of other sizes in between."""
    rooms = {"a": 70_000, "b": 66_000, "c": 20}
    conversation, user, since = [], [], []
    for room, count in rooms.items():
        for number in range(count):
            conversation.append(room)
            user.append(f"u{number}" if number % 3 else f"user-number-{room}-{number}")
            since.append(NOON + 1 if number % 700 == 1 else 0)
    members = polars.DataFrame({"conversation": conversation, "user": user, "since": since})
    fanout = Fanout.open(members=members)
    messages = [
        {"id": f"m{number}", "conversation": room, "at": NOON + number % 2}
        for number, room in enumerate("cabcaaccbbcab" * 3)
    ]
    views = pyarrow.table(fanout.decisions(messages, ids="views"))
    texts = pyarrow.table(fanout.decisions(messages, ids=True))
    assert len(texts) > 1_600_000
    assert views["user"].cast(pyarrow.large_string()).equals(texts["user"])
    assert views.drop_columns("user").equals(texts.drop_columns("user"))


def test_the_form_of_ids_is_one_of_three():
    fanout = Fanout.from_ndjson(RECORDS)
    forms = {
        ids: pyarrow.table(fanout.decisions(MESSAGES, ids=ids)) for ids in (False, True, "views")
    }
    assert {ids: str(table["user"].type) for ids, table in forms.items()} == {
        False: "uint32", True: "large_string", "views": "string_view"
    }  # fmt: skip
    assert forms["views"]["user"].to_pylist() == forms[True]["user"].to_pylist()
    with pytest.raises(ValueError, match="ids must be False, True or 'views', not 'numbers'"):
        fanout.decisions(MESSAGES, ids="numbers")


def test_a_stream_that_nobody_reads_is_freed(room):
    for _ in range(100):
        room.__arrow_c_stream__()
    with pytest.raises(ValueError):
        _native.stream_address(object())
