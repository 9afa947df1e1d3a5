#!/usr/bin/env python3
"""Compares the C library with the evaluator of Tests/Oracle, which was written by itself.

   worlds.py LIBRARY [--worlds N] [--first SEED]

The conformance vectors and random worlds of all rules must give the same rows: as the library
writes them, and put together from codes, ids, targets, batches and Arrow streams. Requests and what
answers of providers mean are those of their vectors. A failure names the seed. Closes with 'N passed, N failed'.
"""
import argparse
import ctypes as C
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, "..", "..", "..", "Tests", "Oracle")
VECTORS = os.path.join(HERE, "..", "..", "..", "Tests", "ConformanceTests", "vectors.ndjson")
REQUESTS = os.path.join(HERE, "..", "..", "..", "Tests", "ConformanceTests", "request-vectors.ndjson")
RULES = ("easemob", "rongcloud", "open")
COUNTS, CODES, BITMAPS, ARROW_IDS, ARROW_ID_VIEWS = 1, 2, 4, 1, 2
PLATFORMS = {"apns": 1, "fcm": 2}


class Options(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("threads", C.c_int32)]


class Text(C.Structure):
    _fields_ = [("bytes", C.c_char_p), ("size", C.c_size_t)]

    @classmethod
    def of(cls, text):
        return cls(text, len(text or b""))


class Sending(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("senders_name", Text), ("senders", Text), ("templates_name", Text),
                ("templates", Text), ("platforms", C.c_uint32), ("share_bodies", C.c_int32)]


class ProviderAnswer(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("platform", C.c_uint32), ("status", C.c_int32), ("body", Text),
                ("retry_after", C.c_int64), ("registered_at", C.c_int64), ("now", C.c_int64), ("expiry", C.c_int64),
                ("attempt", C.c_int32), ("surely_not_taken", C.c_int32), ("random", C.c_double)]


class Step(C.Structure):
    _fields_ = [("action", C.c_char_p), ("retry_at", C.c_int64), ("timestamp", C.c_int64),
                ("forgets_token", C.c_int32), ("needs_new_connection", C.c_int32)]


class IDs(C.Structure):
    _fields_ = [("count", C.c_size_t), ("offsets", C.POINTER(C.c_uint64)), ("bytes", C.POINTER(C.c_char))]

    def texts(self):
        size = self.offsets[self.count]
        text = C.string_at(self.bytes, size)
        return [text[self.offsets[i]:self.offsets[i + 1]].decode() for i in range(self.count)]


class Targets(C.Structure):
    _fields_ = [("users", IDs), ("starts", C.POINTER(C.c_uint64)), ("devices", IDs)]


class Stamp(C.Structure):
    _fields_ = [("epoch", C.c_uint64), ("sequence", C.c_uint64), ("membership", C.c_uint64)]


class Summary(C.Structure):
    _fields_ = [("stamp", Stamp), ("members", C.c_uint64), ("recipients", C.c_uint64), ("pushes", C.c_uint64)]


class Batch(C.Structure):
    _fields_ = [("count", C.c_size_t), ("summaries", C.POINTER(Summary)),
                ("counts", C.POINTER(C.c_uint32)), ("code_starts", C.POINTER(C.c_uint64)),
                ("codes", C.POINTER(C.c_uint8)), ("bitmap_starts", C.POINTER(C.c_uint64)),
                ("bitmaps", C.POINTER(C.c_uint8))]


class Array(C.Structure):
    pass


RELEASE_ARRAY = C.CFUNCTYPE(None, C.POINTER(Array))
Array._fields_ = [("length", C.c_int64), ("null_count", C.c_int64), ("offset", C.c_int64),
                  ("n_buffers", C.c_int64), ("n_children", C.c_int64),
                  ("buffers", C.POINTER(C.c_void_p)), ("children", C.POINTER(C.POINTER(Array))),
                  ("dictionary", C.c_void_p), ("release", RELEASE_ARRAY), ("private_data", C.c_void_p)]


class Stream(C.Structure):
    pass


Stream._fields_ = [("get_schema", C.c_void_p), ("get_next", C.CFUNCTYPE(C.c_int, C.POINTER(Stream), C.POINTER(Array))),
                   ("get_last_error", C.c_void_p), ("release", C.CFUNCTYPE(None, C.POINTER(Stream))),
                   ("private_data", C.c_void_p)]


class Library:
    def __init__(self, path):
        self.c = C.CDLL(path)
        self.c.pf_messages_count.restype = C.c_size_t
        self.c.pf_batch_free.argtypes = [C.c_void_p]
        for name in ("pf_close", "pf_messages_free", "pf_answer_free", "pf_relation_free", "pf_requests_free", "pf_free"):
            getattr(self.c, name).argtypes = [C.c_void_p]
            getattr(self.c, name).restype = None

    def call(self, name, *arguments):
        error = C.c_void_p()
        status = getattr(self.c, name)(*arguments, C.byref(error))
        if status != 0:
            text = C.string_at(error.value).decode()
            self.c.pf_free(error)
            raise RuntimeError(f"{name}: {text}")

    def outcome(self, code):
        words = [C.c_char_p() for _ in range(3)]
        if self.c.pf_outcome(C.c_uint8(code), *map(C.byref, words)) != 0:
            raise RuntimeError(f"no outcome {code}")
        names = ("action", "reason", "scope")
        return {name: word.value.decode() for name, word in zip(names, words) if word.value}

    def action(self, platform, status, body):
        answer, step = ProviderAnswer(C.sizeof(ProviderAnswer), PLATFORMS[platform], status or 0, Text.of(body), attempt=1), Step()
        self.call("pf_read_provider_answer", C.byref(answer), C.byref(step))
        return step.action.decode()


class Engine:
    def __init__(self, library, settings, threads):
        self.library = library
        self.handle = C.c_void_p()
        options = Options(C.sizeof(Options), threads)
        library.call("pf_open_bytes", settings, C.c_size_t(len(settings)), C.byref(options), C.byref(self.handle))

    def close(self):
        self.library.c.pf_close(self.handle)

    def evaluate(self, messages, form, devices):
        text, size = C.c_void_p(), C.c_size_t()
        self.library.call("pf_evaluate", self.handle, messages, C.c_size_t(len(messages)), form.encode(),
                          C.c_int(devices), C.byref(text), C.byref(size), None)
        found = C.string_at(text.value, size.value)
        self.library.c.pf_free(text)
        return found

    def requests(self, messages, senders, templates, platforms, shares):
        """The lines of requests."""
        sending = Sending(C.sizeof(Sending), Text(), Text.of(senders), Text(), Text.of(templates or None),
                          sum(PLATFORMS[name] for name in platforms), shares)
        handle, lines = C.c_void_p(), []
        self.library.call("pf_requests_new", self.handle, messages, C.c_size_t(len(messages)), C.byref(sending),
                          C.byref(handle))
        while True:
            text, size = C.c_void_p(), C.c_size_t()
            self.library.call("pf_requests_next", handle, C.byref(text), C.byref(size))
            if not text.value:
                break
            lines.append(C.string_at(text.value, size.value))
            self.library.c.pf_free(text)
        self.library.c.pf_requests_free(handle)
        return b"".join(lines)

    def rows(self, messages):
        """The same rows from answers, and whether batches and streams have them too."""
        library, handle = self.library, C.c_void_p()
        library.call("pf_messages_read", self.handle, messages, C.c_size_t(len(messages)), None, C.byref(handle))
        answer = C.c_void_p()
        library.call("pf_answer_new", self.handle, C.byref(answer))
        rows, all_codes, bitmaps, counts, coded = [], [], [], [], []
        count = library.c.pf_messages_count(handle)
        for index in range(count):
            name = C.c_void_p()
            library.call("pf_messages_get", handle, C.c_size_t(index), C.byref(name), None, None)
            message = C.string_at(name.value).decode()
            library.c.pf_free(name)
            library.call("pf_decide_at", self.handle, handle, C.c_size_t(index), answer)
            summary = Summary()
            library.call("pf_answer_summary", answer, C.byref(summary))
            codes = (C.c_uint8 * max(1, summary.members))()
            size = C.c_size_t()
            library.call("pf_answer_codes", answer, codes, C.c_size_t(summary.members), C.byref(size))
            codes = list(codes)[:size.value]
            bits = (C.c_uint8 * max(1, (len(codes) + 7) // 8))()
            library.call("pf_answer_push_bitmap", answer, bits, C.c_size_t(len(bits)), C.byref(size))
            bits = list(bits)[:size.value]
            ranks = (C.c_uint32 * max(1, summary.pushes))()
            library.call("pf_answer_push_ranks", answer, ranks, C.c_size_t(summary.pushes), C.byref(size))
            pushed = [rank for rank, code in enumerate(codes) if code & 1]
            expect(list(ranks)[:size.value], pushed, "push ranks")
            expect([r for r in range(len(bits) * 8) if bits[r // 8] >> r % 8 & 1], pushed, "push bitmap")
            members, ids, targets = IDs(), IDs(), Targets()
            library.call("pf_answer_members", answer, C.byref(members))
            library.call("pf_answer_push_ids", answer, C.byref(ids))
            library.call("pf_answer_push_targets", answer, C.byref(targets))
            names = members.texts()
            expect(ids.texts(), [names[rank] for rank in pushed], "ids of pushes")
            expect(targets.users.texts(), ids.texts(), "users of targets")
            devices = targets.devices.texts()
            numbers = (C.c_uint32 * max(1, len(codes)))()
            library.call("pf_answer_users", answer, numbers, C.c_size_t(len(codes)), None)
            found = (C.c_uint32 * 160)()
            library.call("pf_answer_counts", answer, found)
            expect(list(found), [0] + [codes.count(code) for code in range(1, 160)], "counts")
            push = 0
            for rank, code in enumerate(codes):
                if code == 0:
                    continue
                row = {"message": message, "user": names[rank], **library.outcome(code)}
                if code & 1:
                    row["devices"] = devices[targets.starts[push]:targets.starts[push + 1]]
                    push += 1
                rows.append(row)
                coded.append((index, numbers[rank], names[rank], code))
            expect((summary.recipients, summary.pushes), (sum(c != 0 for c in codes), push), "summary")
            all_codes += codes
            bitmaps += bits
            counts += list(found)
            for made in (members, ids):
                library.c.pf_ids_free(C.byref(made))
            library.c.pf_targets_free(C.byref(targets))
        self.compare_batch(handle, count, all_codes, bitmaps, counts)
        self.compare_stream(handle, coded, 0)
        self.compare_stream(handle, coded, ARROW_IDS)
        self.compare_stream(handle, coded, ARROW_ID_VIEWS)
        library.c.pf_answer_free(answer)
        library.c.pf_messages_free(handle)
        return rows

    def compare_batch(self, messages, count, codes, bitmaps, counts):
        batch = C.POINTER(Batch)()
        self.library.call("pf_decide_batch", self.handle, messages, C.c_size_t(0), C.c_size_t(count),
                          C.c_uint32(COUNTS | CODES | BITMAPS), C.byref(batch))
        made = batch.contents
        expect(made.codes[:made.code_starts[count]], codes, "codes of the batch")
        expect(made.bitmaps[:made.bitmap_starts[count]], bitmaps, "bitmaps of the batch")
        expect(made.counts[:160 * count], counts, "counts of the batch")
        self.library.c.pf_batch_free(batch)

    def compare_stream(self, messages, coded, flags):
        relation, stream = C.c_void_p(), Stream()
        self.library.call("pf_relation_new", self.handle, messages, C.c_uint32(flags), C.byref(relation))
        self.library.call("pf_relation_stream", relation, C.byref(stream))
        self.library.c.pf_relation_free(relation)
        found = []
        while True:
            array = Array()
            if stream.get_next(stream, array) != 0:
                raise RuntimeError("the stream failed")
            if not array.release:
                break
            message, user, code = (array.children[i].contents for i in range(3))

            def values(column, buffer, kind, extra=0):
                size = array.length + column.offset + extra
                start = C.cast(column.buffers[buffer], C.POINTER(kind))
                return start[column.offset:size]

            if flags == ARROW_ID_VIEWS:
                users = [view(user, row) for row in range(user.offset, user.offset + array.length)]
            elif flags:
                offsets = values(user, 1, C.c_int64, 1)
                users = [C.string_at(user.buffers[2] + a, b - a).decode() for a, b in zip(offsets, offsets[1:])]
            else:
                users = values(user, 1, C.c_uint32)
            found += zip(values(message, 1, C.c_uint32), users, values(code, 1, C.c_uint8))
            array.release(array)
        stream.release(stream)
        expect(found, [(m, name if flags else number, code) for m, number, name, code in coded], "rows of the stream")


def view(column, row):
    """The text of a view of 16 bytes: its size, and the text or where it is."""
    at = column.buffers[1] + 16 * row
    size, buffer, offset = (C.c_int32.from_address(at + place).value for place in (0, 8, 12))
    return C.string_at(at + 4 if size <= 12 else column.buffers[2 + buffer] + offset, size).decode()


class Different(Exception):
    pass


def expect(found, expected, name):
    if found != expected:
        for index, (left, right) in enumerate(zip(found, expected)):
            if left != right:
                raise Different(f"{name}: {left} instead of {right}, at {index}")
        raise Different(f"{name}: {len(found)} instead of {len(expected)}")


def rows_of(text):
    """Rows without what an answer does not say: the devices of local notifications."""
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        if row["action"] == "local":
            row.pop("devices", None)
    return rows


def world(open_engine, seed, rules):
    """A random world; `open_engine` gives an Engine, or what answers like one, of settings and a
    number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, os.path.join(ORACLE, "fuzz_world.py"), "--out", folder,
                               "--seed", str(seed), "--rules", rules], capture_output=True)
        if made.returncode != 0:
            raise Different(made.stderr.decode())
        files = [f"{folder}/{name}.ndjson" for name in ("settings", "messages")]
        oracle = subprocess.run([sys.executable, os.path.join(ORACLE, "oracle.py"), "evaluate", "--settings",
                                 files[0], "--messages", files[1], "--format", "ndjson", "--devices"],
                                capture_output=True)
        if oracle.returncode != 0 or not oracle.stdout:
            raise Different(f"the oracle: {oracle.stderr.decode()}")
        settings, messages = (open(file, "rb").read() for file in files)
    engine = open_engine(settings, 1 + seed // len(RULES) % 3)
    expect(engine.evaluate(messages, "ndjson", 1).splitlines(), oracle.stdout.splitlines(), "rows")
    expect(engine.rows(messages), rows_of(oracle.stdout), "rows of answers")
    engine.close()


def vector(open_engine, case):
    settings = "".join(json.dumps(record) + "\n" for record in case["settings"]).encode()
    engine = open_engine(settings, 1)
    rows = engine.rows((json.dumps(case["message"]) + "\n").encode())
    expected = case["expect"]
    if len(rows) != 1:
        raise Different(f"{len(rows)} rows")
    names = ("action", "reason", "scope") + (("devices",) if expected.get("devices") and rows[0]["action"] == "push" else ())
    expect([rows[0].get(name) for name in names], [expected.get(name) for name in names], "the row")
    engine.close()


def lines_of(records):
    return "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records).encode()


def requests(open_engine, case):
    """The lines of a case, or that its senders are refused."""
    engine = open_engine(lines_of(case["settings"]), 1)
    given = [lines_of(case.get(name, [])) for name in ("messages", "senders", "templates")]
    try:
        found = engine.requests(*given, case.get("platform", ["apns"]), case.get("share", False))
    except Exception as error:
        if not case.get("refused"):
            raise
        if "senders.ndjson:" not in str(error):
            raise Different(f"the error does not name the senders: {error}") from None
    else:
        if case.get("refused"):
            raise Different("the senders are taken")
        expect(found.splitlines(), lines_of(case["expect"]).splitlines(), "lines")
    engine.close()


def answers(action, case):
    """What a sender does; `action` gives it of a platform, a status and a body."""
    for answer in case["answers"]:
        reason, message = answer.get("reason", ""), answer.get("message", "")
        bodies = [{"reason": reason}] if answer["platform"] == "apns" else [
            {"error": {"status": reason, "message": message}},
            {"error": {"status": "OTHER", "message": message, "details": [{"errorCode": reason}]}}]
        for body in bodies:
            found = action(answer["platform"], answer.get("status"), json.dumps(body).encode())
            if found != answer["action"]:
                raise Different(f"{found} after {answer}")


def request_cases():
    with open(REQUESTS, encoding="utf-8") as file:
        return [case for case in map(json.loads, file) if "frequency" not in case]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--worlds", type=int, default=100, help="random worlds, of all rules in turn")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    library = Library(options.library)

    def open_engine(settings, threads):
        return Engine(library, settings, threads)

    with open(VECTORS, encoding="utf-8") as file:
        jobs = [(f"vector {case['id']}", vector, (open_engine, case)) for case in map(json.loads, file)]
    for case in request_cases():
        job = (requests, (open_engine, case)) if "settings" in case else (answers, (library.action, case))
        jobs.append((f"requests {case['id']}", *job))
    for seed in range(options.first, options.first + options.worlds):
        rules = RULES[seed % len(RULES)]
        jobs.append((f"{rules} world, seed {seed}", world, (open_engine, seed, rules)))
    failed = 0
    for name, check, arguments in jobs:
        try:
            check(*arguments)
        except (Different, RuntimeError) as error:
            failed += 1
            print(f"{name}: {error}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
