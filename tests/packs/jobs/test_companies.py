"""One name for each company."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer import ConfigError
from gossamer.packs.jobs import companies, company_table
from gossamer.packs.jobs.company_table import Entry


@pytest.mark.parametrize(
    "written",
    [
        "Saltmarsh Airways",
        " saltmarsh   airways ",
        "SALTMARSH AIRWAYS LTD.",
        "Saltmarsh Airways, L.L.C.",
        "Saltmarsh Airways Pvt. Ltd.",
        "The Saltmarsh Airways Co., Ltd.",
        "Saltmarsh Airways (UK)",
        "Saltmarsh Airways GmbH & Co. KG",
        "Saltmarsh Airways Sdn. Bhd.",
        "Saltmarsh Airways S.A.",
    ],
)
def test_spellings_of_one_company_have_one_key(written: str) -> None:
    assert companies.key_of(written) == "saltmarsh airways"


@pytest.mark.parametrize("written", [None, 5, "", "  ", "Unknown", "Confidential", "N/A", "-"])
def test_what_names_no_company_has_no_key(written: object) -> None:
    assert companies.key_of(written) is None
    assert companies.proposed(written) is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NORDLICHT AIR CARGO GMBH", "Nordlicht Air Cargo"),
        ("tropic airways", "Tropic Airways"),
        ("KLM", "KLM"),
        ("DHL AVIATION", "DHL Aviation"),
        ("easyJet", "easyJet"),
        ("SAS", "SAS"),
    ],
)
def test_the_name_that_is_proposed_does_not_shout(written: str, name: str) -> None:
    assert companies.proposed(written) == name


def test_the_built_in_table() -> None:
    book = companies.book_of({})
    found = book.find("Signature Flight Support LLC")
    assert found is not None
    assert (found.name, found.operation, found.country) == ("Signature Aviation", "business", "US")
    assert book.find("Saltmarsh Airways") is None
    keys = [companies.key_of(written) for entry in companies.BUILT_IN for written in (entry.name, *entry.also)]
    assert None not in keys


TOML = """
# mine
[[company]]
name = "Salt"
also = ["Saltmarsh Airways Ltd"]
operation = "cargo"
country = "gb"

[[company]]
name = "Signature FS"
also = ["Signature Flight Support"]
"""


def test_a_table_of_ones_own_goes_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "companies.toml").write_text(TOML, "utf-8")
    book = companies.book_of({})
    salt, own = book.find("SALTMARSH AIRWAYS"), book.find("Signature Flight Support LLC")
    assert salt == Entry("Salt", ("Saltmarsh Airways Ltd",), "cargo", "GB")
    assert own is not None
    assert own.name == "Signature FS"


def test_a_table_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("name,also,operation,country\nSalt,Saltmarsh|Salt Marsh Air,cargo,GB\nReed,,,\n", "utf-8")
    assert company_table.load(path) == [Entry("Salt", ("Saltmarsh", "Salt Marsh Air"), "cargo", "GB"), Entry("Reed")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("company = 3", r"holds \[\[company\]\] tables"),
        ("[[firm]]\nname='a'", r"holds \[\[company\]\] tables"),
        ("[[company]]\nalso=['a']", "has no name"),
        ("[[company]]\nname='a'\nalso='b'", "also is a list"),
        ("[[company]]\nname='a'\nland='b'", "'land' is not known"),
        ("[[company]]\nname='a'\noperation='ships'", "is none of passenger"),
        ("[[company]]\nname='a'\ncountry='Spain'", "write two letters"),
        ("[[company", "is not TOML"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=says):
        companies.book_of({"companies": str(path)})


def test_a_table_that_is_not_there_is_refused_only_if_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert companies.book_of({}).entries()
    with pytest.raises(ConfigError, match="there is no such file"):
        companies.book_of({"companies": "nowhere.toml"})


@pytest.mark.parametrize("name", ["mine.toml", "mine.csv"])
def test_what_is_written_can_be_read_and_what_was_there_stays(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    entries = [
        Entry('The "Quoted" \\ Line', ("Zeile\x7f\nzwei",), "mro", "DE"),
        Entry("Ålesund, Fly & Co", (), None, None),
        Entry("Ålesund, Fly & Co", ("Aalesund Fly",), "cargo", None),
    ]
    for entry in entries:
        company_table.write(path, entry)
    assert company_table.load(path) == entries
    book = companies.Book(company_table.load(path))
    found = book.find("Aalesund Fly")
    assert found is not None
    assert (found.name, found.operation) == ("Ålesund, Fly & Co", "cargo")
    assert sorted(each.name for each in tmp_path.iterdir()) == [name]


def test_remarks_in_a_table_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOML, "utf-8")
    company_table.write(path, Entry("Reed", ("Reed Air",), None, None))
    assert path.read_text("utf-8").startswith(TOML)
    assert len(company_table.load(path)) == 3


def test_a_table_is_not_written_into_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[[company", "utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        company_table.write(path, Entry("Reed"))
    assert path.read_text("utf-8") == "[[company"
