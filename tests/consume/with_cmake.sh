#!/usr/bin/env bash
# with_cmake.sh FOLDER WORK: builds and runs the downstream project with find_package(fourtune), of an installation
# below FOLDER or of a build in it.
set -euo pipefail
folder=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
place=(-DCMAKE_PREFIX_PATH="$folder")
if [ -f "$folder/fourtuneConfig.cmake" ]; then place=(-Dfourtune_DIR="$folder"); fi
configure() { cmake -S "$here/project" -B "$work" -DCMAKE_BUILD_TYPE=Release -DEXAMPLES="$here/../../examples" "${place[@]}" "$@"; }
configure
cmake --build "$work"
for program in shared_c shared_cpp static_c static_cpp; do
  echo "$program:"
  FOURTUNE_DB="$work/none.db" "$work/$program"
done
if grep -q libfourtune <<< "$(ldd "$work/static_c")"; then echo "static_c links the shared library" && exit 1; fi

# Of both folders the rest would be the same.
[ ! -f "$folder/fourtuneConfig.cmake" ] || exit 0
# What the static library needs and is not there is named. Without the static library nothing is needed.
rm -rf "$work"
said=$(PKG_CONFIG_LIBDIR=/nowhere configure 2>&1) && { echo "configured without libhwy"; exit 1; }
grep -q 'static library needs libhwy' <<< "$said" || { echo "$said"; exit 1; }
rm -rf "$work"
PKG_CONFIG_LIBDIR=/nowhere configure -DCOMPONENTS=shared
# Another minor version has another binary interface.
rm -rf "$work"
if configure -DVERSION=0.5 > /dev/null 2>&1; then echo "takes this version for 0.5" && exit 1; fi
