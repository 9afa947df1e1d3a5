"""Tables as Arrow streams: types that the engine reads, and what is made of others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, Protocol, runtime_checkable

from . import _native
from .errors import Error


@runtime_checkable
class ArrowTable(Protocol):
    """What gives its rows as an Arrow stream: a pyarrow.Table, polars.DataFrame, pandas.DataFrame,
    a relation of DuckDB, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an `ArrowArrayStream`."""


def pyarrow_module(purpose: str = "Parquet") -> Any:
    """pyarrow, with what is needed of it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{purpose} needs pyarrow: pip install pyarrow") from None
    return pyarrow


# ------------------------------------------------------------------------------------------- Types

READ = frozenset(["n", "b", *"cCsSiIlLfg", "u", "U", "vu"])
NESTED = ("+s", "+l", "+L")
WORDS = {
    "z": "binary", "Z": "large_binary", "vz": "binary_view", "e": "halffloat",
    "tdD": "date32", "tdm": "date64", "+m": "map", "+vl": "list_view", "+vL": "large_list_view",
    "+r": "run_end_encoded",
}  # fmt: skip
ADVICE = {
    "z": "cast it to text", "Z": "cast it to text", "vz": "cast it to text",
    "w": "cast it to text", "tdD": "cast it to a timestamp with a time zone",
    "tdm": "cast it to a timestamp with a time zone", "+m": "give a struct",
    "d": "cast it to integers",
}  # fmt: skip


def words_of(format: str) -> str:
    """The name of a type by Arrow's format string.

    >>> words_of("d:38,2"), words_of("tdD"), words_of("tsu:")
    ('decimal(38,2)', 'date32', 'timestamp')
    """
    if format in WORDS:
        return WORDS[format]
    kind, _, rest = format.partition(":")
    names = {"w": "fixed_size_binary", "+w": "fixed_size_list", "ts": "timestamp", "tt": "time",
             "tD": "duration", "ti": "interval", "+u": "union"}  # fmt: skip
    if kind == "d":
        return f"decimal({','.join(rest.split(',')[:2])})"
    return next((name for start, name in names.items() if kind.startswith(start)), format)


def _is_convertible(format: str) -> bool:
    """Whether pyarrow makes something of a column that the engine reads."""
    if format.startswith("d:"):
        return format.split(",")[1] == "0"
    return format in ("+vl", "+vL", "+r", "e") or format.startswith("+w:")


def _is_naive(format: str) -> bool:
    return format.startswith("ts") and format.endswith(":")


def converted_columns(type: _native.Type, name: str, zone: tzinfo | None) -> list[int]:
    """The columns of a table that have to be converted before the engine reads them.

    Raises:
        Error: a column that nothing can be made of, by its name and type.
    """
    found = []
    for index, column in enumerate(type[2]):
        path = column[0] or ""
        if _needs_conversion(column, path, name, zone is not None):
            found.append(index)
    return found


def _needs_conversion(column: _native.Type, path: str, name: str, has_zone: bool) -> bool:
    _, format, children, dictionary = column
    if dictionary is not None:
        return _needs_conversion((None, *dictionary[1:]), path, name, has_zone)
    if _is_naive(format):
        if not has_zone:
            raise Error(
                f'{name}: the timestamps of "{path}" have no time zone, so that nothing says which '
                f'instants they are; give time_zone="UTC", or whichever they are in',
                "PF_INVALID",
            )
        return True
    is_list = _is_list_like(format)
    if _is_convertible(format) and not is_list:
        return True
    if not (is_list or format in READ or format.startswith("ts") or format in NESTED):
        raise _unreadable(format, path, name)
    needs = is_list
    for child in children:
        part = f"{path}.{child[0]}" if format == "+s" else f"{path}[]"
        if _needs_conversion(child, part, name, False):
            if _is_convertible(child[1]) and not _is_list_like(child[1]):
                # Only whole columns are converted, and lists within them.
                raise _unreadable(child[1], part, name)
            needs = True
    return needs


def _is_list_like(format: str) -> bool:
    return format in ("+vl", "+vL") or format.startswith("+w:")


def _unreadable(format: str, path: str, name: str) -> Error:
    advice = ADVICE.get(format) or ADVICE.get(format.partition(":")[0])
    what = advice or "it must be text, integers, bool, a timestamp, a struct or a list"
    return Error(
        f'{name}: "{path}" is of the type {words_of(format)}, which cannot be read; {what}',
        "PF_INVALID",
    )


# -------------------------------------------------------------------------------------- Conversion


def _plain_type(pa: Any, type: Any) -> Any:
    """A type that the engine reads, for another one."""
    types = pa.types
    if types.is_decimal(type):
        return pa.int64()
    if types.is_float16(type):
        return pa.float32()
    if types.is_struct(type):
        return pa.struct([field.with_type(_plain_type(pa, field.type)) for field in type])
    is_list = types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type)
    is_view = hasattr(types, "is_list_view") and (
        types.is_list_view(type) or types.is_large_list_view(type)
    )
    return pa.list_(_plain_type(pa, type.value_type)) if is_list or is_view else type


def _plain_column(pa: Any, column: Any, path: str, zone: tzinfo | None) -> Any:
    if hasattr(pa.types, "is_run_end_encoded") and pa.types.is_run_end_encoded(column.type):
        column = pa.compute.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            return pa.compute.assume_timezone(column, str(zone))
        if hasattr(pa.types, "is_list_view") and (
            pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type)
        ):
            # Casts of views are wrong up to pyarrow 26.
            return pa.array(column.to_pylist(), _plain_type(pa, column.type))
        return column.cast(_plain_type(pa, column.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Error(f"{path}: {error}", "PF_INVALID") from None


class Batches:
    """Batches that Python makes, as a table that is read once. What is raised meanwhile, such as by
    Ctrl-C, is kept, as a stream has only words for it; those do for what pyarrow raises."""

    def __init__(self, schema: Any, batches: Iterable[Any]) -> None:
        self.error: BaseException | None = None
        pa = pyarrow_module()
        self._pyarrows = (OSError, pa.ArrowException)
        self._reader = pa.RecordBatchReader.from_batches(schema, self._kept(batches))

    def _kept(self, batches: Iterable[Any]) -> Iterator[Any]:
        try:
            yield from batches
        except BaseException as error:
            if not isinstance(error, self._pyarrows):
                self.error = error
            raise

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


class Table:
    """A table that is opened when it is read: of two relations of one connection, the first has
    been read when the second is opened."""

    def __init__(self, source: ArrowTable, name: str, zone: tzinfo | None) -> None:
        self._source = source
        self._zone = zone
        self._batches: Batches | None = None
        self.name = name
        self.error: BaseException | None = None
        """What was raised when it was opened or read."""

    def stream(self) -> object:
        """A capsule with its rows, of types that the engine reads."""
        return _native.lazy_stream(self._open)

    def _open(self) -> object:
        try:
            return self._opened()
        except BaseException as error:
            self.error = error
            return None

    def _opened(self) -> object:
        capsule = self._source.__arrow_c_stream__()
        try:
            columns = converted_columns(_native.stream_type(capsule), self.name, self._zone)
            return self._converted(capsule, columns) if columns else capsule
        finally:
            # Of an error the stream would else be kept, and its connection be in use.
            del capsule

    def _converted(self, capsule: object, columns: list[int]) -> object:
        """The stream with some columns converted, batch by batch."""
        pa = pyarrow_module("a column of such a type")
        reader = pa.RecordBatchReader._import_from_c_capsule(capsule)
        names = reader.schema.names

        def plain(batch: Any) -> Any:
            arrays = list(batch.columns)
            for index in columns:
                path = f'{self.name}: "{names[index]}"'
                arrays[index] = _plain_column(pa, arrays[index], path, self._zone)
            return pa.RecordBatch.from_arrays(arrays, names)

        schema = plain(pa.RecordBatch.from_pylist([], reader.schema)).schema
        self._batches = Batches(schema, map(plain, reader))
        return self._batches.__arrow_c_stream__()

    def table(self) -> Any:
        """Its rows as a pyarrow.Table."""
        pa = pyarrow_module("this table")
        return pa.RecordBatchReader._import_from_c_capsule(self._opened()).read_all()

    def raise_error(self) -> None:
        """Raises what was raised when it was opened or read, if anything was."""
        for found in (self._source, self._batches):
            if self.error is None and isinstance(found, Batches):
                self.error = found.error
        if self.error is not None:
            raise self.error


# ----------------------------------------------------------------------------------------- Sources


def table_of(source: Any) -> ArrowTable | None:
    """What gives the rows of a source as an Arrow stream; None for what is no table.

    A generator of batches is read from; a list is left as it is.
    """
    module = type(source).__module__.partition(".")[0]
    if module == "pandas" and hasattr(source, "index") and hasattr(source, "columns"):
        # An index without a name is no field: that of the rows which a filter has left.
        return _of_pandas(source)
    if hasattr(source, "__arrow_c_stream__"):
        return source  # type: ignore[no-any-return]
    if module == "polars" and hasattr(source, "collect"):
        return source.collect()  # type: ignore[no-any-return]
    if hasattr(source, "__arrow_c_array__"):
        pa = pyarrow_module("an array of Arrow")
        table: ArrowTable = pa.chunked_array([pa.array(source)])
        return table
    if module == "pyarrow":
        return _of_pyarrow(source)
    return None


def _of_pandas(frame: Any) -> ArrowTable:
    has_names = all(name is not None for name in frame.index.names)
    # Before pandas 2.2, frames give no streams; those of later ones are made like this.
    table: ArrowTable = pyarrow_module("a frame of pandas").Table.from_pandas(
        frame, preserve_index=None if has_names else False
    )
    return table


def _of_pyarrow(source: Any) -> ArrowTable | None:
    found: ArrowTable | None = None
    if hasattr(source, "to_reader"):  # a Scanner
        found = source.to_reader()
    elif hasattr(source, "scanner"):  # a Dataset
        found = source.scanner().to_reader()
    elif hasattr(source, "iter_batches"):  # a ParquetFile
        found = Batches(source.schema_arrow, source.iter_batches())
    elif hasattr(source, "get_batch"):  # a file of IPC
        batches = (source.get_batch(index) for index in range(source.num_record_batches))
        found = Batches(source.schema, batches)
    return found


def batches_of(source: Iterable[Any]) -> tuple[ArrowTable | None, Iterable[Any]]:
    """A table of the batches or tables that a source has, or else the source, with its first
    element again.

    >>> batches_of([])
    (None, [])
    """
    rest = iter(source)
    try:
        first = next(rest)
    except StopIteration:
        return None, []
    everything = source if rest is not source else itertools.chain([first], rest)
    if not (hasattr(first, "__arrow_c_stream__") or hasattr(first, "__arrow_c_array__")):
        return None, everything
    pa = pyarrow_module("a list of batches")

    def batches() -> Iterator[Any]:
        for item in itertools.chain([first], rest):
            yield from pa.table(item).to_batches()

    return Batches(pa.table(first).schema, batches()), []
