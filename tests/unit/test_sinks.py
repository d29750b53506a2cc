"""Sinks as people write them, names of objects whatever a record holds, and objects in their places."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import ConfigError
from gossamer.errors import Undelivered
from gossamer.parcels import Parcels
from gossamer.rulefile import scraper_from
from gossamer.sink_keys import Template, safe
from gossamer.sinks import Sink, sink_of, sinks_of
from gossamer.storage import objects
from gossamer.storage.objects import Bucket, Folder, Parcel
from gossamer.storage.store import StoredItem

DAY = 1_777_000_000.0  # 2026-04-24


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No AWS_* of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)


def item(record: dict[str, Any], key: str = "k", kind: str = "game", n: int = 1, **more: Any) -> StoredItem:
    data = msgspec.json.encode(record).decode()
    made = StoredItem(n, 7, "espn", kind, key, "https://a.example/", data, DAY, DAY, DAY, 1)
    return msgspec.structs.replace(made, **more)


def filled(template: str, record: dict[str, Any], **more: Any) -> str | None:
    return Template(template).fill(item(record, **more), record)


# -- names of objects ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("box_scores/{game_id}.json", "box_scores/401.json"),
        ("{kind}/{key}.json", "game/k 1.json"),
        ("{scraper}/{teams.0.name}-{teams.1.name}", "espn/Lakers-Bulls"),
        ("{venue.city}/{final}/{score}.json", "Oslo/true/9.5.json"),
        ("{first_seen:%Y/%m/%d}/{game_id}.json", "2026/04/24/401.json"),
        ("{first_seen}/{game_id}", "2026-04-24/401"),
    ],
)
def test_a_name_is_made_of_fields(template: str, name: str) -> None:
    record = {
        "game_id": 401,
        "teams": [{"name": "Lakers"}, {"name": "Bulls"}],
        "venue": {"city": "Oslo"},
        "final": True,
        "score": 9.5,
    }
    assert filled(template, record, key="k 1") == name


@pytest.mark.parametrize("value", [None, "", "  ", [], {}, ["x"], {"a": 1}])
def test_a_record_that_lacks_a_field_has_no_such_name(value: Any) -> None:
    assert filled("{id}.json", {"id": value}) is None
    assert filled("{other.id}.json", {"id": value}) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"),
        ("/abs", "%2Fabs"),
        ("..", "%2E%2E"),
        (".hidden", "%2Ehidden"),
        ("a\\b", "a%5Cb"),
        ("a\nb\x00", "a%0Ab%00"),
        ("https://x.example/?a=1#b", "https%3A%2F%2Fx.example%2F%3Fa=1%23b"),
        (" spaced ", "%20spaced%20"),
        ("100%", "100%25"),
        ("Zürich 東京", "Zürich 東京"),
        ("a\u202eb", "a%E2%80%AEb"),
    ],
)
def test_a_value_cannot_leave_its_place(value: str, name: str) -> None:
    assert safe(value) == name
    assert filled("in/{id}", {"id": value}) == f"in/{name}"


_TEXTS = st.text(min_size=1).filter(str.strip)


@given(_TEXTS, _TEXTS)
def test_any_two_values_make_two_safe_names(one: str, other: str) -> None:
    names = [filled("{id}", {"id": value}) or "" for value in (one, other)]
    assert (names[0] == names[1]) == (one == other)
    for name in names:
        assert name not in ("", ".", "..")
        assert "/" not in name
        assert name.isprintable()
        assert len(name.encode()) <= 200


def test_a_long_value_is_cut_and_stays_apart_from_others() -> None:
    one, other = (filled("{id}.json.gz", {"id": "ü" * 5000 + end}) for end in "ab")
    assert one is not None
    assert other is not None
    assert one != other
    assert one.endswith(".gz")
    assert len(one.encode()) <= 200


def test_no_value_reaches_what_we_write_ourselves() -> None:
    assert filled("{id}/{key}", {"id": "_manifest"}) == "%5Fmanifest/k"
    assert filled("{id}/{key}", {"id": "_Lacking"}) == "%5FLacking/k"


@pytest.mark.parametrize(
    "template",
    [
        "{",
        "{}",
        "{a!r}",
        "{a:5}",
        "{a[0]}",
        "a//b/{c}",
        "../{c}",
        "a/../{c}",
        "_manifest/{c}",
        "x\\{c}",
        "{a..b}",
        "{a}?b",
    ],
)
def test_a_template_that_cannot_be_used_is_refused_with_a_sentence(template: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be (used|read)"):
        Template(template)


def test_what_makes_one_object_of_each_item() -> None:
    assert Template("{game_id}.json").per_item
    assert Template("{kind}/{key}").per_item
    for shared in ("", "games", "{kind}", "{scraper}/{first_seen:%Y}"):
        assert not Template(shared).per_item


# -- sinks as they are written ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bucket", "root", "template"),
    [
        ("s3://b1/espn/box_scores/{game_id}.json", "b1", "espn/box_scores", "{game_id}.json"),
        ("s3://b1", "b1", "", ""),
        ("s3://b1/", "b1", "", ""),
        ("s3://b1/{kind}", "b1", "", "{kind}"),
        ("s3://b1/x-{kind}/{key}", "b1", "", "x-{kind}/{key}"),
        ("s3://b1/p?key=espn/{id}.json", "b1", "p", "espn/{id}.json"),
        ("file:///data/{kind}/{key}.json", "", "/data", "{kind}/{key}.json"),
        ("/data/{first_seen:%Y/%m}/{key}.json", "", "/data", "{first_seen:%Y/%m}/{key}.json"),
    ],
)
def test_a_text_names_place_and_template(text: str, bucket: str, root: str, template: str) -> None:
    sink = sink_of(text)
    assert (sink.bucket, sink.root, sink.template.text) == (bucket, root, template)
    again = sink_of(sink.name)
    assert (again.name, again.bucket, again.root, again.template.text) == (sink.name, bucket, root, template)


def test_a_path_is_taken_from_the_working_folder_and_remembered_whole(tmp_path: Path) -> None:
    assert sink_of("./out").name == f"file://{tmp_path}/out"
    assert sink_of("out/{kind}").name == f"file://{tmp_path}/out/{{kind}}"
    assert sink_of("{kind}/{key}").root == str(tmp_path)


def test_both_forms_are_the_same_sink() -> None:
    assert Sink("s3://b1/games", key="{id}.json").name == sink_of("s3://b1/games/{id}.json").name
    assert Sink("s3://b1/p", key="games/{id}.json").name == sink_of("s3://b1/p?key=games/{id}.json").name


def test_all_that_decides_what_objects_there_are_is_in_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        Sink("s3://b1/{id}"),
        Sink("s3://b1/{id}", kind="game & set"),
        Sink("s3://b1/{id}", gone="delete"),
        Sink("s3://b1/{id}", source=True),
        Sink("s3://b1/{id}", endpoint="http://127.0.0.1:9/"),
        Sink("s3://b1/p", gzip=True),
        Sink("s3://b1/p"),
    ]
    assert len({sink.name for sink in made}) == len(made)
    for sink in made:
        again = sink_of(sink.name)
        for option in ("name", "kind", "gone", "source", "endpoint", "gzip", "per_item"):
            assert getattr(again, option) == getattr(sink, option)
    assert Sink("s3://b1/{id}", batch=5, every="1min", concurrency=3).name == made[0].name
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://s3.elsewhere.example")
    assert sink_of("s3://b1/{id}").name == "s3://b1/{id}?endpoint=https://s3.elsewhere.example"
    assert sink_of("./out").where is None


def test_options_in_a_text() -> None:
    sink = sink_of("s3://b1/p?kind=game&gzip=true&batch=50&every=2s&endpoint=http://127.0.0.1:5000&region=eu-north-1")
    assert (sink.kind, sink.gzip, sink.batch, sink.every) == ("game", True, 50, 2.0)
    assert (sink.endpoint, sink.region) == ("http://127.0.0.1:5000", "eu-north-1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a sink is"),
        ("gs://b1/x", "no sink of kind 'gs'"),
        ("s3:///x", "no name of a bucket"),
        ("s3://b1/a/../{id}", "odd characters"),
        ("file://host/x", "three slashes"),
        ("./out/items.jsonl", "names one file"),
        ("./out/{kind}.jsonl", "names one file"),
        ("./out?batch=none", "batch = 'none'"),
        ("./out?gone=perhaps", "write keep or delete"),
        ("./out?gone=delete", "an object for each item"),
        ("./out?colour=red", "knows key, kind"),
        ("s3://b1/{id", "each { needs a }"),
        ("s3://b1/x?endpoint=ftp://x.example", "endpoint"),
        ("s3://b1/x?endpoint=http://", "endpoint"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        sink_of(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIA1:TOPSECRET@b1/x",
        "s3://b1/x?endpoint=https://u:TOPSECRET@s3.example",
        "s3://b1/x?aws_secret_access_key=TOPSECRET",
        "s3://b1/x?endpoint=https://s3.example/?key=TOPSECRET",
    ],
)
def test_a_url_holds_no_credentials_and_the_refusal_shows_none(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        sink_of(text)
    assert "TOPSECRET" not in str(refused.value)


def test_options_are_shown_nowhere() -> None:
    sink = Sink("s3://b1/x", options={"secret_access_key": "TOPSECRET", "endpoint": "http://127.0.0.1:9"})
    assert "TOPSECRET" not in f"{sink} {sink!r} {sink.name} {[sink]}"
    assert sink.where == "http://127.0.0.1:9"


def test_the_same_sink_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="named twice"):
        sinks_of(["s3://b1/x", Sink("s3://b1/x", batch=5)])
    assert len(sinks_of(["s3://b1/x", Sink("s3://b1/x", kind="game")])) == 2


def test_a_bucket_without_obstore_is_refused_and_a_folder_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "missing", lambda: "sinks that are buckets need obstore")
    assert sinks_of(["./out"])
    with pytest.raises(ConfigError, match="need obstore"):
        sinks_of(["./out", "s3://b1"])


def test_a_file_of_rules_does_not_choose_where_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('start_urls = ["https://a.example/"]\nsinks = ["/etc"]\n[fields]\ntitle = "h1"\n')
    with pytest.raises(ConfigError, match=r"sinks.*cannot stand in a file of rules"):
        scraper_from(path)


# -- objects in their places -----------------------------------------------------------------------------------


def test_a_folder_gets_objects_whole_and_replaces_them(tmp_path: Path) -> None:
    async def work() -> None:
        folder = Folder(str(tmp_path / "out"))
        try:
            (tmp_path / "out" / "a").mkdir(parents=True)
            (tmp_path / "out" / "a" / ".x.json.part").write_bytes(b"left by a kill")
            await folder.put([Parcel("a/x.json", b"1"), Parcel("a/x.json", b"2"), Parcel("y", b"3")])
            await folder.put([Parcel("y", None), Parcel("never/there", None)])
        finally:
            folder.close()

    asyncio.run(work())
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()} == {"x.json": b"2"}


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")

    async def work() -> None:
        folder = Folder(str(tmp_path / "out"))
        try:
            await folder.put([Parcel("x", b"1")])
        finally:
            folder.close()

    with pytest.raises(Undelivered, match="cannot be written: Not a directory"):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("status code: 404 <Code>NoSuchBucket</Code>", "there is no such bucket: make it first"),
        ("status code: 403 <Code>SignatureDoesNotMatch</Code><StringToSign>TOPSECRET</StringToSign>", "secret key"),
        ("status code: 403 <Code>InvalidAccessKeyId</Code><AWSAccessKeyId>TOPSECRET", "does not know the access key"),
        ("status code: 503 <Code>SlowDown</Code> TOPSECRET", "it answers 503 SlowDown"),
        ("status code: 500 TOPSECRET", "it answers 500"),
        ("PUT http://169.254.169.254/latest/api/token status code: 403", "there are no credentials"),
        ("kind: Timeout TOPSECRET", "it does not answer in time"),
        ("what is this? TOPSECRET", "it failed (OSError)"),
    ],
)
def test_what_a_store_says_is_told_in_our_words(told: str, said: str) -> None:
    words = objects.sentence("s3://b1", OSError(told))
    assert said in words
    assert words.startswith("s3://b1: ")
    assert "TOPSECRET" not in words


def test_options_that_obstore_does_not_know_are_refused_without_showing_them() -> None:
    with pytest.raises(ConfigError) as refused:
        Bucket("b1", "", None, {"secret_acces_key": "TOPSECRET"}, 1.0)
    assert "cannot be used" in str(refused.value)
    assert "TOPSECRET" not in str(refused.value)


# -- what goes to a sink ---------------------------------------------------------------------------------------


def parcels(sink: Sink, *items: StoredItem, part: int = 0) -> tuple[dict[str, Parcel], dict[str, Any]]:
    """What is made of items: the objects, and the manifest."""
    made = asyncio.run(Parcels(sink, "espn").make(items, 40, part, to=50))
    manifest = made[-1]
    assert manifest.manifest
    assert manifest.body is not None
    assert manifest.key.startswith("_manifest/espn/")
    return {each.key: each for each in made[:-1]}, msgspec.json.decode(manifest.body)


def test_an_object_is_the_record_as_it_is() -> None:
    made, manifest = parcels(Sink("s3://b1/{id}.json"), item({"id": 1, "ü": [None]}))
    assert made["1.json"].body == '{"id":1,"ü":[null]}\n'.encode()
    body = made["1.json"].body
    assert manifest["objects"] == [
        {"key": "1.json", "items": 1, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    ]
    assert (manifest["from"], manifest["to"], manifest["last"], manifest["items"]) == (40, 50, True, 1)


def test_an_object_that_is_told_where_it_comes_from_and_one_that_is_packed() -> None:
    made, _ = parcels(Sink("s3://b1/{id}.json.gz", source=True), item({"id": 1}))
    body = made["1.json.gz"].body
    assert body is not None
    assert made["1.json.gz"].media == "application/gzip"
    told = msgspec.json.decode(gzip.decompress(body))
    assert told["_kind"] == "game"
    assert told["_first_seen"].startswith("2026-04-24T")
    assert parcels(Sink("s3://b1/{id}.json.gz", source=True), item({"id": 1}))[0]["1.json.gz"].body == body


def test_batches_are_lines_named_by_where_they_begin() -> None:
    things = [item({"id": n}, key=str(n), n=n) for n in range(3)]
    made, manifest = parcels(Sink("s3://b1/p", batch=3), *things)
    (only,) = made.values()
    assert only.key == "espn/0000000000000040-0000.jsonl"
    assert only.body is not None
    assert [msgspec.json.decode(line)["_key"] for line in only.body.splitlines()] == ["0", "1", "2"]
    assert manifest["objects"][0]["items"] == 3
    assert list(parcels(Sink("s3://b1/p", gzip=True), *things, part=2)[0]) == ["espn/0000000000000040-0002.jsonl.gz"]


def test_batches_lie_in_the_folders_that_the_template_names() -> None:
    things = [item({}, kind="game"), item({}, kind="team/x", n=2)]
    made, _ = parcels(Sink("s3://b1/p/{kind}/{first_seen:%Y-%m}"), *things)
    turn = "0000000000000040-0000.jsonl"
    assert sorted(made) == [f"game/2026-04/espn/{turn}", f"team%2Fx/2026-04/espn/{turn}"]
    assert list(parcels(Sink("s3://b1/p/{scraper}", kind="game"), *things)[0]) == [f"espn/game/{turn}"]


def test_items_that_are_gone() -> None:
    gone, here = item({"id": 1}, gone=DAY), item({"id": 2}, n=2)
    made, manifest = parcels(Sink("s3://b1/{id}"), gone, here)
    assert sorted(made) == ["1", "2"]
    assert manifest["gone"] == [{"kind": "game", "key": "k", "object": None}]
    made, manifest = parcels(Sink("s3://b1/{id}", gone="delete"), gone, here)
    assert (made["1"].body, manifest["deleted"]) == (None, ["1"])
    (lines,) = parcels(Sink("s3://b1/p"), gone, here)[0].values()
    assert lines.body is not None
    assert ["_gone" in msgspec.json.decode(line) for line in lines.body.splitlines()] == [True, False]
    (lines,) = parcels(Sink("s3://b1/p", source=False), gone, here)[0].values()
    assert lines.body == b'{"id":2}\n'


def test_a_record_that_lacks_a_field_goes_where_its_kind_and_key_say() -> None:
    made, manifest = parcels(Sink("s3://b1/{id}.json"), item({"no": 1}, key="a/../b"), item({"id": 2}, n=2))
    assert sorted(made) == ["2.json", "_lacking/espn/game/a%2F..%2Fb.json"]
    assert manifest["lacking"] == [{"kind": "game", "key": "a/../b", "object": "_lacking/espn/game/a%2F..%2Fb.json"}]


def test_of_two_items_with_one_name_the_later_wins_and_the_manifest_tells() -> None:
    sink = Sink("s3://b1/{title}")
    one, other = item({"title": "x", "n": 1}, key="1", n=1), item({"title": "x", "n": 2}, key="2", n=2)
    made, manifest = parcels(sink, one, other)
    assert made["x"].body == b'{"title":"x","n":2}\n'
    assert manifest["twice"] == [{"kind": "game", "key": "2", "object": "x"}]

    async def apart() -> list[Any]:
        packer = Parcels(sink, "espn")
        packed = [await packer.make([each], 1, 0, to=2) for each in (one, one, other)]
        return [msgspec.json.decode(each[-1].body or b"")["twice"] for each in packed]

    assert [len(twice) for twice in asyncio.run(apart())] == [0, 0, 1]
