"""How answers look at a prompt and in a notebook, and how they become frames."""

from __future__ import annotations

import html
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NoReturn

from . import _native
from .arrow import pyarrow_module
from .outcomes import OUTCOMES

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

ROWS_SHOWN = 10
"""How many rows of a relation a notebook shows."""


def instant_text(at: int) -> str:
    """An instant as people read it.

    >>> instant_text(1717372800000), instant_text(1717372800001)
    ('2024-06-03T00:00:00Z', '2024-06-03T00:00:00.001Z')
    """
    seconds, rest = divmod(at, 1000)
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{at} ms"
    return f"{moment:%Y-%m-%dT%H:%M:%S}{f'.{rest:03}' if rest else ''}Z"


def html_table(title: str, names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table for a notebook; numbers are on the right, which is also where notebooks put texts
    that do not say otherwise."""

    def cell(value: object) -> str:
        if isinstance(value, int):
            return f'<td style="text-align:right">{value:,}</td>'
        text = "" if value is None else html.escape(str(value))
        return f'<td style="text-align:left">{text}</td>'

    rows = [tuple(row) for row in rows]
    numbers = {at for row in rows[:1] for at, value in enumerate(row) if isinstance(value, int)}
    head = "".join(
        f'<th style="text-align:{"right" if at in numbers else "left"}">{html.escape(name)}</th>'
        for at, name in enumerate(names)
    )
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return (
        '<table><caption style="text-align:left;white-space:nowrap">'
        f"{html.escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


class Frames:
    """What gives an Arrow stream, as frames of the libraries that people use."""

    __slots__ = ()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as a capsule with an `ArrowArrayStream`."""
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow.Table."""
        return pyarrow_module("to_arrow()").table(self)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas.DataFrame."""
        return self.to_arrow().to_pandas()

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The rows by the dataframe interchange protocol."""
        return self.to_arrow().__dataframe__(nan_as_null, allow_copy)


class NoCopy:
    """What belongs to an engine of this process, and cannot be copied or sent to another one."""

    __slots__ = ()
    _instead = "make it again there"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuses `pickle` and `copy`."""
        name = type(self).__name__
        raise TypeError(
            f"{name} cannot be copied or pickled, as it is of an engine of this process; "
            f"{self._instead}"
        )


class OutcomeColumns:
    """Codes as columns action, reason and scope, each a dictionary of its words."""

    def __init__(self, pa: Any) -> None:
        self._pa = pa
        names = ("action", "reason", "scope")
        self.fields = [(name, pa.dictionary(pa.int8(), pa.string())) for name in names]
        self._columns = []
        for name in names:
            words = sorted({getattr(outcome, name) for outcome in OUTCOMES.values()} - {None})
            numbers = [
                words.index(word) if (word := getattr(OUTCOMES.get(code), name, None)) else None
                for code in range(_native.CODE_COUNT)
            ]
            self._columns.append((pa.array(numbers, pa.int8()), pa.array(words, pa.string())))

    def columns(self, codes: Any) -> list[Any]:
        """The three columns of codes."""
        return [
            self._pa.DictionaryArray.from_arrays(numbers.take(codes), words)
            for numbers, words in self._columns
        ]
