#!/usr/bin/env python3
"""Random requests against the schemas of docs/, and against each other.

python3 Tests/Oracle/request_lines.py .build-tests/debug/push-fanout --cases 2000 --first 0

A case is a message. Each line must have the form that its schema says, a body of at most 4,096 bytes and a
problem or none that the exit status agrees with. On one thread and on several, the bytes are the same; with
bodies shared, the requests are. The published cases are checked too.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
# Letters of one to four bytes, signs that JSON escapes, and characters of several code points.
LETTERS = ['a', 'Z', '0', ' ', '"', '\\', '\n', '\t', '\x01', 'é', 'ß', 'Ω', 'Ж', 'א', 'م', 'ह', 'ไ', '한', '漢', '。',
           'e\u0301', '🙂', '👩‍👧', '🇩🇪', 'क्षि', '\u200d', '\u2028', '\ufeff']
PER_WORLD = 40


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(',', ':'))


def schema(platform):
    with open(os.path.join(ROOT, 'docs', 'request-%s.schema.json' % platform), encoding='utf-8') as file:
        document = json.load(file)
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


SCHEMAS = {platform: schema(platform) for platform in ('apns', 'fcm')}


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.easemob = self.random.random() < .5
        self.kinds = {}

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *values):
        return self.random.choice(values)

    def text(self, longest):
        count = self.random.choice([0, 1, 5, 40, longest])
        return ''.join(self.random.choices(LETTERS, k=self.random.randint(0, count)))

    def some(self, fields):
        """About half of the fields; those without a value are left out."""
        return {k: v() for k, v in fields.items() if self.chance(.5)}

    def id(self, letter, number):
        return letter + str(number) + self.pick('', '', '', '"', 'é', '/' * 70)

    def settings(self):
        yield {'kind': 'app', 'rules': 'easemob' if self.easemob else 'rongcloud'}
        self.users = [self.id('u', n) for n in range(6)]
        for user in self.users:
            record = {'kind': 'user', 'id': user}
            if self.chance(.9):
                record['devices'] = [self.device(n) for n in range(self.random.randint(0, 4))]
            if self.chance(.8):
                record['display'] = self.some({
                    'name': lambda: self.text(30), 'style': lambda: self.pick('simpleBanner', 'messageSummary'),
                    'offlineMessages': lambda: self.pick(0, 1, 3, 2**31 - 1)})
            if self.chance(.3):
                record['remarks'] = {self.pick(*self.users): self.text(30) for _ in range(2)}
            yield record
        kinds = ('group', 'private') if self.easemob else (
            'group', 'private', 'discussion', 'customerService', 'system', 'ultraGroup')
        for number in range(5):
            name, kind = self.id('g', number), self.pick(*kinds)
            if self.chance(.05):
                name = name * 60
            self.kinds[name] = kind
            yield {'kind': 'conversation', 'id': name, 'type': kind, **self.some({'name': lambda: self.text(20) or 'n'})}
            for user in self.users:
                member = {'kind': 'member', 'conversation': name, 'user': user}
                if self.easemob and self.chance(.2):
                    member['mutedUntil'] = 2**50
                yield member

    def device(self, number):
        platform = self.pick('apns', 'fcm', None)
        token = self.pick('ab' * self.random.randint(1, 100), 'abc', True, 'dK3:"\\x', 'f' * 200)
        return {k: v for k, v in {
            'id': self.id('d', number), 'platform': platform, 'token': token, 'notifier': self.pick('n', 'm', None),
            'fid': self.pick('f"1', None, None), 'state': self.pick('offline', 'offline', 'loggedOut', 'kicked')
        }.items() if v is not None}

    def senders(self):
        common = {'ttl': lambda: self.pick(0, 1, 60, 2592000), 'priority': lambda: self.pick('high', 'normal'),
                  'collapse': lambda: self.pick('message', 'conversation', 'none'),
                  'commands': lambda: self.pick('alert', 'background')}
        levels = ('passive', 'active', 'time-sensitive', 'critical')
        flag = lambda: self.pick(True, False)
        choice = lambda *values: lambda: self.pick(*values)
        short = lambda: self.text(40)[:40] or 'x'
        own = {
            'apns': {**common, 'environment': choice('production', 'sandbox'), 'ids': flag, 'target': flag,
                     'thread': choice('message', 'conversation'), 'relevance': flag, 'level': choice(*levels),
                     'mentionLevel': choice(*levels), 'forcedLevel': choice(*levels)},
            'fcm': {**common, 'style': choice('notification', 'data'), 'channel': short, 'icon': short,
                    'clickAction': short, 'package': short, 'color': choice('#12aBef')}}
        if not self.easemob:
            own['apns']['category'] = choice('message', 'messageType')
        for platform in ('apns', 'fcm'):
            for notifier in (None, 'n', 'm'):
                if self.chance(.7):
                    record = {'kind': 'sender', 'platform': platform, **self.some(own[platform])}
                    record['topic' if platform == 'apns' else 'project'] = 'com.example'
                    if notifier:
                        record['notifier'] = notifier
                    yield record
        yield {'kind': 'sender', 'platform': 'apns', 'topic': 't', 'notifier': 'rest'}

    def message(self, number):
        at = 1717416000000 + self.random.randint(0, 10**6)
        record = {'id': self.id('m', number), 'conversation': self.pick(*self.kinds), 'at': at,
                  'body': self.pick('text', 'text', 'command', 'custom')}
        record.update(self.some({'sender': lambda: self.pick(*self.users), 'text': lambda: self.text(3000),
                                 'mentions': lambda: [self.pick(*self.users)], 'mentionsAll': lambda: self.chance(.3),
                                 'sentAt': lambda: at - self.pick(0, 1, 59999, 60000, -5000)}))
        text = lambda longest: lambda: self.pick(self.text(longest), self.text(10), 1)
        if self.easemob:
            record['force'] = self.chance(.3)
            record['ext'] = self.some({
                'em_apns_ext': lambda: self.some({
                    'em_push_title': text(4000), 'em_push_content': text(4000), 'em_alert_subTitle': text(1000),
                    'em_push_badge': lambda: self.pick(0, 7), 'em_push_sound': text(2000),
                    'em_push_category': text(2000), 'thread_id': text(2000), 'em_push_mutable_content': lambda: True,
                    'extern': lambda: {'k': self.text(500)}, 'em_push_collapse_key': text(90)}),
                'em_push_ext': lambda: self.some({
                    'title': text(2000), 'content': text(4000),
                    'custom': lambda: self.pick(self.text(500), 5, {'k': [self.text(50)]})}),
                'em_android_push_ext': lambda: self.some({
                    'fcm_channel_id': text(60), 'fcm_options': lambda: {'analytics_label': self.pick('a_b', 'ä', '')}})})
        else:
            record.update(self.some({
                'pushContent': lambda: self.text(4000), 'pushTitle': lambda: self.text(2000),
                'pushData': lambda: self.text(2000), 'objectName': lambda: self.text(20),
                'mentionedContent': lambda: self.text(100), 'channel': lambda: self.text(5),
                'disablePushTitle': lambda: True, 'forceShowDetailContent': lambda: True,
                'iOSConfig': lambda: self.some({
                    'threadId': text(3000), 'category': text(3000), 'apnsCollapseId': text(90),
                    'richMediaUri': text(300), 'interruptionLevel': lambda: self.pick('passive', 'loud', 1)}),
                'androidConfig': lambda: self.some({
                    'fcmChannelId': text(60), 'fcmCollapseKey': text(60), 'fcmImageUrl': text(1500)})}))
        return record


def run(program, folder, *options):
    command = [program, 'render', '--settings', folder + '/settings.ndjson', '--senders',
               folder + '/senders.ndjson', '--messages', folder + '/messages.ndjson', *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


def parsed(done):
    return [json.loads(line) for line in done.stdout.split('\n') if line]


def body_of(line):
    """The body without an address, as it is measured."""
    body = line['body']
    if 'message' in body:
        body = {k: v for k, v in body['message'].items() if k not in ('token', 'fid')}
    return body


def check(line):
    platforms = [line['platform']] if 'platform' in line else [
        'fcm' if 'message' in line.get('body', {}) else 'apns']
    for platform in platforms:
        errors = list(SCHEMAS[platform].iter_errors(line))
        assert not errors, '%s\n%s' % (compact(line)[:2000], errors[0])
    if 'body' in line:
        size = len(compact(body_of(line)).encode())
        assert size <= 4096, '%d bytes: %s' % (size, compact(line)[:2000])


def unshared(lines):
    """The requests of lines that share bodies (S-12)."""
    bodies, last = {}, None
    for line in lines:
        if 'bodyId' not in line:
            yield line
        elif 'body' in line:
            assert line['bodyId'] == len(bodies)
            bodies[line['bodyId']] = line['body']
        else:
            body = bodies[line.pop('bodyId')]
            address = {k: line.pop(k) for k in ('fid', 'token') if k in line}
            if address:
                body = {'message': {**address, **body['message']}}
            problem = line.pop('problem', None)
            line['body'] = body
            if problem:
                line['problem'] = problem
            yield line


def check_world(program, seed, count):
    world = World(seed)
    with tempfile.TemporaryDirectory() as folder:
        for name, records in (('settings', world.settings()), ('senders', world.senders()),
                              ('messages', (world.message(n) for n in range(count)))):
            with open('%s/%s.ndjson' % (folder, name), 'w', encoding='utf-8') as file:
                file.writelines(compact(record) + '\n' for record in records)
        both = ('--platform', 'apns', 'fcm')
        one = run(program, folder, *both, '--threads', '1')
        many = run(program, folder, *both, '--threads', str(world.random.randint(2, 16)))
        assert (one.stdout, one.returncode) == (many.stdout, many.returncode), 'threads differ'
        lines = parsed(one)
        for line in lines:
            check(line)
        assert one.returncode == int(any('problem' in line for line in lines))
        shared = parsed(run(program, folder, *both, '--share-bodies'))
        for line in shared:
            check(line)
        # Compared as text, by which the order of names counts.
        assert [compact(line) for line in unshared(shared)] == [compact(line) for line in lines], 'shared bodies differ'
        for platform in both[1:]:
            alone = parsed(run(program, folder, '--platform', platform))
            assert alone == [line for line in lines if line.get('platform', platform) == platform]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--cases', type=int, default=2000)
    parser.add_argument('--first', type=int, default=0)
    options = parser.parse_args()
    with open(os.path.join(HERE, '..', 'ConformanceTests', 'request-vectors.ndjson'), encoding='utf-8') as file:
        published = [line for case in map(json.loads, file) for line in case.get('expect', [])]
    for line in published:
        check(line)
    requests, problems = 0, {}
    for number in range(-(-options.cases // PER_WORLD)):
        seed = options.first + number
        try:
            lines = check_world(options.program, seed, min(PER_WORLD, options.cases - number * PER_WORLD))
        except AssertionError as error:
            sys.exit('world %d: %s' % (seed, error))
        requests += len(lines)
        for line in lines:
            problems[line.get('problem')] = problems.get(line.get('problem'), 0) + 1
    missing = {None, 'noSender', 'badToken', 'payloadTooLarge'} - set(problems)
    assert options.cases < 2000 or not missing, 'no request with %s' % missing
    print('%d cases, %d requests, all as the schemas say; %d published lines' % (
        options.cases, requests, len(published)))


if __name__ == '__main__':
    main()
