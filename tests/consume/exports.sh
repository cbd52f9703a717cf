#!/usr/bin/env bash
# exports.sh LIBRARY HEADER: the shared library shows Fourtune's public symbols, all of them and nothing else.
set -euo pipefail
library=$1 header=$2
names=$(nm -D --defined-only --format=posix "$library" | cut -d' ' -f1)
strangers=$(grep -Ev '^(fourtune_[a-z0-9_]+|_ZNK?8fourtune.*|_ZT[ISV]N8fourtune.*)$' <<< "$names" || true)
inner=$(c++filt <<< "$names" | grep -E 'fourtune::(db|runtime|generator|tuner|text|tools)::' || true)
if [ -n "$strangers$inner" ]; then
  echo "not ours, or not public:"
  echo "$strangers$inner"
  exit 1
fi
declared=$(grep -oE '\bfourtune_[a-z0-9_]+\(' "$header" | tr -d '(' | sort -u)
missing=$(comm -23 <(echo "$declared") <(sort -u <<< "$names"))
if [ -n "$missing" ]; then
  echo "declared in $header and not exported:"
  echo "$missing"
  exit 1
fi
echo "$(wc -l <<< "$names") symbols, $(wc -l <<< "$declared") of the C interface"
