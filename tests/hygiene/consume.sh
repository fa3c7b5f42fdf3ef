#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a user of the installed package does. Installs into a temporary prefix, then builds and runs a small program
# against it twice: with find_package and with pkg-config. `shared` installs the build at hand; `static` makes an
# archive, whose dependencies the package must then name, of the objects of that build (built_before.sh).
#
#     consume.sh shared|static SOURCE-FOLDER BUILD-FOLDER CMAKE C-COMPILER
set -eu
kind=$1 source=$2 build=$3 cmake=$4 cc=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

quietly() {
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}

if [ "$kind" = static ]; then
    export SLUICE_BUILT="$build" SLUICE_TAKEN="$scratch/taken"
    : >"$SLUICE_TAKEN"
    build=$scratch/static
    launcher=$source/tests/hygiene/built_before.sh
    quietly "$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CUDA_COMPILER_LAUNCHER="$launcher" \
        -DBUILD_SHARED_LIBS=OFF -DSLUICE_TESTS=OFF -DSLUICE_FUZZ=OFF -DSLUICE_BENCH=OFF \
        -DSLUICE_CUDA_ARCHITECTURES=90-virtual # of what nvcc would have to compile anew
    quietly "$cmake" --build "$build"
    echo "$(wc -l <"$SLUICE_TAKEN") of $(find "$build" -name '*.o' | wc -l) objects are those of the build at hand"
fi
quietly "$cmake" --install "$build" --prefix "$prefix"

# The prefix is moved: nothing in it may remember where it was installed.
mv "$prefix" "$scratch/moved"
prefix=$scratch/moved
libdir=$(dirname "$(find "$prefix" -name 'libsluice.*' | head -n 1)")
case $kind in
shared) [ -e "$libdir/libsluice.so" ] ;;
static) [ -e "$libdir/libsluice.a" ] && [ ! -e "$libdir/libsluice.so" ] ;;
esac || { echo "not a $kind library in $libdir"; exit 1; }

# The command runs from there, and its manual names every command that its help names.
"$prefix/bin/sluice" version >"$scratch/version"
grep -q "$(cat "$source/VERSION")" "$scratch/version"
man=$prefix/share/man/man1/sluice.1
[ -s "$man" ] || { echo "no manual page installed"; exit 1; }
for word in velo simulate info version; do
    grep -q "$word" "$man" || { echo "the manual does not tell of $word"; exit 1; }
done

"$prefix/bin/sluice" help --commands | sed 's/ /-/' | while read -r name; do
    [ -s "$prefix/share/man/man1/sluice-$name.1" ] || { echo "no manual page of $name installed"; exit 1; }
done
grep -q '^complete ' "$prefix/share/bash-completion/completions/sluice" || { echo "no completion installed"; exit 1; }

quietly "$cmake" -S "$source/tests/consume" -B "$scratch/find_package" -G Ninja -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix"
quietly "$cmake" --build "$scratch/find_package"
"$scratch/find_package/consume_sluice"

export PKG_CONFIG_PATH="$libdir/pkgconfig"
# The shared library needs no .pc file but its own.
[ "$kind" = static ] || export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
# shellcheck disable=SC2046 # flags are words
quietly "$cc" -std=c17 -Wall -Wextra -Werror "$source/tests/consume/consume_sluice.c" -o "$scratch/by_pkg_config" \
    $(pkg-config --cflags --libs sluice)
LD_LIBRARY_PATH=$libdir "$scratch/by_pkg_config"
[ "$(pkg-config --modversion sluice)" = "$(cat "$source/VERSION")" ] || { echo "pkg-config has another version"; exit 1; }
echo "$kind library: found by find_package and by pkg-config"
