"""What a job is about: cargo, helicopters, maintenance ... by words that stand as words, the telling ones first."""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["operation_type"]

#: Letters of a text that are looked at.
_LONGEST: Final = 20_000

#: Kinds in the order in which they are looked for: a cargo airline's job is of a cargo airline.
_WORDS: Final = {
    "cargo": "cargo freight freighter freighters air-freight loadmaster load-master express-parcel",
    "helicopter": "helicopter helicopters rotorcraft rotary-wing offshore-transport hems heli"
    " air-ambulance-helicopter",
    "mro": "mro aircraft-maintenance line-maintenance base-maintenance heavy-maintenance"
    " maintenance-repair-and-overhaul maintenance-engineer maintenance-technician aircraft-mechanic"
    " aircraft-technician avionics airframe powerplant part-145 licensed-aircraft-engineer"
    " b1-engineer b2-engineer component-repair engine-shop",
    "ground_ops": "ground-operations ground-handling ground-handler ramp-agent ramp-service ramp-operations"
    " ramp-officer baggage-handler baggage-handling passenger-handling station-manager turnaround"
    " turnaround-coordinator airside-operations apron-controller gate-agent check-in-agent"
    " aircraft-loader load-control load-controller",
    "atc": "air-traffic-control air-traffic-controller air-traffic-services atc atco atm-specialist"
    " air-navigation approach-controller tower-controller area-control-centre",
    "business": "business-aviation business-jet business-jets private-aviation private-jet private-jets"
    " executive-jet executive-aviation corporate-aviation corporate-jet corporate-flight fbo"
    " fixed-base-operator vip-aircraft",
    "ad_hoc_charter": "ad-hoc-charter charter-sales charter-broker charter-operations aircraft-charter air-charter",
    "low_cost": "low-cost low-cost-carrier lcc ultra-low-cost budget-airline low-fare",
    "scheduled": "scheduled-airline scheduled-services scheduled-carrier scheduled-operations network-carrier"
    " legacy-carrier flag-carrier full-service-carrier",
    "passenger": "airline airlines airways passenger-services passenger-airline passenger-operations cabin-crew"
    " flight-attendant",
}  # fmt: skip


def _pattern(words: str) -> re.Pattern[str]:
    spelled = (r"[\s-]{1,2}".join(map(re.escape, word.split("-"))) for word in words.split())
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spelled)})(?![\w-])", re.IGNORECASE)


_PATTERNS: Final = {kind: _pattern(words) for kind, words in _WORDS.items()}


def operation_type(*texts: Any) -> str | None:
    """What the first of these texts that tells is about; None if none does.

    >>> operation_type("Load Controller", "An airline of freighters")
    'ground_ops'
    """
    for text in texts:
        if isinstance(text, str):
            for kind, pattern in _PATTERNS.items():
                if pattern.search(text[:_LONGEST]):
                    return kind
    return None
