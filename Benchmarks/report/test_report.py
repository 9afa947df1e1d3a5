"""What a report computes and where it writes it: python3 -m unittest discover Benchmarks/report"""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import bounds
import commands
import figures
import index
import readme
import replay
import texts

MACHINE = {
    "cpu": "Some CPU", "cores": 2, "secondCore": 1.9, "system": "Debian", "compiler": "Swift 6 (x)",
    "commit": "abc1234", "timeZoneData": "2025b",
}


def row(case, contestant, nanoseconds, suite="decide", **more):
    return {
        "suite": suite, "case": case, "contestant": contestant,
        "members": int(case.split("-")[0]), "nsPerDecision": nanoseconds, "spread": 0.1,
        "ratioToReference": None, "ratioToLimit": None, **more}


def peer(case, contestant, cold, over_engine, warm=50.0, over_warm=9.0):
    return row(case, contestant, cold, "peers", ratioToEngine=over_engine,
               nsPerDecisionWarm=warm, ratioToEngineWarm=over_warm, leavesOut="ids")


def engine(case, scalar, cold, warm, **more):
    figures_ = {"reference": 600.0, "scalar": scalar, "packed-cold": cold, "packed-warm": warm,
                "packed-warm-counts": warm / 2, "limit": 0.5, **more}
    return [row(case, name, figure) for name, figure in figures_.items()]


def document():
    rows = [
        *engine("5", 90.0, 100.0, 80.0),
        *engine("50", 60.0, 40.0, 20.0),
        *engine("100000", 50.0, 5.0, 0.04, **{"packed-cold-2-threads": 4.9}),
        row("100000", "packed-cold", 5.0, "peers"),
        peer("100000", "duckdb-join", 500.0, 100.0),
        peer("100000", "duckdb-join-2-threads", 400.0, 80.0),
        peer("100000", "numpy-resolved", 6.0, 1.2, warm=2.5),
        peer("5000", "synapse", 1500.0, 300.0),
    ]
    memory = {"users": 1_000_000, "memberships": 10, "conversations": 2, "bytesAUser": 9.5,
              "bytesAMembership": 6, "bytesAnID": 22, "totalBytes": 31_500_000}
    return {"suite": "decide", "quick": False, "date": "2026-01-31", "commit": "abc1234",
            "made": "make -C Benchmarks report SUITE=decide", "machine": MACHINE, "commands": ["fanout-bench"],
            "users": 1_000_000, "rounds": 9, "memory": memory,
            "peersMachine": {"cpu": "Some CPU", "cores": 2, "duckdb": "2.0.0"}, "rows": rows}


def day():
    """A report of a day, its lines as `fanout-bench --report` has them."""
    line = commands.line
    engine = [
        line("decisions of the day", 3.589, "G"), line("pushes of the day", 664.9, "M"),
        line("the day in order, live, 1 thread, first use", 2.08, "G decisions/s", least=2.2),
        line("the same", 0.58, "M messages/s"),
        line("along the day, up to two minutes out of order, 2 threads", 1.15, "M messages/s"),
        line("  latency, percentile 50", 1.4, "µs", most=1),
        line("5 members and more: first message ever", 33, "ns a member", most=30),
        line("100000 members and more: first after a quarter of an hour", 0.025, "ns a member",
             most=0.05),
    ]
    peers = commands.peers_lines([
        {"contestant": name, "whole": [seconds, 70], "load": [1, 2], "decide": [2, 3],
         "bytes": 33e7, "wholeToEngine": [seconds / 2.5, 1], "decideToEngine": [1, 1]}
        for name, seconds in (
            ("push-fanout", 2.5), ("duckdb", 25), ("polars", 60), ("polars-numba", 22))])
    whole = [
        line("the whole command, CSV to counts, 1 thread", 5.7, "s", most=5),
        line("the whole command, CSV to counts, 4 threads", 1.9, "s", most=2),
        line("replay, 4 threads", 2.6, "s"), line("replay with presence, 4 threads", 4.1, "s"),
    ]
    return {**document(), "suite": "day", "made": "make -C Benchmarks report SUITE=day", "parts": [
        {"title": "The command line", "lines": whole},
        {"title": "Beside other tools, on all cores", "lines": peers},
        {"title": "The engine in a process", "lines": engine},
        {"title": "The engine, with rates 2", "lines": engine[2:4]},
    ]}


class Numbers(unittest.TestCase):
    def test_digits_that_mean_something(self):
        values = [1396.4, 99.96, 12.72, 9.996, 1.238, 0.996, 0.96, 0.74, 0.0414, 0.00144, 0, None]
        self.assertEqual(
            [figures.number(value) for value in values],
            ["1,396", "100", "12.7", "10.0", "1.24", "1.00", "0.96", "0.74", "0.041", "0.0014", "0",
             "–"])

    def test_ratios_near_one_have_two_places(self):
        values = [450.2, 9.96, 3.31, 1.22, 0.95]
        self.assertEqual(
            [figures.ratio(value) for value in values], ["450×", "10×", "3.3×", "1.22×", "0.95×"])


class Losing(unittest.TestCase):
    def test_each_sentence_comes_from_the_rows(self):
        self.assertEqual(figures.losing(document()["rows"]), [
            "The plain loop is faster than `packed-cold`, by its share of the engine's time, at "
            "5 members (0.90×).",
            "The engine is less than twice as fast as the plain loop at 50 members (1.50×).",
            "A second thread gains less than 1.2× at 100,000 members (1.02×).",
            "No peer is faster than the engine, both cold on as many threads.",
            "Peers that come within twice its time, cold: `numpy-resolved` at 100,000 members "
            "(1.20×).",
            "Peers whose repeated decision takes less than the engine's first message, by their "
            "share of its time: `numpy-resolved` at 100,000 members (0.50×).",
        ])

    def test_exactly_twice_is_not_within_twice(self):
        rows = [*engine("5", 20.0, 10.0, 5.0), peer("5", "numpy", 20.0, 2.0)]
        self.assertEqual(figures.losing(rows), [
            "The plain loop is nowhere faster than the engine's first message.",
            "No peer is faster than the engine, both cold on as many threads.",
            "No other peer comes within twice its time, cold.",
        ])

    def test_a_faster_peer_is_named_with_its_kind(self):
        rows = [peer("5-user", "numpy", 9.0, 0.9, over_warm=1.5)]
        text = " ".join(figures.losing(rows))
        self.assertIn("by their share of its time: `numpy` at 5 members, `user` (0.90×).", text)
        self.assertIn("within twice its time, warm: `numpy` at 5 members, `user` (1.50×).", text)

    def test_without_peers_nothing_is_said_of_them(self):
        rows = engine("5", 20.0, 10.0, 5.0)
        self.assertEqual(figures.losing(rows)[-1], "No peer was measured.")

    def test_a_replay_that_loading_decides(self):
        rows = [{"case": "day", "contestant": name, "seconds": seconds} for name, seconds in
                (("packed-1-thread", 1.0), ("packed-2-threads", 0.5), ("reference", 1.5))]
        self.assertEqual(figures.replay_losing(rows), [
            "The reference takes less than twice the time of the engine on one thread for day "
            "(1.50×)."])


class Index(unittest.TestCase):
    def add(self, text, file="2026-01-31-decide.md", decided=None, commit="abc"):
        return index.with_report(text, file, file[:10], file[11:-3], "cost", commit, decided)

    def test_a_report_replaces_its_row_and_keeps_its_sentence(self):
        text = self.add("", decided="Keep | the table.")
        text = self.add(text, commit="def")
        self.assertEqual(text, index.HEADER + (
            "| [2026-01-31](2026-01-31-decide.md) | decide | cost | `def` | Keep \\| the table. |\n"
        ))
        self.assertIn("| Drop it. |", self.add(text, decided="Drop it."))

    def test_newest_first_and_nothing_decided(self):
        text = self.add(self.add(""), "2026-02-01-replay.md")
        lines = text.removeprefix(index.HEADER).splitlines()
        self.assertTrue(lines[0].startswith("| [2026-02-01](2026-02-01-replay.md)"))
        self.assertTrue(lines[1].endswith("| — |"))
        self.assertEqual(len(lines), 2)

    def test_a_later_report_takes_the_place_of_its_suite(self):
        text = self.add(self.add("", decided="Old."), "2026-01-31-day.md")
        text = self.add(text, "2026-02-02-decide.md")
        lines = text.removeprefix(index.HEADER).splitlines()
        self.assertTrue(lines[0].startswith("| [2026-02-02](2026-02-02-decide.md)"))
        self.assertTrue(lines[0].endswith("| — |"))
        self.assertTrue(lines[1].startswith("| [2026-01-31](2026-01-31-day.md)"))
        self.assertEqual(len(lines), 2)

    def test_files_of_older_reports_of_the_suite_are_removed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            kept = ["2026-01-01-decide.md", "2026-01-02-day-quick.md", "2026-01-02-day.json",
                    "2026-01-02-day.md", "2026-01-01-day.html"]
            for file in ["2026-01-01-day.md", "2026-01-01-day.json", *kept]:
                (folder / file).write_text("")
            for chart in ("2026-01-01-day/a.svg", "2026-01-02-day/a.svg"):
                (folder / chart).parent.mkdir()
                (folder / chart).write_text("")
            index.remove_older(folder, "day", "2026-01-02-day")
            self.assertEqual(
                {path.name for path in folder.iterdir()}, {*kept, "2026-01-02-day"})
            self.assertTrue((folder / "2026-01-02-day/a.svg").exists())

    def test_the_day_leads_and_what_people_wrote_below_stays(self):
        text = self.add(self.add(""), "2026-01-31-day.md") + "\nA page of its own.\n"
        text = self.add(text, "2026-01-31-replay.md")
        lines = text.removeprefix(index.HEADER).splitlines()
        self.assertEqual(
            [line.split(" | ")[1] for line in lines[:3]], ["day", "replay", "decide"])
        self.assertEqual(lines[3:], ["", "A page of its own."])


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.pages = {name: self.root / name for name in ("README.md", "docs/figures.md")}
        for name in ("reports", "docs"):
            (self.root / name).mkdir()
        self.store(day())
        for page in self.pages.values():
            page.write_text(f"before\n\n{readme.BEGIN}\nold\n{readme.END}\n\nafter\n")

    def store(self, contents, name="2026-01-31-day"):
        (self.root / f"reports/{name}.json").write_text(json.dumps(contents))

    def run_readme(self, *arguments):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = readme.main(list(arguments), self.root)
        return status, errors.getvalue()

    def expect_parts(self, name, parts):
        text = self.pages[name].read_text()
        self.assertTrue(text.startswith(f"before\n\n{readme.BEGIN}\nSome CPU, 2 cores, "))
        self.assertTrue(text.endswith(f"{readme.END}\n\nafter\n"))
        for part in parts:
            self.assertIn(part, text)

    def test_the_figures_are_those_of_the_report(self):
        self.assertEqual(self.run_readme(), (0, ""))
        self.expect_parts("docs/figures.md", (
            "3.59 G decisions, of which 665 M are pushes",
            "whole command, s | 5.70 (≤ 5.00) |  | 1.90 (≤ 2.00) |\n",
            "| the day in order, G decisions/s | 2.08 (≥ 2.20) |  |  |\n",
            "out of order, M/s |  | 1.15 |  |\n",
            "of a message out of order, µs |  | 1.40 (≤ 1.00) |  |\n",
            "| 5 | 33.0 (≤ 30.0) |  |  |\n| 100,000 |  | 0.025 (≤ 0.050) |  |\n",
            "`replay` of the day takes 2.60 s on all threads, and 4.10 s with changes of presence.",
            "DuckDB takes 25.0 s, 10× the time of push-fanout (≥ 20.0), Polars takes 60.0 s, "
            "24× the time of push-fanout (≥ 20.0) and Polars and Numba takes 22.0 s, "
            "8.8× the time of push-fanout (≥ 8.00)",
            "6 of 10 figures with a bound miss it",
            "(../reports/2026-01-31-day.md)",
        ))
        self.expect_parts("README.md", (
            "counts, all cores | 2.50 s | DuckDB 25.0 s, Polars 60.0 s, Polars and Numba 22.0 s |\n",
            "| deciding it, one thread | 2.08 G decisions/s |  |\n",
            "| `replay`, all cores | 2.60 s | with presence 4.10 s |\n",
            "(reports/2026-01-31-day.md)",
        ))
        self.assertEqual(self.run_readme("--check"), (0, ""))

    def test_the_chart_has_a_dot_for_each_bound(self):
        self.run_readme()
        chart = (self.root / "docs/figures.svg").read_text()
        tree = ElementTree.fromstring(chart)
        circles = [each for each in tree.iter() if each.tag.endswith("circle")]
        self.assertEqual([each.get("class") for each in circles].count("missed"), 6)
        self.assertEqual(len(circles), 10)
        # Twice as much as allowed or more stands at the edge; a bound is at half of the width.
        places = [float(each.get("cx")) for each in circles]
        edge = bounds.LEFT + bounds.WIDTH
        self.assertEqual(max(places), edge)
        self.assertIn(f'x1="{bounds.LEFT + bounds.WIDTH / 2:.1f}"', chart)
        self.assertIn("5.70 s (≤ 5.00)", chart)

    def test_check_fails_on_a_changed_figure_and_changes_nothing(self):
        for name, old, new in (
            ("docs/figures.md", "| 5.70 (", "| 5.60 ("), ("README.md", "| 2.50 s", "| 2.40 s"),
            ("docs/figures.svg", "5.70 s", "5.60 s"),
        ):
            self.run_readme()
            page = self.root / name
            changed = page.read_text().replace(old, new)
            page.write_text(changed)
            status, errors = self.run_readme("--check")
            self.assertEqual(status, 1)
            self.assertIn(f"{name}'s figures are not those of reports/2026-01-31-day.json", errors)
            self.assertIn(new, errors)
            self.assertEqual(page.read_text(), changed)

    def test_a_later_report_counts_and_a_quick_one_does_not(self):
        self.run_readme()
        self.store(day(), "2026-03-01-day-quick")
        self.store(document(), "2026-03-01-decide")
        self.assertEqual(self.run_readme("--check")[0], 0)
        self.store(day(), "2026-02-28-day")
        self.assertEqual(self.run_readme("--check")[0], 1)

    def test_without_a_report_nothing_is_compared_and_nothing_written(self):
        (self.root / "reports/2026-01-31-day.json").unlink()
        before = [page.read_text() for page in self.pages.values()]
        self.assertEqual(self.run_readme("--check"), (0, ""))
        status, errors = self.run_readme()
        self.assertEqual(status, 1)
        self.assertIn("make -C Benchmarks report SUITE=day writes one", errors)
        self.assertEqual([page.read_text() for page in self.pages.values()], before)

    def test_check_fails_without_the_comments(self):
        for name, page in self.pages.items():
            before = page.read_text()
            page.write_text("nothing")
            self.assertIn(f"{name} has no lines", self.run_readme("--check")[1])
            page.write_text(before)
        self.pages["README.md"].write_text("nothing")
        (self.root / "reports/2026-01-31-day.json").unlink()
        self.assertIn("has no lines", self.run_readme("--check")[1])


class Measuring(unittest.TestCase):
    def test_the_last_line_of_evaluate(self):
        text = (
            "a warning\n"
            "1,671 messages, 99,275 decisions, 38,017 pushed, 0.041 s, 6,228,152 decisions/s\n")
        self.assertEqual(replay.last_line(text), (1671, 99275, 38017, 0.041, 6228152))
        with self.assertRaises(replay.ReplayError):
            replay.last_line("push-fanout: no such file")

    def test_slices_of_the_project_come_first_and_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("data/a", "more/small/a", "more/small/b"):
                path = Path(folder) / f"{name}.messages.csv.gz"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            found = replay.slices(folder, Path(folder) / "more")
            called = {name: where for name, (_, where) in found.items()}
            self.assertEqual(called, {"a": "data", "b": "$PUSH_DATA/small"})


class Text(unittest.TestCase):
    def test_a_report_says_where_its_figures_come_from(self):
        text = texts.report(document(), "2026-01-31-decide", [("cold.svg", "Cost")])
        self.assertTrue(text.startswith("# Deciding one message, by group size: 2026-01-31\n"))
        self.assertIn("![Cost](2026-01-31-decide/cold.svg)", text)
        self.assertIn("| decide | 5 | `scalar` | 90.0 | 10 % | – | – |", text)
        for part in ("Machine: Some CPU", "Commit: `abc1234`", "time-zone data 2025b",
                     "Date: 2026-01-31", "Command: `make -C Benchmarks report SUITE=decide`", "duckdb 2.0.0"):
            self.assertIn(part, text)

    def test_a_bound_of_another_machine_stands_beside_what_it_is_here(self):
        given = day()
        line = given["parts"][2]["lines"][2]
        line["least"], line["bound"] = 1.9, 2.2
        text = texts.report(given, "2026-01-31-day", [])
        self.assertIn(
            "| the day in order, live, 1 thread, first use | 2.08 | G decisions/s | ≥ 1.90 | 2.20 |  |"
            "\n", text)

    def test_a_day_says_what_it_misses_and_where_bounds_stand(self):
        text = texts.report(day(), "2026-01-31-day", [])
        self.assertIn(
            "6 of 10 figures miss what they must reach: the whole command, CSV to counts, 1 thread "
            "(5.70 s, must be ≤ 5.00); DuckDB, whole: whole, times push-fanout's (10.0 ×, must be "
            "≥ 20.0); the day in order, live, 1 thread, first use (2.08 G decisions/s, must be "
            "≥ 2.20); along the day, up to two minutes out of order, 2 threads: latency, percentile "
            "50 (1.40 µs, must be ≤ 1.00); 5 members and more: first message ever (33.0 ns a member, "
            "must be ≤ 30.0); The engine, with rates 2: the day in order, live, 1 thread, first use",
            text)
        self.assertIn("| – whole, times push-fanout's | 24.0 | × | ≥ 20.0 |  |  |\n", text)
        self.assertIn("| – latency, percentile 50 | 1.40 | µs | ≤ 1.00 |  | missed |\n", text)


if __name__ == "__main__":
    unittest.main()
