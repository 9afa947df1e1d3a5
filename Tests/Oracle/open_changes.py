"""The next change of the open rules (O-43): when the answer to a set of classes differs next."""
from datetime import timedelta

from open_oracle import DAY, WEEK, Place, base_class, by_settings, windows_of, zone_of
from values import MAXI, local

# The first of January 1970 was a Thursday.
EPOCH = 3 * DAY
# Every zone keeps one offset for more than a week within so many days, and a week shows all there is.
SEARCHED = 400 * DAY


def offset(second, zone):
    """What the local time is ahead of UTC, in seconds."""
    return round(local(second * 1000, zone).utcoffset() / timedelta(seconds=1))


def clock_changes(first, last, zone):
    """[(second from which, offset)] over first ..< last, the first one at first."""
    found = [(first, offset(first, zone))]
    at = first
    while at < last:
        ahead = min(at + DAY // 2, last)
        if offset(ahead, zone) != found[-1][1]:
            low, high = at, ahead
            while high - low > 1:
                middle = (low + high) // 2
                if offset(middle, zone) == found[-1][1]:
                    low = middle
                else:
                    high = middle
            found.append((high, offset(high, zone)))
            at = high
        else:
            at = ahead
    return found


def window_edges(windows, zone, first, last):
    """The seconds after first, to last, at which some window may begin or end, in their order."""
    marks = {(day * DAY + x['start'] + end) % WEEK
             for x in windows for day in x['days'] for end in (0, x['span'])}
    pieces = clock_changes(first, last, zone) + [(last + 1, None)]
    for (begin, ahead), (end, _) in zip(pieces, pieces[1:]):
        week = (begin + ahead + EPOCH) % WEEK
        # What the first week under one offset does not show no later one does.
        edges = {begin + (mark - week) % WEEK for mark in marks}
        yield from sorted(x for x in edges | {begin} if first < x and x < end)


def next_change(w, uid, cid, after, classes=None):
    """The first instant after `after` at which the answer is another one, or None."""
    place = Place(w, cid)
    own = place.members.get(uid)
    if own is None:
        return None
    has = frozenset(classes) if classes is not None else frozenset(
        x for x in [base_class(w, place, uid)] if x is not None)
    begins = own.get('since', 0)

    def answer(at):
        if at < begins:
            return 'not a recipient'
        if place.type == 'room':
            return 'none', 'chatRoom', None
        return by_settings(w, place, uid, at, has, False)

    now = answer(after)
    once = [begins, own.get('mutedUntil', 0), place.records.get(uid, {}).get('mutedUntil', 0),
            w.users.get(uid, {}).get('mutedUntil', 0)]
    begin = after
    windows, _ = windows_of(w, uid)
    for end in sorted({x for x in once if x > after}) + [MAXI + 1]:
        if windows:
            last = min((end - 1) // 1000, begin // 1000 + SEARCHED)
            for second in window_edges(windows, zone_of(w, uid), begin // 1000, last):
                if answer(second * 1000) != now:
                    return second * 1000
        if end <= MAXI and answer(end) != now:
            return end
        begin = end
    return None
