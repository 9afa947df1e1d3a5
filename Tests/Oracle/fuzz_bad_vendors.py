"""Small worlds of the two vendors' rules with one of the defects of fuzz_bad_cases.py."""
import json
import random

from fuzz_bad_cases import B, CASES, E, R, Raw


def cases(debatable):
    return [c for c in CASES if debatable or not c[5]]


def build(seed, debatable=False):
    chosen = cases(debatable)
    rules, where, what, fn, ok, deb = chosen[seed % len(chosen)]
    r = random.Random('bad-%d' % seed)
    if rules == B:
        rules = r.choice((E, R))
    e = rules == E
    base = 1717387200000
    app = {'kind': 'app', 'rules': rules, 'timeZone': r.choice(['Asia/Shanghai', 'UTC']), 'options': {}}
    users, convs, mems = [], [], []
    for i in range(1, 5):
        u = {'kind': 'user', 'id': 'u%d' % i, 'devices': [{'id': 'p%d' % j, 'state': r.choice(['offline', 'foreground'])} for j in range(r.randint(1, 3))]}
        if r.random() < .4:
            u['quietHours'] = {'start': '8:00', 'end': '10:00'} if e else {'start': '08:00:00', 'spanMinutes': 60, 'level': 'none'}
        users.append(u)
    tag = {}
    for cid in ('g0', 'g1', 'p0', 'r0') + (('t0', 't1') if e else ('ug', 'ug2')):
        c = {'kind': 'conversation', 'id': cid, 'type': {'g': 'group', 'p': 'private', 'r': 'room', 't': 'thread', 'u': 'ultraGroup'}[cid[0]]}
        if cid[0] == 't':
            c['parent'] = 'g1'
        if cid[0] == 'u':
            c['channels'] = {'c2': 'mention'}
        tag[id(c)] = {'t': 'thread', 'u': 'ultra', 'g': 'conv'}.get(cid[0], 'other')
        if cid == 'g0':
            tag[id(c)] = 'other'     # parent of threads keeps its shape
        convs.append(c)
    # only g2/g3 are patched as plain conversations, so that nothing else depends on them
    for c in convs:
        if c['id'] == 'g1':
            tag[id(c)] = 'other'
    for cid in ('g2', 'g3'):
        c = {'kind': 'conversation', 'id': cid, 'type': 'group'}
        tag[id(c)] = 'conv'
        convs.append(c)
    for c in convs + [{'id': 'gm'}]:
        for i in range(1, 4):
            m = {'kind': 'member', 'conversation': c['id'], 'user': 'u%d' % i}
            if r.random() < .3:
                m['level'] = r.choice(['none', 'mention', 'default'])
            tag[id(m)] = 'tmember' if c['id'][0] == 't' else 'umember' if c['id'][0] == 'u' else 'member'
            if c['id'] in ('g0', 'g1', 'gm'):
                tag[id(m)] = 'other'     # threads lean on them
            elif c['id'] == 'g2' and i < 3:
                pass
            mems.append(m)
    recs = users + convs + mems
    if r.random() < .5:
        r.shuffle(recs)
    recs.insert(r.choice([0, 0, len(recs), r.randint(0, len(recs))]), app)
    msgs = []
    for i in range(8):
        m = {'id': 'm%d' % i, 'conversation': r.choice(['g0', 'g1', 'p0', 'g2']), 'sender': 'u1', 'at': base + i * 1000}
        if r.random() < .4:
            m['mentions'] = ['u2']
        msgs.append(m)
    if where == 'msg':
        target = r.choice(msgs)
    elif where == 'app':
        target = app
    elif where == 'user':
        target = r.choice(users)
    else:
        target = r.choice([x for x in convs + mems if tag[id(x)] == where])
    file = 'messages.ndjson' if where == 'msg' else 'settings.ndjson'

    def text(xs, mark):
        out, hit, n = b'', None, 1
        for o in xs:
            while r.random() < .08:
                out += r.choice([b'\n', b'  \n', b'\r\n'])
                n += 1
            if o is mark and fn:
                keep = json.loads(json.dumps(o))
                new = fn(keep, r)
                b = new if isinstance(new, bytes) else (new if isinstance(new, Raw) else json.dumps(new, ensure_ascii=r.random() < .5)).encode()
                lead = len(b) - len(b.lstrip(b'\n \r\t'))
                hit = n + b[:lead].count(b'\n')
            else:
                b = json.dumps(o, ensure_ascii=False).encode()
            out += b + b'\n'
            n += b.count(b'\n') + 1
        return out, hit
    if what == 'a second app':
        second = dict(app) if r.random() < .5 else {'kind': 'app'}
        if r.random() < .3:
            second['rules'] = R if e else E
        a = recs.index(app)
        at = r.randint(a + 1, len(recs))
        recs.insert(at, second)
        target = second
        s, hit = text(recs, None)
        # the later of the two app lines
        lines = s.split(b'\n')
        hit = max(i for i, l in enumerate(lines, 1) if b'"kind": "app"' in l)
        m, _ = text(msgs, None)
    elif what == 'BOM on the first line':
        s, _ = text(recs, None)
        m, _ = text(msgs, None)
        s, m = s.lstrip(), m.lstrip()
        m = b'\xef\xbb\xbf' + m
        hit = 1
    else:
        s, h1 = text(recs, target if where != 'msg' else None)
        m, h2 = text(msgs, target if where == 'msg' else None)
        hit = h1 or h2
    x = {'ok': True} if ok else {'file': file, 'line': hit}
    x['what'] = '%s: %s' % (where, what)
    x['rules'] = rules
    if deb:
        x['debatable'] = True
    return s, m, x
