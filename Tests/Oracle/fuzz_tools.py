"""What random worlds of every rule set need: zones, odd ids, spellings of instants and lines."""
import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

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


class Tools:
    """Draws from self.r; around the present self.base, in seconds."""

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

    def dur(self):
        """offsets near the present of this world"""
        return self.c(0, 1, -1, 999, 1000, 60000, 3600000, 86400000, 7 * 86400000, -3600000, 30 * 86400000)

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

    def text(self):
        def lines(xs):
            t = ''
            for o in xs:
                t += self.line(o) + self.w({'\n': 60, '\r\n': 1, '\n\n': 1, '\n  \n': .5})
            return t[:-1] if self.p(.15) and t.endswith('\n') and not t.endswith('\n\n') else t
        return lines(self.recs), lines(self.msgs)
