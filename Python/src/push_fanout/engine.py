"""The engine: settings that decide."""

from __future__ import annotations

import ctypes as C
import json
import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Union

from . import _library, _native
from ._library import Owned, call, library, path_argument, path_list, take_text, text_arguments
from .batch import Batch, Decisions, Messages
from .decision import Decision, Evaluated, Stamp, stamp_of
from .errors import Error, UnknownTimeZoneWarning
from .opening import Settings
from .outcomes import OUTCOMES, Outcome
from .sources import (
    ArrowTable,
    Instant,
    Path,
    Record,
    Records,
    Stream,
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
_ZONES = {"refuse": 0, "ignore": 1}
_PARTS = {
    "counts": _library.COUNTS,
    "codes": _library.CODES,
    "bitmaps": _library.PUSH_BITMAPS,
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


def engine_options(threads: int, unknown_zones: UnknownZones) -> _library.Options:
    """Options of the library; a `ValueError` for another choice than there is."""
    if unknown_zones not in _ZONES:
        raise ValueError(f'unknown_zones must be "refuse" or "ignore", not {unknown_zones!r}')
    return _library.Options(C.sizeof(_library.Options), threads, 0, _ZONES[unknown_zones])


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
    def _of(cls, handle: int | None) -> Fanout:
        assert handle is not None
        fanout = cls.__new__(cls)
        fanout._engine = _native.Engine(handle, Decision)
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
        handle = C.c_void_p()
        records = [source for source in (settings, users, members) if source is not None]
        if (store is not None) + (snapshot is not None) + bool(records) > 1:
            raise TypeError("settings, a snapshot and a store cannot be opened together")
        if snapshot is not None:
            high, low = (checked_number(part, "a number of identity") for part in identity)
            call(
                library.pf_open_snapshot, path_argument(snapshot), high, low, C.byref(options),
                C.byref(handle),
            )  # fmt: skip
        elif store is not None:
            from ._store import ACCESS, open_store

            if access not in ACCESS:
                raise ValueError(f'access must be "read", "write" or "create", not {access!r}')
            call(
                open_store(), path_argument(store), ACCESS[access], C.byref(options),
                C.byref(handle),
            )  # fmt: skip
        else:
            paths = [[source] if is_path(source) else [] for source in (settings, users, members)]
            if sum(map(len, paths)) == len(records) and not any(map(is_parquet, records)):
                lists = [text for part in paths for text in path_list(part)]  # type: ignore[arg-type]
                call(library.pf_open_files, *lists, C.byref(options), C.byref(handle))
            else:
                Settings(settings, users, members).open(options, handle)
        fanout = cls._of(handle.value)
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
        options = engine_options(threads, unknown_zones)
        handle = C.c_void_p()
        call(library.pf_open_bytes, data, len(data), C.byref(options), C.byref(handle))
        return cls._of(handle.value)

    def reopen(self) -> Fanout:
        """Opens the same files, snapshot or store again, as they are now, also in a child of a
        fork.

        Raises:
            Error: when the settings came from bytes or tables, which are no longer there.
        """
        engine = self._opened()
        handle = C.c_void_p()
        call(library.pf_reopen, engine.handle, C.byref(handle))
        return self._of(handle.value)

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
            return self._decide_read(engine, message)
        return decision  # type: ignore[return-value]

    def _decide_read(self, engine: _native.Engine, message: Record) -> Decision:
        line = json_line(message)
        messages = self._read(engine, line, "messages.ndjson")
        answer = engine.answer()
        if answer is None:
            raise MemoryError("there is no memory for an answer")
        call(library.pf_decide_at, engine.handle, messages._owned.address, 0, answer._handle)
        return answer  # type: ignore[return-value]

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
                return self._read_table(engine, table)
            except Error as error:
                text = str(error).removeprefix("messages:")
                raise Error(f"{source!s}:{text}", error.status) from None
        if is_path(source):
            return self._read(engine, read_bytes(source), str(source))  # type: ignore[arg-type]
        if is_table(source):
            return self._read_table(engine, source)  # type: ignore[arg-type]
        return self._read(engine, ndjson(source), "messages.ndjson")  # type: ignore[arg-type]

    def _read_table(self, engine: _native.Engine, table: ArrowTable) -> Messages:
        stream = Stream(table)
        handle = C.c_void_p()
        call(library.pf_messages_read_arrow, engine.handle, stream.address, C.byref(handle))
        return Messages(Owned(handle.value or 0, library.pf_messages_free, engine), engine)

    def _read(self, engine: _native.Engine, data: bytes, name: str) -> Messages:
        handle = C.c_void_p()
        path = path_argument(name)
        call(library.pf_messages_read, engine.handle, data, len(data), path, C.byref(handle))
        return Messages(Owned(handle.value or 0, library.pf_messages_free, engine), engine)

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
        handle = C.c_void_p()
        call(
            library.pf_decide_batch, engine.handle, read._owned.address,
            checked_number(first, "first"),
            max(0, len(read) - first) if count is None else checked_number(count, "count"), flags,
            C.byref(handle),
        )  # fmt: skip
        return Batch(read, handle.value or 0)

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
        handle = C.c_void_p()
        if ids not in (False, True, "views"):
            raise ValueError(f"ids must be False, True or 'views', not {ids!r}")
        flags = _library.ARROW_ID_VIEWS if ids == "views" else _library.ARROW_IDS if ids else 0
        call(library.pf_relation_new, engine.handle, read._owned.address, flags, C.byref(handle))
        return Decisions(read, Owned(handle.value or 0, library.pf_relation_free, engine))

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
        engine = self._opened()
        data = ndjson(messages)
        text, size, stamp = C.c_void_p(), C.c_size_t(), _library.Stamp()
        call(
            library.pf_evaluate, engine.handle, data, len(data), format.encode(), devices,
            C.byref(text), C.byref(size), C.byref(stamp),
        )  # fmt: skip
        evaluated = Evaluated(take_text(text.value, size.value))
        evaluated.stamp = stamp_of(stamp)
        return evaluated

    def explain(self, message: Record, user: str, *, content: bool = False) -> dict[str, Any]:
        """Why a user gets a push for a message, or not: what ``push-fanout explain --json`` writes.

        Args:
            message: the fields of a line of messages.ndjson.
            user: the id of the recipient.
            content: whether to tell what the push says, and why.

        Returns:
            That object, with the settings that decided under ``"stamp"``: ``epoch`` and
            ``sequence``.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> explained = fanout.explain({"id": "m", "conversation": "g", "at": 0}, "ann")
        >>> explained["decision"]["action"], explained["steps"][0]["verdict"]
        ('push', 'a member of the conversation')
        """
        engine = self._opened()
        line = json_line(message)
        text, size, stamp = C.c_void_p(), C.c_size_t(), _library.Stamp()
        call(
            library.pf_explain, engine.handle, line, len(line),
            *text_arguments(user, "user"), content, C.byref(text), C.byref(size), C.byref(stamp),
        )  # fmt: skip
        explained: dict[str, Any] = json.loads(take_text(text.value, size.value))
        explained["stamp"] = {"epoch": stamp.epoch, "sequence": stamp.sequence}
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
        change, stamp = _library.Change(), _library.Stamp()
        place = (None, 0) if channel is None else text_arguments(channel, "channel")
        call(
            library.pf_next_change, engine.handle, *text_arguments(user, "user"),
            *text_arguments(conversation, "conversation"), *place, milliseconds(after, "after"),
            C.byref(change), C.byref(stamp),
        )  # fmt: skip
        at = None if change.at < 0 else change.at
        outcomes = OUTCOMES.get(change.before), OUTCOMES.get(change.after)
        return Change(at, *outcomes, stamp_of(stamp))
