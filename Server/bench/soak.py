"""Keeps a server under load and under attack, and fails when its memory, its descriptors or its latencies rise.

    soak.py --server PUSH_FANOUT_SERVER [--seconds 1800]

wrk decides at a steady pace; beside it clients write and read what they wrote, follow events, ask for
explanations, come and go, and leave requests unfinished. It prints a line a minute, or a thirtieth of a shorter time.
In every second minute somebody without a key attacks the server (attacker.py); in the others processes burn as much
processor time, on the server's core and on the clients', as the minute before took more.
"""
import argparse
import contextlib
import http.client
import io
import itertools
import json
import os
import pathlib
import random
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from clients import CLIENT_CORES, SERVER_CORE, BenchError, wrk
from server import Server, connection

USERS, GROUPS, MEMBERS = 20_000, 500, 100
AT = 1_717_400_000_000
# Of the first quarter nothing is judged: caches fill, and memory is taken that is used again later.
WARM_UP = 0.25
# The database's page cache grows to 32 MiB, a page at a time: so many changes fill it first.
CHANGES_BEFORE, CHANGES_AT_ONCE = 500_000, 10_000
# How much may be added by the fitted line until the end.
MEMORY_SHARE, MEMORY_BYTES = 0.05, 10.0
DESCRIPTORS = 20
# The middle of the last third beside that of the first, and what a busy machine adds.
LATENCY_FACTOR, LATENCY_MILLISECONDS = 2.0, 2.0
# p99 under attack, beside that beside processes which burn as much time.
ATTACK_FACTOR = 3.0


def settings():
    yield {"kind": "app", "rules": "easemob", "timeZone": "UTC"}
    draw = random.Random(1)
    for user in range(USERS):
        yield {"kind": "user", "id": f"u{user}", "level": draw.choice(["all", "mention", "none"])}
    for group in range(GROUPS):
        for user in draw.sample(range(USERS), MEMBERS):
            yield {"kind": "member", "conversation": f"g{group}", "user": f"u{user}"}
    # Whose levels are written, and read again.
    for writer in range(4):
        yield {"kind": "member", "conversation": f"own{writer}", "user": f"writer{writer}"}


def changes():
    """What fills the database's page cache: levels of the users in turn, which each round changes."""
    levels = ("none", "all")
    for number in range(CHANGES_BEFORE):
        yield {"kind": "user", "id": f"u{number % USERS}", "level": levels[number // USERS % 2]}


class Clients:
    """What goes on beside wrk, until it is stopped."""

    def __init__(self, server):
        self.server, self.stopped, self.problems, self.counts = server, threading.Event(), [], {}
        works = [(self.write, number) for number in range(4)] + [
            (self.follow, 0), (self.follow, 1), (self.explain, 0), (self.come_and_go, 0), (self.leave_unfinished, 0)]
        self.threads = [threading.Thread(target=self.run, args=each, daemon=True) for each in works]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)
            if thread.is_alive():
                self.problems.append("a client hangs")

    def run(self, work, number):
        try:
            work(number)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the soak has failed
            if not self.stopped.is_set():
                self.problems.append(f"{work.__name__}: {problem!r}")

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def post(self, connection, path, body):
        connection.request("POST", path, json.dumps(body).encode(), {
            "Authorization": f"Bearer {self.server.key}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise BenchError(f"{path}: status {answer.status}: {found[:300]!r}")
        return json.loads(found)

    def connect(self):
        return connection(self.server.port, True, 60)

    def write(self, number):
        connection, user = self.connect(), f"writer{number}"
        for round_number in itertools.count():
            if self.stopped.wait(0.02):
                return
            level = "none" if round_number % 2 else "all"
            written = self.post(connection, "/v1/settings", {
                "op": "setSilentModeForConversation", "user": user, "conversation": f"own{number}", "level": level})
            decided = self.post(connection, f"/v1/decide?format=pushes&at-least={written['sequence']}", {
                "id": "m", "conversation": f"own{number}", "at": AT})
            if decided["push"] != ([user] if level == "all" else []):
                raise BenchError(f"{written}: {decided} after {level}")
            self.count("writes")

    def follow(self, _):
        connection = self.connect()
        connection.request("GET", "/v1/events?after=0", headers={
            "Authorization": f"Bearer {self.server.key}", "Accept": "text/event-stream"})
        answer = connection.getresponse()
        while not self.stopped.is_set():
            if not answer.readline():
                raise BenchError("events ended")
            self.count("lines of events")

    def explain(self, _):
        connection = self.connect()
        while not self.stopped.wait(0.02):
            group = random.randrange(GROUPS)
            connection.request("GET", f"/v1/conversations/g{group}/members", headers={
                "Authorization": f"Bearer {self.server.key}"})
            members = json.loads(connection.getresponse().read())["members"]
            self.post(connection, "/v1/explain", {
                "user": random.choice(members), "message": {"id": "m", "conversation": f"g{group}", "at": AT}})
            self.count("explanations")

    def come_and_go(self, _):
        while not self.stopped.wait(0.01):
            self.post(self.connect(), "/v1/decide?format=counts", {"id": "m", "conversation": "g1", "at": AT})
            self.count("connections")

    def leave_unfinished(self, _):
        begun = b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        while not self.stopped.wait(0.1):
            with socket.create_connection(("127.0.0.1", self.server.port)) as connection, \
                    ssl._create_unverified_context().wrap_socket(connection) as left:
                left.sendall(begun[: random.randrange(1, len(begun))])
            self.count("unfinished requests")


def rise(values):
    """What a straight line through the values adds from the first to the last."""
    line = statistics.linear_regression(range(len(values)), values)
    return line.slope * (len(values) - 1)


def judge(rows):
    """Why the soak has failed; nothing when it has not. Rows are (attacked, memory, descriptors, p99)."""
    kept = rows[int(len(rows) * WARM_UP):]
    problems, middles = [], []
    for attacked in (False, True):
        memory, descriptors, latencies = zip(*(row[1:] for row in kept if row[0] == attacked))
        where = "under attack" if attacked else "otherwise"
        limit = max(MEMORY_SHARE * memory[0], MEMORY_BYTES)
        if rise(memory) > limit:
            problems.append(f"memory rises by {rise(memory):.1f} MB {where}, more than {limit:.1f}")
        if rise(descriptors) > DESCRIPTORS:
            problems.append(f"descriptors rise by {rise(descriptors):.0f} {where}, more than {DESCRIPTORS}")
        third = max(len(latencies) // 3, 1)
        first, last = statistics.median(latencies[:third]), statistics.median(latencies[-third:])
        if last > LATENCY_FACTOR * first + LATENCY_MILLISECONDS:
            problems.append(f"p99 rises from {first:.2f} to {last:.2f} ms {where}")
        middles.append(statistics.median(latencies))
    burnt, attacked = middles
    print(f"p99, the middle of the minutes: {attacked:.2f} ms under attack, {burnt:.2f} ms beside as much processor time")
    if attacked > ATTACK_FACTOR * burnt:
        problems.append(f"p99 under attack is {attacked / burnt:.1f} times that beside as much processor time, more than {ATTACK_FACTOR}")
    return problems


def prove():
    """What rises is found, and what does not is not."""
    def rows(memory=0, descriptors=0, latency=0, attack=2.0):
        return [(attacked, 100.0 + memory * row, 50 + descriptors * row, (attack if attacked else 2.0) + latency * row)
                for row in range(20) for attacked in (False, True)]

    with contextlib.redirect_stdout(io.StringIO()):
        found = [len(judge(each)) for each in (rows(), rows(memory=1), rows(descriptors=3), rows(latency=4), rows(attack=7.0))]
    if found != [0, 2, 2, 2, 1]:
        raise BenchError(f"the judgement of a soak is wrong: {found}")


class Burner:
    """A process that takes a share of a core, until the block ends. On the clients' cores it gives way to them, as the
    attacker does: what is measured is the server."""

    SOURCE = """
import sys, time
share = float(sys.argv[1])
while True:
    end = time.process_time() + 0.005 * share
    begin = time.monotonic()
    while time.process_time() < end: pass
    time.sleep(max(0, 0.005 - (time.monotonic() - begin)))
"""

    def __init__(self, cores, share):
        nice = ["nice", "-n", "19"] if cores == CLIENT_CORES else []
        self.command = ["taskset", "-c", cores, *nice, sys.executable, "-c", self.SOURCE, f"{min(1, max(0, share)):.3f}"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def processor_time(process):
    """Seconds that a process has used."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def soak(server, folder, seconds):
    messages = folder / "messages.ndjson"
    messages.write_text("".join(json.dumps({"id": f"m{number}", "conversation": f"g{number % GROUPS}", "at": AT + number}) + "\n"
                                for number in range(5000)))
    interval = min(60, max(5, seconds // 30))
    rows, clients = [], Clients(server)

    def minute(kind):
        begin, before = time.monotonic(), processor_time(server.process.pid)
        found = wrk(server.url, messages, "/v1/decide?format=counts", server.key, seconds=interval, delay=10)
        # What the server takes for clients and attacker together.
        share = (processor_time(server.process.pid) - before) / (time.monotonic() - begin)
        row = (kind == "attack", server.memory, len(os.listdir(f"/proc/{server.process.pid}/fd")), found["p99"])
        print(f"{(time.monotonic() - begun) / 60:7.1f} {kind:>7} {row[1]:10.1f} {row[2]:12} {found['rate']:11.0f} {row[3]:8.2f} "
              f"{100 * share:8.0f}", flush=True)
        return row, share

    try:
        print(f"{'minute':>7} {'beside':>7} {'memory MB':>10} {'descriptors':>12} {'requests/s':>11} {'p99 ms':>8} {'server %':>8}")
        begun = time.monotonic()
        # Until the followers have read what was there.
        _, calm = minute("nothing")
        while time.monotonic() - begun < seconds and not clients.problems:
            attacker = subprocess.Popen(
                ["taskset", "-c", CLIENT_CORES, "nice", "-n", "19", sys.executable, str(pathlib.Path(__file__).parent / "attacker.py"),
                 str(server.port), str(interval)], stdout=subprocess.PIPE, text=True)
            row, share = minute("attack")
            used = processor_time(attacker.pid) / interval
            done = attacker.communicate(timeout=60)[0]
            if attacker.returncode != 0:
                raise BenchError("the attacker failed")
            rows.append(row)
            with Burner(SERVER_CORE, share - calm), Burner(CLIENT_CORES, used):
                row, calm = minute("burning")
            rows.append(row)
        print("attacks of the last minute: " + ", ".join(done.split("\n")[:-1]))
    finally:
        clients.stop()
    print(", ".join(f"{count} {what}" for what, count in sorted(clients.counts.items())))
    return clients.problems or judge(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--server", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=1800)
    options = parser.parse_args()
    if options.seconds < 120:
        parser.error("--seconds: at least 120")
    prove()
    with tempfile.TemporaryDirectory(prefix="push-fanout-soak-") as name:
        folder = pathlib.Path(name)
        with Server(options.server, folder / "app.store", "--create", "--decision-log", folder / "log", "--decision-log-one-in", "100",
                    "--decision-log-limit", "1000000", "--header-timeout", "2", "--body-timeout", "2", "--idle-timeout", "20",
                    tls=True) as server:
            for lines in batches(itertools.chain(settings(), changes()), CHANGES_AT_ONCE):
                server.post("/v1/settings", "".join(json.dumps(line) + "\n" for line in lines))
            problems = soak(server, folder, options.seconds)
            process = server.process
        if process.returncode != 0:
            problems.append(f"the server ended with status {process.returncode}")
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


def batches(items, count):
    """Lists of so many."""
    items = iter(items)
    while batch := list(itertools.islice(items, count)):
        yield batch


if __name__ == "__main__":
    sys.exit(main())
