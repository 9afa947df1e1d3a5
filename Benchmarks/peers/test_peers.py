#!/usr/bin/env python3
"""Every contestant gives the counts that a plain evaluator gives, member by member."""
import contextlib
import dataclasses
import io
import json
import random
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars

import peers
from contestants import CONTESTANTS
from workers import PeerError, Rounds
from world import KINDS

HERE = Path(__file__).parent
ZONES = ["UTC", "Asia/Shanghai", "Asia/Kathmandu", "Asia/Tehran", "America/Los_Angeles",
         "America/St_Johns", "Europe/Berlin", "Pacific/Kiritimati"]
SENDER = 17
LEVELS = (None, "all", "mention", "none")  # by code
INSTANTS = [
    "2026-03-02T20:15:00+00:00",
    "2026-03-02T00:00:00+00:00",
    "2026-07-19T23:59:59.999+00:00",
    "2024-02-29T12:30:30.500+00:00",
]


def milliseconds(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def local(at, zone):
    return datetime.fromtimestamp(at // 1000, timezone.utc).astimezone(ZoneInfo(zone))


class User:
    """Settings at random, many of them at the very edge of the instant."""

    def __init__(self, dice, at):
        self.zone = dice.choice(ZONES)
        self.level = dice.choice([0, 0, 0, 1, 2, 3])
        self.muted_until = dice.choice([0, 0, 0, at - 1, at, at + 1, at + 3_600_000])
        now = local(at, self.zone)
        now = now.hour * 60 + now.minute
        other = dice.randrange(1440)
        self.start, self.end = dice.choice([
            (-1, -1), (0, 0), (0, 1), (1439, 0), (other, other), (22 * 60, 7 * 60), (1, 0),
            (now, other), (other, now), (now, (now + 1) % 1440), ((now - 1) % 1440, now),
            ((now + 1) % 1440, other), ((now + 1) % 1440, now), (other, dice.randrange(1440)),
        ])

    def is_quiet(self, at):
        if self.start < 0 or (self.start, self.end) == (0, 0):
            return False
        now = local(at, self.zone)
        now = now.hour * 60 + now.minute
        if self.start == self.end:
            return True
        if self.start < self.end:
            return self.start <= now < self.end
        return now >= self.start or now < self.end

    def outcome(self, member_level, kind, at, is_named):
        """Easemob's procedure, steps 6 and 7 of the decision rules."""
        is_quiet, is_muted = self.is_quiet(at), at < self.muted_until
        if kind != "forced":
            if is_quiet:
                return "none/quietHours/app"
            if is_muted:
                return "none/muted/app"
        scope = "conversation" if member_level else "app" if self.level else "default"
        level = LEVELS[member_level] or LEVELS[self.level]
        if level == "none":
            return f"none/levelNone/{scope}"
        if level == "mention" and not is_named and kind != "all":
            return f"none/notMentioned/{scope}"
        return f"push/{'forced' if is_quiet or is_muted else 'allowed'}/{scope}"


def make_world(folder, at, sizes, seed):
    dice = random.Random(seed)
    users = [User(dice, at) for _ in range(max(sizes))]

    def save(name, type_, values):
        np.save(folder / f"{name}.npy", np.array(list(values), type_))

    save("user.level", np.uint8, (user.level for user in users))
    save("user.muted_until", np.int64, (user.muted_until for user in users))
    save("user.quiet_start", np.int16, (user.start for user in users))
    save("user.quiet_end", np.int16, (user.end for user in users))
    save("user.zone", np.uint8, (ZONES.index(user.zone) for user in users))
    groups = []
    for size in sizes:
        members = sorted(dice.sample(range(len(users)), size))
        levels = [dice.choice([0, 0, 1, 2, 2, 3]) for _ in members]
        mentions = sorted(dice.sample(members, min(size, 7))) + [len(users) + 5]
        save(f"members-{size}.user", np.uint32, members)
        save(f"members-{size}.level", np.uint8, levels)
        counts = {
            kind: Counter(
                users[member].outcome(level, kind, at, kind == "user" and member in mentions)
                for member, level in zip(members, levels, strict=True)
                if member != SENDER
            )
            for kind in KINDS
        }
        groups.append({"case": str(size), "members": size, "counts": counts, "mentions": mentions})
    offsets = [int(local(at, zone).utcoffset().total_seconds()) // 60 for zone in ZONES]
    about = {"rules": "easemob", "at": at, "users": len(users), "sender": SENDER, "zones": ZONES,
             "zoneOffsets": offsets, "groups": groups}
    (folder / "world.json").write_text(json.dumps(about))


class WorldTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Contestants(WorldTest):
    def test_all_reach_the_counts(self):
        for seed, instant in enumerate(INSTANTS):
            make_world(self.folder, milliseconds(instant), [3000, 1, 60], seed)
            for contestant in CONTESTANTS:
                if contestant.module == "with_polars":  # threads are the process's
                    threads = polars.thread_pool_size()
                    contestant = dataclasses.replace(contestant, threads=threads)
                rounds = Rounds(contestant, self.folder)
                for case in ("3000", "1", "60"):
                    rounds.prepare(case)
                    for kind in KINDS:
                        with self.subTest(contestant.name, instant=instant, case=case, kind=kind):
                            rounds.ready(kind)

    def test_a_wrong_count_is_found(self):
        make_world(self.folder, milliseconds(INSTANTS[0]), [500], 9)
        path = self.folder / "world.json"
        about = json.loads(path.read_text())
        about["groups"][0]["counts"]["all"]["push/allowed/default"] += 1
        path.write_text(json.dumps(about))
        numpy = next(each for each in CONTESTANTS if each.name == "numpy")
        rounds = Rounds(numpy, self.folder)
        rounds.prepare("500")
        rounds.ready("plain")
        with self.assertRaisesRegex(PeerError, "numpy, 500-all: .*\n.*default: expected"):
            rounds.ready("all")


class Program(WorldTest):
    ENGINE = """#!/bin/sh
for case in 60 60-user; do
echo '{"suite":"decide","case":"'$case'","contestant":"packed-cold","nsPerDecision":2.0}'
echo '{"suite":"decide","case":"'$case'","contestant":"packed-warm","nsPerDecision":0.5}'
done
"""

    def run_program(self, *arguments):
        command = [sys.executable, HERE / "peers.py", self.folder, "--rounds", "1", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_a_whole_run(self):
        make_world(self.folder, milliseconds(INSTANTS[1]), [60, 200], 4)
        engine = self.folder / "engine"
        engine.write_text(self.ENGINE)
        engine.chmod(0o755)
        file = self.folder / "out.json"
        done = self.run_program(
            "--engine", engine, "--json", file, "--sizes", "60", "--kinds", "plain,user"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(file.read_text())
        self.assertIn("duckdb", document["machine"])
        names = {contestant.name for contestant in CONTESTANTS}
        for case in ("60", "60-user"):
            rows = {row["contestant"]: row for row in document["rows"] if row["case"] == case}
            self.assertEqual(rows.keys(), names | {"packed-cold", "packed-warm"})
            self.assertEqual(rows["packed-cold"]["runs"], [2.0, 2.0])
            for name in names:
                row = rows[name]
                self.assertAlmostEqual(row["ratioToEngine"], row["nsPerDecision"] / 2)
                self.assertAlmostEqual(row["ratioToEngineWarm"], row["nsPerDecisionWarm"] * 2)
                self.assertTrue(row["leavesOut"])

    def test_a_wrong_count_stops_the_run(self):
        make_world(self.folder, milliseconds(INSTANTS[1]), [60], 4)
        path = self.folder / "world.json"
        path.write_text(path.read_text().replace("push/allowed/default", "push/allowed/app", 1))
        done = self.run_program("--contestants", "polars-join-2-threads")
        self.assertEqual(done.returncode, 1)
        self.assertIn("polars-join-2-threads, 60: wrong counts", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_what_is_wrong_with_the_command_is_said(self):
        done = self.run_program()
        self.assertEqual(done.returncode, 1)
        self.assertIn("world.json", done.stderr)
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit):
            peers.parse(["world", "--kinds", "loud"])
        self.assertIn("loud is none of plain", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
