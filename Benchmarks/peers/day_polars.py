"""Polars deciding a day: messages joined with memberships, which hold their users' settings."""
import numpy as np
import polars as pl

from day_world import (
    LEVELS, MINUTES_OF_DAY, NOT_MENTIONED, OF_MEMBER, OF_USER, OUTCOMES, QUIET, WHEN_MENTIONED,
    offsets,
)

# What a join may make at a time: some 40 bytes a row.
ROWS_AT_A_TIME = 1 << 24


def _csv(path, schema):
    return pl.read_csv(path, schema=schema)


def _level(column):
    return (
        pl.col(column).replace_strict(LEVELS, default=0, return_dtype=pl.UInt8).fill_null(0)
    )


def _minutes(column):
    parts = pl.col(column).str.split_exact(":", 1)
    return (
        parts.struct.field("field_0").cast(pl.Int32) * 60
        + parts.struct.field("field_1").cast(pl.Int32)
    )


def _is_awake():
    minute, start, end = pl.col("minute"), pl.col("quiet_start"), pl.col("quiet_end")
    return ~(((start <= minute) & (minute < end)) | (minute + MINUTES_OF_DAY < end))


def _recipients(rows):
    return rows.filter(
        (pl.col("member") != pl.col("sender")) & (pl.col("since") <= pl.col("at"))
    )


class PolarsDay:
    def __init__(self, world, threads):
        if pl.thread_pool_size() != threads:
            raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads, not {threads}")
        self.world = world

    def load(self):
        messages = _csv(self.world.messages, {
            "at": pl.Int64, "conversation": pl.String, "sender": pl.String,
            "mentions": pl.String, "mentionsAll": pl.UInt8,
        }).with_row_index("message")
        self.count = len(messages)
        users = self._users(messages["at"].min(), messages["at"].max())
        self.memberships, conversations = self._memberships(users)
        numbers = users.select("id", "member")
        messages = (
            messages.lazy()
            .join(conversations.lazy(), left_on="conversation", right_on="id")
            .join(numbers.lazy(), left_on="sender", right_on="id", how="left")
            .select(
                "message", "at", pl.col("number").alias("conversation"), "members", "start",
                pl.col("member").fill_null(0).alias("sender"),
                (pl.col("at") // 60_000 % MINUTES_OF_DAY).cast(pl.UInt16).alias("minute"),
                (pl.col("mentionsAll").fill_null(0) == 1).alias("everyone"), "mentions",
            )
            .sort("conversation", "message").collect()
        )
        self.named = (
            messages.lazy().filter(pl.col("mentions").is_not_null())
            .with_columns(pl.col("mentions").str.split(";")).explode("mentions")
            .join(numbers.lazy(), left_on="mentions", right_on="id")
            .unique(["message", "member"]).collect()
        )
        self.messages = messages.drop("mentions")

    def _users(self, first, last):
        """Numbers begin with 1. Without a window, its start and end are 0, as in with_polars.py."""
        users = _csv(self.world.users, {
            "id": pl.String, "level": pl.String, "quietStart": pl.String,
            "quietEnd": pl.String, "timeZone": pl.String,
        }).with_row_index("member", 1).with_columns(
            pl.col("timeZone").fill_null(self.world.time_zone)
        )
        zones = users["timeZone"].unique().to_list()
        minutes = pl.DataFrame(
            {"timeZone": zones, "minutes": offsets(zones, first, last)},
            schema_overrides={"minutes": pl.Int32},
        )
        start, end = pl.col("first"), pl.col("past")
        is_set = ((start != 0) | (end != 0)).fill_null(False)
        moved = (start - pl.col("minutes")) % MINUTES_OF_DAY
        span = pl.when(start == end).then(MINUTES_OF_DAY).otherwise((end - start) % MINUTES_OF_DAY)
        return (
            users.lazy().join(minutes.lazy(), on="timeZone")
            .with_columns(first=_minutes("quietStart"), past=_minutes("quietEnd"))
            .select(
                "id", "member", _level("level").alias("user_level"),
                pl.when(is_set).then(moved).otherwise(0).cast(pl.UInt16).alias("quiet_start"),
                pl.when(is_set).then(moved + span).otherwise(0).cast(pl.UInt16)
                .alias("quiet_end"),
            ).collect()
        )

    def _memberships(self, users):
        """Memberships sorted by conversation, and where those of each begin."""
        given = _csv(self.world.members, {
            "conversation": pl.String, "user": pl.String, "level": pl.String, "since": pl.Int64,
        })
        conversations = (
            given.lazy().group_by("conversation").agg(pl.len().alias("members"))
            .with_row_index("number")
            .with_columns((pl.col("members").cum_sum() - pl.col("members")).alias("start"))
            .rename({"conversation": "id"}).collect()
        )
        inherited = pl.col("user_level").replace_strict(OF_USER, return_dtype=pl.UInt8)
        outcome = pl.col("own").replace_strict(
            OF_MEMBER, default=inherited, return_dtype=pl.UInt8)
        memberships = (
            given.lazy()
            .join(users.lazy(), left_on="user", right_on="id")
            .join(conversations.lazy(), left_on="conversation", right_on="id")
            .with_columns(own=_level("level"))
            .select(
                pl.col("number").alias("conversation"), "member", "quiet_start", "quiet_end",
                outcome.alias("outcome"), pl.col("since").fill_null(0),
            )
            .sort("conversation").collect()
        )
        return memberships, conversations

    def decide(self):
        """How many members of each message have each outcome: a row a message."""
        counts = np.zeros(self.count * len(OUTCOMES), np.int64)
        for messages, memberships in self._batches():
            found = self._decide(messages, memberships)
            counts[found["key"].to_numpy()] = found["members"].to_numpy()
        self._move_named(counts)
        return counts.reshape(self.count, len(OUTCOMES))

    def _move_named(self, counts):
        """Counts the members again whom mentions name."""
        named = self._decide_named()
        keys, members = named["key"].to_numpy(), named["members"].to_numpy()
        counts[keys] -= members
        counts[keys + WHEN_MENTIONED] += members

    def _batches(self):
        """Messages in the order of conversations, with the memberships of those."""
        sizes = self.messages["members"].to_numpy().astype(np.int64)
        batch = np.cumsum(sizes) // ROWS_AT_A_TIME
        edges = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(sizes)]
        starts = self.messages["start"]
        for low, high in zip(edges, edges[1:], strict=False):
            start = starts[low]
            end = starts[high - 1] + int(sizes[high - 1])
            yield self.messages[low:high], self.memberships[start:end]

    def _decide(self, messages, memberships):
        """Every member of the conversations, for every message."""
        outcome = pl.col("outcome")
        decided = (
            pl.when(~_is_awake()).then(pl.lit(QUIET, pl.UInt8))
            .when(pl.col("everyone") & outcome.is_in(NOT_MENTIONED)).then(outcome + WHEN_MENTIONED)
            .otherwise(outcome)
        )
        messages = messages.lazy().drop("members", "start")
        rows = memberships.lazy().join(messages, on="conversation")
        return self._counts(_recipients(rows), decided).collect(engine="streaming")

    def _decide_named(self):
        rows = self.memberships.lazy().join(self.named.lazy(), on=["conversation", "member"])
        outcome = pl.col("outcome")
        is_changed = _is_awake() & outcome.is_in(NOT_MENTIONED) & ~pl.col("everyone")
        return self._counts(_recipients(rows).filter(is_changed), outcome).collect()

    @staticmethod
    def _counts(rows, outcome):
        """Members by message and outcome; the key is the place of the number in the answers."""
        key = pl.col("message") * len(OUTCOMES) + outcome
        return rows.group_by(key.alias("key")).agg(pl.len().alias("members"))
