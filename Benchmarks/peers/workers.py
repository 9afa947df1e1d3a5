"""Each contestant in a process of its own, which stays alive and answers over a pipe."""
import math
import multiprocessing
import os
import statistics
import time
import traceback

import numpy as np

from world import World, pushes_of

# A fast contestant decides more than once in a turn.
TURN_SECONDS = 0.05
MOST_COLD, MOST_WARM = 10, 500
# More than the processor's caches hold.
SWEPT_BYTES = 128 << 20


class PeerError(Exception):
    """What is told to the caller, who cannot go on."""


class Rounds:
    """One contestant deciding one world: checks first, then takes its turns."""

    def __init__(self, contestant, folder):
        self.contestant = contestant
        self.world = World(folder)
        self.peer = contestant.make(self.world)
        self._swept = np.zeros(SWEPT_BYTES // 8, np.int64)

    def prepare(self, case):
        self.group = self.world.group(case)
        self.peer.prepare(self.group)

    def ready(self, kind):
        """Compares the counts and finds out how often a turn repeats."""
        self.message = self.world.message(self.group, kind)
        self.peer.ready(self.message)
        self._check(self.peer.decide(self.message))
        self.repetitions = math.ceil(TURN_SECONDS / self._seconds(1)[0])

    def turn(self):
        """Seconds a message, with cold and with warm caches.

        What was decided last is counted again, off the clock.
        """
        cold = []
        for _ in range(min(self.repetitions, MOST_COLD)):
            self._swept += 1
            cold.append(self._seconds(1)[0])
        warm, decided = self._seconds(min(self.repetitions, MOST_WARM))
        self._check(decided)
        return statistics.mean(cold), warm

    def _seconds(self, repetitions):
        decided = None
        start = time.perf_counter()
        for _ in range(repetitions):
            decided = self.peer.decide(self.message)
        return (time.perf_counter() - start) / repetitions, decided

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
