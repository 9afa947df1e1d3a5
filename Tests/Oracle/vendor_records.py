"""Records and messages of the two vendors' rule sets, from JSON and CSV (formats.md). Raises Bad."""
import re
from values import (anything, boolean, c_bool, c_instant, c_int, devices, enum,
    fields, hm, ident, idlist, instant, is_int, need, nonneg, obj, string, strlist, tz,
    with_foreign)

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


HMS = re.compile(r'([0-9]{2}):([0-9]{2}):([0-9]{2})')


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
        spec = {'kind': string, 'id': ident, 'timeZone': tz, 'devices': devices('backgroundSince'), 'display': anything,
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


# RongCloud's, of which decisions know the names.
CONTENT = ('mentionedContent', 'pushTitle', 'objectName', 'pushData', 'disablePushTitle',
           'forceShowDetailContent', 'iOSConfig', 'androidConfig', 'templateId')


def check_message(o, rules):
    need(isinstance(o, dict), 'not a JSON object')
    spec = {'id': ident, 'conversation': ident, 'sender': ident, 'at': instant, 'mentions': idlist,
            'mentionsAll': boolean, 'silent': boolean, 'body': enum('text', 'command', 'status', 'custom'),
            'sentAt': instant, 'reply': anything, 'replyTo': anything, 'text': anything}
    if rules == 'easemob':
        spec.update(force=boolean, onlineOnly=boolean, filter=filt, ext=obj, translations=anything)
    else:
        spec.update(channel=string, isMentioned=boolean, pushContent=string, persisted=boolean, backlog=boolean,
                    **dict.fromkeys(CONTENT, anything))
    return fields(o, with_foreign(spec, ('force', 'onlineOnly', 'filter', 'ext', 'channel', 'isMentioned', 'pushContent',
                                         'persisted', 'backlog', 'translations', *CONTENT)),
                  ('id', 'conversation', 'at'))


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
