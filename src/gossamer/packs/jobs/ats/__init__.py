"""Applicant tracking systems: one adapter for each, so that a company's jobs are two lines.

class Acme(Greenhouse):
    board = "acme"
"""

from __future__ import annotations

from gossamer.packs.jobs.ats.amazon import Amazon
from gossamer.packs.jobs.ats.ashby import Ashby
from gossamer.packs.jobs.ats.bamboohr import BambooHR
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.ats.detection import ADAPTERS, Detected, detect
from gossamer.packs.jobs.ats.eightfold import Eightfold
from gossamer.packs.jobs.ats.greenhouse import Greenhouse
from gossamer.packs.jobs.ats.icims import ICIMS
from gossamer.packs.jobs.ats.jibe import Jibe
from gossamer.packs.jobs.ats.jobvite import Jobvite
from gossamer.packs.jobs.ats.lever import Lever
from gossamer.packs.jobs.ats.neogov import NEOGOV
from gossamer.packs.jobs.ats.oracle import OracleHCM
from gossamer.packs.jobs.ats.peopleclick import PeopleClick
from gossamer.packs.jobs.ats.personio import Personio
from gossamer.packs.jobs.ats.phenom import Phenom
from gossamer.packs.jobs.ats.pinpoint import Pinpoint
from gossamer.packs.jobs.ats.recruitee import Recruitee
from gossamer.packs.jobs.ats.smartrecruiters import SmartRecruiters
from gossamer.packs.jobs.ats.successfactors import SuccessFactors
from gossamer.packs.jobs.ats.teamtailor import Teamtailor
from gossamer.packs.jobs.ats.workable import Workable
from gossamer.packs.jobs.ats.workday import Workday

__all__ = [
    "ADAPTERS",
    "ICIMS",
    "NEOGOV",
    "Amazon",
    "Ashby",
    "BambooHR",
    "Board",
    "Detected",
    "Eightfold",
    "Greenhouse",
    "Jibe",
    "Jobvite",
    "Lever",
    "OracleHCM",
    "PeopleClick",
    "Personio",
    "Phenom",
    "Pinpoint",
    "Recruitee",
    "SmartRecruiters",
    "SuccessFactors",
    "Teamtailor",
    "Workable",
    "Workday",
    "detect",
]
