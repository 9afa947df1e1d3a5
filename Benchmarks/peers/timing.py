"""Runs a program and says what it took; needs the standard library only."""
import os
import subprocess
import sys
import tempfile
import time


class TimingError(Exception):
    """A program that did not do what it was asked for."""


def timed(command, **settings):
    """Runs a program; (wall seconds, processor seconds), peak of memory in bytes, and its output."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdout=output, stderr=errors, **settings)
        except OSError as error:
            raise TimingError(f"{command[0]}: {error.strerror}") from None
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            text = errors.read().decode(errors="replace")
            command = " ".join(map(str, command))
            raise TimingError(f"{command}: exit status {process.returncode}\n{text}")
        unit = 1 if sys.platform == "darwin" else 1024
        clocks = (seconds, used.ru_utime + used.ru_stime)
        return clocks, used.ru_maxrss * unit, output.read()
