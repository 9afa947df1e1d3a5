"""push-fanout on Spark: settings in shards on shared storage, messages decided by the workers.

    from push_fanout.spark import decide, prepare

    shards = prepare(users, members, path="/shared/settings")
    decide(messages, shards, output="rows", path="/shared/rows")

docs/spark.md is the guide. Needs pyspark (``push-fanout[spark]``).
"""

from .comparing import compare, outcomes
from .deciding import decide
from .manifest import Giant, Shards
from .preparing import prepare
from .progress import Metrics
from .ranks import members
from .updating import update

__all__ = [
    "Giant", "Metrics", "Shards", "compare", "decide", "members", "outcomes", "prepare", "update",
]  # fmt: skip
