#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Event building: whatever the number of ranks, what comes of a run is what `sluice velo` makes of it; and each kind of damage in what units have
# is counted by its name, costs the events that it hits, and no others.
. "$(dirname "$0")/mpi_common.sh"

make_events run.mdf 24 5
run velo run.mdf --json
want 0
members='{k: o[k] for k in ("events","lost_events","incomplete_events","super_pixels","isolated","pixels","clusters","tracks","vertices","checksum","faults")}'
wanted=$(key out "$members")
packing=4

# A file of packets for each of three units, from a file of all: those of source s for unit s modulo 3. With what is damaged: KIND and the pack and
# the number of the packet in it (of unit 1) where.
cat >units.py <<'END'
import struct, sys
whole = open("run.mep", "rb").read()
kind, pack, which = (sys.argv + ["none", 0, 0])[1:4] if len(sys.argv) < 4 else sys.argv[1:4]
pack, which = int(pack), int(which)
units = [[] for _ in range(3)]  # of each a list of packs, lists of packets
at = 0
while at < len(whole):
    magic, n, words = struct.unpack_from("<HHI", whole, at)
    assert magic == 0xCEFA
    offsets = struct.unpack_from("<%dI" % n, whole, at + 8 + (2 * n + 3) // 4 * 4)
    for unit in units:
        unit.append([])
    for offset in offsets:
        begin = at + 4 * offset
        size, = struct.unpack_from("<I", whole, begin + 4)
        source, = struct.unpack_from("<H", whole, begin + 16)
        units[source % 3][-1].append(bytearray(whole[begin:begin + (size + 7) // 8 * 8]))
    at += 4 * words
packets = units[1][pack]
if kind == "lost":
    packets.clear()
elif kind == "cut":
    del packets[which]
elif kind == "doubled":
    packets.insert(which, packets[which])
elif kind == "truncated":  # its last fragment that has bytes
    size, = struct.unpack_from("<I", packets[which], 4)
    del packets[which][size - 4:]
elif kind == "source":
    struct.pack_into("<H", packets[which], 16, 999)
elif kind == "event":
    packets[which][8] ^= 77
elif kind == "header":
    packets[which][0] ^= 1
for number, unit in enumerate(units):
    with open("unit%d.mfp" % number, "wb") as out:
        for packets in unit:
            for packet in packets:
                out.write(packet)
END
run convert run.mdf --packing $packing --layout mfp -q -o run.mep
want 0

# ranks N ARGS...: as sluice velo has it.
as_velo() { # LAUNCHER N ARGS...
    "$1" "$2" build "${@:3}" --json
    want 0
    want_silent
    equal "members" "$(key out "$members")" "$wanted"
}
python3 units.py
for n in 1 2 3 4; do
    as_velo mpi $n --split run.mdf --packing 5
    as_velo mpi $n unit0.mfp unit1.mfp unit2.mfp
done
equal "sources shared out by bytes" "$(key out 'len(o["units"]) == 3 and sum(u["sources"] for u in o["units"]) > 200')" True
! has_mpich || { as_velo mpich 3 --split run.mdf --packing 7 && as_velo mpich 2 unit0.mfp unit1.mfp unit2.mfp; }
# In pieces, as packs larger than MPI can count are; with more packs on their way than there are; a file of packets of all sources.
as_velo mpi 2 --split run.mdf --packing 3 --piece 1000 --in-flight 4
as_velo mpi 2 run.mep --in-flight 3
as_velo mpi 2 --split run.mep --packing 24
# Units share the bytes: the simulation's truth is two sources and most of them, and the other units are alike.
mpi 4 build --split run.mdf --json
equal "balance" "$(key out 'sorted(u["bytes"] for u in o["units"])[0] > 0.95 * sorted(u["bytes"] for u in o["units"])[1]')" True

# Files: each builder has its packs, and all together the run.
mpi 2 build --split run.mdf --packing $packing -o part-%p.mdf -q
want 0
run convert part-0.mdf part-1.mdf -q -o both.mdf
run velo both.mdf --json
equal "clusters of both parts" "$(key out 'o["clusters"], o["events"]')" "$("$sluice" velo run.mdf --json | python3 -c 'import json,sys; o=json.load(sys.stdin); print((o["clusters"], o["events"]))')"
mpi 1 build unit0.mfp unit1.mfp unit2.mfp -o all.mep -q
want 0
run velo all.mep --json
equal "checksum of built packets" "$(key out 'o["checksum"]')" "$(python3 -c "print($wanted['checksum'])")"

# Damage: KIND, fault, events that lack a source, pack, packet, numbers of ranks.
damage() {
    local n
    python3 units.py "$1" "$4" "$5"
    for n in "${@:6}"; do
        mpi $n build unit0.mfp unit1.mfp unit2.mfp --json
        want 1
        equal "$1: faults of unit 1" "$(key out 'o["units"][1]["faults"], o["units"][0]["faults"], o["units"][2]["faults"]')" "({'$2': 1}, {}, {})"
        equal "$1: events" "$(key out 'o["events"], o["incomplete_events"], o["lost_events"]')" "(24, $3, 0)"
        equal "$1: told" "$(grep -c "^sluice-mpi build: unit1.mfp: 1 × $2 .*, first at events from $((4 * packing))" err)" 1
        # What is there is reconstructed: all but the clusters of what is missing.
        equal "$1: reconstructed" "$(key out "o['clusters'] > 0.9 * $wanted['clusters'] and o['clusters'] < $wanted['clusters'] if $3 else o['checksum'] == $wanted['checksum']")" True
        sum[n]=$(key out 'o["checksum"]')
    done
    [ $# -lt 7 ] || equal "$1: checksum" "${sum[$6]}" "${sum[$7]}"
}
sum=()
damage lost pack_lost $packing 4 0 1 3
damage cut pack_lost $packing 4 7 2
damage doubled pack_doubled 0 4 7 2
damage truncated pack_truncated 1 4 7 1 3
damage source pack_source $packing 4 7 2
damage event pack_event $packing 4 7 2
damage header pack_header $packing 4 7 2

# A unit that is slow: others wait so long and no longer, and it is back after that.
python3 units.py
mpi 3 build --split run.mdf --packing 1 --timeout 0.2 --stall 1,6,3 --json
want 1
equal "late packs" "$(key out 'set(o["faults"]) == {"pack_late"} and 0 < o["faults"]["pack_late"] == o["incomplete_events"] < 24 and o["events"] == 24')" True
equal "who is late" "$(key out '[bool(u["faults"]) for u in o["units"]]')" "[False, True, False]"
mpi 3 build --split run.mdf --packing 1 --stall 1,6,0.3 --json
want 0

# What cannot be: told once, by process 0, and nothing is left.
mpi 2 build --split run.mdf -o run.mdf
want 2
mpi 2 build --split run.mdf -o x.mdf
want 2
mpi 2 build --split no-such.mdf -o x-%p.mdf
[ "$status" -ne 0 ] || fail "no input, and status 0"
mpi 2 build run.mdf -o x-%p.mdf
want 1
equal "lines" "$(wc -l <err)" 1
mpi 3 build --split run.mdf --packing 2 -o no/such/folder-%p.mdf
want 1
mkdir half-1.mdf && touch half-1.mdf/x # where one of the builders cannot write
mpi 2 build --split run.mdf --packing 5 -o half-%p.mdf
want 1
equal "lines" "$(wc -l <err)" 1
want_no_file x* half-0* half-1*tmp* part-*tmp*

# Generated: what was asked for is exchanged, beside copying in memory.
mpi 2 build --generate 300000 --packing 50 --packs 3 --repeat 2 --json
want 0
equal "generated" "$(key out 'o["pack_bytes"] > 250000 and o["bytes_per_second"] > 0 and o["memcpy_bytes_per_second"] > 0 and o["building"]["incomplete_events"] == 0 and o["building"]["events"] == 200')" True
passed
