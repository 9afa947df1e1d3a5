"""HTTP/2, as far as an attack needs it."""

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


# The status as HPACK writes it.
HUFFMAN_431 = b"i\x90\xff"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def settings(*pairs):
    return frame(4, 0, 0, b"".join(name.to_bytes(2, "big") + value.to_bytes(4, "big") for name, value in pairs))


def literal(name, value):
    def text(data):
        assert len(data) < 127
        return bytes([len(data)]) + data

    return b"\x00" + text(name.encode()) + text(value.encode())


def block(method, path, *fields):
    pairs = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path), *fields]
    return b"".join(literal(*pair) for pair in pairs)


def frames(data):
    """The frames of what a server sent: kind, flags, stream, payload."""
    found = []
    while len(data) >= 9:
        size = int.from_bytes(data[:3], "big")
        found.append((data[3], data[4], int.from_bytes(data[5:9], "big") & 0x7FFFFFFF, data[9:9 + size]))
        data = data[9 + size:]
    return found


def read_until(connection, is_there, limit=10):
    data = b""
    connection.settimeout(limit)
    while not is_there(frames(data)):
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return frames(data)


def ends_stream(stream):
    return lambda found: any(kind in (0, 1) and flags & 1 and at == stream for kind, flags, at, _ in found)


def open_h2(server, *pairs):
    connection = server.connect("h2")
    connection.sendall(PREFACE + settings(*pairs))
    return connection
