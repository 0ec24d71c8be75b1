#!/bin/bash
# SPDX-License-Identifier: MIT
# The agent on this kernel, by tracefs: instructions, kill -9, broken connections, an inherited socket;
# against a collector made from the specification alone.
exec python3 "$SRC/tests/tools/agent_scenarios.py" "$AGENT" tracefs
