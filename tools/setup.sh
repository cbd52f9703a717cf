# Shared by tools/quickstart and tools/check (sourced, not run): Debian packages, configuring, building.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${JOBS:-$(nproc)}
build_packages=(g++ cmake ninja-build pkg-config libfftw3-dev libhwy-dev libfmt-dev libsqlite3-dev libcli11-dev
  nlohmann-json3-dev libpng-dev libgtest-dev libzstd-dev libsodium-dev libboost-context-dev)
# Additional packages of tools/check; some of its stages install more themselves.
check_packages=(git gnuplot-nox python3 libopenmpi-dev openmpi-bin lld)
packages_packages=(lintian man-db libopenmpi-dev openmpi-bin python3 python3-venv ca-certificates)  # tools/packages
fuzz_packages=(clang libclang-rt-dev)
together=(-DFOURTUNE_UNITY=ON -DFOURTUNE_TEST_GROUPS=ON)

say() { printf '\n== %s\n' "$*"; }

# need PACKAGE...: installs those that are missing. Without apt the build itself reports what is missing.
need() {
  local missing=() package
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "not a Debian system: $* are taken to be there"
    return 0
  fi
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing ${missing[*]}"
  local become=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "error: these packages are missing and there is no sudo; as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    become=(sudo)
  fi
  if ! "${become[@]}" apt-get update -q ||
     ! "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; then
    echo "error: apt-get could not install ${missing[*]}" >&2
    return 1
  fi
}

# configure PRESET [OPTION...]: uses ccache if it is available, and lld for programs, which links the many test programs
# in a fifth of the time; libraries are linked as packages link them. A new folder of the release build compiles several
# files together, tests too; one that is there stays as it was configured.
configure() {
  local options=()
  command -v ccache > /dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  command -v ld.lld > /dev/null && options+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
  [ "$1" != release ] || [ -f "$root/build/CMakeCache.txt" ] || options+=("${together[@]}")
  (cd "$root" && cmake --preset "$1" "${options[@]}" "${@:2}")
}
