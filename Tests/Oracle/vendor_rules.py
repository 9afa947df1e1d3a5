"""The decisions of the two vendors' rule sets (decision-rules.md)."""
from values import DEFAULT_DEVICES, local
from vendor_records import FKEYS, MASK


def local_second(ms, zone):
    d = local(ms, zone)
    return d.hour * 3600 + d.minute * 60 + d.second


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
