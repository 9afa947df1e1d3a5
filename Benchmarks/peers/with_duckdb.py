"""DuckDB: members joined with users, a CASE that holds the rules."""
import duckdb
import numpy as np

from world import (
    ALLOWED,
    BLOCKED,
    FORCED,
    KINDS,
    LEVEL_NONE,
    MENTION,
    MUTED,
    NO_RECIPIENT,
    NOT_MENTIONED,
    QUIET,
    counts_of,
)

MINUTE, AT, SENDER, MENTIONS = "$1::USMALLINT", "$2::BIGINT", "$3::UINTEGER", "$4::UINTEGER[]"


def _query(kind, source):
    """The outcome of every member for a kind of message, as a statement with parameters."""
    quiet = f"(quiet_start <= {MINUTE} AND {MINUTE} < quiet_end OR {MINUTE} + 1440 < quiet_end)"
    muted = f"muted_until > {AT}"
    inherits = "level = 0"
    rules = [(f"member = {SENDER}", NO_RECIPIENT)]
    if kind != "forced":
        rules += [(quiet, QUIET), (muted, MUTED)]
    rules += [
        (f"level = {BLOCKED}", LEVEL_NONE),
        (f"{inherits} AND app_level = {BLOCKED}", LEVEL_NONE + 1),
    ]
    if kind != "all":
        unnamed = f" AND NOT list_contains({MENTIONS}, member)" if kind == "user" else ""
        rules += [
            (f"level = {MENTION}{unnamed}", NOT_MENTIONED),
            (f"{inherits} AND app_level = {MENTION}{unnamed}", NOT_MENTIONED + 1),
        ]
    cases = "\n".join(f"WHEN {condition} THEN {outcome}" for condition, outcome in rules)
    first = f"CASE WHEN {quiet} OR {muted} THEN {FORCED} ELSE {ALLOWED} END"
    scope = "CASE WHEN level <> 0 THEN 0 WHEN app_level <> 0 THEN 1 ELSE 2 END"
    return f"""
        SELECT member, (CASE {cases}
        ELSE {scope} + {first if kind == "forced" else ALLOWED} END)::UTINYINT AS outcome
        FROM {source}"""


class DuckDBJoin:
    """Two tables, joined for every message."""

    source = "members LEFT JOIN users ON user_number = member"

    def __init__(self, world, threads):
        self.world = world
        self.connection = duckdb.connect(
            config={"threads": threads, "preserve_insertion_order": False}
        )
        self._load_users()

    def _load_users(self):
        numbers = np.arange(self.world.user_count, dtype=np.uint32)
        self._create("users", {"user_number": numbers, **self._user_columns(slice(None))})

    def _user_columns(self, users):
        return {
            "app_level": self.world.levels[users],
            "muted_until": self.world.muted_until[users],
            "quiet_start": self.world.quiet_start[users],
            "quiet_end": self.world.quiet_end[users],
        }

    def _member_columns(self, group):
        return {"member": group.users, "level": group.levels}

    def _create(self, table, columns):
        self.connection.register("given", columns)
        self.connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM given")
        self.connection.unregister("given")

    def prepare(self, group):
        self._create("members", self._member_columns(group))
        for kind in KINDS:
            self.connection.execute(f"PREPARE {kind}_message AS {_query(kind, self.source)}")

    def ready(self, message):
        """What is done once a minute or once a kind of message, not timed."""

    def decide(self, message):
        values = [message.minute, message.at, message.sender]
        if message.kind == "user":
            values.append(list(message.mentions))
        values = ", ".join(map(str, values))
        return self.connection.execute(f"EXECUTE {message.kind}_message({values})").fetchnumpy()

    def counts(self, decided):
        return counts_of(decided["outcome"])


class DuckDBDenormalised(DuckDBJoin):
    """One table: the user's columns are copied to each membership."""

    source = "members"

    def _load_users(self):
        pass

    def _member_columns(self, group):
        return {**super()._member_columns(group), **self._user_columns(group.users)}
