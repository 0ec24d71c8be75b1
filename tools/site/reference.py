# SPDX-License-Identifier: MIT
"""reference: the description of the HTTP API as a page: each path with what it takes and answers, then each type."""
import html
import json

from document import Document

GROUPS = (("Fleet", "/api/v1/fleet"), ("Devices", "/api/v1/devices"), ("Runs", "/api/v1/runs"))


def escape(text):
    return html.escape(str(text))


def type_of(schema):
    """A type in few words; those with a name link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f'<a href="#{escape(name.lower())}">{escape(name)}</a>'
    for key, word in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
        if key in schema:
            return word.join(type_of(each) for each in schema[key])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(each))}</code>" for each in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    kind = schema.get("type", "object" if "properties" in schema else "any")
    return escape(" or ".join(kind) if isinstance(kind, list) else kind)


def table(heads, rows):
    head = "".join(f"<th>{each}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{each}</td>" for each in row) + "</tr>\n" for row in rows)
    return f'<div class="table"><table>\n<tr>{head}</tr>\n{body}</table></div>\n' if body else ""


def fields_of(schema):
    needed = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        about = escape(field.get("description", ""))
        yield f"<code>{escape(name)}</code>", type_of(field), about if name in needed else f"{about} (may be missing)".strip()


def is_failure(answer):
    return any(each.get("schema", {}).get("$ref", "").endswith("/Error") for each in answer.get("content", {}).values())


def failures_of(operation):
    """In one line, since most are the same everywhere."""
    found = [f"{escape(code)} {escape(answer.get('description', ''))}" for code, answer in operation["responses"].items() if is_failure(answer)]
    return f'<p>Failures (<a href="#error">Error</a>): {"; ".join(found)}.</p>\n' if found else ""


def answers_of(operation):
    for code, answer in operation["responses"].items():
        if is_failure(answer):
            continue
        kinds = [f"{escape(kind)}: {type_of(each.get('schema', {}))}" for kind, each in answer.get("content", {}).items()]
        yield escape(code), escape(answer.get("description", "")), "; ".join(kinds)


def operation(method, path, what):
    text = f'<h3><span class="method">{escape(method)}</span> {escape(path)}</h3>\n<p>{escape(what.get("summary", ""))}</p>\n'
    if "description" in what:
        text += f"<p>{escape(what['description'])}</p>\n"
    text += table(("parameter", "in", "type", ""), (
        (f"<code>{escape(each['name'])}</code>", escape(each["in"]), type_of(each.get("schema", {})), escape(each.get("description", "")))
        for each in what.get("parameters", [])))
    for kind, each in what.get("requestBody", {}).get("content", {}).items():
        text += f"<p>Body: {escape(kind)}: {type_of(each.get('schema', {}))}</p>\n"
    return text + table(("answer", "", "content"), answers_of(what)) + failures_of(what)


def group_of(path):
    return next((name for name, start in GROUPS if path.startswith(start)), "The collector")


def read(path):
    api = json.loads(path.read_text())
    groups = {}
    for name, operations in api["paths"].items():
        shared = operations.get("parameters", [])
        for method, what in operations.items():
            if method != "parameters":
                what = {**what, "parameters": shared + what.get("parameters", [])}
                groups.setdefault(group_of(name), []).append(operation(method, name, what))
    text = "<h1>HTTP API: reference</h1>\n<p>All paths and types of <a href=\"openapi.json\">openapi.json</a>; what holds for all of them is in " \
           '<a href="index.html">HTTP API</a>.</p>\n'
    for name, parts in groups.items():
        text += f"<h2>{name}</h2>\n{''.join(parts)}"
    text += "<h2>Types</h2>\n"
    for name, schema in api["components"]["schemas"].items():
        about = f"<p>{escape(schema['description'])}</p>\n" if "description" in schema else ""
        shape = "" if "properties" in schema else f"<p>{type_of(schema)}</p>\n"
        text += f"<h3>{escape(name)}</h3>\n{about}{shape}{table(('field', 'type', ''), fields_of(schema))}"
    return Document(text)
