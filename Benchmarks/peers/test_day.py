#!/usr/bin/env python3
"""The peers answer a day as a plain evaluator does, member by member."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import day
import day_numba
import day_polars
import numpy as np
import polars
from day_contestant import CONTESTANTS
from day_duckdb import DuckDBDay
from day_numba import NumbaDay
from day_polars import PolarsDay
from day_world import OUTCOMES, DayWorld, offsets
from test_peers import HERE, LEVELS, User, milliseconds
from timing import timed

START = milliseconds("2026-03-02T00:00:00+00:00")
DAY = 86_400_000


def time_of(minute):
    return "" if minute < 0 else f"{minute // 60:02}:{minute % 60:02}"


class World:
    """Files of a small day, and the answers of the plain evaluator."""

    def __init__(self, folder, seed, users=120, conversations=9, messages=150):
        dice = random.Random(seed)
        self.folder = folder
        instants = sorted(START + dice.randrange(DAY) for _ in range(messages))
        self.users = []
        for _ in range(users):
            user = User(dice, dice.choice(instants))
            user.muted_until = 0
            self.users.append(user)
        self.members = {}
        for conversation in range(conversations):
            chosen = dice.sample(range(users), dice.choice([1, 2, users // 2, users]))
            self.members[conversation] = {
                user: (dice.choice([0, 0, 1, 2, 2, 3]), self._since(dice, instants))
                for user in chosen
            }
        self.messages = []
        for at in instants:
            conversation = dice.randrange(conversations)
            some = [*dice.sample(list(self.members[conversation]), 1), dice.randrange(users)]
            mentions = dice.choice([[], [], some, [*some, some[0]]])
            self.messages.append(
                (at, conversation, dice.randrange(users), mentions, dice.random() < 0.2))
        self._write()

    @staticmethod
    def _since(dice, instants):
        at = dice.choice(instants)
        return dice.choice([None, None, at - 1, at, at + 1])

    def _write(self):
        def write(name, header, rows):
            lines = [header, *(",".join(map(str, row)) for row in rows), ""]
            (self.folder / name).write_text("\n".join(lines))

        app = {"kind": "app", "rules": "easemob", "timeZone": "UTC"}
        (self.folder / "settings.ndjson").write_text(json.dumps(app) + "\n")
        write("users.csv", "id,level,quietStart,quietEnd,timeZone", [
            (f"u{number}", LEVELS[user.level] or "", time_of(user.start), time_of(user.end),
             "" if user.zone == "UTC" else user.zone)
            for number, user in enumerate(self.users)
        ])
        write("members.csv", "conversation,user,level,since", [
            (f"c{conversation}", f"u{user}", LEVELS[level] or "", "" if since is None else since)
            for conversation, members in self.members.items()
            for user, (level, since) in members.items()
        ])
        write("messages.csv", "at,conversation,sender,mentions,mentionsAll", [
            (at, f"c{conversation}", f"u{sender}", ";".join(f"u{user}" for user in mentions),
             "1" if everyone else "")
            for at, conversation, sender, mentions, everyone in self.messages
        ])

    def answers(self):
        """The outcomes of each message, a row of numbers each."""
        answers = []
        for at, conversation, sender, mentions, everyone in self.messages:
            outcomes = Counter(
                self.users[user].outcome(level, "all" if everyone else "user", at, user in mentions)
                for user, (level, since) in self.members[conversation].items()
                if user != sender and (since is None or since <= at)
            )
            answers.append([outcomes.pop(name, 0) for name in OUTCOMES])
            assert not outcomes, outcomes
        return answers


class DayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Contestants(DayTest):
    def test_all_answer_as_the_plain_evaluator(self):
        self.addCleanup(setattr, day_polars, "ROWS_AT_A_TIME", day_polars.ROWS_AT_A_TIME)
        self.addCleanup(setattr, day_numba, "AT_A_TIME", day_numba.AT_A_TIME)
        cores = polars.thread_pool_size()
        for seed in range(6):
            expected = World(self.folder, seed).answers()
            world = DayWorld.load(self.folder, self.folder / "messages.csv")
            day_polars.ROWS_AT_A_TIME = [1, 100, 1000, 1 << 24][seed % 4]
            day_numba.AT_A_TIME = [1, 7, 60, 4096][seed % 4]
            for kind, threads in ((DuckDBDay, 2), (PolarsDay, cores), (NumbaDay, cores)):
                with self.subTest(kind.__name__, seed=seed):
                    peer = kind(world, threads)
                    peer.load()
                    self.assertEqual(peer.decide().tolist(), expected)

    def test_a_clock_change_within_the_day_is_refused(self):
        first = milliseconds("2026-03-29T00:00:00+00:00")
        self.assertEqual(offsets(["Asia/Kathmandu"], first, first + DAY), [345])
        with self.assertRaisesRegex(ValueError, "Europe/Berlin: clocks change"):
            offsets(["UTC", "Europe/Berlin"], first, first + DAY)


class Memory(unittest.TestCase):
    def test_what_compares_is_not_counted_as_memory_of_programs(self):
        size = 400_000_000
        self.assertEqual(day.in_new_process(_take_memory, size), size)
        _, peak, _ = timed(["true"])
        self.assertLess(peak, size)


def _take_memory(size):
    return len(np.ones(size, np.uint8))


class Program(DayTest):
    ENGINE = f"""#!{sys.executable}
import json, sys
from pathlib import Path
import numpy as np
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
count = len(Path(given["--messages"]).read_text().splitlines()) - 1
answers = (Path(__file__).parent / "answers.ndjson").read_text().splitlines()[:count]
output = Path(given["--output"])
output.write_text("".join(line + "\\n" for line in answers))
"""

    def run_day(self, more, *arguments):
        """A run with an engine that gives the right answers, but message 8 `more` pushes."""
        answers = World(self.folder, 3).answers()
        answers[7][5] += more
        rows = [
            {"counts": {name: count for name, count in zip(OUTCOMES, row, strict=True) if count}}
            for row in answers
        ]
        (self.folder / "answers.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
        engine = self.folder / "engine"
        engine.write_text(self.ENGINE)
        engine.chmod(0o755)
        command = [sys.executable, HERE / "day.py", self.folder, "--engine", engine, *arguments]
        return subprocess.run(command, capture_output=True, text=True), answers

    def test_a_whole_run_and_a_part(self):
        file = self.folder / "day.json"
        for arguments, count in ((["--messages", "all"], 150), (["--messages", "40"], 40)):
            done, answers = self.run_day(0, *arguments, "--json", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(
                done.stdout.splitlines()[0],
                f"{count} messages, {sum(map(sum, answers[:count]))} decisions, "
                f"{sum(sum(row[5:]) for row in answers[:count])} pushes, "
                f"{os.cpu_count()} threads each; all answers are equal",
            )
            rows = json.loads(file.read_text())["rows"]
            self.assertEqual([row["contestant"] for row in rows], [day.ENGINE, *CONTESTANTS])
            for row in rows:
                self.assertGreater(row["bytes"], 1 << 20)
                self.assertEqual(row["wholeToEngine"][1], row["whole"][1] / rows[0]["whole"][1])

    def test_a_wrong_answer_stops_the_run(self):
        done, answers = self.run_day(1)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        pushes = answers[7][5]
        self.assertIn(
            "duckdb: 1 messages with wrong answers, the first is message 8: "
            f"{OUTCOMES[5]} {pushes - 1}, not {pushes}", done.stderr)

    def test_what_is_wrong_is_said(self):
        done, *_ = self.run_day(0, "--engine", self.folder / "absent")
        self.assertEqual((done.returncode, "absent: No such file" in done.stderr), (1, True))
        done, *_ = self.run_day(0, "--messages", "0")
        self.assertEqual((done.returncode, "0: a number from 1" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
