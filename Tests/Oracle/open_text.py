"""Tokens of the open rules' keywords and texts (O-14, O-17, O-20)."""
import gzip
import os

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'ConformanceTests',
                     'open-characters.tsv.gz')
TEXT_BYTES = 65536
_classes, _folded = {}, {}


def _read_table():
    with gzip.open(TABLE, 'rt', encoding='utf-8') as file:
        for line in file:
            if line.startswith('#'):
                continue
            first, last, kind, folded = line.rstrip('\n').split('\t')
            for code in range(int(first, 16), int(last, 16) + 1):
                _classes[code] = kind
                if kind == 'fold':
                    _folded[code] = [int(x, 16) for x in folded.split()]


def _replaced(text):
    """The characters after folding, dropping and the decomposition of Hangul."""
    for character in text:
        code = ord(character)
        kind = _classes.get(code)
        if kind == 'fold':
            yield from _folded[code]
        elif 0xAC00 <= code <= 0xD7A3:
            s = code - 0xAC00
            yield 0x1100 + s // 588
            yield 0x1161 + s // 28 % 21
            if s % 28:
                yield 0x11A7 + s % 28
        elif kind != 'drop':
            yield code


def tokens(text):
    """The tokens, each as a tuple of code points."""
    if not _classes:
        _read_table()
    found, token, marks, began = [], None, [], None

    def close():
        if token is not None:
            token.extend(sorted(marks))
            marks.clear()
            found.append(tuple(token))

    for code in _replaced(text):
        kind = _classes.get(code)
        if kind == 'mark':
            if token is not None:
                marks.append(code)
        elif kind == 'run' and began == 'run':
            token.extend(sorted(marks))
            marks.clear()
            token.append(code)
        elif kind in ('run', 'alone'):
            close()
            token, began = [code], kind
        else:
            close()
            token = began = None
    close()
    return found


def looked_at(text):
    """What is looked at of a message's text: whole characters within the first 65,536 bytes."""
    return text.encode('utf-8')[:TEXT_BYTES].decode('utf-8', 'ignore')


class Text:
    """The tokens of one message, by place, so that each keyword is looked for where it can begin."""

    def __init__(self, text):
        self.tokens = tokens(looked_at(text))
        self.places = {}
        for place, token in enumerate(self.tokens):
            self.places.setdefault(token, []).append(place)

    def has(self, keyword):
        """Whether the keyword's tokens stand one after the other (O-14)."""
        return any(tuple(self.tokens[place:place + len(keyword)]) == keyword
                   for place in self.places.get(keyword[0], ()))
