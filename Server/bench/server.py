"""push-fanout-server on one core, as long as a block."""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import time

from clients import SERVER_CORE, BenchError


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def connection(port, tls, timeout):
    if tls:
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=ssl._create_unverified_context())
    return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)


def ready(port, path, seconds=300, process=None, tls=False):
    """Waits until a GET is answered with 200."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            raise BenchError(f"the server ended with status {process.returncode}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            asked = connection(port, tls, 10)
            asked.request("GET", path)
            if asked.getresponse().status == 200:
                return
        time.sleep(0.002)
    raise BenchError(f"no answer from {path} within {seconds} s")


class Server:
    """The server on a store; `key` may do everything."""

    def __init__(self, program, store, *arguments, core=SERVER_CORE, tls=False):
        self.program, self.store, self.arguments, self.core, self.tls = program, store, arguments, core, tls

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="push-fanout-bench-")
        keys = pathlib.Path(self.folder.name) / "keys"
        made = subprocess.run(
            [str(self.program), "key", "bench", "decide,read,write,admin"], check=True, capture_output=True, text=True)
        self.key = made.stderr.split()[-1]
        keys.write_text(made.stdout)
        keys.chmod(0o600)
        self.port, self.admin = free_port(), free_port()
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"
        arguments = list(self.arguments)
        if self.tls:
            certificate, key = (str(pathlib.Path(self.folder.name) / name) for name in ("pem", "key"))
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
            arguments += ["--tls-certificate", certificate, "--tls-key", key]
        self.log = open(pathlib.Path(self.folder.name) / "log", "w")
        began = time.monotonic()
        self.process = subprocess.Popen(
            ["taskset", "-c", self.core, str(self.program), "--store", str(self.store), "--listen", f"127.0.0.1:{self.port}",
             "--admin-listen", f"127.0.0.1:{self.admin}", "--keys", str(keys), "--log-level", "warning", *arguments],
            stdout=self.log, stderr=self.log)
        try:
            ready(self.port, "/readyz", process=self.process, tls=self.tls)
        except BenchError as error:
            log = pathlib.Path(self.log.name).read_text()[-2000:]
            self.__exit__()
            raise BenchError(f"{error}\n{log}") from None
        self.ready_after = time.monotonic() - began
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
        self.folder.cleanup()

    def post(self, path, body, **headers):
        asked = connection(self.port, self.tls, 60)
        asked.request("POST", path, body if isinstance(body, bytes) else body.encode(), {
            "Authorization": f"Bearer {self.key}", "Content-Type": "application/x-ndjson", **headers})
        answer = asked.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise BenchError(f"{path}: status {answer.status}: {found[:500]!r}")
        return found

    @property
    def memory(self):
        """Resident memory in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def forget(*paths):
    """Has the system drop what it keeps of files, so that they are read from the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def counts_of(lines):
    return {row["message"]: row["counts"] for row in map(json.loads, lines.splitlines())}
