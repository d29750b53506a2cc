"""What `--store` says."""

from __future__ import annotations

import pytest

from gossamer.errors import ConfigError
from gossamer.storage import naming


@pytest.mark.parametrize(
    "typo", ["postgresql:/me:s3cret@h/x", "postgres:me:s3cret@h/x", "PostgreSQL:/me:s3cret@h", "sqlite://s3cret.db"]
)
def test_a_url_that_is_none_is_no_file_and_is_told_to_nobody(typo: str) -> None:
    with pytest.raises(ConfigError, match=r"looks like a URL, and is none: write postgresql://") as caught:
        naming.path_of(typo)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("path", ["postgres.db", "sqlite", "a:b.db", "postgresql/x.db"])
def test_files_may_be_called_what_they_like(path: str) -> None:
    assert naming.path_of(path) == path
    assert naming.path_of(f"sqlite:///{path}") == path
