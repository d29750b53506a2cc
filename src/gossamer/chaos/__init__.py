"""What a scraper does when its site misbehaves: its own pages, served by a local site that fails on purpose.

The pages are saved once, politely, from the real site. Then the scraper runs three times against a local copy of
them: twice undisturbed, to learn what it gives (and which of it is different each time), and once with faults. What
the third run lacks, doubles or changes is what those faults cost. Nothing but the saving leaves this machine.
"""

from gossamer.chaos.compare import Comparison, compare
from gossamer.chaos.faults import HARD, SOFT, Fault
from gossamer.chaos.replay import Findings, torment
from gossamer.chaos.saved import Recorder, Saved, load, record

__all__ = [
    "HARD",
    "SOFT",
    "Comparison",
    "Fault",
    "Findings",
    "Recorder",
    "Saved",
    "compare",
    "load",
    "record",
    "torment",
]
