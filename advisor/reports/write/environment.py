"""What writes templates: a sandbox whose values are escaped, for HTML or for Markdown."""

from __future__ import annotations

from functools import lru_cache
from types import BuiltinMethodType, MethodType
from typing import Any

from jinja2 import BytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Expr
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup, escape

from advisor.reports.escaping import Verbatim, escape_markdown
from advisor.reports.write.filters import FILTERS
from advisor.resources import data_dir
from advisor.wording import printable

_METHODS = (MethodType, BuiltinMethodType)


class _Code(BytecodeCache):
    """Compiled templates in a dictionary; what is escaped compiles to other code."""

    def __init__(self, code: dict[str, bytes], *, autoescape: bool) -> None:
        self._code = code
        self._kind = "escaped" if autoescape else "plain"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, unless its template changed."""
        found = self._code.get(f"{self._kind} {bucket.key}")
        if found is not None:
            bucket.bytecode_from_string(found)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Take what was compiled."""
        self._code[f"{self._kind} {bucket.key}"] = bucket.bytecode_to_string()


class _Writer(CodeGenerator):
    """Escapes each value by one call, which gives the final text; Jinja writes two."""

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: Any) -> None:
        if _is_escaped(frame, finalize):
            self.write(finalize.src)
        else:
            super()._output_child_pre(node, frame, finalize)

    def _output_child_post(self, node: Expr, frame: Frame, finalize: Any) -> None:
        if _is_escaped(frame, finalize):
            self.write(")")
        else:
            super()._output_child_post(node, frame, finalize)


def _is_escaped(frame: Frame, finalize: Any) -> bool:
    """Return whether it is known by now that a value will be escaped, and by what."""
    context = frame.eval_ctx
    return context.autoescape and not context.volatile and finalize.src is not None


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox, which judges an attribute once for all objects of a type and values of another.

    Each of its tests is by these and the name, and a site's pages read half a million attributes.
    """

    code_generator_class = _Writer

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._safe: set[tuple[type, str, type]] = set()

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute as the sandbox does, which hands out methods wrapped."""
        try:
            value = getattr(obj, attribute)
        except AttributeError:
            return super().getattr(obj, attribute)
        known = type(obj), attribute, type(value)
        if known in self._safe:
            return value
        if isinstance(value, _METHODS) or not self.is_safe_attribute(obj, attribute, value):
            return super().getattr(obj, attribute)
        self._safe.add(known)
        return value


def environment(
    code: dict[str, bytes] | None, *, autoescape: bool
) -> ImmutableSandboxedEnvironment:
    """Return what writes templates: sandboxed, with the filters that all of them use."""
    made = _Sandbox(
        loader=FileSystemLoader(data_dir("templates")),
        autoescape=autoescape,
        bytecode_cache=None if code is None else _Code(code, autoescape=autoescape),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize_html if autoescape else _finalize_markdown,
    )
    made.filters.update(FILTERS)
    return made


def _finalize_html(value: object) -> Markup:
    return value if isinstance(value, Markup) else _escaped(str(value))


@lru_cache(maxsize=8192)  # a page says most of its numbers several times
def _escaped(text: str) -> Markup:
    return escape(printable(text))


def _finalize_markdown(value: object) -> str:
    return value if isinstance(value, Verbatim) else escape_markdown(str(value))
