# SPDX-License-Identifier: MIT
"""pages: an interpreter with something to do at random moments: rows become text and rows again."""
import json
import random
import time

rows = [{"number": i, "name": f"row {i}", "values": [random.random() for _ in range(6)]} for i in range(300)]
at = time.monotonic()
while True:
    at += random.expovariate(8)
    time.sleep(max(0, at - time.monotonic()))
    random.shuffle(rows)
    json.loads(json.dumps(rows[:50 + random.randrange(250)]))
