#!/usr/bin/env python3
"""Writes the exports of docs/import.md, of a made-up company: mattermost.zip, users.json, zulip.tar.gz."""
import gzip
import io
import json
import pathlib
import tarfile
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
# Monday 2024-06-03, 09:00 in UTC.
START = 1717405200
PEOPLE = ["ann", "ben", "cai", "dee", "eva"]


def line(kind, **fields):
    return json.dumps({"type": kind, kind: fields}, separators=(",", ":"))


def mattermost():
    props = {
        "ann": {"mobile": "mention", "channel": "true", "comments": "never", "mention_keys": "deploy"},
        "ben": {"mobile": "all", "channel": "true", "comments": "never", "mention_keys": ""},
        "cai": {"mobile": "mention", "channel": "false", "comments": "never", "mention_keys": "c++"},
        "dee": {"mobile": "mention", "channel": "true", "comments": "any", "mention_keys": ""},
        "eva": {"mobile": "all", "channel": "true", "comments": "never", "mention_keys": ""},
    }
    channels = {
        "town": {name: {} for name in PEOPLE},
        "ops": {"ann": {"mark_unread": "mention"}, "ben": {}, "dee": {"mobile": "all"}},
    }
    lines = [json.dumps({"type": "version", "version": 1}), line("team", name="acme", type="O")]
    lines += [line("channel", team="acme", name=name, type="O") for name in channels]
    for name in PEOPLE:
        rooms = [
            {"name": room, "notify_props": members[name]}
            for room, members in channels.items() if name in members]
        lines.append(line(
            "user", username=name, delete_at=START if name == "eva" else 0,
            teams=[{"name": "acme", "channels": rooms}], notify_props=props[name]))

    def post(room, minute, author, text, **more):
        lines.append(line(
            "post", team="acme", channel=room, user=author, message=text,
            create_at=(START + 60 * minute) * 1000, props={}, **more))

    post("town", 0, "dee", "Good morning @channel")
    post("town", 5, "ben", "the deploy is at noon")
    post("town", 7, "ben", "@ann can you look? `@cai` is only code")
    reply = {"user": "dee", "message": "I can", "create_at": (START + 600) * 1000, "props": {}}
    post("town", 9, "ben", "who can help?", replies=[reply],
         thread_followers=[{"user": "ben"}, {"user": "dee"}])
    post("ops", 20, "ben", "@here the disk is full")
    post("ops", 21, "ben", "@ann the disk is full")
    for minute in range(30, 60, 5):
        post("ops", minute, "dee", "still full")
    post("town", 70, "eva", "bye", type="system_leave_channel")
    lines.append(line("direct_channel", participants=[{"username": "ann"}, {"username": "ben"}]))
    lines.append(line(
        "direct_post", channel_members=["ann", "ben"], user="ben", message="lunch?",
        create_at=(START + 10800) * 1000, props={}))
    with zipfile.ZipFile(FOLDER / "mattermost.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo("import.jsonl", (2024, 6, 4, 0, 0, 0))
        archive.writestr(entry, "\n".join(lines) + "\n", zipfile.ZIP_DEFLATED)
    users = [
        {"id": f"id-{name}", "username": name, "notify_props": {"push": props[name]["mobile"], "push_threads": "mention"},
         "timezone": {"useAutomaticTimezone": "true", "automaticTimezone": "Europe/Berlin"}}
        for name in PEOPLE if name != "eva"]
    (FOLDER / "users.json").write_text(json.dumps(users, indent=1) + "\n")


def zulip():
    user = {"is_active": True, "is_bot": False, "timezone": "Europe/Berlin",
            "enable_stream_push_notifications": False, "enable_offline_push_notifications": True,
            "wildcard_mentions_notify": True}
    realm = {
        "zerver_userprofile": [
            {**user, "id": 10, "full_name": "Iris"},
            {**user, "id": 11, "full_name": "Juno", "enable_stream_push_notifications": True},
            {**user, "id": 12, "full_name": "Kai"}],
        "zerver_stream": [{"id": 5, "name": "general"}],
        "zerver_recipient": [{"id": 100 + id, "type": 1, "type_id": id} for id in (10, 11, 12)]
        + [{"id": 105, "type": 2, "type_id": 5}],
        "zerver_subscription": [
            {"user_profile": 10, "recipient": 105, "active": True, "is_muted": False},
            {"user_profile": 11, "recipient": 105, "active": True, "is_muted": True},
            {"user_profile": 12, "recipient": 105, "active": True, "is_muted": False,
             "push_notifications": True}],
        "zerver_usertopic": [
            {"user_profile": 11, "stream": 5, "topic_name": "lunch", "visibility_policy": 3}],
        "zerver_muteduser": [{"user_profile": 10, "muted_user": 12}],
        "zerver_alertword": [{"user_profile": 10, "word": "tea"}]}
    texts = [(1, 10, 105, "plans"), (2, 10, 105, "Lunch"), (3, 12, 105, "plans"), (4, 11, 110, "")]
    messages = {
        "zerver_message": [
            {"id": id, "sender": sender, "recipient": recipient, "subject": topic, "content": "…",
             "date_sent": START + 60.5 * id, "last_edit_time": None}
            for id, sender, recipient, topic in texts],
        "zerver_usermessage": [
            {"user_profile": 10, "message": 3, "flags_mask": 8},
            {"user_profile": 11, "message": 3, "flags_mask": 8}]}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, table in (("realm", realm), ("messages-000001", messages)):
            text = (json.dumps(table, indent=2) + "\n").encode()
            entry = tarfile.TarInfo(f"acme-export/{name}.json")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    (FOLDER / "zulip.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))


mattermost()
zulip()
