"""First scrapers as text: a Python class, or a file of rules.

Names of classes and fields, selectors and URLs come from a page, which may be an enemy's: whatever is written as
text is written as a literal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from gossamer.drafting import Rows, Sketch
from gossamer.parse.repeats import Block
from gossamer.parse.slots import Slot

_FILE_LIKE = re.compile(r"\.(?:html?|php|aspx?|jsp|json|xml|txt|csv|pdf)$", re.IGNORECASE)
#: Fields of a row of JSON that a file of rules names.
_MOST_NAMES = 40
#: Why a parser was chosen for a page that does not say what it is about.
_GUESSED = "The page does not say what it is: this parser was chosen because it finds most of its fields there."


def class_name(name: str) -> str:
    """The class that a scraper of this name is written as.

    >>> class_name("book-prices"), class_name("24h.news")
    ('BookPrices', 'Scraper24hNews')
    """
    made = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))
    return made if made[:1].isalpha() and made != "Scraper" else f"Scraper{made}"


def python(name: str, sketch: Sketch | None) -> str:
    """A scraper as a Python file; without a sketch, one to be filled in."""
    if sketch is None:
        return _TEMPLATE.format(name=_text(name), class_name=class_name(name))
    cleaned = sketch.block is not None and any(slot.clean for slot in sketch.block.slots)
    head = [
        f'"""A first scraper, from a look at {_comment(sketch.url)}"""',
        "",
        "from gossamer import Scraper",
        *(["from gossamer.parse import clean"] if cleaned else []),
        "",
        "",
        f"class {class_name(name)}(Scraper):",
        f"    name = {_text(name)}",
        f"    start_urls = [{_text(sketch.url)}]",
    ]
    if sketch.block is not None:
        body = _python_block(sketch.block, sketch.follow)
    elif sketch.rows is not None:
        body = _python_rows(sketch.rows)
    else:
        body = _python_parser(sketch)
    return "\n".join([*head, *body]) + "\n"


def _python_block(block: Block, follow: str | None) -> list[str]:
    key = key_of(block)
    fields = [f'                "{slot.name}": {_expression(slot)},' for slot in block.slots]
    lines = [*([f"    key = {_text(key)}"] if key else []), "", "    def parse(self, page):"]
    lines += [
        f"        for entry in page.css({_text(block.selector)}):",
        "            yield {",
        *fields,
        "            }",
    ]
    link = next((slot for slot in block.slots if slot.name == "url"), None)
    if link is not None:
        where = f"entry.css({_text(link.selector)})" if link.selector else "entry"
        lines.append("            # For what stands on the page of each entry, write a method `detail`, and here:")
        lines.append(f"            # yield from page.follow({where}, to=self.detail)")
    return [*lines, *_python_follow(follow)]


def _python_follow(follow: str | None) -> list[str]:
    if follow is None:
        return ['        # No link to a next page was found. If there is one: yield from page.follow("a.next")']
    # What ends like the name of a file would be taken for a URL.
    given = f"page.css({_text(follow)})" if _FILE_LIKE.search(follow) else _text(follow)
    return [f"        yield from page.follow({given})"]


def _expression(slot: Slot) -> str:
    found = f"entry.css({_text(slot.selector)})" if slot.selector else "entry"
    if slot.many:
        texts = f"{found}.texts()" if slot.take == "text" else f"[each.attr({_text(slot.take)}) for each in {found}]"
        return f"[{_cleaned('each', slot.clean)} for each in {texts}]" if slot.clean else texts
    value = f"{found}.text" if slot.take == "text" else f"{found}.attr({_text(slot.take)})"
    return _cleaned(value, slot.clean)


def _cleaned(value: str, cleaner: str) -> str:
    if cleaner == "url":
        return f"clean.url({value}, page.base_url)"
    return f"clean.{cleaner}({value})" if cleaner else value


def _python_rows(rows: Rows) -> list[str]:
    key = [f"    key = {_text(rows.key)}"] if rows.key else []
    if rows.path is None:
        return [*key, "", "    def parse(self, page):", "        yield page.json()"]
    lines = [*key, "", "    def parse(self, page):", "        answer = page.json()"]
    lines += [f"        for row in answer{_steps(rows.path)}:", "            yield row"]
    if rows.next:
        holder = f"answer{_steps(rows.next[:-1])}"
        lines += [
            f"        if {holder}.get({_text(rows.next[-1])}):",
            f"            yield from page.follow([{holder}[{_text(rows.next[-1])}]])",
        ]
    elif rows.counted:
        lines += [
            '        if answer["has_next"]:',
            f"            yield from page.follow([f\"?{rows.counted}={{answer['page'] + 1}}\"])",
        ]
    return lines


def _steps(path: Iterable[str]) -> str:
    return "".join(f"[{_text(name)}]" for name in path)


def _python_parser(sketch: Sketch) -> list[str]:
    lines = [f"    # {_GUESSED}"] if sketch.guessed else []
    lines.append(f"    parser = {_text(sketch.parser or 'auto')}")
    if sketch.follow:
        return [*lines, f"    follow = {_text(sketch.follow)}"]
    return [*lines, '    # Links that lead to more such pages: follow = "a.next"']


# -- rules -----------------------------------------------------------------------------------------------------


def toml(name: str, sketch: Sketch | None) -> str:
    """A scraper as a file of rules; without a sketch, one to be filled in."""
    if sketch is None:
        return _RULES_TEMPLATE.format(name=_text(name))
    lines = [f"# A first scraper, from a look at {_comment(sketch.url)}", f"name = {_text(name)}"]
    lines.append(f"start_urls = [{_text(sketch.url)}]")
    if sketch.block is not None:
        lines += _toml_block(sketch.block, sketch.follow)
    elif sketch.rows is not None:
        lines += _toml_rows(sketch.rows)
    else:
        lines += [f"# {_GUESSED}"] if sketch.guessed else []
        lines += [f"parser = {_text(sketch.parser or 'auto')}"]
        lines += [f"follow = {_text(sketch.follow)}"] if sketch.follow else []
    return "\n".join(lines) + "\n"


def _toml_block(block: Block, follow: str | None) -> list[str]:
    key = key_of(block)
    lines = [f"key = {_text(key)}"] if key else []
    lines.append(f"each = {_text(block.selector)}")
    lines.append(f"follow = {_text(follow)}" if follow else '# No link to a next page was found: follow = "a.next"')
    return [*lines, "", "[fields]", *(f"{slot.name} = {_rule(slot)}" for slot in block.slots)]


def _rule(slot: Slot) -> str:
    rule = slot.selector if slot.take == "text" else f"{slot.selector}::attr({slot.take})"
    rule = rule or "xpath:."
    if slot.many:
        clean = f", clean = {_text(slot.clean)}" if slot.clean else ""
        return f"{{ css = {_text(rule)}, list = true{clean} }}"
    return _text(f"{rule} | {slot.clean}" if slot.clean else rule)


def _toml_rows(rows: Rows) -> list[str]:
    lines = [f"key = {_text(rows.key)}"] if rows.key else []
    if rows.path is not None:
        lines.append(f"each = {_text('json:$' + _steps_of_path(rows.path) + '[*]')}")
    if rows.next:
        lines.append(f"follow = {{ json = {_text('$' + _steps_of_path(rows.next))} }}")
    elif rows.counted:
        lines.append("# It has more parts, whose number is in their URL: a Python class can count them.")
    usable = [name for name in rows.names if name.strip() and len(name) <= 100 and name.isprintable()]
    names = [f"{_bare(name)} = {_text('json:$' + _steps_of_path((name,)))}" for name in usable[:_MOST_NAMES]]
    return [*lines, "", "[fields]", *names]


def _steps_of_path(path: Iterable[str]) -> str:
    return "".join(
        f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", name) else f"[{json.dumps(name, ensure_ascii=False)}]"
        for name in path
    )


def _bare(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


# -- both ------------------------------------------------------------------------------------------------------


def key_of(block: Block) -> str | None:
    """The field that tells one entry from another: the link to what it is about."""
    return next((slot.name for slot in block.slots if slot.name == "url" and not slot.many), None)


def _text(value: str) -> str:
    """A literal that Python and TOML read alike."""
    if '"' in value and "'" not in value and "\\" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "")


def _comment(url: str) -> str:
    """A URL as it may stand in a comment or a docstring."""
    return "".join(letter for letter in url[:300] if letter.isprintable() and letter not in '"\\')


_TEMPLATE = '''"""A scraper: where to start, and what to take from each page."""

from gossamer import Scraper


class {class_name}(Scraper):
    name = {name}
    #: Where a run begins.
    start_urls = ["https://example.org/"]
    #: Requests to one host; robots.txt is obeyed anyway.
    rate = "2/s"
    #: The field that tells one item from another: a second look at it is then the same item, seen again.
    key = "url"

    def parse(self, page):
        # An item is a dict. `gossamer try URL --css ".entry"` shows what a selector finds.
        yield {{"url": page.url, "title": page.css("h1").text}}
        # Where to go next: a selector of links, or URLs.
        yield from page.follow("a.next")
'''

_RULES_TEMPLATE = """# A scraper that is nothing but rules: gossamer run FILE
name = {name}
# Where a run begins.
start_urls = ["https://example.org/"]
# Requests to one host; robots.txt is obeyed anyway.
rate = "2/s"
# The field that tells one item from another.
key = "url"
# The elements that are one record each; left out, the page is one record.
# each = ".entry"
# The links to follow.
follow = "a.next"

[fields]
url = "page:url"
title = "h1"
# price = ".price | money"
# tags = {{ css = ".tag", list = true }}
"""
