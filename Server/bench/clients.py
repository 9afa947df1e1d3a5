"""Load from wrk, h2load and pgbench, each on cores that the server does not have."""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
# The server has this core for itself.
SERVER_CORE = "0"
LAST_CORE = max(os.cpu_count() - 1, 1)
CLIENT_CORES = f"1-{LAST_CORE}"
# Two kinds of clients beside each other have cores of their own, if there are enough.
OTHER_CORES = f"1-{max(LAST_CORE - 1, 1)}"


def thread_count(cores):
    """As many as there are cores in a range."""
    first, last = map(int, cores.split("-"))
    return last - first + 1


class IdleTime:
    """Which part of their time the clients' cores had nothing to do, in the blocks that it was entered for: where it
    is next to none, the clients were measured."""

    def __init__(self):
        self.idle = self.all = 0

    def _add(self, sign):
        with open("/proc/stat") as file:
            for line in file:
                name, *ticks = line.split()
                if name[:3] == "cpu" and name[3:] and 1 <= int(name[3:]) <= LAST_CORE:
                    self.idle += sign * (int(ticks[3]) + int(ticks[4]))
                    self.all += sign * sum(map(int, ticks[:8]))

    def __enter__(self):
        self._add(-1)

    def __exit__(self, *_):
        self._add(1)

    @property
    def share(self):
        return self.idle / max(1, self.all)


@contextlib.contextmanager
def awake():
    """Keeps cores that have nothing to do from halting, as long as the block: to wake a halted virtual core costs whoever
    sends it something microseconds, more or less of them as the clients' requests fall together. Without the right to
    do so the block is run all the same."""
    with contextlib.ExitStack() as stack:
        # The kernel's bound of wake-up latencies, in microseconds, holds while the file is open.
        with contextlib.suppress(OSError):
            stack.enter_context(open("/dev/cpu_dma_latency", "wb", buffering=0)).write(bytes(4))
        yield


class BenchError(Exception):
    """What could not be measured, and why."""


def pinned(cores, command, **options):
    return subprocess.run(["taskset", "-c", cores, *command], capture_output=True, text=True, **options)


def wrk(url, file, path, key, *, lines=1, connections=32, seconds=10, delay=0, cores=CLIENT_CORES):
    """Requests a second, latencies in milliseconds, and bytes a second; refuses failed requests."""
    threads = min(thread_count(cores), connections)
    done = pinned(cores, [
        "wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s",
        "-s", str(HERE / "body.lua"), url, "--", str(file), str(lines), path, key, str(delay)])
    if done.returncode != 0:
        raise BenchError(f"wrk: {done.stderr or done.stdout}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    if found["failed"] or found["lost"] or not found["requests"]:
        raise BenchError(f"{path}: {found['failed']} requests failed, {found['lost']} lost, of {found['requests']}")
    found["rate"] = found["requests"] / found["seconds"]
    return found


def h2load(url, body, key, *, rate, connections=16, seconds=10):
    """Latencies at a fixed rate in milliseconds: p50 and p99 of every request of it."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        data = pathlib.Path(folder) / "body"
        data.write_text(body)
        command = [
            "h2load", "--h1", "-t", str(min(thread_count(CLIENT_CORES), connections)), "-c", str(connections),
            "-D", str(seconds), "--rps", f"{rate / connections:.2f}", "-d", str(data),
            "-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/x-ndjson",
            "--log-file", str(log), url]
        done = pinned(CLIENT_CORES, command)
        if done.returncode != 0 or not log.exists():
            raise BenchError(f"h2load: {done.stderr or done.stdout}")
        rows = [line.split("\t") for line in log.read_text().splitlines()]
    wrong = sum(1 for row in rows if row[1] != "200")
    if not rows or wrong:
        raise BenchError(f"h2load: {wrong} of {len(rows)} requests failed")
    times = sorted(int(row[2]) / 1000 for row in rows)
    return {"rate": len(rows) / seconds, "p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


def pgbench(program, connection, script, *, clients, seconds):
    """Transactions a second and the mean latency in milliseconds."""
    done = pinned(CLIENT_CORES, [
        program, *connection, "--no-vacuum", "--protocol", "prepared", "--client", str(clients),
        "--jobs", str(min(thread_count(CLIENT_CORES), clients)), "--time", str(seconds), "--file", str(script), "postgres"])
    if done.returncode != 0:
        raise BenchError(f"pgbench: {done.stderr or done.stdout}")
    words = {line.split("=")[0].strip(): line.split("=")[1].split()[0]
             for line in done.stdout.splitlines() if "=" in line}
    return {"rate": float(words["tps"]), "mean": float(words["latency average"])}
