"""RDFa 1.1 in HTML: resources as its processing rules find them, in the shape of JSON-LD.

A resource is `{"@id": .., "@type": .., "https://schema.org/name": ..}`: names are full URLs, several values are a list.
What has no URL of its own stands inside the resource that speaks of it; what has one stands at the top, and those that
speak of it say `{"@id": ..}`. Only elements with an attribute of RDFa are looked at; what holds around one is asked
upwards, and remembered for all elements on the way.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import markup

__all__ = ["read"]

#: Resources inside resources that are kept; what lies deeper is left out.
DEEPEST: Final = 32
#: Statements read of one page.
MOST: Final = 30_000
#: Prefixes that can hold at one place, and links that can wait for their object there.
_MOST_PREFIXES: Final = 200
_MOST_WAITING: Final = 20
#: Names that one attribute can have.
_MOST_NAMES: Final = 10

_MARKED = "[property], [typeof], [about], [resource], [vocab], [prefix], [rel], [rev], html, head, body"
_TYPE = "@type"
_USES = "http://www.w3.org/ns/rdfa#usesVocabulary"
_XHV = "http://www.w3.org/1999/xhtml/vocab#"
#: What these links mean in every page of HTML has nothing to do with the page's vocabulary.
_HTML_LINKS = frozenset(
    (
        *("alternate", "amphtml", "apple-touch-icon", "author", "bookmark", "canonical", "dns-prefetch", "edituri"),
        *("external", "help", "icon", "manifest", "modulepreload", "next", "nofollow", "noopener", "noreferrer"),
        *("opener", "pingback", "preconnect", "prefetch", "preload", "prerender", "prev", "search", "shortcut"),
        *("shortlink", "sponsored", "stylesheet", "tag", "ugc", "wlwmanifest", "me", "publisher", "mask-icon"),
    )
)
_TERMS = {"license": _XHV + "license", "describedby": "http://www.w3.org/2007/05/powder-s#describedby"}
#: Before version 1.1 links of HTML were statements, too.
_OLD_TERMS = {
    name: _XHV + name
    for name in (
        *("alternate", "appendix", "bookmark", "chapter", "cite", "contents", "copyright", "first", "glossary", "help"),
        *("icon", "index", "last", "license", "meta", "next", "prev", "role", "section", "start", "subsection", "up"),
    )
}
_XML_LITERALS = frozenset({"rdf:XMLLiteral", "rdf:HTML"})
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_PREFIXES = re.compile(r"([^\s:]{1,100}):\s+(\S{1,500})")
#: Those that hold on every page.
_KNOWN = {
    "article": "http://ogp.me/ns/article#",
    "book": "http://ogp.me/ns/book#",
    "cc": "http://creativecommons.org/ns#",
    "ctag": "http://commontag.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "music": "http://ogp.me/ns/music#",
    "og": "http://ogp.me/ns#",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "product": "http://ogp.me/ns/product#",
    "profile": "http://ogp.me/ns/profile#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfa": "http://www.w3.org/ns/rdfa#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rev": "http://purl.org/stuff/rev#",
    "schema": "http://schema.org/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "video": "http://ogp.me/ns/video#",
    "website": "http://ogp.me/ns/website#",
    "xhv": _XHV,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


class _Around(NamedTuple):
    """What holds for the elements below one: whom they speak about, and what their names mean."""

    subject: str
    object: str
    #: Links that wait for an object: their names, and whether they lead to it.
    waiting: tuple[tuple[str, bool], ...]
    vocabulary: str
    prefixes: dict[str, str]


class _Links(NamedTuple):
    """What an element says in `rel` and `rev`, and the names of its properties and types."""

    rel: list[str]
    rev: list[str]
    properties: list[str]
    types: list[str]


class _Said(NamedTuple):
    """Whom an element speaks about, what it leads to, and which of them has its types."""

    subject: str
    object: str | None
    typed: str | None
    #: Whether the element says nothing, and is passed over.
    skipped: bool = False


def read(tree: LexborHTMLParser, base: str) -> list[dict[str, Any]]:
    """The resources that a page describes, in document order, but for those that stand in others."""
    statements = _Statements(tree, base)
    return _Nesting(statements.about).top()


class _Statements:
    """The statements of one page, by whom they are about."""

    def __init__(self, tree: LexborHTMLParser, base: str) -> None:
        self._base = base
        self._texts = markup.Texts()
        self._left = MOST
        self._blanks = 0
        #: Subject -> property -> objects: a resource's name, or a text in a list of its own.
        self.about: dict[str, dict[str, list[str | list[str]]]] = {}
        #: Whether the page is written by the rules before 1.1, and the namespaces that markup in it has.
        self._old = False
        self._namespaces = ""
        self._below: dict[int, _Around] = {}
        start = _Around(base, base, (), "", _KNOWN)
        for node in markup.marked(tree, _MARKED):
            if self._left < 0:
                return
            self._below[node.mem_id] = self._element(node, self._around(node.parent) or start)

    def _around(self, node: LexborNode | None) -> _Around | None:
        passed: list[int] = []
        around = None
        while node is not None and (around := self._below.get(node.mem_id)) is None:
            passed.append(node.mem_id)
            node = node.parent
        if around is not None:
            self._below.update(dict.fromkeys(passed, around))
        return around

    def _element(self, node: LexborNode, around: _Around) -> _Around:
        """State what an element says; what holds below it."""
        given = node.attributes
        if node.tag == "html":
            self._version(given)
        around = self._names(given, around)
        links = self._links(given, around)
        linked = bool(links.rel or links.rev)
        said = self._linking(given, links, around) if linked else self._plain(node, given, links, around)
        for name in links.types if said.typed else ():
            self._state(said.typed or "", _TYPE, name)
        waiting = self._linked(said, links) if linked else ()
        if links.properties and (value := self._value(node, given, linked, said, around)) is not None:
            for name in links.properties:
                self._state(said.subject, name, value)
        if said.skipped:
            return around
        self._complete(around, said.subject)
        found = said.object or (self._blank() if waiting else said.subject)
        return around._replace(subject=said.subject, object=found, waiting=waiting)

    def _version(self, given: dict[str, str | None]) -> None:
        self._old = "RDFa 1.0" in (given.get("version") or "")
        if self._old:
            declared = [(name, value) for name, value in given.items() if name.startswith("xmlns") and value]
            declared.sort(key=lambda one: (one[0] == "xmlns", one[0]))
            self._namespaces = "".join(f' {name}="{value}"' for name, value in declared)

    # --- names ---

    def _names(self, given: dict[str, str | None], around: _Around) -> _Around:
        """What names mean from this element on."""
        if "vocab" in given:
            vocabulary = _ended((given["vocab"] or "").strip())
            around = around._replace(vocabulary=vocabulary)
            if vocabulary:
                self._state(self._base, _USES, vocabulary)
        found = [(name[6:], value) for name, value in given.items() if name.startswith("xmlns:") and value]
        found += _PREFIXES.findall((given.get("prefix") or "") + " ")
        if found and len(around.prefixes) < _MOST_PREFIXES:
            added = {name.lower(): _ended(url) for name, url in found[:_MOST_PREFIXES]}
            around = around._replace(prefixes={**around.prefixes, **added})
        return around

    def _links(self, given: dict[str, str | None], around: _Around) -> _Links:
        rel, rev = self._link_names(given.get("rel"), around), self._link_names(given.get("rev"), around)
        properties = [name for token in _tokens(given.get("property")) if (name := _name(token, around))]
        types = [name for token in _tokens(given.get("typeof")) if (name := _name(token, around))]
        return _Links(rel, rev, properties, types)

    def _link_names(self, text: str | None, around: _Around) -> list[str]:
        found = []
        for token in _tokens(text):
            plain = token.lower()
            if self._old and not around.vocabulary and plain in _OLD_TERMS:
                found.append(_OLD_TERMS[plain])
            elif ":" in token:
                # Links are full of colons that are no prefixes: `schema.DC`, `og:x` of nobody.
                if token.partition(":")[0].lower() in around.prefixes or token.startswith(("http://", "https://")):
                    found.append(_name(token, around))
            elif plain in _TERMS:
                found.append(_TERMS[plain])
            elif around.vocabulary and plain not in _HTML_LINKS:
                found.append(around.vocabulary + token)
        return found

    def _resource(self, text: str | None, around: _Around) -> str | None:
        """The resource that `about` or `resource` names: a URL, or a short form of one."""
        if text is None:
            return None
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
            if not text:
                return None
        head, colon, rest = text.partition(":")
        if head == "_" and colon:
            return f"_:{rest} named"  # no name that we give
        if colon and not rest.startswith("//") and head.lower() in around.prefixes:
            return around.prefixes[head.lower()] + rest
        return self._url(text)

    def _url(self, text: str) -> str:
        return markup.join(self._base, text) or self._base

    def _target(self, given: dict[str, str | None], around: _Around) -> str | None:
        if (resource := given.get("resource")) is not None:
            return self._resource(resource, around)
        for name in ("href", "src"):
            if (text := given.get(name)) is not None:
                return self._url(text)
        return None

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:{self._blanks}"

    # --- whom an element is about ---

    def _plain(self, node: LexborNode, given: dict[str, str | None], links: _Links, around: _Around) -> _Said:
        about = self._resource(given.get("about"), around)
        root = node.tag in ("html", "head", "body")
        if links.properties and "content" not in given and "datatype" not in given:
            if "typeof" not in given:
                return _Said(about or around.object, None, None)
            typed = about or (around.object if root else self._target(given, around) or self._blank())
            return _Said(about or around.object, typed, typed)
        subject = about or self._target(given, around)
        if subject is None and "typeof" in given and not root:
            subject = self._blank()
        nothing = subject is None and not links.properties and "typeof" not in given
        subject = subject or around.object
        return _Said(subject, None, subject if "typeof" in given else None, nothing)

    def _linking(self, given: dict[str, str | None], links: _Links, around: _Around) -> _Said:
        about = self._resource(given.get("about"), around)
        target = self._target(given, around)
        if "typeof" not in given:
            return _Said(about or around.object, target, None)
        if about:
            return _Said(about, target, about)
        target = target or self._blank()
        return _Said(around.object, target, target)

    # --- statements ---

    def _linked(self, said: _Said, links: _Links) -> tuple[tuple[str, bool], ...]:
        """State where links lead, or say that they wait for it."""
        if said.object is None:
            waiting = [(name, True) for name in links.rel] + [(name, False) for name in links.rev]
            return tuple(waiting[:_MOST_WAITING])
        for name in links.rel:
            self._state(said.subject, name, said.object)
        for name in links.rev:
            self._state(said.object, name, said.subject)
        return ()

    def _complete(self, around: _Around, found: str) -> None:
        for name, forward in around.waiting:
            self._state(*((around.subject, name, found) if forward else (found, name, around.subject)))

    def _state(self, subject: str, name: str, value: str | list[str]) -> None:
        self._left -= 1
        if self._left < 0:
            return
        values = self.about.setdefault(subject, {}).setdefault(name, [])
        # The same statement twice is one; among many, only the last few are compared.
        if value not in values[-5:]:
            values.append(value)

    def _value(
        self, node: LexborNode, given: dict[str, str | None], linked: bool, said: _Said, around: _Around
    ) -> str | list[str] | None:
        """What a property's value is: the name of a resource, or a text in a list of its own."""
        text = given.get("content") if "content" in given else given.get("datetime")
        if text is not None:
            return [text.strip()]
        datatype = given.get("datatype")
        if datatype is None:
            if not linked and (target := self._target(given, around)) is not None:
                return target
            if "typeof" in given and said.typed and given.get("about") is None:
                return said.typed
        if node.tag == "data" and (text := given.get("value")) is not None:
            return [text.strip()]
        if datatype in _XML_LITERALS or (self._old and datatype is None and _has_elements(node)):
            return [self._markup(node)]
        return [self._texts.of(node)]

    def _markup(self, node: LexborNode) -> str:
        """What stands in an element, as markup that could stand elsewhere."""
        inner = self._texts.markup(node)
        return re.sub(r"^(\s*<[\w-]+)", lambda found: found[1] + self._namespaces, inner) if self._namespaces else inner


def _has_elements(node: LexborNode) -> bool:
    return node.child is not None and next(node.iter(), None) is not None


def _ended(url: str) -> str:
    """A vocabulary's URL such that names can follow it: many pages forget the slash of `https://schema.org/`."""
    return url + "/" if url.endswith("schema.org") else url


def _tokens(text: str | None) -> list[str]:
    return text.split()[:_MOST_NAMES] if text else []


def _name(token: str, around: _Around) -> str:
    """The full name that a short one means; empty if it means none."""
    head, colon, rest = token.partition(":")
    if not colon:
        return around.vocabulary + token if around.vocabulary else ""
    if not rest.startswith("//") and (url := around.prefixes.get(head.lower())):
        return url + rest
    return token if _SCHEME.match(token) else ""


class _Nesting:
    """Statements made into resources, those without a URL inside the others."""

    def __init__(self, about: dict[str, dict[str, list[str | list[str]]]]) -> None:
        self._about = about
        self._left = MOST
        self._told: set[str] = set()

    def top(self) -> list[dict[str, Any]]:
        """Resources with a URL, and those that no other speaks of; last, those that only speak of each other."""
        spoken_of = {
            value
            for said in self._about.values()
            for name, values in said.items()
            if name != _TYPE
            for value in values
            if isinstance(value, str) and value.startswith("_:")
        }
        found = [self._resource(name, ()) for name in self._about if name not in spoken_of]
        found += [self._resource(name, ()) for name in self._about if name not in self._told]
        return [resource for resource in found if resource]

    def _resource(self, name: str, around: tuple[str, ...]) -> dict[str, Any]:
        resource: dict[str, Any] = {} if name.startswith("_:") else {"@id": name}
        self._told.add(name)
        for prop, values in self._about[name].items():
            for value in values:
                self._left -= 1
                if self._left < 0:
                    return resource
                kept = value if prop == _TYPE else self._value(value, (*around, name))
                if kept is not None:
                    markup.add(resource, prop, kept)
        return resource

    def _value(self, value: str | list[str], around: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return value[0]
        if not value.startswith("_:"):
            return {"@id": value} if value in self._about else value
        if value in around or value not in self._about or len(around) >= DEEPEST:
            return None
        return self._resource(value, around)
