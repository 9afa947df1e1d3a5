"""Whether there is memory for arrays."""

from __future__ import annotations

import contextlib

CHECKED_BYTES = 1 << 26
"""Arrays of so many bytes are made only if they fit into the memory."""


def check_memory(size: int) -> None:
    """Raises a `MemoryError` if arrays of so many bytes do not fit into the memory."""
    if size < CHECKED_BYTES:
        return
    available = available_memory()
    if size > available:
        raise MemoryError(
            f"the arrays of these messages take {size:,} bytes, and {available:,} are available; "
            'ask for parts=("counts",), for some messages after the other (first and count), or '
            "for decisions()"
        )


def available_memory() -> int:
    """The bytes that this process may still take: those of the machine, of its control group and of
    its own limit."""
    import resource

    found = [2**63]
    with contextlib.suppress(OSError, ValueError, KeyError):
        found.append(_table("/proc/meminfo")["MemAvailable:"] * 1024)
    for group in ("", *_control_groups()):
        folder = f"/sys/fs/cgroup{group}"
        with contextlib.suppress(OSError, ValueError, KeyError):
            # What is cached of files is given back when it is needed.
            cached = _table(f"{folder}/memory.stat")["inactive_file"]
            limit, used = (_number(f"{folder}/memory.{name}") for name in ("max", "current"))
            found.append(limit - used + cached)
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        with open("/proc/self/statm", encoding="ascii") as file:
            found.append(limit - int(file.read().split()[0]) * resource.getpagesize())
    return max(0, min(found))


def _number(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())


def _table(path: str) -> dict[str, int]:
    """Names and numbers, one a line."""
    with open(path, encoding="ascii") as file:
        return {line.split()[0]: int(line.split()[1]) for line in file}


def _control_groups() -> list[str]:
    """The control group of this process, and those that it is in."""
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="ascii") as file:
        for line in file:
            if line.startswith("0::"):
                parts = line[3:].strip().strip("/").split("/")
                return ["/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return []
