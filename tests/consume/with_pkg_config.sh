#!/usr/bin/env bash
# with_pkg_config.sh PREFIX WORK: compiles the C and C++ examples with the flags of pkg-config, shared and static, from
# a copy of the installed tree (the package must survive being moved).
set -euo pipefail
prefix=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cp -a "$prefix" "$work/moved"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name fourtune.pc)")
export PKG_CONFIG_PATH
pkg-config --exact-version "$(pkg-config --modversion fourtune)" fourtune
libraries=$(dirname "$PKG_CONFIG_PATH")
read -ra cflags <<< "$(pkg-config --cflags fourtune)"
read -ra libs <<< "$(pkg-config --libs fourtune)"
read -ra needs <<< "$(pkg-config --libs --static fourtune)"
examples=$here/../../examples
cc -O1 "${cflags[@]}" "$examples/quickstart.c" -o "$work/shared_c" "${libs[@]}" -lm
g++ -O1 "${cflags[@]}" "$examples/quickstart.cpp" -o "$work/shared_cpp" "${libs[@]}"
rm "$libraries"/libfourtune.so*
gcc -O1 "${cflags[@]}" "$examples/quickstart.c" -o "$work/static_c" "${needs[@]}"
cp -a "$prefix/." "$work/moved/"
for program in shared_c shared_cpp static_c; do
  echo "$program:"
  FOURTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$libraries" "$work/$program"
done
