"""The evaluator of the open rules against the files of Tests/ConformanceTests.

python3 -m unittest discover -s Tests/Oracle
"""
import json
import os
import random
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import fuzz_open
import open_changes
import open_oracle
import oracle

CASES = os.path.join(HERE, '..', 'ConformanceTests')


def cases(name):
    with open(os.path.join(CASES, name), encoding='utf-8') as file:
        return [json.loads(line) for line in file]


class OpenRules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def load(self, records):
        path = os.path.join(self.folder.name, 'settings.ndjson')
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(json.dumps(record) + '\n' for record in records)
        return oracle.load([path])

    def answers(self, name, count):
        found = cases(name)
        self.assertEqual(len(found), count)
        for case in found:
            with self.subTest(case=case['id'], rule=case['rule']):
                world, expect = self.load(case['settings']), case['expect']
                rows = oracle.decide(world, oracle.read_message(world, case['message']))
                self.assertEqual(len(rows), 1)
                _, action, reason, scope, devices = rows[0]
                self.assertEqual((action, reason, scope), (expect['action'], expect['reason'], expect.get('scope')))
                self.assertEqual(devices, expect.get('devices', devices))

    def test_published_vectors(self):
        self.answers('open-vectors.ndjson', 60)

    def test_cases(self):
        self.answers('open-cases.ndjson', 521)

    def test_refused(self):
        found = cases('open-refused.ndjson')
        self.assertEqual(len(found), 289)
        for case in found:
            with self.subTest(case['note']):
                records = case['settings']
                if 'message' in case:
                    world = self.load(records)
                    with self.assertRaises(oracle.Bad):
                        oracle.read_message(world, case['message'])
                    continue
                self.load(records[:-1] if len(records) > 1 else [{'kind': 'app', 'rules': 'open'}])
                with self.assertRaises(oracle.FileError) as caught:
                    self.load(records)
                self.assertEqual(caught.exception.line, len(records), caught.exception)

    def test_who_is_not_a_recipient(self):
        """§5 step 1, since, O-21: no row for these, and one for the message that differs in what is named."""
        group = [{'kind': 'app', 'rules': 'open'}, {'kind': 'conversation', 'id': 'c1'},
                 {'kind': 'member', 'conversation': 'c1', 'user': 'u1', 'since': 1000}]
        thread = {'kind': 'conversation', 'id': 't1', 'type': 'thread', 'parent': 'c1'}
        orphan = {'kind': 'conversation', 'id': 't1', 'type': 'thread'}
        everyone = {'id': 'm1', 'mentionsAll': True, 'mentions': ['u1'], 'at': 1000}
        for rows, note, extra, more in (
                (1, 'a member', [], {'conversation': 'c1', 'sender': 'u2'}),
                (0, 'the sender', [], {'conversation': 'c1', 'sender': 'u1'}),
                (1, 'a sender in another case', [], {'conversation': 'c1', 'sender': 'U1'}),
                (1, 'a system message', [], {'conversation': 'c1'}),
                (0, 'before since', [], {'conversation': 'c1', 'at': 999}),
                (0, 'an unknown conversation', [], {'conversation': 'c2'}),
                (1, 'a member of the parent', [thread], {'conversation': 't1'}),
                (0, 'the sender in a thread', [thread], {'conversation': 't1', 'sender': 'u1'}),
                (0, 'before the since of the parent', [thread], {'conversation': 't1', 'at': 999}),
                (0, 'a thread without a parent', [orphan], {'conversation': 't1'}),
                (0, 'the sender in a room', [{'kind': 'conversation', 'id': 'c1', 'type': 'room'}],
                 {'conversation': 'c1', 'sender': 'u1'})):
            with self.subTest(note):
                world = self.load(group + extra)
                message = oracle.read_message(world, {**everyone, **more})
                self.assertEqual(len(oracle.decide(world, message)), rows)

    def test_next_changes(self):
        found = cases('open-changes.ndjson')
        self.assertEqual(len(found), 80)
        for case in found:
            with self.subTest(case['note']):
                world = self.load(case['settings'])
                self.assertEqual(
                    open_changes.next_change(world, case['user'], case['conversation'], case['at'], case.get('classes')),
                    case['next'])

    def test_next_changes_of_random_worlds(self):
        """Until the next change all messages of the base class have one answer, and there another."""
        r, changes = random.Random(43), 0
        for seed in range(12):
            made = fuzz_open.Open(seed)
            for record in made.recs:
                record.pop('devices', None)     # one offline device with a token
            world = self.load(made.recs)

            def answer(cid, uid, at):
                rows = oracle.decide(world, {'id': 'm', 'conversation': cid, 'at': at})
                return next((row[1:4] for row in rows if row[0] == uid), None)
            for _ in range(15):
                cid = r.choice([c for c in made.type if made.members.get(c)])
                uid, at = r.choice(made.members[cid]), made.instant_near()
                following = open_changes.next_change(world, uid, cid, at)
                now, last = answer(cid, uid, at), min(2**53 - 1, at + 40 * 86400000)
                with self.subTest(seed=seed, conversation=cid, user=uid, at=at, next=following):
                    if following is not None:
                        changes += 1
                        self.assertLess(at, following)
                        self.assertNotEqual(answer(cid, uid, following), now)
                        last = following - 1
                    samples = [at + (last - at) * n // 60 for n in range(61)]
                    samples += [min(last, at + n * 600000 + r.randint(0, 599999)) for n in range(60)]
                    self.assertEqual({answer(cid, uid, x) for x in samples}, {now})
        self.assertGreater(changes, 25)

    def test_presence(self):
        found = cases('open-presence.ndjson')
        self.assertEqual(len(found), 27)
        for case in found:
            with self.subTest(case['note']):
                world, refused = self.load(case['settings']), None
                for number, line in enumerate(case['presence'], 1):
                    try:
                        open_oracle.heartbeat(world, line)
                    except oracle.Bad:
                        refused = number
                        break
                self.assertEqual(refused, case.get('refused'))
                if refused is None:
                    connected = [d['id'] for d in open_oracle.devices_of(world, case['user'])
                                 if open_oracle.connected(world, d, case['at'])]
                    self.assertEqual(connected, case['connected'])


if __name__ == '__main__':
    unittest.main()
