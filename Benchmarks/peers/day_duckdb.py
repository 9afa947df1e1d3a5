"""DuckDB deciding a day: messages joined with memberships, which hold their users' settings."""
import duckdb
import numpy as np

from day_world import (
    LEVELS, NOT_MENTIONED, OF_MEMBER, OF_USER, OUTCOMES, QUIET, WHEN_MENTIONED, offsets,
)

LEVEL = "CASE {} " + " ".join(f"WHEN '{name}' THEN {code}" for name, code in LEVELS.items())
LEVEL += " ELSE 0 END::UTINYINT"

OUTCOME = "CASE own " + " ".join(f"WHEN {level} THEN {code}" for level, code in OF_MEMBER.items())
OUTCOME += " ELSE CASE users.level " + " ".join(
    f"WHEN {level} THEN {code}" for level, code in OF_USER.items()) + " END END::UTINYINT"


def _minutes(column):
    return f"(split_part({column}, ':', 1)::INTEGER * 60 + split_part({column}, ':', 2)::INTEGER)"


def _csv(path, **types):
    types = ", ".join(f"'{name}': '{type_}'" for name, type_ in types.items())
    return f"read_csv('{path}', header = true, columns = {{{types}}}, auto_detect = false)"


# As in with_duckdb.py, a window [start, end) of UTC has a start before 1440 and an end of up to
# 2880; without one (E-32: 0:0 to 0:0 is none) both are 0.
USERS = """
    CREATE TABLE users AS
    WITH given AS (
      SELECT row_number() OVER ()::UINTEGER AS number, id, {level} AS level,
        {start} AS first, {end} AS past, coalesce(timeZone, '{zone}') AS zone FROM {file}
    ), moved AS (
      SELECT number, id, level, (first - minutes + 2880) % 1440 AS start,
        coalesce(first <> 0 OR past <> 0, false) AS is_set,
        CASE WHEN first = past THEN 1440 ELSE (past - first + 1440) % 1440 END AS span
      FROM given JOIN offsets USING (zone)
    )
    SELECT number, id, level, CASE WHEN is_set THEN start ELSE 0 END::USMALLINT AS quiet_start,
      CASE WHEN is_set THEN start + span ELSE 0 END::USMALLINT AS quiet_end FROM moved"""

# In 8 shares of users, so that threads share the members of a busy conversation.
MEMBERSHIPS = """
    CREATE TABLE memberships AS
    SELECT conversations.number AS conversation, users.number AS member, quiet_start, quiet_end,
      {outcome} AS outcome, since
    FROM (SELECT conversation, user, {level} AS own, coalesce(since, 0) AS since FROM {file}) given
    JOIN users ON users.id = given.user
    JOIN conversations ON conversations.id = given.conversation
    ORDER BY member % 8, conversation"""

MESSAGES = """
    CREATE TABLE messages AS
    SELECT given.number - 1 AS message, sent_at, (sent_at // 60000 % 1440)::USMALLINT AS minute,
      conversations.number AS conversation, coalesce(users.number, 0)::UINTEGER AS sender,
      coalesce(mentionsAll, 0) = 1 AS everyone, mentions
    FROM (SELECT row_number() OVER () AS number, * FROM given_messages) given
    JOIN conversations ON conversations.id = given.conversation
    LEFT JOIN users ON users.id = given.sender"""

NAMED = """
    CREATE TABLE named AS
    SELECT DISTINCT messages.*, users.number AS member
    FROM (SELECT message, unnest(string_split(mentions, ';')) AS id FROM messages
          WHERE mentions IS NOT NULL) given
    JOIN messages USING (message) JOIN users ON users.id = given.id"""

IS_RECIPIENT = "member <> sender AND since <= sent_at"
IS_AWAKE = "NOT (quiet_start <= minute AND minute < quiet_end OR minute + 1440 < quiet_end)"

IS_CHANGED = f"{IS_AWAKE} AND outcome IN {NOT_MENTIONED}"

# Every member of every message's conversation is decided. Then those who are named.
DECIDE = f"""
    SELECT message, CASE WHEN NOT ({IS_AWAKE}) THEN {QUIET}
        WHEN everyone AND outcome IN {NOT_MENTIONED} THEN outcome + {WHEN_MENTIONED}
        ELSE outcome END AS decided, count(*) AS members
    FROM memberships JOIN messages USING (conversation) WHERE {IS_RECIPIENT}
    GROUP BY message, decided"""
DECIDE_NAMED = f"""
    SELECT message, outcome, count(*) AS members
    FROM memberships JOIN named USING (conversation, member)
    WHERE {IS_RECIPIENT} AND {IS_CHANGED} AND NOT everyone GROUP BY message, outcome"""


class DuckDBDay:
    def __init__(self, world, threads):
        self.world = world
        self.connection = duckdb.connect(config={
            "threads": threads, "preserve_insertion_order": False, "memory_limit": "8GB",
        })

    def load(self):
        world, run = self.world, self.connection.execute
        run("SET preserve_insertion_order = true")  # numbers of messages are those of their rows
        given = _csv(world.messages, sent_at="BIGINT", conversation="VARCHAR", sender="VARCHAR",
                     mentions="VARCHAR", mentionsAll="UTINYINT")
        run(f"CREATE TABLE given_messages AS SELECT * FROM {given}")
        run("SET preserve_insertion_order = false")
        self.count, first, last = run(
            "SELECT count(*), min(sent_at), max(sent_at) FROM given_messages").fetchone()
        users = _csv(world.users, id="VARCHAR", level="VARCHAR", quietStart="VARCHAR",
                     quietEnd="VARCHAR", timeZone="VARCHAR")
        members = _csv(world.members, conversation="VARCHAR", user="VARCHAR", level="VARCHAR",
                       since="BIGINT")
        zones = [row[0] for row in run(
            f"SELECT DISTINCT coalesce(timeZone, '{world.time_zone}') FROM {users}").fetchall()]
        run("CREATE TABLE offsets (zone VARCHAR, minutes INTEGER)")
        self.connection.executemany(
            "INSERT INTO offsets VALUES (?, ?)",
            list(zip(zones, offsets(zones, first, last), strict=True)))
        run(USERS.format(level=LEVEL.format("level"), start=_minutes("quietStart"),
                         end=_minutes("quietEnd"), zone=world.time_zone, file=users))
        run(f"CREATE TABLE given_members AS SELECT * FROM {members}")
        run("CREATE TABLE conversations AS SELECT row_number() OVER ()::UINTEGER AS number, id "
            "FROM (SELECT DISTINCT conversation AS id FROM given_members)")
        run("SET preserve_insertion_order = true")
        run(MEMBERSHIPS.format(level=LEVEL.format("level"), outcome=OUTCOME, file="given_members"))
        run("SET preserve_insertion_order = false")
        run("DROP TABLE given_members")
        run(MESSAGES)
        run(NAMED)

    def decide(self):
        """How many members of each message have each outcome: a row a message."""
        counts = np.zeros((self.count, len(OUTCOMES)), np.int64)
        found = self.connection.execute(DECIDE).fetchnumpy()
        counts[found["message"], found["decided"]] = found["members"]
        named = self.connection.execute(DECIDE_NAMED).fetchnumpy()
        counts[named["message"], named["outcome"]] -= named["members"]
        counts[named["message"], named["outcome"] + WHEN_MENTIONED] += named["members"]
        return counts
