"""Random worlds of the two vendors' rules."""
import random
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from fuzz_tools import WEIRD, ZONES, Tools, transitions
from fuzz_vendor_messages import Messages


class Vendors(Tools, Messages):
    def __init__(self, seed, rules):
        self.r = random.Random('%s-%s' % (seed, rules))
        self.rules = rules
        self.E = rules == 'easemob'
        self.world()

    def level(self, rare=False):
        if self.E:
            f = self.w({'all': 3, 'mention': 4, 'none': 3 if not rare else 1.2, 'default': 2})
            return {'all': self.c('all', 'ALL', 'All'), 'mention': self.c('mention', 'AT', 'MentionOnly'),
                    'none': self.c('none', 'NONE'), 'default': self.c('default', 'DEFAULT')}[f]
        f = self.w({-1: 3, 0: 2, 1: 3, 2: 2, 4: 2, 5: 3 if not rare else 1})
        return f if self.p(.5) else {-1: 'all', 0: 'default', 1: 'mention', 2: 'mentionUsers', 4: 'mentionAll', 5: 'none'}[f]

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
