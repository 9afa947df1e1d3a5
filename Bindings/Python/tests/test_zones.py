"""Users whose time zone this machine does not have."""

import os
import shutil
import subprocess
import sys

import pytest

from push_fanout import Error, Fanout, UnknownTimeZoneWarning

SETTINGS = [
    {"kind": "user", "id": "mia", "timeZone": "Mars/Base"},
    {"kind": "member", "conversation": "h", "user": "mia"},
    {"kind": "member", "conversation": "h", "user": "ben"},
]
MESSAGE = {"id": "m", "conversation": "h", "at": 1717387200000}
NAMED = 'user "mia" (time zone "Mars/Base"): this machine\'s time-zone data'


def test_settings_that_are_read_name_the_line():
    with pytest.raises(Error, match='settings.ndjson:1: "timeZone": "Mars/Base" is not') as error:
        Fanout.from_ndjson(SETTINGS)
    assert error.value.status == "PF_INVALID"
    with pytest.raises(ValueError, match="unknown_zones must be"):
        Fanout.from_ndjson(SETTINGS, unknown_zones="keep")


def test_ignored_zones_mean_no_quiet_hours(tmp_path):
    path = tmp_path / "settings.ndjson"
    path.write_text(
        '{"kind":"user","id":"mia","timeZone":"Mars/Base",'
        '"quietHours":{"start":"00:00","end":"23:59"}}\n'
        '{"kind":"member","conversation":"h","user":"mia"}\n'
    )
    with Fanout.open(path, unknown_zones="ignore") as fanout:
        assert fanout.unknown_zone_users == {"mia": "Mars/Base"}
        assert fanout.decide(MESSAGE).pushes == ["mia"]
        assert fanout.decide(MESSAGE).refused == []
        assert fanout.explain(MESSAGE, "mia")["decision"]["action"] == "push"


def test_a_user_of_a_snapshot_is_refused_alone(tmp_path):
    path = tmp_path / "snapshot"
    Fanout.from_ndjson(SETTINGS, unknown_zones="ignore").write_snapshot(path)
    with pytest.warns(UnknownTimeZoneWarning, match=r"'mia' \(Mars/Base\)"):
        fanout = Fanout.open(snapshot=path)
    with fanout:
        decision = fanout.decide(MESSAGE)
        assert decision.pushes == ["ben"]
        assert decision.refused == ["mia"]
        assert fanout.unknown_zone_users == {"mia": "Mars/Base"}
        assert fanout.explain(MESSAGE, "ben")["decision"]["action"] == "push"
        for ask in (
            lambda: fanout.explain(MESSAGE, "mia"),
            lambda: fanout.next_change("mia", "h", 0),
            lambda: fanout.evaluate(MESSAGE),
        ):
            with pytest.raises(Error) as error:
                ask()
            assert str(error.value).startswith(NAMED)
            assert error.value.status == "PF_TIME_ZONES"


def test_a_link_that_is_missing_is_its_zone(tmp_path):
    zones = tmp_path / "zones"
    shutil.copytree("/usr/share/zoneinfo", zones, symlinks=False)
    (zones / "Asia/Calcutta").unlink()
    program = (
        "from push_fanout import Fanout; "
        "print(Fanout.from_ndjson([{'kind': 'user', 'id': 'ann', 'timeZone': 'Asia/Calcutta'}])"
        ".unknown_zone_users)"
    )
    environment = {**os.environ, "TZDIR": str(zones)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("{}\n", "")
