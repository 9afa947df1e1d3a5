#!/usr/bin/env python3
"""A valid small world with ONE defect (or one harmless oddity).
   python3 fuzz_bad.py --seed N --out DIR   -> DIR/settings.ndjson, DIR/messages.ndjson, DIR/expect.json
   python3 fuzz_bad.py --list               -> every case by number; seed N uses case N mod count (all of them in turn)
   python3 fuzz_bad.py --selftest [ROUNDS]  -> check the oracle against the expectations, no files kept
expect.json: {"file":"settings.ndjson"|"messages.ndjson","line":N,"what":…} or {"ok":true,"what":…}; "debatable":true
marks cases whose verdict rests on a reading listed in docs/readings.md (left out unless --debatable)."""
import argparse
import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fuzz_bad_open
import fuzz_bad_vendors
import oracle


def selftest(build, count, rounds, debatable):
    d = tempfile.mkdtemp()
    bad = 0
    for seed in range(count * rounds):
        s, m, x = build(seed, debatable)
        for n, b in (('settings', s), ('messages', m)):
            with open('%s/%s.ndjson' % (d, n), 'wb') as f:
                f.write(b)
        try:
            w = oracle.load([d + '/settings.ndjson'])
            got = {'ok': True}
            for line, o in oracle.messages(w, d + '/messages.ndjson'):
                if isinstance(o, oracle.Bad):
                    raise oracle.FileError('messages.ndjson', line, str(o))
                oracle.decide(w, o)
        except oracle.FileError as e:
            got = {'file': os.path.basename(e.file), 'line': e.line, 'why': e.what}
        if any(got.get(k) != x.get(k) for k in ('ok', 'file', 'line')):
            bad += 1
            print('seed', seed, x, 'got', got)
    print(count, 'cases,', count * rounds, 'runs,', bad, 'differ')
    shutil.rmtree(d)


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--seed', type=int, default=0)
    a.add_argument('--rules', choices=('vendors', 'open'), default='vendors')
    a.add_argument('--out')
    a.add_argument('--list', action='store_true')
    a.add_argument('--debatable', action='store_true')
    a.add_argument('--selftest', type=int, nargs='?', const=2)
    a = a.parse_args()
    vendors = a.rules == 'vendors'
    build = fuzz_bad_vendors.build if vendors else fuzz_bad_open.build
    if a.list or a.selftest:
        cases = fuzz_bad_vendors.cases(a.debatable) if vendors else fuzz_bad_open.cases()
        if a.selftest:
            selftest(build, len(cases), a.selftest, a.debatable)
            return
        for i, c in enumerate(cases):
            print(*((i, c[0], c[1], c[2], '(debatable)' if c[5] else '') if vendors else (i, c[0])))
        return
    os.makedirs(a.out, exist_ok=True)
    s, m, x = build(a.seed, a.debatable)
    for n, b in (('settings.ndjson', s), ('messages.ndjson', m), ('expect.json', (json.dumps(x, ensure_ascii=False) + '\n').encode())):
        with open(os.path.join(a.out, n), 'wb') as f:
            f.write(b)


if __name__ == '__main__':
    main()
