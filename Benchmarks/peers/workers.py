"""Each contestant in a process of its own, which stays alive and answers over a pipe."""
import math
import multiprocessing
import os
import time
import traceback

from world import World, pushes_of

# A turn of a fast contestant is a repetition, so that the clock's steps do not matter.
TURN_SECONDS = 0.05
MOST_REPETITIONS = 500


class PeerError(Exception):
    """What is told to the caller, who cannot go on."""


class Rounds:
    """One contestant deciding one world: checks first, then takes its turns."""

    def __init__(self, contestant, folder):
        self.contestant = contestant
        self.world = World(folder)
        self.peer = contestant.make(self.world)

    def prepare(self, case):
        self.group = self.world.group(case)
        self.peer.prepare(self.group)

    def ready(self, kind):
        """Compares the counts and finds out how often a turn repeats."""
        self.message = self.world.message(self.group, kind)
        self.peer.ready(self.message)
        self._check(self.peer.decide(self.message))
        start = time.perf_counter()
        self.peer.decide(self.message)
        taken = time.perf_counter() - start
        self.repetitions = min(MOST_REPETITIONS, math.ceil(TURN_SECONDS / taken))

    def turn(self):
        """Seconds a message; what was decided last is checked again, off the clock."""
        decided = None
        start = time.perf_counter()
        for _ in range(self.repetitions):
            decided = self.peer.decide(self.message)
        taken = time.perf_counter() - start
        self._check(decided)
        return taken / self.repetitions

    def _check(self, decided):
        expected = self.group.counts[self.message.kind]
        if self.contestant.pushes_only:
            expected = pushes_of(expected)
        found = self.peer.counts(decided)
        if found == expected:
            return
        lines = [
            f"  {key}: expected {expected.get(key, 0)}, got {found.get(key, 0)}"
            for key in sorted(expected.keys() | found.keys())
            if expected.get(key, 0) != found.get(key, 0)
        ]
        case = case_name(self.group.case, self.message.kind)
        raise PeerError("\n".join([f"{self.contestant.name}, {case}: wrong counts", *lines]))


def case_name(case, kind):
    return case if kind == "plain" else f"{case}-{kind}"


def _serve(pipe, contestant, folder):
    try:
        rounds = Rounds(contestant, folder)
        pipe.send((True, None))
        while (request := pipe.recv()) is not None:
            name, *arguments = request
            pipe.send((True, getattr(rounds, name)(*arguments)))
    except PeerError as error:
        pipe.send((False, str(error)))
    except (EOFError, KeyboardInterrupt):
        pass
    except Exception:
        pipe.send((False, f"{contestant.name}: {traceback.format_exc()}"))


class Worker:
    def __init__(self, contestant, folder):
        self.contestant = contestant
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(other, contestant, folder), daemon=True
        )
        before = dict(os.environ)
        os.environ.update(contestant.environment)
        try:
            self._process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        other.close()
        self._answer()

    def ask(self, *request):
        self._pipe.send(request)
        return self._answer()

    def stop(self):
        try:
            self._pipe.send(None)
        except OSError:
            pass  # it ended with an error
        self._process.join()

    def _answer(self):
        try:
            is_right, answer = self._pipe.recv()
        except EOFError:
            raise PeerError(f"{self.contestant.name}: its process ended") from None
        if not is_right:
            raise PeerError(answer)
        return answer
