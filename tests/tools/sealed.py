# SPDX-License-Identifier: MIT
"""sealed: databases of the collector whose rows have checksums (docs/format/store.md, section 7), for who writes into them."""
import sqlite3
import struct

from ksk_decode import crc32c

INTEGER, REAL, TEXT, BLOB, NULL = 1, 2, 3, 4, 5  # SQLite's


def row_seal(*values):
    sealed = b""
    for value in values:
        if value is None:
            sealed += struct.pack("<BQ", NULL, 0)
        elif isinstance(value, int):
            sealed += struct.pack("<Bq", INTEGER, value)
        else:
            data = value.encode() if isinstance(value, str) else value
            sealed += struct.pack("<BQ", TEXT if isinstance(value, str) else BLOB, len(data)) + data
    return crc32c(sealed)


def damage(path, table, change):
    """What a disk does to a row: it says something else, and its seal is the one of before. The trigger is back when a program opens the file."""
    with sqlite3.connect(path) as db:
        db.execute(f"DROP TRIGGER {table}_changed")
        assert db.execute(f"UPDATE {table} SET {change}").rowcount == 1
    db.close()


def connect(path):
    """For who changes a row as a program of ours would."""
    db = sqlite3.connect(path)
    db.create_function("row_seal", -1, row_seal, deterministic=True)
    return db
