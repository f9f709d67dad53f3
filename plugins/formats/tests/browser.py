"""A headless Chromium for tests that look at what a reader sees; tests skip with a notice where there is none."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: pages are not looked at")


def run_page(page: Path, *options: str) -> str:
    """The document as text after its scripts have run."""
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={page.parent / 'profile'}", "--virtual-time-budget=10000", *options,
        "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    # Shared continuous-integration machines may be slow to start it; nothing here measures time.
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240, env=_environment(page)
    )
    return done.stdout.decode("utf-8", "replace")


def evaluate(page: Path, text: str, script: str, *options: str) -> Any:
    """Writes `text` and a script to the page, runs it, and returns what the script's `answer(value)` was given."""
    probe = (
        "<script>window.answer = value => { document.body.textContent = '';"
        "const e = document.createElement('pre'); e.id = 'answer'; e.textContent = JSON.stringify(value);"
        f"document.body.append(e); }};\n{script}</script>"
    )
    page.write_text(text.replace("</body>", f"{probe}</body>") if "</body>" in text else text + probe, encoding="utf-8")
    dom = run_page(page, *options)
    found = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-2000:]
    return json.loads(html.unescape(found[1]))


def _environment(page: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(page.parent), "TZ": "UTC"}
