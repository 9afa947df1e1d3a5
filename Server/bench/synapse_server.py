"""Synapse's push rule evaluator behind a small server on Synapse's own web stack (Twisted).

    synapse_server.py ROOMS PORT

ROOMS is JSON: by room the members with the rules that a client of theirs would have written for the
instant of all messages. A POST of a message is answered with who gets a push.
"""
import json
import sys

from synapse.synapse_rust.push import PushRuleEvaluator
from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import Site
from with_synapse import POWER, ROOM, _rule_sets


class Decide(Resource):
    isLeaf = True

    def __init__(self, rooms):
        super().__init__()
        sets = _rule_sets()
        self.rooms = {
            room: [(user, sets[name]) for user, name in members.items()] for room, members in rooms.items()}

    def render_POST(self, request):
        message = json.loads(request.content.read())
        members = self.rooms[message["conversation"]]
        sender = message["sender"]
        event = {"type": "m.room.message", "room_id": ROOM, "sender": sender, "content.msgtype": "m.text",
                 "content.body": "hello"}
        if message.get("mentions"):
            event["content.m\\.mentions.user_ids"] = message["mentions"]
        evaluator = PushRuleEvaluator(
            event, has_mentions=True, room_member_count=len(members), sender_power_level=POWER,
            notification_power_levels={"room": 50}, related_events_flattened={},
            related_event_match_enabled=True, room_version_feature_flags=[], msc3931_enabled=False,
            msc4210_enabled=False, msc4306_enabled=False)
        push = [user for user, rules in members
                if user != sender and "notify" in evaluator.run(rules, user, None, None)]
        request.setHeader(b"Content-Type", b"application/json")
        return json.dumps({"message": message["id"], "push": push}, separators=(",", ":")).encode()


def main(rooms, port):
    with open(rooms) as file:
        site = Site(Decide(json.load(file)))
    reactor.listenTCP(int(port), site, interface="127.0.0.1")
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
