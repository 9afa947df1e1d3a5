"""The evaluator of the open rules against the files of Tests/ConformanceTests.

python3 -m unittest discover -s Tests/Oracle
"""
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

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
        self.answers('open-cases.ndjson', 446)

    def test_refused(self):
        found = cases('open-refused.ndjson')
        self.assertEqual(len(found), 285)
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

    def test_next_changes(self):
        found = cases('open-changes.ndjson')
        self.assertEqual(len(found), 72)
        for case in found:
            with self.subTest(case['note']):
                world = self.load(case['settings'])
                self.assertEqual(
                    open_changes.next_change(world, case['user'], case['conversation'], case['at'], case.get('classes')),
                    case['next'])

    def test_presence(self):
        found = cases('open-presence.ndjson')
        self.assertEqual(len(found), 25)
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
