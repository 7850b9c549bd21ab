"""Markdown and LaTeX formulas as safe HTML, cached by their text."""

from __future__ import annotations

import math
import re
import secrets
import warnings
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LONGEST_FORMULA = 600
# The most `_formula_effort` per formula and per text: about a quarter of a second, and a second.
MOST_EFFORT, MOST_EFFORT_OF_TEXT = 1500, 6000
PLAIN = "<code>{}</code>"
BLOCK = re.compile(r"\$\$(?P<latex>.+?)\$\$", re.DOTALL)
# As in Pandoc: no space inside the dollars and no digit behind them, so that "$5 and $6" stays money.
INLINE = re.compile(r"\$(?P<latex>[^\s$`](?:[^$\n`]*[^\s$`\\])?)\$(?!\d)")
# Without the full stop or bracket of the sentence around it.
ADDRESS = re.compile(r"(https?://[^\s<>\"]*[^\s<>\"'.,;:!?)\]])")
TAGS = nh3.ALLOWED_TAGS - {"img", "details", "summary", "area", "map"}


@lru_cache(maxsize=512)
def render_formula(latex: str, *, is_block: bool = True) -> SafeString:
    """A formula as SVG with its LaTeX as text alternative; the plain LaTeX if it cannot be drawn or would take too
    long."""
    svg = _draw(latex) if _formula_effort(latex) <= MOST_EFFORT else None
    if svg is None:
        return format_html(PLAIN, latex)
    kind = "math block" if is_block else "math"
    return format_html('<span class="{}" role="img" aria-label="{}">{}</span>', kind, latex.strip(), svg)


@lru_cache(maxsize=512)
def _formula_effort(latex: str) -> float:
    """An estimate of the time that ziamath takes to draw a formula, in units of 0.1 to 0.2 ms: it draws each row twice,
    nested rows four times, and so on."""
    if len(latex) > LONGEST_FORMULA:
        return math.inf
    try:
        return _effort_of(convert_to_element(latex.strip()))
    except Exception:
        return math.inf  # not a formula


def _effort_of(element: Any) -> int:
    times = 2 if element.tag.rpartition("}")[2] in ("mrow", "mtd") else 1
    return 1 + times * sum(_effort_of(part) for part in element)


def _draw(latex: str) -> SafeString | None:
    try:
        svg: str = _load_ziamath().Latex(latex.strip(), size=18, color="currentColor").svg()
    except Exception:
        # A user wrote the LaTeX; whatever fails, the page must still be shown.
        return None
    if "<script" in svg or "style=" in svg or re.search(r"\son\w+\s*=", svg):
        return None
    svg = svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
    return mark_safe(svg)  # noqa: S308 - drawn by us from glyph outlines and checked above


@lru_cache(maxsize=1)
def _load_ziamath() -> Any:
    """ziamath, imported when the first formula is drawn: loading its font takes longer than most pages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
    # Outlines in place instead of shared symbols, whose ids would clash between the formulas of a page.
    drawing: Any = ziamath
    drawing.config.svg2 = False
    return drawing


@lru_cache(maxsize=256)
def render_markdown(text: str) -> SafeString:
    """Markdown with `$$…$$` and `$…$` formulas as HTML without scripts, images or styles; headings start at `h2`."""
    found: list[tuple[str, bool]] = []
    mark = f"formula-{secrets.token_hex(8)}-"  # random, so no text contains it
    html = nh3.clean(_markdown_parser().render(text, {"formulas": found, "mark": mark}), tags=TAGS)
    html = html.replace("<pre>", '<pre tabindex="0">')  # long lines are scrolled by keyboard too

    drawn = accumulate(effort if (effort := _formula_effort(latex)) <= MOST_EFFORT else 0 for latex, _ in found)
    formulas = [
        render_formula(latex, is_block=is_block) if effort <= MOST_EFFORT_OF_TEXT else format_html(PLAIN, latex)
        for (latex, is_block), effort in zip(found, drawn, strict=True)
    ]
    return mark_safe(re.sub(rf"{mark}(\d+)-", lambda place: formulas[int(place[1])], html))  # noqa: S308 - sanitized by nh3; formulas are drawn by us


@lru_cache(maxsize=256)
def render_markdown_line(text: str) -> SafeString:
    """One line of Markdown without a paragraph around it, for labels and sentences; only code and emphasis."""
    html = MarkdownIt("zero").enable(["backticks", "emphasis"]).renderInline(text)
    return mark_safe(nh3.clean(html, tags={"code", "em", "strong"}))  # noqa: S308 - sanitized by nh3


@lru_cache(maxsize=1)
def _markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.block.ruler.before("fence", "formula_block", _formula_block_rule, {"alt": ["paragraph"]})
    parser.inline.ruler.before("escape", "formula", _formula_rule)
    parser.core.ruler.push("addresses", _link_addresses)
    parser.add_render_rule("formula", _formula_place)
    parser.add_render_rule("formula_block", _formula_paragraph)
    parser.add_render_rule("heading_open", _lower_heading)
    parser.add_render_rule("heading_close", _lower_heading)
    return parser


def _link_addresses(state: StateCore) -> None:
    """Turn bare URLs into links, except in links and code."""
    for block in state.tokens:
        if block.type != "inline" or "://" not in block.content:
            continue
        made: list[Token] = []
        depth = 0
        for token in block.children or []:
            depth += token.nesting if token.type.startswith("link_") else 0
            made += _link_text(token) if token.type == "text" and not depth else [token]
        block.children = made


def _link_text(text: Token) -> list[Token]:
    pieces = ADDRESS.split(text.content)
    made: list[Token] = []
    for place, piece in enumerate(pieces):
        inside = replace(text, content=piece)
        is_address = place % 2 == 1
        opening = [Token("link_open", "a", 1, attrs={"href": piece})] if is_address else []
        made += [*opening, inside, Token("link_close", "a", -1)] if is_address else [inside] if piece else []
    return made


def _formula_block_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A formula on separate lines (markdown-it block rule): its lines may begin with `+` or `-` without being a
    list."""
    if state.level or state.is_code_block(first):
        return False
    found = BLOCK.match(state.src, state.bMarks[first] + state.tShift[first])
    if found is None or re.search(r"\n\s*\n", found["latex"]):
        return False
    end = next(line for line in range(first, last) if state.eMarks[line] >= found.end())
    if state.src[found.end() : state.eMarks[end]].strip():
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content, token.block, token.map = found["latex"], True, [first, end + 1]
        state.line = end + 1
    return True


def _formula_rule(state: StateInline, silent: bool) -> bool:
    found = BLOCK.match(state.src, state.pos) or INLINE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.block = found["latex"], found.re is BLOCK
    state.pos = found.end()
    return True


def _formula_place(_: Any, tokens: Any, index: int, options: Any, env: dict[str, Any]) -> str:
    env["formulas"].append((tokens[index].content, tokens[index].block))
    return f"{env['mark']}{len(env['formulas']) - 1}-"


def _formula_paragraph(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return f"<p>{_formula_place(renderer, tokens, index, options, env)}</p>\n"


def _lower_heading(_: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    level = min(int(token.tag[1]) + 1, 6)
    return f"</h{level}>\n" if token.nesting == -1 else f"<h{level}>"
