"""What several tests need: a small world, and the repository's other tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
ORACLE = os.path.join(ROOT, "Tests", "Oracle")

NOON = 1717387200000
NIGHT = 1717426800000  # 23:00 in Shanghai

RECORDS = [
    {"kind": "app", "rules": "easemob", "timeZone": "Asia/Shanghai"},
    {"kind": "user", "id": "ann", "quietHours": {"start": "22:00", "end": "08:00"}},
    {"kind": "user", "id": "ben", "devices": [{"id": "p1"}, {"id": "p2"}]},
    {"kind": "user", "id": "cid", "level": "none"},
    {"kind": "user", "id": "dän", "level": "mention"},
    *(
        {"kind": "member", "conversation": "g", "user": user}
        for user in ("ann", "ben", "cid", "dän")
    ),
]
MESSAGE = {"id": "m", "conversation": "g", "sender": "cid", "at": NIGHT}
MESSAGES = [
    {"id": f"m{number}", "conversation": ("g", "none")[number % 3 == 2], "at": NIGHT + number}
    for number in range(12)
]


def load(path: str, name: str) -> ModuleType:
    """A file of the repository as a module."""
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
