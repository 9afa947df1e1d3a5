"""Who takes part, with how many threads, and what each leaves out."""
from dataclasses import dataclass
from importlib import import_module

NO_STATE = "no updates while deciding and no ids: users and members are row numbers; no devices"
DAY = "windows moved to UTC once a day, so a clock change within the day is missed"
JOINED = "a change of a user's setting must be written to every membership"


@dataclass(frozen=True)
class Contestant:
    name: str
    module: str
    kind: str
    threads: int
    leaves_out: str
    largest: int | None = None  # members
    pushes_only: bool = False

    @property
    def environment(self):
        """Settings that count from the start of a process only."""
        threads = str(self.threads)
        return {"POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads}

    def make(self, world):
        return getattr(import_module(self.module), self.kind)(world, self.threads)


def _variants(name, module, kind, leaves_out):
    return [
        Contestant(name, module, kind, 1, leaves_out),
        Contestant(f"{name}-2-threads", module, kind, 2, leaves_out),
    ]


CONTESTANTS = [
    *_variants("duckdb-join", "with_duckdb", "DuckDBJoin", f"{NO_STATE}; {DAY}"),
    *_variants(
        "duckdb-denormalised", "with_duckdb", "DuckDBDenormalised",
        f"{JOINED}; {NO_STATE}; {DAY}",
    ),
    *_variants("polars-join", "with_polars", "PolarsJoin", f"{NO_STATE}; {DAY}"),
    *_variants(
        "polars-denormalised", "with_polars", "PolarsDenormalised",
        f"{JOINED}; {NO_STATE}; {DAY}",
    ),
    Contestant("numpy", "with_numpy", "NumPy", 1, f"{NO_STATE}; {DAY}"),
    Contestant(
        "numpy-resolved", "with_numpy", "NumPyResolved", 1,
        "the pass over all users at each minute is not timed, and a mute that ends within the "
        f"minute is missed; {NO_STATE}; {DAY}",
    ),
    Contestant(
        "synapse", "with_synapse", "Synapse", 1,
        "no reasons or scopes, only who gets a push; no quiet hours, zones, mutes with an end or "
        "force push: each member's rules for this instant are chosen before the clock starts; "
        "storage, visibility and badge counts are not run",
        largest=100_000, pushes_only=True,
    ),
]
