"""How far a follower is behind its primary at 1,000 writes a second: a part of bench.py.

Both are on this machine, so that their clocks are one. The primary has a core, the follower another.
"""
import http.client
import pathlib
import re
import tempfile
import time

import clients
import world as worlds
from server import Server


def follower_metric(server, name):
    connection = http.client.HTTPConnection("127.0.0.1", server.admin, timeout=30)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {server.key}"})
    text = connection.getresponse().read().decode()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
    return float(found.group(1)) if found else float("nan")


def measure(program, store, world, seconds):
    """Rate of writes, p50 and p99 of the delay of a batch, and the worst, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, Server(program, store) as primary:
        key = pathlib.Path(folder) / "key"
        key.write_text(primary.key)
        copy = pathlib.Path(folder) / "copy.store"
        began = time.monotonic()
        # Snapshots and changes are served where administration is.
        with Server(program, copy, "--follow", f"http://127.0.0.1:{primary.admin}", "--peer-key", str(key), core="1") as follower:
            copied = time.monotonic() - began
            file = worlds.write_lines(world.folder / "lag.ndjson", world.writes(2000))
            found = clients.wrk(primary.url, file, "/v1/settings", primary.key, connections=60, seconds=seconds, delay=42)
            time.sleep(1)
            delays = [follower_metric(follower, f'push_fanout_follower_delay_seconds{{quantile="{share}"}}') * 1000
                      for share in ("0.5", "0.99", "1.0")]
            return {"rate": found["rate"], "copied": copied, "p50": delays[0], "p99": delays[1], "worst": delays[2]}
