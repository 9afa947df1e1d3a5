"""What several tests need: a small world, and the repository's other tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
ORACLE = os.path.join(ROOT, "Tests", "Oracle")
# The push-fanout to compare with: make program builds it. Without it tests fail, and say its path.
COMMAND = os.environ.get("PUSH_FANOUT_COMMAND") or os.path.join(
    ROOT, ".build", "release", "push-fanout"
)

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


# Under open rules: keywords, roles, replies and a thread.
OPEN_RECORDS = [
    {"kind": "app", "rules": "open"},
    {"kind": "conversation", "id": "team", "type": "group"},
    {"kind": "conversation", "id": "lunch", "type": "thread", "parent": "team"},
    {"kind": "user", "id": "ann", "level": ["keyword"], "keywords": ["café au lait"]},
    {"kind": "user", "id": "ben", "level": ["role"]},
    {"kind": "user", "id": "7", "level": ["reply"]},
    {"kind": "user", "id": "dan", "level": ["thread"]},
    {"kind": "member", "conversation": "team", "user": "ann"},
    {"kind": "member", "conversation": "team", "user": "ben", "roles": ["ops", "night"]},
    {"kind": "member", "conversation": "team", "user": "7"},
    {"kind": "member", "conversation": "team", "user": "dan"},
    {"kind": "member", "conversation": "lunch", "user": "dan"},
]
SAID = "Un CAFÉ au lait!"
_LONG = " " * (65_536 - len(SAID.encode()))


def _message(conversation, text=None, roles=None, reply=None):
    return {
        "conversation": conversation, "sender": "eve", "at": NOON, "text": text,
        "mentionsRoles": roles, "replyToUser": reply,
    }  # fmt: skip


_CASES = [
    (_message("team", SAID), ["ann"]),
    (_message("team", "Un thé au lait?", ["boss", "ops"]), ["ben"]),
    (_message("team", reply="7"), ["7"]),
    (_message("lunch"), ["dan"]),
    (_message("lunch", SAID, ["night"], "7"), ["ann", "ben", "7", "dan"]),
    (_message("team"), []),
    (_message("team", "", [], "dan"), []),
    (_message("team", _LONG + SAID), ["ann"]),
    (_message("team", _LONG + "   " + SAID), []),
    (_message("team", roles=[f"r{number}" for number in range(7)] + ["ops"]), ["ben"]),
]
OPEN_MESSAGES = [{"id": f"m{number}", **case} for number, (case, _) in enumerate(_CASES)]
OPEN_PUSHES = [pushes for _, pushes in _CASES]


def load(path: str, name: str) -> ModuleType:
    """A file of the repository as a module."""
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
