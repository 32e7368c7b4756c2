#!/bin/sh
# The real ClickHouse for tests: the server is inside npm's `chdb` (548 MB, Linux x64), so it goes into a folder outside the repository.
# Tests that need it say loudly when it is not there. ORANGEBOX_TEST_CLICKHOUSE_URL names a server to use instead.
set -eu
folder="${ORANGEBOX_TEST_CLICKHOUSE:-${XDG_CACHE_HOME:-$HOME/.cache}/orangebox-tests/clickhouse}"
mkdir -p "$folder"
[ -f "$folder/package.json" ] || echo '{ "private": true }' > "$folder/package.json"
if [ ! -d "$folder/node_modules/chdb" ]; then
  (cd "$folder" && npm install --no-audit --no-fund --silent --ignore-scripts chdb@3.4.0 ffi-rs@1.3.7)
fi
echo "$folder is ready"
