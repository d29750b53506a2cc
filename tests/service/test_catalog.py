"""The scrapers a service knows, and the files it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

from gossamer.catalog import Catalog

GOOD = """
from gossamer import Scraper

class {name}(Scraper):
    start_urls = ["https://a.example/"]

    def parse(self, page):
        yield {{"title": page.title}}
"""


def test_files_that_define_scrapers_are_found_and_programs_are_not_run(tmp_path: Path) -> None:
    (tmp_path / "quotes.py").write_text(GOOD.format(name="Quotes"))
    (tmp_path / "helper.py").write_text("import os\n")
    program = GOOD.format(name="Program") + "\nfrom pathlib import Path\nopen('was_run', 'w').close()\n"
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "guarded.py").write_text(GOOD.format(name="Guarded") + "\nif __name__ == '__main__':\n    exit(1)\n")
    (tmp_path / "broken.py").write_text("from gossamer import Scraper\nclass Oops(Scraper:\n")
    catalog = Catalog((), tmp_path)
    assert list(catalog.scrapers) == ["guarded", "quotes"]
    assert [Path(each.ref).name for each in catalog.broken] == ["broken.py"]
    assert not (tmp_path / "was_run").exists()


def test_what_is_edited_is_read_again_and_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "quotes.py"
    file.write_text(GOOD.format(name="Quotes"))
    catalog = Catalog((), tmp_path)
    assert not catalog.refresh()
    file.write_text(GOOD.format(name="Other"))
    os.utime(file, (1, 1))
    assert catalog.refresh()
    assert list(catalog.scrapers) == ["other"]
    file.write_text("from gossamer import Scraper\nclass Other(Scraper):\n    rate = 'fast'\n")
    assert catalog.refresh()
    assert catalog.scrapers == {}
    assert "rate" in catalog.broken[0].why
    file.unlink()
    assert catalog.refresh()
    assert catalog.broken == []


def test_two_scrapers_of_one_name_are_told_of(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(GOOD.format(name="Same"))
    catalog = Catalog((), tmp_path)
    assert list(catalog.scrapers) == ["same"]
    assert "same name" in catalog.broken[0].why
    named = Catalog((str(tmp_path / "one.py"), str(tmp_path / "missing.py")))
    assert list(named.scrapers) == ["same"]
    assert "no file" in named.broken[0].why
