#!/usr/bin/env bash
# with_debian.sh FOLDER WORK: unpacks the Debian packages of FOLDER into an empty root and uses them from there: names,
# dependencies and versions; programs compiled by find_package and pkg-config; the command line; a drop-in library.
set -euo pipefail
debs=$(cd "$1" && pwd) work=$(realpath -m "$2") here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/root"
fail() { echo "error: $1"; exit 1; }
version=$(dpkg-deb -f "$debs"/libfourtune-dev_*.deb Version) minor=${version%.*}
for package in "libfourtune$minor" libfourtune-dev fourtune fourtune-packs; do
  ls "$debs/${package}_$version"_*.deb > /dev/null || fail "no package $package of $version"
done
for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
grep -q ' - command line$' <<< "$(dpkg-deb -f "$debs"/fourtune_*.deb Description | head -n 1)" || fail "fourtune's first line"
files=$(for deb in "$debs"/*.deb; do dpkg-deb -c "$deb" | awk '$1 !~ /^d/ {print $6}'; done | sort | uniq -d)
[ -z "$files" ] || fail "in two packages: $files"

# Dependencies are those of the libraries that the linker wrote down: every package that has one is named.
depends=$(dpkg-deb -f "$debs/libfourtune${minor}_$version"_*.deb Depends)
library=$(find "$work/root" -name "libfourtune.so.$minor")
libraries=$(dirname "$library")
for needed in $(objdump -p "$library" | awk '/NEEDED/ {print $2}'); do
  path=$(realpath "$(gcc -print-file-name="$needed")")  # that of the architecture
  package=$(dpkg -S "$path" 2> /dev/null || dpkg -S "${path#/usr}")  # where /lib is a link to /usr/lib
  package=${package%%:*}
  tr ',|' '\n' <<< "$depends" | awk '{print $1}' | grep -Fxq "$package" || fail "$needed is of $package, which is not in '$depends'"
done
for package in libfourtune-dev fourtune-dropin; do
  grep -q "libfourtune$minor (= $version)" <<< "$(dpkg-deb -f "$debs/${package}_$version"_*.deb Depends)" ||
    fail "$package does not ask for its own libfourtune$minor"
done

# An application as Debian's users build one.
export FOURTUNE_DB=$work/none.db LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH=$libraries/pkgconfig
cmake -S "$here/project" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DEXAMPLES="$here/../../examples" \
  -DCMAKE_PREFIX_PATH="$work/root/usr"
cmake --build "$work/build"
read -ra flags <<< "$(pkg-config --cflags --libs fourtune)"
gcc "$here/../../examples/quickstart.c" -o "$work/build/pkg_config_c" "${flags[@]}" -lm
for program in shared_c shared_cpp static_c static_cpp pkg_config_c; do
  echo "$program:"
  "$work/build/$program"
done

# The tools and what they find beside them.
(cd / && PATH=$work/root/usr/bin:$PATH fourtune doctor) > "$work/doctor"
grep -q "problem lists *$work/root/usr/share/fourtune/cases" "$work/doctor" || { cat "$work/doctor"; fail "no problem lists"; }
grep -q "pack .*$work/root/usr/share/fourtune/packs/xeon.pack" "$work/doctor" || { cat "$work/doctor"; fail "no packs"; }
for page in fourtune.1 fourtune-tune.1; do
  man -l --warnings "$work/root/usr/share/man/man1/$page.gz" > /dev/null || fail "$page"
done
# A library with another's name finds libfourtune as one of the system's.
linked=$(ldd "$(find "$work/root" -path '*dropin/libfinufft.so')")
grep -q "libfourtune.so.$minor => $libraries" <<< "$linked" || fail "the drop-in does not find libfourtune: $linked"
echo "$(ls "$debs"/*.deb | wc -l) packages of $version work"
