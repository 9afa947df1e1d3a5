"""Worlds of the open rules with one defect, or with what is odd and taken: fuzz_bad.py --rules open.

The first cases spoil a line of a random world; the others are those of Tests/ConformanceTests among
records of other names: open-refused.ndjson, and open-cases.ndjson, whose worlds are all taken.
"""
import json
import os
import random

import fuzz_open

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'ConformanceTests')
KINDS = ('app', 'user', 'conversation', 'member', 'message')



def spoilt(change):
    return lambda line, r: change(line, r).encode('utf-8')


LINES = [
    ('not JSON: cut', spoilt(lambda s, r: s[:-1])),
    ('not JSON: text after the object', spoilt(lambda s, r: s + r.choice([' x', '}', ',', ' {}', 'null']))),
    ('not JSON: trailing comma', spoilt(lambda s, r: s[:-1] + ',}')),
    ('not an object: array', spoilt(lambda s, r: '[' + s + ']')),
    ('not an object: scalar', spoilt(lambda s, r: r.choice(['5', '"app"', 'true', 'null']))),
    ('unknown field', spoilt(lambda s, r: s[:-1] + ', "nonsense": 1}')),
    ('unknown field of a vendor', spoilt(lambda s, r: s[:-1] + r.choice([', "channels": {}}', ', "quietHours": {}}', ', "ext": {}}']))),
    ('repeated key', spoilt(lambda s, r: s[:-1] + ', ' + s[1:s.index(',')] + '}')),
    ('repeated key, null the first time', spoilt(lambda s, r: '{' + s[1:s.index(':')] + ': null, ' + s[1:])),
    ('NaN', spoilt(lambda s, r: s[:-1] + ', "nonsense": NaN}')),
    ('invalid UTF-8', lambda s, r: s.encode('utf-8')[:-1] + b',"\xc3":null}'),
    ('unpaired surrogate', spoilt(lambda s, r: s[:-1] + ', "nonsense\\ud800": null}')),
]
HARMLESS = [
    ('blanks around', spoilt(lambda s, r: ' \t' + s + ' \r')),
    ('blank lines', spoilt(lambda s, r: '\n \n' + s + '\n\r\n\t')),
    ('an unknown field that is null', spoilt(lambda s, r: s[:-1] + ', "nonsense": null}')),
]


def read(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def all_cases():
    """[(what, kind of the line or None, change or case)]"""
    found = [('%s: %s' % (kind, what), kind, change) for kind in KINDS for what, change in LINES]
    found += [('ok: %s: %s' % (kind, what), kind, change) for kind in KINDS for what, change in HARMLESS]
    found += [('%s %s' % (case['rule'], case['note']), None, case) for case in read('open-refused.ndjson')]
    found += [('ok: ' + case['rule'], None, case) for case in read('open-cases.ndjson')]
    return found


_cases = []


def cases():
    if not _cases:
        _cases.extend(all_cases())
    return _cases


def file(records, spoil=None, r=None):
    """The bytes, and the line on which each record stands; spoil = (index, change)."""
    out, places = b'', []
    for index, record in enumerate(records):
        while r and r.random() < .08:
            out += r.choice([b'\n', b'  \n', b'\r\n'])
        raw = json.dumps(record, ensure_ascii=False).encode('utf-8')
        if spoil and spoil[0] == index:
            raw = spoil[1](json.dumps(record, ensure_ascii=False), r)
        places.append(out.count(b'\n') + 1 + raw[:len(raw) - len(raw.lstrip(b'\n \r\t'))].count(b'\n'))
        out += raw + b'\n'
    return out, places


def others(r, seed):
    """Records and messages of a random world under names that no case has."""
    world = fuzz_open.Open('bad-%d' % seed)

    def renamed(o, *fields):
        return {k: ('z' + v if k in fields and isinstance(v, str) else v) for k, v in o.items()}
    records = [renamed(o, 'id', 'conversation', 'user', 'parent') for o in world.recs if o['kind'] != 'app']
    return world.app, records, [renamed(m, 'conversation') for m in world.msgs[:8]]


def mixed(r, first, second):
    """Both lists in one, each in its own order, and where the records of the first are."""
    places = sorted(r.sample(range(len(first) + len(second)), len(first)))
    rest, out = iter(second), []
    mine = iter(first)
    for index in range(len(first) + len(second)):
        out.append(next(mine) if index in places else next(rest))
    return out, places


def build(seed, debatable=False):
    """(settings, messages, expectation)"""
    r = random.Random('bad-open-%d' % seed)
    what, kind, case = cases()[seed % len(cases())]
    app, records, messages = others(r, seed)
    expect = {'ok': True} if what.startswith('ok') else {}
    expect.update(what=what, rules='open')
    if kind is not None:
        records.insert(r.randint(0, len(records)), app)
        target = records if kind != 'message' else messages
        index = r.choice([i for i, o in enumerate(target) if o.get('kind', 'message') == kind])
        s, settings_lines = file(records, (index, case) if target is records else None, r)
        m, message_lines = file(messages, (index, case) if target is messages else None, r)
        if 'ok' not in expect:
            expect.update(file='settings.ndjson' if target is records else 'messages.ndjson',
                          line=(settings_lines if target is records else message_lines)[index])
        return s, m, expect
    mine = case['settings']
    together, places = mixed(r, mine, records)
    s, lines = file(together, None, r)
    own = [case['message']] if 'message' in case else []
    messages, message_places = mixed(r, own, messages)
    m, message_lines = file(messages, None, r)
    if 'ok' not in expect:
        if own:
            expect.update(file='messages.ndjson', line=message_lines[message_places[0]])
        else:
            expect.update(file='settings.ndjson', line=lines[places[-1]])
    return s, m, expect
