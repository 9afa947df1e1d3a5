"""The library of the store, which comes in the package push-fanout-store."""

from __future__ import annotations

import ctypes as C
from functools import cache
from typing import Any

from ._library import ABI_VERSION

ACCESS = {"read": 0, "write": 1, "create": 2}


@cache
def open_store() -> Any:
    """The function that opens a store."""
    try:
        from push_fanout_store import LIBRARY
    except ImportError:
        raise ImportError(
            "stores need the package push-fanout-store, of the same release: "
            "pip install push-fanout-store"
        ) from None
    library = C.CDLL(LIBRARY)
    version = library.pf_store_abi_version()
    if version != ABI_VERSION:
        raise ImportError(f"{LIBRARY} has the interface version {version} instead of {ABI_VERSION}")
    function = library.pf_store_open
    function.argtypes = (C.c_char_p, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p)
    function.restype = C.c_int
    return function
