#!/usr/bin/env python3
"""Random VALID world. python3 fuzz_world.py --seed N --rules easemob|rongcloud --out DIR
   python3 fuzz_world.py --histogram 300 [--first SEED]: spread of (action, reason, scope) by the oracle, no files."""
import sys, os, json, random, argparse
from datetime import datetime, timezone, timedelta
from zoneinfo import ZoneInfo
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia',
         'Africa/Casablanca', 'America/St_Johns', 'Asia/Shanghai', 'UTC', 'Asia/Kolkata', 'Europe/London',
         'America/Sao_Paulo', 'Asia/Tehran', 'Pacific/Chatham', 'Africa/Cairo', 'America/Asuncion', 'Asia/Gaza',
         'Pacific/Kiritimati', 'Antarctica/Troll', 'Europe/Dublin', 'Etc/GMT+12', 'America/Caracas', 'Europe/Volgograd',
         'Asia/Pyongyang', 'Pacific/Norfolk', 'America/Scoresbysund', 'Africa/Juba', 'EST5EDT', 'Asia/Almaty',
         'Europe/Moscow', 'America/Havana', 'Pacific/Fiji', 'Europe/Istanbul', 'Africa/El_Aaiun', 'US/Pacific']
WEIRD = ['\u00e9', 'e\u0301', '\u00c9', '\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3',
         '\u03bf\u03b4\u03bf\u03a3', '\u0130', 'i\u0307', 'i', 'I', '\u0131', '\U0001f600', '\U0001f468\u200d\U0001f469', 'a"b', 'A"B',
         'a\\b', 'a\nb', 'a\tb', '\u0001x', '\u0001X', 'all', 'ALL', ' u1 ', 'u;1', 'u,1', '\u7528\u62371', '\u00df', 'ss', 'SS',
         '\u1e9e', '\u212a', 'k', 'K', '\u212b', '\u00e5', '\u00c5', 'a\u2028b', '</a>&', 'a\x7fb', '\u01c5', '\u01c6', '\u01c4', 'null',
         '0', '-1', 'a/b', 'default', '\ufeffu', '\u0410', '\u0430', '\U00010400', '\U00010428', '\u00a0', 'x' * 70, 'a\rb', 'a\bb\f',
         '\ufb01', '\uff21', '\uff41', '\u13a0', '\uab70', '\u1c80', '\u0432', '\ufffd', '\u03a3', '\u03c3', '\u03c2']
_tr = {}


def transitions(z):
    if z not in _tr:
        zi, out = ZoneInfo(z), []
        off = lambda s: datetime.fromtimestamp(s, zi).utcoffset()
        a, end, step = 1262304000, 1924992000, 6 * 86400
        oa = off(a)
        while a < end:
            b = a + step
            ob = off(b)
            if ob != oa:
                lo, hi = a, b
                while hi - lo > 1:
                    mid = (lo + hi) // 2
                    if off(mid) == oa:
                        lo = mid
                    else:
                        hi = mid
                out.append(hi)
            a, oa = b, ob
        _tr[z] = out
    return _tr[z]


class G:
    def __init__(self, seed, rules):
        self.r = random.Random('%s-%s' % (seed, rules))
        self.rules = rules
        self.E = rules == 'easemob'
        self.world()

    # -- small tools
    def p(self, x):
        return self.r.random() < x

    def c(self, *xs):
        return self.r.choice(xs)

    def w(self, d):
        return self.r.choices(list(d), list(d.values()))[0]

    def inst(self, ms):
        """one spelling of an instant"""
        r = self.r
        if r.random() < .5 or not 0 <= ms < 253000000000000:
            return ms
        off = r.choice([0, 0, 480, -300, 345, 825, -210, 630, -720, 840, 60, 1439, -1439])
        d = datetime(1970, 1, 1) + timedelta(milliseconds=ms) + timedelta(minutes=off)
        s = d.strftime('%Y-%m-%dT%H:%M:%S')
        f = '%03d' % (ms % 1000)
        if f == '000':
            s += r.choice(['', '', '.0', '.000', '.0009', '.000999999'])
        elif f.endswith('00'):
            s += r.choice(['.' + f[0], '.' + f, '.' + f + '999'])
        else:
            s += '.' + f + r.choice(['', '', '999', '000000', '5'])
        if off == 0:
            return s + r.choice(['Z', '+00:00', '-00:00'])
        return s + '%s%02d:%02d' % ('-' if off < 0 else '+', abs(off) // 60, abs(off) % 60)

    def line(self, o):
        """one JSON line: nulls, key order, spacing and escaping vary"""
        r = self.r
        ks = list(o)
        if r.random() < .2:
            r.shuffle(ks)
        o = {k: o[k] for k in ks}
        sep = r.choice([(',', ':'), (',', ':'), (', ', ': '), (' , ', ' :\t')])
        s = json.dumps(o, ensure_ascii=r.random() < .4, separators=sep)
        if r.random() < .05:
            s = s.replace('"u', '"\\u0075').replace('"id"', '"\\u0069d"')
        if r.random() < .03:
            s = '  ' + s + '\t'
        return s

    def pad(self, o, names):
        """sometimes a null for an absent field"""
        if self.p(.12):
            for n in names:
                if n not in o and self.p(.3):
                    o[n] = None
        return o

    def level(self, rare=False):
        if self.E:
            f = self.w({'all': 3, 'mention': 4, 'none': 3 if not rare else 1.2, 'default': 2})
            return {'all': self.c('all', 'ALL', 'All'), 'mention': self.c('mention', 'AT', 'MentionOnly'),
                    'none': self.c('none', 'NONE'), 'default': self.c('default', 'DEFAULT')}[f]
        f = self.w({-1: 3, 0: 2, 1: 3, 2: 2, 4: 2, 5: 3 if not rare else 1})
        return f if self.p(.5) else {-1: 'all', 0: 'default', 1: 'mention', 2: 'mentionUsers', 4: 'mentionAll', 5: 'none'}[f]

    def dur(self):
        """offsets near the present of this world"""
        return self.c(0, 1, -1, 999, 1000, 60000, 3600000, 86400000, 7 * 86400000, -3600000, 30 * 86400000)

    # -- the world
    def world(self):
        r, E = self.r, self.E
        self.app = {'kind': 'app', 'rules': self.rules}
        self.hasapp = not (E and self.p(.05))
        if E and self.p(.2):
            del self.app['rules']
        if self.p(.7):
            self.app['timeZone'] = r.choice(ZONES)
        self.apptz = self.app.get('timeZone', 'UTC') if self.hasapp else 'UTC'
        # the present of this world: an ordinary day or a clock change of some zone
        self.myzones = [self.apptz] + r.sample(ZONES, 3)
        self.base = r.randint(1262400000, 1924900000)
        tr = [x for z in self.myzones for x in transitions(z)]
        self.trs = []
        if tr and self.p(.7):
            self.base = r.choice(tr)
            self.trs = [t for t in tr if abs(t - self.base) < 4 * 86400]
        if self.p(.04):
            self.base = r.choice([253402300800 + 86400 * 1000, 9007199254740 - 40 * 86400, 4102444800, 40 * 86400, 253402300000])
            self.trs = []
        o = {}
        if E:
            menu = {'zeroZeroMeans': ['off', 'allDay'], 'intervalEnd': ['exclusive', 'inclusiveMinute'],
                    'forceScope': ['dndOnly', 'dndAndLevel'], 'flagConflict': ['silentWins', 'forceWins'],
                    'atListAllInArray': [False, True], 'atListStringAsId': [False, True],
                    'atListIdCase': ['insensitive', 'exact'], 'atListLegacyApnsExt': [False, True],
                    'mentionBypassesDnd': [False, True], 'singleChatMentionOnly': ['listed', 'treatAsAll'],
                    'pushTransparent': [False, True], 'threadScope': ['inheritParent', 'parentOnly', 'ownOnly'],
                    'expireSeconds': [86400, 0, 1, 60, 3600, 604800]}
        else:
            menu = {'singleMentionLevels': ['none', 'all'], 'quietZero': ['fallThrough', 'all'],
                    'ultraConversationLevel': ['wholeGroup', 'emptyChannelOnly'],
                    'boundary': ['halfOpen', 'closed', 'open'], 'span1439': ['literal', 'allDay'],
                    'mentionBypassesQuiet': [False, True], 'backgroundGraceSeconds': [120, 0, 1, 30, 600]}
        self.opt = {k: v[0] for k, v in menu.items()}
        share = self.c(0, .3, .6, 1, 1)
        for k, v in menu.items():
            if self.p(share):
                o[k] = self.c(*v)
                if self.p(.03):
                    o[k] = None
                elif self.hasapp:
                    self.opt[k] = o[k]
        if o or self.p(.3):
            self.app['options'] = o
        self.expire = self.opt.get('expireSeconds', 0)
        self.grace = self.opt.get('backgroundGraceSeconds', 0)
        if E:
            if self.p(.5):
                self.app['devicePolicy'] = self.c('allOffline', 'anyOffline', 'anyOffline')
            if self.p(.4):
                self.app['advancedPush'] = self.p(.65)
            self.pad(self.app, ['rules', 'timeZone', 'options', 'devicePolicy', 'advancedPush'])
        else:
            if self.p(.5):
                self.app['level'] = self.level(self.p(.6))
            if self.p(.45):
                self.app['messageNotification'] = self.p(.6)
            self.pad(self.app, ['timeZone', 'options', 'level', 'messageNotification'])
        # ids
        nu = r.randint(5, 30)
        pool = ['u%d' % i for i in range(1, 25)] + ['U%d' % i for i in range(1, 8)]
        self.uids = r.sample(WEIRD, min(nu // 2, r.randint(2, 14))) if self.p(.8) else []
        if self.p(.4):       # ids that differ in case only
            fam = r.choice([['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3', '\u03bf\u03b4\u03bf\u03a3'],
                            ['\u0130', 'i\u0307', 'i', 'I', '\u0131'], ['\u00df', 'ss', 'SS', '\u1e9e'], ['\u212a', 'k', 'K'],
                            ['\u01c5', '\u01c6', '\u01c4'], ['\u00e9', '\u00c9', 'e\u0301', 'E\u0301'], ['\u03a3', '\u03c3', '\u03c2'],
                            ['\u13a0', '\uab70', '\U00010400', '\U00010428'], ['all', 'ALL', 'All']])
            self.uids = list(dict.fromkeys(fam + self.uids))
        nu = max(nu, len(self.uids))
        self.uids += r.sample(pool, nu - len(self.uids))
        r.shuffle(self.uids)
        self.near = []       # interesting instants (ms)
        self.win = []        # (zone, edge second of the day)
        self.devids = {}
        recs = []
        # conversations
        nc = r.randint(3, 12)
        cids = r.sample(['g%d' % i for i in range(1, 20)] + ['G1', 'G2'] + WEIRD, nc)
        types = ['private', 'group', 'thread', 'room'] if E else \
                ['private', 'group', 'discussion', 'customerService', 'system', 'ultraGroup', 'room']
        wt = {'private': 3, 'group': 6, 'thread': 4, 'room': .7} if E else \
             {'private': 2, 'group': 5, 'discussion': 1.5, 'customerService': 1, 'system': 1, 'ultraGroup': 5, 'room': .7}
        self.conv = {}
        self.chans = ['c1', 'c2', 'C1', '\u00e9', 'e\u0301', 'c"3', '']
        for cid in cids:
            self.conv[cid] = self.w(wt)
        if 'group' not in self.conv.values():
            self.conv[cids[0]] = 'group'
        groups = [x for x in cids if self.conv[x] == 'group']
        self.parent = {}
        silentgroups = set()
        for cid in cids:
            t = self.conv[cid]
            if t == 'group' and self.p(.25):
                silentgroups.add(cid)        # only members name it
                continue
            for again in range(2 if self.p(.1) else 1):
                o = {'kind': 'conversation', 'id': cid, 'type': t}
                if t == 'group' and self.p(.4):
                    del o['type']
                if t == 'thread':
                    o['parent'] = self.parent.setdefault(cid, r.choice(groups))
                if t == 'ultraGroup':
                    if self.p(.5):
                        o['level'] = self.level(True)
                    if self.p(.6):
                        o['channels'] = {ch: self.level() for ch in r.sample(self.chans, r.randint(0, 4))}
                        if self.p(.1):
                            o['channels'][r.choice(self.chans)] = None
                    self.pad(o, ['level', 'channels'])
                self.pad(o, ['type'] if 'type' not in o else [])
                if E and t != 'thread':
                    self.pad(o, ['parent'])
                recs.append(o)
        # users
        self.undeclared = set()
        for uid in self.uids:
            if self.p(.12):
                self.undeclared.add(uid)
                self.devids[uid] = [('default', None)]
                continue
            for again in range(2 if self.p(.12) else 1):
                recs.append(self.user(uid))
        # members
        self.mem = {}
        for cid in cids:
            t = self.conv[cid]
            if t == 'thread':
                continue
            if self.p(.04) and cid not in groups:
                ms = []
            elif t == 'private' and self.p(.7):
                ms = r.sample(self.uids, 2)
            else:
                ms = r.sample(self.uids, r.randint(min(3, nu), nu))
            if not ms and cid in silentgroups:
                ms = self.uids[:2]
            self.mem[cid] = ms
            for uid in ms:
                for again in range(2 if self.p(.05) else 1):
                    recs.append(self.member(cid, uid, t))
        for cid in cids:
            if self.conv[cid] == 'thread':
                ms = self.mem[self.parent[cid]]
                self.mem[cid] = ms
                for uid in ms:
                    if self.p(.4):
                        recs.append(self.member(cid, uid, 'thread'))
        self.cids = cids
        mode = self.w({'order': 3, 'shuffle': 3, 'members first': 1})
        if mode == 'shuffle':
            r.shuffle(recs)
        elif mode == 'members first':
            recs.reverse()
        if self.hasapp:
            at = self.w({0: 3, len(recs): 2, r.randint(0, len(recs)): 1})
            recs.insert(at, self.app)
        self.recs = recs
        self.messages()

    def tzname(self):
        return self.r.choice(self.myzones) if self.p(.7) else self.r.choice(ZONES)

    def user(self, uid):
        r, E = self.r, self.E
        o = {'kind': 'user', 'id': uid}
        z = self.apptz
        if self.p(.35):
            z = o['timeZone'] = self.tzname()
        if E:
            if self.p(.5):
                o['level'] = self.level(True)
            if self.p(.55):
                h, m = r.randint(0, 23), self.c(0, 0, 30, r.randint(0, 59))
                k = self.w({'any': 5, 'zero': 1, 'equal': .4, 'empty': .5, 'tozero': 1, 'minute': 1, 'almost': 1, 'now': 3})
                h2, m2 = r.randint(0, 23), self.c(0, 0, 30, 59)
                if k == 'now':
                    d = datetime.fromtimestamp(self.base + r.randint(-7200, 7200), ZoneInfo(z)) if self.base < 250000000000 else datetime(2020, 1, 1)
                    h, m = d.hour, d.minute
                    e = d + timedelta(minutes=self.c(1, 30, 60, 90, 240, 600, -60))
                    h2, m2 = e.hour, e.minute
                elif k == 'zero':
                    h = m = h2 = m2 = 0
                elif k == 'equal':
                    h2, m2 = h, m
                elif k == 'tozero':
                    h2 = m2 = 0
                elif k == 'minute':
                    h2, m2 = divmod((h * 60 + m + 1) % 1440, 60)
                elif k == 'almost':
                    h2, m2 = divmod((h * 60 + m + 1439) % 1440, 60)
                f = lambda a, b: self.c('%d:%d', '%02d:%02d', '%d:%02d', '%02d:%d') % (a, b)
                if k == 'empty':
                    o['quietHours'] = {'start': '', 'end': ''}
                else:
                    o['quietHours'] = {'start': f(h, m), 'end': f(h2, m2)}
                    a, b = h * 3600 + m * 60, h2 * 3600 + m2 * 60
                    self.win += [(z, a), (z, b), (z, b + 60)]
            if self.p(.3):
                x = max(0, self.base * 1000 + r.randint(-3, 3) * 86400000 + self.dur() + r.randint(0, 999))
                if self.p(.1):
                    x = 0
                x = min(x, 2**53 - 1)
                self.near.append(x)
                o['mutedUntil'] = self.inst(x)
            self.pad(o, ['level', 'quietHours', 'timeZone', 'mutedUntil', 'devices'])
        else:
            if self.p(.5):
                o['levels'] = {t: self.level(True) for t in
                               r.sample(['private', 'group', 'discussion', 'customerService', 'system', 'ultraGroup', 'room'], r.randint(0, 5))}
                if self.p(.1):
                    o['levels'][self.c('group', 'private')] = None
            if self.p(.6):
                q = {}
                s = r.randint(0, 86399) if self.p(.3) else r.randint(0, 47) * 1800
                sp = self.w({0: 1, 1: 1, 1439: 3, 60: 2, 600: 2, 720: 1, 1438: .4, r.randint(2, 1437): 2})
                if self.p(.5):
                    z = q['timeZone'] = self.tzname()
                if self.p(.35) and self.base < 250000000000:
                    d = datetime.fromtimestamp(self.base + r.randint(-7200, 7200), ZoneInfo(z))
                    s = d.hour * 3600 + d.minute * 60 + self.c(0, d.second)
                q['start'] = '%02d:%02d:%02d' % (s // 3600, s // 60 % 60, s % 60)
                q['spanMinutes'] = sp
                l = self.w({None: 1, 'none': 2, 5: 1, 'mention': 2, 1: 1.3, 'default': 1, 0: 1, 'null': .3})
                if l == 'null':
                    q['level'] = None
                elif l is not None:
                    q['level'] = l
                self.pad(q, ['timeZone'])
                o['quietHours'] = q
                self.win += [(z, s), (z, (s + sp * 60) % 86400), (z, (s + sp * 30) % 86400)]
            if self.p(.4):
                o['pushWhenDesktopOnline'] = self.p(.85)
            if self.p(.45):
                n = {}
                if self.p(.6):
                    n['informationMissing'] = self.p(.5)
                if self.p(.7):
                    n['handledByApp'] = self.p(.6)
                o['localNotification'] = self.pad(n, ['informationMissing', 'handledByApp'])
            self.pad(o, ['levels', 'quietHours', 'timeZone', 'pushWhenDesktopOnline', 'localNotification', 'devices'])
        self.devids.setdefault(uid, [('default', None)])
        if self.p(.7):
            o['devices'] = self.devices(uid)
        return o

    def devices(self, uid):
        r, E = self.r, self.E
        prof = self.w({'phone': 6, 'mix': 5, 'empty': .8, 'kicked': 1, 'out': 1.2, 'notoken': 1.2, 'bg': 7 if not E else 1, 'desk': 3 if not E else 1, 'fg': 1})
        n = {'empty': 0, 'phone': self.c(1, 1, 2, 3)}.get(prof, r.randint(1, 5))
        ids = r.sample(['p1', 'p2', 'P1', 'pc', 'w1', 'tab', 'd"1', '\u00e9', 'e\u0301', '\U0001f4f1'], n)
        out = []
        for i, did in enumerate(ids):
            d = {'id': did}
            state, ty, tok = 'offline', 'mobile', True
            if prof == 'mix':
                state = self.w({'foreground': 1, 'background': 1.5, 'offline': 5, 'loggedOut': 2, 'kicked': 1.5})
                ty = self.w({'mobile': 5, 'desktop': 1.5, 'web': 1})
                tok = self.p(.75)
            elif prof == 'kicked':
                state = 'kicked' if self.p(.93) else 'loggedOut'
            elif prof == 'out':
                state = 'loggedOut' if self.p(.93) else self.c('kicked', 'offline')
                ty = self.c('mobile', 'mobile', 'web')
            elif prof == 'notoken':
                state, tok = self.c('offline', 'offline', 'loggedOut'), self.p(.05)
            elif prof == 'bg':
                state = 'background' if i == 0 or self.p(.4) else self.c('offline', 'foreground', 'loggedOut')
                ty = self.w({'mobile': 6, 'desktop': 1, 'web': 1})
                tok = self.p(.8)
            elif prof == 'desk':
                state, ty = ('foreground', self.c('desktop', 'web')) if i == 0 else \
                    (self.w({'offline': 5, 'foreground': .3, 'background': .3, 'loggedOut': 1, 'kicked': .5}), 'mobile')
                tok = self.p(.85)
            elif prof == 'fg' and i == 0:
                state = 'foreground'
            if ty != 'mobile' or self.p(.3):
                d['type'] = ty
            if state != 'offline' or self.p(.5):
                d['state'] = state
            if not tok or self.p(.3):
                d['token'] = tok
            nt = None
            if self.p(.5):
                nt = d['notifier'] = self.c('apns-prod', 'apns-dev', 'fcm', 'FCM', '\u00e9')
            if (state == 'background' and self.p(.8)) or self.p(.04):
                x = max(0, min(2**53 - 1, self.base * 1000 + r.randint(-2, 2) * 86400000 + self.c(0, 0, r.randint(-9999999, 9999999))))
                d['backgroundSince'] = self.inst(x)
                g = self.grace * 1000
                self.near += [x, x + g, x + g - 1, x + g // 2, x - 1]
            self.pad(d, ['type', 'state', 'token', 'notifier', 'backgroundSince'])
            out.append(d)
            self.devids.setdefault(uid, []).append((did, nt))
        return out

    def member(self, cid, uid, t):
        r, E = self.r, self.E
        o = {'kind': 'member', 'conversation': cid, 'user': uid}
        if self.p(.45):
            o['level'] = self.level()
        if E and self.p(.2):
            x = max(0, min(2**53 - 1, self.base * 1000 + r.randint(-3, 3) * 86400000 + self.dur()))
            self.near.append(x)
            o['mutedUntil'] = self.inst(x)
        if t != 'thread' and self.p(.1):
            x = max(0, min(2**53 - 1, self.base * 1000 + r.randint(-3, 1) * 86400000 + self.dur()))
            self.near.append(x)
            o['since'] = self.inst(x)
        if t == 'ultraGroup' and self.p(.5):
            o['channels'] = {ch: self.level() for ch in r.sample(self.chans, r.randint(0, 4))}
            if self.p(.1):
                o['channels'][r.choice(self.chans)] = None
        self.pad(o, ['level', 'since'] + (['mutedUntil'] if E else ['channels']))
        return o

    # -- messages
    def instant_near(self):
        r = self.r
        k = self.w({'edge': 6, 'near': 4, 'trans': 2 if self.trs else 0, 'any': 3})
        day = self.base + r.randint(-3, 3) * 86400
        if k == 'edge' and self.win and 0 < self.base < 250000000000:
            z, s = r.choice(self.win)
            d = datetime.fromtimestamp(max(86400, day), ZoneInfo(z))
            # the local second s on that local day: naive search through the zone
            loc = datetime(d.year, d.month, d.day) + timedelta(seconds=s)
            u = loc.replace(tzinfo=ZoneInfo(z), fold=r.choice([0, 1])).timestamp()
            ms = (int(u) + self.c(-1, 0, 0, 0, 1, 60, 59, -60, 30)) * 1000 + self.c(0, 0, 999, 1, 500)
        elif k == 'near' and self.near:
            ms = r.choice(self.near) + self.c(-1, 0, 0, 1, 1000, -1000, -60000, 60000, -999)
        elif k == 'trans':
            ms = (r.choice(self.trs) + self.c(0, -1, 1, 1800, -1800, 3599, 3600, 7200, -3600, r.randint(-7200, 7200))) * 1000 + self.c(0, 999)
        else:
            ms = (day + r.randint(0, 86399)) * 1000 + self.c(0, r.randint(0, 999))
        return max(0, min(2**53 - 1, ms))

    def othercase(self, s):
        return self.c(s.upper(), s.lower(), s.swapcase(), s.title())

    def names(self, cid):
        r = self.r
        ms = self.mem.get(cid) or self.uids
        out = []
        for _ in range(self.c(0, 1, 1, 2, 4, 8)):
            k = self.w({'member': 4, 'case': 4, 'user': 1, 'no': 1})
            x = r.choice(ms) if k == 'member' else self.othercase(r.choice(ms)) if k == 'case' else \
                r.choice(self.uids) if k == 'user' else self.c('nobody', 'u99', 'Default')
            out.append(x)
        return [x for x in out if x]

    def filterobj(self, cid, typed):
        r = self.r
        ms = self.mem.get(cid) or self.uids
        devs = [d for u in ms for d in self.devids.get(u, [('default', None)])]
        f = {}
        for k in r.sample(['accept_device_id', 'ignore_device_id', 'accept_notifier_name', 'ignore_notifier_name'], self.c(0, 1, 1, 1, 2, 4)):
            i = 0 if 'device' in k else 1
            xs = [d[i] for d in r.choices(devs, k=r.randint(0, 4)) if d[i]]
            if self.p(.3):
                xs.append(self.c('fcm', 'apns-prod', 'p1', 'default', 'none'))
            if not typed and self.p(.2):
                xs += [self.c(1, None, True, [], {'a': 1})]
                r.shuffle(xs)
            f[k] = xs
            if self.p(.08):
                f[k] = None
            elif not typed and self.p(.12):
                f[k] = self.c('p1', 5, True, {'p1': 1}, 'fcm')
        if not typed and self.p(.1):
            f['accept_device'] = ['zzz']
        return f

    def atlist(self, cid):
        k = self.w({'arr': 6, 'all': 2, 'arrall': 2, 'str': 1.5, 'bad': 1, 'mixed': 1.5, 'null': 1.5})
        if k == 'arr':
            return self.names(cid)
        if k == 'all':
            return self.c('all', 'ALL', 'All', 'aLL')
        if k == 'arrall':
            return self.names(cid) + [self.c('all', 'ALL', 'All')]
        if k == 'str':
            return self.c(' all', '', 'all ', *self.names(cid))
        if k == 'bad':
            return self.c(5, True, {'all': True}, 1.5, False)
        if k == 'mixed':
            return [self.c(1, None, True, ['all'], {'id': 'u1'}, 1.5)] + self.names(cid)
        return None

    def truth(self):
        return self.c(True, True, 1, '1', 'true', 'YES', 'yes', 'True', 'TRUE', 'yEs', False, 0, '0', 'false', 'no', '', 2, -1,
                      ' true', 'yes ', [], {}, None, 'on', 'Y', [True], 'y', 11, 0.5)

    def messages(self):
        r, E = self.r, self.E
        out, ids = [], []
        for i in range(r.randint(60, 150)):
            mid = r.choice(ids) if ids and self.p(.04) else r.choice(WEIRD) if self.p(.06) else 'm%d' % (i + 1)
            ids.append(mid)
            cid = r.choice(self.cids)
            if self.p(.03):
                cid = self.c('nowhere', cid + 'x', cid.swapcase() + '\u0301')
            m = {'id': mid, 'conversation': cid}
            if self.p(.9):
                ms = self.mem.get(cid) or self.uids
                m['sender'] = self.w({'m': 5, 's': 2, 'c': 1})
                m['sender'] = {'m': r.choice(ms), 's': self.c('s1', 'sys', 'S1'), 'c': self.othercase(r.choice(ms)) or 's1'}[m['sender']]
            at = self.instant_near()
            m['at'] = self.inst(at)
            b = self.w({None: 12, 'text': 3, 'command': 1.2, 'status': .8, 'custom': 2})
            if b:
                m['body'] = b
            if self.p(.25):
                m['mentions'] = self.names(cid)
            if self.p(.2):
                m['mentionsAll'] = self.p(.7)
            if self.p(.08):
                m['silent'] = self.p(.6)
            if self.p(.05):
                m['reply'] = self.c('m1', 'r')
            if self.p(.05):
                m['replyTo'] = self.c('m1', 'u1')
            if E:
                if self.p(.6 if m.get('silent') else .13):
                    m['force'] = self.p(.75)
                if self.p(.06):
                    m['onlineOnly'] = self.p(.5)
                if self.p(.3):
                    e = self.expire * 1000
                    s = at - self.c(0, e, e, e + 1, e - 1, e + 1000, e // 2, -1000, -10**9, 5)
                    m['sentAt'] = self.inst(max(0, min(2**53 - 1, s)))
                if self.p(.12):
                    m['filter'] = self.filterobj(cid, True)
                if self.p(.6):
                    x = {}
                    if self.p(.55):
                        x['em_at_list'] = self.atlist(cid)
                    if self.p(.25):
                        x['em_force_notification'] = self.truth()
                    if self.p(.14):
                        x['em_ignore_notification'] = self.truth()
                        if self.p(.4):
                            x['em_force_notification'] = self.truth()
                    if self.p(.25):
                        x['em_push_filter'] = self.filterobj(cid, False) if self.p(.9) else self.c([], 'p1', 1, True, None)
                    if self.p(.4):
                        x['em_apns_ext'] = {'em_at_list': self.atlist(cid)} if self.p(.85) else self.c([], 'all', None, {'em_push_title': 'x'})
                        if self.p(.3) and isinstance(x['em_apns_ext'], dict):
                            x['em_apns_ext']['em_ignore_notification'] = True
                    if self.p(.2):
                        x[self.c('Em_At_List', 'em_at_lists', 'k', '')] = self.c('all', {'a': [None, 1e3, {'b': 'c'}]}, ['u1'])
                    m['ext'] = x
                self.pad(m, ['mentions', 'mentionsAll', 'silent', 'force', 'filter', 'ext', 'sentAt', 'onlineOnly', 'body', 'sender', 'reply'])
            else:
                if self.p(.08):
                    m['sentAt'] = self.inst(max(0, at - self.c(0, 1, 10**9)))
                if self.p(.6 if self.conv.get(cid) == 'ultraGroup' else .06):
                    m['channel'] = r.choice(self.chans + ['c9'])
                if self.p(.3):
                    m['isMentioned'] = self.p(.6)
                if self.p(.3 if b == 'custom' else .08):
                    m['pushContent'] = self.c('', 'hi', '\u4f60\u597d', 'hi')
                if self.p(.08):
                    m['persisted'] = self.p(.4)
                if self.p(.06):
                    m['backlog'] = self.p(.6)
                self.pad(m, ['mentions', 'mentionsAll', 'silent', 'channel', 'isMentioned', 'pushContent', 'persisted', 'backlog', 'sentAt', 'body', 'sender', 'replyTo'])
            out.append(m)
        self.msgs = out

    def text(self):
        def lines(xs):
            t = ''
            for o in xs:
                t += self.line(o) + self.w({'\n': 60, '\r\n': 1, '\n\n': 1, '\n  \n': .5})
            return t[:-1] if self.p(.15) and t.endswith('\n') and not t.endswith('\n\n') else t
        return lines(self.recs), lines(self.msgs)


def write(path, text):
    with open(path, 'w', encoding='utf-8', newline='') as f:
        f.write(text)


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--seed', type=int, default=1)
    a.add_argument('--rules', choices=('easemob', 'rongcloud'), default='easemob')
    a.add_argument('--out')
    a.add_argument('--histogram', type=int)
    a.add_argument('--first', type=int, default=1)
    a = a.parse_args()
    if a.histogram:
        import oracle, tempfile
        from collections import Counter
        d = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(__file__)))
        for rules in ('easemob', 'rongcloud'):
            n, worlds, msgs, empty = Counter(), Counter(), 0, 0
            for seed in range(a.first, a.first + a.histogram):
                s, m = G(seed, rules).text()
                write(d + '/settings.ndjson', s)
                write(d + '/messages.ndjson', m)
                try:
                    w = oracle.load([d + '/settings.ndjson'])
                    seen = set()
                    for line, x in oracle.messages(w, d + '/messages.ndjson'):
                        if isinstance(x, oracle.Bad):
                            raise oracle.FileError('messages', line, str(x))
                        rows = oracle.decide(w, x)
                        msgs += 1
                        empty += not rows
                        for row in rows:
                            n[row[1:4]] += 1
                            seen.add(row[1:4])
                    worlds.update(seen)
                except oracle.FileError as e:
                    print('seed', seed, rules, 'INVALID', e)
            tot = sum(n.values())
            print('== %s: %d worlds, %d messages (%d without recipients), %d decisions' % (rules, a.histogram, msgs, empty, tot))
            for k, v in sorted(n.items(), key=lambda x: tuple(map(str, x[0]))):
                print('  %-45s %8d %6.2f%%  in %d worlds' % ('/'.join(filter(None, k)), v, 100 * v / tot, worlds[k]))
        for f in ('settings', 'messages'):
            os.remove('%s/%s.ndjson' % (d, f))
        os.rmdir(d)
        return
    os.makedirs(a.out, exist_ok=True)
    s, m = G(a.seed, a.rules).text()
    write(a.out + '/settings.ndjson', s)
    write(a.out + '/messages.ndjson', m)


if __name__ == '__main__':
    main()
