"""Goal: the gate stops at the first step that fails, and always says what each step took."""
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "run-steps"


def fresh(environment):
    """The environment with more in it, and without what says of whoever runs the tests: whether they show
    colours, and that they are a step themselves."""
    return {name: value for name, value in os.environ.items()
            if name not in ("NO_COLOR", "COMPILE_TIMES")} | environment


def run(text, **environment):
    with tempfile.NamedTemporaryFile("w", suffix=".steps") as file:
        file.write(text)
        file.flush()
        return subprocess.run([PROGRAM, file.name], capture_output=True, text=True,
                              env=fresh(environment))


def row(done, name):
    """The numbers of a step in the table, and what stands after them."""
    line = [line for line in done.stdout.splitlines() if re.match(rf"(\x1b\[33m)?{name} +\d", line)][-1]
    return re.fullmatch(rf"(?:\x1b\[33m)?{name} +(\d+) +(\d+) +(\d+)(.*?)(?:\x1b\[0m)?", line).groups()


class RunStepsTests(unittest.TestCase):
    def test_steps_run_in_order_and_those_alone_first(self):
        done = run("# comment\n\nb third 9 sleep 0.2; echo three\n- first 9 echo one\na second 9 echo two; echo two\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(done.stdout.index("one\n"), done.stdout.index("two\ntwo\n"))
        # What another lane than a writes comes at once, when the step has ended.
        self.assertIn("==> third wrote:\nthree\n", done.stdout)
        self.assertEqual(row(done, "first"), ("0", "0", "9", ""))

    def test_a_failure_ends_everything_with_its_status_and_the_table(self):
        start = time.monotonic()
        done = run("a bad 9 sleep 0.3; exit 7\na never 9 echo ran\nb long 9 echo begun; sleep 60 & sleep 60\n")
        self.assertEqual(done.returncode, 7)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(row(done, "bad")[3], "  FAILED")
        self.assertEqual(row(done, "never")[3], "  not run")
        self.assertEqual(row(done, "long")[3], "  stopped")
        self.assertNotIn("\nran\n", done.stdout)

    def test_a_failure_of_another_lane_shows_what_it_wrote(self):
        done = run("a long 9 sleep 60\nb bad 9 echo why; echo also why >&2; exit 1\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("==> bad wrote:\nwhy\nalso why\n", done.stdout)

    def test_what_modules_took_is_summed(self):
        line = "echo '{} 0m{}s 0m0.500s' >> $COMPILE_TIMES"
        steps = [line.format(*what) for what in [("Engine", "2.25"), ("Small", "1.0"), ("", "0.5")]]
        done = run(f"a one 9 {'; '.join(steps)}\na two 9 {line.format('Engine', '61.25').replace('0m61', '1m1')}\n")
        self.assertEqual(
            done.stdout.splitlines()[-1], "compiling took 67 s of processor time: Engine 64, 2 others 2")
        self.assertNotIn("compiling", run("a one 9 true\n").stdout)

    def test_a_step_that_a_signal_ends_fails(self):
        done = run("a killed 9 kill -KILL $$\n")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(row(done, "killed")[3], "  FAILED")

    def test_what_takes_more_than_twice_its_budget_fails(self):
        busy = "python3 -c 'import time; all(spent < 2.6 for spent in iter(time.process_time, None))'"
        done = run(f"piece 100\na busy 1 {busy}\n")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("busy took 3 s of processor time, more than twice its budget of 1 s", done.stdout)
        # Where no budget was measured, none fails.
        self.assertEqual(run(f"a busy 1 {busy}\n").returncode, 0)
        # On a machine that is slower than where the budget was set, it has more.
        slow = run(f"piece 0.01\na busy 1 {busy}\n")
        self.assertEqual(slow.returncode, 0, slow.stdout)
        self.assertIn("0.01 s where budgets were set", slow.stdout)

    def test_what_takes_more_than_it_may_is_yellow_and_fails_nothing(self):
        busy = "python3 -c 'import time; all(spent < 1.6 for spent in iter(time.process_time, None))'"
        done = run(f"wall 1\na busy 1 {busy}\na idle 1 sleep 0.1\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(row(done, "busy")[1:], ("2", "1", "  over budget"))
        self.assertEqual(row(done, "idle")[3], "")
        self.assertEqual(done.stdout.count("\x1b[33m"), 2, "the step, and the wall time")
        self.assertNotIn("\x1b", run("wall 1\na slow 1 sleep 1.1\n", NO_COLOR="1").stdout)

    def test_a_file_that_is_none_is_an_error(self):
        for text in ("a short 9\n", "a name many true\n", ""):
            done = run(text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("run-steps: ", done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
