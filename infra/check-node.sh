#!/bin/sh
# Ends with 1, and says what to do, where a script of package.json would run on a Node below 24. The package `node` brings Node 24
# along by its install script: `npm ci --ignore-scripts` leaves it out, and an older Node then fails on the first .ts file.
# Run by npm in the folder of package.json; costs no start of Node where the package is whole.
[ -x node_modules/node/bin/node ] && exit 0

version=$(node --version 2>/dev/null)
major=${version#v}
major=${major%%.*}
[ "${major:-0}" -ge 24 ] 2>/dev/null && exit 0

echo "Busdriver runs on Node 24, and this would be Node ${version:-(none)}: node_modules has no Node of its own." >&2
if [ -d node_modules ]; then
  echo "npm installed the packages without their install scripts. Run: npm rebuild node" >&2
else
  echo "Nothing is installed yet. Run: npm ci" >&2
fi
exit 1
