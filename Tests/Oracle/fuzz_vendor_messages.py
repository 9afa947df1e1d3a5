"""Random messages of the two vendors' rules."""
from fuzz_tools import WEIRD


class Messages:
    """A part of fuzz_vendors.Vendors."""

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
