"""Jobs: what a posting says, from schema.org, from the JSON of applicant tracking systems, or from the page itself."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import calls, cards, clean, embedded, jobdata, labels, opengraph, plain, structured, vacancies
from gossamer.parse.cards import Card
from gossamer.parse.page import Page
from gossamer.parse.pagedates import PageDates
from gossamer.parse.pay import Pay, pay, period

__all__ = ["Job", "read"]

#: Postings of one page.
MOST: Final = 2000


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job posting."""

    #: Where it can be read.
    url: str | None = None
    #: What the site calls it: a number, a requisition.
    id: str | None = None
    title: str | None = None
    #: Who hires.
    organisation: str | None = None
    department: str | None = None
    #: Where, in one line; several places with semicolons between.
    location: str | None = None
    locations: tuple[str, ...] = ()
    #: Whether it can be done from anywhere, or from home; None if it does not say.
    remote: bool | None = None
    #: "full-time", "part-time", "contract", "temporary", "internship" ..., or the site's own word.
    employment_type: str | None = None
    #: ISO 8601, as exact as the posting says.
    posted: str | None = None
    #: The last day to apply.
    deadline: str | None = None
    salary_min: float | None = None
    salary_max: float | None = None
    #: ISO 4217.
    salary_currency: str | None = None
    #: "hour", "day", "week", "month" or "year".
    salary_period: str | None = None
    #: As plain text, a line for each paragraph.
    description: str | None = None
    apply_url: str | None = None
    #: Whether the page says that it is filled or expired.
    closed: bool = False


def read(page: Page) -> list[Job]:
    """The postings of a page: of one that is about a job, of a list of jobs, or of an answer of an API in JSON."""
    if page.kind == "json":
        try:
            return _of_json(page.json(), page)
        except ReadError:
            return []
    if page.kind != "html" and not page.is_html:
        return []
    reading = _Reading(page)
    return reading.posted() or reading.listed() or reading.stated() or reading.seen()


# --- schema.org -------------------------------------------------------------------------------------------------


class _Reading:
    """One page being read."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dates = PageDates.of(page)
        self.lines = labels.lines(page.tree.body) if page.tree.body is not None else []
        self.likely = bool(_JOB_URL.search(page.url) or _JOB_TITLE.search(page.title or ""))
        self.closed = vacancies.says(page, self.lines) is not None

    def posted(self) -> list[Job]:
        """What the page says in JSON-LD, microdata or RDFa."""
        things = structured.of_type(self.page, "JobPosting")[:MOST]
        made = [job for thing in things if (job := _of_thing(thing, self.page, self.dates)).title]
        if len(made) == 1:
            return [self._completed(made[0])]
        return list({(job.url, job.id, job.title, job.location): job for job in made}.values())

    def _completed(self, job: Job) -> Job:
        """The only posting of a page, with what its markup leaves to the eye."""
        changes: dict[str, Any] = {"closed": job.closed or self.closed}
        if job.url is None:
            changes["url"] = _canonical(self.page)
        if job.apply_url is None:
            changes["apply_url"] = self._apply()
        return msgspec.structs.replace(job, **changes)

    def stated(self) -> list[Job]:
        """What its scripts keep for their own use."""
        for state in embedded.states(self.page):
            if found := _of_json(state, self.page):
                return found
        return []

    def listed(self) -> list[Job]:
        """The cards of a list of jobs."""
        if not self.likely and not cards.leads(self.page, _JOB_URL):
            return []
        return list({job.url: job for job in cards.best(self.page, self._of_card)}.values())[:MOST]

    def _of_card(self, card: Card) -> tuple[Job, int] | None:
        if not card.title or not card.url or len(card.title) > 200:
            return None
        to_job = bool(_JOB_URL.search(card.url))
        if not (to_job or self.likely):
            return None
        said = {name: next(labels.values(card.labels, pattern), None) for name, pattern in _LABELS.items()}
        wage = next(
            (
                found
                for line in card.lines
                if len(line) < 80 and (found := pay(line, country=self.dates.country)).period
            ),
            Pay(),
        )
        where = card.hinted(_WHERE) or said["location"]
        posted = card.time or card.hinted(_WHEN) or said["posted"]
        job = Job(
            url=card.url,
            id=_number(card.node, card.url) or said["id"],
            title=card.title,
            organisation=card.hinted(_WHO) or said["organisation"],
            location=where,
            locations=(where,) if where else (),
            remote=jobdata.is_remote(where),
            employment_type=next(filter(None, (_kind(line) for line in card.lines)), None) or _kind(said["type"]),
            posted=self.dates.moment(posted),
            deadline=self.dates.moment(said["deadline"]),
            salary_min=wage.least,
            salary_max=wage.most,
            salary_currency=wage.currency,
            salary_period=wage.period,
            apply_url=next((url for node, url in card.links if _APPLY.match(_text(node)) and url != card.url), None),
        )
        fields = sum(bool(value) for value in (where, job.organisation, posted, job.employment_type, wage.least))
        # A link with a place beside it may be a shop's; one to a job, or with more of a job's facts, is none.
        enough = fields >= 1 if to_job else fields >= 3
        return (job, fields) if enough else None

    def seen(self) -> list[Job]:
        """What a reader sees of a page about one job."""
        title = self._title()
        if title is None:
            return []
        pairs = labels.labelled(self.page.tree.body, self.lines)
        said = {name: next(labels.values(pairs, pattern), None) for name, pattern in _LABELS.items()}
        apply_url = self._apply()
        known = sum(bool(said[name]) for name in ("location", "deadline", "salary", "type", "department"))
        if not (self.closed and self.likely) and known + (apply_url is not None) + self.likely < 3:
            return []
        wage = pay(said["salary"], country=self.dates.country, sure=True)
        description = self._description()
        job = Job(
            url=_canonical(self.page),
            id=said["id"],
            title=title,
            organisation=said["organisation"] or self._site(),
            department=said["department"],
            location=said["location"],
            locations=(said["location"],) if said["location"] else (),
            remote=jobdata.is_remote(said["location"]),
            employment_type=jobdata.kind(said["type"]),
            posted=self.dates.moment(said["posted"]),
            deadline=self.dates.moment(said["deadline"]) or self._deadline(description),
            salary_min=wage.least,
            salary_max=wage.most,
            salary_currency=wage.currency,
            salary_period=wage.period,
            description=description,
            apply_url=apply_url,
            closed=self.closed,
        )
        return [job]

    def _title(self) -> str | None:
        for node in self.page.tree.css("h1")[:3]:
            text = _text(node)
            if 2 < len(text) < 200 and vacancies.of_line(text) is None:
                return text
        told = opengraph.read(self.page.tree).get("og:title") or self.page.title
        named = next(plain.each(told), None)
        return _SITE_PART.sub("", named, count=1).strip() or None if isinstance(named, str) else None

    def _site(self) -> str | None:
        return clean.text(next(plain.each(opengraph.read(self.page.tree).get("og:site_name")), None))

    def _apply(self) -> str | None:
        for node in self.page.tree.css("a[href]")[:2000]:
            href = node.attributes.get("href") or ""
            if _APPLY.match(_text(node)) and not href.startswith("#"):
                return urls.resolve(href, self.page.base_url)
        return None

    def _deadline(self, description: str | None) -> str | None:
        """The last day to apply, as sentences say it: those about the job first."""
        texts = (description or "", "\n".join(self.lines))
        return next(filter(None, (calls.apply_by(text, self.dates) for text in texts)), None)

    def _description(self) -> str | None:
        node = self.page.tree.css_first(_DESCRIPTION)
        return "\n".join(labels.lines(node)) or None if node is not None else None


def _of_thing(thing: dict[str, Any], page: Page, dates: PageDates) -> Job:
    places = _places(thing)
    organisation = next(plain.each(thing.get("hiringOrganization")), None)
    wage = _salary(thing)
    kinds = dict.fromkeys(filter(None, (jobdata.kind(one) for one in plain.names(thing.get("employmentType")))))
    remote = True if "telecommute" in str(thing.get("jobLocationType")).lower() else None
    return Job(
        url=plain.link(thing.get("url"), page.base_url),
        id=_identifier(thing.get("identifier")),
        title=plain.name(thing.get("title")) or plain.name(thing.get("name")),
        organisation=plain.name(organisation),
        department=plain.name(organisation.get("department")) if isinstance(organisation, dict) else None,
        location="; ".join(places) or None,
        locations=places,
        remote=remote if remote is not None else next(filter(None, map(jobdata.is_remote, places)), None),
        employment_type=", ".join(kinds) or None,
        posted=dates.moment(next(plain.each(thing.get("datePosted")), None)),
        deadline=dates.moment(next(plain.each(thing.get("validThrough")), None)),
        salary_min=wage.least,
        salary_max=wage.most,
        salary_currency=wage.currency,
        salary_period=wage.period,
        description=plain.prose(thing.get("description") or thing.get("responsibilities")),
        apply_url=plain.link(thing.get("applicationContact"), page.base_url),
    )


def _places(thing: dict[str, Any]) -> tuple[str, ...]:
    found = [plain.place(one) for one in plain.each(thing.get("jobLocation"))]
    if not any(found):
        found = [plain.place(one) for one in plain.each(thing.get("applicantLocationRequirements"))]
    return tuple(dict.fromkeys(one for one in found if one))


def _identifier(value: Any) -> str | None:
    first = next(plain.each(value), None)
    if isinstance(first, dict):
        first = next(plain.each(first.get("value")), None) or first.get("@id")
    return clean.strip(first)


def _salary(thing: dict[str, Any]) -> Pay:
    """`baseSalary` in all the ways it is written: an amount, a range, a text."""
    given = next(plain.each(thing.get("baseSalary") or thing.get("estimatedSalary")), None)
    currency = clean.strip(thing.get("salaryCurrency"))
    if not isinstance(given, dict):
        amount = clean.number(given) if not isinstance(given, str) else None
        return Pay(amount, amount, currency) if amount else pay(given, currency, sure=True)
    currency = clean.strip(given.get("currency")) or currency
    value = next(plain.each(given.get("value")), None)
    inner = value if isinstance(value, dict) else given
    exact = clean.number(inner.get("value")) if isinstance(value, dict) else clean.number(value)
    least = clean.number(inner.get("minValue"))
    most = clean.number(inner.get("maxValue"))
    unit = inner.get("unitText") or given.get("unitText") or given.get("duration")
    if not (exact or least or most):
        found = pay(value, currency, sure=True)
        return found._replace(period=found.period or period(unit))
    least, most = least or exact or most, most or exact or least
    return Pay(least or None, most or None, currency or clean.strip(inner.get("currency")), period(unit))


# --- JSON -------------------------------------------------------------------------------------------------------


def _of_json(data: Any, page: Page) -> list[Job]:
    """Jobs in data of whatever shape, by the names of its fields."""
    dates = PageDates.of(page)
    found: list[Job] = []
    for record in jobdata.records(data)[:MOST]:
        thing = record.get("_thing")
        if isinstance(thing, dict):
            job = _of_thing(thing, page, dates)
            job = msgspec.structs.replace(job, url=job.url or clean.url(record.get("url"), page.base_url))
        else:
            job = Job(**jobdata.fields(record, page.url, dates))
        if job.title:
            found.append(job)
    return found


# --- what pages say ---------------------------------------------------------------------------------------------

_JOB_URL: Final = re.compile(
    r"/(?:[\w-]*jobs?[\w-]*|careers?|karriere|vacanc(?:y|ies)|vacatures?|positions?|openings?|postings?|stellen\w*"
    r"|offres?(?:-d-emploi)?|emplois?|empleos?|ofertas?|viewjob|requisitions?|opportunit(?:y|ies)|roles?|o)/[^/?#]"
    r"|[?&](?:job_?id|jk|gh_jid|req_?id|jobreq\w*|career_job_req_id|vacancy_?id|currentjobid)=\w",
    re.IGNORECASE,
)
_JOB_TITLE: Final = re.compile(r"\b(?:jobs?|careers?|vacanc|karriere|stellen|emploi|empleo|vacature)", re.IGNORECASE)
#: What stands behind a job's name in the title of its page.
_SITE_PART: Final = re.compile(r"\s+Job Details\b.*$|\s+[|–—·»]\s.*$")
_APPLY: Final = re.compile(
    r"(?:apply|bewerben|jetzt bewerben|online bewerben|postuler|je postule|solicitar|inscribirse|candidati|candidatar"
    r"|solliciteer|ansök|aplikuj)\b(?!.{40})",
    re.IGNORECASE,
)
_WHO: Final = re.compile(r"company|employer|organi[sz]ation|subtitle|hiring|recruiter|agency", re.IGNORECASE)
_WHERE: Final = re.compile(r"location|(?:^|[\s_-])(?:city|place|region|ort|standort|lieu)(?:$|[\s_-])", re.IGNORECASE)
_WHEN: Final = re.compile(r"posted|listed|publish|(?:^|[\s_-])(?:date|time|ago|age)(?:$|[\s_-])|-date\b", re.IGNORECASE)
_DESCRIPTION: Final = (
    "[itemprop=description], [class*=job-description i], [class*=jobdescription i], [class*=job_description i],"
    " [id*=job-description i], [id*=jobdescription i], [class*=description i], article, main"
)
_LABELS: Final = {
    "location": re.compile(
        r"(?:(?:primary|job|work|office) )?(?:locations?|city|place of work|workplace)|(?:arbeits|dienst)ort|standorte?"
        r"|einsatzort|ort|lieu(?: de travail)?|localisation|ubicación|lugar(?: de trabajo)?|localidad|sede|località"
        r"|luogo(?: di lavoro)?|locatie|standplaats|localização|local|plats|miejsce pracy|lokalizacja|勤務地"
    ),
    "deadline": re.compile(
        r"(?:application |applications? |job |posting )?(?:deadline|clos(?:ing|es?)(?: date)?|end date|due(?: date)?)"
        r"|apply (?:by|before)|(?:valid|open) (?:until|through)|expir(?:y|es|ation)(?: date)?|last date(?: to apply)?"
        r"|bewerbungs(?:frist|schluss)|bewerben bis|bewerbung bis|date limite(?: de candidature)?|candidater avant"
        r"|fecha (?:límite|de cierre|limite)|plazo(?: de solicitud)?|scadenza|data di scadenza|sluitingsdatum"
        r"|reageer (?:voor|uiterlijk)|data limite|prazo|sista ansökningsdag|termin składania|ansøgningsfrist"
        r"|søknadsfrist|応募締切|締切"
    ),
    "posted": re.compile(
        r"(?:date )?posted(?: on| date)?|posting date|post date|published(?: on)?|publication date|listed(?: on)?|date"
        r"|veröffentlicht(?: am)?|online seit|publiée? le|date de publication|fecha de publicación|publicado(?: el)?"
        r"|pubblicato(?: il)?|geplaatst(?: op)?|publicerad|掲載日"
    ),
    "salary": re.compile(
        r"(?:base |annual |hourly |monthly |starting |expected )?(?:salary|pay|wages?|compensation|remuneration)"
        r"(?: range| rate| scale| package)?|gehalt|vergütung|lohn|salaire|rémunération|salario|sueldo|retribuzione"
        r"|stipendio|salaris|salário|lön|wynagrodzenie|給与"
    ),
    "type": re.compile(
        r"(?:job|employment|contract|position|work|role|time|vacancy)[ -](?:type|status|time|schedule)"
        r"|type of (?:job|contract|employment)|schedule|contract|hours|anstellungsart|beschäftigungsart"
        r"|arbeitszeit|vertragsart|type de contrat"
        r"|contrat|tipo de (?:contrato|empleo)|jornada|tipo di contratto|contratto|dienstverband|anställningsform"
    ),
    "department": re.compile(
        r"department|division|team|function|job (?:family|function|category)|category|abteilung|bereich|fachbereich"
        r"|département|service|departamento|área|reparto|afdeling|avdelning"
    ),
    "organisation": re.compile(
        r"company(?: name)?|employer|organi[sz]ation|hiring (?:company|organi[sz]ation)|agency|firma|unternehmen"
        r"|arbeitgeber|entreprise|société|employeur|empresa|azienda|bedrijf|werkgever|företag|会社名"
    ),
    "id": re.compile(
        r"(?:job|requisition|req|vacancy|posting|position|reference)(?:[ -](?:id|number|no\.?|ref(?:erence)?|code|#))+"
        r"|reference|ref\.?|kennziffer|referenz(?:nummer)?|stellen-?id|référence|referencia|riferimento|referentie"
    ),
}  # fmt: skip
_DIGIT: Final = re.compile(r"\d")
_ID_MARKS: Final = ("data-job-id", "data-jobid", "data-id", "data-jk", "data-entity-urn", "data-req-id")
_ID_END: Final = re.compile(r"(?:[-_/=]|^)(\d{3,20}|[0-9a-f]{16,40})(?:\.html?|/)?$")


def _kind(text: str | None) -> str | None:
    """How much one works, where a line says just that."""
    return jobdata.kind(text, known=True) if text and len(text) < 30 else None


def _number(node: Any, url: str) -> str | None:
    """What the site calls a posting: an attribute of its card, or the end of its URL."""
    given = [node.attributes.get(mark) for mark in _ID_MARKS]
    for mark in _ID_MARKS[:1]:
        inner = node.css_first(f"[{mark}]")
        given.append(inner.attributes.get(mark) if inner is not None else None)
    said = next(filter(None, given), None)
    if said:
        return said.rpartition(":")[2].strip() or None
    found = _ID_END.search(url.partition("?")[0])
    return found[1] if found else None


def _canonical(page: Page) -> str:
    node = page.tree.css_first("link[rel=canonical][href]")
    found = urls.resolve(node.attributes.get("href") or "", page.base_url) if node is not None else None
    same = found is not None and urls.registered_domain(urls.hostname(found)) == urls.registered_domain(
        urls.hostname(page.url)
    )
    return found if found is not None and same else page.url


def _text(node: Any) -> str:
    return " ".join(labels.lines(node))
