"""Bytes to text: the order of evidence, the prescan, the guess, and what must never happen."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import encoding
from gossamer.parse.encoding import decode, python_codec, sniff

RUSSIAN = "Всё смешалось в доме: жена узнала, что муж был в связи с бывшею гувернанткой. " * 4
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 4


# --- the order of evidence ---


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (b"\xef\xbb\xbf", "utf-8", "utf-8"),
        (b"\xff\xfe", "utf-16-le", "utf-16le"),
        (b"\xfe\xff", "utf-16-be", "utf-16be"),
        (b"\xff\xfe\0\0", "utf-32-le", "utf-32le"),
        (b"\0\0\xfe\xff", "utf-32-be", "utf-32be"),
    ],
)
def test_a_byte_order_mark_beats_the_header_and_is_not_text(mark: bytes, codec: str, name: str) -> None:
    body = mark + "<p>naïve".encode(codec)
    assert decode(body, "text/html; charset=windows-1251") == (name, "<p>naïve")


def test_a_byte_order_mark_beats_meta() -> None:
    assert sniff(b'\xef\xbb\xbf<meta charset="koi8-r">', None) == "utf-8"


def test_the_header_beats_a_meta_that_says_otherwise() -> None:
    body = '<meta charset="windows-1251">é'.encode()
    assert decode(body, "text/html; charset=utf-8") == ("utf-8", '<meta charset="windows-1251">é')


def test_the_header_is_believed_even_when_bytes_do_not_fit() -> None:
    assert decode(b"caf\xe9!", "text/html; charset=utf-8") == ("utf-8", "caf\ufffd!")


def test_meta_beats_the_xml_declaration_which_beats_the_guess() -> None:
    declaration = b'<?xml version="1.0" encoding="iso-8859-2"?>'
    assert sniff(declaration + b"<html>", None) == "iso-8859-2"
    assert sniff(declaration + b"<meta charset=koi8-r>", None) == "koi8-r"
    assert sniff(declaration.replace(b"iso-8859-2", b"bogus") + "é".encode(), None) == "utf-8"


def test_in_xml_only_the_xml_declaration_counts() -> None:
    body = b'<?xml version="1.0" encoding=\'iso-8859-5\'?><rss><![CDATA[<meta charset="koi8-r">]]>'
    assert sniff(body, "application/rss+xml") == "iso-8859-5"
    assert sniff(body.partition(b"?>")[2] + "é".encode(), "text/xml") == "utf-8"


def test_in_json_and_plain_text_no_markup_counts() -> None:
    body = '{"html": "<meta charset=koi8-r>é"}'.encode()
    assert sniff(body, "application/json") == "utf-8"
    assert sniff(body, "text/plain") == "utf-8"
    assert sniff(body, "text/html") == "koi8-r"


# --- header ---


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("text/html;charset=koi8-r", "koi8-r"),
        ('text/html; Charset="KOI8-R"', "koi8-r"),
        ("text/html; boundary=x; charset=koi8-r ; q=1", "koi8-r"),
        ("Content-Type: text/html; charset=koi8-r\r\n", "koi8-r"),
        ("text/html;charset=koi8-r, text/html", "koi8-r"),
        ('text/html; a="; charset=utf-16"; charset=koi8-r', "koi8-r"),
        ("text/html; charset=bogus; charset=koi8-r", "koi8-r"),
        ("text/html; charset=none", "utf-8"),
        ("text/html; xcharset=koi8-r", "utf-8"),
        ("text/html; charset=", "utf-8"),
        ('text/html; a="; charset=koi8-r', "utf-8"),
        ("", "utf-8"),
        (None, "utf-8"),
    ],
)
def test_the_header_parameter(content_type: str | None, name: str) -> None:
    assert sniff("é".encode(), content_type) == name


@pytest.mark.parametrize("codec", ["utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le"])
def test_a_header_without_byte_order_takes_it_from_the_bytes(codec: str) -> None:
    label = codec[:6]
    assert decode("hi é".encode(codec), f"text/html; charset={label}")[1] == "hi é"


def test_utf16_in_the_header_of_an_ascii_page_is_a_mistake() -> None:
    assert decode(b"<meta charset=utf-8><p>hi", "text/html; charset=utf-16")[1] == "<meta charset=utf-8><p>hi"


# --- the meta prescan ---


@pytest.mark.parametrize(
    "head",
    [
        b'<meta charset="koi8-r">',
        b"<META CHARSET=' KOI8-R\n'>",
        b"<meta\tcharset = koi8-r\n>",
        b"<meta/charset=koi8-r >",
        b'<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>',
        b"<meta http-equiv=content-type content=\"x charset y; charset = 'koi8-r'\">",
        b'<meta charset=bogus><meta charset="koi8-r">',
        b'<meta charset="koi8-r" charset="utf-8">',
        b"<meta name=a content=b><meta charset=koi8-r>",
        b"<!--><meta charset=koi8-r>",
        b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>",
        b"<!DOCTYPE html><?php x ?></ x><html lang='>'><meta charset=koi8-r>",
        b"a < b <p title=\"<meta charset='utf-8'>\"></p foo><metadata><meta charset=koi8-r>",
        b"<script>write('<meta charset=koi8-r>')</script>",
        b"<?--><meta charset=koi8-r>",
    ],
)
def test_meta_is_found(head: bytes) -> None:
    assert sniff(head + "é".encode(), "text/html") == "koi8-r"


@pytest.mark.parametrize(
    "head",
    [
        b"<meta charset=koi8-r",
        b'<meta charset="koi8-r',
        b'<meta charset=koi8-r">',
        b"<meta charset=koi8-r/>",
        b"<meta charset>",
        b"<meta charset=>",
        b"<metacharset=koi8-r>",
        b"</meta charset=koi8-r>",
        b"<!-- <meta charset=koi8-r>",
        b"<a b='><meta charset=koi8-r>",
        b'<meta content="text/html; charset=koi8-r">',
        b'<meta http-equiv=refresh content="text/html; charset=koi8-r">',
        b'<meta http-equiv=content-type content="charset=\'koi8-r">',
        b'<meta http-equiv=content-type content="charset koi8-r">',
    ],
)
def test_what_only_looks_like_meta_is_not_found(head: bytes) -> None:
    assert sniff(head, "text/html") == encoding.FALLBACK


@pytest.mark.parametrize(("label", "name"), [("utf-16", "utf-8"), ("x-user-defined", "windows-1252")])
def test_meta_cannot_say_what_would_have_made_it_unreadable(label: str, name: str) -> None:
    assert sniff(f"<meta charset={label}>".encode(), None) == name


def test_meta_may_come_late_but_not_too_late() -> None:
    late = b"<!--" + b"x" * 3000 + b"-->" + b"<meta charset=koi8-r>"
    assert sniff(late, None) == "koi8-r"
    assert sniff(b" " * encoding.LATE_META_BYTES + late, None) == encoding.FALLBACK


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_an_xml_declaration_in_utf16_shows_by_its_zeros(codec: str) -> None:
    text = '<?xml version="1.0"?><a>ž</a>'
    assert decode(text.encode(codec), "text/xml")[1] == text


# --- labels ---


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("tis-620", "windows-874"),
        ("gb2312", "gbk"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("unicode-1-1-utf-8", "utf-8"),
        ("visual", "iso-8859-8"),
        ("logical", "iso-8859-8-i"),
    ],
)
def test_labels(label: str, name: str) -> None:
    assert sniff(b"", f"text/html; charset={label}") == name


def test_every_name_has_a_python_codec_and_decodes() -> None:
    names = set(encoding._LABELS.values()) | set(encoding._GUESSES.values())
    for name in names:
        body = "abc".encode(python_codec(name))
        assert encoding._text(body, name) == "abc"


def test_labels_no_browser_reads_leave_the_page_to_the_guess() -> None:
    text = "안녕하세요 세계"
    assert decode(text.encode("iso2022_kr"), "text/html; charset=iso-2022-kr")[1] == text


# --- the guess ---


def test_ascii_and_nothing_are_the_fallback() -> None:
    assert decode(b"", None) == ("windows-1252", "")
    assert decode(b"<p>hello", "text/html") == ("windows-1252", "<p>hello")


def test_utf8_needs_no_declaration() -> None:
    assert decode("<p>naïve".encode(), None) == ("utf-8", "<p>naïve")


def test_utf8_cut_within_a_character_is_still_utf8() -> None:
    assert decode("naïve café".encode()[:-1], None) == ("utf-8", "naïve caf\ufffd")


def test_one_broken_byte_does_not_make_utf8_something_else() -> None:
    body = RUSSIAN.encode()
    assert decode(body[:200] + b"\xff" + body[200:], None)[0] == "utf-8"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "utf-16-le"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "iso2022_jp"),
        (JAPANESE, "utf-32-be"),
        ("Voilà l'été: où sont les élèves? À l'école, bien sûr, répondit-il, gêné. " * 4, "cp1252"),
    ],
)
def test_undeclared_text_is_recognised(text: str, codec: str) -> None:
    assert decode(text.encode(codec), None)[1] == text


def test_long_scripts_do_not_drown_the_text() -> None:
    body = "<p>Телефон</p>".encode("cp1251") + b"<script>var a=1;</script>" * 4000 + RUSSIAN.encode("cp1251")
    assert sniff(body, None) == "windows-1251"


def test_a_failing_detector_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("chardet.detect", fail)
    assert decode(b"caf\xe9", None) == ("windows-1252", "café")


# --- text ---


def test_unassigned_bytes_follow_the_standard_not_python() -> None:
    assert decode(b"\x81\x80", "text/html; charset=windows-1252")[1] == "\x81€"
    assert decode(b"\xaa\xc1", "text/html; charset=windows-1253")[1] == "\ufffdΑ"
    assert decode(b"\xca", "text/html; charset=windows-1255")[1] == "\u05ba"
    assert decode(b"\xae", "text/html; charset=koi8-u")[1] == "ў"
    assert decode(b"a\x80", "text/html; charset=x-user-defined")[1] == "a\uf780"


def test_a_wave_dash_is_the_same_from_each_japanese_encoding() -> None:
    texts = {
        decode("1〜2−3".encode(codec), f"text/html; charset={label}")[1]
        for codec, label in [("shift_jis", "shift_jis"), ("euc_jp", "euc-jp"), ("iso2022_jp", "iso-2022-jp")]
    }
    assert texts == {"1〜2−3"}


def test_vendor_characters_are_read_in_both_japanese_encodings() -> None:
    assert decode("①髙㈱".encode("cp932"), "text/html; charset=shift_jis")[1] == "①髙㈱"
    body = "あ".encode("euc_jp") + b"\xad\xa1\xad\xea" + "いう".encode("euc_jp")
    assert decode(body, "text/html; charset=euc-jp")[1] == "あ①㈱いう"


def test_an_unknown_pair_is_one_character_and_leaves_its_neighbours_alone() -> None:
    body = "漢".encode("euc_jp") + b"\xa9\xfe" + "字漢字".encode("euc_jp")
    assert decode(body, "text/html; charset=euc-jp")[1] == "漢\ufffd字漢字"


@pytest.mark.parametrize("label", ["shift_jis", "euc-jp", "gbk", "big5", "euc-kr"])
def test_a_broken_pair_does_not_swallow_markup(label: str) -> None:
    assert decode(b"\xf0<b>x</b>\x81", f"text/html; charset={label}")[1] == "\ufffd<b>x</b>\ufffd"


# --- what must never happen ---

CONTENT_TYPES = st.none() | st.text() | st.sampled_from(sorted(encoding._LABELS)).map("text/html; charset={}".format)
SCRAPS = st.lists(
    st.binary(max_size=8)
    | st.sampled_from([b"<meta ", b"charset=", b"<!--", b"-->", b'"', b"<?xml ", b"\x1b$B", b"~{", b"\xad\xa1", b">"])
).map(b"".join)


@given(body=SCRAPS, content_type=CONTENT_TYPES)
def test_any_bytes_are_text(body: bytes, content_type: str | None) -> None:
    name, text = decode(body, content_type)
    assert name == sniff(body, content_type)
    text.encode("utf-8")  # no lone surrogates either


@given(text=st.text())
def test_declared_utf8_comes_back(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=utf-8")[1] == text.removeprefix("\ufeff")


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "piece",
    [
        bytes(range(256)),
        b"\xff",
        b"\0",
        b"\x1b$B",
        b"<",
        b"<!--",
        b"<meta ",
        b'<meta charset="',
        b"<a b='c' ",
        b"charset<!",
        b"\xa9\xfe" + b"a" * 40,
    ],
    ids=repr,
)
@pytest.mark.parametrize("content_type", [None, "text/html; charset=euc-jp"])
def test_a_hostile_megabyte_is_read_in_bounded_time(piece: bytes, content_type: str | None) -> None:
    body = (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]
    sniff(b"\xff", None)  # loads the detector
    started = time.process_time()
    decode(body, content_type)
    assert time.process_time() - started < 6  # about 0.03 s; a quadratic step would take minutes
