"""The API against its own document: whatever is sent, it answers as the document says, and never with a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gossamer.api import events
from gossamer.api.app import described, make_app
from tests.service.conftest import SCRAPERS, TESTER, Served

#: What every answer must be. That ours says 503 for a store that is gone is documented, and still not to happen here.
WANTED = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DOCUMENT = described(make_app(None))  # type: ignore[arg-type]
OPERATIONS = [(method, path) for path, known in DOCUMENT["paths"].items() for method in known]
#: Requests of each operation that fit the document, and that do not.
FITTING, UNFIT = 10, 8
#: Names and numbers that are there: what is drawn at random seldom is.
KNOWN: dict[str, list[Any]] = {
    "name": ["quotes", "books", "anna"],
    "scraper": ["quotes", "books"],
    "scraper_name": ["quotes", "books"],
    "host": ["shop.example", "a.example"],
    "run": [1, 2, 3],
    "job_id": [1, 2, 3],
    "item": [1, 2],
    "alert": [1],
    "token_id": [1, 2],
    "url": ["http://shop.example/", "https://a.example/x"],
    "urls": [["https://a.example/", "http://10.0.0.1/", "x"]],
    "parser": ["auto", "article"],
    "older_than": ["30d", "1s"],
    "every": ["6h"],
}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with something of everything in its store."""
    folder: Path = tmp_path_factory.mktemp("fuzzed")
    (folder / "shelf.py").write_text(SCRAPERS)
    made = Served(folder, {"store": str(folder / "store.db")})
    made.start()
    for scraper in ("quotes", "books"):
        run = made.fill([{"id": n, "name": f"n{n}"} for n in range(3)], scraper=scraper)
        made.write("update run set state = 'finished', ended = created, verdict = 'suspect' where id = :run", run=run)
    made.write("insert into worker (name, pid, started, at) values ('w', 1, 0, 4e9)")
    made.write("insert into alert (key, kind, at, title) values ('k', 'failure', 1, 'It failed')")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "LONGEST", 0.0)  # who listens would never be done
        yield made
    made.stop()


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{method} {path}" for method, path in OPERATIONS])
def test_every_answer_is_as_the_document_says(fuzzed: Served, method: str, path: str) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    operation = schema[path][method.upper()]
    # Anew for each: somebody may have been told to revoke the last one.
    name = f"fuzz-{OPERATIONS.index((method, path))}"
    _, token = fuzzed.call(lambda opened: opened.accounts.create_token(name, "admin", None, TESTER))
    headers = {"Authorization": f"Bearer {token}"}

    for mode, most in ((GenerationMode.POSITIVE, FITTING), (GenerationMode.NEGATIVE, UNFIT)):
        strategy = operation.as_strategy(generation_mode=mode)

        @settings(
            max_examples=most,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy, data=st.data())
        def ask(case: Any, data: Any) -> None:
            _make_likely(case, data)
            case.call_and_validate(base_url=fuzzed.url, headers=headers, checks=WANTED, timeout=20)

        try:
            ask()
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__ or mode is GenerationMode.POSITIVE:
                raise  # where nothing is taken, nothing can be wrong


def _make_likely(case: Any, data: Any) -> None:
    """Put something that is there in place of what was drawn, every other time."""
    case.headers.clear()  # what is no header at all, the server refuses before we hear of it
    for part in (case.path_parameters, case.query, case.body):
        for name in list(part) if isinstance(part, dict) else ():
            if name in KNOWN and data.draw(st.booleans()):
                part[name] = data.draw(st.sampled_from(KNOWN[name]))
