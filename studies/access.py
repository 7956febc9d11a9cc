"""Look at pages as people meet them: narrow, wide, dark, by keyboard, read aloud, without script.

    python -m studies.access PAGE.html … [--axe axe.min.js]

Each page is opened 400, 800, 1400 and 2240 pixels wide, light and dark, and checked as the program
``studies.shots`` does;
Tab is pressed until it has been everywhere; axe-core judges it by WCAG 2.2 AA. axe-core comes
from the package ``axe-core-python`` of the development group, or from a newer file that is named.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from studies.browser import Browser
from studies.shots import HERE, told

WIDTHS = (400, 800, 1400, 2240)
_READ_AT = (400, 1400)
_MOST_STOPS = 1500
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_AXE = f"""
axe.run(document, {{runOnly: {_TAGS}, resultTypes: ['violations']}}).then(found =>
  found.violations.map(v => ({{
    id: v.id, impact: v.impact, nodes: v.nodes.map(n => n.target.join(' ')), of: v.nodes.length
  }})))
"""
_FOCUS = (HERE / "focus.js").read_text()


def main() -> int:
    """Check every page that was named; return 0 where all are well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--axe", type=Path, default=find_axe())
    arguments = parser.parse_args()
    if arguments.axe is None:
        print("no axe-core: pages are not judged by it", file=sys.stderr)
    problems = []
    with Browser() as browser:
        for page in arguments.pages:
            found = check(browser, page, arguments.axe)
            print(f"{page}: {len(found)} problems", flush=True)
            problems += [f"{page}: {problem}" for problem in found]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def find_axe() -> Path | None:
    """Return the script of the installed package, None where there is none."""
    package = importlib.util.find_spec("axe_core_python")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).with_name("axe.min.js")


def check(browser: Browser, page: Path, axe: Path | None) -> list[str]:
    """Return what is wrong with one page."""
    url = page.resolve().as_uri()
    problems = []
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(url, width=width, dark=dark)
            at = f"{width} px, {'dark' if dark else 'light'}"
            drawn = browser.evaluate((HERE / "check_page.js").read_text())["problems"]
            problems += [f"{at}: {each}" for each in (*drawn, *told(browser, url))]
            if axe is not None and width in _READ_AT:
                problems += [f"{at}: {each}" for each in judged(browser, axe)]
    browser.open(url, width=1400)
    problems += stops(browser)
    browser.evaluate((HERE / "use_page.js").read_text())
    return problems + told(browser, url)


def judged(browser: Browser, axe: Path) -> list[str]:
    """Return the violations that axe-core finds on the page as it is."""
    browser.evaluate(axe.read_text(encoding="utf-8") + ";0")
    return [
        f"axe: {each['id']} ({each['impact']}), {each['of']} times: {each['nodes'][:3]}"
        for each in browser.evaluate(_AXE)
    ]


def stops(browser: Browser) -> list[str]:
    """Press Tab until the page is left; return what it missed, and stops that nobody sees."""
    browser.evaluate(_FOCUS + ";0")
    problems = []
    for _ in range(_MOST_STOPS):
        press(browser, "Tab")
        found: dict[str, Any] | None = browser.evaluate("advisorFocus()")
        if found is None:
            break
        if found["hidden"]:
            problems.append(f"focus is not visible: {found['what']}")
    else:
        problems.append(f"more than {_MOST_STOPS} stops")
    return problems + [f"Tab never comes to {each}" for each in browser.evaluate("advisorMissed()")]


def press(browser: Browser, key: str, text: str = "") -> None:
    """Press one key and let it go."""
    for kind in ("keyDown", "keyUp"):
        told = text if kind == "keyDown" else ""
        event: dict[str, Any] = {"type": kind, "key": key, "code": key, "text": told}
        if key == "Tab":
            event["windowsVirtualKeyCode"] = 9
        browser.send("Input.dispatchKeyEvent", event)


if __name__ == "__main__":
    sys.exit(main())
