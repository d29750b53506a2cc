"""The command line: parses, calls one use case, prints. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
import typer
from rich.console import Console

from gossamer import __version__, clock, explain, redaction, registry, runs, settings, telemetry, terminal
from gossamer import urls as addresses
from gossamer.cli_alerts import alerts_app
from gossamer.cli_archive import archive_app
from gossamer.cli_audit import audit_command
from gossamer.cli_bench import bench_command
from gossamer.cli_changes import changes_command, rejects_command
from gossamer.cli_chaos import chaos_command
from gossamer.cli_cluster import cluster_app
from gossamer.cli_db import db_app
from gossamer.cli_doctor import doctor_command
from gossamer.cli_drift import drift_command
from gossamer.cli_export import export_command
from gossamer.cli_flow import flow_app
from gossamer.cli_follow import follow_on_cluster
from gossamer.cli_health import health_command
from gossamer.cli_jobs import jobs_app
from gossamer.cli_list import list_command
from gossamer.cli_logs import logs_command
from gossamer.cli_new import new_command
from gossamer.cli_options import StoreOption, amount, complete_scraper, plainly_shown, run_number
from gossamer.cli_proxies import proxies_app
from gossamer.cli_replay import replay_command
from gossamer.cli_schedule import schedule_app
from gossamer.cli_serve import serve_command, serve_demo
from gossamer.cli_sinks import sinks_app
from gossamer.cli_token import token_app
from gossamer.cli_try import try_command
from gossamer.cli_user import user_app
from gossamer.cli_worker import worker_command
from gossamer.crawler import crawl_found, crawl_params
from gossamer.errors import ConfigError, GossamerError, Stalled
from gossamer.library import wait
from gossamer.registry import Found
from gossamer.runs import Parts, Plan, Report, Running
from gossamer.storage.store import Store
from gossamer.terminal import Screen
from gossamer.values import Outcome, Run, Verdict

T = TypeVar("T")

app = typer.Typer(
    name="gossamer",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Collect data from web sites and web APIs: politely, fast, and without ever losing a page.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
#: `timeout` and other wrappers send a signal twice, at once; no person presses Ctrl-C that fast.
ECHO = 0.1

err = Console(stderr=True, highlight=False, emoji=False)
# Lines that are piped on are not folded.
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

# -- options that several commands share -----------------------------------------------------------------------

Rate = Annotated[str | None, typer.Option(help="Requests to one host: 2/s, 30/min, none [2/s]", metavar="PACE")]
PerHost = Annotated[str | None, typer.Option(help="Requests to one host at the same time [4]", metavar="N")]
Concurrency = Annotated[str | None, typer.Option(help="Requests to all hosts at the same time [64]", metavar="N")]
Depth = Annotated[str | None, typer.Option(help="Links to follow from a start URL [no limit]", metavar="N")]
MaxPages = Annotated[str | None, typer.Option(help="Stop after this many pages", metavar="N")]
MaxItems = Annotated[str | None, typer.Option(help="Stop after the page that brings this many items", metavar="N")]
ScopeOption = Annotated[
    str | None, typer.Option(help="Where links may lead: host, domain, prefix, any [host]", metavar="WHERE")
]
Include = Annotated[list[str] | None, typer.Option(help="Follow only URLs that match (repeatable)", metavar="REGEX")]
Exclude = Annotated[list[str] | None, typer.Option(help="Never follow URLs that match (repeatable)", metavar="REGEX")]
NoRobots = Annotated[bool, typer.Option("--no-robots", help="Do not obey robots.txt")]
UserAgent = Annotated[str | None, typer.Option(help="How we introduce ourselves", metavar="TEXT")]
Timeout = Annotated[str | None, typer.Option(help="Time one request may take: 30s [30s]", metavar="TIME")]
Retries = Annotated[str | None, typer.Option(help="Times a failed request is tried again [3]", metavar="N")]
Revisit = Annotated[
    str | None,
    typer.Option(help="Fetch again what an earlier run read: always, never, changed, 6h [always]", metavar="WHEN"),
]
AllowPrivate = Annotated[bool, typer.Option("--allow-private", help="Let links lead to loopback and private addresses")]
IdentityOption = Annotated[
    str | None,
    typer.Option("--identity", help="honest, chrome, firefox, safari, edge, random [honest]", metavar="WHO"),
]
ProxyOption = Annotated[
    list[str] | None,
    typer.Option("--proxy", help="A proxy's URL, a file of them, or a service (repeatable)", metavar="PROXY"),
]
Render = Annotated[bool, typer.Option("--render", help="Show pages in a browser before reading them")]
SinkOption = Annotated[
    list[str] | None,
    typer.Option("--sink", help="Where items go on to: ./out, s3://bucket/{key}.json (repeatable)", metavar="WHERE"),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over, even if an earlier run did not finish")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, on stdout")]
LogLevel = Annotated[str | None, typer.Option(help="debug, info, warning, error [warning]", metavar="LEVEL")]
LogFormat = Annotated[str | None, typer.Option(help="human or json [human]", metavar="STYLE")]


def _flags(**given: Any) -> dict[str, Any]:
    """The options that were given."""
    if given.pop("no_robots", False):
        given["robots"] = False
    if not given.get("quiet", True):
        given.pop("quiet")
    return {name: value for name, value in given.items() if value is not None and value != []}


# -- runs ------------------------------------------------------------------------------------------------------


@app.command("crawl")
def crawl_command(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Where to start")] = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option(help="Start with a sitemap's pages (repeatable); auto: find it by robots.txt", metavar="URL|auto"),
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option(help="What items are: those of a parser (article, product, auto ...) [pages]", metavar="NAME"),
    ] = None,
    store: StoreOption = None,
    scope: ScopeOption = None,
    include: Include = None,
    exclude: Exclude = None,
    depth: Depth = None,
    max_pages: MaxPages = None,
    concurrency: Concurrency = None,
    per_host: PerHost = None,
    rate: Rate = None,
    no_robots: NoRobots = False,
    user_agent: UserAgent = None,
    timeout: Timeout = None,
    retries: Retries = None,
    revisit: Revisit = None,
    identity: IdentityOption = None,
    proxy: ProxyOption = None,
    allow_private: AllowPrivate = False,
    render: Render = False,
    sink: SinkOption = None,
    fresh: Fresh = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Crawl sites without writing code: every HTML page in scope becomes an item.

    \b
    gossamer crawl https://example.org
    gossamer crawl https://docs.example.org/v2/ --scope prefix --rate 5/s
    gossamer crawl https://example.org --max-pages 100 --exclude '/tag/' --json
    gossamer crawl --sitemap https://example.org/sitemap.xml --revisit changed
    gossamer crawl https://news.example --parser article
    """
    flags = _flags(
        store=store,
        scope=scope,
        include=include,
        exclude=exclude,
        depth=depth,
        max_pages=max_pages,
        concurrency=concurrency,
        per_host=per_host,
        rate=rate,
        no_robots=no_robots,
        user_agent=user_agent,
        timeout=timeout,
        retries=retries,
        revisit=revisit,
        identity=identity,
        proxies=proxy,
        allow_private=allow_private or None,
        render=render or None,
        sinks=sink,
        quiet=quiet,
        log_level=log_level,
        log_format=log_format,
    )
    if not urls and sitemap and "auto" in sitemap:
        raise ConfigError("--sitemap auto needs a URL: it looks for the sitemap of that site")
    if not urls and not sitemap:
        raise ConfigError("no URL was given: write where to start, like gossamer crawl https://example.org")
    params, logins = crawl_params(urls or (), sitemap or (), parser)
    plan = runs.plan(crawl_found(parser), params, flags, fresh=fresh, logins=logins)
    _work([plan], as_json=as_json)


@app.command("run")
def run_command(
    scrapers: Annotated[
        list[str],
        typer.Argument(
            metavar="SCRAPER...",
            help="file.py, rules.toml, file.py:Class, module:Class, a name, a pack, a URL that one matches, or all",
            autocompletion=complete_scraper,
        ),
    ],
    store: StoreOption = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter for the scraper (repeatable)", metavar="K=V")
    ] = None,
    max_items: MaxItems = None,
    max_pages: MaxPages = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Fetch and parse, store nothing, show items")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Ask demo sites instead of the real ones of a pack, into demo.db")
    ] = False,
    cluster: Annotated[
        bool,
        typer.Option("--cluster", help="Let workers walk it: needs a postgresql store and a broker"),
    ] = False,
    scope: ScopeOption = None,
    include: Include = None,
    exclude: Exclude = None,
    depth: Depth = None,
    concurrency: Concurrency = None,
    per_host: PerHost = None,
    rate: Rate = None,
    no_robots: NoRobots = False,
    user_agent: UserAgent = None,
    timeout: Timeout = None,
    retries: Retries = None,
    revisit: Revisit = None,
    identity: IdentityOption = None,
    proxy: ProxyOption = None,
    allow_private: AllowPrivate = False,
    render: Render = False,
    sink: SinkOption = None,
    fresh: Fresh = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Run scrapers, side by side if there are several.

    \b
    gossamer run quotes.py
    gossamer run quotes.py --dry-run --max-items 5
    gossamer run mypackage.scrapers:Quotes --param year=2026
    gossamer run art
    gossamer run nba.espn --param season=2024
    gossamer run jobs --demo
    gossamer run all
    gossamer run quotes.py --cluster --store postgresql://gossamer@db/gossamer
    """
    flags = _flags(
        store=store,
        max_items=max_items,
        max_pages=max_pages,
        dry_run=dry_run or None,
        scope=scope,
        include=include,
        exclude=exclude,
        depth=depth,
        concurrency=concurrency,
        per_host=per_host,
        rate=rate,
        no_robots=no_robots,
        user_agent=user_agent,
        timeout=timeout,
        retries=retries,
        revisit=revisit,
        identity=identity,
        proxies=proxy,
        allow_private=allow_private or None,
        render=render or None,
        sinks=sink,
        quiet=quiet,
        log_level=log_level,
        log_format=log_format,
    )
    listed = settings.read().place.scrapers
    every = {each.ref: each for scraper in scrapers for each in registry.choose(scraper, listed)}
    chosen = list(every.values())
    if not chosen:
        raise ConfigError(
            'no scraper is registered: list yours in gossamer.toml, like scrapers = ["quotes.py"], '
            "or give a file: gossamer run quotes.py"
        )
    for each in (one for name in set(scrapers) & set(registry.packs()) for one in registry.pack(name)):
        if each.ref not in every:
            say(f"gossamer: {each.scraper.name} ships paused, and runs only by its own name", style="yellow")
    params = _shared(settings.params(param), chosen)
    if demo and cluster:
        raise ConfigError("--demo is walked here, on sites that only this machine reaches: leave --cluster out")
    if demo:
        _on_demo_sites(chosen, params, flags, fresh=fresh, as_json=as_json)
    plans = _plans(chosen, params, flags, fresh=fresh)
    if cluster:
        follow_on_cluster(plans, partial(_tell, resume="cluster resume"), as_json=as_json)
    _work(plans, as_json=as_json)


def _plans(chosen: list[Found], params: list[dict[str, str]], flags: dict[str, Any], *, fresh: bool) -> list[Plan]:
    """A plan for each scraper. Of several, one that cannot run here is left out, and said."""
    plans, left = [], {}
    for found, given in zip(chosen, params, strict=True):
        try:
            plans.append(runs.plan(found, given, flags, fresh=fresh))
        except ConfigError as why:
            left[found.scraper.name] = str(why)
    if not plans:
        raise ConfigError(next(iter(left.values())))
    for name, told in left.items():
        say(f"gossamer: {name} is left out: {told}", style="yellow")
    return plans


def _shared(params: dict[str, str], chosen: list[Found]) -> list[dict[str, str]]:
    """The parameters for each of several scrapers: of a pack's, those that it takes. One for nobody is refused."""
    if len(chosen) == 1:
        return [params]
    takes = [each.scraper.takes or params for each in chosen]
    for name in params:
        knows = [each.scraper.name for each, taken in zip(chosen, takes, strict=True) if name in taken]
        if not knows:
            raise ConfigError(
                f"none of these {len(chosen)} scrapers has a parameter {name!r}: `gossamer list NAME` shows one"
            )
        if len(knows) < len(chosen):
            some = ", ".join(knows[:4]) + (f" and {len(knows) - 4} more" if len(knows) > 4 else "")
            say(f"gossamer: {name} is for {some}, and nothing to the others", style="yellow")
    return [{name: value for name, value in params.items() if name in each} for each in takes]


def _on_demo_sites(
    chosen: list[Found], params: list[dict[str, str]], flags: dict[str, Any], *, fresh: bool, as_json: bool
) -> NoReturn:
    """Run scrapers of packs on the demo sites, for as long as that takes."""
    from gossamer.demo import packs

    foreign = [each.scraper.name for each in chosen if not packs.is_ours(each)]
    if foreign:
        raise ConfigError(f"there are no demo sites for {foreign[0]}: --demo is for the packs that come with Gossamer")
    with packs.PackSites() as sites:
        knobs = {"store": "demo.db", **sites.knobs(), **flags}
        given = [each or packs.params(found) for found, each in zip(chosen, params, strict=True)]
        _work(_plans(chosen, given, knobs, fresh=fresh), as_json=as_json)


@app.command()
def resume(
    run: Annotated[
        int | None,
        typer.Argument(parser=run_number, metavar="RUN", help="The run's number [the newest unfinished one]"),
    ] = None,
    store: StoreOption = None,
    rate: Rate = None,
    per_host: PerHost = None,
    concurrency: Concurrency = None,
    max_pages: MaxPages = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Go on with a run that did not finish.

    \b
    gossamer resume
    gossamer resume 12 --rate 1/s
    """
    flags = _flags(
        store=store,
        rate=rate,
        per_host=per_host,
        concurrency=concurrency,
        max_pages=max_pages,
        quiet=quiet,
        log_level=log_level,
        log_format=log_format,
    )

    async def find() -> Plan:
        async with runs.open_store(settings.read(flags).place.store) as opened:
            return await runs.resume_plan(opened, run, flags)

    _work([wait(find())], as_json=as_json)


def _work(plans: list[Plan], *, as_json: bool) -> NoReturn:
    """Execute plans side by side, show them at work, report, and leave with the right code."""
    place = plans[0].settings.place
    # A dry run prints items as they come: on one terminal, a picture would be drawn over them.
    items_shown = plans[0].settings.config.dry_run and sys.stdout.isatty()
    screen = Screen(err, quiet=place.quiet, live=not items_shown)
    telemetry.configure(
        place.log_level,
        place.log_format,
        screen.say if err.is_terminal else telemetry.to_stderr,
        folder=place.log_dir,
        secrets=redaction.secrets_of(plans[0].settings),
    )
    code = 0
    current: list[Running] = []
    told: set[str] = set()
    for asked, ended in zip(plans, wait(_execute(plans, screen, current)), strict=True):
        if isinstance(ended, GossamerError):
            if str(ended) not in told:  # of a pack, all may say the same
                say(f"gossamer: {ended}", style="red")
            told.add(str(ended))
            code = max(code, 3 if isinstance(ended, Stalled) else 2)
            continue
        # Even who wants to hear nothing wants to hear of failure; in a log of JSON lines it stands already.
        if not place.quiet or (ended.exit_code not in (0, 130) and place.log_format == "human"):
            running = next((r for r in current if r.run.id == ended.run), None)
            _tell(asked, ended, running.progress.failure if running else None, running.engine.held if running else "")
        if as_json:
            typer.echo(msgspec.json.encode(ended).decode())
        code = max(code, 0 if asked.settings.config.dry_run and ended.pages else ended.exit_code)
    raise typer.Exit(code)


async def _execute(plans: list[Plan], screen: Screen, current: list[Running]) -> list[Report | GossamerError]:
    """Run plans side by side; one that fails does not end the others. Runs under way are put into `current`."""

    def watch(running: Running) -> None:
        current.append(running)
        screen.watch(running)
        if plans[0].settings.config.dry_run:
            running.progress.listen(_show_items)

    async def one(parts: Parts, asked: Plan) -> Report | GossamerError:
        try:
            return await runs.execute(parts, asked, watch)
        except GossamerError as error:
            return error

    with _stopping(current, screen):
        archive = any(asked.settings.config.archive for asked in plans)
        most = plans[0].settings.place.pool_size
        async with runs.open_parts(plans[0].store, archive=archive, most=most) as parts, screen:
            return await asyncio.gather(*(one(parts, asked) for asked in plans))


@contextlib.contextmanager
def _stopping(current: list[Running], screen: Screen) -> Any:
    """Ctrl-C or SIGTERM: take no more, let walks finish, settle. Again: stop at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    asked: float | None = None

    def stop() -> None:
        nonlocal asked
        if asked is not None and loop.time() - asked < ECHO:
            return
        if asked is not None or not current:
            task.cancel()
            return
        asked = loop.time()
        screen.note("stopping: finishing the pages in flight; press Ctrl-C again to stop at once")
        for running in current:
            running.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _show_items(outcomes: Any) -> None:
    for outcome in outcomes:
        for item in outcome.items:
            typer.echo(item.data)


def say(text: str, style: str = "") -> None:
    """One line to stderr, as it is."""
    err.print(text, markup=False, soft_wrap=True, style=style)


def _tell(asked: Plan, report: Report, failure: Outcome | None, held: str = "", *, resume: str = "resume") -> None:
    name = asked.found.scraper.name
    say(terminal.summary(report, name))
    odd = terminal.reasons(report)
    if odd:
        say(f"  not read: {odd}")
    if held:
        say(f"  {held}")
    if failure is not None:
        say(f"  for example {failure.request.url}: {failure.detail or failure.reason}")
    if asked.settings.config.dry_run:
        say("  dry run: nothing was stored")
        return
    option, program = terminal.store_option(asked.store), terminal.program()
    if report.rejected:
        say(f"  {terminal.many(report.rejected, 'record')} became no item: {program} rejects {report.run}{option}")
    if report.undelivered:
        say(f"  {terminal.many(report.undelivered, 'item')} could not be delivered yet: {program} sinks{option}")
    if report.verdict == Verdict.SUSPECT:
        so = ", so its items are held back" if report.items and asked.settings.config.drift != "warn" else ""
        say(f"  suspect: it breaks the pattern of earlier runs{so}")
        say(f"  what is wrong, and what to do: {program} drift {report.run}{option}")
        return
    if report.exit_code == 0 and not report.items and not report.rejected:
        say("  no items: the handlers yielded none; `--dry-run` shows what they do")
    elif report.exit_code == 0:
        say(f"  see it: {program} export items --run {report.run}{option}")
    elif report.reason == "start_failed":
        say(f"  every URL, and how it ended: {program} export pages --run {report.run}{option}")
    else:
        say(f"  go on: the same command, or {program} {resume} {report.run}{option}")


# -- looking ---------------------------------------------------------------------------------------------------


sources_app = typer.Typer(
    no_args_is_help=False,
    invoke_without_command=True,
    help="The hosts that a store remembers: pace, breaker, holds.",
    rich_markup_mode=None,
)
app.add_typer(sources_app, name="sources")
app.add_typer(proxies_app, name="proxies")
app.add_typer(schedule_app, name="schedule")
app.add_typer(alerts_app, name="alerts")
app.add_typer(token_app, name="token")
app.add_typer(user_app, name="user")
app.add_typer(archive_app, name="archive")
app.add_typer(cluster_app, name="cluster")
app.add_typer(db_app, name="db")
app.add_typer(flow_app, name="flow")
app.add_typer(jobs_app, name="jobs")
app.add_typer(sinks_app, name="sinks")
app.command("audit")(audit_command)
app.command("list")(list_command)
app.command("serve")(serve_command)
app.command("worker")(worker_command)
app.command("logs")(logs_command)
app.command("changes")(changes_command)
app.command("drift")(drift_command)
app.command("rejects")(rejects_command)
app.command("replay")(replay_command)
app.command("bench")(bench_command)
app.command("chaos")(chaos_command)
app.command("doctor")(doctor_command)
app.command("health")(health_command)
app.command("export")(export_command)
app.command("try")(try_command)
app.command("new")(new_command)


@sources_app.callback()
def sources_command(context: typer.Context, store: StoreOption = None) -> None:
    """List the hosts that a store remembers: their pace, breaker and holds.

    \b
    gossamer sources
    gossamer sources forget example.org
    """
    if context.invoked_subcommand is None:
        out.print(_read(store, explain.source_table))


@sources_app.command("forget")
def forget_source(
    host: Annotated[str, typer.Argument(metavar="HOST", help="example.org, or example.org:8080")],
    store: StoreOption = None,
) -> None:
    """Forget what is remembered of a host: its learned pace, breaker, holds and robots.txt.

    \b
    gossamer sources forget example.org
    """

    async def forget() -> bool:
        async with runs.open_parts(settings.read(_flags(store=store)).place.store) as parts:
            return await parts.store.forget_source(addresses.host(host) if "://" in host else host)

    if not host.isprintable() or not wait(forget()):
        raise ConfigError(f"the store knows no host {host!r}: `gossamer sources` lists them")
    say(f"forgot {host}")


@app.command("runs")
def runs_command(
    store: StoreOption = None,
    limit: Annotated[int, typer.Option(parser=amount, help="How many, newest first", metavar="N")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """List the runs in a store, newest first."""

    async def look(opened: Store) -> list[Run]:
        return [await explain.as_it_is(opened, each) for each in await opened.runs(limit)]

    found = _read(store, look)
    if as_json:
        for each in found:
            told = {"scraper": each.scraper, "started": clock.iso(each.created)}
            typer.echo(msgspec.json.encode({**msgspec.to_builtins(runs.report(each)), **told}).decode())
        return
    rows = [
        (
            r.id,
            r.scraper,
            r.state,
            r.reason[:40],
            r.pages,
            r.items,
            r.failed,
            r.verdict or "-",
            terminal.span(r.seconds),
            terminal.moment(r.created),
        )
        for r in found
    ]
    columns = ("run", "scraper", "state", "reason", "pages", "items", "failed", "verdict", "took", "started")
    numbers = ("run", "pages", "items", "failed", "took")
    least = ("took", "reason", "verdict", "started", "failed")
    out.print(terminal.table("", columns, rows, numbers=numbers, least=least))


@app.command()
def status(
    run: Annotated[
        int | None, typer.Argument(parser=run_number, metavar="RUN", help="The run's number [the newest]")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Show one run: what it did, what waits, and how each host was treated."""
    story = _read(store, lambda opened: explain.run_story(opened, run))
    out.print(story, soft_wrap=True)


@app.command()
def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="The URL to explain")],
    store: StoreOption = None,
) -> None:
    """Explain one URL: fetched when, waiting for what, dropped by which rule, which items came out.

    \b
    gossamer why https://example.org/page
    """
    wanted = addresses.typed(url)
    known, text = _read(store, lambda opened: explain.url_story(opened, wanted))
    out.print(text, markup=False, soft_wrap=True)
    if not known:
        raise typer.Exit(2)


@app.command("settings")
def settings_command(
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object")] = False,
) -> None:
    """Show every setting: its value, where it came from, and what it means."""
    shown = settings.read().shown()
    if as_json:
        rows = {name: {"value": value, "from": origin, "about": about} for name, value, origin, about in shown}
        typer.echo(msgspec.json.encode(rows).decode())
        return
    out.print(terminal.table("", ("setting", "value", "from", "meaning"), shown))


@app.command()
def demo(
    store: Annotated[str, typer.Option("--store", help="Where to keep what is collected", metavar="PATH")] = "demo.db",
    serve: Annotated[
        bool, typer.Option("--serve", help="Open the dashboard on what the demo collected; collect it first if need be")
    ] = False,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where the dashboard listens [127.0.0.1:8600]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Scrape the demo sites that ship with Gossamer, and show what that gives. Takes about half a minute.

    \b
    gossamer demo
    gossamer demo --serve
    """
    from gossamer.demo import show

    if not serve or not Path(store).exists():
        telemetry.configure("error", "human", lambda text: None)
        try:
            wait(show.demo(store, Screen(err, quiet=quiet), out))
        except KeyboardInterrupt:
            say("gossamer: the demo was stopped; the same command begins it anew")
            raise typer.Exit(130) from None
    if serve:
        serve_demo(_flags(store=store, listen=listen))


# -- plumbing --------------------------------------------------------------------------------------------------


def _read(store: str | None, look: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store to read, and look."""

    async def do() -> T:
        async with runs.open_store(settings.read(_flags(store=store)).place.store) as opened:
            return await look(opened)

    return wait(do())


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"gossamer {__version__}")
        raise typer.Exit


plainly_shown(app)


def main() -> None:
    """The command `gossamer`. One sentence for what the user must fix, and no stack trace."""
    try:
        app()
    except GossamerError as error:
        err.print(f"gossamer: {error}", markup=False, style="red", soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, asyncio.CancelledError):
        err.print("gossamer: stopped at once; what was finished is stored, the same command goes on", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone: nobody is left to tell.
        sys.stderr.close()
        sys.exit(0)
