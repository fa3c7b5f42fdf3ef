#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does the library know nothing of the C library but what POSIX has? All of src/ through musl's headers (Debian: musl-tools),
# with the include paths and definitions of the build at hand; other libraries' headers are found after musl's. Nothing is
# linked, as those libraries are glibc's here.
#
#     musl.sh BUILD-FOLDER
set -eu
command -v musl-gcc >/dev/null || { echo "skipped: there is no musl-gcc (Debian: musl-tools)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# /usr/include itself would bring glibc's headers: the ones of the libraries that are needed, alone.
mkdir "$scratch/include"
for header in jansson.h jansson_config.h zlib.h zconf.h libdeflate.h zstd.h lz4.h lz4frame.h lzma.h lzma xxhash.h jpeglib.h jerror.h jmorecfg.h jconfig.h tiff.h tiffconf.h tiffio.h tiffvers.h hwloc.h hwloc microhttpd.h; do
    for folder in /usr/include /usr/include/*-linux-gnu; do
        [ ! -d "$folder/$header" ] || { mkdir -p "$scratch/include/$header" && cp -rn "$folder/$header/." "$scratch/include/$header"; }
        [ ! -f "$folder/$header" ] || cp "$folder/$header" "$scratch/include/"
    done
done
python3 - "$1/compile_commands.json" "$scratch/include" >"$scratch/commands" <<'P'
import json, shlex, sys
for row in json.load(open(sys.argv[1])):
    if "/src/" in row["file"] and "/python/" not in row["file"] and row["file"].endswith(".c") and ".simd." not in row["file"]:
        words = shlex.split(row["command"])
        kept, after = [], ["-idirafter", sys.argv[2]]
        for i, word in enumerate(words):
            if word.startswith(("-I", "-D", "-std")):
                kept.append(word)
            elif word == "-isystem" and words[i + 1].rstrip("/") != "/usr/include":
                after += ["-idirafter", words[i + 1]]
        print(shlex.join(["musl-gcc", "-fsyntax-only", "-Werror=implicit-function-declaration", *kept, *after, row["file"]]))
P
[ "$(wc -l <"$scratch/commands")" -gt 100 ] || { echo "hardly any source found"; exit 1; }
echo '#include <malloc.h>
int main(void) { return (int)mallinfo2().uordblks; }' >"$scratch/glibc.c" # the proof that something can be found
! musl-gcc -fsyntax-only -Werror=implicit-function-declaration "$scratch/glibc.c" 2>/dev/null || { echo "musl-gcc takes glibc's functions"; exit 1; }
xargs -d '\n' -P 2 -I {} sh -c {} <"$scratch/commands" 2>"$scratch/errors" || { grep -m 20 -E 'error' "$scratch/errors"; exit 1; }
echo "$(wc -l <"$scratch/commands") sources"
