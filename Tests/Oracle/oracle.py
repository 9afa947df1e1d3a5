#!/usr/bin/env python3
"""Independent oracle for the push decision (decision-rules.md + formats.md). Stdlib only."""
import sys, os, json, re, gzip, argparse
from datetime import datetime, date, timezone, timedelta
from zoneinfo import ZoneInfo, available_timezones

MAXI = 2**53 - 1
ZONES = available_timezones() - {'localtime'}
_zi = {}


class Bad(Exception):
    pass


class FileError(Exception):
    def __init__(self, file, line, what):
        self.file, self.line, self.what = file, line, what
        Exception.__init__(self, '%s:%d: %s' % (file, line, what))


# ------------------------------------------------------------------ values
def need(c, what):
    if not c:
        raise Bad(what)


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool)


RFC = re.compile(r'([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?'
                 r'(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))')


def instant(v, f):
    if is_int(v):
        need(0 <= v <= MAXI, f + ': instant out of range')
        return v
    need(isinstance(v, str), f + ': not an instant')
    m = RFC.fullmatch(v)
    need(m, f + ': not an RFC 3339 instant')
    y, mo, d, h, mi, s = (int(m.group(i)) for i in range(1, 7))
    need(h < 24 and mi < 60 and s < 60, f + ': time out of range')
    try:
        days = date(y, mo, d).toordinal() - 719163
    except ValueError:
        raise Bad(f + ': date out of range')
    ms = int(((m.group(7) or '') + '000')[:3])
    off = 0
    if m.group(9):
        oh, om = int(m.group(10)), int(m.group(11))
        need(oh < 24 and om < 60, f + ': offset out of range')
        off = (oh * 60 + om) * 60 * (-1 if m.group(9) == '-' else 1)
    r = ((days * 86400 + h * 3600 + mi * 60 + s - off) * 1000) + ms
    need(0 <= r <= MAXI, f + ': instant out of range')
    return r


def ident(v, f):
    need(isinstance(v, str), f + ': an id must be a string')
    need(v != '', f + ': an id must not be empty')
    return v


def boolean(v, f):
    need(isinstance(v, bool), f + ': must be true or false')
    return v


def string(v, f):
    need(isinstance(v, str), f + ': must be a string')
    return v


def obj(v, f):
    need(isinstance(v, dict), f + ': must be an object')
    return v


def anything(v, f):
    return v


def enum(*vals):
    def g(v, f):
        need(isinstance(v, str), f + ': must be a string')
        need(v in vals, f + ': unknown value ' + repr(v))
        return v
    return g


def tz(v, f):
    need(isinstance(v, str), f + ': must be a string')
    need(v in ZONES, f + ': unknown time zone ' + repr(v))
    return v


def nonneg(v, f):
    need(is_int(v), f + ': must be an integer')
    need(0 <= v <= MAXI, f + ': out of range')
    return v


def idlist(v, f):
    need(isinstance(v, list), f + ': must be an array')
    return [ident(x, f) for x in v]


def strlist(v, f):
    need(isinstance(v, list), f + ': must be an array')
    return [string(x, f) for x in v]


LEV_E = {'all': 'all', 'mention': 'mention', 'none': 'none', 'default': None, 'ALL': 'all', 'All': 'all',
         'AT': 'mention', 'MentionOnly': 'mention', 'NONE': 'none', 'DEFAULT': None}
LEV_R = {'all': 'all', 'mention': 'mention', 'mentionUsers': 'mentionUsers', 'mentionAll': 'mentionAll',
         'none': 'none', 'default': None}
LEV_RI = {-1: 'all', 0: None, 1: 'mention', 2: 'mentionUsers', 4: 'mentionAll', 5: 'none'}
MASK = {'all': 7, 'mention': 6, 'mentionUsers': 2, 'mentionAll': 4, 'none': 0}


def level_e(v, f):
    need(isinstance(v, str) and v in LEV_E, f + ': not a level')
    return LEV_E[v]


def level_r(v, f):
    if is_int(v):
        need(v in LEV_RI, f + ': not a level')
        return LEV_RI[v]
    need(isinstance(v, str) and v in LEV_R, f + ': not a level')
    return LEV_R[v]


def levelmap(v, f):
    obj(v, f)
    return {k: level_r(x, f + '.' + k) for k, x in v.items() if x is not None}


def fields(o, spec, required=(), f=''):
    """Check an object against {name: checker}; null = absent. Returns a clean dict."""
    r = {}
    for k, v in o.items():
        if v is not None:
            need(k in spec, 'unknown field %s%r' % (f, k))
            r[k] = spec[k](v, f + k)
    for k in required:
        need(k in r, 'missing field ' + f + k)
    return r


def foreign(v, f):
    raise Bad(f + ': a field of the other rule set')


def with_foreign(spec, names):
    for n in names:
        spec.setdefault(n, foreign)
    return spec


R_TYPES = ('private', 'group', 'discussion', 'customerService', 'system', 'ultraGroup', 'room')
E_TYPES = ('private', 'group', 'thread', 'room')
OPT = {
    'easemob': {
        'zeroZeroMeans': (enum('off', 'allDay'), 'off'),
        'intervalEnd': (enum('exclusive', 'inclusiveMinute'), 'exclusive'),
        'forceScope': (enum('dndOnly', 'dndAndLevel'), 'dndOnly'),
        'flagConflict': (enum('silentWins', 'forceWins'), 'silentWins'),
        'atListAllInArray': (boolean, False),
        'atListStringAsId': (boolean, False),
        'atListIdCase': (enum('insensitive', 'exact'), 'insensitive'),
        'atListLegacyApnsExt': (boolean, False),
        'mentionBypassesDnd': (boolean, False),
        'singleChatMentionOnly': (enum('listed', 'treatAsAll'), 'listed'),
        'pushTransparent': (boolean, False),
        'threadScope': (enum('inheritParent', 'parentOnly', 'ownOnly'), 'inheritParent'),
        'expireSeconds': (nonneg, 86400),
    },
    'rongcloud': {
        'singleMentionLevels': (enum('none', 'all'), 'none'),
        'quietZero': (enum('fallThrough', 'all'), 'fallThrough'),
        'ultraConversationLevel': (enum('wholeGroup', 'emptyChannelOnly'), 'wholeGroup'),
        'boundary': (enum('halfOpen', 'closed', 'open'), 'halfOpen'),
        'span1439': (enum('literal', 'allDay'), 'literal'),
        'mentionBypassesQuiet': (boolean, False),
        'backgroundGraceSeconds': (nonneg, 120),
    },
}


def options(rules):
    def g(v, f):
        obj(v, f)
        return fields(v, with_foreign({k: c for k, (c, _) in OPT[rules].items()},
                                      [k for q in OPT.values() for k in q]), (), 'options.')
    return g


HM = re.compile(r'([0-9]{1,2}):([0-9]{1,2})')
HMS = re.compile(r'([0-9]{2}):([0-9]{2}):([0-9]{2})')


def hm(s, f):
    m = HM.fullmatch(s)
    need(m, f + ': not H:M')
    h, mi = int(m.group(1)), int(m.group(2))
    need(h < 24 and mi < 60, f + ': out of range')
    return h * 60 + mi


def hms(s, f):
    m = HMS.fullmatch(s)
    need(m, f + ': not HH:MM:SS')
    h, mi, se = (int(x) for x in m.groups())
    need(h < 24 and mi < 60 and se < 60, f + ': out of range')
    return h * 3600 + mi * 60 + se


def quiet_e(v, f):
    obj(v, f)
    r = fields(v, with_foreign({'start': string, 'end': string}, ('spanMinutes', 'level', 'timeZone')), ('start', 'end'), f + '.')
    if r['start'] == '' and r['end'] == '':
        return None
    return (hm(r['start'], f + '.start'), hm(r['end'], f + '.end'))


def span(v, f):
    need(is_int(v), f + ': must be an integer')
    need(0 <= v <= 1439, f + ': out of range')
    return v


def quietlevel(v, f):
    l = level_r(v, f)
    need(l in ('none', 'mention', None), f + ': only none, mention or default')
    return l


def quiet_r(v, f):
    obj(v, f)
    r = fields(v, with_foreign({'start': string, 'spanMinutes': span, 'level': quietlevel, 'timeZone': tz}, ('end',)),
               ('start', 'spanMinutes'), f + '.')
    return {'start': hms(r['start'], f + '.start'), 'span': r['spanMinutes'], 'level': r.get('level'),
            'timeZone': r.get('timeZone')}


def device(v, f):
    obj(v, f)
    r = fields(v, {'id': ident, 'type': enum('mobile', 'desktop', 'web'),
                   'state': enum('foreground', 'background', 'offline', 'loggedOut', 'kicked'),
                   'token': boolean, 'notifier': string, 'backgroundSince': instant}, ('id',), f + '.')
    r.setdefault('type', 'mobile')
    r.setdefault('state', 'offline')
    r.setdefault('token', True)
    return r


def devices(v, f):
    need(isinstance(v, list), f + ': must be an array')
    ds = [device(d, f) for d in v]
    need(len({d['id'] for d in ds}) == len(ds), f + ': repeated device id')
    return ds


def localnote(v, f):
    obj(v, f)
    return fields(v, {'informationMissing': boolean, 'handledByApp': boolean}, (), f + '.')


def typelevels(v, f):
    obj(v, f)
    for k in (k for k, x in v.items() if x is not None):
        need(k in R_TYPES, 'unknown field %s.%s' % (f, k))
    return levelmap(v, f)


def check_settings(o, rules):
    """One settings record under the given rule set -> clean dict. Raises Bad."""
    need(isinstance(o, dict), 'not a JSON object')
    kind = o.get('kind')
    need(kind is not None, 'missing field kind')
    need(isinstance(kind, str) and kind in ('app', 'user', 'conversation', 'member'), 'unknown kind %r' % (kind,))
    E = rules == 'easemob'
    if kind == 'app':
        own = o.get('rules')
        own = 'easemob' if own is None else enum('easemob', 'rongcloud')(own, 'rules')
        spec = {'kind': string, 'rules': string, 'timeZone': tz, 'options': options(own)}
        if own == 'easemob':
            spec.update(devicePolicy=enum('allOffline', 'anyOffline'), advancedPush=boolean)
        else:
            spec.update(level=level_r, messageNotification=boolean)
        r = fields(o, with_foreign(spec, ('devicePolicy', 'advancedPush', 'level', 'messageNotification')))
        r['rules'] = own
        return r
    if kind == 'user':
        # What a push says is not decided by, and not looked at.
        spec = {'kind': string, 'id': ident, 'timeZone': tz, 'devices': devices, 'display': anything,
                'remarks': anything}
        if E:
            spec.update(level=level_e, quietHours=quiet_e, mutedUntil=instant)
        else:
            spec.update(levels=typelevels, quietHours=quiet_r, pushWhenDesktopOnline=boolean,
                        localNotification=localnote)
        return fields(o, with_foreign(spec, ('level', 'mutedUntil', 'levels', 'pushWhenDesktopOnline',
                                             'localNotification')), ('id',))
    if kind == 'conversation':
        spec = {'kind': string, 'id': ident, 'type': enum(*(E_TYPES if E else R_TYPES)), 'name': anything}
        if E:
            spec.update(parent=ident)
        else:
            spec.update(level=level_r, channels=levelmap)
        r = fields(o, with_foreign(spec, ('parent', 'level', 'channels')), ('id',))
        r.setdefault('type', 'group')
        if E:
            if r['type'] == 'thread':
                need('parent' in r, 'missing field parent')
            else:
                need('parent' not in r, 'parent: only a thread has one')
        elif r['type'] != 'ultraGroup':
            need('level' not in r, 'level: only an ultra group has one')
            need('channels' not in r, 'channels: only an ultra group has them')
        return r
    spec = {'kind': string, 'conversation': ident, 'user': ident, 'since': instant, 'nickname': anything}
    if E:
        spec.update(level=level_e, mutedUntil=instant)
    else:
        spec.update(level=level_r, channels=levelmap)
    return fields(o, with_foreign(spec, ('mutedUntil', 'channels')), ('conversation', 'user'))


def filt(v, f):
    obj(v, f)
    return fields(v, {k: strlist for k in FKEYS}, (), f + '.')


FKEYS = ('accept_device_id', 'ignore_device_id', 'accept_notifier_name', 'ignore_notifier_name')


def check_message(o, rules):
    need(isinstance(o, dict), 'not a JSON object')
    spec = {'id': ident, 'conversation': ident, 'sender': ident, 'at': instant, 'mentions': idlist,
            'mentionsAll': boolean, 'silent': boolean, 'body': enum('text', 'command', 'status', 'custom'),
            'sentAt': instant, 'reply': anything, 'replyTo': anything, 'text': anything}
    if rules == 'easemob':
        spec.update(force=boolean, onlineOnly=boolean, filter=filt, ext=obj, translations=anything)
    else:
        spec.update(channel=string, isMentioned=boolean, pushContent=string, persisted=boolean, backlog=boolean,
                    mentionedContent=anything, pushTitle=anything, objectName=anything, pushData=anything)
    return fields(o, with_foreign(spec, ('force', 'onlineOnly', 'filter', 'ext', 'channel', 'isMentioned', 'pushContent',
                                         'persisted', 'backlog', 'translations', 'mentionedContent',
                                         'pushTitle', 'objectName', 'pushData')), ('id', 'conversation', 'at'))


# ------------------------------------------------------------------ reading
def read_bytes(path):
    op = gzip.open if path.endswith('.gz') else open
    try:
        with op(path, 'rb') as fh:
            return fh.read()
    except (OSError, EOFError) as e:
        raise SystemExit('%s: %s' % (path, e))


def pairs(ps):
    d = {}
    for k, v in ps:
        if k in d:
            raise Bad('repeated key %r' % k)
        d[k] = v
    return d


def noconst(s):
    raise Bad('not JSON: ' + s)


SURR = re.compile('[\ud800-\udfff]')


def surrogates(v):
    if isinstance(v, str):
        return SURR.search(v) is not None
    if isinstance(v, list):
        return any(map(surrogates, v))
    if isinstance(v, dict):
        return any(surrogates(k) or surrogates(x) for k, x in v.items())
    return False


def parse_json(raw):
    try:
        t = raw.decode('utf-8')
    except UnicodeDecodeError:
        raise Bad('not UTF-8')
    try:
        v = json.loads(t, object_pairs_hook=pairs, parse_constant=noconst)
    except (ValueError, RecursionError) as e:
        raise Bad('not JSON: %s' % e)
    need(not surrogates(v), 'unpaired surrogate')
    return v


def ndjson_lines(path):
    for n, raw in enumerate(read_bytes(path).split(b'\n'), 1):
        raw = raw.strip(b' \t\r')
        if raw:
            yield n, raw


def csv_records(path):
    """(line number of the record's start, cells); RFC 4180 strictly."""
    try:
        t = read_bytes(path).decode('utf-8')
    except UnicodeDecodeError as e:
        raise FileError(path, e.object[:e.start].count(b'\n') + 1, 'not UTF-8')
    if t.startswith('\ufeff'):
        t = t[1:]
    i, n, line = 0, len(t), 1
    while i < n:
        start, cells, quoted_any = line, [], False
        while True:
            if i < n and t[i] == '"':
                quoted_any = True
                i += 1
                buf = []
                while True:
                    if i >= n:
                        raise FileError(path, start, 'unterminated quote')
                    c = t[i]
                    if c == '"':
                        if t[i + 1:i + 2] == '"':
                            buf.append('"')
                            i += 2
                            continue
                        i += 1
                        break
                    if c == '\n':
                        line += 1
                    buf.append(c)
                    i += 1
                cells.append(''.join(buf))
            else:
                j = i
                while j < n and t[j] not in ',\n' and not (t[j] == '\r' and t[j + 1:j + 2] in ('\n', '')):
                    if t[j] == '"':
                        raise FileError(path, start, 'quote inside an unquoted cell')
                    j += 1
                cells.append(t[i:j])
                i = j
            if i < n and t[i] == ',':
                i += 1
                continue
            if i < n and t[i] == '\r':
                i += 1
            if i < n and t[i] == '\n':
                i += 1
                line += 1
            elif i < n:
                raise FileError(path, start, 'text after a closing quote')
            break
        if cells == [''] and not quoted_any:
            continue
        yield start, cells


def csv_rows(path, known):
    head = None
    for line, cells in csv_records(path):
        if head is None:
            head = cells
            for c in head:
                if c not in known:
                    raise FileError(path, line, 'unknown column %r' % c)
            if len(set(head)) != len(head):
                raise FileError(path, line, 'repeated column')
            continue
        if len(cells) != len(head):
            raise FileError(path, line, 'short or long row')
        yield line, {k: v for k, v in zip(head, cells) if v != ''}


def c_int(v, f):
    need(re.fullmatch('-?(0|[1-9][0-9]*)', v), f + ': not an integer')
    return int(v)


def c_instant(v):
    return int(v) if re.fullmatch('0|[1-9][0-9]*', v) else v


def c_bool(v, f):
    need(v in ('1', '0', 'true', 'false'), f + ': not a boolean')
    return v in ('1', 'true')


def c_level(v, rules):
    return int(v) if rules == 'rongcloud' and re.fullmatch('-?[0-9]+', v) else v


U_COLS = ('id', 'level', 'quietStart', 'quietEnd', 'timeZone', 'mutedUntil', 'quietSpanMinutes', 'quietLevel',
          'quietTimeZone')
M_COLS = ('conversation', 'user', 'level', 'mutedUntil', 'since')
MSG_COLS = ('id conversation channel sender at sentAt mentions mentionsAll isMentioned force silent body pushContent '
            'persisted backlog reply replyTo').split()


def csv_user(row, rules):
    o = {'kind': 'user'}
    q = {}
    for k, v in row.items():
        if k == 'quietStart':
            q['start'] = v
        elif k == 'quietEnd':
            q['end'] = v
        elif k == 'quietSpanMinutes':
            q['spanMinutes'] = c_int(v, k)
        elif k == 'quietLevel':
            q['level'] = c_level(v, rules)
        elif k == 'quietTimeZone':
            q['timeZone'] = v
        elif k == 'mutedUntil':
            o[k] = c_instant(v)
        elif k == 'level':
            o[k] = c_level(v, rules)
        else:
            o[k] = v
    if q:
        o['quietHours'] = q
    return o


def csv_member(row, rules):
    o = {'kind': 'member'}
    for k, v in row.items():
        o[k] = c_instant(v) if k in ('mutedUntil', 'since') else c_level(v, rules) if k == 'level' else v
    return o


def csv_message(row, n, hasid):
    o = {} if hasid else {'id': str(n)}
    for k, v in row.items():
        if k in ('at', 'sentAt'):
            o[k] = c_instant(v)
        elif k == 'mentions':
            o[k] = [x for x in v.split(';') if x]
        elif k in ('mentionsAll', 'isMentioned', 'force', 'silent', 'persisted', 'backlog'):
            o[k] = c_bool(v, k)
        else:
            o[k] = v
    return o


# ------------------------------------------------------------------ the world
class World:
    def __init__(self, app=None):
        self.app = app or {'rules': 'easemob'}
        self.rules = self.app['rules']
        self.options = {k: d for k, (_, d) in OPT[self.rules].items()}
        self.options.update(self.app.get('options', {}))
        self.users, self.convs, self.members, self.order = {}, {}, {}, {}

    def see(self, uid):
        self.order.setdefault(uid, len(self.order))


def load(settings, users_csv=None, members_csv=None):
    recs = []
    app = None
    for path in settings:
        for n, raw in ndjson_lines(path):
            try:
                o = parse_json(raw)
                errs = []
                for rules in ('easemob', 'rongcloud'):
                    try:
                        check_settings(o, rules)
                    except Bad as e:
                        errs.append(e)
                if len(errs) == 2:
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


# ------------------------------------------------------------------ decision
CYCLE = 146097 * 86400


def local_second(ms, zone):
    z = _zi.get(zone)
    if z is None:
        z = _zi[zone] = ZoneInfo(zone)
    s = ms // 1000
    if s > 253300000000:
        s -= ((s - 253300000000) // CYCLE + 1) * CYCLE
    d = datetime.fromtimestamp(s, z)
    return d.hour * 3600 + d.minute * 60 + d.second


DEFAULT_DEVICES = [{'id': 'default', 'type': 'mobile', 'state': 'offline', 'token': True}]


def truthy(v):
    if v is True:
        return True
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        return v == 1
    return isinstance(v, str) and v.lower() in ('1', 'true', 'yes')


class EM:
    """Easemob's message, once per message."""

    def __init__(self, w, m):
        o, ext = w.options, m.get('ext', {})
        self.fold = (lambda s: s) if o['atListIdCase'] == 'exact' else str.lower
        self.everyone, names = False, []
        if 'mentions' in m or 'mentionsAll' in m:
            names = m.get('mentions', [])
            self.everyone = m.get('mentionsAll', False)
        else:
            v = ext.get('em_at_list')
            if v is None and o['atListLegacyApnsExt'] and isinstance(ext.get('em_apns_ext'), dict):
                v = ext['em_apns_ext'].get('em_at_list')
            if isinstance(v, str):
                if v.lower() == 'all':
                    self.everyone = True
                elif o['atListStringAsId']:
                    names = [v]
            elif isinstance(v, list):
                names = [x for x in v if isinstance(x, str)]
                if o['atListAllInArray'] and any(x.lower() == 'all' for x in names):
                    self.everyone = True
        self.names = {self.fold(x) for x in names}
        self.silent = m['silent'] if 'silent' in m else truthy(ext.get('em_ignore_notification'))
        self.force = m['force'] if 'force' in m else truthy(ext.get('em_force_notification'))
        if 'filter' in m:
            f = m['filter']
        else:
            f, x = {}, ext.get('em_push_filter')
            if isinstance(x, dict):
                f = {k: [s for s in x[k] if isinstance(s, str)] for k in FKEYS if isinstance(x.get(k), list)}
        self.filter = f

    def mentioned(self, uid):
        return self.everyone or self.fold(uid) in self.names

    def passes(self, d):
        f, n = self.filter, d.get('notifier')
        if f.get('accept_device_id') and d['id'] not in f['accept_device_id']:
            return False
        if f.get('accept_notifier_name') and (n is None or n not in f['accept_notifier_name']):
            return False
        if d['id'] in f.get('ignore_device_id', ()):
            return False
        if n is not None and n in f.get('ignore_notifier_name', ()):
            return False
        return True


def in_quiet_e(w, u, now):
    q = u.get('quietHours')
    if q is None:
        return False
    a, b = q
    if a == b:
        if a == 0 and w.options['zeroZeroMeans'] == 'off':
            return False
        sp = 86400
    else:
        sp = (b - a) % 1440 * 60
        if w.options['intervalEnd'] == 'inclusiveMinute':
            sp = min(sp + 60, 86400)
    ls = local_second(now, u.get('timeZone') or w.app.get('timeZone') or 'UTC')
    return (ls - a * 60) % 86400 < sp


def easemob(w, conv, m, em, uid):
    o = w.options
    now = m['at']
    u = w.users.get(uid, {})
    t = conv['type']
    if t == 'room':
        return ('none', 'chatRoom', None, None)
    if m.get('onlineOnly', False):
        return ('none', 'onlineOnly', None, None)
    if m.get('body', 'text') == 'command' and not o['pushTransparent']:
        return ('none', 'messageType', None, None)
    forced = False
    if em.silent:
        if em.force and o['flagConflict'] == 'forceWins':
            forced = True
        else:
            return ('none', 'silentMessage', None, None)
    if now - m.get('sentAt', now) > o['expireSeconds'] * 1000:
        return ('none', 'expired', None, None)
    devs = u.get('devices', DEFAULT_DEVICES)
    connected = any(d['state'] in ('foreground', 'background') for d in devs)
    off = [d for d in devs if d['state'] in ('offline', 'loggedOut')]
    if connected and (w.app.get('devicePolicy', 'allOffline') == 'allOffline' or not off):
        return ('none', 'online', None, None)
    own = w.members.get(conv['id'], {}).get(uid, {})
    if t == 'thread':
        par = w.members[conv['parent']][uid]
        chain = {'inheritParent': [own, par], 'parentOnly': [par], 'ownOnly': [own]}[o['threadScope']]
    else:
        chain = [own]
    mentioned = em.mentioned(uid)
    level, scope = 'all', 'default'
    if w.app.get('advancedPush', True):
        if not (mentioned and o['mentionBypassesDnd']):
            why = None
            if in_quiet_e(w, u, now):
                why = ('quietHours', 'app')
            elif now < u.get('mutedUntil', 0):
                why = ('muted', 'app')
            elif any(now < c.get('mutedUntil', 0) for c in chain):
                why = ('muted', 'conversation')
            if why:
                if not em.force:
                    return ('none', why[0], why[1], None)
                forced = True
        for c, s in [(c, 'conversation') for c in chain] + [(u, 'app')]:
            if c.get('level') is not None:
                level, scope = c['level'], s
                break
        stop = None
        if level == 'none':
            stop = 'levelNone'
        elif level == 'mention' and not mentioned and not (t == 'private' and o['singleChatMentionOnly'] == 'treatAsAll'):
            stop = 'notMentioned'
        if stop:
            if not (em.force and o['forceScope'] == 'dndAndLevel'):
                return ('none', stop, scope, None)
            forced = True
    targets = [d for d in off if d['token']]
    if not targets:
        return ('none', 'kicked' if devs and all(d['state'] == 'kicked' for d in devs) else 'noToken', None, None)
    targets = [d for d in targets if em.passes(d)]
    if not targets:
        return ('none', 'filtered', None, None)
    return ('push', 'forced' if forced else 'allowed', scope, [d['id'] for d in targets])


def in_quiet_r(w, u, now):
    q = u.get('quietHours')
    if q is None or q['span'] == 0:
        return False
    if q['span'] == 1439 and w.options['span1439'] == 'allDay':
        return True
    ls = local_second(now, q['timeZone'] or u.get('timeZone') or w.app.get('timeZone') or 'UTC')
    x, sp, b = (ls - q['start']) % 86400, q['span'] * 60, w.options['boundary']
    return x < sp if b == 'halfOpen' else x <= sp if b == 'closed' else 0 < x < sp


def rongcloud(w, conv, m, em, uid):
    o = w.options
    now = m['at']
    u = w.users.get(uid, {})
    t = conv['type']
    body = m.get('body', 'text')
    if t == 'room':
        return ('none', 'chatRoom', None, None)
    if body == 'status':
        return ('none', 'messageType', None, None)
    if m.get('silent', False):
        return ('none', 'silentMessage', None, None)
    devs = u.get('devices', DEFAULT_DEVICES)
    fg, bg, off = [], [], []
    for d in devs:
        if d['state'] == 'foreground':
            fg.append(d)
        elif d['state'] == 'background':
            since = d.get('backgroundSince')
            if since is None or since > now or now - since < o['backgroundGraceSeconds'] * 1000:
                bg.append(d)
            else:
                off.append(d)
        elif d['state'] == 'offline':
            off.append(d)
    last = False
    local = bool(bg)
    if not local and fg:
        if u.get('pushWhenDesktopOnline', False) and all(d['type'] in ('desktop', 'web') for d in fg):
            last = True
        else:
            return ('none', 'online', None, None)
    if local:
        if t == 'ultraGroup' or not m.get('persisted', True) or m.get('backlog', False):
            return ('none', 'localIneligible', None, None)
        if not w.app.get('messageNotification', True):
            return ('none', 'localDisabled', None, None)
    elif body == 'custom' and not m.get('pushContent'):
        return ('none', 'messageType', None, None)
    # classes
    cls = 1
    if t in ('group', 'ultraGroup'):
        everyone, names = m.get('mentionsAll', False), m.get('mentions', [])
        if m.get('isMentioned', bool(everyone or names)):
            cls = 4 if everyone else 2 if uid in names else 1
    # level
    rec = w.members.get(conv['id'], {}).get(uid, {})
    ch = m.get('channel', '')
    level = scope = None
    if in_quiet_r(w, u, now) and not (o['mentionBypassesQuiet'] and cls != 1):
        ql = u['quietHours']['level']
        if ql is None and o['quietZero'] == 'all':
            ql = 'all'
        level, scope = ql, 'quietHours'
    if level is None:
        ultra = t == 'ultraGroup'
        cand = []
        if ultra:
            cand.append((rec.get('channels', {}).get(ch), 'channel'))
        if not ultra or ch == '' or o['ultraConversationLevel'] == 'wholeGroup':
            cand.append((rec.get('level'), 'conversation'))
        cand.append((u.get('levels', {}).get(t), 'type'))
        if ultra:
            cand.append((conv.get('channels', {}).get(ch), 'channelDefault'))
            cand.append((conv.get('level'), 'groupDefault'))
        cand.append((w.app.get('level'), 'appKey'))
        cand.append(('all', 'default'))
        level, scope = next(c for c in cand if c[0] is not None)
    if level == 'none':
        return ('none', 'quietHours' if scope == 'quietHours' else 'levelNone', scope, None)
    mask = MASK[level]
    if mask != 7 and t in ('private', 'system', 'customerService'):
        if o['singleMentionLevels'] == 'none':
            return ('none', 'directChatLevel', scope, None)
        mask = 7
    if not mask & cls:
        return ('none', 'notMentioned', scope, None)
    if local:
        ln = u.get('localNotification', {})
        if ln.get('informationMissing'):
            return ('none', 'localInfoMissing', None, None)
        if ln.get('handledByApp'):
            return ('none', 'localHandledByApp', None, None)
        return ('local', 'allowed', scope, [d['id'] for d in bg])
    targets = [d['id'] for d in off if d['type'] == 'mobile' and d['token']]
    if last:
        targets = targets[-1:]
    if not targets:
        return ('none', 'loggedOut' if devs and all(d['state'] == 'loggedOut' for d in devs) else 'noToken', None, None)
    return ('push', 'allowed', scope, targets)


def decide(w, m):
    """[(user, action, reason, scope, devices)] in output order."""
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
                yield line, check_message(csv_message(row, n, 'id' in head), w.rules)
            except Bad as e:
                yield line, e
        return
    for line, raw in ndjson_lines(path):
        try:
            yield line, check_message(parse_json(raw), w.rules)
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


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest='cmd', required=True)
    e = sub.add_parser('evaluate')
    e.add_argument('--settings', nargs='+', action='extend', default=[])
    e.add_argument('--messages', required=True)
    e.add_argument('--users')
    e.add_argument('--members')
    e.add_argument('--format', choices=('ndjson', 'counts', 'csv', 'pushlist'), default='ndjson')
    e.add_argument('--devices', action='store_true')
    e.add_argument('--skip-invalid', action='store_true')
    a = p.parse_args()
    out = open(1, 'w', encoding='utf-8', newline='\n', closefd=False)
    err = open(2, 'w', encoding='utf-8', newline='\n', closefd=False, errors='backslashreplace')
    status = 0
    try:
        w = load(a.settings, a.users, a.members)
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
