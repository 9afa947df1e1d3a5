"""Polars: members joined with users, a chain of when and then that holds the rules."""
import numpy as np
import polars as pl

from world import (
    ALLOWED,
    BLOCKED,
    FORCED,
    LEVEL_NONE,
    MENTION,
    MUTED,
    NOT_MENTIONED,
    QUIET,
    UNSET,
    counts_of,
)

LEVEL, APP_LEVEL = pl.col("level"), pl.col("app_level")
START, END = pl.col("quiet_start"), pl.col("quiet_end")


def _code(number):
    return pl.lit(number, dtype=pl.UInt8)


def _by_scope(first):
    """The outcome by where the deciding level lives."""
    return (
        pl.when(LEVEL != UNSET).then(_code(first))
        .when(APP_LEVEL != UNSET).then(_code(first + 1))
        .otherwise(_code(first + 2))
    )


def _outcome(message):
    minute = message.minute
    quiet = ((START <= minute) & (minute < END)) | (minute + 1440 < END)
    muted = pl.col("muted_until") > message.at
    inherits = LEVEL == UNSET
    rules = []
    if not message.force:
        rules += [(quiet, QUIET), (muted, MUTED)]
    rules += [
        (LEVEL == BLOCKED, LEVEL_NONE),
        (inherits & (APP_LEVEL == BLOCKED), LEVEL_NONE + 1),
    ]
    if not message.everyone:
        unnamed = ~pl.col("user").is_in(message.mentions) if message.mentions else pl.lit(True)
        rules += [
            ((LEVEL == MENTION) & unnamed, NOT_MENTIONED),
            (inherits & (APP_LEVEL == MENTION) & unnamed, NOT_MENTIONED + 1),
        ]
    chain = pl
    for condition, code in rules:
        chain = chain.when(condition).then(_code(code))
    if message.force:
        chain = chain.when(quiet | muted).then(_by_scope(FORCED))
    return chain.otherwise(_by_scope(ALLOWED))


class PolarsJoin:
    """Two frames, both known to be sorted by user, joined for every message."""

    def __init__(self, world, threads):
        if pl.thread_pool_size() != threads:
            raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads, not {threads}")
        self.world = world
        self._load_users()

    def _load_users(self):
        numbers = np.arange(self.world.user_count, dtype=np.uint32)
        self.users = self._frame({"user": numbers, **self._user_columns(slice(None))})

    def _user_columns(self, users):
        return {
            "app_level": self.world.levels[users],
            "muted_until": self.world.muted_until[users],
            "quiet_start": self.world.quiet_start[users],
            "quiet_end": self.world.quiet_end[users],
        }

    def _frame(self, columns):
        return pl.DataFrame(columns).with_columns(pl.col("user").set_sorted())

    def prepare(self, group):
        self.members = self._frame({"user": group.users, "level": group.levels})

    def ready(self, message):
        """What is done once a minute or once a kind of message, not timed."""

    def _rows(self, recipients):
        return recipients.join(self.users.lazy(), on="user", how="left")

    def decide(self, message):
        recipients = self.members.lazy().filter(pl.col("user") != message.sender)
        return self._rows(recipients).select("user", outcome=_outcome(message)).collect(
            engine="in-memory"  # faster here than the streaming one
        )

    def counts(self, decided):
        return counts_of(decided["outcome"].to_numpy())


class PolarsDenormalised(PolarsJoin):
    """One frame: the user's columns are copied to each membership."""

    def _load_users(self):
        pass

    def prepare(self, group):
        columns = {"user": group.users, "level": group.levels, **self._user_columns(group.users)}
        self.members = self._frame(columns)

    def _rows(self, recipients):
        return recipients
