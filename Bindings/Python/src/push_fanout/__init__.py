"""push-fanout: who gets a push for a message to a group, and why others do not.

>>> from push_fanout import Fanout
>>> fanout = Fanout.from_ndjson(b'''
... {"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}
... {"kind":"user","id":"ann","quietHours":{"start":"22:00","end":"08:00"}}
... {"kind":"member","conversation":"g1","user":"ann"}
... {"kind":"member","conversation":"g1","user":"ben"}
... ''')
>>> decision = fanout.decide({"id": "m1", "conversation": "g1", "at": "2024-06-03T23:30:00+08:00"})
>>> decision.pushes
['ben']
>>> for row in decision.rows():
...     print(row.user, row.action, row.reason, row.scope)
ann none quietHours app
ben push allowed default

docs/python.md is the guide, docs/formats.md has the fields of settings and messages,
docs/decision-rules.md the rules.
"""

from ._version import __version__
from .batch import Batch, Decisions, Rows
from .decision import Change, Decision, Evaluated, Explanation, Row, Stamp
from .engine import Fanout
from .errors import Error, UnknownTimeZoneWarning
from .messages import MessageInfo, Messages
from .outcomes import OUTCOMES, REGISTRY_VERSION, Outcome
from .replaying import CompareResult, Figures, Page, ReplayResult, compare, replay
from .sending import Requests, Step, read_provider_answer

__all__ = [
    "OUTCOMES",
    "REGISTRY_VERSION",
    "Batch",
    "Change",
    "CompareResult",
    "Decision",
    "Decisions",
    "Error",
    "Evaluated",
    "Explanation",
    "Fanout",
    "Figures",
    "MessageInfo",
    "Messages",
    "Outcome",
    "Page",
    "ReplayResult",
    "Requests",
    "Row",
    "Rows",
    "Stamp",
    "Step",
    "UnknownTimeZoneWarning",
    "__version__",
    "compare",
    "read_provider_answer",
    "replay",
]
