"""What a page says of the article it holds: in structured data, else in metas, else in marked elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final

from gossamer import urls
from gossamer.parse import bylines, clean, maintext, plain, schemaorg, structured
from gossamer.parse import metas as heads
from gossamer.parse.markup import Texts
from gossamer.parse.page import Page

__all__ = ["Sayings"]

#: Articles on one page that are looked at, and tags of one that are kept.
_MOST: Final = 200
_MOST_TAGS: Final = 50
_MOST_HEADINGS: Final = 5
#: Letters of a title, a tag and a description.
_LONGEST_TITLE: Final = 500
_LONGEST_TAG: Final = 100
#: Letters of a headline that may have been cut.
_CUT_FROM: Final = 60
_LONGEST_DESCRIPTION: Final = 2_000

#: Properties that tell one article from another.
_TELLING: Final = ("headline", "name", "url", "@id", "articleBody", "datePublished", "author", "description")
_TITLES: Final = ("og:title", "twitter:title", "parsely-title", "sailthru.title", "dc.title", "dcterms.title")
_AUTHORS: Final = (
    *("author", "article:author", "og:article:author", "parsely-author", "sailthru.author", "byl", "dc.creator"),
    *("dcterms.creator", "citation_author", "article.author", "cxenseparse:author", "rbauthors", "creator"),
)
_PUBLISHED: Final = (
    *("article:published_time", "og:article:published_time", "article:published", "article.published"),
    *(
        "datepublished",
        "parsely-pub-date",
        "sailthru.date",
        "publish-date",
        "publishdate",
        "pubdate",
        "publication_date",
    ),
    *("dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dcterms.date", "dc.date"),
    *("citation_publication_date", "citation_date", "og:pubdate", "pdate", "published", "ptime", "date"),
)
_MODIFIED: Final = (
    *("article:modified_time", "og:article:modified_time", "article:modified", "datemodified", "og:updated_time"),
    *("article.updated", "dcterms.modified", "dc.date.modified", "last-modified", "lastmod", "utime", "revised"),
)
_IMAGES: Final = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "image")
_TAGS: Final = ("article:tag", "og:article:tag", "news_keywords", "parsely-tags", "sailthru.tags", "keywords")
_DESCRIPTIONS: Final = ("og:description", "description", "twitter:description", "dc.description", "dcterms.abstract")
_SITES: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")
#: Elements that show when a page was published or changed, the surest first.
_SHOWN_PUBLISHED: Final = (
    "time[pubdate], [itemprop~=datePublished], time.published, time.entry-date, .dt-published, abbr.published",
    "article header time[datetime], main header time[datetime]",
    "article time[datetime], main time[datetime]",
)
#: Elements that call themselves a date, or stand where one is: what they say counts if it is one.
_DATED: Final = (
    "[class*=date i], [class*=publish i], [class*=posted i], [id*=date i]",
    "time, [class*=time i], [class*=meta i], [class*=byline i]",
)
_MOST_DATED: Final = 12
#: From a title to what holds it and its date.
_STEPS_UP: Final = 2
#: Elements of a page in which htmldate looks for a day.
_MOST_GUESSED: Final = 3_000
_SHOWN_MODIFIED: Final = ("[itemprop~=dateModified], time.updated, .dt-updated, time.modified",)
#: What stands between a title and the name of its site.
_SEPARATOR = re.compile(r"\s+[|–—·•:»«-]+\s+|\s*[|»]\s*")
#: What is for readers, and not for the machines of the site.
_A_TAG = re.compile(r"[^\w@/:]{0,2}\w")
#: A day in the path of a URL: `/2019/11/18/`, `/2019/nov/18/`, `/2019-11-18-`.
_IN_URL = re.compile(r"/(20[0-3]\d)[/-]([01]?\d|[a-z]{3})[/-]([0-3]?\d)(?=[/_.-]|$)", re.IGNORECASE)


class Sayings:
    """The fields of the article on one page. What is said is looked up once, when first asked for."""

    def __init__(self, page: Page, metas: dict[str, list[str]] | None = None) -> None:
        self._page = page
        self._metas = heads.metas(page) if metas is None else metas
        things = structured.of_type(page, "Article", "WebPage")[:_MOST]
        self._articles = [thing for thing in things if _is_article(thing)]
        self._pages = [thing for thing in things if schemaorg.is_a(thing.get("@type"), ["WebPage"])]

    # --- which article ---

    @cached_property
    def is_article(self) -> bool:
        """Whether structured data describes the page as an article."""
        return bool(self._about)

    @cached_property
    def is_index(self) -> bool:
        """Whether the page lists articles, and none of them is its own."""
        return not self._about and len(self._articles) > 1

    @cached_property
    def is_shared_as_article(self) -> bool:
        """Whether the page says it is an article where it is shared. Some sites say so of everything they have."""
        kind = next(iter(self._metas.get("og:type", ())), "").lower()
        return kind.startswith("article") or "article:published_time" in self._metas

    @cached_property
    def _about(self) -> list[dict[str, Any]]:
        """The things that are this page's article: some pages describe it twice, and others on the way."""
        own = [thing for thing in self._articles if self._is_own(thing)]
        # A page that describes one or two, or says it is one, describes its own first, whatever it calls it there.
        alone = len(self._articles) <= 2 or self.is_shared_as_article
        return own or (self._articles[:1] if alone else [])

    def _is_own(self, thing: dict[str, Any]) -> bool:
        told = [thing.get(name) for name in ("url", "mainEntityOfPage", "@id")]
        places = {urls.comparable(url) for value in told for url in plain.links(value, self._page.base_url)}
        if places & self._places:
            return True
        headline = _as_words(plain.name(thing.get("headline")) or plain.name(thing.get("name")) or "")
        return headline.count(" ") > 2 and any(headline in title for title in self._title_words)

    @cached_property
    def _places(self) -> set[str]:
        told = [self._page.url, heads.canonical(self._page, self._metas)]
        return {urls.comparable(url) for url in told if url}

    @cached_property
    def _title_words(self) -> list[str]:
        return [_as_words(title) for title in self.titles]

    def first(self, *names: str) -> Any:
        """The first value of one of these properties that the article has."""
        return next((thing[name] for name in names for thing in self._about if thing.get(name)), None)

    def _told(self, names: Iterable[str]) -> Iterator[str]:
        return (text for name in names for text in self._metas.get(name, ()))

    # --- its fields ---

    @cached_property
    def titles(self) -> list[str]:
        """What the page itself calls itself: in metas, in <title> and in headings."""
        texts = Texts()
        headings = [texts.of(node).replace("\n", " ") for node in self._page.tree.css("h1")[:_MOST_HEADINGS]]
        told = [*self._told(_TITLES), *headings, self._page.title]
        return [title for text in told if (title := clean.text((text or "")[:_LONGEST_TITLE]))]

    @cached_property
    def title(self) -> str | None:
        """The title, without the name of the site after it."""
        headline = clean.text(plain.name(self.first("headline", "name", "alternativeHeadline")))
        told = self._uncut(headline[:_LONGEST_TITLE]) if headline else next(iter(self.titles), None)
        return self._without_site(told) if told else None

    def _uncut(self, headline: str) -> str:
        """A headline as long as the page has it: search engines want no more than 110 letters of it."""
        start = headline.rstrip("….")
        longer = (title for title in self.titles if title.startswith(start) and title[len(start) :][:1] == " ")
        if len(start) < _CUT_FROM or (found := next(longer, None)) is None:
            return headline
        return headline if _SEPARATOR.match(found[len(start) :]) else found

    def _without_site(self, title: str) -> str:
        parts = list(_SEPARATOR.finditer(title))
        if not parts:
            return title
        for heading in self.titles:
            rest = title[len(heading) :]
            if rest and title.lower().startswith(heading.lower()) and _SEPARATOR.match(rest):
                return heading
        site = "".join(maintext.words(self.site or ""))
        host = "".join(maintext.words(urls.hostname(self._page.url)))
        ending = "".join(maintext.words(title[parts[-1].end() :]))
        own = ending and (ending == site or (len(ending) > 3 and ending in host))
        return title[: parts[-1].start()] if own and parts[-1].start() else title

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """Who wrote it."""
        told = bylines.names(plain.names(self.first("author", "creator"))) or bylines.names(self._told(_AUTHORS))
        return told or bylines.names(name for thing in self._pages for name in plain.names(thing.get("author")))

    @cached_property
    def said_published(self) -> str | None:
        """When it was first published, if structured data or metas say so."""
        told = [self.first("datePublished"), *self._told(_PUBLISHED), self.first("dateCreated", "uploadDate")]
        told += [thing.get("datePublished") for thing in self._pages]
        return self._moment(told)

    @cached_property
    def published(self) -> str | None:
        """When it was first published: as said, else as shown, else as its URL or htmldate has it."""
        if self.said_published:
            return self.said_published
        shown, day = self._shown(_SHOWN_PUBLISHED) or self._dated(), self._of_url()
        if day and not (shown or "").startswith(day):  # a page shows days of other things too; its URL does not
            return day
        return shown or self._guessed()

    @cached_property
    def modified(self) -> str | None:
        """When it was last changed."""
        told = [self.first("dateModified"), *self._told(_MODIFIED)]
        told += [thing.get("dateModified") for thing in self._pages]
        return self._moment(told) or self._shown(_SHOWN_MODIFIED)

    def _moment(self, told: Iterable[Any]) -> str | None:
        for value in told:
            for text in plain.each(value):
                if isinstance(text, str) and (found := clean.moment(text, language=self.language)):
                    return found
        return None

    def _shown(self, places: Iterable[str]) -> str | None:
        for place in places:
            for node in self._page.tree.css(place)[:5]:
                given = node.attributes
                told = given.get("datetime") or given.get("content") or given.get("title") or node.text()[:200]
                if found := self._moment([told]):
                    return found
        return None

    def _of_url(self) -> str | None:
        if (found := _IN_URL.search(self._page.url[:2_000])) is None:
            return None
        return clean.date((" " if found[2].isalpha() else "-").join(found.groups()))

    def _dated(self) -> str | None:
        """The first date that stands in an element for one, near the title: above it, many sites show today's."""
        texts, near = Texts(), self._page.tree.css_first("h1")
        for _ in range(_STEPS_UP):
            near = near.parent if near is not None else None
        if near is None or near.tag in ("body", "html"):
            return None
        nodes = [node for place in _DATED for node in near.css(place)[:_MOST_DATED]]
        lines = (" ".join(texts.of(node)[:100].split()) for node in nodes)
        return self._moment(line for line in lines if any(letter.isdigit() for letter in line))

    def _guessed(self) -> str | None:
        """The day that htmldate makes out of what the page shows; its wider search finds days of other things."""
        if (tree := maintext.bounded(self._page, _MOST_GUESSED)) is None:
            return None
        from htmldate import find_date

        maintext.silence()
        # Each of these costs it milliseconds, and a page may have thousands.
        for element in islice(tree.iter("time", "abbr", "meta"), _MOST_DATED, None):
            element.tag = "span"
        try:
            found = find_date(tree, extensive_search=False, original_date=True, url=self._page.url)
        except Exception:  # noqa: BLE001 - whatever it stumbles over in a page of an enemy, there is no date
            return None
        return clean.date(found)

    @cached_property
    def image(self) -> str | None:
        """The absolute URL of the picture that stands for it."""
        base = self._page.base_url
        # What is given to be shared is the picture in its full size; what is given to search engines often a small one.
        told = [
            *self._told(_IMAGES[:1]),
            *self._told(_IMAGES[1:3]),
            self.first("image", "thumbnailUrl"),
            *self._told(_IMAGES[3:]),
        ]
        named = (url for rel, _, url in heads.links(self._page) if "image_src" in rel)
        return next((url for value in told if (url := plain.link(value, base))), None) or next(named, None)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Its keywords, from the first place that has some."""
        for told in (list(plain.names(self.first("keywords"))), *([*self._told([name])] for name in _TAGS)):
            if found := _tags(told):
                return found
        texts = Texts()
        return _tags([texts.of(node) for node in self._page.tree.css("a[rel~=tag]")[:_MOST_TAGS]])

    @cached_property
    def site(self) -> str | None:
        """The name of the site."""
        return clean.text(
            next(self._told(_SITES[:1]), None) or plain.name(self.first("publisher")) or next(self._told(_SITES), None)
        )

    @cached_property
    def language(self) -> str | None:
        """The language it is written in."""
        told = [name for value in plain.each(self.first("inLanguage")) for name in _languages(value)]
        return next((tag for text in told if (tag := heads.as_language(text))), None) or heads.language(
            self._page, self._metas
        )

    @cached_property
    def description(self) -> str | None:
        """A sentence or two about it."""
        told = [self.first("description", "abstract"), *self._told(_DESCRIPTIONS)]
        found = (
            clean.text(text[: 2 * _LONGEST_DESCRIPTION])
            for value in told
            for text in plain.each(value)
            if isinstance(text, str)
        )
        return next((text[:_LONGEST_DESCRIPTION] for text in found if text), None)


def _is_article(thing: dict[str, Any]) -> bool:
    """Whether a thing is an article, and says more than that."""
    return schemaorg.is_a(thing.get("@type"), ["Article"]) and any(thing.get(name) for name in _TELLING)


def _as_words(text: str) -> str:
    """A text as words with spaces around each, so that one can be looked for in another."""
    return f" {' '.join(maintext.words(text[:_LONGEST_TITLE]))} "


def _languages(value: Any) -> Iterator[str]:
    """An `inLanguage` as text: a tag, or a thing with one."""
    told = [value.get("alternateName"), value.get("name")] if isinstance(value, dict) else [value]
    return (text for text in told if isinstance(text, str))


def _tags(told: Iterable[str]) -> tuple[str, ...]:
    """Keywords, each once; one text may hold several."""
    found: dict[str, str] = {}
    for text in told:
        by = "," if "," in text else ";"
        for part in text[: _MOST_TAGS * _LONGEST_TAG].split(by):
            tag = clean.text(part)
            if tag and len(tag) <= _LONGEST_TAG and _A_TAG.match(tag):
                found.setdefault(tag.lower(), tag)
    return tuple(found.values())[:_MOST_TAGS]
