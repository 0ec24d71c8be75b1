#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""http_check: a second opinion on the collector's answers, for tests/system/http.sh.

    http_check.py schema OPENAPI METHOD PATTERN STATUS < body   does the answer fit its description?
    http_check.py metrics < body                                is it Prometheus' text format?
    http_check.py raw PORT FILE...                              garbage must get an answer or a close
    http_check.py live PORT PATH STATES                         the events of a stream, one per line, until so many states

Only as much of JSON schema as the description uses; what it does not know, it refuses.
"""
import json
import re
import socket
import sys

KNOWN = {"type", "required", "properties", "additionalProperties", "items", "enum", "nullable",
         "minimum", "maximum", "description", "format", "anyOf", "$ref", "default"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float)}


def fail(text):
    sys.exit(f"http_check: {text}")


def check(doc, schema, value, where):
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        return check(doc, doc["components"]["schemas"][name], value, where)
    if set(schema) - KNOWN:
        fail(f"{where}: the description uses {set(schema) - KNOWN}")
    if "anyOf" in schema:
        return None
    if value is None:
        # As OpenAPI 3.0.3 has it: nullable adds null to the type, and an enum has it only if it says so.
        is_allowed = schema.get("nullable") and None in schema.get("enum", [None])
        return None if is_allowed else fail(f"{where}: null")
    kind = TYPES[schema["type"]]
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        fail(f"{where}: {value!r} is no {schema['type']}")
    if "enum" in schema and value not in schema["enum"]:
        fail(f"{where}: {value!r} is none of {schema['enum']}")
    if kind is int and value < schema.get("minimum", value):
        fail(f"{where}: {value} is less than {schema['minimum']}")
    if kind is list:
        for i, one in enumerate(value):
            check(doc, schema["items"], one, f"{where}[{i}]")
    if kind is dict:
        check_object(doc, schema, value, where)
    return None


def check_object(doc, schema, value, where):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            fail(f"{where}: {name} is missing")
    for name, one in value.items():
        if name in properties:
            check(doc, properties[name], one, f"{where}.{name}")
        elif schema.get("additionalProperties", True) is False:
            fail(f"{where}: {name} is not described")


def schema(openapi, method, pattern, status):
    doc = json.load(open(openapi, encoding="utf-8"))
    answer = doc["paths"][pattern][method.lower()]["responses"].get(status)
    if answer is None:
        fail(f"{method} {pattern}: status {status} is not described")
    text = sys.stdin.read()
    if not text.endswith("\n"):
        fail(f"{method} {pattern}: no line end")
    check(doc, answer["content"]["application/json"]["schema"], json.loads(text), pattern)


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r'\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*\}'
SAMPLE = re.compile(rf"({NAME})({LABELS})? (-?[0-9]+(?:\.[0-9]+)?|NaN|[+-]Inf)$")


def metrics():
    """Each family: HELP, TYPE, then its samples and no others; no sample twice."""
    text = sys.stdin.read()
    if not text.endswith("\n"):
        fail("metrics: no line end")
    families, seen, family, kind = set(), set(), None, None
    for n, line in enumerate(text[:-1].split("\n"), 1):
        if line.startswith("# HELP "):
            family, kind = line.split(" ", 3)[2], None
            if family in families or not re.fullmatch(NAME, family):
                fail(f"metrics: line {n}: {family} again")
            families.add(family)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != family or kind not in ("counter", "gauge"):
                fail(f"metrics: line {n}: {line}")
            if (kind == "counter") != name.endswith("_total"):
                fail(f"metrics: line {n}: only a counter is called _total: {name}")
        else:
            m = SAMPLE.fullmatch(line)
            if not m or m.group(1) != family or kind is None:
                fail(f"metrics: line {n}: {line}")
            if m.group(0).rsplit(" ", 1)[0] in seen:
                fail(f"metrics: line {n}: twice: {line}")
            seen.add(m.group(0).rsplit(" ", 1)[0])
    print(len(families))


def connect(port):
    s = socket.create_connection(("127.0.0.1", int(port)))
    s.settimeout(120)
    return s


def raw(port, *files):
    """Whatever comes: an answer with a status line, or nothing at all; and the server lives on."""
    for path in files:
        with connect(port) as s:
            try:
                s.sendall(open(path, "rb").read())
                s.shutdown(socket.SHUT_WR)
                answer = s.recv(4096)
            except (ConnectionResetError, BrokenPipeError):
                answer = b""
        if answer and not re.match(rb"HTTP/1\.[01] [2345][0-9][0-9] ", answer):
            fail(f"{path}: {answer[:80]!r}")
        print(path.rsplit("/", 1)[-1], (answer.split(b" ")[1:2] or [b"closed"])[0].decode())


def live(port, path, states):
    """Unchunks and cuts a stream into its events; each line: event, then its data lines."""
    with connect(port) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        data = b""
        while data.count(b"event: state\n") < int(states) or not data.endswith(b"\n\n\r\n"):
            got = s.recv(65536)
            if not got:
                break
            data += got
    head, _, body = data.partition(b"\r\n\r\n")
    if b"text/event-stream" not in head:
        fail(f"live: {head[:200]!r}")
    text = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        n = int(size, 16) if size else 0
        if not n:
            break
        text += rest[:n]
        body = rest[n + 2:]
    for message in text.decode().split("\n\n")[:-1]:
        fields = [line.partition(": ") for line in message.split("\n")]
        name = [v for k, _, v in fields if k == "event"]
        print("\t".join(name + [v for k, _, v in fields if k == "data"]) if name else message)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
