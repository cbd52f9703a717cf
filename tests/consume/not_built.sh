#!/usr/bin/env bash
# not_built.sh WORK: `cmake --install` where not everything is built, as after tools/quickstart, says what to do and
# installs nothing.
set -euo pipefail
work=$1 root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$work"
cmake -S "$root" -B "$work/build" -DFOURTUNE_TOOLS=OFF -DFOURTUNE_TESTS=OFF -DFOURTUNE_MPI=OFF > "$work.log" 2>&1 ||
  { cat "$work.log"; exit 1; }
said=$(cmake --install "$work/build" --prefix "$work/prefix" 2>&1) && { echo "installed: $said"; exit 1; }
grep -q "fourtune is not built yet" <<< "$said" || { echo "$said"; exit 1; }
grep -q "cmake --build $work/build" <<< "$(tr -s '\n ' ' ' <<< "$said")" || { echo "$said"; exit 1; }
if [ -n "$(find "$work/prefix" -type f 2> /dev/null)" ]; then echo "something was installed"; exit 1; fi
