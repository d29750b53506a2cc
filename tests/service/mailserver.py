"""A real mail server on loopback, which takes letters, and fails or dawdles when told to."""

from __future__ import annotations

import asyncio
import ssl
import threading
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, Self

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.servers import certificate, dead_port


@dataclass(frozen=True, kw_only=True)
class Letter:
    """One message that was taken."""

    sender: str
    to: list[str]
    raw: bytes
    user: str
    encrypted: bool

    @property
    def mail(self) -> EmailMessage:
        return message_from_bytes(self.raw, policy=default)

    @property
    def text(self) -> str:
        return str(self.mail.get_content()).replace("\r\n", "\n")


class MailBox:
    """`with MailBox() as box:` listens at `box.url`, and keeps what comes in `box.letters`.

    `login` is who may log in; `starttls` whether encryption is offered, with a certificate that nobody trusts.
    """

    def __init__(
        self, *, login: tuple[str, str] | None = None, starttls: bool = False, secure: bool = False, port: int = 0
    ) -> None:
        self.login, self.starttls, self.secure = login, starttls, secure
        self.letters: list[Letter] = []
        #: What is answered to a sender, a recipient, a letter, instead of taking it.
        self.refuses_sender = self.refuses_recipient = self.refuses_data = ""
        #: Set: a letter waits until it is cleared.
        self.dawdles = threading.Event()
        self._controller: Controller | None = None
        self.port = port

    def __enter__(self) -> Self:
        context = None
        if self.starttls or self.secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate())
        how: dict[str, Any] = {}
        if self.login:
            how |= {"authenticator": self._check, "auth_require_tls": False}
        if self.starttls:
            how["tls_context"] = context
        box = self

        class _Controller(Controller):
            def factory(self) -> SMTP:
                return SMTP(box, hostname="box.test", decode_data=False, **how)

        tls = context if self.secure else None
        self._controller = _Controller(box, hostname="127.0.0.1", port=self.port or dead_port(), ssl_context=tls)
        self._controller.start()
        self.port = self._controller.port
        return self

    def __exit__(self, *exc: object) -> None:
        self.dawdles.clear()
        assert self._controller is not None
        self._controller.stop()

    def url(self, login: str = "", scheme: str = "smtp", host: str = "localhost") -> str:
        """Its address, as `smtp` takes it."""
        return f"{scheme}://{login + '@' if login else ''}{host}:{self.port}"

    def _check(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        given = data.login.decode(), data.password.decode()
        return AuthResult(success=given == self.login, handled=False, auth_data=data)

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses_sender:
            return self.refuses_sender
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses_recipient:
            return self.refuses_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        while self.dawdles.is_set():  # noqa: ASYNC110 - a thread clears it
            await asyncio.sleep(0.02)
        if self.refuses_data:
            return self.refuses_data
        user = session.auth_data.login.decode() if isinstance(session.auth_data, LoginPassword) else ""
        raw = envelope.content
        assert isinstance(raw, bytes)
        encrypted = session.ssl is not None or self.secure
        letter = Letter(
            sender=str(envelope.mail_from), to=list(envelope.rcpt_tos), raw=raw, user=user, encrypted=encrypted
        )
        self.letters.append(letter)
        return "250 taken"
