#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building (`build`), also testing (`check`), making packages (`package`), or measuring beside other libraries (`bench`) needs from
# Debian's packages, if anything is missing. Asks dpkg first: with nothing missing it is silent and touches no network.
set -eu

build="cmake gcc libc6-dev ninja-build pkg-config libjansson-dev libhdf5-dev zlib1g-dev libzstd-dev liblz4-dev liblzma-dev libxxhash-dev
       libpng-dev libjpeg-dev libtiff-dev libdeflate-dev libhwloc-dev libmicrohttpd-dev python3-dev"
# nvcc is not among them: Debian's is too old. Where NVIDIA's, 12 or newer, is on PATH, the build takes it (cmake/SluiceCuda.cmake).
# g++: what nvcc compiles the host's part with; C++ headers' test and libFuzzer's runtime; llvm: readable sanitizer reports; binutils: symbol tests;
# xz-utils: the packed reference events; hdf5-tools: reading results back with a tool that is not ours.
# lld: links the tests in a third of the time.
# python3-numpy, python3-scipy, python3-h5py, python3-xxhash, python3-yaml: arrays, labels, files, hashes and texts that are not ours.
# python3-dev, python3-pytest, mypy, python3-typeshed: the package for Python, its tests, and its types; python3-matplotlib: its pictures.
# python3-pip, python3-venv, patchelf: the wheel and an environment to try it in; dpkg-dev, file: Debian packages, which lintian judges.
# python3-sphinx, python3-myst-parser, furo (its looks), doxygen: the documentation's site.
# musl-tools: the library's sources through another C library's headers.
# openmpi-bin, libopenmpi-dev, mpich, libmpich-dev: sluice-mpi under both MPIs; slurmd, slurmctld, slurm-client, slurm-wlm-basic-plugins: and under
# Slurm. Not libhdf5-openmpi-dev: the system's HDF5 (hdf5.pc, libhdf5.so) would then be the one that needs MPI.
# chromium, nodejs: the live page, looked at and its functions; python3-prometheus-client: a reader of its metrics; iproute2: ss, for who listens.
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user: the check programs on AArch64 and on older x86 processors.
check="$build g++ clang clang-format clang-tidy libclang-rt-14-dev lld llvm libcmocka-dev python3 python3-numpy python3-scipy python3-h5py python3-xxhash python3-yaml
       python3-dev python3-pytest mypy python3-typeshed python3-matplotlib python3-pip python3-venv patchelf dpkg-dev file
       python3-sphinx python3-myst-parser furo doxygen
       chromium nodejs python3-prometheus-client iproute2
       binutils xz-utils
       openmpi-bin libopenmpi-dev mpich libmpich-dev slurmd slurmctld slurm-client slurm-wlm-basic-plugins
       hdf5-tools musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
package="$build g++ python3 python3-dev patchelf binutils dpkg-dev file lintian"
# libopencv-imgproc-dev: the library that bench/image_vs_opencv measures against.
bench="$build g++ libopencv-imgproc-dev"

case "${1:-}" in
build) wanted=$build ;;
check) wanted=$check ;;
package) wanted=$package ;;
bench) wanted=$bench ;;
*) echo "usage: $0 build|check|package|bench" >&2 && exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "This is not a Debian system, so nothing was installed. Needed, under Debian's names: $wanted" >&2
    exit 0
fi

# A virtual name (pkg-config is one on newer systems) counts through the package that provides it.
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}, ${Provides}\n' 2>/dev/null |
    awk '/^ii/ { gsub(/[,]|\([^)]*\)/, " "); for (i = 2; i <= NF; i++) print $i }')
missing=
for package in $wanted; do
    printf '%s\n' "$installed" | grep -Fxq "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "Missing packages, and neither root nor sudo to install them. As root: apt-get install$missing" >&2
    exit 1
fi

echo "Installing from Debian's packages:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for step in update "install -y --no-install-recommends $missing"; do
    # shellcheck disable=SC2086 # the steps and the names are words
    if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q $step >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "apt-get ${step%% *} failed; needed:$missing" >&2
        exit 1
    fi
done
