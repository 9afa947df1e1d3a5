"""Tables as Arrow streams: types that the engine reads, and what is made of others."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, NamedTuple, Protocol, runtime_checkable

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

TEXTS = ("u", "U", "vu")
READ = frozenset(["n", "b", *"cCsSiIlLfg", *TEXTS])
NESTED = ("+s", "+l", "+L")
WORDS = {
    "z": "binary", "Z": "large_binary", "vz": "binary_view", "e": "halffloat",
    "tdD": "date32", "tdm": "date64", "+m": "map", "+vl": "list_view", "+vL": "large_list_view",
    "+r": "run_end_encoded", "_pli128": "Int128", "_plu128": "UInt128",
}  # fmt: skip
ADVICE = {
    "z": "cast it to text", "Z": "cast it to text", "vz": "cast it to text",
    "w": "cast it to text", "tdD": "cast it to a timestamp with a time zone",
    "tdm": "cast it to a timestamp with a time zone", "+m": "give a struct",
    "d": "cast it to integers", "_pli128": "cast it to Int64", "_plu128": "cast it to UInt64",
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
    _, format, children, dictionary, extension = column
    if dictionary is not None:
        return _needs_conversion((None, *dictionary[1:]), path, name, has_zone)
    if extension is not None and format not in TEXTS:
        # What a value means, only those know who made the type: a period of pandas is an integer.
        raise Error(
            f'{name}: "{path}" is of the extension type {extension}, which cannot be read; cast it '
            "to a type of Arrow",
            "PF_INVALID",
        )
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


class Parts(NamedTuple):
    """Tables that are read one after the other as one, each by its own schema, and what errors call
    each of them."""

    tables: Iterable[tuple[str, ArrowTable]]


class Batches:
    """Batches of one schema that Python makes, as a table that is read once. What is raised
    meanwhile, such as by Ctrl-C, is kept, as a stream has only words for it."""

    def __init__(self, name: str, schema: Any, batches: Iterable[Any]) -> None:
        self.error: BaseException | None = None
        pa = pyarrow_module()
        self._name = name
        self._pyarrows = (OSError, pa.ArrowException)
        self._reader = pa.RecordBatchReader.from_batches(schema, self._kept(batches))

    def _kept(self, batches: Iterable[Any]) -> Iterator[Any]:
        try:
            yield from batches
        except self._pyarrows as error:
            self.error = Error(f"{self._name}: {first_line(error)}", "PF_INVALID")
            raise
        except BaseException as error:
            self.error = error
            raise

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def first_line(error: BaseException) -> str:
    """What pyarrow says; the lines behind are for its developers."""
    return (str(error.args[0]) if error.args else str(error)).split("\n")[0].strip()


class Table:
    """A table that is opened when it is read: of two relations of one connection, the first has
    been read when the second is opened. Its parts are opened one after the other, too, and no row
    is read by the schema of another part."""

    def __init__(self, source: ArrowTable | Parts, name: str, zone: tzinfo | None) -> None:
        self._parts = iter(source.tables if isinstance(source, Parts) else [(name, source)])
        self._zone = zone
        self._batches: Batches | None = None
        self._has_parts = False
        self.name = name
        self.columns: set[str] = set()
        """The names of the columns so far."""
        self.error: BaseException | None = None
        """What was raised when it was opened or read."""

    def stream(self) -> object:
        """A capsule with its rows, of types that the engine reads."""
        return _native.chained_stream(self._next)

    def _next(self) -> object:
        """A capsule with the rows of the next part; None at the end."""
        try:
            part = next(self._parts, None)
            if part is not None:
                return self._opened(*part)
            # Something without a batch has no columns either.
            none = None if self._has_parts else pyarrow_module("this table").table({})
            self._has_parts = True
            return none and none.__arrow_c_stream__()
        except BaseException as error:
            self.error = error
            raise

    def _opened(self, name: str, source: ArrowTable) -> object:
        self._has_parts = True
        capsule = source.__arrow_c_stream__()
        try:
            type = _native.stream_type(capsule)
            columns = converted_columns(type, name, self._zone)
            self.columns.update(column[0] or "" for column in type[2])
            return self._converted(name, capsule, columns) if columns else capsule
        finally:
            # Of an error the stream would else be kept, and its connection be in use.
            del capsule

    def _converted(self, name: str, capsule: object, columns: list[int]) -> object:
        """The stream with some columns converted, batch by batch."""
        pa = pyarrow_module("a column of such a type")
        reader = pa.RecordBatchReader._import_from_c_capsule(capsule)
        fields = list(reader.schema)

        def plain(batch: Any) -> Any:
            arrays = list(batch.columns)
            kept = list(fields)
            for index in columns:
                path = f'{name}: "{fields[index].name}"'
                arrays[index] = _plain_column(pa, arrays[index], path, self._zone)
                kept[index] = fields[index].with_type(arrays[index].type)
            return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(kept))

        schema = plain(pa.RecordBatch.from_pylist([], reader.schema)).schema
        self._batches = Batches(name, schema, map(plain, reader))
        return self._batches.__arrow_c_stream__()

    def tables(self) -> Iterator[Any]:
        """The rows of each part as a pyarrow.Table."""
        pa = pyarrow_module("this table")
        for part in self._parts:
            capsule = self._opened(*part)
            try:
                yield pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()
            except (OSError, pa.ArrowException) as error:
                self.raise_error()
                raise Error(f"{part[0]}: {first_line(error)}", "PF_INVALID") from None

    def raise_error(self) -> None:
        """Raises what was raised when it was opened or read, if anything was."""
        if self.error is None and self._batches is not None:
            self.error = self._batches.error
        if self.error is not None:
            raise self.error

    def named(self, text: str) -> str:
        """What the engine says of a row, where it is about a column: no row is wrong then."""
        found = re.match(r'(.+?):\d+: unknown field ("(.*?)".*)', text)
        if found and found[3] in self.columns:
            return f"{found[1]}: unknown column {found[2]}"
        return text


# ----------------------------------------------------------------------------------------- Sources


def table_of(source: Any, name: str) -> ArrowTable | Parts | None:
    """What gives the rows of a source as Arrow streams; None for what is no table.

    A reader is read from later, and so is a list or a generator of batches (`parts_of`).

    Args:
        source: anything.
        name: what errors call it.
    """
    module = type(source).__module__.partition(".")[0]
    if module == "pandas" and hasattr(source, "index") and hasattr(source, "columns"):
        return _of_pandas(source, name)
    if module == "pyarrow" and hasattr(source, "read_next_batch"):
        # Nothing has compared the batches of a generator with the schema that was given for them.
        none = (name, source.schema.empty_table())
        return Parts(itertools.chain([none], _numbered(source, name)))
    if module == "polars":
        source = _of_polars(source, name)
    if hasattr(source, "__arrow_c_stream__"):
        return source  # type: ignore[no-any-return]
    if module in ("duckdb", "_duckdb"):
        if type(source).__name__ == "DuckDBPyConnection":
            raise TypeError(
                f"{name} cannot be a connection of DuckDB: give con.sql(...), or "
                "con.fetch_arrow_table() of what was executed"
            )
        if hasattr(source, "fetch_arrow_table"):
            raise ImportError(f"{name}: this is of a DuckDB before 1.1, but 1.3 or later is needed")
    if hasattr(source, "__arrow_c_array__"):
        pa = pyarrow_module("an array of Arrow")
        table: ArrowTable = pa.chunked_array([pa.array(source)])
        return table
    return _of_pyarrow(source, name) if module == "pyarrow" else None


def _of_pandas(frame: Any, name: str) -> ArrowTable:
    # An index without a name is no field: that of the rows which a filter has left. One that is a
    # column, too, is no other field.
    names = frame.index.names
    is_field = all(name is not None and name not in frame.columns for name in names)
    # Before pandas 2.2, frames give no streams; those of later ones are made like this.
    pa = pyarrow_module("a frame of pandas")
    try:
        table: ArrowTable = pa.Table.from_pandas(frame, preserve_index=is_field)
    except pa.ArrowException as error:
        column = re.search(r"for column (.*) with type", str(error.args[-1]))
        if column is None or column[1] not in frame.columns:
            raise Error(f"{name}: {first_line(error)}", "PF_INVALID") from None
        types = sorted({type(value).__name__ for value in frame[column[1]].dropna()})
        raise Error(
            f'{name}: "{column[1]}" has values of several types, {" and ".join(types)}; give one, '
            "such as by .astype(str)"
            if len(types) > 1
            else f'{name}: "{column[1]}": {first_line(error)}',
            "PF_INVALID",
        ) from None
    return table


def _of_polars(source: Any, name: str) -> Any:
    version: str = sys.modules["polars"].__version__
    if tuple(map(int, version.split(".")[:2])) < (1, 10):
        # Earlier frames give no streams, or copies, and lose that a struct is null.
        raise ImportError(f"{name}: this is of polars {version}, but 1.10 or later is needed")
    return source.collect() if hasattr(source, "collect") else source


def _of_pyarrow(source: Any, name: str) -> ArrowTable | Parts | None:
    found: ArrowTable | None = None
    if hasattr(source, "to_reader"):  # a Scanner
        found = source.to_reader()
    elif hasattr(source, "scanner"):  # a Dataset
        found = source.scanner().to_reader()
    elif hasattr(source, "iter_batches"):  # a ParquetFile
        return Parts((name, batch) for batch in parquet_batches(source))
    elif hasattr(source, "get_batch"):  # a file of IPC
        count = source.num_record_batches
        return Parts((name, source.get_batch(index)) for index in range(count))
    return found


def parquet_batches(parquet: Any) -> Iterator[Any]:
    """The rows of a ParquetFile; timestamps of 96 bits, which have no time zone for pyarrow, are in
    UTC: those who write them mean that."""
    pa = pyarrow_module()
    columns = [parquet.schema.column(index) for index in range(len(parquet.schema))]
    old = [column.path for column in columns if column.physical_type == "INT96"]
    none = pa.RecordBatch.from_pylist([], parquet.schema_arrow)
    for batch in itertools.chain([none], parquet.iter_batches(1 << 20)):
        for path in old:
            at = batch.schema.get_field_index(path)
            if at >= 0:
                moments = batch[at].cast(pa.timestamp("us"), safe=False)
                batch = batch.set_column(at, path, pa.compute.assume_timezone(moments, "UTC"))
        yield batch


def _numbered(items: Iterable[Any], name: str) -> Iterator[tuple[str, ArrowTable]]:
    """The parts of a list or generator of tables."""
    for number, item in enumerate(items, 1):
        label = f"{name}: batch {number}"
        found = item if isinstance(item, Parts) else table_of(item, label)
        if found is None:
            raise TypeError(f"{label} is no table but a {type(item).__name__}")
        if isinstance(found, Parts):
            yield from found.tables
        else:
            yield label, found


def parts_of(source: Iterable[Any], name: str) -> tuple[Parts | None, Iterable[Any]]:
    """The batches or tables that a source has, or else the source, with its first element again.

    >>> parts_of([], "messages")
    (None, [])
    """
    rest = iter(source)
    try:
        first = next(rest)
    except StopIteration:
        return None, []
    everything = source if rest is not source else itertools.chain([first], rest)
    table = table_of(first, f"{name}: batch 1")
    if table is None:
        return None, everything
    return Parts(_numbered(itertools.chain([table], rest), name)), []
