#!/usr/bin/env bash
# empty_root.sh PREFIX WORK: the session of docs/ship.md up to its end. Tunes, makes a signed pack, embeds it in a C
# program, and runs that in a root that has the program, the libraries it links and nothing else: read-only, with no
# home, no /tmp, no compiler, no tuning database. Ends with 77 where no such root can be made.
set -euo pipefail
prefix=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/maker" "$work/root"
fourtune=$(find "$prefix" -path '*/bin/fourtune')
libraries=$(dirname "$(find "$prefix" -name libfourtune.so)")
export LD_LIBRARY_PATH=$libraries

cd "$work/maker"
"$fourtune" tune nufft:type=1,n=96x96,m=20000,prec=f32,tol=1e-4 --seconds 3 --threads 1 --cpu-time --db my-plans.db --quiet
"$fourtune" pack keygen maker --into keys
"$fourtune" pack build my-plans.pack --from my-plans.db --name my-plans --pack-version 1.0 --sign keys/maker.secret
"$fourtune" pack verify my-plans.pack --key keys/maker.public
"$fourtune" pack embed my-plans.pack my_plans.o --as o --symbol my_plans
cc -O1 -I"$prefix/include" "$here/../../examples/shipped.c" my_plans.o -o "$work/root/application" \
  -L"$libraries" -lfourtune

ldd "$work/root/application" | grep -o '/[^ ]*' | sort -u | while read -r library; do
  mkdir -p "$work/root/$(dirname "$library")"
  cp -L "$library" "$work/root/$library"
done
PATH=$PATH:/usr/sbin:/sbin
enter='mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec env -i LD_LIBRARY_PATH="$1" "$2" "$0" /application'
command=(bash -c "$enter" "$work/root" "$libraries" "$(command -v chroot)")
if unshare --mount true 2> /dev/null; then
  unshare --mount "${command[@]}"
elif unshare --user --map-root-user --mount true 2> /dev/null; then
  unshare --user --map-root-user --mount "${command[@]}"
else
  echo "NOT TESTED: neither root nor user name spaces, so no empty root"
  exit 77
fi
