"""A client without a key that does what it can to a server with TLS: attacker.py PORT SECONDS

Each attack goes on for as long as the others, one after the other. Prints how often each did what it does.
"""
import contextlib
import pathlib
import socket
import ssl
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Tests/attacks"))
from http2 import PREFACE, block, frame, settings  # noqa: E402

# What a server that is attacked does to a connection.
REFUSED = (OSError, ssl.SSLError)


class Attacker:
    def __init__(self, port, seconds):
        self.port, self.seconds, self.end, self.contexts = port, seconds, 0, {}
        for protocol in ("http/1.1", "h2"):
            self.contexts[protocol] = context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols([protocol])

    def run(self):
        attacks = [getattr(self, name) for name in dir(self) if name.startswith("attack_")]
        for attack in attacks:
            self.end = time.monotonic() + self.seconds / len(attacks)
            count = 0
            while self.left():
                count += 1
                with contextlib.suppress(*REFUSED):
                    count += attack() or 0
            print(f"{attack.__name__.removeprefix('attack_')} {count}", flush=True)

    def tcp(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=5)

    def connect(self, protocol="http/1.1"):
        return self.contexts[protocol].wrap_socket(self.tcp())

    def h2(self, *pairs):
        connection = self.connect("h2")
        connection.sendall(PREFACE + settings(*pairs))
        return connection

    def left(self):
        return max(0, self.end - time.monotonic())

    def hold(self, make, count, each=lambda connection: None):
        """Keeps so many connections, and goes on with each now and then."""
        with contextlib.ExitStack() as stack:
            held = []
            for _ in range(count):
                if not self.left():
                    break
                with contextlib.suppress(*REFUSED):
                    held.append(stack.enter_context(make()))
            while self.left():
                for connection in held:
                    with contextlib.suppress(*REFUSED):
                        each(connection)
                time.sleep(min(0.2, self.left()))
            return len(held)

    # A refusal costs the attacker a system call, and the server a connection: all as fast as they can.

    def attack_silent_sockets(self):
        return self.hold(self.tcp, 2000)

    def attack_silence_after_the_handshake(self):
        return self.hold(self.connect, 300)

    def attack_handshakes(self):
        self.connect().close()

    def attack_headers_a_byte_at_a_time(self):
        return self.hold(self.connect, 200, lambda connection: connection.sendall(b"A"))

    def attack_bodies_that_do_not_come(self):
        def begin():
            connection = self.connect()
            connection.sendall(b"POST /page/session HTTP/1.1\r\nHost: a\r\nContent-Length: 4096\r\n\r\n{")
            return connection
        return self.hold(begin, 500)

    def attack_wrong_keys(self):
        request = b"POST /v1/decide HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n"
        return self.repeat(request * 20)

    def attack_what_is_no_http(self):
        texts = (b"\x00" * 500, b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
                 b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", b"GET /" + b"%" * 9000 + b" HTTP/1.1\r\n\r\n")
        for text in texts:
            with self.connect() as connection:
                connection.sendall(text)
                connection.recv(1000)
        return len(texts)

    def attack_large_headers(self):
        return self.repeat(b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"X-A: " + b"a" * 12_000 + b"\r\n\r\n")

    def attack_answers_that_are_not_read(self):
        def begin(path):
            connection = self.connect()
            connection.settimeout(0.2)
            with contextlib.suppress(*REFUSED):
                connection.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path * 2000)
            return connection
        return self.hold(lambda: begin(b"/v1/openapi.json"), 50) + self.hold(lambda: begin(b"/livez"), 50)

    def attack_chunks_of_a_byte(self):
        with self.connect() as connection:
            connection.sendall(b"POST /page/session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            count = 0
            while self.left():
                connection.sendall(b"1;extension\r\n \r\n" * 1000)
                count += 1000
        return count

    def repeat(self, request):
        """Sends something on one connection, until the server closes it."""
        with self.connect() as connection:
            while self.left():
                connection.sendall(request)
                if not connection.recv(65536):
                    break
        return 1

    def attack_streams_that_are_reset(self):
        with self.h2() as connection:
            stream = 1
            while self.left():
                data = b""
                for _ in range(50):
                    data += frame(1, 5, stream, block("GET", "/livez")) + frame(3, 0, stream, b"\0\0\0\x08")
                    stream += 2
                connection.sendall(data)
        return stream // 2

    def attack_streams_without_a_window(self):
        def begin():
            connection = self.h2((4, 0))
            for stream in range(1, 200, 2):
                connection.sendall(frame(1, 5, stream, block("GET", "/page/page.css")))
            return connection
        return self.hold(begin, 50)

    def attack_pings(self):
        return self.flood(frame(6, 0, 0, bytes(8)) * 1000)

    def attack_settings(self):
        return self.flood(settings((4, 70_000)) * 1000)

    def attack_continuations(self):
        return self.flood(frame(1, 0, 1, block("GET", "/")) + frame(9, 0, 1, b"") * 1000)

    def flood(self, data):
        count = 0
        with self.h2() as connection:
            while self.left():
                connection.sendall(data)
                count += 1
        return count


if __name__ == "__main__":
    Attacker(int(sys.argv[1]), float(sys.argv[2])).run()
