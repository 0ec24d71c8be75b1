#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""switches: how often each task got a CPU, and what is missing, of a .ksk file."""
import sys
from collections import Counter

import kiseki

counts, names, events, losses = Counter(), {}, 0, 0
with kiseki.Trace(sys.argv[1]) as trace:
    for item in trace:
        events += item.type == kiseki.EVENT
        losses += item.type == kiseki.LOSS
        if item.type == kiseki.EVENT and item.event.kind == kiseki.SWITCH:
            task = item.event.other
            counts[task.pid] += 1
            names[task.pid] = task.comm
    print(f"{trace.description.device}: {events} events, {losses} losses")
for pid, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
    print(f"{count:8}  {names[pid]}-{pid}")
