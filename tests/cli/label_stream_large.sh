#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A page of more than 4 GiB: refused as such, and labelled row by row. The file is nearly all hole.
. "$(dirname "$0")/common.sh" "$@"
[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 8 ] || { echo "skipped: less than 8 GiB of memory"; exit 77; }

python3 - <<'P'
import struct
w, h = 65536, 65600
head = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }" % (h, w)).ljust(117) + "\n"
with open("large.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
    begin = f.tell()
    for x, y in ((0, 0), (65535, 65599), (65535, 65598), (7, 65000)):
        f.seek(begin + y * w + x)
        f.write(b"\1")
    f.truncate(begin + w * h)
P
run label large.npy
want 1
grep -q '65536 x 65600 pixels of 8 bits need more than the limit of 4294967296 bytes' err || fail "$(cat err)"
run label --stream -q large.npy --features area,box,first,centroid --stats found.csv
want 0
want_silent
same found.csv <<'T'
input,page,label,area,x_min,y_min,x_max,y_max,first_x,first_y,x,y
1,1,1,1,0,0,0,0,0,0,0,0
1,1,2,1,7,65000,7,65000,7,65000,7,65000
1,1,3,2,65535,65598,65535,65599,65535,65598,65535,65598.5
T
passed
