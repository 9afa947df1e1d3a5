"""PostgreSQL with the settings in tables, and the decision as a query: what users have today.

Ids are numbers, which is the best case for its indexes. A cluster of its own in a temporary folder,
on loopback, stopped at the end.
"""
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from clients import CLIENT_CORES, SERVER_CORE, BenchError, pgbench

BIN = pathlib.Path("/usr/lib/postgresql/15/bin")

# What generate writes has neither devices nor force: E-21 to E-36 and E-20, E-40 to E-47 in SQL.
SCHEMA = """
create table users (id integer primary key, level text, quiet_start text, quiet_end text, zone text not null);
create table members (conversation integer not null, user_id integer not null, level text, since bigint);
create table messages (number serial primary key, id text not null, conversation integer not null,
  sender integer not null, at bigint not null, mentions integer[] not null);
"""
PREPARE = """
alter table users add column starts smallint, add column ends smallint;
update users set starts = split_part(quiet_start, ':', 1)::int * 60 + split_part(quiet_start, ':', 2)::int,
  ends = split_part(quiet_end, ':', 1)::int * 60 + split_part(quiet_end, ':', 2)::int where quiet_start <> '';
alter table users drop column quiet_start, drop column quiet_end;
create index on members (conversation) include (user_id, level, since);
alter table members add primary key (user_id, conversation);
vacuum (full, analyze) users;
vacuum (analyze) members;
"""
DECISIONS = """
select outcome, count(*) from (
  select case
    when inside then 'none/quietHours/app'
    when level = 'none' then 'none/levelNone/' || scope
    when level = 'mention' and not mentioned then 'none/notMentioned/' || scope
    else 'push/allowed/' || scope end as outcome
  from (
    select coalesce(member.level, person.level, 'all') as level,
      case when member.level is not null then 'conversation' when person.level is not null then 'app'
        else 'default' end as scope,
      member.user_id = any(message.mentions) as mentioned,
      coalesce(case
        when person.starts = 0 and person.ends = 0 then false
        when person.starts = person.ends then true
        when person.starts < person.ends then clock.minute >= person.starts and clock.minute < person.ends
        else clock.minute >= person.starts or clock.minute < person.ends end, false) as inside
    from messages message
    join members member on member.conversation = message.conversation
    join users person on person.id = member.user_id
    cross join lateral (
      select (extract(epoch from (to_timestamp(message.at / 1000) at time zone person.zone)::time) / 60)::int as minute
        where person.starts is not null
      union all select 0 where person.starts is null) clock
    where message.number = {number} and member.user_id <> message.sender
      and (member.since is null or member.since <= message.at)
  ) member_state
) decided group by outcome
"""


class Postgres:
    """A cluster that lives as long as the block."""

    def __init__(self, world):
        self.world = world

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="push-fanout-postgres-"))
        shutil.chown(self.folder, "postgres", "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.connection = ["--host", "127.0.0.1", "--port", str(port), "--username", "postgres"]
        data = self.folder / "data"
        self._as_postgres(BIN / "initdb", "--pgdata", data, "--auth", "trust", "--no-sync")
        settings = {
            "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": self.folder,
            "shared_buffers": "2GB", "work_mem": "64MB", "max_connections": 100, "jit": "off",
            "max_wal_size": "4GB", "random_page_cost": 1.1}
        command = ["taskset", "-c", SERVER_CORE, "runuser", "-u", "postgres", "--", BIN / "postgres", "-D", data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.log = open(self.folder / "log", "w")
        self.server = subprocess.Popen([str(each) for each in command], stdout=self.log, stderr=self.log)
        for _ in range(300):
            if subprocess.run([BIN / "pg_isready", *self.connection], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        self._load()
        return self

    def __exit__(self, *_):
        self._as_postgres(BIN / "pg_ctl", "stop", "--pgdata", self.folder / "data", "--mode", "fast", "--silent")
        self.server.wait(60)
        self.log.close()
        shutil.rmtree(self.folder)

    @staticmethod
    def _as_postgres(*command):
        subprocess.run(["runuser", "-u", "postgres", "--", *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def sql(self, text):
        done = subprocess.run(
            [BIN / "psql", *self.connection, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
             "--set", "ON_ERROR_STOP=1", "postgres"], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"psql: {done.stderr}")
        return done.stdout.splitlines()

    def _load(self):
        self.sql(SCHEMA)
        folder = self.world.folder
        # Ids become numbers: u17 is 17.
        for table, columns, script in [
            ("users", "id, level, quiet_start, quiet_end, zone",
             r"""BEGIN{FS=OFS=","} NR>1{sub(/^u/,"",$1); if ($5=="") $5="UTC"; print}"""),
            ("members", "conversation, user_id, level, since",
             r"""BEGIN{FS=OFS=","} NR>1{sub(/^c/,"",$1); sub(/^u/,"",$2); print}"""),
        ]:
            with subprocess.Popen(["awk", script, folder / f"{table}.csv"], stdout=subprocess.PIPE) as rows:
                copy = f"copy {table} ({columns}) from stdin with (format csv, force_null (level{', since' if table == 'members' else ''}))"
                done = subprocess.run([BIN / "psql", *self.connection, "--quiet", "--command", copy, "postgres"],
                                      stdin=rows.stdout, capture_output=True, text=True)
            if done.returncode != 0:
                raise BenchError(f"copy of {table}: {done.stderr}")
        self.sql(PREPARE)

    def ask(self, messages):
        """The messages that the queries decide, instead of those before."""
        self.sql("truncate messages restart identity")
        rows = ["copy messages (id, conversation, sender, at, mentions) from stdin;"]
        for each in messages:
            mentions = ",".join(user[1:] for user in each.get("mentions", []))
            rows.append("\t".join([each["id"], each["conversation"][1:], each["sender"][1:], str(each["at"]), "{%s}" % mentions]))
        self.sql("\n".join(rows) + "\n\\.\nanalyze messages;\n")
        self.count = len(messages)

    def counts(self, limit):
        """What the query says of the first messages, as evaluate says it."""
        ids = self.sql(f"select id from messages order by number limit {limit}")
        queries = "".join(
            "select json_object_agg(outcome, count) from (" + DECISIONS.format(number=number) + ") found;\n"
            for number in range(1, len(ids) + 1))
        return {name: json.loads(line) if line else {} for name, line in zip(ids, self.sql(queries), strict=True)}

    def decisions(self, clients, seconds):
        script = self.folder / "decide.sql"
        script.write_text(f"\\set number random(1, {self.count})\n" + DECISIONS.format(number=":number").strip() + ";\n")
        return pgbench(BIN / "pgbench", self.connection, script, clients=clients, seconds=seconds)

    def writes(self, clients, seconds):
        """Durable single writes: the level of a user in a conversation."""
        script = self.folder / "write.sql"
        script.write_text(
            f"\\set number random(1, {self.count})\n"
            "update members set level = 'mention' from messages message where message.number = :number "
            "and members.conversation = message.conversation and members.user_id = message.sender;\n")
        return pgbench(BIN / "pgbench", self.connection, script, clients=clients, seconds=seconds)
