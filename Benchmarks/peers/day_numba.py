"""Numba deciding a day: Polars loads it, and a compiled loop goes over the members of each message."""
import numba
import numpy as np

from day_polars import PolarsDay
from day_world import MINUTES_OF_DAY, NOT_MENTIONED, OUTCOMES, QUIET, WHEN_MENTIONED

# Members at a time, whose outcomes stay in the cache while they are counted.
AT_A_TIME = 4096
NO_RECIPIENT = len(OUTCOMES)


@numba.njit(parallel=True, cache=True)
def _count(message, at, start, members, sender, minute, everyone,
           member, first, past, outcome, since, threads, at_a_time, counts):
    # Each thread takes messages by turns, as those of the large conversations stand in a row.
    for thread in numba.prange(threads):
        found = np.empty(at_a_time, np.uint8)
        for row in range(thread, len(message), threads):
            now, moment, who = at[row], minute[row], sender[row]
            own = counts[message[row]]
            for low in range(start[row], start[row] + members[row], at_a_time):
                count = min(start[row] + members[row] - low, at_a_time)
                for index in range(count):
                    place = low + index
                    is_quiet = ((first[place] <= moment) & (moment < past[place])) | (
                        moment + MINUTES_OF_DAY < past[place])
                    decided = np.uint8(QUIET) if is_quiet else outcome[place]
                    is_out = (since[place] > now) | (member[place] == who)
                    found[index] = np.uint8(NO_RECIPIENT) if is_out else decided
                # A pass for each outcome compares many members in one instruction.
                for number in range(len(OUTCOMES)):
                    equal = 0
                    for index in range(count):
                        equal += found[index] == number
                    own[number] += equal
            if everyone[row]:
                for number in NOT_MENTIONED:
                    own[number + WHEN_MENTIONED] += own[number]
                    own[number] = 0


class NumbaDay(PolarsDay):
    def __init__(self, world, threads):
        super().__init__(world, threads)
        numba.set_num_threads(threads)
        self.threads = threads

    def load(self):
        super().load()
        self.columns = [
            self.memberships[name].to_numpy()
            for name in ("member", "quiet_start", "quiet_end", "outcome", "since")
        ]

    def decide(self):
        """How many members of each message have each outcome: a row a message."""
        counts = np.zeros((self.count, len(OUTCOMES)), np.int64)
        messages = [
            self.messages[name].to_numpy()
            for name in ("message", "at", "start", "members", "sender", "minute", "everyone")
        ]
        _count(*messages, *self.columns, self.threads, AT_A_TIME, counts)
        self._move_named(counts.reshape(-1))
        return counts
