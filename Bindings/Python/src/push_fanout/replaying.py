"""Replays and comparisons: what messages would have cost, along time."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Union

from . import _native
from .arrow import pyarrow_module
from .display import Frames, NoCopy, html_table, instant_text
from .engine import Fanout, Progress, read_table
from .errors import Error
from .messages import Messages
from .records import Id, Instant, encoded, milliseconds, ndjson, records_of, zone_named
from .sources import Given, Path, Source, are_paths, given, lines_of, naming, paths_of

if TYPE_CHECKING:
    import pyarrow

When = Union[Instant, str]
"""An instant: milliseconds since 1970, a datetime, or a text as on the command line, such as
``"2024-06-03"``."""
_PRESENCE = ("ts", "conversation", "user", "online")


class Page(str):
    """An HTML page as text; a notebook shows it in a frame of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Page: {len(self):,} characters>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self)}" width="100%" height="800" '
            'style="border:0"></iframe>'
        )


class Figures(Frames):
    """A table of a result, for libraries of frames: `ReplayResult.table`, `CompareResult.table`.

    Instants are timestamps in UTC; whole numbers are int64.
    """

    __slots__ = ("name", "_columns")

    def __init__(self, name: str, columns: dict[str, list[Any]]) -> None:
        self.name = name
        """What the table is of."""
        self._columns = columns

    def columns(self) -> dict[str, list[Any]]:
        """The table as lists of Python; instants are milliseconds since 1970."""
        return {name: list(column) for name, column in self._columns.items()}

    def __len__(self) -> int:
        return max((len(column) for column in self._columns.values()), default=0)

    def __repr__(self) -> str:
        return f"<Figures: {self.name}, {len(self):,} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        shown = {
            name: [instant_text(value) for value in column] if name in _INSTANTS else column
            for name, column in self._columns.items()
        }
        return html_table(f"{self.name}: {len(self):,} rows", shown, zip(*shown.values()))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as a capsule with an `ArrowArrayStream`.

        Args:
            requested_schema: not followed, as the protocol allows.
        """
        return self._table().__arrow_c_stream__()

    def _table(self) -> pyarrow.Table:
        pa = pyarrow_module("a result as a frame")
        arrays = {}
        for name, column in self._columns.items():
            kind = (
                pa.timestamp("ms", "UTC") if name in _INSTANTS
                else pa.float64() if name == "days"
                else pa.string() if name in _WORDS and (self.name, name) != ("sizes", "from")
                else pa.int64()
            )  # fmt: skip
            arrays[name] = pa.array(column, kind)
        return pa.table(arrays)


_INSTANTS = frozenset(["at", "first", "last"])
_WORDS = frozenset(
    ["action", "reason", "scope", "id", "name", "unit", "by", "conversation", "from", "to"]
)


class Result(Frames, NoCopy):
    """What a replay and a comparison have in common: fields as the result file has them, tables as
    frames, and the page."""

    __slots__ = ("_native", "_data")
    _instead = "send json, or to_html()"
    _columns: Mapping[str, tuple[str, ...]]
    _main = "outcomes"

    def __init__(self, native: _native.Result) -> None:
        self._native = native
        self._data: dict[str, Any] | None = None

    @property
    def json(self) -> bytes:
        """The result file, as the command writes it with ``--json``; `push-fanout report` reads
        it."""
        return self._native.json()

    @property
    def data(self) -> dict[str, Any]:
        """The fields of the result file."""
        data = self._data
        if data is None:
            data = self._data = dict(json.loads(self.json))
        return data

    def __getitem__(self, field: str) -> Any:
        return self.data[field]

    @property
    def tables(self) -> list[str]:
        """The names of the tables that there are."""
        return [name for name in self._columns if self._found(name) is not None]

    def _found(self, name: str) -> Any:
        found: Any = self.data
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def table(self, name: str) -> Figures:
        """A table of the result: a field of the result file that is a list, or a series.

        Args:
            name: one of `tables`.
        """
        found = self._found(name) if name in self._columns else None
        if found is None:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(self.tables)}")
        names = self._columns[name]
        if isinstance(found, dict):
            columns = {column: found[column] for column in names}
        else:
            columns = {column: [row.get(column) for row in found] for column in names}
        return Figures(name, columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table of outcomes, as a capsule with an `ArrowArrayStream`.

        Args:
            requested_schema: not followed, as the protocol allows.
        """
        return self.table(self._main).__arrow_c_stream__()

    def to_html(
        self,
        *,
        title: str | None = None,
        note: str | None = None,
        price_per_million: str | float | None = None,
        print_figures: bool = False,
    ) -> Page:
        """The page that ``push-fanout report`` makes of the result: a text, which a notebook shows.

        Args:
            title: the page's heading.
            note: what readers are to know first, such as where the data is from.
            price_per_million: what a million pushes cost, in any currency: ``"$0.50"``.
            print_figures: whether folded sections are printed, too.

        Raises:
            Error: what is wrong with the price.
        """
        price = None if price_per_million is None else str(price_per_million)
        options = _options(
            {"title": title, "note": note, "price-per-million": price},
            {"print-figures": print_figures},
        )
        return Page(self._native.html(options).decode())

    def _counts(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._counts()}>"

    def _repr_html_(self) -> str:
        table = self.table(self._main).columns()
        rows = sorted(zip(*table.values()), key=lambda row: -max(row[3:]))
        return html_table(f"{type(self).__name__}: {self._counts()}", table, rows)


_SERIES = ("at", "messages", "decisions", "pushes")
_COUNTS = ("messages", "decisions", "pushes")
_HELD = ("at", "held", "released", "waiting")


class ReplayResult(Result):
    """What a replay came to: what `replay` gives. docs/replay.md has the fields, and what each
    figure counts.

    As a frame it is the table of outcomes: ``action``, ``reason``, ``scope``, ``count``; `table`
    gives the others.
    """

    __slots__ = ()
    _columns = {
        "outcomes": ("action", "reason", "scope", "count"),
        "hours": _SERIES,
        "minutes": _SERIES,
        "week": ("weekday", "hour", "days", *_COUNTS),
        "conversationTable": ("id", "name", "members", *_COUNTS, "first", "last"),
        "sizes": ("from", *_COUNTS, "conversations"),
        "peaks": ("unit", "by", "at", *_COUNTS, "conversation", "share"),
        "hold.outcomes": ("reason", "scope", "held", "never"),
        "hold.hours": _HELD,
        "hold.minutes": _HELD,
        "people.neverReasons": ("reason", "people"),
        "top.people": ("id", "pushes", "days", "conversation", "share"),
        "top.senders": ("id", "messages", "decisions", "pushes"),
    }

    def _counts(self) -> str:
        data = self.data
        return (
            f"{data['messages']:,} messages, {data['decisions']:,} decisions, "
            f"{data['pushes']:,} pushes"
        )


class CompareResult(Result):
    """What a comparison came to: what `compare` gives. docs/compare.md has the fields, and what
    each figure counts.

    As a frame it is the table of outcomes: ``action``, ``reason``, ``scope``, ``a``, ``b``; `table`
    gives the others.
    """

    __slots__ = ()
    _columns = {
        "outcomes": ("action", "reason", "scope", "a", "b"),
        "changes": ("from", "to", "count"),
        "hours": ("at", "messages", "a", "b", "gained", "lost"),
        "week": ("weekday", "hour", "days", "messages", "a", "b"),
        "conversationTable": (
            "id", "name", "members", "messages", "decisions", "a", "b", "gained", "lost",
        ),
        "users.gainers": ("id", "gained", "lost"),
        "users.losers": ("id", "gained", "lost"),
        "users.mentionLosers": ("id", "conversation", "mentions"),
    }  # fmt: skip

    def _counts(self) -> str:
        data = self.data
        return (
            f"{data['messages']:,} messages, {data['a']['pushes']:,} pushes become "
            f"{data['b']['pushes']:,}; {data['changed']:,} decisions differ"
        )


# ------------------------------------------------------------------------------------------ Inputs


def _options(texts: Mapping[str, object], flags: Mapping[str, object] | None = None) -> bytes:
    """Options as the library takes them: those that are given."""
    given = {name: value for name, value in texts.items() if value is not None and value != []}
    for name, flag in (flags or {}).items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name.replace('-', '_')} must be a bool, not {type(flag).__name__}")
        given[name] = flag
    try:
        return json.dumps(given, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except TypeError as error:
        raise TypeError(f"options: {error}") from None


def _when(at: When | None, name: str, zone: tzinfo | None) -> str | None:
    if at is None or isinstance(at, str):
        return at
    return str(milliseconds(at, name, zone))


def _ids(ids: Iterable[Id] | Id | None, name: str) -> list[str]:
    if ids is None:
        return []
    several = [ids] if isinstance(ids, (str, int)) else ids
    return [encoded(one, name).decode("utf-8", "surrogatepass") for one in several]


def _texts(texts: Iterable[Path] | Path | None) -> list[str]:
    """Changes: texts, or the paths of files."""
    if texts is None:
        return []
    if isinstance(texts, (str, os.PathLike)):
        return [os.fsdecode(texts)]
    return [os.fsdecode(text) for text in texts]


def _output(path: Path | None) -> str | None:
    return None if path is None else os.fsdecode(path)


def _rate(rate: int | str | None) -> str | None:
    return None if rate is None else rate if isinstance(rate, str) else f"{rate}/s"


_File = tuple[bytes, Union[bytes, None]]
_Reader = Callable[[Given, Union[tzinfo, None]], bytes]


def _files(
    source: Source | Given | None, name: str, zone: tzinfo | None, read: _Reader
) -> tuple[_File, ...]:
    """The files of a source: those that are named, or what is read of it."""
    if source is None:
        return ()
    if isinstance(source, (list, tuple)) and not isinstance(source, Given) and are_paths(source):
        return tuple(file for path in paths_of(source) for file in _files(path, name, zone, read))
    found = source if isinstance(source, Given) else given(source, name.split(".")[0], zone)
    if found.paths is not None:
        return tuple((os.fsencode(path), None) for path in found.paths)
    # Rows of a table have its name; that of CSV says what the lines are.
    is_named = found.table is not None and not name.endswith(".csv")
    return ((os.fsencode(found.name if is_named else name), read(found, zone)),)


def _messages(
    source: Source | Messages, engine: _native.Engine, zone: tzinfo | None, skips: bool
) -> tuple[Given, tuple[_File, ...], tuple[_native.Messages, ...]]:
    """Messages of a replay: what errors call them, files, and what was read."""
    found = Given("messages")
    if isinstance(source, Messages):
        return found, (), (source._native,)
    if not isinstance(source, (list, tuple)) or not are_paths(source):
        found = given(source, "messages", zone)
        if found.table is not None and not skips:
            return found, (), (read_table(engine, found, None),)
        return found, _files(found, "messages.ndjson", zone, lines_of), ()
    return found, _files(source, "messages.ndjson", zone, lines_of), ()


def _presence_files(
    source: Source | None, fanout: Fanout, zone: tzinfo | None
) -> tuple[_File, ...]:
    """Presence of users, or heartbeats of devices under rules that have these."""
    if fanout.rules == "open":
        return _files(source, "presence.ndjson", zone, lines_of)
    return _files(source, "presence.csv", zone, _presence)


def _presence(source: Given, zone: tzinfo | None) -> bytes:
    """Presence as CSV."""
    if source.data is not None:
        return source.data
    records: Any = source.records
    if source.table is not None:
        records = [row for table in source.table.tables() for row in table.to_pylist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_PRESENCE)
    for record in records_of(records, "presence"):
        row = json.loads(ndjson([record], "presence", zone))
        unknown = row.keys() - set(_PRESENCE)
        if unknown:
            raise Error(
                f'presence: unknown field "{min(unknown)}"; there are {", ".join(_PRESENCE)}',
                "PF_INVALID",
            )
        writer.writerow([_cell(row.get(name)) for name in _PRESENCE])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def _engine(fanout: object) -> _native.Engine:
    if not isinstance(fanout, Fanout):
        raise TypeError(
            f"the settings must be a Fanout, not {type(fanout).__name__}: Fanout.open() opens them"
        )
    return fanout._opened()


# --------------------------------------------------------------------------------------- Functions


def replay(
    fanout: Fanout,
    messages: Source | Messages,
    *,
    presence: Source | None = None,
    changes: Source | None = None,
    hold: bool = False,
    held: Path | None = None,
    per_person: bool = False,
    people: Path | None = None,
    top: int | None = None,
    rate_limit: int | str | None = None,
    follow_user: Id | None = None,
    follow_conversation: Id | None = None,
    from_: When | None = None,
    to: When | None = None,
    conversation: Iterable[Id] | Id | None = None,
    user: Iterable[Id] | Id | None = None,
    week_zone: str | None = None,
    delimiter: str | None = None,
    columns: str | None = None,
    csv_zone: str | None = None,
    skip_invalid: bool = False,
    time_zone: str | None = None,
    progress: Progress = None,
) -> ReplayResult:
    """Replays messages, presence and changes of settings in the order of time, and adds up what
    became of them: what ``push-fanout replay`` does (docs/replay.md). The engine stays as it is.

    Args:
        fanout: the settings at the beginning.
        messages: what `Fanout.messages` takes or has given, or the paths of several files; sorted
            by time.
        presence: who comes online and goes offline: CSV by its path or as bytes, or a table or
            records with ``ts``, ``conversation``, ``user``, ``online``; under open rules
            heartbeats, as `Fanout.set_presence` takes them. Sorted by time.
        changes: changes of settings, each with ``at``: as ``messages``, sorted by time.
        hold: whether to find out when suppressed decisions would push.
        held: a file that gets a row for each such decision, with the instant: CSV if its name ends
            in .csv, otherwise NDJSON.
        per_person: whether to count what each person gets a day.
        people: a CSV file that gets a row for each person who was decided for.
        top: so many people and senders with most pushes are named, and people counted as with
            ``per_person``; None for 10 where they are counted anyway.
        rate_limit: how many pushes a second the provider takes, as a number or like ``"10000/s"``.
        follow_user: the user whose messages are listed, with what became of each.
        follow_conversation: the same of a conversation.
        from_: only messages from this instant on.
        to: only messages before this instant.
        conversation: only messages of these conversations.
        user: only decisions for these users.
        week_zone: the zone of the hours of the week, ``--time-zone`` of the command; None for the
            app's.
        delimiter, columns, csv_zone: how a CSV file is written that comes from elsewhere:
            ``--delimiter``, ``--columns`` and ``--zone`` of the command. ``from_`` and ``to`` are
            in that zone, too.
        skip_invalid: whether bad lines of messages and presence are left out;
            ``result["skippedLines"]`` has their number.
        time_zone: what timestamps and datetimes without a time zone are in; None to refuse them.
        progress: called about every 50 ms with how many messages were decided, and 0.

    Raises:
        Error: what is wrong, and in which line.

    >>> fanout = Fanout.from_ndjson([{"kind": "member", "conversation": "g", "user": "ann"}])
    >>> result = replay(fanout, [{"id": "m", "conversation": "g", "at": 0}])
    >>> result
    <ReplayResult: 1 messages, 1 decisions, 1 pushes>
    >>> result.to_arrow().to_pylist()
    [{'action': 'push', 'reason': 'allowed', 'scope': 'default', 'count': 1}]
    """
    engine, zone = _engine(fanout), zone_named(time_zone)
    found, files, read = _messages(messages, engine, zone, skip_invalid)
    traffic = (
        files,
        _presence_files(presence, fanout, zone),
        _files(changes, "changes.ndjson", zone, lines_of),
        read,
    )
    follow = {"follow-user": follow_user, "follow-conversation": follow_conversation}
    options = _options(
        {
            **{name: _ids(id, name)[0] for name, id in follow.items() if id is not None},
            "rate-limit": _rate(rate_limit), "from": _when(from_, "from_", zone),
            "to": _when(to, "to", zone), "conversation": _ids(conversation, "conversation"),
            "user": _ids(user, "user"), "time-zone": week_zone, "delimiter": delimiter,
            "columns": columns, "zone": csv_zone, "held": _output(held), "people": _output(people),
            "top": top,
        },
        {"hold": hold, "per-person": per_person, "skip-invalid": skip_invalid},
    )  # fmt: skip
    with naming(found, "messages"):
        return ReplayResult(engine.replay(traffic, options, progress))


def compare(
    fanout: Fanout,
    messages: Source,
    b: Iterable[Path] | Path,
    *,
    a: Iterable[Path] | Path | None = None,
    presence: Source | None = None,
    name_a: str | None = None,
    name_b: str | None = None,
    people: Path | None = None,
    top: int = 20,
    rate_limit: int | str | None = None,
    from_: When | None = None,
    to: When | None = None,
    conversation: Iterable[Id] | Id | None = None,
    user: Iterable[Id] | Id | None = None,
    week_zone: str | None = None,
    delimiter: str | None = None,
    columns: str | None = None,
    csv_zone: str | None = None,
    time_zone: str | None = None,
    progress: Progress = None,
) -> CompareResult:
    """Replays the same messages in two worlds, and counts what differs: what ``push-fanout
    compare`` does (docs/compare.md). The engine stays as it is.

    Args:
        fanout: the settings that both worlds are made of.
        messages: as of `replay`.
        b: the changes of the other world, such as ``"rooms>500.unset.level=mention"``, one or
            several; a path is a file of settings.
        a: the changes of the one world; None for the world as it is.
        presence: as of `replay`.
        name_a, name_b: what the worlds are called on the page.
        people: a CSV file that gets a row for each person: the pushes on both sides.
        top: so many users who gain, lose and lose mentions most are named.
        rate_limit, from_, to, conversation, user, week_zone: as of `replay`.
        delimiter, columns, csv_zone, time_zone, progress: as of `replay`.

    Raises:
        Error: what is wrong, with a change or in which line.

    >>> members = [{"conversation": "g", "user": user} for user in ("ann", "ben")]
    >>> fanout = Fanout.open(members=members)
    >>> result = compare(fanout, [{"id": "m", "conversation": "g", "at": 0}], "unset.level=none")
    >>> result
    <CompareResult: 1 messages, 2 pushes become 0; 2 decisions differ>
    >>> result.table("changes").columns()["to"]
    ['none/levelNone/app']
    """
    engine, zone = _engine(fanout), zone_named(time_zone)
    if isinstance(messages, Messages):
        raise TypeError("messages that were read cannot be compared; give what they are of")
    traffic = (
        _files(messages, "messages.ndjson", zone, lines_of),
        _presence_files(presence, fanout, zone),
        (),
        (),
    )
    options = _options(
        {
            "a": _texts(a), "b": _texts(b), "name-a": name_a, "name-b": name_b, "top": top,
            "rate-limit": _rate(rate_limit), "from": _when(from_, "from_", zone),
            "to": _when(to, "to", zone), "conversation": _ids(conversation, "conversation"),
            "user": _ids(user, "user"), "time-zone": week_zone, "delimiter": delimiter,
            "columns": columns, "zone": csv_zone, "people": _output(people),
        }
    )  # fmt: skip
    return CompareResult(engine.compare(traffic, options, progress))
