"""Read the pages that ``ncu`` prints to a terminal or a log: sections of label, unit and value.

A launch begins with a line that names the kernel, its context and stream; sections follow, each
with a table between rulers and with messages of the vendor's rules. The program's own output may
stand around and between. A summary has the values of a kernel that was launched once; of others
it has means, which are no launch. Lines may carry the time of a log and the rank that a launcher of
many processes puts before them; each rank's lines are read as a page of their own.

Pages that people keep lack parts: where no line names a kernel, a section or a label that comes
again begins the next launch; where no ruler or head is left, rows of known labels are read as such.
People write tables and lists from them, too: of one launch, or with a column or a row for each.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.model import Record
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import lines
from advisor.readers.ncu.builds import Builds
from advisor.readers.ncu.lines import load_forms
from advisor.readers.ncu.markdown import MarkdownTable
from advisor.readers.ncu.notes import SECTION, Notes
from advisor.readers.ncu.page import TextPage
from advisor.readers.ncu.values import load_messages
from advisor.readers.ncu.written import label_key, tell_a_profile
from advisor.readers.text import LINE_ENDS, decode_head, split_prefix, text_lines

FORMAT = "ncu-text"
COUNTERS = "ncu"

_PROFILER = ("==PROF==", "==ERROR==", "==WARNING==")


def accepts(head: bytes) -> bool:
    """Detect by the first bytes whether a page of ``ncu`` is inside."""
    forms, table = load_forms(), MarkdownTable()
    labels: set[str] = set()
    for whole in (*decode_head(head).splitlines(), ""):
        content = split_prefix(whole)[1].rstrip()
        if content.startswith((*_PROFILER, SECTION)) or load_messages().alone.match(
            forms.line(content).text
        ):
            return True
        if not lines.may_tell(content) and not table.lines:
            continue
        line = forms.line(content)
        if lines.is_head(line.text) or lines.kernel(line):
            return True
        rows = [line]
        if table.takes(line, True, 0):
            rows = []
        elif table.lines:
            reading, rows = table.reading(), [*(each for each, _, _ in table.lines), line]
            if reading is not None:
                rows, labels = [line], labels | reading.measured
            table = MarkdownTable()
            table.takes(line, True, 0)
        found = (forms.row(each.text, written=True) for each in rows)
        labels |= {label_key(row.label) for row in found if row is not None and row.has_unit}
        if tell_a_profile(labels):
            return True
    return False


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield one launch per kernel line that values follow, in the order in which they end.

    Of ``options`` what units measure makes a difference, and whether a launch may be cut off.

    Raises:
        InputError: no launch at all, a value that is no number, or the page ends inside of a table.
    """
    notes = Notes(name=source.name, measures=options.measures)
    pages: dict[str, TextPage] = {}
    forms = load_forms()
    with source.open() as file:
        for number, whole in enumerate(text_lines(file), start=1):
            rank, rest = split_prefix(whole)
            line = forms.line(rest.rstrip())
            if rank not in pages and (not rank or forms.begins_page(line)):
                pages[rank] = TextPage(notes, forms, Builds(told_by=options.builds))
            if rank in pages:
                yield from pages[rank].take(line, rest.endswith(LINE_ENDS), number)
            else:
                notes.line(line.whole)
    for page in pages.values():
        yield from page.end(options)
    if not notes.launches:
        raise notes.nothing("result of the profiler")
    yield from notes.skipped()
    yield notes.session()
