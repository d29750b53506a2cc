"""What a comparison needs besides Gossamer, kept in `.bench/`: fetched once, found there ever after."""

import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".bench"
PINS = Path(__file__).with_name("peers.txt")
PEERS = KEPT / "peers"
PEER_PYTHON = PEERS / "bin" / "python"


class PrepareError(Exception):
    """Something the benchmark needs is not to be had; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A manual from a Debian package, crawled whole."""

    name: str
    package: str
    #: Where the pages are, below the unpacked package.
    folder: str
    #: HTML pages that can be reached from /index.html, counted without any crawler.
    pages: int

    @property
    def unpacked(self) -> Path:
        return KEPT / "docs" / self.package

    @property
    def document_root(self) -> Path:
        return self.unpacked / self.folder

    @property
    def version(self) -> str:
        return version_of(self.unpacked)


SITES = {
    site.name: site
    for site in (
        Site(
            name="postgresql",
            package="postgresql-doc-15",
            folder="usr/share/doc/postgresql-doc-15/html",
            pages=1169,
        ),
        Site(name="python", package="python3.11-doc", folder="usr/share/doc/python3.11/html", pages=526),
    )
}


def peers() -> None:
    """The other frameworks, in an environment of their own."""
    digest = hashlib.sha256(PINS.read_bytes()).hexdigest()
    stamp = PEERS / "pins.sha256"
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"installing the peers ({PINS.name}) into {PEERS}")
    shutil.rmtree(PEERS, ignore_errors=True)
    venv.create(PEERS, with_pip=True)
    why = "could not install the peers"
    run([str(PEER_PYTHON), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(PINS)], why)
    stamp.write_text(digest)


def docs(sites: Sequence[Site]) -> None:
    for site in sites:
        unpack(site.package, site.unpacked)
        if not (site.document_root / "index.html").exists():
            raise PrepareError(f"{site.package} has no {site.folder}/index.html: is this Debian 12?")


def nginx() -> str:
    """A path to nginx: the system's, or one unpacked beside the manuals."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found:
        return found
    # Unpacked, not installed: installing would need root and would start a server on port 80.
    unpack("nginx", KEPT / "nginx")
    found = str(KEPT / "nginx" / "usr" / "sbin" / "nginx")
    run([found, "-v"], "the unpacked nginx does not start (try: apt-get install nginx-light)")
    return found


def unpack(package: str, target: Path) -> None:
    """A Debian package's files, without installing it."""
    if target.exists():
        return
    say(f"fetching {package}")
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise PrepareError(f"{package} comes from Debian 12, and there is no {tool} here to fetch it with")
    fetched = target.with_name(target.name + ".part")
    shutil.rmtree(fetched, ignore_errors=True)
    fetched.mkdir(parents=True)
    why = f"could not fetch {package} (try: apt-get update; is this Debian 12?)"
    # apt drops to a user of its own for downloads, who may not write here.
    run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package], why, folder=fetched)
    (archive,) = fetched.glob("*.deb")
    run(["dpkg-deb", "-x", str(archive), str(fetched)], f"could not unpack {archive.name}")
    (fetched / "VERSION").write_text(run(["dpkg-deb", "-f", str(archive), "Version"], "no version").strip())
    archive.unlink()
    fetched.rename(target)


def version_of(unpacked: Path) -> str:
    noted = unpacked / "VERSION"
    return noted.read_text() if noted.exists() else "(version unknown)"


def run(command: Sequence[str], why: str, folder: Path = ROOT) -> str:
    """Run a tool to its end; what it printed. Raises PrepareError with the last lines it said."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise PrepareError(f"{why}: {error}") from error
    if done.returncode:
        last = "\n  ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise PrepareError(f"{why}:\n  {last}")
    return done.stdout


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
