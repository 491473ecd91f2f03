"""The frame of the report: one HTML page with everything in it, for light and dark screens."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files


def page(title: str, parts: Sequence[str]) -> str:
    style = (files("recollect.bench") / "report.css").read_text(encoding="utf-8")
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def heading(text: str, about: str = "") -> str:
    return f"<h2>{escape(text)}</h2>" + (paragraph(about) if about else "")


def paragraph(text: str) -> str:
    return f"<p class=quiet>{escape(text)}</p>"


def card(number: str, about: str) -> str:
    return f"<div class=card><b>{escape(number)}</b><span>{escape(about)}</span></div>"


def cards(each: Sequence[str]) -> str:
    return f"<div class=cards>{''.join(each)}</div>"


def figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"


def pair(figures: Sequence[str]) -> str:
    return f"<div class=pair>{''.join(figures)}</div>"


def table(rows: Sequence[Sequence[str]], strong: Sequence[str] = ()) -> str:
    """Lay out rows, the first being the head; those whose first cell is in `strong` stand out."""
    head, *rest = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = [
        f"<tr{' class=strong' if row[0] in strong else ''}>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>"
        for row in rest
    ]
    return f"<div class=scroll><table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def more(about: str, text: str) -> str:
    return f"<details><summary>{escape(about)}</summary><pre>{escape(text)}</pre></details>"


def _cell(text: str) -> str:
    """Set an interval small, and colour a difference that is clear of zero."""
    text = escape(text)
    for mark, kind in (("▲", "good"), ("▼", "bad")):
        if mark in text:
            return f"<span class={kind}>{text}</span>"
    value, bracket, rest = text.partition(" [")
    return f"{value} <small>[{rest}</small>" if bracket else text
