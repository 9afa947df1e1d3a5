#!/usr/bin/env python3
"""Independent oracle for the push decision (decision-rules.md + formats.md). Stdlib only."""
import argparse
import json
import re
import sys

import open_oracle
from values import Bad, FileError, csv_records, csv_rows, ndjson_lines, need, parse_json
from vendor_records import M_COLS, MSG_COLS, OPT, U_COLS, csv_member, csv_message, csv_user
from vendor_records import check_message, check_settings
from vendor_rules import EM, easemob, rongcloud


# ------------------------------------------------------------------ the world
class World:
    def __init__(self, app=None):
        self.app = app or {'rules': 'easemob'}
        self.rules = self.app['rules']
        known = open_oracle.OPTIONS if self.rules == 'open' else OPT[self.rules]
        self.options = {k: d for k, (_, d) in known.items()}
        self.options.update(self.app.get('options', {}))
        self.users, self.convs, self.members, self.order = {}, {}, {}, {}
        self.presence = {}     # open rules: (user, device) -> what the last heartbeat said

    def see(self, uid):
        self.order.setdefault(uid, len(self.order))


def says_open(settings):
    """Whether the first app record that can be read is one of the open rules."""
    for path in settings:
        for _, raw in ndjson_lines(path):
            try:
                o = parse_json(raw)
            except Bad:
                continue
            if isinstance(o, dict) and o.get('kind') == 'app':
                return o.get('rules') == 'open'
    return False


CSV_KEEPS = {'user': ('quiet', 'mutedAllow', 'keywords', 'importantSenders', 'blockedSenders', 'allowForce', 'devices'),
             'member': ('important', 'roles', 'follow')}


def load_open(settings, users_csv, members_csv):
    """A world of the open rules; each line is checked as it is read, what needs other lines after it."""
    w, lines, checked = None, [], []

    def check(path, n, make):
        try:
            o = make()
            checked.append((open_oracle.check_settings(o), len(lines)))
        except Bad as e:
            raise FileError(path, n, str(e))
        lines.append((path, n))
        return o['kind']
    apps = 0
    for path in settings:
        for n, raw in ndjson_lines(path):
            apps += check(path, n, lambda: parse_json(raw)) == 'app'
            if apps == 2:
                raise FileError(path, n, 'a second app record')
    w = World(next(r for r, _ in checked if r['kind'] == 'app'))
    written = len(lines)
    for path, cols, conv in ((users_csv, U_COLS, csv_user), (members_csv, M_COLS, csv_member)):
        for n, row in csv_rows(path, cols) if path else ():
            check(path, n, lambda: conv(row, 'open'))
    conversation_line, member_line = {}, {}
    for r, line in checked:
        kind = r['kind']
        if kind == 'conversation':
            w.convs[r['id']], conversation_line[r['id']] = r, line
            continue
        if kind == 'app':
            continue
        uid = r['id'] if kind == 'user' else r['user']
        place = w.users if kind == 'user' else w.members.setdefault(r['conversation'], {})
        if line >= written:
            r = {**{k: v for k, v in place.get(uid, {}).items() if k in CSV_KEEPS[kind]}, **r}
        w.see(uid)
        place[uid] = r
        if kind == 'member':
            member_line[r['conversation'], uid] = line
    for line, what in sorted(open_oracle.problems(w, conversation_line, member_line)):
        raise FileError(*lines[line], what)
    return w


def load(settings, users_csv=None, members_csv=None):
    if says_open(settings):
        return load_open(settings, users_csv, members_csv)
    recs = []
    app = None
    for path in settings:
        for n, raw in ndjson_lines(path):
            try:
                o = parse_json(raw)
                errs = []
                for check in (lambda o: check_settings(o, 'easemob'), lambda o: check_settings(o, 'rongcloud'),
                              open_oracle.check_settings):
                    try:
                        check(o)
                    except Bad as e:
                        errs.append(e)
                if len(errs) == 3:
                    raise next((e for e in errs if 'other rule set' not in str(e) and 'unknown value' not in str(e)), errs[0])
                if o['kind'] == 'app':
                    need(app is None, 'a second app record')
                    app = check_settings(o, None)
            except Bad as e:
                raise FileError(path, n, str(e))
            recs.append((path, n, o, False))
    w = World(app)
    for path, cols, conv in ((users_csv, U_COLS, csv_user), (members_csv, M_COLS, csv_member)):
        if path:
            for n, row in csv_rows(path, cols):
                try:
                    recs.append((path, n, conv(row, w.rules), True))
                except Bad as e:
                    raise FileError(path, n, str(e))
    rulerr = None      # (index, what) of the first record that does not fit the rule set
    src = {}
    for idx, (path, n, o, fromcsv) in enumerate(recs):
        try:
            r = check_settings(o, w.rules)
        except Bad as e:
            rulerr = rulerr or (idx, str(e))
            try:    # keep it for the cross-record checks, so that one defect does not look like two
                r = check_settings(o, 'rongcloud' if w.rules == 'easemob' else 'easemob')
            except Bad:
                continue
        k = o['kind']
        if k == 'user':
            w.see(r['id'])
            if fromcsv and r['id'] in w.users:
                keep = {x: y for x, y in w.users[r['id']].items()
                        if x in ('devices', 'levels', 'pushWhenDesktopOnline', 'localNotification')}
                r = dict(keep, **r)
            w.users[r['id']] = r
        elif k == 'conversation':
            w.convs[r['id']] = r
            src['c', r['id']] = idx
        elif k == 'member':
            w.see(r['user'])
            key = (r['conversation'], r['user'])
            old = w.members.get(key[0], {}).get(key[1], {})
            if fromcsv and 'channels' in old:
                r = dict({'channels': old['channels']}, **r)
            w.members.setdefault(r['conversation'], {})[r['user']] = r
            src['m', r['conversation'], r['user']] = idx
    # cross-record checks on the surviving records; the earliest line wins
    errs = [rulerr] if rulerr else []

    def ctype(cid):
        if cid in w.convs:
            return w.convs[cid]['type']
        return 'group' if cid in w.members else None
    for cid, c in w.convs.items():
        if c['type'] == 'thread' and ctype(c['parent']) != 'group':
            errs.append((src['c', cid], 'parent: not a group: %r' % c['parent']))
    for cid, ms in w.members.items():
        t = ctype(cid)
        for uid, m in ms.items():
            idx = src['m', cid, uid]
            if t == 'thread':
                if 'since' in m:
                    errs.append((idx, 'since: not in a thread'))
                p = w.convs[cid]['parent']
                if ctype(p) == 'group' and uid not in w.members.get(p, {}):
                    errs.append((idx, 'not a member of the parent: %r' % uid))
            if 'channels' in m and t != 'ultraGroup':
                errs.append((idx, 'channels: only in an ultra group'))
    if errs:
        idx, what = min(errs, key=lambda e: e[0])
        raise FileError(recs[idx][0], recs[idx][1], what)
    return w


def decide(w, m):
    """[(user, action, reason, scope, devices)] in output order."""
    if w.rules == 'open':
        return open_oracle.decide(w, m)
    cid = m['conversation']
    conv = w.convs.get(cid)
    if conv is None:
        conv = {'id': cid, 'type': 'group'}
    people = w.members.get(conv['parent'] if conv['type'] == 'thread' else cid, {})
    e = w.rules == 'easemob'
    em = EM(w, m) if e else None
    out = []
    for uid in sorted(people, key=w.order.__getitem__):
        if uid == m.get('sender'):
            continue
        if m['at'] < people[uid].get('since', 0):
            continue
        out.append((uid,) + (easemob if e else rongcloud)(w, conv, m, em, uid))
    return out


def read_message(w, o):
    return open_oracle.check_message(o) if w.rules == 'open' else check_message(o, w.rules)


def messages(w, path):
    """yields (line, message or Bad)"""
    base = path[:-3] if path.endswith('.gz') else path
    if base.endswith('.csv'):
        n = 0
        # csv_rows drops empty cells, so presence of the id column is looked up in the header
        head = next(csv_records(path), (1, []))[1]
        for line, row in csv_rows(path, MSG_COLS):
            n += 1
            try:
                yield line, read_message(w, csv_message(row, n, 'id' in head))
            except Bad as e:
                yield line, e
        return
    for line, raw in ndjson_lines(path):
        try:
            yield line, read_message(w, parse_json(raw))
        except Bad as e:
            yield line, e


def dump(o):
    return json.dumps(o, ensure_ascii=False, separators=(',', ':'))


def csvcell(s):
    return '"' + s.replace('"', '""') + '"' if re.search('[",\r\n]', s) else s


def render(w, m, fmt, devs):
    rows = decide(w, m)
    if fmt == 'ndjson':
        for u, a, r, s, d in rows:
            o = {'message': m['id'], 'user': u, 'action': a, 'reason': r}
            if s is not None:
                o['scope'] = s
            if devs and d:
                o['devices'] = d
            yield dump(o)
    elif fmt == 'csv':
        for u, a, r, s, d in rows:
            yield ','.join(map(csvcell, (m['id'], u, a, r, s or '')))
    elif fmt == 'pushlist':
        yield dump({'message': m['id'], 'push': [x[0] for x in rows if x[1] == 'push']})
    else:
        c = {}
        for u, a, r, s, d in rows:
            k = '/'.join(filter(None, (a, r, s)))
            c[k] = c.get(k, 0) + 1
        yield dump({'message': m['id'], 'conversation': m['conversation'], 'recipients': len(rows),
                    'counts': dict(sorted(c.items()))})


def read_presence(w, path):
    """Heartbeats of the open rules (O-30), all before the first message."""
    for n, raw in ndjson_lines(path):
        try:
            open_oracle.heartbeat(w, parse_json(raw))
        except Bad as e:
            raise FileError(path, n, str(e))


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest='cmd', required=True)
    e = sub.add_parser('evaluate')
    e.add_argument('--settings', nargs='+', action='extend', default=[])
    e.add_argument('--messages', required=True)
    e.add_argument('--users')
    e.add_argument('--members')
    e.add_argument('--presence', help='heartbeats, for the open rules')
    e.add_argument('--format', choices=('ndjson', 'counts', 'csv', 'pushlist'), default='ndjson')
    e.add_argument('--devices', action='store_true')
    e.add_argument('--skip-invalid', action='store_true')
    a = p.parse_args()
    out = open(1, 'w', encoding='utf-8', newline='\n', closefd=False)
    err = open(2, 'w', encoding='utf-8', newline='\n', closefd=False, errors='backslashreplace')
    status = 0
    try:
        w = load(a.settings, a.users, a.members)
        if a.presence:
            read_presence(w, a.presence)
        if a.format == 'csv':
            out.write('message,user,action,reason,scope\n')
        for line, m in messages(w, a.messages):
            if isinstance(m, Bad):
                fe = FileError(a.messages, line, str(m))
                if not a.skip_invalid:
                    raise fe
                err.write('%s\n' % fe)
                status = 1
                continue
            for row in render(w, m, a.format, a.devices):
                out.write(row + '\n')
    except FileError as x:
        out.flush()
        err.write('%s\n' % x)
        status = 1
    out.flush()
    err.flush()
    return status


if __name__ == '__main__':
    sys.exit(main())
