"""Fresh systems in folders, and what push-fanout must do on each: for check-deb and check-dist."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parents[2]
ROOTS = HERE / ".build" / "roots"
VECTORS = HERE / "Tests" / "ConformanceTests" / "vectors.ndjson"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def expect(found, wanted, what):
    if found != wanted:
        fail(f"{what}: {found!r}, not {wanted!r}")


def made(name, *options, mirror=()):
    """The files of a system, a tar file, which mmdebstrap makes once."""
    ROOTS.mkdir(parents=True, exist_ok=True)
    base = ROOTS / f"{name}.tar"
    if not base.exists():
        part = base.with_suffix(".part.tar")
        subprocess.run(["mmdebstrap", "--quiet", *options, name, part, *mirror], check=True)
        part.rename(base)
    return base


@contextlib.contextmanager
def fresh(base):
    """A system with these files, of a tar file, for once."""
    with tempfile.TemporaryDirectory(dir=ROOTS) as root:
        os.chmod(root, 0o755)
        subprocess.run(["tar", "-C", root, "-xf", base], check=True)
        # It may be a link to what systemd-resolved writes.
        names = pathlib.Path(root, "etc", "resolv.conf")
        names.unlink(missing_ok=True)
        shutil.copy("/etc/resolv.conf", names)
        pathlib.Path(root, "etc", "hosts").write_text("127.0.0.1 localhost primary.example\n")
        yield System(root)


class System:
    """A system in a folder."""

    def __init__(self, root):
        self.root = root
        self.environment = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}

    def command(self, *command):
        # The mount is gone with the process.
        return ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', self.root,
                *command]

    def run(self, *command):
        done = subprocess.run(self.command(*command), env=self.environment, capture_output=True, text=True, cwd="/")
        if done.returncode:
            fail(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def serve(self, *arguments):
        """A server that is ready: its process and port."""
        process = subprocess.Popen(
            self.command("push-fanout", "serve", "--keys", "/tmp/keys", "--listen", "127.0.0.1:0", *arguments),
            env=self.environment, stderr=subprocess.PIPE, text=True, cwd="/")
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r'"address":"127.0.0.1:(\d+)"', line):
                for _ in range(600):
                    with contextlib.suppress(OSError):
                        urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/readyz", timeout=60).close()
                        return process, int(found[1])
                    time.sleep(0.1)
                process.kill()
        fail(f"the server does not serve: {''.join(lines)}")


def ask(port, key, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body.encode(), {
        "Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def check_server(system):
    """`push-fanout serve` serves a store that it makes, a second one follows it by a name, and both end with 0."""
    system.run("sh", "-c", "umask 077; push-fanout serve key demo decide,write,admin > /tmp/keys 2> /tmp/key; "
                           "sed -i 's/.* //' /tmp/key")
    key = pathlib.Path(system.root, "tmp", "key").read_text().strip()
    # A name that is in no file, so that every service of nsswitch.conf is asked.
    primary, port = system.serve("--store", "/tmp/served.store", "--create", "--peers", "http://absent.invalid:9")
    ask(port, key, "/v1/settings", '{"kind":"app","rules":"easemob"}\n{"kind":"member","conversation":"g","user":"u"}\n')
    follower, second = system.serve(
        "--store", "/tmp/copy.store", "--follow", f"http://primary.example:{port}", "--peer-key", "/tmp/key")
    decided = [ask(each, key, "/v1/decide?format=pushes", '{"id":"m","conversation":"g","at":1717400000000}')
               for each in (port, second)]
    expect(decided, ['{"message":"m","push":["u"]}\n'] * 2, "the servers")
    for process in (follower, primary):
        process.terminate()
    expect([process.wait(60) for process in (follower, primary)], [0, 0], "the end of the servers")


def check_vectors(system):
    count = 0
    folder = pathlib.Path(system.root, "tmp")
    for line in VECTORS.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        (folder / "s.ndjson").write_text("".join(json.dumps(record) + "\n" for record in case["settings"]))
        (folder / "m.ndjson").write_text(json.dumps(case["message"]) + "\n")
        rows = [json.loads(row) for row in system.run(
            "push-fanout", "evaluate", "--settings", "/tmp/s.ndjson", "--messages", "/tmp/m.ndjson",
            "--format", "ndjson").split("\n") if row]
        names = ("action", "reason", "scope")
        expect([[row.get(name) for name in names] for row in rows],
               [[case["expect"].get(name) for name in names]], f"vector {case['id']}")
        count += 1
    return count
