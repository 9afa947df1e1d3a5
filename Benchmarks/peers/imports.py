#!/usr/bin/env python3
"""Imports a made-up export of Mattermost beside other readers of the same bytes: jq and DuckDB.

    imports.py PROGRAM FILE [--users N] [--posts N] [--memberships N] [--rounds N] [--seed N]

FILE is written unless it is there. Each contestant reads all of it, in turns; jq and DuckDB only read, and
make no world. Printed are the medians: seconds, MB/s of the file, and the peak of memory.
"""
import argparse
import importlib.util
import pathlib
import random
import shutil
import statistics
import sys
import tempfile

import timing

WORDS = ("the build is green now please look at it when you can we ship on friday after lunch "
         "deploy error test review merge branch ticket customer call").split()
USER = (
    '{"type":"user","user":{"username":"user%d","email":"user%d@acme.example","auth_service":null,'
    '"nickname":"","first_name":"","last_name":"","position":"","roles":"system_user","locale":"en",'
    '"delete_at":0,"teams":[{"name":"acme","roles":"team_user","channels":[%s]}],"notify_props":'
    '{"desktop":"mention","desktop_sound":"true","email":"false","mobile":"%s","mobile_push_status":"away",'
    '"channel":"true","comments":"never","mention_keys":"%s"}}}\n')
CHANNEL = ('{"name":"channel-%d","roles":"channel_user","notify_props":{"desktop":"default","mobile":"%s",'
           '"mark_unread":"%s"},"favorite":false}')
BODY = ('"user":"user%d","type":"","message":"%s","props":{},"create_at":%d,"edit_at":0,"reactions":[]')
POST = ('{"type":"post","post":{"team":"acme","channel":"channel-%d",' + BODY + ',"replies":[%s]%s}}\n')


def write(path, users, memberships, posts, seed):
    """An export: a fifth of the posts have a thread of one reply, whom two follow."""
    draw = random.Random(seed)
    channels = max(10, users // 50)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(3, 30))) for _ in range(1000)]
    each = memberships // users
    rest = memberships - each * users
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        part = pathlib.Path(folder) / "part"
        with part.open("w") as out:
            out.write('{"type":"version","version":1}\n{"type":"team","team":{"name":"acme"}}\n')
            for channel in range(channels):
                out.write('{"type":"channel","channel":{"team":"acme","name":"channel-%d","display_name":'
                          '"Channel","type":"O"}}\n' % channel)
            for user in range(users):
                rooms = ",".join(
                    CHANNEL % ((user * 7 + room * 13) % channels,
                               "mention" if draw.random() < 0.05 else "default",
                               "mention" if draw.random() < 0.05 else "all")
                    for room in range(each + (user < rest)))
                keys = draw.choice(WORDS) if draw.random() < 0.01 else ""
                level = draw.choice(("mention", "mention", "all", "none"))
                out.write(USER % (user, user, rooms, level, keys))
            index = 0
            while index < posts:
                text = draw.choice(texts)
                if draw.random() < 0.2:
                    text = f"@user{draw.randrange(users)} {text}"
                at = 1_700_000_000_000 + index * 900 + draw.randrange(2_000_000)
                reply, followers = "", ""
                index += 1
                if index < posts and draw.random() < 0.2:
                    author = draw.randrange(users)
                    reply = "{" + BODY % (author, draw.choice(texts), at + 60_000) + "}"
                    followers = ',"thread_followers":[{"user":"user%d"},{"user":"user%d"}]' % (
                        author, draw.randrange(users))
                    index += 1
                out.write(POST % (draw.randrange(channels), draw.randrange(users), text, at, reply, followers))
        part.rename(path)


def contestants(program, path, folder):
    output = folder / "world"
    duckdb = ("import duckdb, sys; print(duckdb.sql(\"SELECT count(*), count(post), count(user) FROM "
              "read_json(?, format='newline_delimited', columns={type: 'VARCHAR', user: 'JSON', post: "
              "'JSON'}, maximum_object_size=67108864)\", params=[sys.argv[1]]).fetchall())")
    found = {"push-fanout": [program, "import", "mattermost", str(path), "--output", str(output), "-q"]}
    if shutil.which("jq"):
        found["jq -c ."] = ["sh", "-c", 'jq -c . "$0" >/dev/null', str(path)]
    if importlib.util.find_spec("duckdb"):
        found["DuckDB"] = [sys.executable, "-c", duckdb, str(path)]
    return found, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--memberships", type=int, default=100_000)
    parser.add_argument("--posts", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not given.file.exists():
        write(given.file, given.users, given.memberships, given.posts, given.seed)
    size = given.file.stat().st_size
    print(f"{given.file}: {size / 1e6:,.0f} MB")
    with tempfile.TemporaryDirectory(dir=given.file.parent) as folder:
        found, output = contestants(given.program, given.file, pathlib.Path(folder))
        taken = {name: [] for name in found}
        for _ in range(given.rounds):
            for name, command in found.items():
                taken[name].append(timing.timed(command))
                shutil.rmtree(output, ignore_errors=True)
    for name, runs in taken.items():
        seconds = statistics.median(clocks[0] for clocks, _, _ in runs)
        busy = statistics.median(clocks[1] for clocks, _, _ in runs)
        peak = max(memory for _, memory, _ in runs)
        print(f"{name:12} {seconds:8.2f} s {busy:8.2f} cpu s {size / 1e6 / seconds:8.1f} MB/s {peak / 2**20:8.0f} MiB")


if __name__ == "__main__":
    main()
