"""Time zones that workers do not have."""

from __future__ import annotations

import json
import shutil

import pytest
from conftest import start
from spark_worlds import (
    engine,
    expected_held,
    expected_rows,
    found_held,
    found_pushes,
    found_rows,
    lines,
    parts_of,
    pushes_of,
    same_as_engine,
)
from test_changes import CHANGES
from test_exactness import ndjson
from test_failures import parquet

from push_fanout import Error
from push_fanout.spark import Metrics, decide, prepare, update
from push_fanout.spark.command import main

ALL_DAY = {"start": "00:00", "end": "23:59"}
ZONED_USERS = [
    # Ann's zone is a link to cid's, which a machine may lack; there is nothing instead of mia's.
    {"id": "ann", "timeZone": "Asia/Calcutta", "quietHours": None},
    {"id": "cid", "timeZone": "Asia/Kolkata", "quietHours": ALL_DAY},
    {"id": "mia", "timeZone": "America/Coyhaique", "quietHours": ALL_DAY},
]
ZONED_MEMBERS = [
    {"conversation": conversation, "user": user}
    for conversation, users in (("g", "ann ben"), ("h", "ben mia"), ("big", "ann ben cid dan mia"))
    for user in users.split()
]
ZONED_SETTINGS = (
    ndjson([{"kind": "app"}]) + ndjson(ZONED_USERS, kind="user")
    + ndjson(ZONED_MEMBERS, kind="member")
)  # fmt: skip
ZONED_MESSAGES = ndjson(
    {"id": f"to {conversation}", "conversation": conversation, "at": 1767614400000}
    for conversation in ("g", "h", "big")
)
# What she is decided by without the zone.
WITHOUT_ZONE = (
    ndjson([{"kind": "app"}]) + ndjson(ZONED_USERS[:2], kind="user")
    + ndjson(ZONED_MEMBERS, kind="member")
)  # fmt: skip
NAMED = '"timeZone": "America/Coyhaique" is not .*"id":"mia"'


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """A Spark whose workers lack the zones of ann and mia. The driver reads none of users."""
    zones = tmp_path_factory.mktemp("tzdata") / "zones"
    shutil.copytree("/usr/share/zoneinfo", zones, symlinks=False)
    for name in ("Asia/Calcutta", "America/Coyhaique"):
        (zones / name).unlink()
    session = start("local[2]", spark__executorEnv__TZDIR=str(zones))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def zoned(lacking, tmp_path_factory):
    """Shards of settings with zones that the machine lacks; one conversation is split."""
    path = tmp_path_factory.mktemp("zoned") / "shards"
    given = {**parts_of(lacking, ZONED_SETTINGS), "path": path, "shards": 2, "giant_limit": 3}
    shards = prepare(**given, unknown_zones="ignore")
    assert list(shards.giants) == ["big"]
    return shards


@pytest.mark.cluster
def test_a_zone_that_workers_lack_is_a_bad_row(lacking, tmp_path):
    users = parquet(lacking, tmp_path / "users.parquet", ZONED_USERS)
    members = lacking.createDataFrame(ZONED_MEMBERS)
    given = {"path": tmp_path / "shards", "shards": 2}
    with pytest.raises(Error, match=f"users.parquet:3: {NAMED}"):
        prepare(users, members, **given)
    with pytest.raises(Error, match=f"users: {NAMED}"):
        prepare(None, members, settings=ndjson(ZONED_USERS, kind="user"), **given)
    left = prepare(users, members, **given, on_error="quarantine")
    listed = lacking.read.parquet(left.summary["quarantine"]).collect()
    assert [row["key"] for row in listed] == ['{"id":"mia"}']
    # The driver reads the app's.
    app = {"settings": [{"kind": "app", "timeZone": "Mars/Base"}]}
    with pytest.raises(Error, match='settings.ndjson:1: "timeZone": "Mars/Base" is not'):
        prepare(None, members, **app, **given)
    prepare(None, members, **app, **given, unknown_zones="ignore")


@pytest.mark.cluster
def test_who_has_a_zone_that_workers_lack_is_refused_alone(lacking, zoned, tmp_path):
    fanout = engine(WITHOUT_ZONE)
    frame = lines(lacking, ZONED_MESSAGES)
    expected = expected_rows(fanout, ZONED_MESSAGES)
    hers = [row for row in expected if row[1] == "mia"]
    assert [row[2] for row in hers] == ["push", "push"]
    others = [row for row in expected if row[1] != "mia"]
    # Engines that earlier jobs have opened refuse her, too.
    refused = set()
    for attempt in range(3):
        metrics = Metrics(lacking)
        place = tmp_path / f"rows {attempt}"
        given = decide(frame, zoned, "rows", path=place, metrics=metrics)
        assert found_rows(given) == others
        refused.add(metrics.values()["refused_users"])
        assert metrics.values()["decisions"] == len(others)
    assert len(refused) == 1 and refused != {0}
    counts = decide(frame, zoned).select("id", "recipients").collect()
    assert sorted(map(tuple, counts)) == [("to big", 4), ("to g", 2), ("to h", 1)]
    bitmaps = decide(frame, zoned, "bitmap")
    assert found_pushes(lacking, zoned, bitmaps) == pushes_of(others)
    held = decide(frame, zoned, "held", path=tmp_path / "held")
    assert found_held(held) == expected_held(fanout, ZONED_MESSAGES) != []


@pytest.mark.cluster
def test_a_zone_that_workers_lack_is_ignored(lacking, zoned, tmp_path, capfd):
    fanout = engine(WITHOUT_ZONE)
    metrics = Metrics(lacking)
    options = {"unknown_zones": "ignore", "metrics": metrics}
    frame = lines(lacking, ZONED_MESSAGES)
    same_as_engine(lacking, zoned, frame, fanout, ZONED_MESSAGES, tmp_path, **options)
    assert metrics.values()["refused_users"] == 0
    (tmp_path / "m.ndjson").write_bytes(ZONED_MESSAGES)
    decided = ["decide", "--shards", zoned.path, "--messages", str(tmp_path / "m.ndjson")]
    for number, (more, refused) in enumerate(((["--unknown-zones", "ignore"], 0), ([], 2))):
        place = tmp_path / str(number)
        assert main([*decided, "--output", str(place), *more]) == 0
        text = capfd.readouterr().err
        assert (f"refused users{refused:>19}\n" in text) == (refused == 0), text
        found = sum(row.recipients for row in lacking.read.parquet(str(place)).collect())
        assert found == 9 - refused


@pytest.mark.cluster
def test_changes_leave_unknown_zones_that_were_there(lacking, tmp_path):
    given = {"path": tmp_path / "shards", "shards": 1, "unknown_zones": "ignore"}
    shards = prepare(**parts_of(lacking, ZONED_SETTINGS), **given)

    def changes(zone):
        record = json.dumps({"id": "ben", "level": "none", "timeZone": zone})
        return lacking.createDataFrame([(1, "user", record)], CHANGES)

    with pytest.raises(Error, match='"timeZone": "America/Coyhaique" is not .*"id":"ben"'):
        update(shards, changes("America/Coyhaique"), at=0)
    later = update(shards, changes("Asia/Tokyo"), at=0)
    last = update(later, changes("America/Coyhaique"), at=0, unknown_zones="ignore")
    for made, left in ((later, [4, 2, 1]), (last, [3, 1, 0])):
        counts = decide(lines(lacking, ZONED_MESSAGES), made).orderBy("id").collect()
        assert [row.recipients for row in counts] == left
        everybody = decide(lines(lacking, ZONED_MESSAGES), made, unknown_zones="ignore").collect()
        assert sum(row.recipients for row in everybody) == 9


def test_another_treatment_of_zones_is_refused():
    for ask in (
        lambda: prepare(None, None, path="shards", unknown_zones="keep"),
        lambda: decide(None, None, unknown_zones="keep"),
        lambda: update(None, None, at=0, unknown_zones="keep"),
    ):
        with pytest.raises(ValueError, match="unknown_zones must be"):
            ask()
