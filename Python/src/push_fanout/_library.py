"""The functions and structures of push_fanout.h, by ctypes."""

from __future__ import annotations

import ctypes as C
import os
from collections.abc import Sequence
from typing import Any

from .errors import Error

CODE_COUNT = 128
LAST_INSTANT = 9007199254740991
COUNTS, CODES, PUSH_BITMAPS = 1, 2, 4
ARROW_IDS = 1
ARROW_ID_VIEWS = 2
ABI_VERSION = 1

OK = 0
FORKED = 10

Pointer = C.c_void_p
Size = C.c_size_t


class Options(C.Structure):
    _fields_ = [
        ("struct_size", Size),
        ("threads", C.c_int32),
        ("unused", C.c_int32),
        ("unknown_zones", C.c_int32),
    ]


class IDs(C.Structure):
    _fields_ = [("count", Size), ("offsets", Pointer), ("bytes", Pointer)]

    def texts(self) -> list[str]:
        """The texts, without freeing them."""
        count = self.count
        if count == 0:
            return []
        offsets = (C.c_uint64 * (count + 1)).from_address(self.offsets)
        starts = offsets[:]
        characters = C.string_at(self.bytes, starts[count])
        if characters.isascii():
            text = characters.decode("ascii")
            return [text[a:b] for a, b in zip(starts, starts[1:])]
        return [characters[a:b].decode() for a, b in zip(starts, starts[1:])]


class Targets(C.Structure):
    _fields_ = [("users", IDs), ("device_starts", Pointer), ("devices", IDs)]


class Stamp(C.Structure):
    _fields_ = [("epoch", C.c_uint64), ("sequence", C.c_uint64), ("membership", C.c_uint64)]


class Summary(C.Structure):
    _fields_ = [
        ("stamp", Stamp),
        ("members", C.c_uint64),
        ("recipients", C.c_uint64),
        ("pushes", C.c_uint64),
    ]


class Change(C.Structure):
    _fields_ = [("at", C.c_int64), ("before", C.c_uint8), ("after", C.c_uint8)]


class Info(C.Structure):
    _fields_ = [
        ("struct_size", Size),
        ("epoch", C.c_uint64),
        ("sequence", C.c_uint64),
        ("user_count", C.c_uint64),
        ("threads", C.c_int32),
        ("is_rongcloud", C.c_int32),
        ("snapshot_sequence", C.c_uint64),
    ]


MEMORY_PARTS = (
    "users",
    "user_extras",
    "conversations",
    "memberships",
    "membership_extras",
    "ids",
    "id_characters",
    "states",
    "mapped",
    "user_count",
    "conversation_count",
    "membership_count",
)


class Memory(C.Structure):
    _fields_ = [("struct_size", Size), *((name, C.c_uint64) for name in MEMORY_PARTS)]


class Batch(C.Structure):
    _fields_ = [
        ("count", Size),
        ("summaries", Pointer),
        ("counts", Pointer),
        ("code_starts", Pointer),
        ("codes", Pointer),
        ("bitmap_starts", Pointer),
        ("bitmaps", Pointer),
    ]


class ArrowArrayStream(C.Structure):
    _fields_ = [
        ("get_schema", Pointer),
        ("get_next", Pointer),
        ("get_last_error", Pointer),
        ("release", Pointer),
        ("private_data", Pointer),
    ]


_TEXT = (C.c_char_p, Size)
_PATHS = (C.POINTER(C.c_char_p), Size)
_OUT = C.c_void_p

# The arguments of each function without the last, which receives the error.
_CHECKED: dict[str, tuple[Any, ...]] = {
    "pf_open_bytes": (*_TEXT, _OUT, _OUT),
    "pf_open_files": (*_PATHS, *_PATHS, *_PATHS, _OUT, _OUT),
    "pf_open_snapshot": (C.c_char_p, C.c_uint64, C.c_uint64, _OUT, _OUT),
    "pf_open_arrow": (*_TEXT, Pointer, Pointer, _OUT, _OUT),
    "pf_reopen": (Pointer, _OUT),
    "pf_write_snapshot": (Pointer, C.c_char_p, C.c_uint64, C.c_uint64, C.c_uint64),
    "pf_get_info": (Pointer, _OUT),
    "pf_get_memory": (Pointer, _OUT),
    "pf_unknown_zone_users": (Pointer, _OUT, _OUT),
    "pf_members": (Pointer, *_TEXT, _OUT, _OUT),
    "pf_update": (Pointer, *_TEXT, C.c_int64, _OUT),
    "pf_remove_member": (Pointer, *_TEXT, *_TEXT, C.c_int64),
    "pf_advance": (Pointer, C.c_int64),
    "pf_warm_up": (Pointer, *_TEXT, C.c_int64),
    "pf_messages_read": (Pointer, *_TEXT, C.c_char_p, _OUT),
    "pf_messages_read_arrow": (Pointer, Pointer, _OUT),
    "pf_messages_get": (Pointer, Size, _OUT, _OUT, _OUT),
    "pf_messages_stream": (Pointer, _OUT),
    "pf_decide_at": (Pointer, Pointer, Size, Pointer),
    "pf_answer_summary": (Pointer, _OUT),
    "pf_answer_counts": (Pointer, _OUT),
    "pf_answer_codes": (Pointer, _OUT, Size, _OUT),
    "pf_answer_push_bitmap": (Pointer, _OUT, Size, _OUT),
    "pf_answer_push_ranks": (Pointer, _OUT, Size, _OUT),
    "pf_answer_users": (Pointer, _OUT, Size, _OUT),
    "pf_answer_push_ids": (Pointer, _OUT),
    "pf_answer_push_targets": (Pointer, _OUT),
    "pf_answer_members": (Pointer, _OUT),
    "pf_answer_refused": (Pointer, _OUT),
    "pf_answer_code": (Pointer, *_TEXT, _OUT),
    "pf_explain": (Pointer, *_TEXT, *_TEXT, C.c_int, _OUT, _OUT, _OUT),
    "pf_next_change": (Pointer, *_TEXT, *_TEXT, *_TEXT, C.c_int64, _OUT, _OUT),
    "pf_decide_batch": (Pointer, Pointer, Size, Size, C.c_uint32, _OUT),
    "pf_evaluate": (Pointer, *_TEXT, C.c_char_p, C.c_int, _OUT, _OUT, _OUT),
    "pf_relation_new": (Pointer, Pointer, C.c_uint32, _OUT),
    "pf_relation_stream": (Pointer, _OUT),
    "pf_relation_users": (Pointer, _OUT),
    "pf_relation_held": (Pointer, _OUT),
}
_FREEING = (
    "pf_free",
    "pf_ids_free",
    "pf_targets_free",
    "pf_batch_free",
    "pf_messages_free",
    "pf_relation_free",
    "pf_close",
)


def _load(path: str) -> C.CDLL:
    library = C.CDLL(path)
    version = library.pf_abi_version()
    if version != ABI_VERSION:
        raise ImportError(f"{path} has the interface version {version} instead of {ABI_VERSION}")
    for name, arguments in _CHECKED.items():
        function = getattr(library, name)
        function.argtypes = (*arguments, _OUT)
        function.restype = C.c_int
    for name in _FREEING:
        function = getattr(library, name)
        function.argtypes = (Pointer,)
        function.restype = None
    library.pf_status_name.argtypes = (C.c_int,)
    library.pf_status_name.restype = C.c_char_p
    library.pf_messages_count.argtypes = (Pointer,)
    library.pf_messages_count.restype = Size
    library.pf_outcome_registry_version.argtypes = ()
    library.pf_outcome_registry_version.restype = C.c_uint32
    library.pf_outcome.argtypes = (C.c_uint8, _OUT, _OUT, _OUT)
    library.pf_outcome.restype = C.c_int
    return library


library = _load(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libpushfanout.so.1")
)


def take_text(address: int | None, size: int | None = None) -> bytes:
    """A text that C gave, which is freed."""
    if address is None:
        return b""
    text = C.string_at(address) if size is None else C.string_at(address, size)
    library.pf_free(address)
    return text


def check(status: int, error: C.c_void_p) -> None:
    """Raises what a function of C has refused."""
    if status != OK:
        name = library.pf_status_name(status).decode()
        raise Error(take_text(error.value).decode(errors="replace"), name)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of C that can fail."""
    error = C.c_void_p()
    status = function(*arguments, C.byref(error))
    if status != OK:
        check(status, error)


class Owned:
    """Something of C's that is freed with this object.

    Args:
        address: what is freed.
        free: the function that frees it.
        keeps: what has to live as long.
    """

    __slots__ = ("address", "_free", "_keeps", "__weakref__")

    def __init__(self, address: int, free: Any, keeps: object = None) -> None:
        self.address = address
        self._free = free
        self._keeps = keeps

    def __del__(self) -> None:
        self._free(self.address)


def text_arguments(text: str, name: str) -> tuple[bytes, int]:
    """The two arguments that C takes for a text."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, not {type(text).__name__}")
    data = text.encode("utf-8", "surrogatepass")
    return data, len(data)


def path_argument(path: str | os.PathLike[str]) -> bytes:
    """A path for C."""
    data = os.fsencode(path)
    if b"\0" in data:
        raise ValueError("embedded null byte in a path")
    return data


def path_list(paths: Sequence[str | os.PathLike[str]]) -> tuple[Any, int]:
    """Paths for C."""
    data = [path_argument(path) for path in paths]
    return (C.c_char_p * len(data))(*data), len(data)
