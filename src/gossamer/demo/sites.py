"""Three small sites we wrote, served on loopback: the default to try everything on.

    with DemoSites() as demo:
        demo.bookshop.url("/catalogue/page-1.html")     # HTML: a paginated listing and detail pages
        demo.weather.url("/v1/stations?page=1")         # JSON: a paginated API
        demo.museum.url("/")                            # HTML: slow and moody

Everything in them is invented, and the same every time.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Self

from gossamer.testing import Answer, Hit, Site

__all__ = ["DemoSites", "bookshop", "museum", "weather"]

BOOKS_PER_PAGE = 12
STATIONS_PER_PAGE = 5


class DemoSites:
    """The three demo hosts, each on a free port of its own from enter to exit."""

    def __init__(self, host: str = "127.0.0.1", *, remember: bool = True) -> None:
        """`remember=False` for a long life: hits are then not kept."""
        self.bookshop = Site(host, remember=remember)
        self.weather = Site(host, remember=remember)
        self.museum = Site(host, remember=remember)
        self._stack = ExitStack()

    def hosts(self) -> dict[str, str]:
        """Name to authority: `{"bookshop": "127.0.0.1:41234", ...}`. RuntimeError before the start."""
        return {name: site.authority for name, site in self._sites()}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for _, site in self._sites():
                stack.enter_context(site)
            self._stack = stack.pop_all()
        bookshop(self.bookshop)
        weather(self.weather)
        museum(self.museum)
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def _sites(self) -> Iterator[tuple[str, Site]]:
        yield "bookshop", self.bookshop
        yield "weather", self.weather
        yield "museum", self.museum


def _layout(site_name: str, title: str, main: str, *, head: str = "", footer: str = "") -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} | {escape(site_name)}</title>
{head}<style>
body {{ font: 17px/1.6 Georgia, serif; color: #2b2a28; background: #fbf9f4; }}
body {{ max-width: 46rem; margin: 2rem auto; }}
header a {{ font-size: 1.3rem; color: inherit; text-decoration: none; }}
footer {{ margin-top: 3rem; border-top: 1px solid #d8d2c4; font-size: .85rem; }}
th {{ text-align: left; padding-right: 2rem; }}
</style>
</head>
<body>
<header><a href="/">{escape(site_name)}</a></header>
<main>
{main}
</main>
<footer>{footer}</footer>
</body>
</html>
"""


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


# -- the bookshop

SHOP = "Lamplight Books"
SHOP_ROBOTS = "User-agent: *\nDisallow: /admin/\n"

SHELVES = {
    "Travel": (
        "Slow Trains to the Sea|A Rucksack Full of Bread|The Ferry Timetable|Nine Bridges of the Oder|"
        "Salt Roads|Walking Home by Starlight|The Last Lighthouse Keeper's Map|Islands Without Names|"
        "Tea at the Border|Postcards from the Rain|North of the Birches|The Kindness of Bus Drivers",
        "A journey told at walking pace, with mud on every page.",
        "The author never hurries past a closed museum or an open kitchen door.",
    ),
    "Mystery": (
        "The Clockmaker's Alibi|Murder at Quarter Tone|A Quiet Night in Harrow Lane|The Seventh Umbrella|"
        "The Vicar Who Knew Too Little|Death of a Crossword|The Borrowed Coffin|Footprints in Flour|"
        "The Piano Tuner's Secret|An Inconvenient Inheritance|The Fog Commissioner|Nobody Rings Twice",
        "One locked room, eleven suspects and a very patient inspector.",
        "You will guess who did it twice, and be wrong both times.",
    ),
    "Science": (
        "What the Lichen Knows|A Field Guide to Noise|The Patience of Glaciers|Counting to Infinity Slowly|"
        "Small Machines of the Cell|Why Rivers Bend|The Octopus in the Mirror|Light, Briefly|"
        "The Weather Inside|Gravity for Gardeners|Twelve Ways to Measure a Cloud|The Honest Thermometer",
        "An expert explains a hard thing kindly and leaves out nothing that matters.",
        "Every chapter ends with an experiment that needs only a kitchen table.",
    ),
    "Poetry": (
        "Inventory of Small Birds|Letters to an Empty House|The Weight of Snow|Apricot Hours|"
        "Songs for a Broken Radiator|Half of the Moon|Window, Lamp, Hand|The Grammar of Rain|"
        "Unposted|A Ladder for Moths|What the Tide Returned|Evening in Two Languages",
        "Forty short poems that ask to be read aloud.",
        "They look simple until the second reading, and generous after the third.",
    ),
    "Children": (
        "The Bear Who Collected Buttons|Mina and the Upside-Down Pond|Grandfather's Paper Boat|"
        "The Snail Express|Who Painted the Puddle?|A Dragon for Breakfast|Goodnight, Little Crane|"
        "The Sock That Ran Away|Otto Builds a Moon|The Very Serious Duck|Rosie and the Night Tram|"
        "Seven Hats for Winter",
        "A picture book with a warm heart and a surprise behind the last flap.",
        "Best read under a blanket, with one voice per animal.",
    ),
    "Food": (
        "One Pot, Many Sundays|The Bread Almanac|Pickles and Patience|Soup Is a Promise|"
        "The Allotment Kitchen|Butter, Flour, Weather|A Year of Pears|Supper for Two Neighbours|"
        "The Small Tin Cookbook|Smoke and Honey|Dumplings of Seven Valleys|What to Do with Quinces",
        "Eighty recipes that work in a kitchen where one ring is broken.",
        "The notes in the margins are worth the price alone.",
    ),
    "History": (
        "The Ink Merchants of Leyden|A City of Forty Wells|The Queen's Second Cartographer|"
        "When the Canal Froze|Rope, Tar and Sailcloth|The Year Without Bells|Daughters of the Printing House|"
        "A Short History of Chairs|The Salt Tax Riots|Letters from the Glass Mountain|"
        "The Bridge Builders' Guild|Bread and Almanacs",
        "Read from letters, bills and court records that nobody had opened for two centuries.",
        "The footnotes tell a second story, and it is the funnier one.",
    ),
    "Craft": (
        "The Patient Knitter|Mending as a Way of Life|Spoons from Green Wood|A Book of Simple Boxes|"
        "Dyeing with Hedgerows|The Bookbinder's Apprentice|Stitches of the North Coast|Paper, Folded|"
        "The Weekend Potter|Sharp: On Keeping Tools|Looms and Lullabies|The Basket Maker's Winter",
        "Clear drawings, honest warnings, and projects that fit into an evening.",
        "Beginners finish something in chapter one; experts will argue with chapter nine.",
    ),
}
FIRST_NAMES = ("Agnes", "Bruno", "Celia", "Dorian", "Edda", "Felix", "Greta", "Hamid", "Ines", "Kaja", "Orla")
LAST_NAMES = (
    "Abernathy",
    "Brook",
    "Castellan",
    "Dunmore",
    "Eriksen",
    "Grünwald",
    "Ikeda",
    "Jansky",
    "Lindqvist",
)
ENDINGS = (
    "A gift for anyone who says they have no time to read.",
    "Printed on good paper, with a ribbon.",
    "Our bookseller Marta has read it four times.",
    "Signed copies while they last.",
    "Now in a new edition with an afterword by the author.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    title: str
    author: str
    category: str
    pence: int
    stock: int
    stars: int
    pages: int
    upc: str
    description: str

    @property
    def path(self) -> str:
        return f"/book/{_slug(self.title)}.html"

    @property
    def price(self) -> str:
        return f"£{self.pence // 100}.{self.pence % 100:02}"

    @property
    def availability(self) -> str:
        return f"In stock ({self.stock} available)" if self.stock else "Out of stock"


def _books() -> list[_Book]:
    rng = random.Random(96)
    books = [
        _book(rng, title, category, (opening, middle))
        for category, (titles, opening, middle) in SHELVES.items()
        for title in titles.split("|")
    ]
    rng.shuffle(books)
    return books


def _book(rng: random.Random, title: str, category: str, sentences: Sequence[str]) -> _Book:
    return _Book(
        title=title,
        author=f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}",
        category=category,
        pence=rng.randrange(650, 3400, 10),
        stock=max(0, rng.randint(-2, 19)),
        stars=rng.choice((2, 3, 3, 4, 4, 4, 5, 5)),
        pages=rng.randrange(48, 480, 8),
        upc=f"{rng.getrandbits(48):012x}",
        description=" ".join((*sentences, rng.choice(ENDINGS))),
    )


def bookshop(site: Site) -> None:
    """Install the bookshop: 96 books on 8 catalogue pages, and an /admin/ which robots.txt forbids."""
    books = _books()
    last = len(books) // BOOKS_PER_PAGE
    site.robots(SHOP_ROBOTS)
    site.page("/", _shop_page("Welcome", _SHOP_WELCOME))
    site.page("/admin/", _shop_page("Staff only", "<h1>Staff only</h1>\n<p>Robots were asked to stay out.</p>"))
    for number in range(1, last + 1):
        some = books[(number - 1) * BOOKS_PER_PAGE : number * BOOKS_PER_PAGE]
        site.page(f"/catalogue/page-{number}.html", _catalogue_page(number, last, some))
    for book in books:
        site.page(book.path, _book_page(book))


_SHOP_WELCOME = """<h1>A small shop with a long counter</h1>
<p>We sell books we have read. Come in, it is warm.</p>
<p><a class="catalogue" href="/catalogue/page-1.html">See the whole catalogue</a></p>"""


def _shop_page(title: str, main: str, *, head: str = "") -> str:
    footer = '<p>Lamplight Books, 3 Candle Row. <a href="/admin/" rel="nofollow">Staff</a></p>'
    return _layout(SHOP, title, main, head=head, footer=footer)


def _catalogue_page(number: int, last: int, books: Sequence[_Book]) -> str:
    entries = "\n".join(
        f'<li class="book"><h2><a href="{book.path}">{escape(book.title)}</a></h2>'
        f' <span class="author">{book.author}</span> <span class="price">{book.price}</span></li>'
        for book in books
    )
    back = f'<a class="previous" rel="prev" href="/catalogue/page-{number - 1}.html">previous</a> '
    onward = f' <a class="next" rel="next" href="/catalogue/page-{number + 1}.html">next</a>'
    pager = (back if number > 1 else "") + f"Page {number} of {last}" + (onward if number < last else "")
    main = f'<h1>Catalogue</h1>\n<ol class="books">\n{entries}\n</ol>\n<nav class="pager">{pager}</nav>'
    return _shop_page(f"Catalogue, page {number}", main)


def _book_page(book: _Book) -> str:
    head = (
        f'<meta name="description" content="{escape(book.description)}">\n'
        f'<script type="application/ld+json">{json.dumps(_book_data(book), ensure_ascii=False)}</script>\n'
    )
    rows = {
        "UPC": book.upc,
        "Category": book.category,
        "Pages": str(book.pages),
        "Price": book.price,
        "Availability": book.availability,
    }
    table = "\n".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
    main = f"""<nav class="breadcrumb"><a href="/catalogue/page-1.html">Catalogue</a> / {book.category}</nav>
<article class="product">
<h1>{escape(book.title)}</h1>
<p class="author">by {book.author}</p>
<p class="price">{book.price}</p>
<p class="stock">{book.availability}</p>
<p class="rating" data-stars="{book.stars}">{book.stars} out of 5 stars</p>
<div class="description"><p>{escape(book.description)}</p></div>
<table class="facts">
{table}
</table>
</article>"""
    return _shop_page(book.title, main, head=head)


def _book_data(book: _Book) -> dict[str, object]:
    stock = "InStock" if book.stock else "OutOfStock"
    price = book.price.removeprefix("£")
    offer = {
        "@type": "Offer",
        "price": price,
        "priceCurrency": "GBP",
        "availability": f"https://schema.org/{stock}",
    }
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": book.title,
        "sku": book.upc,
        "category": book.category,
        "description": book.description,
        "offers": offer,
    }


# -- the weather API

STATIONS = (
    "Alder Point|coast,Barley Hill|hill,Cormorant Rock|coast,Dovecote Field|plain,Elderfen|plain,"
    "Foxglove Pass|mountain,Gull Harbour|coast,Hawthorn Bridge|river,Ironstone Quarry|hill,"
    "Juniper Ridge|mountain,Kingfisher Lock|river,Larkmoor|plain,Mistle Wood|forest,Nettlebed|plain,"
    "Otter Weir|river,Plover Sands|coast,Quince Orchard|plain,Ravenscar|mountain,"
    "Sallow Marsh|river,Thistle Down|hill"
)
_TERRAIN_METRES = {"coast": 4, "plain": 38, "river": 22, "forest": 160, "hill": 290, "mountain": 1140}
_FIRST_READING = datetime(2026, 3, 1, tzinfo=UTC)


def weather(site: Site) -> None:
    """Install the weather API: 20 stations on 4 pages, 24 hourly readings each. Wants a started site."""
    stations = [_station(site, number, entry) for number, entry in enumerate(STATIONS.split(","))]
    pages = [stations[at : at + STATIONS_PER_PAGE] for at in range(0, len(stations), STATIONS_PER_PAGE)]
    site.json("/", {"name": "Hedgerow Weather Service", "stations": site.url("/v1/stations?page=1")})
    site.handler("/v1/*", _no_such_resource)
    for number, some in enumerate(pages, start=1):
        onward = site.url(f"/v1/stations?page={number + 1}") if number < len(pages) else None
        listing = {
            "page": number,
            "pages": len(pages),
            "total": len(stations),
            "next": onward,
            "stations": some,
        }
        site.json(f"/v1/stations?page={number}", listing)
        if number == 1:
            site.json("/v1/stations", listing)
    for station in stations:
        path = f"/v1/stations/{station['id']}"
        site.json(path, station)
        site.json(f"{path}/readings", {"station": station["id"], "readings": _readings(station)})


def _no_such_resource(hit: Hit) -> Answer:
    body = json.dumps({"error": "not found", "path": hit.path})
    return Answer(status=404, body=body, headers={"Content-Type": "application/json"})


def _station(site: Site, number: int, entry: str) -> dict[str, object]:
    name, _, terrain = entry.partition("|")
    rng = random.Random(name)
    code = f"{name[:3].upper()}{number + 1:02}"
    return {
        "id": code,
        "name": name,
        "terrain": terrain,
        "latitude": round(rng.uniform(52.1, 54.9), 4),
        "longitude": round(rng.uniform(-2.8, 1.6), 4),
        "elevation_m": _TERRAIN_METRES[terrain] + rng.randint(0, 40),
        "readings": site.url(f"/v1/stations/{code}/readings"),
    }


def _readings(station: dict[str, object]) -> list[dict[str, object]]:
    rng = random.Random(str(station["id"]))
    height = float(str(station["elevation_m"]))
    noon = 11.5 - height / 150  # about 6.5 degrees colder for every kilometre up
    return [_reading(rng, hour, noon) for hour in range(24)]


def _reading(rng: random.Random, hour: int, noon: float) -> dict[str, object]:
    wet = rng.random() < 0.2
    return {
        "at": (_FIRST_READING + timedelta(hours=hour)).isoformat().replace("+00:00", "Z"),
        "temperature_c": round(noon - abs(hour - 14) * 0.55 + rng.gauss(0, 0.4), 1),
        "humidity_pct": rng.randint(78, 97) if wet else rng.randint(48, 80),
        "wind_ms": round(abs(rng.gauss(4, 2.2)), 1),
        "rain_mm": round(rng.uniform(0.2, 4.5), 1) if wet else 0.0,
        # A sensor is cleaned at noon now and then: real APIs have holes, and scrapers meet them.
        "pressure_hpa": None if hour == 12 and rng.random() < 0.3 else round(rng.gauss(1013, 4), 1),
    }


# -- the museum

MUSEUM = "Museum of Small Wonders"
LOST_PATH = "/exhibits/the-travelling-lantern"
BROKEN_PATH = "/exhibits/the-stopped-barometer"
MOVED_PATH = "/exhibits/harbour-sketch-no-4"
ROOMS = {
    "Clocks and Keys": (
        "The Two-Minute Clock|Ambrose Tulley|1788|It runs for two minutes and was built to time eggs.",
        "Key to No Door|unknown|1640|Found in a wall. It has been tried in four hundred locks since.",
        "Nightwatchman's Dial|Hanne Voss|1811|A paper disc that proved the watchman was awake.",
        "Pocket Sundial for Rainy Days|Josiah Wren|1702|The lid shows a painted sun, for comfort.",
        "The Left-Handed Lock|Matilde Corri|1869|Opens only for those who turn it the wrong way.",
    ),
    "Paper and Ink": (
        "Harbour at First Light|Elias Brandt|1893|A pen drawing made in one sitting, in fog.",
        "Letter Never Folded|Sophie Aldane|1834|The sender could not decide, and framed it.",
        "Map of a Kitchen|Theo Marchetti|1921|Drawn by a boy of six, to scale.",
        "Cut-Paper Orchard|Lin Haruka|1907|Three hundred trees from a single sheet.",
        "Receipt for a Cloud|Bureau of Weights|1911|A clerk's joke that was filed and stamped.",
    ),
    "Glass and Light": (
        "Lamp for One Moth|Ottilie Kern|1888|A lantern with a door two centimetres high.",
        "Bottle of Old Air|Cornelius Vane|1750|Corked on a mountain. Nobody has opened it.",
        "The Green Spectacles|Workshop of Pirelli|1799|Worn by an accountant in winter.",
        "Seven Marbles|unknown|1863|Won, lost and won again by the same two sisters.",
        "Prism from a Chandelier|Benedikt Salo|1826|All that is left of a ballroom.",
    ),
    "Wood and Thread": (
        "The Smallest Loom|Ruta Kalnina|1902|It wove ribbons for dolls, and one for a mayor.",
        "Spoon with a View|Halvard Moen|1859|A fjord is carved inside the bowl.",
        "Sampler of Mistakes|Prudence Oakley|1815|Every error of a year, kept on purpose.",
        "Travelling Chessboard|Isaac Lumen|1878|One pawn is a thimble.",
        "A Sailor's Forty Knots|Duarte Reis|1894|Two of them have never been untied.",
    ),
    "Sound and Silence": (
        "Whistle for Shy Dogs|Clara Penhallow|1930|Hardly audible even to the dog.",
        "Music Box without Teeth|Jean-Marc Oriel|1847|It plays a silence of three minutes.",
        "The Polite Doorbell|Ingrid Thorsen|1955|It coughs.",
        "Violin for a Left Pocket|Marek Dvorsky|1912|Played in trains, under a coat.",
        "Bell of the Lost Ferry|Harbour Guild|1803|Rung once a year, by a child.",
    ),
}
_MOODS = {3: 429, 8: 503, 12: 429, 17: 503, 21: 503}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exhibit:
    title: str
    artist: str
    year: str
    room: str
    text: str

    @property
    def path(self) -> str:
        return f"/exhibits/{_slug(self.title)}"


def museum(site: Site) -> None:
    """Install the museum: 25 exhibits in 5 rooms, 60 to 150 ms a page, and in a mood.

    Five exhibits and one room answer 429 or 503 with `Retry-After: 1` the first time. One link is dead
    (`LOST_PATH`), one has moved (`MOVED_PATH`), and one page always fails with a 500 (`BROKEN_PATH`).
    """
    exhibits = _exhibits()
    site.page("/", _museum_home(), latency=_latency("/"))
    for name in ROOMS:
        inside = [exhibit for exhibit in exhibits if exhibit.room == name]
        _moody(site, _room_path(name), _room_page(name, inside), 503 if name == "Glass and Light" else None)
    for number, exhibit in enumerate(exhibits):
        _moody(site, exhibit.path, _exhibit_page(exhibit), _MOODS.get(number))
    harbour = next(exhibit for exhibit in exhibits if exhibit.title.startswith("Harbour"))
    site.redirect(MOVED_PATH, harbour.path, latency=_latency(MOVED_PATH))
    site.page(LOST_PATH, _museum_page("Not here", "<h1>On loan, we think</h1>"), status=404, latency=0.1)
    site.page(BROKEN_PATH, _museum_page("Error", "<h1>Something fell</h1>"), status=500, latency=0.1)


def _exhibits() -> list[_Exhibit]:
    fields = [(room, *line.split("|")) for room, lines in ROOMS.items() for line in lines]
    return [
        _Exhibit(title=title, artist=artist, year=year, room=room, text=text)
        for room, title, artist, year, text in fields
    ]


def _moody(site: Site, path: str, body: str, status: int | None) -> None:
    latency = _latency(path)
    if status is None:
        site.page(path, body, latency=latency)
    else:
        site.flaky(path, status=status, retry_after="1", then=body, latency=latency)


def _latency(path: str) -> float:
    return random.Random(path).uniform(0.06, 0.15)


def _room_path(name: str) -> str:
    return f"/rooms/{_slug(name)}"


def _museum_page(title: str, main: str) -> str:
    return _layout(MUSEUM, title, main, footer="<p>Open when the door is. Please whisper.</p>")


def _museum_home() -> str:
    rooms = "\n".join(f'<li><a class="room" href="{_room_path(name)}">{name}</a></li>' for name in ROOMS)
    main = f"""<h1>Things nobody else thought to keep</h1>
<ul class="rooms">
{rooms}
</ul>
<p>Drawing of the month: <a class="exhibit" href="{MOVED_PATH}">Harbour Sketch No. 4</a></p>"""
    return _museum_page("Welcome", main)


def _room_page(name: str, exhibits: Sequence[_Exhibit]) -> str:
    links = [(exhibit.path, exhibit.title) for exhibit in exhibits]
    if name == "Glass and Light":
        links.append((LOST_PATH, "The Travelling Lantern"))
    if name == "Sound and Silence":
        links.append((BROKEN_PATH, "The Stopped Barometer"))
    entries = "\n".join(f'<li><a class="exhibit" href="{path}">{escape(title)}</a></li>' for path, title in links)
    main = f'<h1>{name}</h1>\n<ul class="exhibits">\n{entries}\n</ul>\n<p><a href="/">All rooms</a></p>'
    return _museum_page(name, main)


def _exhibit_page(exhibit: _Exhibit) -> str:
    main = f"""<article class="exhibit">
<h1>{escape(exhibit.title)}</h1>
<dl>
<dt>Artist</dt><dd class="artist">{escape(exhibit.artist)}</dd>
<dt>Year</dt><dd class="year">{exhibit.year}</dd>
<dt>Room</dt><dd class="location"><a href="{_room_path(exhibit.room)}">{exhibit.room}</a></dd>
</dl>
<p class="text">{escape(exhibit.text)}</p>
</article>"""
    return _museum_page(exhibit.title, main)
