#!/bin/sh
# Builds npm start, unless it is up to date, and runs it. memory-settings.ts says why with these settings.
set -e
sh infra/check-node.sh
node infra/tools/build/build.ts
exec env MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072 \
  node --max-semi-space-size=8 --heap-growing-percent=50 dist/local/main.js "$@"
