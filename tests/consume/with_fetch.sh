#!/usr/bin/env bash
# with_fetch.sh WORK [build]: configures a project that has Fourtune inside by FetchContent, which checks that nothing
# else of it changes; with `build`, which compiles the library again, also builds and runs it, and installs: nothing.
set -euo pipefail
work=$1 here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../.." && pwd)
rm -rf "$work"
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release "-DFOURTUNE_SOURCES=$sources" "-DEXAMPLES=$sources/examples" -DFOURTUNE_UNITY=ON)
if command -v ccache > /dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S "$here/project_fetch" -B "$work/build" "${options[@]}"
grep -q 'Total Tests: 0' <<< "$(ctest --test-dir "$work/build" -N 2>&1)"
if grep -q 'INSTALL(' "$work"/build/_deps/fourtune-build/cmake_install.cmake; then
  echo "the host would install what Fourtune installs"
  exit 1
fi
[ "${2:-}" = build ] || exit 0
cmake --build "$work/build" --parallel "${JOBS:-$(nproc)}"
for program in fourtune_c fourtune_cpp fourtune_static_c fourtune_static_cpp; do
  echo "$program:"
  FOURTUNE_DB="$work/none.db" "$work/build/$program"
done
