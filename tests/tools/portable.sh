#!/bin/sh
# $1: the program for machines without our packages. It may need the C library alone, and it must work.
set -e
needed=$(ldd "$1" | awk '{ print $1 }' | sed 's|.*/||' | grep -vE '^(linux-vdso|libc|libm|libdl|libpthread|librt|ld-linux.*)\.so' || true)
if [ -n "$needed" ]; then
  echo "needs more than the C library: $needed"
  exit 1
fi
"$1" version
"$1" run nufft:type=1,n=24x20,m=500,prec=f32,tol=1e-3 --repeat 1
"$1" bench --help | grep -q -- --backend
