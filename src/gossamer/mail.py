"""Alerts by mail: one message to one address, through a mail server that stands in the settings.

A connection is encrypted as soon as the server offers it, and a password leaves the machine no other way. What the
server says is read up to a few kilobytes and shown to nobody: it is told by its number, in our words.
"""

from __future__ import annotations

import asyncio
import re
import smtplib
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from gossamer.errors import AddressRefused, ConfigError, ConnectFailed, Undelivered
from gossamer.fetch.addresses import Addresses
from gossamer.messages import LONGEST_TITLE, Message, lines, one_line

#: Seconds that a server may take for one message, from the look-up of its name to its last word.
DEADLINE = 30.0
#: Bytes that a server may say altogether.
MOST_SAID = 64 << 10

_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,252}[a-z0-9.])?|[0-9a-f:.]*:[0-9a-f:.]*")
#: Letters as they are, nothing that only some servers take.
_POLICY = SMTP.clone(cte_type="7bit")


class MailServer(msgspec.Struct, frozen=True):
    """A mail server, as `smtp` names it."""

    host: str
    port: int
    #: Whether it speaks TLS from the first byte.
    secure: bool
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"MailServer({self.host}:{self.port})"

    @classmethod
    def of(cls, text: str) -> MailServer:
        """Read `smtp://user:password@host:587`. Raises ConfigError, without showing it."""
        try:
            parts = urlsplit(text)
            port, host = parts.port, parts.hostname or ""
        except ValueError:
            port, host = None, ""
        if not _NAME.fullmatch(host) or parts.scheme not in ("smtp", "smtps") or parts.path not in ("", "/"):
            raise ConfigError("smtp is no mail server: write it like smtp://user:password@mail.example.org:587")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if not (user + password).isascii() or not (user + password).isprintable():
            raise ConfigError("smtp cannot be used: its user and its password must be of ASCII letters")
        secure = parts.scheme == "smtps"
        return cls(host, port or (465 if secure else 587 if user else 25), secure, user, password)


class Mail:
    """A receiver at a mail address."""

    def __init__(self, to: str, server: MailServer, sender: str, *, deadline: float = DEADLINE) -> None:
        """Raises ConfigError if `to` or `sender` is no address."""
        for knob, address in (("alert_mail", to), ("mail_from", sender)):
            if not _ADDRESS.fullmatch(address):
                raise ConfigError(f"{knob} = {address!r} is no mail address: write it like ann@example.org")
        self._to, self._server, self._sender = to, server, sender
        self._deadline = deadline
        #: Whoever wrote the settings may have a mail server at home. This is for looking its name up in time.
        self._addresses = Addresses(private=True)

    @property
    def target(self) -> str:
        """As in `Receiver`."""
        return f"mailto:{self._to}"

    def __repr__(self) -> str:
        return f"Mail({self._to})"

    async def tell(self, message: Message) -> None:
        """As in `Receiver`."""
        late = Undelivered(f"the mail server {self._server.host} did not take it within {self._deadline:g} s")
        call = None
        try:
            async with asyncio.timeout(self._deadline):
                call = _Call(self._server, await self._look_up(), self._deadline)
                await asyncio.to_thread(call.send, self.letter(message), self._sender, self._to)
        except TimeoutError:
            raise late from None
        except (OSError, ValueError) as error:
            # Not chained: what lies beneath may hold what was sent.
            raise Undelivered(f"the mail server {self._server.host} {_told(error)}") from None
        finally:
            if call is not None:
                call.hang_up()

    async def _look_up(self) -> Sequence[str]:
        host = self._server.host
        try:
            return [str(each) for each in await self._addresses.resolve(f"[{host}]" if ":" in host else host)]
        except (ConnectFailed, AddressRefused):
            raise Undelivered(f"the name of the mail server {host} is not known") from None

    def letter(self, message: Message) -> EmailMessage:
        """A message as mail: plain text, and the same Message-ID however often it is sent."""
        letter = EmailMessage(policy=_POLICY)
        letter["From"] = self._sender
        letter["To"] = self._to
        letter["Subject"] = one_line(f"[gossamer] {message.title}", LONGEST_TITLE)
        letter["Date"] = formatdate(message.at)
        letter["Message-ID"] = f"<{message.id}@{self._sender.partition('@')[2]}>"
        letter["Auto-Submitted"] = "auto-generated"
        letter["X-Gossamer-Kind"] = message.kind
        letter.set_content(f"{one_line(message.title)}\n\n{lines(message.body)}\n")
        return letter


def needs_tls(peer: str, *, password: bool) -> bool | None:
    """Whether a connection must be encrypted before anything is sent on it; None: if that is offered.

    What stays on this machine needs nothing: its mail server often has a certificate that nobody signed.
    """
    loopback = ip_address(peer).is_loopback
    if loopback:
        return None if password else False
    return True if password else None


class _Call:
    """One connection to a mail server, on a thread; whoever waits for it may hang up."""

    def __init__(self, server: MailServer, addresses: Sequence[str], deadline: float) -> None:
        self._server = server
        self._addresses = addresses
        self._deadline = deadline
        #: The same connection again: what smtplib wraps in TLS can be cut off here.
        self._cable: socket.socket | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()

    def hang_up(self) -> None:
        """End it now, whatever it is at."""
        with self._lock:
            self._over.set()
            if self._cable is not None:
                with suppress(OSError):
                    self._cable.shutdown(socket.SHUT_RDWR)
                self._cable.close()
                self._cable = None

    def send(self, letter: EmailMessage, sender: str, to: str) -> None:
        """The whole conversation. Raises OSError, as all of smtplib's errors are."""
        client = _Client(self, self._server, self._deadline)
        try:
            client.open()
            client.send_message(letter, sender, [to])
            with suppress(OSError):  # it has the letter: what it says to a farewell changes nothing
                client.docmd("QUIT")
        finally:
            client.close()

    def plug(self) -> socket.socket:
        """A connection to the first of the addresses that takes one."""
        error: OSError = OSError("it has no address")
        for address in self._addresses:
            if self._over.is_set():
                break
            try:
                made = socket.create_connection((address, self._server.port), self._deadline)
            except OSError as why:
                error = why
                continue
            with self._lock:
                if not self._over.is_set():
                    self._cable = made.dup()
                    return made
            made.close()
            raise OSError("nobody waits any longer")
        raise error


class _Client(smtplib.SMTP):
    """smtplib, on a connection of ours, and not listening for ever."""

    def __init__(self, call: _Call, server: MailServer, deadline: float) -> None:
        name = socket.gethostname()
        super().__init__(local_hostname=name if _NAME.fullmatch(name.lower()) else "localhost", timeout=deadline)
        self._call, self._server = call, server
        self._host = server.host  # by which its certificate is checked

    def open(self) -> None:
        """Connect, encrypt, log in."""
        code, _ = self.connect(self._server.host, self._server.port)
        if code != 220:
            raise smtplib.SMTPConnectError(code, b"")
        self.ehlo_or_helo_if_needed()
        if not self._server.secure:
            self._encrypt()
        if self._server.user:
            self.login(self._server.user, self._server.password)

    def _encrypt(self) -> None:
        assert self.sock is not None
        must = needs_tls(str(self.sock.getpeername()[0]), password=bool(self._server.password))
        if must is not False and self.has_extn("starttls"):
            self.starttls(context=ssl.create_default_context())
            self.ehlo()
        elif must:
            raise _NoTls

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        made = self._call.plug()
        if self._server.secure:
            return ssl.create_default_context().wrap_socket(made, server_hostname=host)
        return made

    def getreply(self) -> tuple[int, bytes]:
        """As smtplib, but a server that does not stop speaking is not heard to its end."""
        if self.file is None and self.sock is not None:
            self.file = _Ear(self.sock.makefile("rb"))
        return super().getreply()


class _Ear:
    """What a server says, up to a limit; beyond it, it has hung up."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = MOST_SAID

    def readline(self, most: int) -> bytes:
        line: bytes = self._file.readline(min(most, self._left))
        self._left -= len(line)
        return line

    def close(self) -> None:
        self._file.close()


class _NoTls(OSError):
    """A password was to be sent, and the server takes it only in clear."""


def _told(error: Exception) -> str:
    """What went wrong, without a word of the server's."""
    match error:
        case _NoTls():
            return "offers no encryption, and a password is not sent without: use smtps://, or another server"
        case ssl.SSLCertVerificationError():
            return "has a certificate that cannot be verified"
        case ssl.SSLError():
            return "cannot be spoken to securely"
        case smtplib.SMTPAuthenticationError():
            return f"refused the user or the password ({error.smtp_code})"
        case smtplib.SMTPSenderRefused():
            return f"refused the sender ({error.smtp_code}): set mail_from to one it knows"
        case smtplib.SMTPRecipientsRefused():
            return f"refused the address ({next(iter(error.recipients.values()))[0]})"
        case smtplib.SMTPResponseException():
            return f"answered with {error.smtp_code}"
        case smtplib.SMTPNotSupportedError():
            return "offers no way to log in"
        case smtplib.SMTPServerDisconnected():
            return "closed the connection"
        case TimeoutError():
            return "did not answer in time"
        case ConnectionRefusedError():
            return "refused the connection"
        case _:
            return "cannot be reached"
