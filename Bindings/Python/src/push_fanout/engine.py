"""The engine: settings that decide."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Union

from . import _native
from .batch import Batch, Decisions, Messages
from .decision import Decision, Evaluated, Stamp
from .errors import Error, UnknownTimeZoneWarning
from .opening import Settings
from .outcomes import OUTCOMES, Outcome
from .sources import (
    ArrowTable,
    Instant,
    Path,
    Record,
    Records,
    encoded,
    is_parquet,
    is_path,
    is_table,
    json_line,
    milliseconds,
    ndjson,
    read_bytes,
)
from .state import EngineState, checked_number

Source = Union[bytes, Path, ArrowTable, Records]
"""Settings or messages: bytes of NDJSON, the path of a file, a table, or records."""
UnknownZones = Literal["refuse", "ignore"]
"""What is done with users whose time zone this machine does not have."""
_ZONES = {"refuse": _native.ZONES_REFUSE, "ignore": _native.ZONES_IGNORE}


class Explanation(dict[str, Any]):
    """Why a user gets a push for a message, or not: the object of ``push-fanout explain --json``.

    It is printed as people read it: the answer, what was examined, and what would change it.
    """

    def __repr__(self) -> str:
        steps = self["steps"]
        subjects, found = (max(len(step[name]) for step in steps) for name in ("subject", "found"))
        found = min(found, 60)
        lines = [self["answer"], ""]
        lines += [
            f"{'STOP' if step['stops'] else 'ok':4}  {step['subject']:{subjects}}  "
            f"{step['found']:{found}}  {step['rule']}"
            for step in steps
        ]
        changes: dict[bool, list[str]] = {True: [], False: []}
        for alternative in self["alternatives"]:
            changes[alternative["decision"]["action"] != "none"].append(alternative["text"])
        lines.append("")
        for helps, name in ((True, "Would push"), (False, "Would not help")):
            if changes[helps]:
                lines.append(f"{name}: {'; '.join(changes[helps])}.")
        decision = self.get("decision")
        if decision is None:
            return "\n".join([*lines, "no recipient"])
        names = [decision[name] for name in ("action", "reason", "scope") if name in decision]
        return "\n".join([*lines, "/".join(names)])


_ACCESS = {
    "read": _native.STORE_READ,
    "write": _native.STORE_WRITE,
    "create": _native.STORE_CREATE,
}
_PARTS = {
    "counts": _native.COUNTS,
    "codes": _native.CODES,
    "bitmaps": _native.PUSH_BITMAPS,
}


class Change(NamedTuple):
    """When the answer for a plain message next changes without an update.

    Attributes:
        at: the instant, milliseconds since 1970; None for never.
        before: the outcome until then, from the instant asked for on; None for no recipient.
        after: the outcome from then on; that of `before` for never.
        stamp: which settings the answer is of; its membership is 0.
    """

    at: int | None
    before: Outcome | None
    after: Outcome | None
    stamp: Stamp


def engine_options(threads: int, unknown_zones: UnknownZones) -> tuple[int, int]:
    """Options of the library; a `ValueError` for another choice than there is."""
    if unknown_zones not in _ZONES:
        raise ValueError(f'unknown_zones must be "refuse" or "ignore", not {unknown_zones!r}')
    # The library says what is wrong with a number that fits its type.
    return min(max(threads, -1), 1 << 20), _ZONES[unknown_zones]


class Fanout(EngineState):
    """An engine: settings of users and memberships, packed, which decide for messages.

    Any number of threads may use it. `update` does not wait for those that decide. It is closed
    with `close`, as a context manager, or when it is no longer referred to.

    After a fork it is refused in the child with an `Error` of the status ``"PF_FORKED"``, unless it
    was opened with ``threads=1``; `reopen` opens the same settings again.

    >>> with Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}') as fanout:
    ...     fanout.decide({"id": "m", "conversation": "g", "at": 0}).pushes
    ['ann']
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("open an engine with Fanout.open() or Fanout.from_ndjson()")

    @classmethod
    def _of(cls, engine: _native.Engine) -> Fanout:
        fanout = cls.__new__(cls)
        fanout._engine = engine
        return fanout

    # ------------------------------------------------------------------------------------- Opening

    @classmethod
    def open(
        cls,
        settings: Source | None = None,
        *,
        users: Source | None = None,
        members: Source | None = None,
        snapshot: Path | None = None,
        identity: tuple[int, int] = (0, 0),
        store: Path | None = None,
        access: Literal["read", "write", "create"] = "read",
        threads: int = 0,
        unknown_zones: UnknownZones = "refuse",
    ) -> Fanout:
        """Opens an engine for settings, a snapshot or a store.

        Settings, users and members are each the path of a file (.ndjson, .csv or .parquet, with .gz
        or without), bytes of NDJSON, dictionaries, or a table: whatever gives an Arrow stream, such
        as frames of pyarrow, polars, pandas and DuckDB. docs/formats.md says which fields there
        are; the columns of a table have their names.

        Args:
            settings: records of all kinds.
            users: records of users, without ``kind``.
            members: records of members, without ``kind``.
            snapshot: a file that `write_snapshot` has written.
            identity: the two numbers that the snapshot was written with.
            store: a store (docs/store.md), for which the package push-fanout-store is needed.
            access: what is done with the store.
            threads: how many threads a call may use, 1 to 1024; 0 for the cores that the
                process may use.
            unknown_zones: what is done with users whose time zone this machine does not have:
                "refuse" them alone, with a warning (in settings that are read now, such a zone is
                an error), or "ignore" the zone, and decide as if they had no quiet hours.

        Raises:
            Error: what is wrong with the settings, and in which line.

        >>> import polars
        >>> users = polars.DataFrame({"id": ["ann", "ben"], "level": ["none", None]})
        >>> members = polars.DataFrame({"conversation": ["g", "g"], "user": ["ann", "ben"]})
        >>> fanout = Fanout.open(users=users, members=members)
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0}).pushes
        ['ben']
        """
        options = engine_options(threads, unknown_zones)
        records = [source for source in (settings, users, members) if source is not None]
        if (store is not None) + (snapshot is not None) + bool(records) > 1:
            raise TypeError("settings, a snapshot and a store cannot be opened together")
        if snapshot is not None:
            high, low = (checked_number(part, "a number of identity") for part in identity)
            engine = _native.open_snapshot(os.fsencode(snapshot), high, low, *options)
        elif store is not None:
            if access not in _ACCESS:
                raise ValueError(f'access must be "read", "write" or "create", not {access!r}')
            library = os.fsencode(_store_library())
            engine = _native.open_store(library, os.fsencode(store), _ACCESS[access], *options)
        elif all(is_path(source) and not is_parquet(source) for source in records):
            paths = tuple(
                [] if source is None else [os.fsencode(source)]  # type: ignore[arg-type]
                for source in (settings, users, members)
            )
            engine = _native.open_files(paths, *options)
        else:
            engine = Settings(settings, users, members).open(options)
        fanout = cls._of(engine)
        if unknown_zones == "refuse":
            fanout._warn_of_unknown_zones()
        return fanout

    def _warn_of_unknown_zones(self) -> None:
        users = self.unknown_zone_users
        if not users:
            return
        named = ", ".join(f"{user!r} ({zone})" for user, zone in list(users.items())[:5])
        more = "" if len(users) <= 5 else f" and {len(users) - 5} more"
        warnings.warn(
            f"not decided for, as this machine's time-zone data lack the zone: {named}{more}; "
            "install tzdata-legacy or a later tzdata, or set TZDIR, or open with "
            'unknown_zones="ignore"',
            UnknownTimeZoneWarning,
            stacklevel=3,
        )

    @classmethod
    def from_ndjson(
        cls,
        settings: bytes | str | Records,
        *,
        threads: int = 0,
        unknown_zones: UnknownZones = "refuse",
    ) -> Fanout:
        """Opens an engine for the content of a settings.ndjson, or for records of settings.

        >>> Fanout.from_ndjson([{"kind": "user", "id": "ann"}]).user_count
        1
        """
        data = ndjson(settings)
        return cls._of(_native.open_bytes(data, *engine_options(threads, unknown_zones)))

    def reopen(self) -> Fanout:
        """Opens the same files, snapshot or store again, as they are now, also in a child of a
        fork.

        Raises:
            Error: when the settings came from bytes or tables, which are no longer there.
        """
        return self._of(self._opened().reopen())

    # ------------------------------------------------------------------------------------ Deciding

    def decide(self, message: Record) -> Decision:
        """Decides a message for all members of its conversation.

        Args:
            message: the fields of a line of messages.ndjson (docs/formats.md); instants may also be
                a datetime with a time zone. A message without device filter, ``ext`` and fields of
                one vendor is decided without being written as JSON, in a fraction of the time.

        Raises:
            Error: what is wrong with the message.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0, "sender": "ann"}).counts
        {}
        """
        engine = self._engine
        if engine is None:
            engine = self._opened()
        decision = engine.decide(message)
        if decision is None:
            messages = engine.messages_read(json_line(message), b"messages.ndjson")
            decision = engine.decide_at(messages, 0)
        return decision  # type: ignore[return-value]

    def messages(self, source: Source) -> Messages:
        """Reads messages: bytes of NDJSON, a file (.ndjson, .csv or .parquet), a table or
        dictionaries.

        Raises:
            Error: what is wrong with which message; then none is read.
        """
        engine = self._opened()
        if isinstance(source, Messages):
            raise TypeError("these are messages already")
        if is_parquet(source):
            from . import parquet

            table = parquet.open_table(source)  # type: ignore[arg-type]
            try:
                return Messages(engine.messages_read_arrow(table.__arrow_c_stream__()))
            except Error as error:
                text = str(error).removeprefix("messages:")
                raise Error(f"{source!s}:{text}", error.status) from None
        if is_path(source):
            data, name = read_bytes(source), os.fsencode(source)  # type: ignore[arg-type]
            return Messages(engine.messages_read(data, name))
        if is_table(source):
            return Messages(engine.messages_read_arrow(source.__arrow_c_stream__()))  # type: ignore[union-attr]
        return Messages(engine.messages_read(ndjson(source), b"messages.ndjson"))  # type: ignore[arg-type]

    def _messages(self, source: Source | Messages) -> Messages:
        return source if isinstance(source, Messages) else self.messages(source)

    def decide_batch(
        self,
        messages: Source | Messages,
        *,
        parts: Iterable[Literal["counts", "codes", "bitmaps"]] = ("counts", "codes"),
        first: int = 0,
        count: int | None = None,
    ) -> Batch:
        """Decides messages on all threads of the engine, as arrays. Fastest in the order of time.

        Args:
            messages: what `messages` has read, or takes.
            parts: which arrays to fill, beside the summaries.
            first: the number of the first message to decide.
            count: how many messages to decide; None for all from `first` on.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> batch = fanout.decide_batch(b'{"id":"m","conversation":"g","at":0}')
        >>> batch.counts[0, 33].item()
        1
        """
        flags = 0
        for part in parts:
            if part not in _PARTS:
                raise ValueError(f'a part is "counts", "codes" or "bitmaps", not {part!r}')
            flags |= _PARTS[part]
        read = self._messages(messages)
        engine = self._opened()
        first = checked_number(first, "first")
        count = max(0, len(read) - first) if count is None else checked_number(count, "count")
        return Batch(read, engine.decide_batch(read._native, first, count, flags))

    def decisions(
        self, messages: Source | Messages, *, ids: bool | Literal["views"] = False
    ) -> Decisions:
        """The decisions for messages as rows of Arrow, decided while they are read.

        Args:
            messages: what `messages` has read, or takes.
            ids: whether the column ``user`` has ids instead of numbers: as ``large_utf8``, or
                with ``"views"`` as ``utf8_view``, which is several times faster, and which polars
                and DuckDB take over without a copy, as pyarrow does.
        """
        read = self._messages(messages)
        engine = self._opened()
        if ids not in (False, True, "views"):
            raise ValueError(f"ids must be False, True or 'views', not {ids!r}")
        flags = _native.ARROW_ID_VIEWS if ids == "views" else _native.ARROW_IDS if ids else 0
        return Decisions(read, engine.relation_new(read._native, flags))

    def evaluate(
        self,
        messages: bytes | str | Records,
        format: Literal["ndjson", "csv", "counts", "pushlist", "summary"] = "ndjson",
        *,
        devices: bool = False,
    ) -> Evaluated:
        """Decides messages by the same settings, and gives what ``push-fanout evaluate`` writes.

        Args:
            messages: the content of a messages.ndjson, or records.
            format: that of the output.
            devices: whether rows list devices (``"ndjson"`` only).

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.evaluate(b'{"id":"m","conversation":"g","at":0}', "pushlist")
        b'{"message":"m","push":["ann"]}\\n'
        """
        text, stamp = self._opened().evaluate(ndjson(messages), format.encode(), devices)
        evaluated = Evaluated(text)
        evaluated.stamp = Stamp(*stamp)
        return evaluated

    def explain(self, message: Record, user: str, *, content: bool = False) -> Explanation:
        """Why a user gets a push for a message, or not: what ``push-fanout explain --json`` writes.

        Args:
            message: the fields of a line of messages.ndjson.
            user: the id of the recipient.
            content: whether to tell what the push says, and why.

        Returns:
            That object, with the settings that decided under ``"stamp"``: ``epoch`` and
            ``sequence``. It is printed as text for people.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> explained = fanout.explain({"id": "m", "conversation": "g", "at": 0}, "ann")
        >>> explained["decision"]["action"], explained["steps"][0]["found"]
        ('push', 'since always')
        """
        engine = self._opened()
        text, stamp = engine.explain(json_line(message), encoded(user, "user"), content)
        explained = Explanation(json.loads(text))
        explained["stamp"] = {"epoch": stamp[0], "sequence": stamp[1]}
        return explained

    def next_change(
        self, user: str, conversation: str, after: Instant, *, channel: str | None = None
    ) -> Change:
        """When the answer for a plain message, a text from another user without mentions, next
        changes without an update.

        Args:
            user: the id of a member.
            conversation: the id of the conversation.
            after: the instant that is asked for, milliseconds since 1970 or a datetime.
            channel: that of an ultra group.

        Raises:
            Error: "PF_NOT_FOUND" for an unknown user or conversation, and one who is not a member.

        >>> fanout = Fanout.from_ndjson(b'''
        ... {"kind":"user","id":"ann","quietHours":{"start":"22:00","end":"08:00"}}
        ... {"kind":"member","conversation":"g","user":"ann"}
        ... ''')
        >>> change = fanout.next_change("ann", "g", 0)
        >>> change.at, change.before.reason, change.after.reason
        (28800000, 'quietHours', 'allowed')
        """
        engine = self._opened()
        place = None if channel is None else encoded(channel, "channel")
        ids = encoded(user, "user"), encoded(conversation, "conversation"), place
        at, before, later, stamp = engine.next_change(*ids, milliseconds(after, "after"))
        outcomes = OUTCOMES.get(before), OUTCOMES.get(later)
        return Change(None if at < 0 else at, *outcomes, Stamp(*stamp))


def _store_library() -> str:
    try:
        from push_fanout_store import LIBRARY
    except ImportError:
        raise ImportError(
            "stores need the package push-fanout-store, of the same release: "
            "pip install push-fanout-store"
        ) from None
    return LIBRARY
