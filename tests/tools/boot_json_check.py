#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_json_check: whether a document is as its schema says, and what a schema cannot say of a boot.

	boot_json_check.py SCHEMA DOCUMENT...

It knows as much of JSON Schema as docs/format/boot.schema.json uses, and fails on a word that it does not know.
"""
import json
import re
import sys

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "additionalProperties",
         "properties", "items", "minItems", "maxItems", "minimum", "maximum", "pattern", "const", "enum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def check(value, schema, root, where):
    assert set(schema) <= KNOWN, f"unknown words in the schema: {set(schema) - KNOWN}"
    if "$ref" in schema:
        check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
        return
    if "type" in schema:
        assert isinstance(value, TYPES[schema["type"]]), f"{where} is no {schema['type']}"
        assert schema["type"] != "integer" or not isinstance(value, bool), f"{where} is no integer"
    assert "const" not in schema or value == schema["const"], f"{where}: {value}"
    assert "enum" not in schema or value in schema["enum"], f"{where}: {value}"
    assert "minimum" not in schema or value >= schema["minimum"], f"{where}: {value}"
    assert "maximum" not in schema or value <= schema["maximum"], f"{where}: {value}"
    assert "pattern" not in schema or re.search(schema["pattern"], value), f"{where}: {value}"
    if isinstance(value, dict):
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, f"{where} lacks {missing}"
        for name, one in value.items():
            assert name in schema["properties"], f"{where} has {name}"
            check(one, schema["properties"][name], root, f"{where}.{name}")
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), where
        for i, one in enumerate(value):
            check(one, schema["items"], root, f"{where}[{i}]")


def same_lengths(columns, where):
    lengths = {name: len(list_) for name, list_ in columns.items()}
    assert len(set(lengths.values())) <= 1, f"{where}: {lengths}"


def check_boot(doc):
    for i, p in enumerate(doc["processes"]):
        where = f"process {p['pid']}"
        assert p["parent"] < i, f"{where} stands before its parent"
        same_lengths(p["spans"], where)
        assert p["from_ns"] + sum(p["spans"]["length_ns"]) == p["to_ns"], f"{where}: spans are not its life"
        assert sum(p["state_ns"]) == p["to_ns"] - p["from_ns"], f"{where}: sums of states are not its life"
        for other in p["spans"].get("whom", []):
            assert other < len(doc["processes"]), where
        for text in p["spans"].get("where", []):
            assert text < len(doc["texts"]), where
    same_lengths(doc["points"], "points")
    for d in doc["disks"]:
        same_lengths(d["points"], d["name"])


with open(sys.argv[1], encoding="utf-8") as f:
    whole = json.load(f)
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    check(document, whole, whole, "boot")
    check_boot(document)
