#!/usr/bin/env bash
# with_mpi.sh PREFIX WORK: builds the examples for many ranks with find_package and with pkg-config, and runs them on
# one.
set -euo pipefail
prefix=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
cmake -S "$here/project_mpi" -B "$work" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  -DEXAMPLES="$here/../../examples"
cmake --build "$work"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fourtune_mpi.pc)")
export PKG_CONFIG_PATH
libraries=$(dirname "$PKG_CONFIG_PATH")
read -ra cflags <<< "$(pkg-config --cflags fourtune_mpi)"
read -ra libs <<< "$(pkg-config --libs fourtune_mpi)"
mpicc "${cflags[@]}" "$here/../../examples/distributed.c" -o "$work/flags_c" "${libs[@]}" -lm
# A program that was started without mpirun is one rank.
for program in ranks_c ranks_cpp flags_c; do
  echo "$program:"
  FOURTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$libraries" "$work/$program" | tee "$work/said"
  grep -q '^right$' "$work/said"
done
