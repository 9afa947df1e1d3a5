"""What the gate lets pass and what it does not: python3 -m unittest discover Benchmarks/gate"""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import gate


class Instructions(unittest.TestCase):
    stored = {"a": 1_000_000, "b": 100}

    def test_two_percent_either_way_pass(self):
        self.assertEqual(gate.judge_instructions(self.stored, {"a": 1_020_000, "b": 98}), [])

    def test_more_fails(self):
        problems = gate.judge_instructions(self.stored, {"a": 1_020_001, "b": 100})
        self.assertEqual(problems, ["a: 1,020,001 instructions, 2.0% more than 1,000,000"])

    def test_fewer_fails(self):
        problems = gate.judge_instructions(self.stored, {"a": 900_000, "b": 100})
        self.assertEqual(problems, ["a: 900,000 instructions, 10.0% fewer than 1,000,000"])

    def test_what_is_not_stored_fails(self):
        with self.assertRaisesRegex(gate.Failure, "nothing stored for c"):
            gate.judge_instructions(self.stored, {"a": 1_000_000, "b": 100, "c": 1})

    def test_what_is_not_measured_fails(self):
        with self.assertRaisesRegex(gate.Failure, "not measured: b"):
            gate.judge_instructions(self.stored, {"a": 1_000_000})

    def test_no_file_fails(self):
        with mock.patch.object(gate, "INSTRUCTIONS", Path("/nowhere")):
            with self.assertRaisesRegex(gate.Failure, "nothing is stored"):
                gate.check_instructions()

    def test_dumps_are_read_in_their_order(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(1, 13):
                Path(folder, f"out.{number}").write_text(f"desc: x\ntotals: {number * 10}\n")
            self.assertEqual(gate.read_totals(folder, 12), [n * 10 for n in range(1, 13)])


class Allocations(unittest.TestCase):
    stored = {"a": {"allocations": 100, "bytes": 5000}, "b": {"allocations": 0, "bytes": 0}}

    def test_the_same_passes(self):
        self.assertEqual(gate.judge_allocations(self.stored, self.stored), [])

    def test_nothing_stays_nothing(self):
        counted = {**self.stored, "b": {"allocations": 1, "bytes": 16}}
        self.assertEqual(gate.judge_allocations(self.stored, counted), [
            "b: 1 allocations, more than 0", "b: 16 bytes, more than 0"])

    def test_fewer_fails(self):
        counted = {**self.stored, "a": {"allocations": 97, "bytes": 4900}}
        self.assertEqual(gate.judge_allocations(self.stored, counted), [
            "a: 97 allocations, 3.0% fewer than 100"])

    def test_what_is_not_measured_fails(self):
        with self.assertRaisesRegex(gate.Failure, "not measured: b"):
            gate.judge_allocations(self.stored, {"a": self.stored["a"]})


class Pairs(unittest.TestCase):
    def times(self, before, after):
        """Programs that take turns: each call gives the next time."""
        series = {"base": iter(before), "change": iter(after)}
        return mock.patch.object(gate, "times", lambda program, names: {"k": next(series[program])})

    def check(self, before, after):
        with self.times(before, after), \
                mock.patch.object(gate, "find_base", lambda wanted: "0123456789abcdef"), \
                mock.patch.object(gate, "build_base", lambda base: "base"), \
                mock.patch.object(gate, "build", lambda package, product: "change"), \
                mock.patch.object(gate, "say"):
            gate.check_pairs("")

    def test_ten_percent_pass(self):
        self.check([1.0] * 40, [1.1] * 40)

    def test_slower_and_stays_so(self):
        with self.assertRaisesRegex(gate.Failure, "k: 1.20 times as long as at 0123456789"):
            self.check([1.0] * 40, [1.2] * 40)

    def test_a_slow_spell_passes(self):
        self.check([1.0] * 40, [1.2] * 10 + [1.0] * 30)

    def test_faster_passes(self):
        self.check([1.0] * 10, [0.5] * 10)

    def test_single_slow_runs_pass(self):
        self.check([1.0] * 10, [9.0] * 4 + [1.0] * 6)

    def test_no_kernel_in_common_fails(self):
        with mock.patch.object(gate, "ratios", lambda *arguments: {}), \
                mock.patch.object(gate, "find_base", lambda wanted: "0123456789abcdef"), \
                mock.patch.object(gate, "build_base", lambda base: "base"), \
                mock.patch.object(gate, "build", lambda package, product: "change"):
            with self.assertRaisesRegex(gate.Failure, "no kernel in common"):
                gate.check_pairs("")


class Names(unittest.TestCase):
    def test_the_same(self):
        gate.check_names(["a", "b"], ["b", "a"], "allocations")


if __name__ == "__main__":
    unittest.main()
