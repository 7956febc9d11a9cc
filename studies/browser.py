"""A headless Chromium, spoken to over a pipe: no package beside the browser is needed.

Source: Chrome DevTools Protocol; with ``--remote-debugging-pipe`` the browser reads commands from
file descriptor 3 and writes answers and events to 4, JSON with a NUL after each.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0


class BrowserError(Exception):
    """The browser is absent, died, or did not answer."""


def find() -> str | None:
    """Return the browser's path, or None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page; events since the last ``open`` are kept in ``events``."""

    def __init__(self) -> None:
        path = find()
        if path is None:
            raise BrowserError("no Chromium found; install it to make screenshots")
        self.events: list[dict[str, Any]] = []
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands_out, self._commands = os.pipe()
        self._answers, answers_in = os.pipe()
        arguments = [path, *_FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = _spawn(arguments, commands_out, answers_in)
        os.close(commands_out)
        os.close(answers_in)
        self._attach()

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.kill(self._process, signal.SIGTERM)
        os.waitpid(self._process, 0)
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def open(
        self, url: str, *, width: int, height: int = 900, dark: bool = False, script: bool = True
    ) -> None:
        """Load ``url`` in a window of that width and colour scheme, and wait until it is drawn.

        Without ``script`` the page's own scripts do not run, and only its loading is waited for.
        """
        self.events.clear()
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", {"media": "screen", "features": [scheme]})
        self.send("Emulation.setScriptExecutionDisabled", {"value": not script})
        # An address that differs in its fragment alone would load nothing.
        self._navigate("about:blank")
        self.events.clear()
        self._navigate(url)
        if script:
            self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def evaluate(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.send(
            "Runtime.evaluate",
            {"expression": script, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def screenshot(self, path: Path, *, width: int, most: int = 12000) -> None:
        """Write the whole page, down to ``most`` pixels, as a PNG."""
        height = self.evaluate("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, most), "scale": 1}
        picture = self.send(
            "Page.captureScreenshot",
            {"format": "png", "captureBeyondViewport": True, "clip": clip},
        )
        path.write_bytes(base64.b64decode(picture["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page as its stylesheet says."""
        self.send("Emulation.setEmulatedMedia", {"media": ""})
        printed = self.send("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        path.write_bytes(base64.b64decode(printed["data"]))

    def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to one command of the protocol."""
        self._number += 1
        message: dict[str, Any] = {
            "id": self._number,
            "method": method,
            "params": parameters or {},
        }
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def _attach(self) -> None:
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Page.setLifecycleEventsEnabled", {"enabled": True})

    def _navigate(self, url: str) -> None:
        """Go to a page and wait until that page, and none before it, has loaded."""
        loader = self.send("Page.navigate", {"url": url})["loaderId"]
        while not any(_has_loaded(event, loader) for event in self.events):
            self._read()

    def _read(self) -> dict[str, Any]:
        """Return the next message; events are kept as well."""
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self._answers, 1 << 20) if ready else b""
            if not chunk:
                raise BrowserError("the browser does not answer")
            self._buffer += chunk
        raw, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(raw)
        if "method" in message:
            self.events.append(message)
        return message


def _has_loaded(event: dict[str, Any], loader: str) -> bool:
    if event["method"] != "Page.lifecycleEvent":
        return False
    return bool(event["params"]["loaderId"] == loader and event["params"]["name"] == "load")


def _spawn(arguments: list[str], commands: int, answers: int) -> int:
    """Start the browser with two pipes where it looks for them; return its process id."""
    # Out of the way first, lest one of them is the other's destination.
    safe = [fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 10) for pipe in (commands, answers)]
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    connect = [(os.POSIX_SPAWN_DUP2, pipe, end) for pipe, end in zip(safe, (3, 4), strict=True)]
    process = os.posix_spawn(
        arguments[0], arguments, dict(os.environ), file_actions=[*silence, *connect]
    )
    for pipe in safe:
        os.close(pipe)
    return process
