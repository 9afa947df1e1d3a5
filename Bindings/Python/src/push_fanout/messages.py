"""Messages that were read."""

from __future__ import annotations

from typing import Any, NamedTuple, SupportsIndex, overload

from . import _native
from .display import ROWS_SHOWN, Frames, NoCopy, html_table, instant_text


class MessageInfo(NamedTuple):
    """A message of `Messages`.

    Attributes:
        id: its id; not necessarily unique.
        conversation: the id of its conversation.
        at: the instant of the decision, milliseconds since 1970.
    """

    id: str
    conversation: str
    at: int


class Messages(Frames, NoCopy):
    """Messages that were read for an engine, to be decided any number of times: what
    `Fanout.messages` gives.

    Arrow's libraries take them as a table with the columns of `columns()`.

    >>> import pyarrow
    >>> from push_fanout import Fanout
    >>> messages = Fanout.from_ndjson(b"").messages([{"id": "m", "conversation": "g", "at": 0}])
    >>> len(messages), messages[0].id
    (1, 'm')
    >>> pyarrow.table(messages).to_pylist()
    [{'message': 0, 'id': 'm', 'conversation': 'g', 'at': 0}]
    """

    __slots__ = ("_native",)
    _instead = "read them again there"

    def __init__(self, native: _native.Messages) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.count()

    @overload
    def __getitem__(self, index: SupportsIndex) -> MessageInfo: ...
    @overload
    def __getitem__(self, index: slice) -> list[MessageInfo]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> MessageInfo | list[MessageInfo]:
        """One message, or the list of those of a slice."""
        count = len(self)
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(count))]
        number = index.__index__()
        if not -count <= number < count:
            raise IndexError(f"message {number}, but there are {count}")
        return MessageInfo(*self._native.get(number % count))

    def __repr__(self) -> str:
        if len(self) == 0:
            return "<Messages: none>"
        first, last = instant_text(self[0].at), instant_text(self[-1].at)
        return f"<Messages: {len(self):,}, {first} to {last}>"

    def _repr_html_(self) -> str:
        rows = [(info.id, info.conversation, instant_text(info.at)) for info in self[:ROWS_SHOWN]]
        return html_table(f"{len(self):,} messages", ("id", "conversation", "at"), rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The messages as rows, a capsule with an `ArrowArrayStream`: ``message`` (uint32),
        ``id`` and ``conversation`` (large_utf8), ``at`` (int64).

        Args:
            requested_schema: not followed, as the protocol allows.
        """
        return self._native.stream()

    def columns(self) -> dict[str, list[Any]]:
        """The messages as columns ``message`` (the number, from 0), ``id``, ``conversation`` and
        ``at``, lists of Python. `to_arrow`, `to_polars` and `to_pandas` have the same as a frame,
        in a hundredth of the time."""
        rows = self[:]
        return {
            "message": list(range(len(rows))),
            "id": [row.id for row in rows],
            "conversation": [row.conversation for row in rows],
            "at": [row.at for row in rows],
        }
