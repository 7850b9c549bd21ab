"""Markdown and formulas."""

from __future__ import annotations

import time

import pytest

from leaderboard.common.markdown import render_formula, render_markdown, render_markdown_line


def test_headings_start_below_the_page_title() -> None:
    assert render_markdown("# One\n###### Six") == "<h2>One</h2>\n<h6>Six</h6>\n"


def test_formulas_are_drawn_with_their_latex_as_words() -> None:
    html = render_markdown("Mean\n\n$$\\frac{1}{n}$$\n\nand $x_i$ inline")
    assert html.count("<svg") == 2
    assert 'aria-label="\\frac{1}{n}"' in html
    assert 'class="math"' in html
    assert "style=" not in html


def test_a_formula_over_several_lines_is_no_list() -> None:
    for text in ("$$a\n+ b\n- c$$", "It is\n$$\na\n+ b\n$$\nas said.", "$$a$$\n\n$$1. b\n# c$$"):
        html = render_markdown(text)
        assert html.count("<svg") == text.count("$$") // 2
        assert "<li>" not in html
        assert "$$" not in html
    assert "<svg" not in render_markdown("$$a\n\n+ b$$")
    assert "<svg" not in render_markdown("    $$a\n    + b$$")
    assert render_markdown("$$a$$ and $$b$$, both").count("<svg") == 2


def test_money_and_code_are_no_formulas() -> None:
    assert "<svg" not in render_markdown("It costs $5 and $6, or `$x$`.\n\n```\n$$a$$\n```")


@pytest.mark.parametrize(
    "latex", ["\\frac{", "\\nosuchmacro{x}", "x" * 1000, "<script>alert(1)</script>", '" onload="x']
)
def test_no_formula_breaks_a_page(latex: str) -> None:
    html = render_formula(latex)
    assert "<script" not in html
    assert 'onload="x' not in html


NESTED = {
    "powers": "a^{" * 30 + "b" + "}" * 30,
    "roots": "\\sqrt{" * 80 + "x" + "}" * 80,
    "brackets": "\\left(" * 30 + "x" + "\\right)" * 30,
    "tables": "\\begin{matrix}" * 15 + "x" + "\\end{matrix}" * 15,
}


@pytest.mark.parametrize("latex", NESTED.values(), ids=NESTED)
def test_a_formula_that_would_be_drawn_for_hours_is_shown_as_text(latex: str) -> None:
    begun = time.process_time()
    html = render_markdown(f"Before ${latex}$ after $x$")
    assert html.count("<svg") == 1, "that of x"
    assert time.process_time() - begun < 2


def test_many_dear_formulas_are_drawn_as_far_as_a_second_goes() -> None:
    text = " ".join(f"$a_{number}^{{b^{{c^{{d^{{e^{{f}}}}}}}}}}$" for number in range(100))
    begun = time.process_time()
    html = render_markdown(text)
    assert 10 < html.count("<svg") < 60
    assert time.process_time() - begun < 5


def test_a_long_formula_of_a_paper_is_drawn() -> None:
    latex = "\\frac{1}{n}\\sum_{i=1}^{n}\\sqrt{\\left(\\frac{\\log(p_i+1)-\\log(a_i+1)}{\\sigma_{i}^{2}}\\right)^2}"
    assert "<svg" in render_formula(latex)


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "[a](data:text/html,x)",
     "![a](http://evil/x.png)", "<a href='javascript:alert(1)'>x</a>", "[a](vbscript:x)", "<svg/onload=alert(1)>",
     "[a]: javascript:alert(1)\n\n[a]", "<https://x.y/\"onmouseover=alert(1)>", "`<script>`",
     "&#xE000;9&#xE001; $x$ formula-0-", "| a |\n|:-:|\n| <b onclick=x> |", "$$\"><script>alert(1)</script>$$"],
)  # fmt: skip
@pytest.mark.attack("scripts in titles, Markdown, names, notes, file names (18 payloads in Chromium)")
def test_nothing_in_markdown_is_alive(text: str) -> None:
    html = render_markdown(text)
    for live in ("<script", "<img", 'href="javascript', 'href="data', 'href="vbscript', "<svg/", "<b ", "style="):
        assert live not in html


def test_a_line_keeps_code_and_nothing_else_of_markdown_or_html() -> None:
    assert (
        render_markdown_line("Sets such as `a|b`, *all* of them.")
        == "Sets such as <code>a|b</code>, <em>all</em> of them."
    )
    assert render_markdown_line("<b>x</b> [y](https://example.org)") == "&lt;b&gt;x&lt;/b&gt; [y](https://example.org)"
