"""Held pushes, found again by deciding each message at every minute that follows.

PUSH_SEED=n begins with another seed; PUSH_FANOUT_COMMAND is the push-fanout whose replays of real
days list the same.
"""

from __future__ import annotations

import json
import os
import random
import subprocess

import numpy as np
import pyarrow
import pytest
from worlds_under_test import COMMAND, ROOT

from push_fanout import OUTCOMES, Fanout

SEED = int(os.environ.get("PUSH_SEED", "0"))
NOON = 1717387200000
MINUTE = 60_000
ZONES = [None, "Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata"]


def clock(rng):
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}"


def quiet_hours(rng, rules):
    if rules == "easemob":
        return {"start": clock(rng), "end": clock(rng)}
    if rules == "open":
        return [
            {
                "start": clock(rng),
                "end": clock(rng),
                "allow": rng.choice(["none", "direct", ["me"]]),
            }
            for _ in range(rng.randrange(1, 4))
        ]
    return {
        "start": f"{clock(rng)}:00", "spanMinutes": rng.randrange(1, 1440),
        "level": rng.choice(["none", "mention", "default"]), "timeZone": "Asia/Tokyo",
    }  # fmt: skip


def held_world(rng, rules):
    """Settings of forty members, and messages."""
    records = [{"kind": "app", "rules": rules, "timeZone": "Asia/Shanghai"}]
    levels = [None, "all", "mentions" if rules == "open" else "mention", "none"]
    for number in range(40):
        user = {"kind": "user", "id": f"u{number}", "timeZone": rng.choice(ZONES)}
        member = {"kind": "member", "conversation": "g", "user": f"u{number}"}
        member["level"] = rng.choice(levels)
        if rng.random() < 0.7:
            user["quiet" if rules == "open" else "quietHours"] = quiet_hours(rng, rules)
        if rules != "rongcloud":
            user["level"] = rng.choice(levels)
            for record in (user, member):
                if rng.random() < 0.2:
                    record["mutedUntil"] = NOON + rng.randrange(20 * 60 * MINUTE)
        records += [user, member]
    messages = [
        {"id": f"m{number}", "conversation": rng.choice(["g", "g", "g", "nowhere"]),
         "sender": f"u{rng.randrange(45)}", "at": NOON + rng.randrange(12 * 60 * MINUTE),
         "mentions": rng.choice([None, [f"u{rng.randrange(40)}" for _ in range(3)]]),
         "silent": rng.random() < 0.1}
        for number in range(12)
    ]  # fmt: skip
    return records, messages


def expected_held(fanout, records, messages):
    """Rows of message, user, code and pushAt by deciding at each instant at which one can be due:
    the minutes of more than a day, after which messages expire or all hours were seen, and the ends
    of mutes."""
    mutes = [record["mutedUntil"] for record in records if record.get("mutedUntil")]
    ids = fanout.members("g")[0]
    found = []
    for number, message in enumerate(messages):
        at = message["at"]
        first = at // MINUTE * MINUTE
        marks = {first + MINUTE * minute for minute in range(1, 26 * 60)} | set(mutes)
        instants = [at, *sorted(mark for mark in marks if mark > at)]
        lines = b"".join(
            json.dumps({**message, "at": instant, "sentAt": at}).encode() + b"\n"
            for instant in instants
        )
        batch = fanout.decide_batch(lines)
        codes = np.stack([batch.codes_of(index) for index in range(len(batch))])
        for rank in range(codes.shape[1]):
            later = np.flatnonzero(codes[:, rank] & 1)
            code = int(codes[0, rank])
            if code and OUTCOMES[code].action == "none" and len(later):
                found.append((number, ids[rank], code, instants[int(later[0])]))
    return found


@pytest.mark.parametrize("rules", ["easemob", "rongcloud", "open"])
@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_held_pushes_are_due_when_deciding_again_says_so(seed, rules):
    print(f"PUSH_SEED={seed} repeats this world")
    rng = random.Random(seed)
    records, messages = held_world(rng, rules)
    fanout = Fanout.from_ndjson(records)
    relation = fanout.decisions(messages, ids=True)
    # It can be read again.
    for _ in range(2):
        table = pyarrow.table(relation.held)
        names = ["message", "user", "code", "pushAt"]
        assert table.column_names == names
        found = list(zip(*(table[name].to_pylist() for name in names)))
        assert found == expected_held(fanout, records, messages)
    assert found
    numbers = fanout.decisions(messages)
    ids = pyarrow.table(numbers.users)["id"]
    assert ids.take(pyarrow.table(numbers.held)["user"]).to_pylist() == [row[1] for row in found]


def test_a_relation_keeps_its_settings_for_held_pushes():
    quiet = {"kind": "user", "id": "ann", "quietHours": {"start": "00:00", "end": "08:00"}}
    fanout = Fanout.from_ndjson([quiet, {"kind": "member", "conversation": "g", "user": "ann"}])
    relation = fanout.decisions([{"id": "m", "conversation": "g", "at": 0}])
    fanout.update([{"kind": "user", "id": "ann"}])
    assert pyarrow.table(relation.held)["pushAt"].to_pylist() == [8 * 60 * MINUTE]
    assert pyarrow.table(fanout.decisions(relation.messages).held).num_rows == 0


@pytest.mark.parametrize("day", ["fcc-2016-03-03", "qa-2021-05-19"])
def test_a_real_day_has_the_held_pushes_of_a_replay(day, tmp_path):
    kinds = ("users", "members", "messages")
    files = {kind: os.path.join(ROOT, "data", f"{day}.{kind}.csv.gz") for kind in kinds}
    options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    listed = tmp_path / "held.ndjson"
    subprocess.run(
        [COMMAND, "replay", *options, "--hold", "--held", listed, "--json"],
        check=True, stdout=subprocess.DEVNULL, cwd=ROOT,
    )  # fmt: skip
    rows = [json.loads(line) for line in listed.read_text().splitlines()]
    fanout = Fanout.open(users=files["users"], members=files["members"])
    messages = fanout.messages(files["messages"])
    columns = messages.columns()
    table = pyarrow.table(fanout.decisions(messages, ids=True).held)
    found = [
        {
            "message": columns["id"][row["message"]], "user": row["user"],
            "reason": OUTCOMES[row["code"]].reason, "scope": OUTCOMES[row["code"]].scope,
            "at": columns["at"][row["message"]], "pushAt": row["pushAt"],
        }
        for row in table.to_pylist()
    ]  # fmt: skip
    assert rows and found == [{**row, "scope": row.get("scope")} for row in rows]
