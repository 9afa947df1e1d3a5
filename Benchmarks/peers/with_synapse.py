"""Synapse's push rules, evaluated member by member as its bulk evaluator does."""
import json

import numpy as np
from synapse.synapse_rust.push import (
    FilteredPushRules,
    PushRule,
    PushRuleEvaluator,
    PushRules,
    get_base_rule_ids,
)

from world import BLOCKED, MENTION, UNSET, pushes_of

ROOM = "!group:example.org"
OVERRIDE, ROOM_RULE = 5, 3  # priority classes
POWER = 100
MASTER = "global/override/.m.rule.master"


def _user_id(user):
    return f"@u{user}:example.org"


def _rules(own=(), enabled=None):
    return FilteredPushRules(
        PushRules(list(own)),
        enabled or {},
        msc1767_enabled=False,
        msc3381_polls_enabled=False,
        msc3664_enabled=False,
        msc4028_push_encrypted_events=False,
        msc4075_enabled=False,
        msc4210_enabled=False,
        msc4306_enabled=False,
    )


def _rule_sets():
    """What clients write for each level. Actions of [] notify nobody."""
    in_room = json.dumps([{"kind": "event_match", "key": "room_id", "pattern": ROOM}])
    muted_room = PushRule.from_db(f"global/override/{ROOM}", OVERRIDE, in_room, "[]")
    mentions_only = PushRule.from_db(f"global/room/{ROOM}", ROOM_RULE, in_room, "[]")
    unmentioned = [rule for rule in get_base_rule_ids() if rule.startswith("global/underride/")]
    return {
        "all": _rules(),
        "mention": _rules([mentions_only]),
        "none": _rules([muted_room]),
        "app mention": _rules(enabled=dict.fromkeys(unmentioned, False)),
        "nothing": _rules(enabled={MASTER: True}),
    }


class Synapse:
    def __init__(self, world, threads=1):
        self.world = world

    def prepare(self, group):
        self.group = group
        self.user_ids = [_user_id(user) for user in group.users]

    def ready(self, message):
        """Gives each member the rules a server would have stored for it at this instant."""
        world, users = self.world, self.group.users
        start, end, minute = world.quiet_start[users], world.quiet_end[users], message.minute
        quiet = ((start <= minute) & (minute < end)) | (minute + 1440 < end)
        stopped = (quiet | (world.muted_until[users] > message.at)) & (not message.force)
        level, app_level = self.group.levels, world.levels[users]
        inherits = level == UNSET
        names = np.select(
            [
                stopped | (inherits & (app_level == BLOCKED)),
                level == BLOCKED,
                level == MENTION,
                inherits & (app_level == MENTION),
            ],
            ["nothing", "none", "mention", "app mention"],
            "all",
        )
        sets = _rule_sets()
        self.rules_by_user = {
            user_id: sets[name] for user_id, name in zip(self.user_ids, names, strict=True)
        }

    def decide(self, message):
        sender = _user_id(message.sender)
        evaluator = self._evaluator(message, sender)
        actions_by_user = {}
        for user_id, rules in self.rules_by_user.items():
            if user_id == sender:
                continue
            actions = evaluator.run(rules, user_id, None, None)
            if "notify" in actions:
                actions_by_user[user_id] = actions
        return actions_by_user

    def counts(self, actions_by_user):
        return pushes_of({"push/": len(actions_by_user)})

    def _evaluator(self, message, sender):
        event = {
            "type": "m.room.message",
            "room_id": ROOM,
            "sender": sender,
            "content.msgtype": "m.text",
            "content.body": "hello",
        }
        if message.mentions:
            event["content.m\\.mentions.user_ids"] = [_user_id(user) for user in message.mentions]
        if message.everyone:
            event["content.m\\.mentions.room"] = True
        return PushRuleEvaluator(
            event,
            has_mentions=True,
            room_member_count=self.group.members,
            sender_power_level=POWER,
            notification_power_levels={"room": 50},
            related_events_flattened={},
            related_event_match_enabled=True,
            room_version_feature_flags=[],
            msc3931_enabled=False,
            msc4210_enabled=False,
            msc4306_enabled=False,
        )
