"""Picture reports in a headless browser and check what only a browser can tell.

Each page is opened light and dark, 1400 and 400 pixels wide. Nothing may scroll sideways, no two
words of a chart may overlap, every mark and every roof must lie in its frame, no error may be logged,
nothing may be asked of any network, and no dialog may open.

    python benchmarks/shots.py REPORT.html … [--out out/shots]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from browser import Browser

_WIDTHS = (1400, 400)

_CHECK = r"""
(() => {
  const problems = [], all = (s, r = document) => [...r.querySelectorAll(s)];
  if (document.documentElement.scrollWidth > innerWidth)
    problems.push(`scrolls sideways: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  const corners = t => { const b = t.getBBox(), m = t.getScreenCTM();
    return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([i, j]) =>
      new DOMPoint(b.x + (i ? b.width - 1 : 1), b.y + (j ? b.height - 2 : 2)).matrixTransform(m)); };
  const apart = (p, q) => [p, q].some(r => r.some((a, i) => {
    const b = r[(i + 1) % 4], nx = b.y - a.y, ny = a.x - b.x, on = s => s.map(c => c.x * nx + c.y * ny);
    return Math.max(...on(p)) <= Math.min(...on(q)) || Math.max(...on(q)) <= Math.min(...on(p)); }));
  let texts = 0, marks = 0, roofs = 0;
  for (const svg of all('.plot svg')) {
    if (!svg.getBoundingClientRect().width) continue;
    const frame = svg.querySelector('.fr').getBBox(), view = svg.viewBox.baseVal;
    const words = all('text', svg).filter(t => t.textContent.trim() && t.getBoundingClientRect().width);
    const boxes = words.map(corners);
    texts += words.length;
    words.forEach((w, i) => {
      for (let j = i + 1; j < words.length; j++) if (!apart(boxes[i], boxes[j]))
        problems.push(`words overlap: "${w.textContent}" and "${words[j].textContent}"`);
      const area = svg.getBoundingClientRect();
      if (boxes[i].some(c => c.x < area.left - 1 || c.x > area.right + 1 || c.y < area.top - 1 || c.y > area.bottom + 1))
        problems.push(`word outside the picture: "${w.textContent}"`);
    });
    for (const mark of all('.pt[data-y]', svg)) {
      marks++;
      const b = mark.querySelector('.d').getBBox(), m = mark.transform.baseVal.consolidate().matrix;
      if (b.x + m.e < frame.x || b.x + b.width + m.e > frame.x + frame.width || b.y + m.f < frame.y || b.y + b.height + m.f > frame.y + frame.height)
        problems.push(`mark outside the frame: ${mark.getAttribute('aria-label')}`);
    }
    for (const line of all('.ln', svg)) {
      roofs++;
      const inside = n => { const p = line.getPointAtLength(n); return p.x >= frame.x - 1 && p.x <= frame.x + frame.width + 1 && p.y >= frame.y - 1 && p.y <= frame.y + frame.height + 1; };
      const length = line.getTotalLength(), steps = 4000;
      let seen = false;
      for (let i = 0; i <= steps && !seen; i++) seen = inside(length * i / steps);
      if (!seen) problems.push(`roof outside the frame: ${line.getAttribute('class')} ${line.dataset.p}`);
    }
    for (const label of all('.rl', svg)) {
      const y = label.transform.baseVal.consolidate().matrix.f;
      if (y < frame.y - 16 || y > frame.y + frame.height + 16) problems.push(`roof label off: ${label.textContent}`);
    }
  }
  return {problems, texts, marks, roofs};
})()
"""
_USE = """
(() => {
  const click = e => e && e.click(), first = s => document.querySelector(s);
  click(first('[data-z=".8"]')); click(first('[data-z="1.25"]')); click(first('[data-z="0"]'));
  document.querySelectorAll('.sort').forEach(click);
  click(first('.kt tbody tr td'));
  document.querySelectorAll('.tab').forEach(click);
  click(first('#theme')); click(first('#theme'));
  const tab = first('.tab'); if (tab) click(tab);
  history.replaceState(0, '', location.pathname);
})()
"""


def main() -> int:
    """Check every page that was named; return 0 where all are well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/shots"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    problems = []
    with Browser() as browser:
        for page in arguments.pages:
            for width in _WIDTHS:
                for dark in (False, True):
                    problems += check(browser, page, arguments.out, width=width, dark=dark)
            browser.open(page.resolve().as_uri(), width=1400)
            browser.pdf(arguments.out / f"{page.stem}.pdf")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def check(browser: Browser, page: Path, out: Path, *, width: int, dark: bool) -> list[str]:
    """Picture one page in one way; return what is wrong with it."""
    name = f"{page.stem}-{width}-{'dark' if dark else 'light'}"
    url = page.resolve().as_uri()
    browser.open(url, width=width, dark=dark)
    browser.screenshot(out / f"{name}.png", width=width)
    found = browser.evaluate(_CHECK)
    browser.evaluate(_USE)
    problems = [*found["problems"], *_told(browser, url)]
    print(
        f"{name}: {found['marks']} marks, {found['roofs']} lines, {found['texts']} words, "
        f"{len(problems)} problems"
    )
    return [f"{name}: {problem}" for problem in problems]


def _told(browser: Browser, url: str) -> list[str]:
    """Return the errors, requests and dialogs that the browser told of."""
    problems = []
    for event in browser.events:
        method, data = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            problems.append(f"exception: {details.get('exception', details).get('description')}")
        elif method == "Log.entryAdded" and data["entry"]["level"] == "error":
            problems.append(f"log: {data['entry']['text']}")
        elif method == "Runtime.consoleAPICalled" and data["type"] == "error":
            problems.append(f"console: {data['args']}")
        elif method == "Network.requestWillBeSent":
            asked = data["request"]["url"]
            if asked != url and not asked.startswith(("data:", "about:")):
                problems.append(f"request: {asked}")
        elif method == "Page.javascriptDialogOpening":
            problems.append(f"dialog: {data['message']}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
