# SPDX-License-Identifier: MIT
"""device_tree: a flattened device tree without some of its nodes.

A kernel expects every CPU that the tree names, and qemu gives it fewer: the memory of all that counts
per possible CPU would be that of another board, and `nr_cpus=` makes the kernel warn. So the nodes
are overwritten with the token that means nothing, as the format provides for.
"""
import struct

from boards.catalog import BoardError

BEGIN_NODE, END_NODE, PROPERTY, NOTHING, END = 1, 2, 3, 4, 9


def tokens(tree, start):
    """(token, where it starts, where the next one starts, name of the node)"""
    at = start
    while True:
        token, = struct.unpack_from(">I", tree, at)
        after, name = at + 4, None
        if token == BEGIN_NODE:
            end = tree.index(b"\0", after)
            name, after = tree[after:end].decode(), end + 1
        elif token == PROPERTY:
            after += 8 + struct.unpack_from(">I", tree, after)[0]
        after += -after % 4
        yield token, at, after, name
        if token == END:
            return
        at = after


def node_spans(tree):
    """{path: (start, end)}"""
    spans, path = {}, []
    for token, at, after, name in tokens(tree, struct.unpack_from(">I", tree, 8)[0]):
        if token == BEGIN_NODE:
            path.append((name, at))
        elif token == END_NODE:
            spans["/".join(n for n, _ in path) or "/"] = path[-1][1], after
            path.pop()
    return spans


def remove_nodes(tree, paths):
    tree, spans = bytearray(tree), node_spans(tree)
    for path in paths:
        if path not in spans:
            raise BoardError(f"the device tree has no node {path}")
        start, end = spans[path]
        tree[start:end] = struct.pack(">I", NOTHING) * ((end - start) // 4)
    return bytes(tree)
