"""What a worker loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys

import pyarrow as pa

from push_fanout import Fanout
from push_fanout.spark import working, writing


class OneMessage:
    class spec:
        output = sys.argv[1]
        add = staticmethod(lambda name, more: None)

    class target:
        number = 3

    fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')

    def decided(self, batches):
        messages = self.fanout.messages(b'{"id":"m","conversation":"g","at":0}')
        at = working.numbers([0], pa.int64())
        texts = at.cast(pa.string())
        rows = pa.table({"_id": texts, "_conversation": texts, "_at": at})
        yield working.Decided(messages, rows)


is_summary = sys.argv[1] in working.SUMMARIES
batches = working.summary_batches if is_summary else writing._row_batches
print(sum(batch.num_rows for batch in batches(OneMessage(), None)), "pandas" in sys.modules)
"""


@pytest.mark.parametrize("output", ["counts", "bitmap", "rows"])
def test_deciding_does_not_load_pandas(output):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, output], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 False\n"
