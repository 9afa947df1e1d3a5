#!/usr/bin/env python3
"""Random VALID world. python3 fuzz_world.py --seed N --rules easemob|rongcloud|open --out DIR
   python3 fuzz_world.py --histogram 300 [--first SEED] [--rules RULES]: spread of (action, reason, scope) by the oracle, no files."""
import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fuzz_open
import fuzz_vendors
import oracle

RULES = ('easemob', 'rongcloud', 'open')


def world(seed, rules):
    return fuzz_open.Open(seed) if rules == 'open' else fuzz_vendors.Vendors(seed, rules)


def write(path, text):
    with open(path, 'w', encoding='utf-8', newline='') as f:
        f.write(text)


def histogram(rules, first, worlds):
    folder = tempfile.mkdtemp()
    n, seen_in, messages, empty = Counter(), Counter(), 0, 0
    for seed in range(first, first + worlds):
        s, m = world(seed, rules).text()
        write(folder + '/settings.ndjson', s)
        write(folder + '/messages.ndjson', m)
        try:
            w = oracle.load([folder + '/settings.ndjson'])
            seen = set()
            for line, x in oracle.messages(w, folder + '/messages.ndjson'):
                if isinstance(x, oracle.Bad):
                    raise oracle.FileError('messages', line, str(x))
                rows = oracle.decide(w, x)
                messages += 1
                empty += not rows
                for row in rows:
                    n[row[1:4]] += 1
                    seen.add(row[1:4])
            seen_in.update(seen)
        except oracle.FileError as e:
            print('seed', seed, rules, 'INVALID', e)
    total = sum(n.values())
    print('== %s: %d worlds, %d messages (%d without recipients), %d decisions' % (rules, worlds, messages, empty, total))
    for k, v in sorted(n.items(), key=lambda x: tuple(map(str, x[0]))):
        print('  %-45s %8d %6.2f%%  in %d worlds' % ('/'.join(filter(None, k)), v, 100 * v / total, seen_in[k]))
    shutil.rmtree(folder)


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--seed', type=int, default=1)
    a.add_argument('--rules', choices=RULES)
    a.add_argument('--out')
    a.add_argument('--histogram', type=int)
    a.add_argument('--first', type=int, default=1)
    a = a.parse_args()
    if a.histogram:
        for rules in [a.rules] if a.rules else RULES:
            histogram(rules, a.first, a.histogram)
        return
    os.makedirs(a.out, exist_ok=True)
    s, m = world(a.seed, a.rules or 'easemob').text()
    write(a.out + '/settings.ndjson', s)
    write(a.out + '/messages.ndjson', m)


if __name__ == '__main__':
    main()
