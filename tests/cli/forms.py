# SPDX-License-Identifier: Apache-2.0
# forms.py SLUICE: runs every combination of command, form and option in the current folder, where the inputs are, and
# prints how many there were. What each must do stands in the table `works`; what does not stand there must be refused.
import glob
import os
import subprocess
import sys

sluice = sys.argv[1]
ends = {"hdf5": ".h5", "arrow": ".arrow", "arrow-stream": ".arrows", "npy": ".npy", "npz": ".npz", "csv": ".csv", "json": ".json"}
begins = {"hdf5": b"\x89HDF", "arrow": b"ARROW1", "arrow-stream": b"\xff\xff\xff\xff", "npy": b"\x93NUMPY", "npz": b"PK"}
commands = {  # words, the option that names the output, the forms that it has, columns
    "velo": ("velo -q v.mdf --batch 2", "--output", "hdf5 arrow arrow-stream npz", "hits.x_mm"),
    "cms": ("cms -q c.raw --cabling c.cab --gains c.gains --batch 1", "--output", "hdf5 arrow arrow-stream npz", "clusters"),
    "cluster": ("cluster -q frames.csv", "--output", "hdf5 arrow arrow-stream npy npz csv", "clusters.size"),
    "label": ("label -q i.pgm", "--stats", "hdf5 arrow arrow-stream npy npz csv json", "components.area"),
    "pet run": ("pet run -q --scanner mouse20 --window 4ns f.raw --batch 5000", "--output", "hdf5 arrow arrow-stream npy npz csv castor safir siemens yrt gate petsird", None),
}
options = ["--form", "--compression none", "--compression deflate", "--compression lz4", "--compression zstd", "--columns", "--flush 1s", "--rotate-size 128k", "--rotate-time 100ms"]
series = "hdf5 arrow arrow-stream npy npz"
works = {  # for these forms; the rest is refused. Flushing is looked at in rotate.sh and killed.sh
    "--form": "hdf5 arrow arrow-stream npy npz",
    "--compression none": "hdf5 arrow arrow-stream npy npz",
    "--compression deflate": "hdf5",
    "--compression lz4": "arrow arrow-stream",
    "--compression zstd": "arrow arrow-stream",
    "--columns": "hdf5 arrow arrow-stream npy npz",
    "--flush 1s": "hdf5 arrow arrow-stream csv castor safir siemens yrt gate petsird",
    "--rotate-size 128k": series,
    "--rotate-time 100ms": series,
}
combinations = 0


def fail(words, text):
    print(f"forms.py: '{' '.join(words)}': {text}", file=sys.stderr)
    sys.exit(1)


def run(command, form, option):
    """The words, the result, and what was written: names and bytes in all."""
    base, where, _, columns = commands[command]
    for name in glob.glob("x*"):
        os.remove(name)
    words = [sluice, *base.split()]
    pet = command == "pet run"
    by_word = option == "--form" or form in ("castor", "safir", "siemens", "yrt", "gate", "petsird", "csv") and pet
    if form is not None:
        words += [where, "x" + (".h5" if by_word and not pet and form != "hdf5" else ".arrow" if by_word and not pet else "" if pet and by_word else ends[form])]
    if by_word:
        words += ["--format" if pet else "--form", form or "hdf5"]
    if option == "--columns":
        words += [option, "events" if command == "velo" and form == "npy" else columns or "coincidences"]
    elif option not in ("--form", ""):
        words += option.split()
    result = subprocess.run(words, capture_output=True, text=True, timeout=60)
    made = sorted(glob.glob("x*"))
    return words, result, made, sum(os.path.getsize(name) for name in made)


def is_offered(command, option):
    text = subprocess.run([sluice, *command.split(), "--help"], capture_output=True, text=True).stdout
    return f"{option.split()[0]} " in text


for command in commands:
    _, where, forms, _ = commands[command]
    # (--format of pet run has more words: pet_list.sh.)
    offered = {option: is_offered(command, option) for option in options}
    for form in [*ends, *(forms.split() if command == "pet run" else [])]:
        if command == "pet run" and form == "json":
            continue
        has = form in forms.split()
        words, plain, made, size = run(command, form, "")
        combinations += 1
        if has != (plain.returncode == 0) or (not has and plain.returncode != 2):
            fail(words, f"status {plain.returncode}: {plain.stderr}")
        for option in options:
            if not offered[option]:
                continue
            words, result, files, bytes_now = run(command, form, option)
            combinations += 1
            if command == "velo" and form == "npy" and option == "--columns":  # of one group, whose rows are events
                if result.returncode != 0 or not open(files[0], "rb").read(8).startswith(begins[form]):
                    fail(words, f"status {result.returncode}: {result.stderr}")
                continue
            if has and form in works[option].split() and not (command == "pet run" and "rotate" in option and form.startswith("np")):
                if result.returncode != 0:
                    fail(words, f"status {result.returncode}: {result.stderr}")
                name, value = (option + " ").split(" ")[:2]
                if name == "--form" and not open(files[0], "rb").read(8).startswith(begins[form]):
                    fail(words, "another form")
                if name == "--compression" and not (bytes_now < 0.95 * size if value != "none" else abs(bytes_now - size) < 4096):
                    fail(words, f"{bytes_now} bytes, and {size} without")
                if name == "--columns" and not bytes_now < 0.8 * size:
                    fail(words, f"{bytes_now} bytes, and {size} with all columns")
                if name == "--rotate-size" and len(files) < 2:
                    fail(words, f"{len(files)} file")
                continue
            said = result.stderr.strip("\n")
            if result.returncode != 2 or "\n" in said or files:
                fail(words, f"status {result.returncode}, {files}: {said}")
            if has and not (option.split()[0] in said and (form in said or f"x{ends.get(form, '')}" in said)):
                fail(words, f"does not name both: {said}")
            if not has and where not in said and form not in said and "--form" not in said and "x" + ends[form] not in said:
                fail(words, f"does not name the form: {said}")
    for option in options:  # of no output at all
        if not offered[option]:
            continue
        words, result, files, _ = run(command, None, option)
        combinations += 1
        said = result.stderr.strip("\n")
        if result.returncode != 2 or "\n" in said or files or option.split()[0] not in said or where not in said:
            fail(words, f"status {result.returncode}, {files}: {said}")
print(combinations)
