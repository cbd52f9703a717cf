#!/usr/bin/env bash
# with_cmake.sh PREFIX WORK: builds and runs the downstream project with find_package(fourtune).
set -euo pipefail
prefix=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
cmake -S "$here/project" -B "$work" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  -DEXAMPLES="$here/../../examples"
cmake --build "$work"
for program in shared_c shared_cpp static_c static_cpp; do
  echo "$program:"
  FOURTUNE_DB="$work/none.db" "$work/$program"
done
if ldd "$work/static_c" | grep -q libfourtune; then echo "static_c links the shared library" && exit 1; fi
