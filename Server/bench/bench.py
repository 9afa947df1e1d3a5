#!/usr/bin/python3
"""The service's speeds, each beside what it must be: `make -C Server bench`.

The server has one core for itself, and the clients have the others. Every answer that is timed was
compared before with what `push-fanout evaluate` says of the same messages.
"""
import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import time

import clients
import world as worlds
from clients import SERVER_CORE, BenchError, h2load, wrk
from server import Server, counts_of, forget, free_port, ready

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Table:
    """What was measured, printed as it comes."""

    def __init__(self):
        self.missed = []
        print(f"{'what':58} {'must':>18}  measured", flush=True)

    def row(self, what, measured, must="", holds=None):
        mark = "" if holds is None else ("" if holds else "  MISSED")
        if holds is False:
            self.missed.append(what)
        print(f"{what:58} {must:>18}  {measured}{mark}", flush=True)


def rate(value):
    return f"{value / 1e6:.2f} M/s" if value >= 1e6 else f"{value / 1e3:.1f} k/s" if value >= 1e3 else f"{value:.1f}/s"


def times(found):
    return f"{rate(found['rate'])}, p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms"


def compare(world, server, messages):
    """The server's counts are those of `evaluate`."""
    body = "".join(json.dumps(each) + "\n" for each in messages)
    found = counts_of(server.post("/v1/decide?format=counts", body).decode())
    if found != world.counts(messages):
        raise BenchError("the server's answers are not those of evaluate")


def small(table, world, server, options):
    messages = list(world.small_messages(20_000))
    compare(world, server, messages[:2000])
    file = worlds.write_lines(world.folder / "small.ndjson", messages)
    path = "/v1/decide?format=counts"
    one = wrk(server.url, file, path, server.key, seconds=options.seconds)
    table.row("one message to 5 members, counts", times(one), ">= 30 k/s (45 k)", one["rate"] >= 30_000)
    half = h2load(server.url + path, json.dumps(messages[0]) + "\n", server.key, rate=one["rate"] / 2, seconds=options.seconds)
    table.row("  the same at half of that rate", times(half), "p99 <= 2 ms", half["p99"] <= 2)
    many = wrk(server.url, file, path, server.key, lines=64, seconds=options.seconds)
    table.row("64 messages a request, counts: messages", f"{rate(many['rate'] * 64)}, p99 {many['p99']:.2f} ms",
              ">= 250 k/s (500 k)", many["rate"] * 64 >= 250_000)
    return one


def giant(table, world, server, plain, options):
    messages = list(world.giant_messages(500))
    compare(world, server, messages[:5])
    file = worlds.write_lines(world.folder / "giant.ndjson", messages)
    line = json.dumps(messages[0]) + "\n"
    for form, least in (("bitmap", 8000), ("codes", None)):
        size = len(server.post(f"/v1/decide?format={form}", line))
        found = wrk(server.url, file, f"/v1/decide?format={form}", server.key, connections=8, seconds=options.seconds)
        bare = wrk(f"http://127.0.0.1:{plain}", file, f"/bytes/{size}", "none", connections=8, seconds=options.seconds)
        share = found["rate"] / bare["rate"]
        text = f"{times(found)}; {size} bytes; plain NIO {rate(bare['rate'])}: {share:.0%}"
        must = f">= {least // 1000} k/s" if least else ">= 60 % of plain"
        table.row(f"{world.users:,} members, {form}", text, must, found["rate"] >= least if least else share >= 0.6)


def writes(table, world, server, options):
    file = worlds.write_lines(world.folder / "writes.ndjson", world.writes(2000))
    alone = wrk(server.url, file, "/v1/settings", server.key, connections=64, seconds=options.seconds)
    table.row("durable writes, 64 clients", times(alone), ">= 5 k/s (8 k)", alone["rate"] >= 5000)
    visible(server, world)
    table.row("  each visible to the decision that follows it", "500 of 500", "all", True)
    decisions_beside(table, world, server, file, options)


def decisions_beside(table, world, server, file, options):
    """What is left of the decisions a second beside 1,000 writes a second, one or ten a request, and beside as many
    decisions on connections of their own, which is what requests cost that write nothing."""
    small_file, path = world.folder / "small.ndjson", "/v1/decide?format=counts"

    def decisions():
        return wrk(server.url, small_file, path, server.key, seconds=options.seconds, cores=clients.OTHER_CORES)["rate"]

    for what, lines, target, batch, must in (
            ("decisions beside 1,000 writes a second, of those alone", file, "/v1/settings", 1, ">= 90 %"),
            ("  the same, 10 writes a request", file, "/v1/settings", 10, ""),
            ("  beside 1,000 decisions on other connections", small_file, path, 1, "")):
        # Alternating, so that a slow minute of the machine falls on both.
        bare, beside, written = [], [], []
        idle = clients.IdleTime()
        for _ in range(3):
            bare.append(decisions())
            with pacing(server, lines, target, batch, options.seconds + 2) as load, idle:
                beside.append(decisions())
            written.append(load.rate)
        share = sorted(one / other for one, other in zip(beside, bare))[1]
        text = f"{share:.0%} ({rate(max(beside))}; {sum(written) / 3:.0f}/s; clients' cores idle {idle.share:.0%})"
        table.row(what, text, must, share >= 0.9 if must else None)


def visible(server, world):
    """After each acknowledged write the next decision is by it."""
    message = next(iter(world.small_messages(1)))
    room = message["conversation"]
    user = next(each for each in world.rooms(worlds.ROOM, 20_000)[room] if each != message["sender"])
    message.pop("mentions", None)
    body = json.dumps(message) + "\n"
    for number in range(500):
        level = ("all", "none")[number % 2]
        server.post("/v1/settings", json.dumps(worlds.change(user, room, level)) + "\n")
        rows = map(json.loads, server.post("/v1/decide?format=rows", body).decode().splitlines())
        reason = next(row["reason"] for row in rows if row["user"] == user)
        if (reason == "levelNone") != (level == "none") and reason != "quietHours":
            raise BenchError(f"write {number}: the level {level} was acknowledged, and the decision was {reason}")


@contextlib.contextmanager
def pacing(server, file, path, batch, seconds):
    """1,000 lines of a file a second for a while, so many a request."""
    class Load:
        rate = 0.0
    load = Load()
    # Each of 60 connections waits after an answer, so long that all make 1,000 a second when a write takes 18 ms.
    # What was reached is reported.
    count, answering = 60, 18 if path == "/v1/settings" else 0
    command = ["taskset", "-c", str(clients.LAST_CORE), "wrk", "-t", "1", "-c", str(count), "-d", f"{seconds}s", "-s",
               str(clients.HERE / "body.lua"), server.url, "--", str(file), str(batch), path, server.key,
               str(count * batch - answering)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    yield load
    found = json.loads(process.communicate()[0].strip().splitlines()[-1])
    if found["failed"] or found["lost"]:
        raise BenchError(f"{path}: {found['failed']} requests failed, {found['lost']} were lost")
    load.rate = batch * found["requests"] / found["seconds"]


def following(table, world, options):
    import lag

    found = lag.measure(options.server, world.ensure_store(), world, options.seconds)
    table.row(f"follower at {found['rate']:.0f} writes/s: from write to decision",
              f"p50 {found['p50']:.0f} ms, p99 {found['p99']:.0f} ms, worst {found['worst']:.0f} ms",
              "p99 <= 200 ms", found["p99"] <= 200)
    table.row("  its first copy", f"ready after {found['copied']:.2f} s")


@contextlib.contextmanager
def running(command, **options):
    process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *map(str, command)], **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def start(table, world, options):
    store = world.ensure_store()
    snapshot = pathlib.Path(f"{store}.snapshot")
    warm = []
    for _ in range(3):
        with Server(options.server, store, core="0-3") as server:
            warm.append(server.ready_after)
    middle = sorted(warm)[1]
    table.row(f"start with {world.users:,} users, files in the page cache", f"ready after {middle:.2f} s", "<= 1 s", middle <= 1)
    forget(store, snapshot)
    with Server(options.server, store, core="0-3") as server:
        table.row("  from a cold disk", f"ready after {server.ready_after:.2f} s, {server.memory:.0f} MB resident")


def postgres(table, world, one, options):
    from postgres import Postgres

    messages = list(world.small_messages(20_000))
    with Postgres(world) as peer:
        peer.ask(messages)
        if peer.counts(1000) != world.counts(messages[:1000]):
            raise BenchError("PostgreSQL's answers are not those of evaluate")
        found = max((peer.decisions(count, options.seconds) for count in (4, 16)), key=lambda each: each["rate"])
        table.row("PostgreSQL 15: one message to 5 members", f"{rate(found['rate'])} ({one['rate'] / found['rate']:.1f} times slower)")
        written = peer.writes(64, options.seconds)
        table.row("PostgreSQL 15: durable writes, 64 clients", rate(written["rate"]))
        giants = list(world.giant_messages(100))
        peer.ask(giants)
        if peer.counts(2) != world.counts(giants[:2]):
            raise BenchError("PostgreSQL's answers are not those of evaluate")
        found = peer.decisions(2, options.seconds)
        table.row(f"PostgreSQL 15: {world.users:,} members, counts", rate(found["rate"]))


def synapse(table, world, one, options):
    messages = list(world.small_messages(5000))
    for message in messages:
        message["at"] = worlds.NOON
    rooms = world.rooms(worlds.ROOM, 20_000)
    asked = {message["conversation"] for message in messages}
    rules = rules_at_noon(world, {room: rooms[room] for room in asked})
    path = world.folder / "rules.json"
    path.write_text(json.dumps(rules))
    python = subprocess.run([ROOT / "Benchmarks/peers/environment"], check=True, capture_output=True, text=True).stdout.strip()
    port = free_port()
    # Without the folder of the program, which has another `world`.
    command = [ROOT / python, "-P", pathlib.Path(__file__).with_name("synapse_server.py"), path, port]
    environment = {"PYTHONPATH": str(ROOT / "Benchmarks/peers"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    file = worlds.write_lines(world.folder / "synapse.ndjson", messages)
    with running(command, env=environment):
        expected = world.pushes(messages[:500])
        for message in messages[:500]:
            answer = json.loads(posted(port, json.dumps(message)))
            if set(answer["push"]) != expected[message["id"]]:
                raise BenchError(f"Synapse's answer to {message['id']} is not that of evaluate")
        found = wrk(f"http://127.0.0.1:{port}", file, "/", "none", seconds=options.seconds)
        table.row("Synapse's evaluator: one message to 5 members", f"{times(found)} ({one['rate'] / found['rate']:.1f} times slower)")


def posted(port, body):
    import http.client

    for _ in range(300):
        with contextlib.suppress(ConnectionRefusedError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("POST", "/", body)
            return connection.getresponse().read()
        time.sleep(0.1)
    raise BenchError("Synapse's server does not answer")


def rules_at_noon(world, rooms):
    """What each member's client would have written, by the engine's own explanation of who is quiet."""
    import csv
    import datetime
    import zoneinfo

    people, own = {}, {}
    needed = {user for users in rooms.values() for user in users}
    with open(world.folder / "users.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["id"] in needed:
                people[row["id"]] = row
    with open(world.folder / "members.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["conversation"] in rooms:
                own[row["conversation"], row["user"]] = row["level"]
    noon = datetime.datetime.fromtimestamp(worlds.NOON / 1000, datetime.UTC)

    def is_quiet(row):
        if not row["quietStart"]:
            return False
        at = noon.astimezone(zoneinfo.ZoneInfo(row["timeZone"] or "UTC"))
        minute, (start, end) = at.hour * 60 + at.minute, (
            int(text.split(":")[0]) * 60 + int(text.split(":")[1]) for text in (row["quietStart"], row["quietEnd"]))
        if start == end:
            return start != 0
        return start <= minute < end if start < end else minute >= start or minute < end

    def name(room, user):
        level, app = own[room, user], people[user]["level"]
        if is_quiet(people[user]) or (not level and app == "none"):
            return "nothing"
        if level:
            return level
        return "app mention" if app == "mention" else "all"

    return {room: {user: name(room, user) for user in users} for room, users in rooms.items()}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", type=pathlib.Path, required=True, help="push-fanout")
    arguments.add_argument("--server", type=pathlib.Path, required=True, help="push-fanout-server")
    arguments.add_argument("--plain", type=pathlib.Path, required=True, help="plain-nio-server")
    arguments.add_argument("--folder", type=pathlib.Path, required=True, help="where worlds are kept")
    arguments.add_argument("--users", type=int, default=1_000_000)
    arguments.add_argument("--start-users", type=int, default=0, help="also the start with so many users")
    arguments.add_argument("--seconds", type=int, default=10, help="of each measurement")
    arguments.add_argument("--skip", nargs="*", default=[], choices=["small", "giant", "writes", "follower", "postgres", "synapse"])
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    table = Table()
    # One room of everybody, and small rooms.
    world = worlds.World(options.folder / f"world-{options.users}", options.program, options.users, options.users * 6, options.users)
    store = world.ensure_store()
    port = free_port()
    one = {"rate": float("nan")}
    with running([options.plain, port]), Server(options.server, store, "--threads", "1", "--engine-threads", "1") as server:
        ready(port, "/bytes/1")
        if "small" not in options.skip:
            one = small(table, world, server, options)
        if "giant" not in options.skip:
            giant(table, world, server, port, options)
        if "writes" not in options.skip:
            writes(table, world, server, options)
        table.row("resident memory", f"{server.memory:.0f} MB")
    if "follower" not in options.skip:
        following(table, world, options)
    if "postgres" not in options.skip:
        postgres(table, world, one, options)
    if "synapse" not in options.skip:
        synapse(table, world, one, options)
    if options.start_users:
        many = options.start_users
        start(table, worlds.World(options.folder / f"world-{many}-start", options.program, many, many * 5, None), options)
    print(f"{len(table.missed)} of the musts missed" if table.missed else "all musts hold")
    return 1 if table.missed else 0


if __name__ == "__main__":
    try:
        with clients.awake():
            sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench: {error}")
