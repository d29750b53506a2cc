"""The commands that docs/api.md shows: each is run as a reader would run it, in order."""

from __future__ import annotations

import os
import subprocess

from tests.docs import reading
from tests.service.conftest import Served

PAGE = reading.ROOT / "docs" / "api.md"


def test_the_commands_of_the_page_about_the_api_work(served: Served) -> None:
    env = {**os.environ, "API": served.url, "TOKEN": served.tokens["run"]}
    env["AUTH"] = f"Authorization: Bearer {env['TOKEN']}"
    commands = [block.text for block in reading.blocks(PAGE) if block.language == "sh" and "curl" in block.text]
    assert len(commands) >= 7
    for text in commands:
        text = text.replace("curl ", "curl --silent --show-error --fail-with-body ")
        if "stream" in text:  # it has no end
            text = f"{text.rstrip()} --max-time 1 || [ $? = 28 ]"
        done = subprocess.run(["bash", "-ec", text], env=env, capture_output=True, text=True, timeout=50)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
