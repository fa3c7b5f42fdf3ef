#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every program check_* on processors that this machine is not:
#
#     tools/check-simd-emulated.sh [X86-BUILD] [AARCH64-BUILD]      (build/dev and build/aarch64)
#
# AArch64, cross-compiled here: one without SVE, then SVE vectors of 128, 256 and 512 bits. x86-64, taken from a build that
# exists: a processor without AVX, on which an instruction that leaked into the wrong object is illegal. (None with AVX2 but
# without AVX-512, as qemu 7.2 reads the whole vector for a masked load of AVX2 and so hits the guard pages.) Before anything
# is believed, small programs show that the emulators do have these vectors, and do refuse these instructions. Exits with 77
# and says why where the tools are missing. Where SLUICE_TEST_SMALL is set, as by `make check`, SVE has vectors of 256 bits alone.
set -eu
cd "$(dirname "$0")/.."
x86=${1:-build/dev}
arm=${2:-build/aarch64}
unset SLUICE_SIMD SLUICE_SEED

for tool in aarch64-linux-gnu-gcc qemu-aarch64 qemu-x86_64 cmake ninja cc; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: $tool is not installed; tools/install-deps.sh check installs it"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# ---- are the emulators what they are taken for ---------------------------------------------------

sve_lanes() { # CPU: lanes of 32 bits
    qemu-aarch64 -cpu "$1" "$work/lanes"
}

refuses() { # CPU INSTRUCTION: does the program with it die of an illegal instruction
    printf 'int main(void) { __asm__ volatile("%s"); return 0; }\n' "$2" >"$work/probe.c"
    cc -o "$work/probe" "$work/probe.c"
    status=0
    # In a shell of its own, which reports the signal to nowhere.
    sh -c 'qemu-x86_64 -cpu "$1" "$2"; exit $?' - "$1" "$work/probe" >/dev/null 2>&1 || status=$?
    [ "$status" -eq 132 ]
}

probe_emulators() {
    printf '#include <arm_sve.h>\n#include <stdio.h>\nint main(void) { printf("%%d\\n", (int)svcntw()); return 0; }\n' \
        >"$work/lanes.c"
    aarch64-linux-gnu-gcc -static -O1 -march=armv8.2-a+sve -o "$work/lanes" "$work/lanes.c"
    for row in 1:4 2:8 4:16; do
        lanes=$(sve_lanes "max,sve-max-vq=${row%:*}")
        [ "$lanes" = "${row#*:}" ] || fail "qemu-aarch64 has $lanes lanes at sve-max-vq=${row%:*}, not ${row#*:}"
    done
    if sve_lanes cortex-a57 >/dev/null 2>&1; then
        fail "qemu-aarch64 runs SVE on a Cortex-A57"
    fi
    # BMI2, too, which is part of avx2 without being vectors.
    for instruction in "vpaddd %ymm0, %ymm0, %ymm0" "vpaddd %zmm0, %zmm0, %zmm0" "vaddps %xmm0, %xmm0, %xmm0" \
        "pextq %rax, %rax, %rax"; do
        refuses Nehalem "$instruction" || fail "qemu-x86_64 runs $instruction on Nehalem"
    done
    ! refuses Nehalem "popcntq %rax, %rax" || fail "qemu-x86_64 refuses popcnt on Nehalem"
}

# ---- the runs ------------------------------------------------------------------------------------

# run_all TITLE PROGRAMS-IN MUST-PASS MUST-SKIP COMMAND...: every program there, each of which must say that the first
# targets are right and that the others cannot run.
run_all() {
    title=$1 folder=$2 pass=$3 skip=$4
    shift 4
    found=0
    for program in $(find "$folder" -maxdepth 1 -type f -name 'check_*' -perm -u+x | sort); do
        found=$((found + 1))
        name=$(basename "$program")
        # Emulated, what is new is the instructions and the length of a vector; formulas are measured on every point natively.
        points=
        [ "$name" != check_math ] || points=--points=16
        begun=$(date +%s)
        status=0
        before=$failed
        failed=0
        timeout 900 "$@" "$program" $points >"$work/out" 2>"$work/err" || status=$?
        [ "$status" -eq 0 ] || fail "$title: $name: exit status $status"
        for target in $pass; do
            grep -q "^$target: .*ok\$" "$work/out" || fail "$title: $name: nothing says that $target is right"
        done
        for target in $skip; do
            grep -q "^$target: SKIPPED, cannot run here\$" "$work/out" ||
                fail "$title: $name: $target was not skipped, or not visibly"
        done
        grep -E '^[a-z0-9]+: .*(ok|cannot run here)$' "$work/out" | sed "s/^/$title: $name: /" || true
        if [ "$failed" -ne 0 ]; then
            cat "$work/out" "$work/err"
        fi
        failed=$((failed | before))
        echo "$title: $name: $(($(date +%s) - begun)) s"
    done
    [ "$found" -gt 0 ] || fail "$title: no program check_* in $folder"
}

build_aarch64() {
    if ! cmake --preset aarch64 -B "$arm" >"$work/log" 2>&1 || ! cmake --build "$arm" >"$work/log" 2>&1; then
        cat "$work/log"
        fail "the build for AArch64"
        exit 1
    fi
}

targets_of() { # BUILD PATTERN: its targets whose names match the pattern, in one line
    sed -n 's/ X(/\n/gp' "$1/generated/simd_targets.h" | sed -n 's/^\([a-z0-9]*\), .*/\1/p' | grep -Ex "$2" | tr '\n' ' '
}

probe_emulators
build_aarch64
run_all "without SVE" "$arm/tests" "$(targets_of "$arm" 'c|neon')" "$(targets_of "$arm" sve)" qemu-aarch64 -cpu cortex-a57
quads_of_sve="1 2 4"
[ -z "${SLUICE_TEST_SMALL:-}" ] || quads_of_sve=2
for quads in $quads_of_sve; do
    run_all "SVE of $((quads * 128)) bits" "$arm/tests" sve "" \
        env SLUICE_SIMD=sve qemu-aarch64 -cpu "max,sve-max-vq=$quads"
done
run_all "Nehalem" "$x86/tests" "$(targets_of "$x86" 'c|sse4')" "$(targets_of "$x86" 'avx.*')" qemu-x86_64 -cpu Nehalem
[ "$failed" -eq 0 ] && echo "emulated: all right"
exit "$failed"
