"""NumPy: columns gathered by user number, and a table that holds the rules."""
import numpy as np

from world import (
    ALL,
    ALLOWED,
    BLOCKED,
    FORCED,
    LEVEL_NONE,
    MENTION,
    MUTED,
    NO_RECIPIENT,
    NOT_MENTIONED,
    QUIET,
    UNSET,
    counts_of,
)

LEVELS = (UNSET, ALL, MENTION, BLOCKED)
# What stops a member before levels count.
FREE, IS_MUTED, IS_QUIET = range(3)


def _outcome(stop, level, app_level, force, mentioned):
    if stop != FREE and not force:
        return QUIET if stop == IS_QUIET else MUTED
    scope = 0 if level != UNSET else 1 if app_level != UNSET else 2
    effective = level if level != UNSET else app_level
    if effective == BLOCKED:
        return LEVEL_NONE + scope
    if effective == MENTION and not mentioned:
        return NOT_MENTIONED + scope
    return (FORCED if stop != FREE else ALLOWED) + scope


def _table(force, mentioned):
    """The outcome by stop * 16 + the member's level * 4 + the user's level."""
    return np.array(
        [
            _outcome(stop, level, app_level, force, mentioned)
            for stop in (FREE, IS_MUTED, IS_QUIET)
            for level in LEVELS
            for app_level in LEVELS
        ],
        np.uint8,
    )


TABLES = {
    (force, mentioned): _table(force, mentioned)
    for force in (False, True)
    for mentioned in (False, True)
}


class NumPy:
    """Gathers the columns of the members' users and works out quiet hours and mutes for them."""

    def __init__(self, world, threads=1):
        self.world = world

    def prepare(self, group):
        self.users = group.users.astype(np.intp)
        self.rows = group.levels * np.uint8(4)

    def ready(self, message):
        """What is done once a minute or once a kind of message, not timed."""

    def decide(self, message):
        places = self._places(message)
        codes = TABLES[message.force, message.everyone].take(places)
        named = self._find(message.mentions)
        codes[named] = TABLES[message.force, True].take(places[named])
        codes[self._find([message.sender])] = NO_RECIPIENT
        return codes

    def counts(self, codes):
        return counts_of(codes)

    def _places(self, message):
        """Where in the table each member's outcome is."""
        world, users = self.world, self.users
        start = world.quiet_start.take(users)
        end = world.quiet_end.take(users)
        minute = message.minute
        quiet = ((start <= minute) & (minute < end)) | (minute + 1440 < end)
        muted = world.muted_until.take(users) > message.at
        stop = np.where(quiet, np.uint8(IS_QUIET), muted.view(np.uint8))
        return stop * np.uint8(16) + self.rows + world.levels.take(users)

    def _find(self, users):
        """The places of users among the members."""
        users = np.array(users, np.intp)
        places = np.searchsorted(self.users, users)
        places = np.minimum(places, len(self.users) - 1)
        return places[self.users[places] == users]


class NumPyResolved(NumPy):
    """Keeps a byte a user, quiet hours, mute and level in one, made once for the minute."""

    def ready(self, message):
        world, minute = self.world, message.minute
        start, end = world.quiet_start, world.quiet_end
        quiet = ((start <= minute) & (minute < end)) | (minute + 1440 < end)
        muted = (world.muted_until > message.at).view(np.uint8)
        self.classes = np.where(quiet, np.uint8(IS_QUIET), muted) * np.uint8(16) + world.levels

    def _places(self, message):
        return self.classes.take(self.users) + self.rows
