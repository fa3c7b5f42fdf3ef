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
        -DBUILD_SHARED_LIBS=OFF -DSLUICE_TESTS=OFF -DSLUICE_FUZZ=OFF -DSLUICE_BENCH=OFF -DSLUICE_PYTHON=OFF \
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
# What runs on GPUs: a part of the archive, or found from the command and from the library wherever they lie. Without it all
# else works, and the reason is told.
cuda=$("$prefix/bin/sluice" version | sed -n 's/^cuda  *//p')
engines=$(find "$libdir" -name 'libsluice-cuda.so.*' -type l)
case $kind:$cuda in
*:built\ without\ CUDA | static:[0-9]*) [ -z "$engines" ] ;;
shared:[0-9]*) [ -n "$engines" ] && [ ! -e "$libdir/libsluice-cuda.so" ] ;;
*) false ;;
esac || { echo "cuda: $cuda, with '$engines' in $libdir"; exit 1; }
if [ -n "$engines" ]; then
    nm -D --undefined-only "$libdir/libsluice.so" "$prefix/bin/sluice" | grep -i ' cuda' && { echo "CUDA's runtime is asked for outside of $engines"; exit 1; }
    mkdir "$scratch/away"
    mv "$libdir"/libsluice-cuda.so.* "$scratch/away"
    told=$("$prefix/bin/sluice" version | sed -n 's/^cuda  *//p')
    case $told in
    "${engines##*/} cannot be loaded: "?*) ;;
    *) echo "without $engines: $told"; exit 1 ;;
    esac
    mv "$scratch/away"/* "$libdir"
fi
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
"$scratch/find_package/consume_sluice" >"$scratch/by_cmake.out"

export PKG_CONFIG_PATH="$libdir/pkgconfig"
# The shared library needs no .pc file but its own.
[ "$kind" = static ] || export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
# shellcheck disable=SC2046 # flags are words
quietly "$cc" -std=c17 -Wall -Wextra -Werror "$source/tests/consume/consume_sluice.c" -o "$scratch/by_pkg_config" \
    $(pkg-config --cflags --libs sluice)
LD_LIBRARY_PATH=$libdir "$scratch/by_pkg_config" >"$scratch/by_pkg_config.out"
for out in "$scratch/by_cmake.out" "$scratch/by_pkg_config.out"; do
    grep -Fqx "cuda: $cuda" "$out" || { echo "a user's program does not find $cuda"; exit 1; }
done
[ "$(pkg-config --modversion sluice)" = "$(cat "$source/VERSION")" ] || { echo "pkg-config has another version"; exit 1; }
echo "$kind library: found by find_package and by pkg-config"
