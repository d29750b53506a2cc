"""What every page of the dashboard has around it: who looks, navigation, search, alarms; and how a page is written.

    @page("/runs", "Runs")
    async def runs(here: Here, scraper: str = "") -> None:
        ...                                     # parameters after `here` come from the path and the query

A page reads through `here.desk`, stays current with `here.watch`, and changes things only through `here.do`.
"""

from __future__ import annotations

import functools
import inspect
import uuid
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from nicegui import Client, ui
from nicegui.page import page as nicegui_page
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gossamer import accounts
from gossamer.accounts import Session
from gossamer.api import security
from gossamer.dashboard import bell, guard, words
from gossamer.dashboard.feed import Feed, Watch
from gossamer.dashboard.parts import Text, box, link, toast, written
from gossamer.errors import GossamerError, NotFound, NotPossible
from gossamer.storage.desk import Desk
from gossamer.telemetry import log
from gossamer.trail import Asker

if TYPE_CHECKING:
    from gossamer.api.limits import Limits
    from gossamer.service import Service

T = TypeVar("T")
Build = Callable[..., Awaitable[Any]]

#: Path, title, icon, and the key that leads there after "g".
PLACES = (
    ("/", "Overview", "dashboard", "o"),
    ("/scrapers", "Scrapers", "smart_toy", "s"),
    ("/runs", "Runs", "play_circle", "r"),
    ("/cluster", "Cluster", "hub", "c"),
    ("/items", "Items", "inventory_2", "i"),
    ("/urls", "URLs", "link", "u"),
    ("/sources", "Sources", "public", "h"),
    ("/errors", "Errors", "error_outline", "e"),
    ("/drift", "Drift", "troubleshoot", "d"),
    ("/submit", "Submit", "playlist_add", "b"),
    ("/proxies", "Proxies", "alt_route", "p"),
    ("/logs", "Logs", "article", "l"),
    ("/users", "Users", "group", "a"),
    ("/settings", "Settings", "settings", "t"),
)
#: Seconds between two looks whether somebody is still logged in.
STILL_IN = 15.0


class Here:
    """A page being built or looked at, and who looks at it."""

    def __init__(self, service: Service, feed: Feed, client: Client, session: Session) -> None:
        self.service = service
        self.feed = feed
        self.client = client
        self.session = session

    @property
    def desk(self) -> Desk:
        """Where everything is read."""
        return self.service.desk

    @property
    def by(self) -> Asker:
        """Whoever looks, for the trail."""
        return security.asker(self.client.request, self.session)

    def may(self, scope: str) -> bool:
        """Whether a button is worth showing. Pressing it is checked again."""
        return accounts.may(self.session.scope, scope)

    async def watch(
        self, key: Hashable, load: Callable[[], Awaitable[T]], show: Callable[[T], None], every: float = 1.0
    ) -> Watch[T]:
        """Show something now, and again when it has changed: see `Feed.watch`."""
        return await self.feed.watch(self.client, key, load, show, every)

    async def do(self, scope: str, deed: Callable[[Asker], Awaitable[T]], done: str = "") -> T | None:
        """Do something that needs a scope, if whoever asks still has it; say `done`, or why not, and return None.

        The runner is told to look at once.
        """
        try:
            session = await security.current(self.client.request)
            if session is None:
                ui.navigate.to("/login")
                return None
            if not accounts.may(session.scope, scope):
                toast(f"this needs the scope {scope}, and {session.name} has {session.scope}", "negative")
                return None
            self.session = session
            _take_turn(self.client.request, session)
            made = await deed(self.by)
            self.service.poke()
            self.feed.spoil()
        except Exception as error:  # noqa: BLE001 - whatever it is: a person gets a sentence, the log gets the rest
            toast(sentence(error), "negative")
            return None
        if done:
            toast(done)
        return made

    async def done(self, scope: str, deed: Callable[[Asker], Awaitable[object]], told: str = "") -> bool:
        """As `do`, for a deed that gives nothing back: whether it was done."""

        async def work(by: Asker) -> bool:
            await deed(by)
            return True

        return bool(await self.do(scope, work, told))

    async def must(self, scope: str) -> None:
        """Before something is read that not everybody may see. Raises GossamerError, also if that changed since."""
        session = await security.current(self.client.request)
        if session is None or not accounts.may(session.scope, scope):
            raise _NotForYou(f"this needs the scope {scope}: log in again with one that has it")

    async def read(self, reading: Awaitable[T]) -> T | None:
        """Read something after a click; what goes wrong is said."""
        try:
            return await reading
        except Exception as error:  # noqa: BLE001 - as in `do`
            toast(sentence(error), "negative")
            return None


def sentence(error: BaseException) -> str:
    """What a person is told of an error. One that nobody foresaw gets a number, to be found in the log."""
    if isinstance(error, GossamerError):
        return str(error)
    number = uuid.uuid4().hex[:12]
    log.error("dashboard.error", id=number, exc_info=error)
    return f"something went wrong: the log has it as {number}"


def _take_turn(request: Request, session: Session) -> None:
    """What people change counts for the same limit as what programs change. Raises NotPossible past it."""
    limits: Limits | None = getattr(request.app.state.outer.state, "limits", None)
    wait = limits.take("writes", f"dashboard {session.name}") if limits is not None else 0.0
    if limits is not None and wait:
        raise NotPossible(limits.told("writes", wait))


class _NotForYou(GossamerError):
    """Whoever looks may not see this page."""


def page(path: str, title: str, scope: str = "read") -> Callable[[Build], Build]:
    """Make a function a page: it gets a Here, and what the path and the query say."""

    def register(build: Build) -> Build:
        @functools.wraps(build)
        async def shown(request: Request, client: Client, **given: Any) -> Response | None:
            return await _show(build, title, scope, request, client, given)

        own = list(inspect.signature(build, eval_str=True).parameters.values())[1:]
        first = [
            inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request),
            inspect.Parameter("client", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Client),
        ]
        shown.__signature__ = inspect.Signature([*first, *own])  # type: ignore[attr-defined]
        nicegui_page(path, title=f"{title} · Gossamer", response_timeout=20.0)(shown)
        return build

    return register


async def _show(
    build: Build, title: str, scope: str, request: Request, client: Client, given: dict[str, Any]
) -> Response | None:
    service: Service = request.app.state.service
    session = await security.current(request)
    if session is None:  # it ended since the door let them in
        return RedirectResponse(guard.login(request.url.path, request.url.query), 303)
    here = Here(service, request.app.state.feed, client, session)
    client.on_exception(lambda error: toast(sentence(error), "negative"))
    answer: Any = None
    try:
        await _frame(here, title, request.url.path)
        if not here.may(scope):
            raise _NotForYou(f"this page needs the scope {scope}, and {session.name} has {session.scope}")
        answer = await build(here, **given)
    except Exception as error:  # noqa: BLE001 - a page that cannot be built says why, in the same frame
        client.status_code = 404 if isinstance(error, NotFound) else 403 if isinstance(error, _NotForYou) else 500
        with client.content, box("g-card"):
            Text("This page cannot be shown", "h2")
            written(words.sentence(sentence(error)))
            link("Back to the overview", "/")
    return answer if isinstance(answer, Response) else None


# -- the frame ---------------------------------------------------------------------------------------------------


async def _frame(here: Here, title: str, path: str) -> None:
    """Header, navigation, and what the whole page listens to."""
    client = here.client
    client.layout.props["view"] = "hHh Lpr fff"
    drawer = _navigation(client, path)
    with ui.header().classes("g-header"):
        _icon("menu", "Navigation").on("click", js_handler=f"() => getElement({drawer.id}).toggle()")
        link("Gossamer", "/", "g-brand")
        _search_box()
        Text("", "div", "g-space")
        await bell.draw(here)
        _icon("contrast", "Theme: system, light, dark").on("click", js_handler="() => gossamer.nextTheme()")
        _icon("keyboard", "Keyboard shortcuts", "g-hide-phone", _shortcuts).props["id"] = "g-help"
        _person(here)
    client.content.props["id"] = "main"
    client.layout.on("seen", lambda event: here.feed.seen(client, event.args is not False))
    await here.watch(
        ("session", here.session.name, id(client)), lambda: security.current(client.request), _leave, STILL_IN
    )


def _leave(session: Session | None) -> None:
    """Somebody's session ended, or was ended: the page must not go on telling things."""
    if session is None:
        ui.navigate.to("/login")


def _icon(icon: str, label: str, classes: str = "", act: Callable[[], Any] | None = None) -> ui.button:
    made = ui.button(icon=icon, on_click=act, color=None).props("flat round dense").classes(classes)
    made.props["aria-label"] = label
    made.props["title"] = label
    return made


def _navigation(client: Client, path: str) -> ui.element:
    with client.layout:
        drawer = ui.element("q-drawer").props("show-if-above bordered side=left :width=210 :breakpoint=1023")
    drawer.move(target_index=0)
    with drawer, ui.element("nav").classes("g-nav") as nav:
        nav.props["aria-label"] = "Pages"
    # One element with a template of our own words, rather than forty that each cost a third of a millisecond.
    nav.add_slot("default", "".join(_place(path, *place) for place in PLACES))
    return drawer


def _place(path: str, target: str, title: str, icon: str, key: str) -> str:
    """A line of the navigation. `path` is where somebody is: it is only compared with."""
    there = path == target or (target != "/" and path.startswith(f"{target}/"))
    current = ' aria-current="page"' if there else ""
    named = f'<q-icon name="{icon}" aria-hidden="true"></q-icon><span>{title}</span>'
    return f'<a href="{target}" data-jump="{key}"{current}>{named}</a>'


def _search_box() -> None:
    with ui.element("form").classes("g-search") as form:
        form.props["action"] = "/search"
        form.props["method"] = "get"
        form.props["role"] = "search"
        field = ui.element("input")
        about = "Run number, URL, scraper, or words in items"
        given = {"id": "g-search", "name": "q", "type": "search", "placeholder": "Search  ( / )", "title": about}
        for name, value in {
            **given,
            "aria-label": f"Search: {about}",
            "autocomplete": "off",
            "maxlength": "2000",
        }.items():
            field.props[name] = value


def _person(here: Here) -> None:
    with _icon("account_circle", "Who is logged in"), ui.menu(), box("g-stack q-pa-md"):
        Text(here.session.name, "strong", "g-wrap")
        Text(f"may {here.session.scope}", "span", "g-dim")
        with ui.element("form") as form:
            form.props["action"] = "/logout"
            form.props["method"] = "post"
            ui.button("Log out", icon="logout", color=None).props("type=submit flat dense")


def _shortcuts() -> None:
    with ui.dialog(value=True) as dialog, ui.card():
        Text("Keyboard", "h2")
        with ui.element("table").classes("g-plain"):
            keys = [("/", "search"), ("?", "this list"), ("Esc", "leave the search box, close a dialog")]
            for key, about in [*keys, *((f"g {key}", title) for _, title, _, key in PLACES)]:
                with ui.element("tr"):
                    with ui.element("td"):
                        Text(key, "code")
                    Text(about, "td")
        ui.button("Close", on_click=dialog.close, color=None).props("flat")
    dialog.on("hide", dialog.delete)
