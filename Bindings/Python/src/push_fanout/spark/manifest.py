"""Shards: settings of one instant, split into snapshots on the shared storage."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from ..errors import Error
from .storage import Storage

FORMAT = 2


@dataclasses.dataclass(frozen=True)
class Giant:
    """A conversation that is split: part ``p`` is in the shard ``(first + p) % shards``.

    Attributes:
        first: the shard of part 0.
        parts: the number of parts; a user's part is ``pmod(xxhash64(user), parts)``.
        members: the number of members when it was split.
    """

    first: int
    parts: int
    members: int


@dataclasses.dataclass(frozen=True)
class Shards:
    """Settings of one instant as snapshots on the shared storage: what `prepare` and `update` give.

    Attributes:
        path: the folder on the shared storage.
        number: the number of these settings: 1 for those of the first `prepare`, and one more for
            each later `prepare` or `update` into the folder.
        at: the instant from which on they hold, milliseconds since 1970.
        folders: the folder of each shard.
        members: how many memberships each shard has.
        giants: the conversations that are split, by id.
        settings: the record of the app as NDJSON.
        identity: what the snapshots of the folder were written with.
        users: the folders with the settings of all users, the oldest first.
        threads: the folders with the parents of threads, the oldest first.
        giant_limit: the number of members above which a conversation was split.
        summary: what was done to make them.
    """

    path: str
    number: int
    at: int
    folders: tuple[str, ...]
    members: tuple[int, ...]
    giants: dict[str, Giant]
    settings: str
    identity: int
    users: tuple[str, ...]
    threads: tuple[str, ...]
    giant_limit: int
    summary: dict[str, Any]

    def __repr__(self) -> str:
        return (
            f"<Shards {self.number} of {self.path}: {len(self.folders)} shards, "
            f"{len(self.giants)} giants, settings from {self.at} on>"
        )

    @classmethod
    def open(cls, path: str | os.PathLike[str], number: int | None = None) -> Shards:
        """Opens shards that were prepared.

        Args:
            path: the folder on the shared storage.
            number: which settings; None for the last.

        Raises:
            Error: when there are none of that number.
        """
        storage = Storage(path)
        known = numbers(storage)
        if not known:
            raise Error(f"{storage.path}: there are no shards; prepare() makes some", "PF_IO")
        if number is None:
            number = known[-1]
        if number not in known:
            has = ", ".join(map(str, known))
            raise Error(f"{storage.path}: there are no shards {number}; there are {has}", "PF_IO")
        return cls._of(json.loads(storage.read(manifest_name(number))), storage.path)

    @classmethod
    def _of(cls, fields: dict[str, Any], path: str) -> Shards:
        if fields.pop("format") != FORMAT:
            raise Error(f"{path}: the shards are of another version of push-fanout", "PF_INVALID")
        fields["giants"] = {id: Giant(**giant) for id, giant in fields["giants"].items()}
        for name in ("folders", "members", "users", "threads"):
            fields[name] = tuple(fields[name])
        return cls(path=path, **fields)

    def publish(self) -> None:
        """Makes them known to `open`; before, it does not find them."""
        fields = dataclasses.asdict(self)
        del fields["path"]
        text = json.dumps({"format": FORMAT, **fields}, ensure_ascii=False)
        Storage(self.path).write(manifest_name(self.number), text.encode())

    def older(self) -> list[Shards]:
        """These and all earlier ones that are still there, the earliest first."""
        storage = Storage(self.path)
        earlier = [number for number in numbers(storage) if number < self.number]
        return [Shards.open(self.path, number) for number in earlier] + [self]

    def live_folders(self) -> frozenset[str]:
        """The folders of the shards of all settings that are there."""
        storage = Storage(self.path)
        return frozenset(
            folder
            for number in numbers(storage)
            for folder in Shards.open(self.path, number).folders
        )

    def clean(self, keep: int = 1) -> list[int]:
        """Removes earlier shards, and what jobs that did not end have left behind. No job may be
        preparing into the folder, or deciding by the shards that are removed.

        Args:
            keep: how many to keep, these and the ones before them.

        Returns:
            the numbers of what was removed.
        """
        if keep < 1:
            raise ValueError("keep at least 1")
        storage = Storage(self.path)
        known = numbers(storage)
        removed = [number for number in known if number <= self.number][:-keep]
        for number in removed:
            storage.remove(manifest_name(number))
            storage.remove(f"ranks/{number:06}")
        used = set()
        for number in numbers(storage):
            kept = Shards.open(self.path, number)
            used |= {name.split("/")[1] for name in (*kept.folders, *kept.users, *kept.threads)}
        for name in storage.names("data"):
            if name not in used:
                storage.remove(f"data/{name}")
        return removed


def manifest_name(number: int) -> str:
    """The file that makes shards known."""
    return f"settings-{number:06}.json"


def numbers(storage: Storage) -> list[int]:
    """The numbers of the shards that are there, ascending."""
    return [
        int(name[len("settings-") : -len(".json")])
        for name in storage.names("")
        if name.startswith("settings-") and name.endswith(".json")
    ]


def next_number(storage: Storage) -> int:
    """The number of the next shards."""
    return max(numbers(storage), default=0) + 1


def snapshot_identity(identity: int, folder: str) -> tuple[int, int]:
    """The two numbers that the snapshot of a shard is written with."""
    number, shard = folder.split("/")[1:]
    return identity, int(number.split("-")[0]) << 32 | int(shard.split("-")[1])
