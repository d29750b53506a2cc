"""The calls on the pages of `demo.art`: invented, and the same every time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call, as its organizer would tell it."""

    slug: str
    title: str
    who: str
    city: str
    state: str
    deadline: date | None
    text: str
    sort: str = "Exhibition"
    fee: str = ""
    eligibility: str = "National"
    starts: date | None = None
    ends: date | None = None

    @property
    def us(self) -> str:
        """Its deadline as Americans write it: 09/16/2026."""
        return f"{self.deadline:%m/%d/%Y}" if self.deadline else ""

    @property
    def short(self) -> str:
        """Its deadline with a year of two digits: 9/16/26."""
        return slashed(self.deadline)[:-4] + f"{self.deadline:%y}" if self.deadline else ""

    @property
    def long(self) -> str:
        """Its deadline in words: September 16, 2026."""
        return words(self.deadline) if self.deadline else ""

    @property
    def runs(self) -> str:
        """From when to when it takes place, in words."""
        return f"{words(self.starts)} - {words(self.ends)}" if self.starts and self.ends else ""


def words(day: date) -> str:
    """A day in words."""
    return f"{day:%B} {day.day}, {day.year}"


def slashed(day: date | None) -> str:
    """A day in digits: 9/16/2026."""
    return f"{day.month}/{day.day}/{day.year}" if day else ""


#: On two boards: that of its council, and CaFE.
MURAL = Call(
    slug="harbor-light-mural",
    title="Harbor Light Mural Commission",
    who="Port Alder Arts & Culture",
    city="Port Alder",
    state="California",
    deadline=date(2026, 10, 16),
    sort="Public Art",
    text="Port Alder seeks an artist or a team for a mural of 60 feet at the old ferry building. The budget is $48,000,"
    " all inclusive. There is no application fee. Artists must live in California.",
)
CALIFORNIA = (
    MURAL,
    Call(
        slug="salt-and-paper",
        title="Salt and Paper: a Juried Exhibition of Works on Paper",
        who="Gallery Nine Rivers",
        city="Ojala",
        state="California",
        deadline=date(2026, 9, 28),
        fee="$35",
        text="Gallery Nine Rivers invites artists to enter works on paper. The entry fee is $35 for three images."
        " Open to all artists over 18 who work in the United States. Cash awards of $1,500.",
    ),
    Call(
        slug="redwood-quiet-residency",
        title="Redwood Quiet Residency",
        who="The Quiet House",
        city="Arden Grove",
        state="California",
        deadline=date(2026, 11, 2),
        sort="Residency",
        text="Four weeks among tall trees, with a stipend of $2,000 and a studio. Applications open on September 1,"
        " 2026 and close on November 2, 2026. The application fee is $10.",
    ),
)
NEW_YORK = (
    Call(
        slug="hudson-lantern-fellowship",
        title="Hudson Lantern Fellowship",
        who="Lantern Fund for Sculpture",
        city="Beaconsfield",
        state="New York",
        deadline=date(2026, 12, 1),
        sort="Fellowship",
        text="Fellowships of $12,000 for sculptors in any county of the state. There is no fee to apply.",
    ),
    Call(
        slug="subway-sketchbook",
        title="Open Call: The Subway Sketchbook",
        who="Third Rail Editions",
        city="New York",
        state="New York",
        deadline=date(2026, 10, 5),
        text="Drawings made underground, for a book and an exhibition. Submission fee: $15.",
    ),
)
TEXAS = (
    Call(
        slug="dry-creek-sculpture-walk",
        title="Dry Creek Sculpture Walk",
        who="Dry Creek Arts Council",
        city="Dry Creek",
        state="Texas",
        deadline=date(2026, 11, 20),
        sort="Public Art",
        text="Call for artists: six sculptures along the creek for one year. Each artist receives a stipend of $3,500.",
    ),
    Call(
        slug="lone-lamp-teaching-grant",
        title="Lone Lamp Teaching Artist Grant",
        who="Lone Lamp Foundation",
        city="Amity",
        state="Texas",
        deadline=date(2027, 1, 15),
        sort="Grant",
        text="Grants of up to $5,000 for artists who teach in small towns. Apply by January 15, 2027.",
    ),
)
FLORIDA = (
    Call(
        slug="mangrove-biennial",
        title="Mangrove Biennial",
        who="Coral Street Museum",
        city="Palmetto Key",
        state="Florida",
        deadline=date(2026, 10, 30),
        fee="$25",
        text="A biennial of art about water. Entry fee $25. Eligibility: artists who live in the southeast.",
    ),
)
OREGON = (
    Call(
        slug="rain-garden-commission",
        title="Rain Garden Commission",
        who="Fernwood Parks",
        city="Fernwood",
        state="Oregon",
        deadline=date(2026, 12, 18),
        sort="Public Art",
        text="Call for artists: a sculpture that shows how much it rained. The budget is $15,000.",
    ),
)
ARIZONA = (
    Call(
        slug="mesa-sound-festival",
        title="Mesa Sound Festival: Call for Installations",
        who="Mesa Sound",
        city="Copperfield",
        state="Arizona",
        deadline=date(2026, 12, 6),
        sort="Festival",
        text="Sound installations for four evenings in the desert. No entry fee.",
    ),
    Call(
        slug="adobe-artist-in-residence",
        title="Artist in Residence at the Adobe School",
        who="The Adobe School",
        city="Prickly Wells",
        state="Arizona",
        deadline=date(2027, 2, 1),
        sort="Residency",
        text="A residency of one semester with housing and a stipend of $9,000.",
    ),
)
ARCHIVED = (
    Call(
        slug="small-worlds",
        title="Small Worlds: Miniature Art",
        who="Thimble Gallery",
        city="Laurel",
        state="California",
        deadline=date(2026, 10, 12),
        fee="$20",
        eligibility="International",
        starts=date(2026, 12, 4),
        ends=date(2027, 1, 9),
        text="Works no larger than a hand, in any medium.",
    ),
    Call(
        slug="night-market-posters",
        title="Night Market Poster Competition",
        who="Elm Street Night Market",
        city="Brook Falls",
        state="New York",
        deadline=date(2026, 9, 19),
        sort="Competition",
        text="A poster for every month of the market. The winner receives $800.",
    ),
    Call(
        slug="gulf-coast-print-exchange",
        title="Gulf Coast Print Exchange",
        who="Saltgrass Press",
        city="Galena Bay",
        state="Texas",
        deadline=date(2026, 11, 9),
        fee="$12",
        text="Send fifteen prints, get fifteen others.",
    ),
)
BOARDED = (
    Call(
        slug="threadwork",
        title="Threadwork 2026",
        who="fiber-guild",
        city="Laurel",
        state="Oregon",
        deadline=date(2026, 10, 21),
        fee="$30",
        text="Textiles of all kinds, juried by a weaver.",
    ),
    Call(
        slug="winter-glass",
        title="Winter Glass",
        who="glasshouse",
        city="Northport",
        state="Washington",
        deadline=date(2026, 11, 30),
        fee="$0",
        eligibility="Regional",
        text="Glass that is best seen in low light.",
    ),
)
LISTED = (
    Call(
        slug="meadow-plaza-rfq",
        title="Meadow Plaza Gateway",
        who="City of Larkspur Hill",
        city="Larkspur Hill",
        state="Colorado",
        deadline=date(2026, 10, 8),
        sort="Public Art RFP",
        text="The city asks for qualifications for a gateway sculpture. Budget: $120,000.",
    ),
    Call(
        slug="still-life-now",
        title="Still Life Now",
        who="Pear Tree Gallery",
        city="Orchard Lake",
        state="Michigan",
        deadline=date(2026, 9, 30),
        sort="Competitions",
        fee="$18",
        text="Still lifes of this century. Entry fee: $18 for one work.",
    ),
)
ABROAD = (
    Call(
        slug="lighthouse-winter-residency",
        title="Lighthouse Winter Residency",
        who="Skerry Arts",
        city="Skerry",
        state="",
        deadline=date(2026, 9, 25),
        starts=date(2027, 1, 10),
        ends=date(2027, 2, 21),
        sort="Residency",
        text="Six weeks in a lighthouse, with a ferry twice a week. Residents receive 900 EUR.",
    ),
)
FAIRS = (
    Call(
        slug="4711",
        title="Linden Park Art Fair",
        who="Linden Park Friends",
        city="Linden",
        state="Illinois",
        deadline=date(2026, 10, 1),
        fee="$40",
        starts=date(2027, 5, 15),
        ends=date(2027, 5, 16),
        sort="Festival",
        text="A hundred booths under old trees.",
    ),
)
SHOWS = (
    Call(
        slug="open-water",
        title="Open Water: 14th Annual Watercolor Show",
        who="River Society of Painters",
        city="Millbrook",
        state="Ohio",
        deadline=date(2026, 10, 3),
        starts=date(2026, 11, 7),
        ends=date(2026, 12, 19),
        text="Watercolors on paper, juried.",
    ),
)
ENTRIES = (
    Call(
        slug="77",
        title="Silver Gelatin: a Photography Call",
        who="Darkroom Row",
        city="Easton",
        state="Pennsylvania",
        deadline=date(2026, 11, 17),
        fee="$35.00 USD per 10",
        starts=date(2026, 9, 1),
        text="Prints made in a darkroom.",
    ),
)
GENERAL = (
    Call(
        slug="orchard-commission",
        title="Orchard Row Commission",
        who="Orchard Row Trust",
        city="Bristow",
        state="Virginia",
        deadline=date(2026, 12, 11),
        text="A commission for a bench, a gate or a bell. Apply with three pictures; the fee for the artist is $6,000.",
    ),
    Call(
        slug="letterpress-prize",
        title="Letterpress Prize",
        who="Type & Table",
        city="Madison Falls",
        state="Wisconsin",
        deadline=date(2027, 1, 31),
        text="A prize of $2,500 for a broadside. Submission fee $12.",
    ),
)
