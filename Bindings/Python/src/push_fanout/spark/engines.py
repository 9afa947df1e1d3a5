"""The engines of a worker: snapshots on the local disk, mapped once by all workers of a machine."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections import OrderedDict
from typing import Any, NamedTuple

from ..engine import Fanout, UnknownZones
from ..errors import Error
from .manifest import snapshot_identity
from .storage import Storage

CACHED = 2
"""How many engines a worker keeps."""


class Target(NamedTuple):
    """A shard of some settings.

    Attributes:
        number: that of the settings.
        at: the instant from which on they hold.
        folder: where the shard is.
    """

    number: int
    at: int
    folder: str


_engines: OrderedDict[tuple[str, int, str, UnknownZones], Fanout] = OrderedDict()


def engine_of(
    path: str, identity: int, target: Target, live: frozenset[str], unknown_zones: UnknownZones,
    count: Any,
) -> Fanout:  # fmt: skip
    """The engine of a shard, with one thread; the worker keeps it for its next tasks.

    Args:
        path: the folder on the shared storage.
        identity: what its snapshots are written with.
        target: the shard.
        live: the folders whose snapshots may stay on the local disk.
        unknown_zones: as for `Fanout.open`.
        count: is called with the name of a counter and what to add.
    """
    key = (path, identity, target.folder, unknown_zones)
    fanout = _engines.get(key)
    if fanout is not None:
        _engines.move_to_end(key)
        return fanout
    while len(_engines) >= CACHED:
        _engines.popitem(last=False)
    local = _local_snapshot(path, identity, target.folder, live, count)
    fanout = Fanout.open(
        snapshot=local, identity=snapshot_identity(identity, target.folder), threads=1,
        unknown_zones=unknown_zones,
    )  # fmt: skip
    # Shards that no change concerned are of earlier settings, as their folder says.
    if fanout.snapshot_sequence != int(target.folder.split("/")[1].split("-")[0]):
        raise Error(f"{path}/{target.folder}: the snapshot is of other settings", "PF_SNAPSHOT")
    count("engines_opened", 1)
    _engines[key] = fanout
    return fanout


def cache_folder() -> str:
    """Where snapshots are on the local disk: ``PUSH_FANOUT_CACHE``, or a folder of this user in the
    folder for temporary files."""
    folder = os.environ.get("PUSH_FANOUT_CACHE")
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), f"push-fanout-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Error(f"{folder}: belongs to somebody else; set PUSH_FANOUT_CACHE", "PF_IO")
    return folder


def _local_snapshot(path: str, identity: int, folder: str, live: frozenset[str], count: Any) -> str:
    """The snapshot's copy on the local disk, which the first worker that needs it makes."""
    parent = os.path.join(cache_folder(), f"{identity:016x}")
    os.makedirs(parent, exist_ok=True)
    name = folder.replace("/", "-")
    local = os.path.join(parent, name)
    storage = Storage(path)
    with open(os.path.join(parent, f".{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(local):
            part = f"{local}.part"
            storage.get(f"{folder}/snapshot", part)
            count("bytes_fetched", os.path.getsize(part))
            os.replace(part, local)
            _remove_dead(parent, {folder.replace("/", "-") for folder in live})
    return local


def _remove_dead(parent: str, live: set[str]) -> None:
    """Removes copies of shards that are no longer there. Engines that map them go on."""
    for name in os.listdir(parent):
        if not name.startswith(".") and not name.endswith(".part") and name not in live:
            for dead in (name, f".{name}.lock"):
                try:
                    os.unlink(os.path.join(parent, dead))
                except FileNotFoundError:
                    pass
