"""Random worlds of the open rules: fuzz_world.py --rules open."""
import random
import unicodedata
from datetime import datetime
from zoneinfo import ZoneInfo

from fuzz_tools import WEIRD, ZONES, Tools, transitions

CLASSES = ['private', 'thread', 'plain', 'me', 'role', 'everyone', 'reply', 'keyword', 'sender']
DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
MAXI = 2**53 - 1
# Words of several scripts; a keyword is one of them or some side by side.
WORDS = ['deploy', 'on', 'call', 'C++', '404', 'snake_case', 'Stra\u00dfe', 'STRA\u1e9eE', '\u039f\u0394\u038c\u03a3', '\u03bf\u03b4\u03cc\u03c2',
         '\u1fb4', '\u1fbc', '\ud55c\uad6d', '\ud68c\uc758', '\uac00', '\u1100\u1161\u11a8', '\u314e', '\u4f1a\u8bae', '\u660e\u5929', '\uf900', '\u304c', '\uff76\uff9e',
         '\u30ac', '\u0e14\u0e35', '\u0e19\u0e33', '\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35', '\u0958', '\u0915\u093f', '\u1000\u103b', '\u1780\u17b6', '\u05e9\u05b8', '\u0639\u0640\u0627', 'q\u0307\u0323',
         'a\u0301', '\u00e9', '\u0130', 'i', '\u0131', '\ufb01re', '\u2460', '\u00bd', '\u212b', '\u01c5', '\U00010400', '\uab70', 'x' * 20, '\u3105', '\ua000', "don't"]
SIGNS = [' ', ', ', '-', '\u3002', ' \u0301', '\u00a0', '\n', '+', '\U0001f600', '/', '. ']
DROPPED = ['\u00ad', '\u200d', '\u034f', '\ufe0f', '\u200b']
MARKS = ['\u0301', '\u0323', '\u0307', '\u0345', '\u3099', '\u0e49', '\u11ab', '\u093c']


class Open(Tools):
    def __init__(self, seed):
        self.r = random.Random('%s-open' % seed)
        self.win, self.near = [], []
        self.world()

    def some(self, xs, most):
        xs = list(dict.fromkeys(xs))
        return self.r.sample(xs, self.r.randint(0, min(most, len(xs))))

    def level(self):
        k = self.w({'all': 2, 'mentions': 2, 'direct': 2, 'none': 1, 'list': 6, 'few': 2, 'empty': .5})
        if k == 'list':
            return self.r.sample(CLASSES, self.r.randint(2, 7))
        if k == 'few':
            return self.r.sample(CLASSES, 1)
        return [] if k == 'empty' else k

    def moment(self, least=-3, most=3):
        """An instant near the present, that messages then hit."""
        if self.p(.03):
            return self.c(0, MAXI, MAXI - 1)
        x = max(0, min(MAXI, self.base * 1000 + self.r.randint(least, most) * 86400000 + self.dur()))
        self.near.append(x)
        return self.inst(x)

    def window(self, zone):
        now = datetime.fromtimestamp(self.base, ZoneInfo(zone)) if self.base < 250000000000 else datetime(2020, 1, 1)
        h, m = (now.hour, now.minute) if self.p(.4) else (self.r.randint(0, 23), self.c(0, 0, 30, 59))
        span = self.c(1, 30, 60, 61, 180, 600, 1439, 1440, self.r.randint(1, 1440))
        h2, m2 = divmod((h * 60 + m + span) % 1440, 60)
        self.win += [(zone, h * 3600 + m * 60), (zone, h2 * 3600 + m2 * 60)]
        o = {'start': self.c('%d:%02d', '%d:%d', '%02d:%02d') % (h, m), 'end': self.c('%d:%02d', '%d:%d') % (h2, m2)}
        if self.p(.6):
            o['days'] = self.r.sample(DAYS, self.r.randint(1, 7))
        if self.p(.7):
            o['allow'] = self.level()
        return self.pad(o, ['days', 'allow'])

    def quiet(self, zone):
        return [self.window(zone) for _ in range(self.c(0, 1, 1, 2, 3, 6, 16))]

    # -- the world
    def world(self):
        r = self.r
        app = self.app = {'kind': 'app', 'rules': 'open'}
        self.zones = r.sample(ZONES, 4)
        zone = 'UTC'
        if self.p(.7):
            zone = app['timeZone'] = self.zones[0]
        self.base = r.randint(1262400000, 1924900000)
        changes = [x for z in self.zones for x in transitions(z)]
        self.trs = []
        if changes and self.p(.7):
            self.base = r.choice(changes)
            self.trs = [t for t in changes if abs(t - self.base) < 4 * 86400]
        elif self.p(.05):
            self.base = r.choice([253402300800 + 86400 * 1000, 9007199254740 - 40 * 86400, 40 * 86400])
        self.expire, self.lasts = 86400, 90
        if self.p(.7):
            app['options'] = o = {}
            if self.p(.6):
                o['threadPlain'] = self.c('everyone', 'followers')
            if self.p(.4):
                self.expire = o['expireSeconds'] = self.c(0, 1, 60, 3600, 2**31 - 1)
            if self.p(.5):
                self.lasts = o['presenceSeconds'] = self.c(0, 1, 30, 90, 86400)
            self.pad(o, ['threadPlain', 'expireSeconds', 'presenceSeconds'])
        if self.p(.5):
            app['level'] = self.level()
        if self.p(.5):
            app['quiet'] = self.quiet(zone)
        self.pad(app, ['level', 'quiet', 'options', 'timeZone'])
        self.uids = ['u%d' % i for i in range(1, r.randint(4, 16))] + (r.sample(WEIRD, r.randint(1, 6)) if self.p(.7) else [])
        self.roles = ['ops', 'Ops', 'on call', '\u00e9', 'e\u0301', 'r' * 64][:r.randint(2, 6)]
        self.phrases = [self.phrase() for _ in range(12)]
        recs = self.conversations()
        for uid in self.uids:
            if self.p(.12):
                continue
            recs += [self.user(uid, zone) for _ in range(2 if self.p(.1) else 1)]
        recs += self.memberships()
        known = {o['id'] for o in recs if o['kind'] == 'conversation'} | {c for c, us in self.members.items() if us}
        recs += [{'kind': 'conversation', 'id': c} for c in dict.fromkeys(self.parent.values()) if c and c not in known]
        if self.p(.5):
            r.shuffle(recs)
        recs.insert(self.c(0, len(recs), r.randint(0, len(recs))), app)
        self.recs = recs
        self.messages()

    def conversations(self):
        r, recs = self.r, []
        self.type, self.parent = {}, {}
        for i in range(r.randint(3, 7)):
            self.type['c%d' % i] = self.w({'group': 5, 'private': 2, 'room': .6})
        homes = [c for c, t in self.type.items() if t != 'room'] or ['c0']
        self.type[homes[0]] = self.c('group', 'private')
        for i in range(r.randint(2, 6)):
            self.type['t%d' % i] = 'thread'
            self.parent['t%d' % i] = None if self.p(.06) else r.choice(homes)
        for cid, t in self.type.items():
            o = {'kind': 'conversation', 'id': cid}
            if t != 'group' or self.p(.7):
                o['type'] = t
            if self.parent.get(cid):
                o['parent'] = self.parent[cid]
            if t in ('group', 'private') and self.p(.35):
                o['level'] = self.level()
            if self.p(.1):
                o['name'] = r.choice(['Team', 'ä' * 128])
            self.pad(o, ['type'] if 'type' not in o else ['level'])
            if len(o) > 2 or self.p(.5) or t != 'group':
                recs.append(o)
        return recs

    def user(self, uid, zone):
        o = {'kind': 'user', 'id': uid}
        if self.p(.4):
            zone = o['timeZone'] = self.r.choice(self.zones)
        if self.p(.4):
            o['level'] = self.level()
        if self.p(.5):
            o['quiet'] = self.quiet(zone)
        if self.p(.3):
            o['mutedUntil'] = self.moment()
        if self.p(.5):
            o['mutedAllow'] = self.level()
        if self.p(.5):
            o['keywords'] = self.some(self.phrases, 5)
        people = self.uids + ['s1', 'S1', 's2']
        if self.p(.4):
            o['importantSenders'] = self.some(people, 3)
        if self.p(.3):
            o['blockedSenders'] = self.some([x for x in people if x not in (o.get('importantSenders') or [])], 2)
        if self.p(.3):
            o['allowForce'] = self.p(.5)
        if self.p(.6):
            o['devices'] = [self.device(i) for i in range(self.c(0, 1, 1, 2, 3))]
        return self.pad(o, ['level', 'quiet', 'mutedUntil', 'mutedAllow', 'keywords', 'importantSenders', 'blockedSenders',
                            'allowForce', 'timeZone', 'devices'])

    def device(self, i):
        o = {'id': 'd%d' % i}
        if self.p(.7):
            o['state'] = self.w({'foreground': 2, 'background': 1, 'offline': 5, 'loggedOut': 1.5, 'kicked': 1.5})
        if o.get('state') == 'foreground' or self.p(.1):
            if self.p(.85):
                x = max(0, min(MAXI, self.base * 1000 + self.r.randint(-3, 3) * 86400000 + self.dur()))
                self.near += [x, x + self.lasts * 1000, x + self.lasts * 1000 + 1, x - 1]
                o['seenAt'] = self.inst(x)
        if self.p(.3):
            o['token'] = self.p(.6)
        if self.p(.2):
            o['type'] = self.c('mobile', 'desktop', 'web')
        if self.p(.1):
            o['notifier'] = self.c('apns', '')
        return self.pad(o, ['state', 'seenAt', 'token', 'type', 'notifier'])

    def memberships(self):
        recs, self.members = [], {}
        for cid, t in self.type.items():
            if t == 'thread':
                continue
            self.members[cid] = self.some(self.uids, 2 if t == 'private' else 12)
            for uid in self.members[cid]:
                recs += [self.member(cid, uid, False) for _ in range(2 if self.p(.05) else 1)]
        for cid, parent in self.parent.items():
            self.members[cid] = self.members.get(parent, [])
            recs += [self.member(cid, uid, True) for uid in self.members[cid] if self.p(.6)]
        return recs

    def member(self, cid, uid, thread):
        o = {'kind': 'member', 'conversation': cid, 'user': uid}
        if self.p(.3):
            o['level'] = self.level()
        if self.p(.25):
            o['mutedUntil'] = self.moment()
        if self.p(.25):
            o['important'] = self.p(.7)
        if thread and self.p(.6):
            o['follow'] = self.p(.6)
        if not thread and self.p(.4):
            o['roles'] = self.some(self.roles, 3)
        if not thread and self.p(.1):
            o['since'] = self.moment(-3, 1)
        return self.pad(o, ['level', 'mutedUntil', 'important', 'follow' if thread else 'roles', 'since'])

    # -- texts
    def phrase(self):
        x = self.c('', '', ' ', '-').join(self.r.choices(WORDS, k=self.c(1, 1, 1, 2, 3)))
        while len(x.encode()) > 64:
            x = x[:-1]
        return x

    def varied(self, s):
        """The same words otherwise written: case, composition, what is dropped, now and then another mark."""
        s = self.c(str, str.upper, str.lower, str.title, str.swapcase)(s)
        if self.p(.6):
            s = unicodedata.normalize(self.c('NFC', 'NFD', 'NFKC', 'NFKD'), s)
        if self.p(.2) and s:
            at = self.r.randint(0, len(s))
            s = s[:at] + self.c(*DROPPED, *DROPPED, *MARKS) + s[at:]
        return s

    def words(self):
        parts = [self.varied(self.r.choice(self.phrases if self.p(.6) else WORDS)) for _ in range(self.c(1, 2, 3, 6))]
        text = self.c(*SIGNS).join(parts) if self.p(.7) else ''.join(parts)
        if self.p(.02):     # the cut falls into what follows
            lead = self.c('x ', 'ab, ', '\u4f1a')
            room = 65536 - self.r.randint(0, 24)
            text = lead * (room // len(lead.encode())) + text
        return text

    # -- messages
    def messages(self):
        self.msgs = []
        for i in range(self.r.randint(60, 140)):
            cid = self.r.choice(list(self.type)) if self.p(.98) else 'nowhere'
            here = self.members.get(cid) or self.uids
            at = self.instant_near()
            m = {'id': 'm%d' % (i + 1), 'conversation': cid, 'at': self.inst(at)}
            if self.p(.9):
                m['sender'] = self.c(self.r.choice(here), self.r.choice(self.uids), 's1', 's2')
            if self.p(.3):
                m['mentions'] = self.some(here, 4) + self.c([], ['nobody'], [self.othercase(self.r.choice(here)) or 'x'])
            if self.p(.15):
                m['mentionsAll'] = self.p(.7)
            if self.p(.2):
                m['mentionsRoles'] = self.some(self.roles + ['none'], 3)
            if self.p(.15):
                m['replyToUser'] = self.r.choice(here)
            if self.p(.5):
                m['text'] = self.words()
            if self.p(.2):
                m['force'] = self.p(.75)
            if self.p(.05):
                m['silent'] = self.p(.6)
            if self.p(.2):
                e = self.expire * 1000
                m['sentAt'] = self.inst(max(0, min(MAXI, at - self.c(0, e, e + 1, e - 1, e // 2, -1000))))
            if self.p(.1):
                m['body'] = self.c('text', 'command', 'status', 'custom')
            self.msgs.append(self.pad(m, ['sender', 'mentions', 'mentionsRoles', 'replyToUser', 'text', 'force', 'silent', 'body', 'reply']))
