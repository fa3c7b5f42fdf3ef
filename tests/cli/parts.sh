#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --part and join: parts of files and of lists of files, of events, pages and frames, are one run's in every data set,
# its unit and the checksum, by h5py; by virtual data sets, copies, and after a move. Wrong sets of parts, names that parts
# would share, and what a launcher says.
. "$(dirname "$0")/common.sh" "$@"
python=/usr/bin/python3 # Debian's, which has Debian's packages
"$python" -c 'import h5py, numpy' 2>/dev/null || {
    echo "skipped: Debian's python3-h5py is not installed"
    exit 77
}
unset SLURM_PROCID SLURM_NTASKS SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE
cat >equal.py <<'P'
import sys, h5py
def all_of(name):
    sets, rest = {}, {}
    with h5py.File(name, 'r') as f:
        def look(n, o):
            at = {k: str(o.attrs[k]) for k in o.attrs}
            if isinstance(o, h5py.Dataset): sets[n] = (str(o.dtype), o.shape, o[...].tobytes(), at)
            else: rest[n] = at
        f.visititems(look)
        rest['/'] = {k: str(f.attrs[k]) for k in f.attrs if k not in ('command', 'part_commands', 'joined')}
        virtual = sum(o.is_virtual for g in f.values() for o in g.values())
    return sets, rest, virtual
a, b = all_of(sys.argv[1]), all_of(sys.argv[2])
differ = [n for n in sorted(set(a[0]) | set(b[0])) if a[0].get(n) != b[0].get(n)] + [n for n in sorted(a[1]) if a[1][n] != b[1].get(n)]
print('differ: ' + ' '.join(differ[:4]) if differ else 'equal', 'virtual' if b[2] else 'real')
P

# whole N OPTION COMMAND...: runs it in one, writing by OPTION, and in N parts, and compares.
whole() {
    local n=$1 option=$2 k
    shift 2
    rm -f whole.h5 joined.h5 part*.h5
    run "$@" -q "$option" whole.h5
    want $([ "$damaged" = yes ] && echo 1 || echo 0)
    for ((k = n - 1; k >= 0; k--)); do
        "$sluice" "$@" -q "$option" part$k.h5 --part $k/$n >out 2>err || [ "$damaged" = yes ] || fail "$* --part $k/$n: $(cat err)"
    done
    run join part*.h5 -o joined.h5 -q
    want 0
    want_silent
    want_no_out
    equal "$n parts of $*" "$("$python" equal.py whole.h5 joined.h5)" "equal virtual"
}
damaged=no

"$sluice" simulate velo -q --events 31 --seed 4 -o a.mdf && "$sluice" simulate velo -q --events 9 --seed 5 --compress -o b.mdf &&
    "$sluice" simulate velo -q --events 2 --seed 6 -o c.mdf &&
    "$sluice" simulate cms -q --events 9 --tracks 300 --seed 3 -o c.bin --cabling c.cabling --gains c.gains &&
    "$sluice" simulate cms -q --events 3 --tracks 300 --seed 4 -o d.bin &&
    "$sluice" simulate pixels -q --frames 29 --size 100x50 --density 5 --seed 2 -o frames.csv &&
    "$sluice" simulate pixels -q --frames 9 --size 100x50 --density 5 --seed 3 -o frames2.csv &&
    "$sluice" simulate pixels -q --stream 20000 --rate 50 --size 64x64 --seed 5 -o stream.csv || fail "cannot generate inputs"
"$python" - <<'P' || fail "cannot make images"
import numpy as np
r = np.random.default_rng(1)
np.save('s.npy', (r.random((11, 40, 50)) < 0.3).astype('u1'))
np.save('t.npy', (r.random((2, 60, 20)) < 0.3).astype('u1'))
open('s.pgm', 'wb').write(b''.join(b'P5 20 10 1\n' + (r.random(200) < 0.4).astype('u1').tobytes() for i in range(5)))
P
"$sluice" label -q s.npy -o s.tif || fail "no TIFF"

# ---- joined is whole ----------------------------------------------------------------------------------------------
whole 3 -o velo a.mdf
whole 7 -o velo a.mdf --truth
whole 7 -o velo b.mdf
whole 7 -o velo a.mdf b.mdf c.mdf --truth --beam auto
whole 3 -o velo a.mdf b.mdf c.mdf
whole 12 -o velo c.mdf
cat >lines.json <<'J'
{"predicates": {"any": {"hits": {"min": 3}}}, "lines": [{"name": "some", "tracks": "any", "min_count": 1, "prescale": 3}]}
J
whole 4 -o velo a.mdf c.mdf --select lines.json
whole 7 -o cms c.bin d.bin --cabling c.cabling --gains c.gains
whole 2 -o cms c.bin d.bin --cabling c.cabling --gains c.gains
whole 7 -o cms c.bin --cabling c.cabling --gains c.gains
whole 7 --stats label s.npy --features all
whole 7 --stats label s.tif --stream
whole 7 --stats label s.npy t.npy s.pgm s.tif --features all
whole 3 --stats label s.npy t.npy s.pgm s.tif
whole 9 --stats label t.npy s.pgm --stream
whole 3 -o cluster frames.csv --features all
whole 7 -o cluster frames.csv --features all
whole 7 -o cluster frames.csv frames2.csv --features all --size 80x40
whole 2 -o cluster stream.csv stream.csv stream.csv --time-window 10ticks
# A part without pages writes no image, which has one at least, and is no failure.
for k in 0 1 2; do
    run label t.npy -o l%p.npy --stats l%p.h5 --part $k/3 -q
    want 0
    want_silent
done
want_no_file l0.npy*
equal "pages of parts" "$("$python" -c "import numpy as np; print(all((np.load('l%d.npy' % k) > 0).any() for k in (1, 2)))")" True
# Damage at any place costs each part what it costs the whole, and numbers of records go on.
"$python" - <<'P' || fail "cannot damage"
b = bytearray(open('a.mdf', 'rb').read())
for at in range(3000, len(b), len(b) // 13): b[at:at + 40] = b'\xff' * 40
open('damaged.mdf', 'wb').write(b)
P
damaged=yes
for n in 2 5 13; do
    whole $n -o velo damaged.mdf
done
lost() { "$sluice" velo damaged.mdf -q --json "$@" 2>/dev/null >json; key json "o['lost_events']"; }
sum=0
for k in 0 1 2 3 4; do
    n=$(lost --part $k/5) && sum=$((sum + n))
done
all=$(lost)
equal "lost events of 5 parts" "$sum" "$all"
[ "$all" -gt 3 ] || fail "only $all events are lost"
damaged=no
# CSV counts events through all inputs.
"$sluice" cms c.bin d.bin --cabling c.cabling --gains c.gains -q --table whole.csv >out || fail "no table"
for k in 0 1 2 3 4; do
    "$sluice" cms c.bin d.bin --cabling c.cabling --gains c.gains -q --part $k/5 --table t%p.csv >out || fail "no table of part $k"
done
{ head -n 1 t0.csv && tail -q -n +2 t[0-4].csv; } | same whole.csv

# ---- join ---------------------------------------------------------------------------------------------------------
for k in 0 1 2; do
    "$sluice" velo a.mdf -q -o p$k.h5 --part $k/3 >out || fail "part $k"
done
"$sluice" velo a.mdf -q -o one.h5 >out || fail "one"
run join p2.h5 p0.h5 p1.h5 -o copy.h5 --copy --json
want 0
equal "JSON" "$(key out "[o['parts'], o['events'], o['copied'], sorted(g['group'] for g in o['groups'])[0], {g['events'] for g in o['groups']}]")" "[3, 31, True, 'events', {31}]"
equal "a copy" "$("$python" equal.py one.h5 copy.h5)" "equal real"
mkdir -p in/it && "$sluice" velo a.mdf -q -o in/x%d.h5 --part 0/2 >out && "$sluice" velo a.mdf -q -o in/it/y.h5 --part 1/2 >out || fail "parts in folders"
run join in/it/y.h5 in/x%d.h5 -o in/it/all.h5 -q
want 0
mv in moved
equal "parts that were moved with it" "$(cd / && "$python" "$work/equal.py" "$work/one.h5" "$work/moved/it/all.h5")" "equal virtual"

"$sluice" velo a.mdf -q -o other.h5 --part 1/4 >out
"$sluice" velo a.mdf -q -o fast.h5 --part 1/3 --fast >out
"$sluice" velo b.mdf -q -o b.h5 --part 1/3 >out
"$python" - <<'P'
import h5py, shutil
for name, do in (('partial.h5', lambda f: f.attrs.create('partial', 1)), ('version.h5', lambda f: f.attrs.__setitem__('sluice_version', b'0.0'))):
    shutil.copy('p1.h5', name)
    with h5py.File(name, 'r+') as f: do(f)
with h5py.File('foreign.h5', 'w') as f: f['x'] = 1
P
head -c 3000 p1.h5 >cut.h5
refused() { # PARTS: one line, and nothing is written
    run join "$@" -o bad.h5
    want 1
    want_no_out
    want_no_file bad.h5*
    same err
}
refused p0.h5 p2.h5 <<<"sluice join: of 3 parts 1 is missing: 1: no file was written"
refused p1.h5 <<<"sluice join: of 3 parts 2 are missing: 0, 2: no file was written"
refused p0.h5 p1.h5 p1.h5 p2.h5 <<<"sluice join: p1.h5 and p1.h5 are both part 1 of 3: no file was written"
refused p0.h5 other.h5 p2.h5 <<<"sluice join: other.h5 is part 1 of 4, but p0.h5 is of 3 parts: no file was written"
refused p0.h5 fast.h5 p2.h5 <<<'sluice join: fast.h5 and p0.h5 are of different runs: "velo --fast" and "velo": no file was written'
refused p0.h5 b.h5 p2.h5 <<<"sluice join: b.h5 and p0.h5 are of different runs: not the same inputs: no file was written"
refused p0.h5 version.h5 p2.h5 <<<"sluice join: version.h5 and p0.h5 are of different runs: not the same version of Sluice: no file was written"
refused p0.h5 partial.h5 p2.h5 <<<"sluice join: partial.h5: part 1 of 3 was interrupted: run it again: no file was written"
refused p0.h5 one.h5 <<<"sluice join: one.h5: is no part of a run: --part of velo, cms, cluster and label makes parts: no file was written"
refused foreign.h5 <<<"sluice join: foreign.h5: is no part of a run: --part of velo, cms, cluster and label makes parts: no file was written"
refused p0.h5 cut.h5 p2.h5 <<<"sluice join: cut.h5: no HDF5 file, or cut off or damaged: no file was written"
refused p0.h5 nothing.h5 <<<"sluice join: nothing.h5: No such file or directory: no file was written"
for k in 0 1; do
    "$sluice" velo a.mdf -q -o d$k.h5 --columns hits.x_mm --compression deflate --part $k/2 >out || fail "part $k"
done
"$python" - <<'P'
import h5py
with h5py.File('d1.h5') as f: chunk = f['hits/x_mm'].id.get_chunk_info(0)
with open('d1.h5', 'r+b') as f:
    f.seek(chunk.byte_offset + chunk.size // 2)
    f.write(b'\xa5' * 99)
P
refused d0.h5 d1.h5 --copy <<<"sluice join: d1.h5: /hits/x_mm cannot be read or stored again: no file was written"
refused a.mdf <<<"sluice join: a.mdf: no HDF5 file, or cut off or damaged: no file was written"
# Damage that HDF5 itself does not survive: a text in its heap that says it is longer than all memory.
"$python" - <<'P'
import struct
data = bytearray(open('p1.h5', 'rb').read())
heap = data.index(b'GCOL')
struct.pack_into('<Q', data, heap + 16 + 8, 1 << 40)
open('heap.h5', 'wb').write(data)
P
run join p0.h5 heap.h5 p2.h5 -o bad.h5
want 1
want_no_file bad.h5*
grep -qE '^sluice join: heap.h5: .*: no file was written$' err || fail "'$last' said: $(cat err)"
run join p0.h5 p1.h5 p2.h5 -o p1.h5
want 2
want_err <<<"sluice join: --output p1.h5 would overwrite the input p1.h5; see sluice join --help"

# ---- which part ---------------------------------------------------------------------------------------------------
part_of() { h5dump -a /part "$1" | sed -n 's/ *(0): //p'; }
auto() { # WANTED VARIABLE=VALUE...
    rm -f e*.h5
    env "${@:2}" "$sluice" velo a.mdf -q --part auto -o e.h5 >out 2>err || fail "${*:2}: $(cat err)"
    equal "${*:2}" "$(part_of e.h5)/$(h5dump -a /parts e.h5 | sed -n 's/ *(0): //p')" "$1"
}
auto 1/3 SLURM_PROCID=1 SLURM_NTASKS=3
auto 2/3 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3
auto 0/3 PMI_RANK=0 PMI_SIZE=3
auto 1/3 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=0 SLURM_NTASKS=1
auto 2/4 SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=2
auto 5/8 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_PROCID=1 SLURM_NTASKS=2
SLURM_PROCID=1 SLURM_NTASKS=3 "$sluice" velo a.mdf -q -o e.h5 >out || fail "without --part"
equal "without --part nothing looks at the environment" "$("$python" equal.py one.h5 e.h5)" "equal real"
run velo a.mdf -q -o e%p.h5 --part 3/12
want 0
want_no_file e%p.h5 e3.h5
equal "%p" "$(part_of e03.h5)" 3
run velo a.mdf -q -o p1.h5 --part 2/3 # which is part 1
want 1
want_err <<<"sluice velo: p1.h5 is part 1/3 of a run, and is not replaced by part 2/3: each needs a name of its own: %p in it is the part"
equal "what was there stays" "$(part_of p1.h5)" 1
run velo a.mdf -q -o p1.h5 --part 1/3 # the same again
want 0
# Names that parts would share, of every output of every command, whoever says which part it is.
shared() { # COMMAND OPTION FILE WORDS...
    for how in 1/3 auto; do
        PMI_RANK=1 PMI_SIZE=3 run "$1" "${@:4}" -q --part $how "$2" "$3"
        want 2
        want_err <<<"sluice $1: $2 $3 would be written by each of the 3 parts: %p in the name is the part; see sluice $1 --help"
        want_no_file "$3"*
    done
    compared=$((compared + 1))
}
c="c.bin --cabling c.cabling --gains c.gains"
for file in o.arrow o.arrows o.npz; do
    shared velo --output $file a.mdf
    # shellcheck disable=SC2086 # they are words
    shared cms --output $file $c
    shared cluster --output $file frames.csv
    shared label --stats $file t.npy
done
shared cluster --output o.npy frames.csv
shared cluster --output o.csv frames.csv
shared cluster --labels o.csv frames.csv
shared cluster --write-mask o.txt frames.csv
for file in o.csv o.json o.npy; do
    shared label --stats $file t.npy
done
for file in o.npy o.tif o.png o.pgm; do
    shared label --output $file t.npy
done
shared label --preview o.png t.npy
shared velo --output o.x --form arrow a.mdf
shared velo --table o.csv a.mdf
shared velo --report o.html a.mdf
shared velo --residuals o.json a.mdf
shared velo --monitor o.json a.mdf
shared velo --write-accepted o.mdf a.mdf --select lines.json
# shellcheck disable=SC2086
shared cms --table o.csv $c
# Every option of these commands that names an output is among them.
for command in velo cms cluster label; do
    "$sluice" $command --help | sed -n 's/^ *\(-[a-z], \)\?\(--[a-z-]*\) FILE .*/\2/p'
done | sort -u | grep -vxE -- '--(config|intensity|geometry|beam|select|mask|cabling|gains|calibration|serve-token)' >names
same names <<'W'
--labels
--monitor
--output
--preview
--report
--residuals
--stats
--table
--write-accepted
--write-mask
W
# HDF5 says which part it is: one process writes a name, and the others fail before they read.
rm -f e.h5
/usr/bin/python3 - "$sluice" <<'P' || fail "two parts write one name"
import fcntl, os, subprocess, sys
run = lambda k: subprocess.Popen([sys.argv[1], "velo", "a.mdf", "-q", "--part", f"{k}/3", "-o", "e.h5"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
with open("e.h5.lock", "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    r = run(0)
    said = r.communicate()[1]
    assert r.returncode == 1 and not os.path.exists("e.h5"), (r.returncode, said)
    assert said == "sluice velo: e.h5 is being written by another process: each part needs a name of its own: %p in it is the part\n", said
for i in range(8):
    ranks = [run(k) for k in range(3)]
    said = [r.communicate()[1] for r in ranks]
    status = [r.returncode for r in ranks]
    assert sorted(status) == [0, 1, 1], (status, said)
    assert all("each needs a name" in s or "each part needs a name" in s for s, n in zip(said, status) if n), said
    kept = subprocess.run(["h5dump", "-a", "/part", "e.h5"], capture_output=True, text=True).stdout
    assert f"(0): {status.index(0)}" in kept, (status, kept)
    assert sorted(n for n in os.listdir(".") if n.startswith("e.h5")) == ["e.h5"], os.listdir(".")
    os.remove("e.h5")
P
compared=$((compared + 9))
# Of what cannot be joined there are no parts.
for file in o%p.arrow o%p.arrows o%p.npz; do
    for words in "velo a.mdf --output" "cluster frames.csv --output" "label t.npy --stats"; do
        # shellcheck disable=SC2086
        run $words $file -q --part 1/3
        want 2
        want_err <<<"sluice ${words%% *}: --part: ${words##* } $file: parts are joined as HDF5 alone (sluice join): a name such as %p.h5; see sluice ${words%% *} --help"
        want_no_file o*.arrow* o*.npz*
    done
done
run velo a.mdf -q -o /dev/null --part 1/3 --form arrow
want 0
wrong() { # STATUS WORDS...
    local status_wanted=$1
    shift
    run "$@" -o bad.h5
    want "$status_wanted"
    want_no_file bad.h5*
    same err
}
for word in 3/3 1 1/ /3 a/3 1/b -1/3 1/3/4 0/0 99999999999/99999999999; do
    wrong 2 velo a.mdf --part $word <<<"sluice velo: --part takes K/N with K from 0 to N - 1, or auto, not '$word'; see sluice velo --help"
done
wrong 2 velo a.mdf --part auto <<<"sluice velo: --part auto: no launcher says which part this is (SLURM_PROCID and SLURM_NTASKS, SLURM_ARRAY_TASK_ID and _COUNT, OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE); see sluice velo --help"
wrong 2 velo - --part 0/2 <<<"sluice velo: standard input has no parts: a part is of files; see sluice velo --help"
wrong 1 velo a.mdf nothing.mdf --part 0/2 <<<"sluice velo: nothing.mdf: No such file or directory: parts are cut by the sizes of all inputs"
wrong 2 cluster stream.csv --part 0/2 <<<"sluice cluster: stream.csv: has no frames, and cannot be cut: give as many inputs as there are parts; see sluice cluster --help"
passed
