"""Secrets out of everything that is logged: passwords in URLs, tokens, cookies, keys, however deep they lie.

Two things find them: what we know (`learn`: the passwords, keys and webhooks of the settings and of running scrapers,
in every form they are written in), and how secrets look (names like `api_key`, `Bearer ...`, `user:password@`). A
value that is hidden by mistake costs a look at the source; one that is shown by mistake cannot be taken back. So in
doubt it is hidden.

Events hold what pages said, so the cost is bounded: long texts are cut, and nothing here takes more than linear time.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from structlog.typing import EventDict, WrappedLogger

from gossamer.settings import Settings
from gossamer.storage import naming
from gossamer.values import is_secret

#: What stands where a secret stood.
HIDDEN = "***"
#: Characters of a text that are kept; of the trace of an exception.
LONGEST = 8_192
LONGEST_TRACE = 32_768
#: What follows the place of a cut is looked at too: a secret must not be cut in two.
BEYOND = 1_024
#: How deep, and how far into each level, a value is looked into.
DEEPEST = 6
DEEPEST_JSON = 100
WIDEST = 100
#: Known secrets shorter than this are left to their looks: hiding every "abc" would hide everything.
SHORTEST = 6
#: Most secrets that are known by heart.
MOST = 200

# -- names -------------------------------------------------------------------------------------------------------

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[^a-z]+")
#: Words in names of secrets, besides those that headers have.
_WORDS = frozenset(
    {"pass", "passwd", "passphrase", "pwd", "otp", "bearer", "authorization", "cookie", "cookies"}
    | {"sid", "sig", "signature", "credential"}
)
#: How names of secrets end that are written as one word: accesstoken, dbpassword, sessionid.
_ENDINGS = (
    *("token", "secret", "password", "passwd", "apikey", "accesskey", "secretkey", "privatekey", "authkey"),
    *("sessionid", "sessid", "credentials", "cookie"),
)
#: How names of parameters end that can hold nothing but a secret, written as one word; and those that are such a word.
_CREDENTIALS = (
    *("password", "passwd", "passphrase", "pwd", "secret", "secrets", "authorization", "credential", "credentials"),
    *("apikey", "accesskey", "secretkey", "privatekey", "authkey", "basicauth", "httpauth"),
    *("accesstoken", "authtoken", "apitoken", "bearertoken", "refreshtoken", "sessiontoken", "secrettoken"),
)
_CREDENTIAL = frozenset({"auth", "bearer", "cookie", "cookies", "jwt", "pass", "token"})
#: Words that name a secret in a query or a header, and are ordinary words in a sentence: "no such key: price".
_ORDINARY = frozenset({"key", "session", "auth", "pass", "sig", "signature", "sid"})
#: Headers whose value has blanks in it.
_WIDE = frozenset({"authorization", "cookie", "cookies"})


@lru_cache(4096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in _BETWEEN.split(_HUMP.sub("-", name[-80:]).lower()) if word)


@lru_cache(4096)
def is_secret_name(name: str) -> bool:
    """Whether what is called this is likely to be a secret: a header, a parameter, a field.

    >>> [name for name in ("apiKey", "X-Auth-Token", "user[password]", "author", "monkey") if is_secret_name(name)]
    ['apiKey', 'X-Auth-Token', 'user[password]']
    """
    words = _words(name)
    return is_secret("-".join(words)) or not _WORDS.isdisjoint(words) or any(word.endswith(_ENDINGS) for word in words)


@lru_cache(4096)
def is_credential_name(name: str) -> bool:
    """Whether a parameter of this name can be nothing but a secret. In doubt it is none: who is refused must know why.

    >>> [name for name in ("api_key", "dbPassword", "token", "key", "page_token") if is_credential_name(name)]
    ['api_key', 'dbPassword', 'token']
    """
    joined = "".join(_words(name))
    return joined in _CREDENTIAL or joined.endswith(_CREDENTIALS)


@lru_cache(4096)
def _is_named(name: str, mark: str, *, quoted: bool) -> bool:
    """Whether the name in front of `=` or `:` in a text makes a secret of what follows."""
    if not is_secret_name(name):
        return False
    if quoted or mark != ":":
        return True
    last = _words(name)[-1:]  # `KeyError: 'price'` speaks of no key
    return is_secret_name("".join(last)) and (len(_words(name)) > 1 or last[0] not in _ORDINARY)


# -- looks -------------------------------------------------------------------------------------------------------

#: Without any of these, a text has nothing in it that looks like a secret.
_HINTS = (
    *("@", "%40", "pass", "pwd", "auth", "token", "secret", "key", "cookie", "credential", "sess", "sid", "sig", "jwt"),
    *("bearer", "basic", "otp", "gsm_", "akia", "asia", "ghp_", "gho_", "ghs_", "ghu_", "github_pat", "xox", "sk-"),
    *("aiza", "eyj", "private", "hooks.", "webhook", "/bot"),
)
_PAIR = re.compile(
    r"(?<![\w.\-])(?P<name>\w[\w.\-]{0,79})(?:\]|%5[Dd])?"
    r"(?P<quote>\\{0,3}[\"'])?\s{0,2}(?P<mark>=|:|%3[Dd])\s{0,2}"
)
_VALUES = {
    "quoted": re.compile(r"(?P<before>[bru]{0,2}(?P<open>\\{0,3}[\"']))(?:(?!(?P=open))[^\\\n]|(?!(?P=open))\\.)*"),
    "wide": re.compile(r"[^\"'\r\n]+"),
    "plain": re.compile(r"(?i:(?:bearer|basic|token|digest)\s{1,2})?[^\s&\"'<>]+"),
}
_SCHEME = re.compile(r"(?i)^(?:bearer|basic|token|digest) +")
_BEARERS = re.compile(r"(?i)\b(bearer|basic)(\s{1,3}|%20|\+)([\w.~+/=\-%]{6,2048})")
_TOKENS = re.compile(
    r"\bgsm_[\w\-]{1,512}|\b(?:AKIA|ASIA)[0-9A-Z]{12,64}|\bgh[opsu]_\w{16,255}|\bgithub_pat_\w{16,255}"
    r"|\bxox[a-z]-[\w\-]{8,255}|\bsk-[\w\-]{16,255}|\bAIza[\w\-]{20,64}|\beyJ[\w\-]{8,2048}\.[\w\-]{1,2048}(?:\.[\w\-]{0,512})?"
)
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_END_OF_PRIVATE = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
#: Addresses that are secrets themselves: who has one may write there.
_HOOKS = re.compile(
    r"(?i)(hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot"
    r"|\.webhook\.office\.com/|outlook\.office\.com/webhook/|hooks\.zapier\.com/)[^\s\"'<>]{1,2048}"
)
_ESCAPED_LOGIN = re.compile(r"(?i)(%3a%2f%2f)(?:(?!%2f|%40)[^\s&/\"'<>]){1,512}%40")
_STOPS = re.compile(r"[\s\"'<>]")
_PORT = re.compile(r"\d{1,5}(?=[/?#]|$)")
_AUTHORITY_ENDS = re.compile(r"[/?#]")
_BEFORE_LOGIN = frozenset(" \t\r\n\"'<>/,;()=&?#|{}")


def _logins(text: str) -> str:
    """`https://user:password@host` without the login. Cut at every `://`, each piece is looked at once."""
    pieces = text.split("://")
    for n, piece in enumerate(pieces[1:], 1):
        stop = _STOPS.search(piece)
        end = stop.start() if stop else len(piece)
        edge = _AUTHORITY_ENDS.search(piece, 0, end)
        at = piece.rfind("@", 0, edge.start() if edge else end)
        colon = piece.find(":", 0, edge.start() if edge else end)
        if at < 0 and colon >= 0 and not piece.startswith("[") and not _PORT.match(piece, colon + 1, end):
            at = piece.rfind("@", 0, end)  # no port stands there, but a password with a slash in it
        if at >= 0:
            pieces[n] = HIDDEN + piece[at:]
    return "://".join(pieces)


def _bare_logins(text: str) -> str:
    """`user:password@host` without a scheme. Cut at every `@`, each piece is looked at once, from its end."""
    pieces = text.split("@")
    for n, piece in enumerate(pieces[:-1]):
        start = len(piece)
        while start and piece[start - 1] not in _BEFORE_LOGIN:
            start -= 1
        login = piece[start:].removeprefix("mailto:")  # whom a mail goes to is no secret
        if ":" in login.rstrip(":") and pieces[n + 1][:1].isalnum():
            pieces[n] = piece[:start] + HIDDEN
    return "@".join(pieces)


def has_login(text: str) -> bool:
    """Whether a text holds a URL with a login: `https://user:password@host`, escaped or not."""
    return _logins(text) != text or _ESCAPED_LOGIN.search(text) is not None


def _pairs(text: str) -> str:
    """`token=...`, `"password": "..."`, `Authorization: ...` without their values."""
    told: list[str] = []
    kept = place = 0
    while found := _PAIR.search(text, place):
        place = found.end()
        name = found["name"]
        if not _is_named(name, found["mark"], quoted=found["quote"] is not None):
            continue
        value = _VALUES["quoted"].match(text, place)
        before = value["before"] if value else ""
        if value is None:
            wide = found["mark"] == ":" and _words(name)[-1] in _WIDE
            value = _VALUES["wide" if wide else "plain"].match(text, place)
        if value is None:
            continue
        told += [text[kept:place], before, HIDDEN]
        kept = place = value.end()
    return "".join([*told, text[kept:]]) if told else text


def _private_keys(text: str) -> str:
    begin = _PRIVATE.search(text)
    if begin is None:
        return text
    end = _END_OF_PRIVATE.search(text, begin.end())
    return text[: begin.start()] + HIDDEN + (_private_keys(text[end.end() :]) if end else "")


def _bearer(found: re.Match[str]) -> str:
    # "basic authentication" are words; what is sent is hardly ever all small letters.
    words = found[1].lower() == "basic" and found[3].isalpha() and found[3].islower()
    return found[0] if words else f"{found[1]}{found[2]}{HIDDEN}"


def _without_looks(text: str) -> str:
    """A text without what looks like a secret."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return text
    if "private" in low:
        text = _private_keys(text)
    if "@" in low:
        text = _bare_logins(_logins(text))
    if "%40" in low:
        text = _ESCAPED_LOGIN.sub(rf"\1{HIDDEN}%40", text)
    text = _HOOKS.sub(rf"\1{HIDDEN}", text)
    text = _pairs(text)
    text = _BEARERS.sub(_bearer, text)
    return _TOKENS.sub(lambda found: "gsm_" + HIDDEN if found[0].startswith("gsm_") else HIDDEN, text)


# -- what we know ------------------------------------------------------------------------------------------------


#: Fields that structlog fills itself.
_OURS = frozenset({"timestamp", "level"})


class Redactor:
    """Takes secrets out of values. As a processor of structlog it takes them out of events."""

    def __init__(self) -> None:
        #: Secret -> whether it is known for good; the one that was learned last stands last.
        self._secrets: dict[str, bool] = {}
        #: In every form they are written in, the longest first.
        self._known: tuple[str, ...] = ()

    def learn(self, secrets: Iterable[str], *, lasting: bool = False) -> None:
        """Hide these from now on, wherever they turn up, as they are or escaped for a URL.

        Of too many, those go that were not heard of for longest, unless they are `lasting`.
        """
        bare = (_SCHEME.sub("", secret) for secret in secrets if isinstance(secret, str))
        new = {secret: lasting or self._secrets.get(secret, False) for secret in bare if len(secret) >= SHORTEST}
        if not new:
            return
        all_of_them = {secret: kept for secret, kept in self._secrets.items() if secret not in new} | new
        for secret in [secret for secret, kept in all_of_them.items() if not kept][: max(0, len(all_of_them) - MOST)]:
            del all_of_them[secret]
        self._secrets = all_of_them
        forms = {form for secret in all_of_them for form in _forms(secret)}
        self._known = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def forget(self) -> None:
        """Know no secret any more, but how they look."""
        self._secrets, self._known = {}, ()

    def text(self, text: str, longest: int = LONGEST) -> str:
        """A text without secrets, cut if it is too long."""
        whole = text if len(text) <= longest else text[: longest + BEYOND]
        for secret in self._known:
            if secret in whole:
                whole = whole.replace(secret, HIDDEN)
        whole = _without_looks(whole)
        if len(text) <= longest:
            return whole
        # What ends in the midst of a secret looks like none: so the last piece goes, whatever it was.
        kept = whole[: max(0, min(longest, len(whole) - BEYOND))]
        return f"{kept}... ({len(text) - longest:,} characters more)"

    def value(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """A value without secrets: a text, a number, or a structure of them. Whatever else it is becomes a text."""
        if value is None or isinstance(value, bool):
            return value
        if name and is_secret_name(name):
            return HIDDEN if value not in ("", (), [], {}) else value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float):
            return value
        if isinstance(value, bytes | bytearray | memoryview):
            return self.text(bytes(value[: LONGEST + 1]).decode("latin-1"))
        if depth >= DEEPEST:
            return "..."
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple | set | frozenset):
            return self._list(value, depth)
        return self.text(_spoken(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key in value:
            if len(made) == WIDEST:
                made["..."] = f"{len(value) - WIDEST:,} more"
                break
            name = key if isinstance(key, str) else _spoken(key)
            made[self.text(name, 200)] = self.value(value[key], name, depth + 1)
        return made

    def _list(self, value: Any, depth: int) -> list[Any]:
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and is_secret_name(value[0]):
            return [value[0], HIDDEN]  # headers as pairs
        made: list[Any] = []
        for each in value:
            if len(made) == WIDEST:
                made.append(f"... {len(value) - WIDEST:,} more")
                break
            made.append(self.value(each, "", depth + 1))
        return made

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """An event without secrets. Never raises: what cannot be looked through is not told."""
        made: EventDict = {}
        for name, value in event.items():
            try:
                if name in _OURS:
                    made[name] = value
                elif name == "exception" and isinstance(value, str):
                    made[name] = self.text(value, LONGEST_TRACE)
                elif len(made) < WIDEST:
                    made[self.text(name, 200)] = self.value(value, name)
            except Exception:  # noqa: BLE001 - a value that cannot be read must not end a crawl
                made[name[:200]] = HIDDEN
        return made


def _forms(secret: str) -> set[str]:
    """A secret as it is, in URLs, and as Python and JSON write it."""
    return {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]}


def _spoken(value: Any) -> str:
    try:
        return f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value)
    except Exception:  # noqa: BLE001 - somebody else's __str__
        return f"<{type(value).__name__}>"


#: The one of this process: what is logged passes it.
shared = Redactor()


def learn(*secrets: str) -> None:
    """Hide these from now on in all that this process logs."""
    shared.learn(secrets)


def text(told: object, longest: int = LONGEST) -> str:
    """A text without secrets: for sentences that go into the store, into a mail or to a webhook."""
    return shared.text(told if isinstance(told, str) else _spoken(told), longest)


def url(told: str, longest: int = LONGEST) -> str:
    """A URL without its login, and without the secrets of its query: for people to see where something leads.

    >>> url("https://anna:pw@example.org/list?page=2&api_key=K")
    'https://example.org/list?page=2&api_key=***'
    """
    return text(told, longest).replace(f"://{HIDDEN}@", "://", 1)


def parameters(given: Any, name: str = "", depth: int = 0) -> Any:
    """JSON that people gave, to be shown or noted: as it is, however long, but for the secrets in it."""
    if isinstance(given, bool) or given in (None, "", [], {}):
        return given
    if is_credential_name(name) or (isinstance(given, str) and is_secret_name(name)):
        return HIDDEN
    if isinstance(given, str):
        return text(given, max(LONGEST, len(given)))
    if depth > DEEPEST_JSON:
        return "..."
    if isinstance(given, Mapping):
        return {key: parameters(value, str(key), depth + 1) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [parameters(value, name, depth + 1) for value in given]
    return given


# -- what settings hold ------------------------------------------------------------------------------------------

#: Variables of the environment that hold keys and are no settings of ours.
_ENVIRONMENT = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def secrets_of(read: Settings) -> list[str]:
    """Every secret that the settings and the environment of this process hold."""
    place, config = read.place, read.config
    found = [value for name, value in config.headers.items() if is_secret_name(name)]
    for url in place.alert_webhooks:
        found += [url, url.partition("://")[2].partition("/")[2], *in_url(url)]
    for url in (place.smtp or "", *(sink for sink in config.sinks if isinstance(sink, str))):
        found += in_url(url)
    for url in (place.store, place.broker or "", os.environ.get("GOSSAMER_STORE", "")):
        found += naming.passwords(url)
    found += _of_proxies(config.proxies)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        for spelled in (name, name.lower()):
            found += in_url(os.environ.get(spelled, ""))
    found += [os.environ[name] for name in _ENVIRONMENT if name in os.environ]
    return [secret for secret in found if secret]


def _of_proxies(proxies: Any) -> list[str]:
    if isinstance(proxies, Mapping):
        return [str(value) for name, value in proxies.items() if is_secret_name(str(name))]
    found: list[str] = []
    for each in proxies if isinstance(proxies, tuple) else ():
        found += in_url(each) if isinstance(each, str) else []
    return found


def in_url(url: str) -> list[str]:
    """The secrets of a URL: its password (or the user's name alone), and what its query says under secret names."""
    rest = url.partition("://")[2]
    login = rest.rpartition("@")[0] if "@" in rest else ""
    user, _, password = login.partition(":")
    found = [secret for secret in (password or user, unquote(password or user), login) if secret]
    if password:
        found.append(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
    try:
        query = urlsplit(url).query
    except ValueError:
        query = ""
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if value and is_secret_name(name):
            found += [value, unquote(value)]
    return found
