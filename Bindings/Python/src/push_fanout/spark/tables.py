"""Tables of Arrow that a shard is made of."""

from __future__ import annotations

from typing import Any

from ..arrow import pyarrow_module


def flat(table: Any, keys: dict[str, str], fields: str) -> Any:
    """A table of the columns of the struct `fields`, the keys under their names, and ``_line``."""
    pa = pyarrow_module()
    columns = {name: table[key] for key, name in keys.items()}
    if fields in table.column_names:
        struct = table[fields].combine_chunks()
        struct = struct if isinstance(struct, pa.Array) else pa.concat_arrays(struct.chunks)
        for index in range(struct.type.num_fields):
            name = struct.type.field(index).name
            columns.setdefault(name, pa.compute.struct_field(struct, index))
    if "_line" in table.column_names:
        columns["_line"] = table["_line"]
    else:
        columns["_line"] = pa.nulls(table.num_rows, pa.string())
    return pa.table(columns)


def numbers(values: Any, type: Any) -> Any:
    """Numbers as an array of Arrow.

    What decides makes no values of Arrow from those of Python: for that, pyarrow imports pandas,
    which takes a second of each worker's time.
    """
    import numpy as np

    pa = pyarrow_module()
    data = np.ascontiguousarray(values, str(type))
    return pa.Array.from_buffers(type, len(data), [None, pa.py_buffer(data)])


def repeated(value: int, count: int, type: Any) -> Any:
    """The same number `count` times."""
    import numpy as np

    return numbers(np.full(count, value), type)


def users_table(rows: Any) -> Any:
    return sorted_by(_table(rows, {"_user": "id"}, "_u"), "id")


def members_table(rows: Any) -> Any:
    return _table(rows, {"_conversation": "conversation", "_user": "user"}, "_m")


def conversations_table(rows: Any) -> Any:
    return sorted_by(_table(rows, {"_conversation": "id"}, ""), "id")


def _table(rows: Any, keys: dict[str, str], fields: str) -> Any:
    pa = pyarrow_module()
    if rows is not None:
        return flat(rows, keys, fields)
    return pa.table({name: pa.array([], pa.string()) for name in (*keys.values(), "_line")})


def sorted_by(table: Any, key: str) -> Any:
    """By the bytes of a key."""
    return table.sort_by(key)


def engine_columns(table: Any) -> Any:
    """A table as the engine takes it: without the column of lines, and columns without values."""
    names = [
        name
        for name in table.column_names
        if name != "_line" and (name in ("id", "conversation", "user") or _has_values(table[name]))
    ]
    return table.select(names)


def _has_values(column: Any) -> bool:
    return bool(column.null_count < len(column))


def positions(mask: Any, value: bool) -> list[int]:
    import numpy as np

    found: list[int] = np.flatnonzero(mask.to_numpy() == value).tolist()
    return found


def joined(old: Any, new: Any) -> Any:
    pa = pyarrow_module()
    return pa.concat_tables([old, new], promote_options="permissive")


def replaced(old: Any, new: Any, keys: list[str], is_added: bool = True) -> Any:
    """A table without the rows whose keys are in another, and with the rows of that."""
    if new.num_rows == 0:
        return old
    pa = pyarrow_module()
    numbered = old.select(keys).append_column("_number", pa.array(range(old.num_rows), pa.int64()))
    kept = numbered.join(new.select(keys), keys, join_type="left anti")["_number"]
    rows = old.take(kept.combine_chunks().sort())
    return joined(rows, new) if is_added else rows


def without_row(table: Any, row: int) -> Any:
    pa = pyarrow_module()
    return pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
