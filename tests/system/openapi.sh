#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/api/openapi.json is a valid description by the rules of OpenAPI, as another program reads them.
set -eu
modules=$SRC/build/browser
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
[ -d "$modules/node_modules/@apidevtools/swagger-parser" ] || { echo "skipped: swagger-parser is not installed (tools/setup test)"; exit 77; }
timeout 300 node "$SRC/tests/browser/openapi.mjs" "$modules" "$SRC/docs/api/openapi.json"
