"""The open rules (open-rules.md): what a record and a message may hold, and the decision.

Written from the rules alone. A level is a frozenset of class names.
"""
import open_text
from values import (DEFAULT_DEVICES, STATES, anything, boolean, devices, enum, fields, hm, ident,
                    idlist, instant, is_int, local, need, obj, string, tz)

CLASSES = ('private', 'thread', 'plain', 'me', 'role', 'everyone', 'reply', 'keyword', 'sender')
ALL, NONE = frozenset(CLASSES), frozenset()
WORDS = {'all': ALL, 'mentions': ALL - {'plain'}, 'none': NONE,
         'direct': frozenset(('me', 'private', 'reply', 'sender'))}
DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
DAY, WEEK = 86400, 7 * 86400


# ------------------------------------------------------------------ values
def level(v, f):
    """O-2. Unset is null, which never comes here."""
    if isinstance(v, str):
        need(v in WORDS, f + ': not a level')
        return WORDS[v]
    need(isinstance(v, list), f + ': not a level')
    for x in v:
        need(isinstance(x, str) and x in CLASSES, f + ': not a class %r' % (x,))
    need(len(set(v)) == len(v), f + ': a class twice')
    return frozenset(v)


def whole(least, most):
    def g(v, f):
        need(is_int(v), f + ': must be an integer')
        need(least <= v <= most, '%s: not within %d...%d' % (f, least, most))
        return v
    return g


def names(count, size=None):
    """At most so many names of at most so many bytes, as written (O-16)."""
    def g(v, f):
        found = idlist(v, f)
        need(len(found) <= count, '%s: more than %d' % (f, count))
        if size is not None:
            need(all(len(x.encode('utf-8')) <= size for x in found), '%s: more than %d bytes' % (f, size))
        return found
    return g


def keywords(v, f):
    """O-14: the tokens of each keyword."""
    found = [tuple(open_text.tokens(x)) for x in names(50, 64)(v, f)]
    need(all(found), f + ': a keyword without a letter or digit')
    return found


def window(v, f):
    """O-11: {start, span, days, allow}; days as numbers from Monday."""
    obj(v, f)
    r = fields(v, {'days': days, 'start': string, 'end': string, 'allow': level}, ('start', 'end'), f + '.')
    start, end = hm(r['start'], f + '.start') * 60, hm(r['end'], f + '.end') * 60
    span = end - start if end > start else end - start + DAY
    return {'start': start, 'span': span, 'days': r.get('days', range(7)), 'allow': r.get('allow', NONE)}


def days(v, f):
    need(isinstance(v, list) and v, f + ': must be an array with a day')
    need(all(isinstance(x, str) and x in DAYS for x in v), f + ': not a day')
    need(len(set(v)) == len(v), f + ': a day twice')
    return [DAYS.index(x) for x in v]


def quiet(v, f):
    need(isinstance(v, list), f + ': must be an array')
    need(len(v) <= 16, f + ': more than 16 windows')
    return [window(x, f) for x in v]


OPTIONS = {
    'threadPlain': (enum('followers', 'everyone'), 'followers'),
    'expireSeconds': (whole(0, 2**31 - 1), 86400),
    'presenceSeconds': (whole(0, 86400), 90),
}


def name(v, f):
    need(1 <= len(string(v, f).encode()) <= 256, f + ': not 1 to 256 bytes')
    return v


def options(v, f):
    obj(v, f)
    return fields(v, {k: check for k, (check, _) in OPTIONS.items()}, (), 'options.')


# ------------------------------------------------------------------ records
APP = {'kind': string, 'rules': string, 'timeZone': tz, 'level': level, 'quiet': quiet, 'options': options}
USER = {'kind': string, 'id': ident, 'level': level, 'quiet': quiet, 'mutedUntil': instant, 'mutedAllow': level,
        'keywords': keywords, 'importantSenders': names(500), 'blockedSenders': names(500),
        'allowForce': boolean, 'timeZone': tz, 'devices': devices('seenAt')}
CONVERSATION = {'kind': string, 'id': ident, 'type': enum('private', 'group', 'thread', 'room'),
                'parent': ident, 'level': level, 'name': name}
MEMBER = {'kind': string, 'conversation': ident, 'user': ident, 'level': level, 'mutedUntil': instant,
          'important': boolean, 'roles': names(16, 64), 'since': instant, 'follow': boolean}
MESSAGE = {'id': ident, 'conversation': ident, 'sender': ident, 'at': instant, 'sentAt': instant,
           'mentions': idlist, 'mentionsAll': boolean, 'mentionsRoles': names(8), 'replyToUser': ident,
           'text': string, 'force': boolean, 'silent': boolean,
           'body': enum('text', 'command', 'status', 'custom'), 'reply': anything, 'replyTo': anything}
BEAT = {'user': ident, 'device': ident, 'state': STATES, 'seenAt': instant}


def check_settings(o):
    """A settings record by itself; what needs other records is in problems()."""
    need(isinstance(o, dict), 'not a JSON object')
    kind = o.get('kind')
    need(isinstance(kind, str) and kind in ('app', 'user', 'conversation', 'member'), 'unknown kind %r' % (kind,))
    if kind == 'app':
        need(o.get('rules') == 'open', 'another rule set')
        return fields(o, APP)
    if kind == 'user':
        r = fields(o, USER, ('id',))
        both = set(r.get('blockedSenders', ())) & set(r.get('importantSenders', ()))
        need(not both, 'both important and blocked: %r' % sorted(both)[:1])
        return r
    if kind == 'conversation':
        r = fields(o, CONVERSATION, ('id',))
        r.setdefault('type', 'group')
        need('parent' not in r or r['type'] == 'thread', 'parent: only a thread has one')
        need('level' not in r or r['type'] in ('private', 'group'), 'level: not in a thread or room')
        return r
    return fields(o, MEMBER, ('conversation', 'user'))


def check_message(o):
    need(isinstance(o, dict), 'not a JSON object')
    r = fields(o, MESSAGE, ('id', 'conversation', 'at'))
    need(len(r.get('mentions', ())) <= 10000, 'mentions: more than 10000')
    return r


def type_of(w, cid):
    """The conversation's type; None for one that nothing names."""
    if cid in w.convs:
        return w.convs[cid]['type']
    return 'group' if cid in w.members else None


def problems(w, conversation_line, member_line):
    """What the records that remain say against each other, as (line, what)."""
    for cid, c in w.convs.items():
        if 'parent' in c and type_of(w, c['parent']) not in ('group', 'private'):
            yield conversation_line[cid], 'parent: neither a group nor private'
    for cid, members in w.members.items():
        for uid, record in members.items():
            line = member_line[cid, uid]
            if type_of(w, cid) != 'thread':
                if 'follow' in record:
                    yield line, 'follow: only in a thread'
                continue
            for name in ('since', 'roles'):
                if name in record:
                    yield line, name + ': not in a thread'
            parent = w.convs[cid].get('parent')
            if parent is None or type_of(w, parent) in ('group', 'private') and uid not in w.members.get(parent, {}):
                yield line, 'not a member of the parent: %r' % uid


# ------------------------------------------------------------------ presence
def heartbeat(w, o):
    """O-30: a line of presence overlays what is said of a known device, or raises Bad."""
    need(isinstance(o, dict), 'not a JSON object')
    r = fields(o, BEAT, ('user', 'device', 'state'))
    need(r['user'] in w.order, 'unknown user')
    own = w.users.get(r['user'], {}).get('devices', DEFAULT_DEVICES)
    need(any(d['id'] == r['device'] for d in own), 'unknown device')
    w.presence[r['user'], r['device']] = {k: r[k] for k in ('state', 'seenAt') if k in r}


def devices_of(w, uid):
    for d in w.users.get(uid, {}).get('devices', DEFAULT_DEVICES):
        beat = w.presence.get((uid, d['id']))
        yield d if beat is None else {'id': d['id'], 'token': d['token'], **beat}


def connected(w, d, now):
    if d['state'] != 'foreground':
        return False
    seen, lasts = d.get('seenAt'), w.options['presenceSeconds']
    return seen is None or seen > now or lasts == 0 or now - seen <= lasts * 1000


# ------------------------------------------------------------------ decision
class Place:
    """A conversation, and the one whose members are its recipients; home is None for a thread without a parent."""

    def __init__(self, w, cid):
        self.conv = w.convs.get(cid, {'id': cid, 'type': 'group'})
        self.type = self.conv['type']
        self.thread = self.type == 'thread'
        home = self.conv.get('parent') if self.thread else cid
        self.home = None if home is None else w.convs.get(home, {'id': home, 'type': 'group'})
        self.members = {} if home is None else w.members.get(home, {})
        self.records = w.members.get(cid, {}) if self.thread else {}


def base_class(w, place, uid):
    """O-1: the base class, or None."""
    if place.home['type'] == 'private':
        return 'private'
    if not place.thread:
        return 'plain'
    record = place.records.get(uid)
    if record is not None and record.get('follow', True):
        return 'thread'
    return 'plain' if w.options['threadPlain'] == 'everyone' else None


def classes(w, place, m, text, uid):
    """O-1: the classes that the message has for the recipient."""
    user, found = w.users.get(uid, {}), set()
    base = base_class(w, place, uid)
    if base is not None:
        found.add(base)
    if uid in m.get('mentions', ()):
        found.add('me')
    if set(m.get('mentionsRoles', ())) & set(place.members[uid].get('roles', ())):
        found.add('role')
    if m.get('mentionsAll', False):
        found.add('everyone')
    if m.get('replyToUser') == uid:
        found.add('reply')
    if any(text.has(keyword) for keyword in user.get('keywords', ())):
        found.add('keyword')
    if 'sender' in m and m['sender'] in user.get('importantSenders', ()):
        found.add('sender')
    if found & {'me', 'role', 'everyone'}:
        found.discard('plain')
    return frozenset(found)


def level_of(w, place, uid):
    """O-3: the level and its scope."""
    for record, scope in ((place.records.get(uid, {}), 'thread'), (place.members[uid], 'conversation'),
                          (w.users.get(uid, {}), 'user'), (place.home, 'conversationDefault'),
                          (w.app, 'appDefault')):
        if 'level' in record:
            return record['level'], scope
    return ALL, 'default'


def second_of_week(ms, zone):
    d = local(ms, zone)
    return d.weekday() * DAY + d.hour * 3600 + d.minute * 60 + d.second


def inside(window, second):
    """O-12."""
    return any((second - day * DAY - window['start']) % WEEK < window['span'] for day in window['days'])


def windows_of(w, uid):
    """The windows that count for the user, and where they stand (O-11)."""
    user = w.users.get(uid, {})
    return (user['quiet'], 'user') if 'quiet' in user else (w.app.get('quiet', []), 'appDefault')


def zone_of(w, uid):
    return w.users.get(uid, {}).get('timeZone') or w.app.get('timeZone') or 'UTC'


def gates(w, place, uid, now):
    """The gates of step 6 that apply, in their order: (what passes, reason, scope)."""
    user, own, record = w.users.get(uid, {}), place.members[uid], place.records.get(uid, {})
    allow = user.get('mutedAllow', NONE)
    lifted = 'level' in record or record.get('follow', False)
    if now < record.get('mutedUntil', 0):
        yield allow, 'muted', 'thread'
    elif now < own.get('mutedUntil', 0) and not lifted:
        yield allow, 'muted', 'conversation'
    if own.get('important', False) or record.get('important', False):
        return
    if now < user.get('mutedUntil', 0):
        yield allow, 'muted', 'user'
    windows, scope = windows_of(w, uid)
    second = second_of_week(now, zone_of(w, uid))
    within = [x['allow'] for x in windows if inside(x, second)]
    if within:
        yield frozenset.intersection(*within), 'quietHours', scope


def by_settings(w, place, uid, now, has, force):
    """Steps 4 to 6: (action, reason, scope), push for what goes on to step 7."""
    if not has:
        return 'none', 'notFollowing', None
    left, scope = level_of(w, place, uid)
    if not has & left:
        return 'none', 'levelExcludes' if left else 'levelNone', scope
    reason = 'allowed'
    for passes, why, where in gates(w, place, uid, now):
        left = left & passes
        if not has & left:
            if not force:
                return 'none', why, where
            reason = 'forced'
    return 'push', reason, scope


def decision(w, place, m, text, uid):
    """Steps 1 to 8 for a recipient: (action, reason, scope, devices)."""
    now, user = m['at'], w.users.get(uid, {})
    if place.type == 'room':
        return 'none', 'chatRoom', None, None
    if m.get('silent', False):
        return 'none', 'silentMessage', None, None
    if now - m.get('sentAt', now) > w.options['expireSeconds'] * 1000:
        return 'none', 'expired', None, None
    if 'sender' in m and m['sender'] in user.get('blockedSenders', ()):
        return 'none', 'senderBlocked', None, None
    own = list(devices_of(w, uid))
    if any(connected(w, d, now) for d in own):
        return 'none', 'online', None, None
    force = m.get('force', False) and user.get('allowForce', True)
    action, reason, scope = by_settings(w, place, uid, now, classes(w, place, m, text, uid), force)
    if action == 'none':
        return action, reason, scope, None
    targets = [d['id'] for d in own if d['state'] not in ('kicked', 'loggedOut') and d['token']]
    if not targets:
        states = {d['state'] for d in own}
        if states == {'kicked'}:
            return 'none', 'kicked', None, None
        if states and states <= {'kicked', 'loggedOut'}:
            return 'none', 'loggedOut', None, None
        return 'none', 'noToken', None, None
    return action, reason, scope, targets


def recipients(place, m):
    """Who is asked: members of the conversation, or of the thread's parent, without the sender (O-21)."""
    return [uid for uid, record in place.members.items()
            if uid != m.get('sender') and m['at'] >= record.get('since', 0)]


def decide(w, m):
    """[(user, action, reason, scope, devices)] in the order of users."""
    place = Place(w, m['conversation'])
    text = open_text.Text(m.get('text', ''))
    return [(uid,) + decision(w, place, m, text, uid)
            for uid in sorted(recipients(place, m), key=w.order.__getitem__)]
