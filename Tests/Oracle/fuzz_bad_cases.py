"""The defects and oddities of fuzz_bad.py, of the two vendors' rules."""
import json

DEL = object()
E, R, B = 'easemob', 'rongcloud', 'both'
CASES = []


def case(rules, where, what, fn, ok=False, debatable=False):
    CASES.append((rules, where, what, fn, ok, debatable))


def put(**kw):
    """patch fields of the chosen record (a__b = a.b)"""
    def f(o, r):
        for k, v in kw.items():
            t, ks = o, k.split('__')
            for x in ks[:-1]:
                t = t.setdefault(x, {}) if isinstance(t, dict) else t[int(x)]
            if v is DEL:
                t.pop(ks[-1], None)
            else:
                t[ks[-1]] = v
        return o
    return f


def dev(**kw):
    def f(o, r):
        d = r.choice(o['devices'])
        for k, v in kw.items():
            if v is DEL:
                d.pop(k, None)
            else:
                d[k] = v
        return o
    return f


class Raw(str):
    pass


def raw(fn):
    """work on the text of the line"""
    return lambda o, r: Raw(fn(json.dumps(o, ensure_ascii=False), r))


def rawbytes(fn):
    return lambda o, r: fn(json.dumps(o, ensure_ascii=False).encode())


ANY = ('app', 'user', 'conv', 'member', 'msg')
BADNUM = [1.5, '5', True, [], {}]
# ---- the line itself
for w in ANY:
    case(B, w, 'not JSON: cut', raw(lambda s, r: s[:-1]))
    case(B, w, 'not JSON: text after the object', raw(lambda s, r: s + r.choice([' x', '}', ',', ' {}', 'null'])))
    case(B, w, 'not JSON: trailing comma', raw(lambda s, r: s[:-1] + ',}'))
    case(B, w, 'not JSON: single quotes', raw(lambda s, r: s.replace('"', "'")))
    case(B, w, 'not an object: array', raw(lambda s, r: '[' + s + ']'))
    case(B, w, 'not an object: scalar', raw(lambda s, r: r.choice(['5', '"app"', 'true'])))
    case(B, w, 'unknown field', put(nonsense=1))
    case(B, w, 'unknown field (other case)', raw(lambda s, r: s.replace('"id"', '"Id"') if '"id"' in s else s.replace('"user"', '"User"') if '"user"' in s else s.replace('"rules"', '"Rules"')))
    case(B, w, 'repeated key', raw(lambda s, r: s[:-1] + ', ' + s[1:s.index(',')] + '}'))
    case(B, w, 'repeated key spelled with an escape', raw(lambda s, r: s[:-1] + ', ' + json.dumps(json.loads(s).get('kind') and 'kind' or 'id').replace('d"', '\\u0064"') + ': ' + json.dumps(json.loads(s).get('kind') or json.loads(s).get('id')) + '}'))
    case(B, w, 'repeated key, null the first time', raw(lambda s, r: '{' + s[1:s.index(':')] + ': null, ' + s[1:]))
    case(B, w, 'invalid UTF-8', rawbytes(lambda b: b.replace(b'"}', b'\xff"}', 1) if b'"}' in b else b[:-1] + b',"\xc3":1}'))
    case(B, w, 'raw control character in a string', raw(lambda s, r: s.replace('": "', '": "\x01', 1)))
    case(B, w, 'NaN', raw(lambda s, r: s[:-1] + ', "at": NaN}' if '"at"' not in s else s[:-1] + ', "x": NaN}'))
    case(B, w, 'comment', raw(lambda s, r: s + ' // c'))
    case(B, w, 'ok: blanks around and tabs', raw(lambda s, r: ' \t' + s.replace('": ', '"\t:  ') + ' \r'), ok=True)
    case(B, w, 'ok: escapes in names and values', raw(lambda s, r: s.replace('"id"', '"\\u0069\\u0064"').replace('"kind"', '"k\\u0069nd"').replace('"user"', '"\\u0075ser"')), ok=True)
    case(B, w, 'ok: blank lines', raw(lambda s, r: '\n \n' + s + '\n\r\n\t'), ok=True)
for w in ANY[:4]:
    case(B, w, 'unknown kind', put(kind=0) if w == 'app' else put(kind='User'))
    case(B, w, 'kind missing', put(kind=DEL))
    case(B, w, 'kind null', put(kind=None))
    case(B, w, 'kind of the wrong type', put(kind=['app']))
# ---- required fields and ids
REQ = {'user': ['id'], 'conv': ['id'], 'member': ['conversation', 'user'], 'msg': ['id', 'conversation']}
for w, fs in REQ.items():
    for f in fs:
        for v, n in ((DEL, 'missing'), (None, 'null'), ('', 'empty'), (7, 'a number'), (True, 'true'), (['u1'], 'an array')):
            case(B, w, '%s %s' % (f, n), put(**{f: v}))
case(B, 'msg', 'at missing', put(at=DEL))
case(B, 'msg', 'at null', put(at=None))
for v, n in (('', 'empty'), (7, 'a number'), ({}, 'an object')):
    case(B, 'msg', 'sender ' + n, put(sender=v))
# ---- instants
INST = [('a fraction', 1764000000000.5), ('digits', '1764000000000'), ('negative', -1), ('2^53', 2**53), ('huge', 10**30), ('true', True),
        ('array', [1]), ('empty', ''), ('no offset', '2024-06-03T12:00:00'), ('no time', '2024-06-03'), ('month 13', '2024-13-03T12:00:00Z'),
        ('30 February', '2024-02-30T12:00:00Z'), ('29 February 2023', '2023-02-29T12:00:00Z'), ('day 0', '2024-06-00T12:00:00Z'), ('hour 24', '2024-06-03T24:00:00Z'),
        ('minute 60', '2024-06-03T12:60:00Z'), ('second 61', '2024-06-03T12:00:61Z'), ('offset 24', '2024-06-03T12:00:00+24:00'),
        ('offset minute 60', '2024-06-03T12:00:00+08:60'), ('offset without colon', '2024-06-03T12:00:00+0800'), ('offset hours only', '2024-06-03T12:00:00+08'),
        ('no digits after point', '2024-06-03T12:00:00.Z'), ('one-digit month', '2024-6-03T12:00:00Z'), ('no seconds', '2024-06-03T12:00Z'),
        ('blank before', ' 2024-06-03T12:00:00Z'), ('blank after', '2024-06-03T12:00:00Z '), ('newline after', '2024-06-03T12:00:00Z\n'),
        ('fullwidth digits', '\uff12024-06-03T12:00:00Z'), ('arabic digits', '202\u0664-06-03T12:00:00Z'), ('zone name', '2024-06-03T12:00:00 Asia/Shanghai'),
        ('year of 5 digits', '12024-06-03T12:00:00Z'), ('year with sign', '+2024-06-03T12:00:00Z'), ('words', 'now'), ('HTTP date', 'Mon, 03 Jun 2024 12:00:00 GMT')]
IOK = [('zero', 0), ('2^53-1', 2**53 - 1), ('Z', '2024-06-03T12:00:00Z'), ('long fraction', '2024-06-03T12:00:00.123456789012345678901234567890Z'),
       ('29 February 2024', '2024-02-29T12:00:00-23:59'), ('-00:00', '2024-06-03T12:00:00-00:00'), ('epoch', '1970-01-01T00:00:00Z'),
       ('epoch elsewhere', '1970-01-01T08:00:00+08:00'), ('one digit fraction', '2024-06-03T12:00:00.1+14:00'), ('year 9999', '9999-12-31T23:59:59-23:59')]
INSTF = [(B, 'msg', 'at'), (B, 'msg', 'sentAt'), (E, 'user', 'mutedUntil'), (E, 'member', 'mutedUntil'), (B, 'member', 'since')]
for i, (n, v) in enumerate(INST):
    for j, (ru, w, f) in enumerate(INSTF):
        if f == 'at' or (i + j) % 3 == 0:
            case(ru, w, '%s: %s' % (f, n), put(**{f: v}))
    if i % 3 == 0:
        case(B, 'user', 'backgroundSince: ' + n, dev(backgroundSince=v))
for i, (n, v) in enumerate(IOK):
    for j, (ru, w, f) in enumerate(INSTF):
        if f == 'at' or (i + j) % 3 == 0:
            case(ru, w, 'ok: %s: %s' % (f, n), put(**{f: v}), ok=True)
    case(B, 'user', 'ok: backgroundSince: ' + n, dev(backgroundSince=v), ok=True)
# ---- time zones
for w in ('app', 'user'):
    for v in ('', 'Mars/Base', '+08:00', 'GMT+8', 8, 'Asia/Shanghai ', 'Europe'):
        case(B, w, 'timeZone %r' % (v,), put(timeZone=v))
    for v in ('Etc/GMT+8', 'America/Argentina/Buenos_Aires', 'US/Pacific', 'Asia/Calcutta', 'EST5EDT', None):
        case(B, w, 'ok: timeZone %r' % (v,), put(timeZone=v), ok=True)
# ---- app
for v in ('Easemob', '', 5):
    case(B, 'app', 'rules %r' % (v,), put(rules=v))
for v in ('alloffline', '', 1):
    case(E, 'app', 'devicePolicy %r' % (v,), put(devicePolicy=v))
for v in (1, 'true', 0, []):
    case(E, 'app', 'advancedPush %r' % (v,), put(advancedPush=v))
    case(R, 'app', 'messageNotification %r' % (v,), put(messageNotification=v))
case(B, 'app', 'a second app', None)
case(B, 'app', 'options an array', put(options=[]))
case(B, 'app', 'options a string', put(options='x'))
case(B, 'app', 'unknown option', put(options__zeroMeans='off'))
case(B, 'app', 'ok: options null', put(options=None), ok=True)
case(R, 'app', 'easemob field devicePolicy', put(devicePolicy='allOffline'))
case(R, 'app', 'easemob field advancedPush', put(advancedPush=True))
case(E, 'app', 'rongcloud field level', put(level='all'))
case(E, 'app', 'rongcloud field messageNotification', put(messageNotification=True))
OPTS = {E: {'zeroZeroMeans': ['off', 'allDay'], 'intervalEnd': ['exclusive', 'inclusiveMinute'], 'forceScope': ['dndOnly', 'dndAndLevel'],
            'flagConflict': ['silentWins', 'forceWins'], 'atListAllInArray': [False, True], 'atListStringAsId': [False, True],
            'atListIdCase': ['insensitive', 'exact'], 'atListLegacyApnsExt': [False, True], 'mentionBypassesDnd': [False, True],
            'singleChatMentionOnly': ['listed', 'treatAsAll'], 'pushTransparent': [False, True], 'threadScope': ['inheritParent', 'parentOnly', 'ownOnly'],
            'expireSeconds': [0, 1, 86400]},
        R: {'singleMentionLevels': ['none', 'all'], 'quietZero': ['fallThrough', 'all'], 'ultraConversationLevel': ['wholeGroup', 'emptyChannelOnly'],
            'boundary': ['halfOpen', 'closed', 'open'], 'span1439': ['literal', 'allDay'], 'mentionBypassesQuiet': [False, True],
            'backgroundGraceSeconds': [0, 1, 120]}}
for ru in (E, R):
    for k, vs in OPTS[ru].items():
        other = R if ru == E else E
        case(other, 'app', 'option of the other rule set: ' + k, put(**{'options__' + k: vs[0]}))
        bad = [-1, '5', True, 1.5] if 'Seconds' in k else ['true', 1, 0] if isinstance(vs[0], bool) else [vs[0].upper(), True, '']
        for v in bad:
            case(ru, 'app', 'option %s %r' % (k, v), put(**{'options__' + k: v}))
        for v in vs + [None]:
            case(ru, 'app', 'ok: option %s %r' % (k, v), put(**{'options__' + k: v}), ok=True)
# ---- levels
LOK = {E: ['all', 'mention', 'none', 'default', 'ALL', 'All', 'AT', 'MentionOnly', 'NONE', 'DEFAULT'],
       R: ['all', 'mention', 'mentionUsers', 'mentionAll', 'none', 'default', -1, 0, 1, 2, 4, 5]}
LBAD = {E: ['at', 'None', '', 'mentionUsers', 'mentionAll', 0, 1, -1, 5, True, 'Default', ' all', ['all'], 'mentiononly'],
        R: ['ALL', 'AT', 'NONE', 'DEFAULT', 'All', 'MentionOnly', 3, 6, -2, '', '1', '-1', True, 1.5, 'Mention', 'blocked', []]}
for ru, places in ((E, [('user', 'level'), ('member', 'level')]),
                   (R, [('app', 'level'), ('member', 'level'), ('user', 'levels__group'), ('user', 'levels__room'), ('ultra', 'level'), ('ultra', 'channels__c1'), ('umember', 'channels__c1')])):
    for w, f in places:
        for v in LBAD[ru]:
            case(ru, w, '%s %r' % (f, v), put(**{f: v}))
        for v in LOK[ru] + [None]:
            case(ru, w, 'ok: %s %r' % (f, v), put(**{f: v}), ok=True)
# ---- the other rule set's fields
for f, v in (('levels', {'group': 'none'}), ('levels', {}), ('pushWhenDesktopOnline', False), ('localNotification', {}), ('quietHours', {'start': '22:00:00', 'spanMinutes': 60})):
    case(E, 'user', 'rongcloud field ' + f, put(**{f: v}))
for f, v in (('level', 'all'), ('mutedUntil', 0), ('quietHours', {'start': '22:00', 'end': '08:00'}), ('quietHours', {'start': '', 'end': ''})):
    case(R, 'user', 'easemob field ' + f, put(**{f: v}))
case(R, 'member', 'easemob field mutedUntil', put(mutedUntil=0))
case(E, 'member', 'rongcloud field channels', put(channels={}))
case(E, 'conv', 'rongcloud field level', put(level='all'))
case(E, 'conv', 'rongcloud field channels', put(channels={}))
case(R, 'conv', 'easemob field parent', put(parent='g0'))
for t in ('discussion', 'customerService', 'system', 'ultraGroup'):
    case(E, 'conv', 'rongcloud type ' + t, put(type=t))
case(R, 'conv', 'easemob type thread', put(type='thread'))
# ---- users
case(B, 'user', 'levels unknown type' if 0 else 'quietHours a string', put(quietHours='22:00-08:00'))
case(B, 'user', 'quietHours an array', put(quietHours=['22:00', '08:00']))
case(B, 'user', 'quietHours unknown field', lambda o, r: put(quietHours__from='22:00')(o, r))
for v in ('24:00', '8:60', '8', '8:', ':0', '008:00', '8:000', '-8:00', '8:0 ', ' 8:0', '08.00', '08:00:00', '8h', 800, '\uff18:00', '+8:00', '8:0\n'):
    case(E, 'user', 'quietHours.start %r' % (v,), put(quietHours={'start': v, 'end': '9:00'}))
    case(E, 'user', 'quietHours.end %r' % (v,), put(quietHours={'start': '7:00', 'end': v}))
case(E, 'user', 'quietHours start empty only', put(quietHours={'start': '', 'end': '9:00'}))
case(E, 'user', 'quietHours end empty only', put(quietHours={'start': '9:00', 'end': ''}))
case(E, 'user', 'quietHours without end', put(quietHours={'start': '9:00'}))
case(E, 'user', 'quietHours start null', put(quietHours={'start': None, 'end': '9:00'}))
case(E, 'user', 'quietHours with a level', put(quietHours={'start': '8:00', 'end': '9:00', 'level': 'none'}))
case(E, 'user', 'quietHours with a timeZone', put(quietHours={'start': '8:00', 'end': '9:00', 'timeZone': 'UTC'}))
for a, b in (('8:0', '10:0'), ('08:00', '8:0'), ('0:0', '00:00'), ('', ''), ('23:59', '0:0'), ('9:5', '09:05')):
    case(E, 'user', 'ok: quietHours %s-%s' % (a, b), put(quietHours={'start': a, 'end': b}), ok=True)
Q = {'start': '22:00:00', 'spanMinutes': 600, 'level': 'none'}
for v in ('22:00', '24:00:00', '22:60:00', '22:00:60', '2:00:00', '22:0:00', '', '22:00:00 ', '220000', 79200, '22:00:00.0', '22:00:00\n'):
    case(R, 'user', 'quietHours.start %r' % (v,), put(quietHours=dict(Q, start=v)))
for v in (-1, 1440, 1.5, '600', True, 86400, [600]):
    case(R, 'user', 'quietHours.spanMinutes %r' % (v,), put(quietHours=dict(Q, spanMinutes=v)))
for v in ('all', -1, 2, 4, 'mentionUsers', 'mentionAll', 3, 'NONE', '', True, 'AT'):
    case(R, 'user', 'quietHours.level %r' % (v,), put(quietHours=dict(Q, level=v)))
for v in ('', 'Mars', 8):
    case(R, 'user', 'quietHours.timeZone %r' % (v,), put(quietHours=dict(Q, timeZone=v)))
case(R, 'user', 'quietHours without start', put(quietHours={'spanMinutes': 60}))
case(R, 'user', 'quietHours without spanMinutes', put(quietHours={'start': '22:00:00'}))
case(R, 'user', 'quietHours with end', put(quietHours=dict(Q, end='23:00:00')))
for kw in ({'spanMinutes': 0}, {'spanMinutes': 1}, {'spanMinutes': 1439}, {'level': None}, {'level': 0}, {'level': 1}, {'level': 5}, {'level': 'mention'}, {'level': 'default'},
           {'start': '00:00:00'}, {'start': '23:59:59'}, {'timeZone': None}, {'timeZone': 'Asia/Kathmandu'}):
    case(R, 'user', 'ok: quietHours %r' % kw, put(quietHours=dict(Q, **kw)), ok=True)
case(R, 'user', 'levels: unknown type', put(levels={'thread': 'none'}))
case(R, 'user', 'levels: unknown type, other case', put(levels={'Group': 'none'}))
case(R, 'user', 'levels an array', put(levels=['none']))
case(R, 'user', 'levels a level', put(levels='none'))
case(R, 'user', 'pushWhenDesktopOnline 1', put(pushWhenDesktopOnline=1))
case(R, 'user', 'pushWhenDesktopOnline "true"', put(pushWhenDesktopOnline='true'))
case(R, 'user', 'localNotification true', put(localNotification=True))
case(R, 'user', 'localNotification unknown field', put(localNotification={'handled': True}))
case(R, 'user', 'localNotification.handledByApp 1', put(localNotification={'handledByApp': 1}))
case(R, 'user', 'localNotification.informationMissing "no"', put(localNotification={'informationMissing': 'no'}))
case(R, 'user', 'ok: localNotification {} and nulls', put(localNotification={'handledByApp': None}, levels={}, pushWhenDesktopOnline=None), ok=True)
case(E, 'user', 'ok: all null', put(level=None, quietHours=None, timeZone=None, mutedUntil=None, devices=None), ok=True)
# ---- devices
case(B, 'user', 'devices an object', put(devices={}))
case(B, 'user', 'devices a string', put(devices='p1'))
case(B, 'user', 'device a string', put(devices=['p1']))
case(B, 'user', 'device id missing', put(devices=[{'type': 'mobile'}]))
case(B, 'user', 'device id null', dev(id=None))
case(B, 'user', 'device id empty', dev(id=''))
case(B, 'user', 'device id a number', dev(id=1))
case(B, 'user', 'device id repeated', lambda o, r: dict(o, devices=o['devices'] + [{'id': o['devices'][0]['id'], 'state': 'kicked'}]))
case(B, 'user', 'device unknown field', dev(name='x'))
case(B, 'user', 'device repeated key', raw(lambda s, r: s.replace('"devices": [{', '"devices": [{"id": "zz", ', 1)))
for f, vs in (('type', ['phone', 'Mobile', '', 1, 'tablet']), ('state', ['online', 'Offline', '', 'logged_out', 0, 'loggedout']), ('token', [1, '', 'a b', '\u00e9', 'x' * 4097, 0]), ('platform', ['hms', '', 1]), ('fid', ['', 'a b', True]), ('notifier', [5, True, ['apns']])):
    for v in vs:
        case(B, 'user', 'device %s %r' % (f, v), dev(**{f: v}))
for f, vs in (('type', ['mobile', 'desktop', 'web', None]), ('state', ['foreground', 'background', 'offline', 'loggedOut', 'kicked', None]), ('token', [True, False, None, 'x', 'true', '~' * 4096]), ('platform', ['apns', 'fcm', None]), ('fid', ['f', None]), ('notifier', ['x', None]), ('backgroundSince', [None])):
    for v in vs:
        case(B, 'user', 'ok: device %s %r' % (f, v), dev(**{f: v}), ok=True)
case(B, 'user', 'ok: devices []', put(devices=[]), ok=True)
case(B, 'user', 'ok: ids that differ in case or composition', put(devices=[{'id': 'a'}, {'id': 'A'}, {'id': '\u00e9'}, {'id': 'e\u0301'}]), ok=True)
# ---- conversations
for v in ('Group', '', 'chatroom', 5, 'single'):
    case(B, 'conv', 'type %r' % (v,), put(type=v))
case(B, 'conv', 'ok: type null', put(type=None), ok=True)
case(R, 'conv', 'level outside an ultra group', put(level='all'))
case(R, 'conv', 'channels outside an ultra group', put(channels={}))
case(R, 'ultra', 'level, but type absent = group', put(type=DEL, level='none'))
case(R, 'ultra', 'channels an array', put(channels=['c1']))
case(R, 'ultra', 'channels a level', put(channels='all'))
case(R, 'ultra', 'channels repeated key', raw(lambda s, r: s.replace('"channels": {', '"channels": {"c1": "all", "c1": "none", ', 1)))
case(R, 'ultra', 'ok: channel null, level null', put(channels={'c1': None}, level=None), ok=True)
case(R, 'conv', 'ok: nulls of an ultra group on a group', put(channels=None, level=None), ok=True)
case(R, 'member', 'channels outside an ultra group', put(channels={'c1': 'all'}))
case(R, 'umember', 'channels an array', put(channels=[]))
case(E, 'thread', 'thread without parent', put(parent=DEL))
case(E, 'thread', 'thread with parent null', put(parent=None))
case(E, 'thread', 'parent empty', put(parent=''))
case(E, 'thread', 'parent a number', put(parent=5))
case(E, 'conv', 'parent on a group', put(parent='g0'))
case(E, 'thread', 'parent is a private chat', put(parent='p0'))
case(E, 'thread', 'parent is a room', put(parent='r0'))
case(E, 'thread', 'parent is a thread', put(parent='t0'))
case(E, 'thread', 'parent is itself', lambda o, r: dict(o, parent=o['id']))
case(E, 'thread', 'ok: parent only members name', put(parent='gm'), ok=True)
case(E, 'tmember', 'since in a thread', put(since=0))
case(E, 'tmember', 'since in a thread (string)', put(since='2020-01-01T00:00:00Z'))
case(E, 'tmember', 'thread member outside the parent', put(user='stranger'))
case(E, 'tmember', 'thread member outside the parent (other case)', lambda o, r: dict(o, user=o['user'].swapcase()))
case(E, 'tmember', 'ok: since null in a thread', put(since=None), ok=True)
case(B, 'member', 'ok: an undeclared user', put(user='stranger'), ok=True)
case(B, 'member', 'ok: an undeclared conversation', put(conversation='fresh'), ok=True)
# ---- messages
for f, vs in (('mentions', ['u1', {}, True, [1], [''], [True], [['u1']], ['u1', 2], 'all']), ('mentionsAll', [1, 'true', 'all', []]), ('silent', [1, 'YES', 'true', 0]),
              ('body', ['txt', '', 'Text', 1, 'image', []])):
    for v in vs:
        case(B, 'msg', '%s %r' % (f, v), put(**{f: v}))
for f, vs in (('force', [1, 'YES', []]), ('onlineOnly', [1, 'no']), ('ext', ['x', [], True, 5]), ('filter', [[], 'p1', True]),
              ('filter', [{'accept_device_id': 'p1'}, {'ignore_device_id': [1]}, {'accept_notifier_name': {}}, {'ignore_notifier_name': True}, {'accept': []}, {'Accept_device_id': []}])):
    for v in vs:
        case(E, 'msg', '%s %r' % (f, v), put(**{f: v}))
        case(R, 'msg', 'easemob field %s %r' % (f, v), put(**{f: v}))
for f, vs in (('channel', [1, True, []]), ('isMentioned', [1, 'true', 0]), ('pushContent', [1, True, {}]), ('persisted', [1, 'true']), ('backlog', [0, 'no'])):
    for v in vs:
        case(R, 'msg', '%s %r' % (f, v), put(**{f: v}))
        case(E, 'msg', 'rongcloud field %s %r' % (f, v), put(**{f: v}))
for f, v in (('force', False), ('onlineOnly', False), ('filter', {}), ('ext', {})):
    case(R, 'msg', 'easemob field %s %r' % (f, v), put(**{f: v}))
    case(E, 'msg', 'ok: %s %r' % (f, v), put(**{f: v}), ok=True)
    case(E, 'msg', 'ok: %s null' % f, put(**{f: None}), ok=True)
for f, v in (('channel', ''), ('isMentioned', False), ('pushContent', ''), ('persisted', True), ('backlog', False)):
    case(E, 'msg', 'rongcloud field %s %r' % (f, v), put(**{f: v}))
    case(R, 'msg', 'ok: %s %r' % (f, v), put(**{f: v}), ok=True)
    case(R, 'msg', 'ok: %s null' % f, put(**{f: None}), ok=True)
case(B, 'msg', 'unknown field kind', put(kind='message'))
case(B, 'msg', 'unknown field content', put(content='hello'))
case(B, 'msg', 'ok: text', put(text='hello'), ok=True)
for f in ('mentionedContent', 'pushTitle', 'objectName', 'pushData', 'disablePushTitle', 'iOSConfig', 'androidConfig', 'templateId', 'forceShowDetailContent'):
    case(E, 'msg', 'rongcloud field %s' % f, put(**{f: 'x'}))
    case(R, 'msg', 'ok: %s' % f, put(**{f: 'x'}), ok=True)
case(R, 'msg', 'easemob field translations', put(translations={'fr': 'x'}))
case(E, 'msg', 'ok: translations', put(translations={'fr': 'x'}), ok=True)
case(E, 'msg', 'repeated key in filter', raw(lambda s, r: s[:-1] + ', "filter": {"accept_device_id": [], "accept_device_id": []}}'))
case(B, 'msg', 'ok: nulls', put(sender=None, mentions=None, mentionsAll=None, silent=None, body=None, sentAt=None, reply=None, replyTo=None), ok=True)
case(B, 'msg', 'ok: repeated message id', put(id='m0'), ok=True)
case(B, 'msg', 'ok: mentions [] and repeated', lambda o, r: put(mentions=r.choice([[], ['u1', 'u1']]))(o, r), ok=True)
case(B, 'msg', 'ok: unknown conversation, sender and mention', put(conversation='zzz', sender='zzz', mentions=['yyy']), ok=True)
case(B, 'msg', 'ok: sentAt later than at', put(sentAt=2**53 - 1), ok=True)
for v in ({'em_at_list': 5}, {'em_at_list': {'a': 1}}, {'em_at_list': [1, None, [], {}]}, {'em_force_notification': [True]}, {'em_ignore_notification': {}}, {'em_push_filter': []},
          {'em_push_filter': {'accept_device_id': 'p1', 'x': 1}}, {'em_apns_ext': 'x'}, {'em_apns_ext': {'em_at_list': 7}}, {'x': {'y': [None, 1.5e300, -0.0, 10**25]}}, {'': ''}, {'em_at_list': None}):
    case(E, 'msg', 'ok: ext %r' % (v,), put(ext=v), ok=True)
# ---- several records
def twice(o, r):
    return Raw(json.dumps(o, ensure_ascii=False) + '\n' + json.dumps(o, ensure_ascii=False))


for w in ('user', 'conv', 'member'):
    case(B, w, 'ok: the same record twice', twice, ok=True)
# ---- debatable (see docs/readings.md); left out unless --debatable
D = dict(debatable=True)
case(E, 'user', 'quietHours {}', put(quietHours={}), **D)
case(R, 'user', 'quietHours {}', put(quietHours={}), **D)
case(R, 'user', 'quietHours start empty, span 0', put(quietHours={'start': '', 'spanMinutes': 0}), **D)
case(E, 'user', 'null field of the other rule set', put(levels=None, pushWhenDesktopOnline=None), ok=True, **D)
case(R, 'user', 'null field of the other rule set', put(level=None, mutedUntil=None), ok=True, **D)
case(B, 'msg', 'unknown field null', put(nonsense=None), ok=True, **D)
case(B, 'msg', 'null in mentions', put(mentions=['u1', None]), **D)
case(E, 'user', 'device notifier empty', dev(notifier=''), ok=True, **D)
case(B, 'msg', 'before 1970', put(at='1969-12-31T23:59:59Z'), **D)
case(B, 'msg', 'leap second', put(at='2016-12-31T23:59:60Z'), **D)
case(B, 'msg', 'lower-case t and z', put(at='2024-06-03t12:00:00z'), ok=True, **D)
case(B, 'msg', 'blank instead of T', put(at='2024-06-03 12:00:00Z'), **D)
case(B, 'msg', 'comma before the fraction', put(at='2024-06-03T12:00:00,5Z'), **D)
case(B, 'msg', 'at 1.0', put(at=1764000000000.0), ok=True, **D)
case(B, 'msg', 'at 1.5', put(at=1764000000000.5))
case(B, 'msg', 'at 2^53.0', put(at=9007199254740992.0))
case(B, 'msg', 'at 1e12', raw(lambda s, r: s[:-1] + ', "at": 1e12}' if '"at"' not in s else s.replace('"at": ', '"at": 1e12, "reply": ')), ok=True, **D)
case(B, 'msg', 'unpaired surrogate', raw(lambda s, r: s.replace('"id": "', '"id": "\\ud800')), **D)
case(E, 'msg', 'repeated key in ext', raw(lambda s, r: s[:-1] + ', "ext": {"a": 1, "a": 2}}'), **D)
case(E, 'app', 'expireSeconds 60.0', put(options__expireSeconds=60.0), ok=True, **D)
case(E, 'thread', 'unknown parent', put(parent='nowhere'), **D)
case(R, 'ultra', 'empty channel name', put(channels={'': 'none'}), ok=True, **D)
case(R, 'member', 'channels of a member null outside an ultra group', put(channels=None), ok=True, **D)
case(B, 'app', 'time zone in the wrong case', put(timeZone='asia/shanghai'), **D)
case(B, 'msg', 'reply of odd type', put(reply={'a': 1}, replyTo=5), ok=True, **D)
case(B, 'msg', 'BOM on the first line', None, **D)
