"""Where objects go: folders, and stores that speak S3.

An object is there whole or not at all, and putting it again replaces it. Nothing here tries twice: who puts knows
how long it can wait.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec

from gossamer.errors import ConfigError, Undelivered

#: Files written at the same time: waiting for a disk is waiting for all of them together.
THREADS = 8
#: Seconds until a connection to a store must be there.
CONNECT = 5.0
#: Bytes above which an object goes in parts.
PART = 8 << 20


class Parcel(msgspec.Struct, frozen=True):
    """One object to put, or to delete if it has no body."""

    key: str
    body: bytes | None
    #: Its media type.
    media: str = "application/json"
    #: Items in it.
    items: int = 0
    #: Whether it tells of others, and comes after them.
    manifest: bool = False


class Objects(Protocol):
    """Somewhere to put objects."""

    #: How many are best put in one go.
    together: int

    async def put(self, parcels: Sequence[Parcel]) -> None:
        """Put objects, each in place of the one there is, or delete it. Raises Undelivered: some may be there then."""

    def close(self) -> None:
        """Let go of what is open."""


class Folder:
    """A folder of the file system: keys are paths in it."""

    # To a thread and back takes as long as writing a small file.
    together = 16

    def __init__(self, path: str) -> None:
        self._path = path.rstrip("/")
        # Threads of its own: a disk that hangs must not keep others from looking up names.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gossamer-sink")

    async def put(self, parcels: Sequence[Parcel]) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._put, parcels)
        except OSError as error:
            raise Undelivered(f"the folder {self._path} cannot be written: {error.strerror or 'it failed'}") from None

    def _put(self, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            path = f"{self._path}/{parcel.key}"
            if parcel.body is None:
                Path(path).unlink(missing_ok=True)
            else:
                _write(path, parcel.body)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _write(path: str, body: bytes) -> None:
    """Write a file that takes its name only when it is whole and on the disk.

    What it is called until then is always the same, so that writing it again clears up after a kill.
    """
    folder, _, name = path.rpartition("/")
    part = f"{folder}/.{name}.part"
    try:
        file = open(part, "wb", buffering=0)  # noqa: SIM115 - closed below
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        file = open(part, "wb", buffering=0)  # noqa: SIM115 - closed below
    with file:
        left = memoryview(body)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    os.replace(part, path)


class Bucket:
    """A bucket of a store that speaks S3.

    Credentials, region and the like come from `options` (as obstore names them), else from AWS_* in the
    environment. Plain HTTP is spoken only to an endpoint that is written so. Raises ConfigError.
    """

    together = 1

    def __init__(
        self, bucket: str, prefix: str, endpoint: str | None, options: Mapping[str, Any], timeout: float
    ) -> None:
        if lacking := missing():
            raise ConfigError(lacking)
        from obstore.store import S3Store

        self._where = f"s3://{bucket}" + (f" at {endpoint}" if endpoint else "")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        given = {"region": _region(), **options} | ({"endpoint": endpoint} if endpoint else {})
        if os.environ.get("AWS_ENDPOINT_URL_S3"):  # it would win over what was said
            given["aws_endpoint_url_s3"] = endpoint
        try:
            self._store = S3Store(
                bucket,
                client_options={
                    "allow_http": (endpoint or "").startswith("http://"),
                    "timeout": timedelta(seconds=timeout),
                    "connect_timeout": timedelta(seconds=min(CONNECT, timeout)),
                },
                # A second try would hide from us that a store is down, and for how long.
                retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=timeout)},
                **given,
            )
        except Exception as error:  # noqa: BLE001 - they have no common root, and quote what they were given
            raise ConfigError(
                f"the options of the sink {self._where} cannot be used ({type(error).__name__}): write those of "
                "obstore's S3Store, like region, access_key_id and secret_access_key"
            ) from None

    async def put(self, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            try:
                await self._put(parcel)
            except Exception as error:  # noqa: BLE001 - as above
                raise Undelivered(sentence(self._where, error)) from None

    async def _put(self, parcel: Parcel) -> None:
        import obstore

        key = self._prefix + parcel.key
        if parcel.body is None:
            await obstore.delete_async(self._store, key)
            return
        attributes: Any = {"Content-Type": parcel.media}
        await obstore.put_async(
            self._store, key, parcel.body, attributes=attributes, chunk_size=PART, max_concurrency=4
        )

    def close(self) -> None:
        pass


def missing() -> str | None:
    """What to install before a bucket can be used; None if nothing."""
    if importlib.util.find_spec("obstore") is None:
        return "sinks that are buckets need obstore: pip install 'gossamer[s3]'"
    return None


def endpoint_of(options: Mapping[str, Any]) -> str | None:
    """The endpoint that options or the environment name, as obstore would find it; None: that of AWS."""
    for name in (
        "aws_endpoint_url_s3",
        "endpoint_url_s3",
        "endpoint",
        "endpoint_url",
        "aws_endpoint",
        "aws_endpoint_url",
    ):
        if options.get(name):
            return str(options[name])
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        if os.environ.get(name):
            return os.environ[name]
    return None


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_SAYS = {
    "NoSuchBucket": "there is no such bucket: make it first",
    "AccessDenied": "the credentials may not write there",
    "InvalidAccessKeyId": "the store does not know the access key",
    "SignatureDoesNotMatch": "the secret key does not match the access key",
    "ExpiredToken": "the credentials have expired",
    "RequestTimeTooSkewed": "this machine's clock is wrong",
    "PermanentRedirect": "the bucket is in another region: set AWS_REGION",
}
_FELL = (
    ("169.254.169.254", "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ("dns error", "its name is not known"),
    ("kind: Timeout", "it does not answer in time"),
    ("Connection refused", "it refuses connections"),
    ("ConnectionRefused", "it refuses connections"),
    ("kind: Connect", "no connection can be made"),
    ("certificate", "its certificate is not trusted"),
    ("BadScheme", "its endpoint must begin with https:// or http://"),
)


def sentence(where: str, error: Exception) -> str:
    """What went wrong, in our own words: what a store answers may quote keys, signatures and whole requests."""
    told = str(error)
    code = _CODE.search(told)
    status = _STATUS.search(told)
    known = next((words for mark, words in _FELL if mark in told), None)
    if code and code[1] in _SAYS:
        known = _SAYS[code[1]]
    elif status and "169.254.169.254" not in told:
        known = f"it answers {status[1]}" + (f" {code[1]}" if code else "")
    return f"{where}: {known or f'it failed ({type(error).__name__})'}"
