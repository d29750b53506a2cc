"""Alerts by mail: what arrives at a real mail server, what is refused, and what nobody gets to see."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from gossamer import mail
from gossamer.errors import ConfigError, Undelivered
from gossamer.mail import Mail, MailServer, needs_tls
from gossamer.messages import Message
from tests.servers import certificate, dead_port
from tests.service.mailserver import MailBox

SECRET = "hunter2-s3cret"
MESSAGE = Message("failure:7:1", "failure", "shop: run 7 failed", "Run 7 ended.\nPages: 3", 1_700_000_000.0, "shop", 7)


def tell(
    box: MailBox | str, message: Message = MESSAGE, *, deadline: float = 10.0, to: str = "ops@example.org"
) -> None:
    url = box if isinstance(box, str) else box.url()
    asyncio.run(Mail(to, MailServer.of(url), "gossamer@example.org", deadline=deadline).tell(message))


def failing(box: MailBox | str, *, deadline: float = 10.0) -> str:
    with pytest.raises(Undelivered) as told:
        tell(box, deadline=deadline)
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None
    return str(told.value)


def test_a_message_arrives_as_plain_text() -> None:
    with MailBox() as box:
        tell(box)
    (letter,) = box.letters
    assert (letter.sender, letter.to, letter.user) == ("gossamer@example.org", ["ops@example.org"], "")
    assert letter.mail["subject"] == "[gossamer] shop: run 7 failed"
    assert letter.mail["to"] == "ops@example.org"
    assert letter.mail["auto-submitted"] == "auto-generated"
    assert letter.mail.get_content_type() == "text/plain"
    assert "Run 7 ended.\nPages: 3" in letter.text


def test_the_same_message_has_the_same_id_however_often_it_is_sent() -> None:
    with MailBox() as box:
        tell(box)
        tell(box)
        tell(box, Message("failure:8:1", "failure", "shop: run 8 failed", "", 1_700_000_000.0))
    first, again, other = [letter.mail["message-id"] for letter in box.letters]
    assert first == again == f"<{MESSAGE.id}@example.org>"
    assert other != first


HOSTILE = "red\r\nBcc: everybody@example.net\r\n\r\n<script>\x00\x1b[2J\u202egnp.exe"


def test_a_hostile_title_becomes_no_header_and_no_other_recipient() -> None:
    with MailBox() as box:
        tell(box, Message("k", "drift", HOSTILE, f"{HOSTILE}\n.\nMAIL FROM:<x@y>\n", 1.0, HOSTILE))
    (letter,) = box.letters
    assert letter.to == ["ops@example.org"]
    assert "bcc" not in letter.mail
    assert "Bcc: everybody@example.net" in letter.mail["subject"]
    assert not {"\x00", "\x1b", "\u202e"} & set(letter.text + letter.mail["subject"])
    assert len(letter.raw.split(b"\r\n\r\n", 1)[0].splitlines()) < 15


def test_letters_of_all_the_world_arrive() -> None:
    with MailBox() as box:
        tell(box, Message("k", "drift", "größe: 値段 fehlt", "für " * 300 + "€", 1.0))
    (letter,) = box.letters
    assert letter.mail["subject"] == "[gossamer] größe: 値段 fehlt"
    assert letter.raw.isascii()


def test_a_password_is_used_and_a_wrong_one_is_said_without_showing_it() -> None:
    with MailBox(login=("ann", SECRET)) as box:
        tell(box.url(f"ann:{SECRET}"))
        assert [letter.user for letter in box.letters] == ["ann"]
        assert "refused the user or the password (535)" in failing(box.url(f"bob:{SECRET}"))
        assert len(box.letters) == 1


def test_what_is_offered_is_encrypted_and_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    with MailBox(login=("ann", SECRET), starttls=True) as box:
        assert "has a certificate that cannot be verified" in failing(box.url(f"ann:{SECRET}"))
        monkeypatch.setenv("SSL_CERT_FILE", certificate()[0])
        tell(box.url(f"ann:{SECRET}"))
        assert [(letter.user, letter.encrypted) for letter in box.letters] == [("ann", True)]
        # The certificate is one for localhost.
        assert "cannot be verified" in failing(box.url(f"ann:{SECRET}", host="other.localhost"))


def test_a_server_of_this_machine_needs_no_certificate_where_there_is_no_password() -> None:
    with MailBox(starttls=True) as box:
        tell(box)
        assert [letter.encrypted for letter in box.letters] == [False]


def test_smtps_is_encrypted_from_the_first_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    with MailBox(secure=True) as box:
        assert "cannot be verified" in failing(box.url(scheme="smtps"))
        monkeypatch.setenv("SSL_CERT_FILE", certificate()[0])
        tell(box.url(scheme="smtps"))
        assert [letter.encrypted for letter in box.letters] == [True]


@pytest.mark.parametrize(
    ("peer", "password", "must"),
    [
        ("127.0.0.1", False, False),
        ("::1", True, None),
        ("10.0.0.5", False, None),
        ("10.0.0.5", True, True),
        ("2001:db8::1", True, True),
    ],
)
def test_a_password_leaves_the_machine_only_encrypted(peer: str, password: bool, must: bool | None) -> None:
    assert needs_tls(peer, password=password) is must


def test_what_a_server_refuses_is_told_by_its_number_and_not_in_its_words() -> None:
    with MailBox() as box:
        box.refuses_recipient = "550 no such user http://evil.example"
        assert failing(box) == "the mail server localhost refused the address (550)"
        box.refuses_recipient, box.refuses_sender = "", "553 who?"
        assert "refused the sender (553): set mail_from" in failing(box)
        box.refuses_sender, box.refuses_data = "", "451 later"
        assert failing(box) == "the mail server localhost answered with 451"
        box.refuses_data = ""
        tell(box)
        assert len(box.letters) == 1


def test_nobody_there_and_no_such_name() -> None:
    assert failing(f"smtp://localhost:{dead_port()}") == "the mail server localhost refused the connection"
    assert "is not known" in failing("smtp://no-such-host.invalid:25")


def test_a_server_that_dawdles_is_given_up_and_the_thread_ends() -> None:
    with MailBox() as box:
        box.dawdles.set()
        assert "did not take it within 0.3 s" in failing(box, deadline=0.3)
    _no_thread_is_left()


@contextmanager
def _talker(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that says what it likes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            taken, _ = listening.accept()
            with taken, suppress(OSError):
                talk(taken)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"smtp://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_a_server_that_drips_is_given_up() -> None:
    def drip(taken: socket.socket) -> None:
        while True:
            taken.sendall(b"2")
            time.sleep(0.05)

    with _talker(drip) as url:
        assert "did not take it within 0.4 s" in failing(url, deadline=0.4)
    _no_thread_is_left()


def test_a_server_that_never_stops_speaking_is_not_heard_out() -> None:
    said = 0

    def flood(taken: socket.socket) -> None:
        nonlocal said
        while True:
            said += taken.send(b"220-" + b"x" * 4000 + b"\r\n")

    with _talker(flood) as url:
        assert "closed the connection" in failing(url)
    assert said < 32 << 20


def test_what_is_no_smtp_is_said() -> None:
    with _talker(lambda taken: taken.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as url:
        assert "the mail server 127.0.0.1" in failing(url)


@pytest.mark.parametrize(
    "text",
    [
        "mail.example.org",
        f"http://ann:{SECRET}@mail.example.org",
        f"smtp://ann:{SECRET}@",
        f"smtp://ann:{SECRET}@mail.example.org:99999",
        f"smtp://ann:{SECRET}@mail.example.org/path",
        f"smtp://ann:{SECRET}@ma il.example.org",
        f"smtp://ann:{SECRET}ä@mail.example.org",
        f"smtp://ann:{SECRET}%0D%0A@mail.example.org",
        f"smtp://ann:{SECRET}@[::1",
    ],
)
def test_a_server_that_is_none_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ConfigError, match="smtp") as told:
        MailServer.of(text)
    assert SECRET not in str(told.value)


def test_ports_and_passwords_are_read_as_people_write_them() -> None:
    assert MailServer.of("smtp://mail.example.org").port == 25
    assert MailServer.of("smtp://ann:x@mail.example.org").port == 587
    assert MailServer.of("smtps://mail.example.org").port == 465
    server = MailServer.of("smtp://ann%40example.org:p%2Fw%3A%25@[::1]:2525")
    assert (server.host, server.port, server.user, server.password) == ("::1", 2525, "ann@example.org", "p/w:%")
    assert "p/w" not in repr(server)


@pytest.mark.parametrize("address", ["ops", "ops@", "a b@example.org", "a@b\r\nBcc: x@y", "Ops <ops@example.org>", ""])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    server = MailServer.of("smtp://localhost")
    with pytest.raises(ConfigError, match="alert_mail"):
        Mail(address, server, "gossamer@localhost")
    with pytest.raises(ConfigError, match="mail_from"):
        Mail("ops@example.org", server, address)


def _no_thread_is_left() -> None:
    """asyncio.run waits for its threads: what still speaks to a server would have kept it."""
    assert not [each for each in threading.enumerate() if each.name.startswith("asyncio_")]


def test_the_deadline_is_below_the_time_that_a_courier_may_be_away() -> None:
    from gossamer import couriers, webhooks

    assert max(mail.DEADLINE, webhooks.DEADLINE) + 30 < couriers.AWAY
