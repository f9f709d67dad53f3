"""A headless Chromium for tests that look at what a reader sees; tests skip with a notice where there is none."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import Any, Dict, Mapping, Tuple

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
    """Opens a page of `text` in a browser, runs the script in it and returns what it gives to `answer(value)`."""
    return evaluate_all(page, {"only": (text, script)}, *options)["only"]


def evaluate_all(
    page: Path, probes: Mapping[str, Tuple[str, str]], *options: str, widths: Mapping[str, int] = MappingProxyType({})
) -> Dict[str, Any]:
    """Name → answer of each (text, script), every one on a page of its own, in one start of the browser.

    A page is 800 pixels wide unless `widths` says otherwise.
    """
    frames = "".join(
        f'<iframe style="width:{widths.get(name, 800)}px;height:600px;border:0" '
        f'srcdoc="{html.escape(_probed(name, *probe))}"></iframe>'
        for name, probe in probes.items()
    )
    page.write_text(_COLLECTOR.format(count=len(probes), frames=frames), encoding="utf-8")
    dom = run_page(page, *options)
    found = re.search(r'<pre id="answers">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-2000:]
    answers: Dict[str, Any] = json.loads(html.unescape(found[1]))
    return answers


_COLLECTOR = """<!doctype html><html><head><meta charset="utf-8"></head><body style="margin: 0"><script>
const answers = {{}};
addEventListener("message", event => {{
  answers[event.data.name] = event.data.value;
  if (Object.keys(answers).length < {count}) return;
  const node = document.createElement("pre");
  node.id = "answers";
  node.textContent = JSON.stringify(answers);
  document.body.replaceChildren(node);
}});
</script>{frames}</body></html>"""


def _probed(name: str, text: str, script: str) -> str:
    answer = f"const answer = value => parent.postMessage({{name: {json.dumps(name)}, value}}, '*');"
    failed = "try {" + script + "} catch (error) { answer(String(error.stack)); }"
    probe = f"<script>{answer}\n{failed}</script>"
    return text.replace("</body>", f"{probe}</body>") if "</body>" in text else text + probe


def _environment(page: Path) -> Dict[str, str]:
    return {**os.environ, "HOME": str(page.parent), "TZ": "UTC"}
