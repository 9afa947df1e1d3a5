"""The library of the store for push-fanout: ``Fanout.open(store=...)`` loads it."""

import os

LIBRARY = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "lib", "libpushfanout-store.so.1"
)
"""The path of libpushfanout-store.so."""
