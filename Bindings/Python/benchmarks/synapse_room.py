"""A room decided by push_fanout and by Synapse's push rules, in one process of Benchmarks/peers.

    synapse_room.py MEMBERS

Prints the seconds of both as JSON, when they push to the same users.
"""

from __future__ import annotations

import json
import random
import sys
import time
from types import SimpleNamespace

import numpy as np
from with_synapse import Synapse
from world import Message

from push_fanout import Fanout

AT = 1_717_387_200_000  # noon
LEVELS = (None, "all", "mention", "none")


def main(count: int) -> None:
    """Half of the members have quiet hours, some of which hold noon; a fifth have levels."""
    choose = random.Random(1)
    levels = np.array([choose.choices(range(4), (8, 1, 2, 1))[0] for _ in range(count)], np.uint8)
    own = np.array([choose.choices(range(4), (8, 1, 2, 1))[0] for _ in range(count)], np.uint8)
    starts = np.array([choose.randrange(1, 1200) for _ in range(count)], np.uint16)
    is_set = np.array([choose.random() < 0.5 for _ in range(count)])
    ends = starts + 240
    records: list[dict[str, object]] = []
    for user in range(count):
        record: dict[str, object] = {"kind": "user", "id": f"{user}"}
        if levels[user]:
            record["level"] = LEVELS[levels[user]]
        if is_set[user]:
            start, end = int(starts[user]), int(ends[user]) % 1440
            record["quietHours"] = {
                "start": f"{start // 60:02}:{start % 60:02}", "end": f"{end // 60:02}:{end % 60:02}"
            }  # fmt: skip
        records.append(record)
        member = {"kind": "member", "conversation": "g", "user": f"{user}"}
        records.append({**member, "level": LEVELS[own[user]]} if own[user] else member)
    fanout = Fanout.from_ndjson(records, threads=1)
    world = SimpleNamespace(
        quiet_start=np.where(is_set, starts, 0), quiet_end=np.where(is_set, ends, 0),
        muted_until=np.zeros(count, np.int64), levels=levels,
    )  # fmt: skip
    synapse = Synapse(world)
    synapse.prepare(SimpleNamespace(users=np.arange(count), levels=own, members=count))
    message = Message("plain", AT, 0)
    synapse.ready(message)
    line = {"id": "m", "conversation": "g", "at": AT, "sender": "0"}

    def timed(call):  # type: ignore[no-untyped-def]
        best = 1e9
        for _ in range(3):
            start = time.perf_counter()
            found = call()
            best = min(best, time.perf_counter() - start)
        return best, found

    ours, pushes = timed(lambda: fanout.decide(line).pushes)
    theirs, actions = timed(lambda: synapse.decide(message))
    if [f"@u{user}:example.org" for user in pushes] != list(actions):
        sys.exit("the answers differ")
    print(json.dumps({"ours": ours, "synapse": theirs}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
