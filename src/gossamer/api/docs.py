"""`/docs`: every route on one page, written by the server itself from the OpenAPI document.

No script, and nothing from other machines: the page works offline, and tells nobody who reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; --line: light-dark(#d8dee4, #30363d); --soft: light-dark(#f4f6f8, #161b22); }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }}
code, pre {{ font: 14px/1.5 ui-monospace, monospace; }}
pre {{ background: var(--soft); padding: .7rem; white-space: pre-wrap; border-radius: .4rem; }}
details {{ border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; padding: .4rem .7rem; }}
summary {{ cursor: pointer; overflow-wrap: anywhere; }}
summary b {{ display: inline-block; min-width: 4.5rem; }}
table {{ border-collapse: collapse; width: 100%; margin: .4rem 0 .8rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0; }}
tr {{ border-bottom: 1px solid var(--line); }}
nav a {{ margin-right: .8rem; }}
</style></head><body>
<h1>{title} <small>{version}</small></h1>
{about}
<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>
<nav>{links}</nav>
{groups}
</body></html>
"""
#: A larger limit is none that a person meets.
_COUNTABLE = 2**31
_METHODS = ("get", "post", "put", "patch", "delete")


def page(document: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document."""
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                operation = operations[method]
                made = _operation(path, method, operation, document)
                groups.setdefault(operation.get("tags", ["other"])[0], []).append(made)
    info = document["info"]
    return _PAGE.format(
        title=escape(info["title"]),
        version=escape(info["version"]),
        about="".join(f"<p>{_marked(part)}</p>" for part in info.get("description", "").split("\n\n")),
        links=" ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in groups),
        groups="".join(f'<h2 id="{escape(name)}">{escape(name)}</h2>{"".join(made)}' for name, made in groups.items()),
    )


def _marked(text: str) -> str:
    """A text with its `code` marked as such."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _operation(path: str, method: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    anchor = f"{method}{path}".replace("/", "-").replace("{", "").replace("}", "").strip("-")
    scope = operation.get("x-scope", "none")
    needed = "Open to everybody." if scope == "none" else f"Needs the scope `{scope}`."
    inside = [f"<p>{_marked(operation.get('description', ''))} {_marked(needed)}</p>"]
    fields = list(_parameters(operation)) + list(_body(operation, document))
    if fields:
        inside.append(_table(("name", "where", "form", "meaning"), fields))
    inside.append(f"<pre>{escape(_curl(path, method, operation))}</pre>")
    answers = [(status, _marked(answer.get("description", ""))) for status, answer in operation["responses"].items()]
    inside.append(_table(("status", "means"), answers))
    title = f"<b>{method.upper()}</b> <code>{escape(path)}</code> {escape(operation.get('summary', ''))}"
    return f'<details id="{escape(anchor)}"><summary>{title}</summary>{"".join(inside)}</details>'


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for each in operation.get("parameters", ()):
        must = "" if each.get("required") else ", optional"
        form = form_of(each.get("schema", {}))
        yield f"<code>{escape(each['name'])}</code>", each["in"] + must, form, _marked(each.get("description", ""))


def _body(operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    content = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema = resolved(media.get("schema", {}), document)
        for name, each in schema.get("properties", {}).items():
            must = "" if name in schema.get("required", ()) else ", optional"
            told = _marked(each.get("description", ""))
            yield f"<code>{escape(name)}</code>", f"body{must}", form_of(each), told


def resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema itself, where only its name is given."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = document["components"]["schemas"][name] if name else schema
    return found


def form_of(schema: Mapping[str, Any]) -> str:
    """What a value must be, in a few words."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(form_of(each) for each in choices if each.get("type") != "null"))
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    if "$ref" in schema:
        return escape(schema["$ref"].rpartition("/")[2])
    kind = str(schema.get("type", "any"))
    if kind == "array":
        upto = f", up to {schema['maxItems']:,}" if "maxItems" in schema else ""
        return f"list of {form_of(schema.get('items', {}))}{upto}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None:
        return kind
    return f"{kind} from {least:g}" if most is None or most > _COUNTABLE else f"{kind}, {least:g} to {most:,.0f}"


def _curl(path: str, method: str, operation: Mapping[str, Any]) -> str:
    """How to ask from a shell."""
    words = ["curl"]
    if method != "get":
        words.append(f"-X {method.upper()}")
    if operation.get("security") != []:
        words.append('-H "Authorization: Bearer $TOKEN"')
    if "requestBody" in operation:
        words.append("-H 'Content-Type: application/json' -d '{...}'")
    return " ".join([*words, f"http://127.0.0.1:8600{path}"])
