"""Decisions for many messages."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _native
from .arrow import pyarrow_module
from .decision import Stamp
from .display import ROWS_SHOWN, Frames, NoCopy, OutcomeColumns, html_table
from .messages import Messages
from .outcomes import OUTCOMES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

_FORMATS = {"I": "uint32", "C": "uint8", "l": "int64", "U": "large_string", "vu": "string_view"}


class Batch(Frames, NoCopy):
    """Decisions for many messages as arrays: what `Fanout.decide_batch` gives.

    The arrays are the memory of the engine's answer, not copies; it is freed with the last of them.
    All decisions are by the same version of the settings.

    >>> from push_fanout import Fanout
    >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
    >>> batch = fanout.decide_batch([{"id": "m", "conversation": "g", "at": 0}] * 2)
    >>> batch.codes.tolist(), batch.pushes.tolist()
    ([33, 33], [1, 1])
    >>> [batch.codes_of(index).tolist() for index in range(len(batch))]
    [[33], [33]]
    """

    __slots__ = ("messages", "_batch")
    _instead = "send to_arrow(), or arrays of it"

    def __init__(self, messages: Messages, batch: _native.Batch) -> None:
        self.messages = messages
        """What was decided."""
        self._batch = batch

    def __repr__(self) -> str:
        decisions, pushes = int(self.recipients.sum()), int(self.pushes.sum())
        return f"<Batch: {len(self):,} messages, {decisions:,} decisions, {pushes:,} pushes>"

    def _repr_html_(self) -> str:
        title = f"{repr(self)[1:-1]}; {self._settings()}"
        if self._batch.counts is None:
            return html_table(title, (), ())
        totals = self.counts.sum(axis=0, dtype="int64").tolist()
        rows = [(*OUTCOMES[code], code, count) for code, count in enumerate(totals) if count]
        rows.sort(key=lambda row: -row[-1])
        return html_table(title, ("action", "reason", "scope", "code", "recipients"), rows)

    def _settings(self) -> str:
        return f"settings {self.stamp(0).sequence}" if len(self) else "no settings"

    def __len__(self) -> int:
        return self._batch.count

    def stamp(self, index: int) -> Stamp:
        """Which settings the decision for a message is of."""
        row = self.summaries[index]
        return Stamp(int(row["epoch"]), int(row["sequence"]), int(row["membership"]))

    @property
    def summaries(self) -> npt.NDArray[np.void]:
        """A row for each message: epoch, sequence, membership, members, recipients, pushes."""
        names = ("epoch", "sequence", "membership", "members", "recipients", "pushes")
        kind = [(name, "u8") for name in names]
        numbers = self._array(self._batch.summaries, len(self) * len(names), "u8")
        found: npt.NDArray[np.void] = numbers.view(kind)
        return found

    @property
    def recipients(self) -> npt.NDArray[np.uint64]:
        """The number of recipients of each message."""
        found: npt.NDArray[np.uint64] = self.summaries["recipients"]
        return found

    @property
    def pushes(self) -> npt.NDArray[np.uint64]:
        """The number of pushes for each message."""
        found: npt.NDArray[np.uint64] = self.summaries["pushes"]
        return found

    @property
    def counts(self) -> npt.NDArray[np.uint32]:
        """The number of recipients by message and code: ``counts[message, code]``."""
        size = len(self) * _native.CODE_COUNT
        found: npt.NDArray[np.uint32] = self._array(self._batch.counts, size, "u4", "counts")
        return found.reshape(-1, _native.CODE_COUNT)

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The code of each member's outcome, message after message, by rank."""
        size = int(self.code_starts[-1])
        found: npt.NDArray[np.uint8] = self._array(self._batch.codes, size, "u1")
        return found

    @property
    def code_starts(self) -> npt.NDArray[np.uint64]:
        """The index in `codes` of each message's first code, and the number of codes."""
        found: npt.NDArray[np.uint64] = self._array(
            self._batch.code_starts, len(self) + 1, "u8", "codes"
        )
        return found

    def codes_of(self, index: int) -> npt.NDArray[np.uint8]:
        """The codes of one message."""
        found: npt.NDArray[np.uint8] = self._part(self.codes, self.code_starts, index)
        return found

    @property
    def push_bitmaps(self) -> npt.NDArray[np.uint8]:
        """A bit for each member by rank, 1 for a push, the lowest bit first; each message begins
        with a byte of its own."""
        found: npt.NDArray[np.uint8] = self._array(
            self._batch.bitmaps, int(self.bitmap_starts[-1]), "u1"
        )
        return found

    @property
    def bitmap_starts(self) -> npt.NDArray[np.uint64]:
        """The index in `push_bitmaps` of each message's first byte, and the number of bytes."""
        found: npt.NDArray[np.uint64] = self._array(
            self._batch.bitmap_starts, len(self) + 1, "u8", "bitmaps"
        )
        return found

    def push_bitmap_of(self, index: int) -> npt.NDArray[np.uint8]:
        """The bits of one message."""
        found: npt.NDArray[np.uint8] = self._part(self.push_bitmaps, self.bitmap_starts, index)
        return found

    def counts_columns(self) -> dict[str, Any]:
        """The counts that are not 0 as columns ``message``, ``code``, ``action``, ``reason``,
        ``scope`` and ``count``, which every library of frames takes.

        >>> import polars
        >>> from push_fanout import Fanout
        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> batch = fanout.decide_batch([{"id": "m", "conversation": "g", "at": 0}])
        >>> polars.DataFrame(batch.counts_columns()).row(0)
        (0, 33, 'push', 'allowed', 'default', 1)
        """
        messages, codes, counts = self._counts_by_code()
        outcomes = [OUTCOMES[code] for code in codes.tolist()]
        return {
            "message": messages.astype("uint32"),
            "code": codes,
            "action": [outcome.action for outcome in outcomes],
            "reason": [outcome.reason for outcome in outcomes],
            "scope": [outcome.scope for outcome in outcomes],
            "count": counts,
        }

    def to_arrow(self) -> pyarrow.Table:
        """The counts that are not 0 as a pyarrow.Table with the columns of `counts_columns`, whose
        words are dictionaries.

        >>> from push_fanout import Fanout
        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> batch = fanout.decide_batch([{"id": "m", "conversation": "g", "at": 0}])
        >>> batch.to_arrow().select(["message", "action", "count"]).to_pylist()
        [{'message': 0, 'action': 'push', 'count': 1}]
        """
        pa = pyarrow_module("to_arrow()")
        messages, codes, counts = self._counts_by_code()
        code = pa.array(codes)
        words = OutcomeColumns(pa).columns(code)
        arrays = [pa.array(messages.astype("uint32")), code, *words, pa.array(counts)]
        names = ["message", "code", "action", "reason", "scope", "count"]
        return pa.Table.from_arrays(arrays, names)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of `to_arrow`, as a capsule with an `ArrowArrayStream`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _counts_by_code(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8], Any]:
        """The message, the code and the count of each count that is not 0."""
        import numpy as np

        counts = self.counts
        messages, codes = np.nonzero(counts)
        return messages, codes.astype("uint8"), counts[messages, codes]

    def _part(self, values: Any, starts: Any, index: int) -> Any:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"message {index}, but there are {count}")
        index %= count
        return values[int(starts[index]) : int(starts[index + 1])]

    def _array(self, address: int | None, size: int, kind: str, part: str = "") -> Any:
        import numpy as np

        if address is None:
            raise ValueError(f'the batch was decided without "{part}"')
        return np.asarray(_Memory(self._batch, address, size, kind))


class _Memory:
    """Numbers of a batch, which lives as long as arrays of them."""

    __slots__ = ("_batch", "__array_interface__")

    def __init__(self, batch: _native.Batch, address: int, size: int, kind: str) -> None:
        self._batch = batch
        self.__array_interface__ = {
            "version": 3, "shape": (size,), "typestr": kind, "data": (address, True)
        }  # fmt: skip


class Rows(Frames, NoCopy):
    """Rows as Arrow, which can be read any number of times; each reading gives the same.

    pyarrow, polars, pandas, DuckDB and others take it where they take a table of another library.
    """

    __slots__ = ("_stream",)
    _instead = "send to_arrow(), or write_parquet() of decisions"

    def __init__(self, stream: Callable[[], object]) -> None:
        self._stream = stream

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns, as pyarrow has them."""
        return pyarrow_module("schema").RecordBatchReader.from_stream(self).schema

    def __repr__(self) -> str:
        columns = _native.stream_type(self._stream())[2]
        names = ", ".join(f"{column[0]} {_FORMATS.get(column[1], '')}" for column in columns)
        return f"<{type(self).__name__}: {names}>"

    def _repr_html_(self) -> str:
        try:
            pa = pyarrow_module()
        except ImportError:
            return html_table(repr(self)[1:-1], (), ())
        reader = pa.RecordBatchReader.from_stream(self)
        batch = next(iter(reader), None)
        rows = [] if batch is None else batch.slice(0, ROWS_SHOWN).to_pylist()
        names = list(reader.schema.names)
        if "code" in names:
            for row in rows:
                row["outcome"] = OUTCOMES[row["code"]].key
            names.append("outcome")
        shown = [[row[name] for name in names] for row in rows]
        return html_table(f"{repr(self)[1:-1]}: the first rows", names, shown)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows from the beginning, as a capsule with an `ArrowArrayStream`.

        Args:
            requested_schema: not followed, as the protocol allows.
        """
        return self._stream()


class Decisions(Rows):
    """Decisions for many messages as rows of Arrow: what `Fanout.decisions` gives.

    A row for each recipient of each message, messages in their order, recipients by rank:
    ``message`` (uint32, its number), ``user`` (uint32, the user's number; or the id) and ``code``
    (uint8, `OUTCOMES`). Rows are decided while they are read, on the version of the settings that
    was current when this was made. The schema's metadata has ``push_fanout.epoch``,
    ``push_fanout.sequence`` and ``push_fanout.outcomes``, the registry's version.

    >>> import pyarrow
    >>> from push_fanout import Fanout
    >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
    >>> decisions = fanout.decisions([{"id": "m", "conversation": "g", "at": 0}])
    >>> pyarrow.table(decisions).to_pylist()
    [{'message': 0, 'user': 0, 'code': 33}]
    >>> pyarrow.table(decisions.users).to_pylist()
    [{'user': 0, 'id': 'ann'}]
    """

    __slots__ = ("messages", "_relation")

    def __init__(self, messages: Messages, relation: _native.Relation) -> None:
        super().__init__(relation.stream)
        self._relation = relation
        self.messages = messages
        """What is decided."""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; {len(self.messages):,} messages>"

    @property
    def users(self) -> Rows:
        """The users of the same version of the settings: ``user`` (uint32, the number) and ``id``,
        in the order of numbers, which begin with 0."""
        return Rows(self._relation.users)

    @property
    def held(self) -> Rows:
        """The held pushes, of the same version of the settings: a row for each suppressed decision
        (action ``none``) that would be a push at a later instant if nothing but time changed, as
        ``push-fanout replay --held`` lists them: ``message``, ``user`` and ``code`` as above, and
        ``pushAt`` (int64), the first such instant, milliseconds since 1970. What expires before is
        left out.

        >>> import pyarrow
        >>> from push_fanout import Fanout
        >>> quiet = {"kind": "user", "id": "ann", "quietHours": {"start": "00:00", "end": "08:00"}}
        >>> member = {"kind": "member", "conversation": "g", "user": "ann"}
        >>> fanout = Fanout.from_ndjson([quiet, member])
        >>> decisions = fanout.decisions([{"id": "m", "conversation": "g", "at": 0}], ids=True)
        >>> pyarrow.table(decisions.held).select(["user", "pushAt"]).to_pylist()
        [{'user': 'ann', 'pushAt': 28800000}]
        """
        return Rows(self._relation.held)

    def write_parquet(self, path: str | os.PathLike[str], compression: str = "zstd") -> int:
        """Writes the rows as a Parquet file, which appears under its name when it is complete.

        Needs pyarrow. The stamp and the registry's version are in the file's metadata.

        Returns:
            the number of rows.
        """
        from . import parquet

        return parquet.write(self, path, compression)
