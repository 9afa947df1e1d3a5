"""Values and files of every rule set: instants, ids, times of day, objects, NDJSON and CSV (formats.md)."""
import gzip
import json
import re
from datetime import date, datetime
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


def number(text):
    """A whole number is an integer however it is written, 1.0 or 1e3."""
    v = float(text)
    return int(v) if abs(v) <= 2 ** 53 and v == int(v) else v


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


HM = re.compile(r'([0-9]{1,2}):([0-9]{1,2})')

def hm(s, f):
    m = HM.fullmatch(s)
    need(m, f + ': not H:M')
    h, mi = int(m.group(1)), int(m.group(2))
    need(h < 24 and mi < 60, f + ': out of range')
    return h * 60 + mi


STATES = enum('foreground', 'background', 'offline', 'loggedOut', 'kicked')
DEFAULT_DEVICES = [{'id': 'default', 'type': 'mobile', 'state': 'offline', 'token': True}]


def visible(v, f):
    need(isinstance(v, str) and re.fullmatch('[!-~]{1,4096}', v), f + ': not visible ASCII')
    return v


def address(v, f):
    """S-3: a token is a flag or the token itself."""
    return True if isinstance(v, str) and visible(v, f) else boolean(v, f)


def device(v, f, since):
    obj(v, f)
    spec = {'id': ident, 'type': enum('mobile', 'desktop', 'web'), 'state': STATES,
            'token': boolean, 'notifier': string, since: instant}
    if since == 'backgroundSince':
        spec.update(token=address, platform=enum('apns', 'fcm'), fid=visible)
    r = fields(v, spec, ('id',), f + '.')
    r.setdefault('type', 'mobile')
    r.setdefault('state', 'offline')
    r.setdefault('token', True)
    return r


def devices(since):
    """Reads a user's devices; `since` names the instant that a device may have."""
    def g(v, f):
        need(isinstance(v, list), f + ': must be an array')
        ds = [device(d, f, since) for d in v]
        need(len({d['id'] for d in ds}) == len(ds), f + ': repeated device id')
        return ds
    return g


# ------------------------------------------------------------------ local time
CYCLE = 146097 * 86400


def local(ms, zone):
    """The local date and time; far ahead that of the same day in an earlier cycle of 400 years."""
    z = _zi.get(zone)
    if z is None:
        z = _zi[zone] = ZoneInfo(zone)
    s = ms // 1000
    if s > 253300000000:
        s -= ((s - 253300000000) // CYCLE + 1) * CYCLE
    return datetime.fromtimestamp(s, z)


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
        v = json.loads(t, object_pairs_hook=pairs, parse_constant=noconst, parse_float=number)
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
