"""Answers in the structure of applicant tracking systems: one invented company in each of them.

Every board shows what its system is special for: lists in pages, jobs that are filled, expired or gone, an older API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gossamer.demo.jobs import ats_details as details
from gossamer.demo.jobs import ats_lists as lists
from gossamer.demo.jobs import ats_pages as pages
from gossamer.testing import Answer, Hit, Site

__all__ = ["BOARDS", "HOSTS", "install"]

#: Adapter -> what a class says for the board that is here.
BOARDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Workday": {"board": "gannet.wd3.myworkdayjobs.com/Careers"},
    "Greenhouse": {"board": "windhover"},
    "Lever": {"board": "skerry"},
    "Ashby": {"board": "petrel"},
    "OracleHCM": {"board": "turn.fa.em2.oraclecloud.com/CX_1"},
    "SmartRecruiters": {"board": "Whimbrel"},
    "SuccessFactors": {"board": "jobs.smew.example"},
    "Phenom": {"board": "careers.brentgoose.example/us/en"},
    "Eightfold": {"board": "kittiwake.eightfold.ai"},
    "Recruitee": {"board": "fulmar"},
    "Workable": {"board": "redshank"},
    "Teamtailor": {"board": "sanderling"},
    "BambooHR": {"board": "avocet"},
    "ICIMS": {"board": "careers-curlew"},
    "Jibe": {"board": "careers.lapwing.example"},
    "Jobvite": {"board": "knot"},
    "Personio": {"board": "brachvogel"},
    "Pinpoint": {"board": "dotterel"},
    "NEOGOV": {"board": "plovercounty"},
    "Amazon": {"board": ""},
    "PeopleClick": {"board": "client_pintail"},
}
_PATHS: Final[tuple[tuple[str, str, Callable[[Hit], Answer]], ...]] = (
    ("gannet.wd3.myworkdayjobs.com", "/wday/cxs/gannet/Careers/*", details.workday),
    ("boards-api.greenhouse.io", "/v1/boards/windhover/jobs", lists.greenhouse),
    ("api.lever.co", "/v0/postings/skerry", lists.lever),
    ("api.ashbyhq.com", "/posting-api/job-board/petrel", lists.ashby),
    ("turn.fa.em2.oraclecloud.com", "/hcmRestApi/resources/latest/*", details.oracle),
    ("api.smartrecruiters.com", "/v1/companies/Whimbrel/postings*", details.smartrecruiters),
    ("jobs.smew.example", "/*", pages.successfactors),
    ("career5.successfactors.eu", "/career", lists.old_successfactors),
    ("careers.brentgoose.example", "/*", details.phenom),
    ("kittiwake.eightfold.ai", "/api/pcsx/*", details.eightfold),
    ("plover.eightfold.ai", "/api/*", details.old_eightfold),
    ("fulmar.recruitee.com", "/api/offers/", lists.recruitee),
    ("apply.workable.com", "/api/*", details.workable),
    ("sanderling.teamtailor.com", "/*", lists.teamtailor),
    ("avocet.bamboohr.com", "/careers/*", details.bamboohr),
    ("careers-curlew.icims.com", "/jobs/*", pages.icims),
    ("careers.lapwing.example", "/api/jobs", details.jibe),
    ("jobs.jobvite.com", "/knot/*", pages.jobvite),
    ("brachvogel.jobs.personio.de", "/xml", lists.personio),
    ("dotterel.pinpointhq.com", "/postings.json", lists.pinpoint),
    ("www.governmentjobs.com", "/SearchEngine/JobsFeed", lists.neogov),
    ("www.amazon.jobs", "/en/search.json", lists.amazon),
    ("careers.peopleclick.com", "/careerscp/client_pintail/external/*", pages.peopleclick),
)
#: The hosts they stand in for.
HOSTS: Final[tuple[str, ...]] = tuple(host for host, _, _ in _PATHS)


def install(site: Site) -> None:
    """Add the answers to a site, each host below a path of its own name."""
    for host, path, answer in _PATHS:
        site.page(f"/{host}/robots.txt", "User-agent: *\nAllow: /\n", headers={"Content-Type": "text/plain"})
        site.handler(f"/{host}{path}", answer)
