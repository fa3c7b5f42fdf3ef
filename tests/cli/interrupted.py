# SPDX-License-Identifier: Apache-2.0
# What a signal does to a run: interrupted.py run SIGNALS BYTES FILE COMMAND... begins a command whose standard input
# (or the pipe `fifo`, if that is there) is a pipe, writes so many bytes of the file to it and no end, waits until they are
# taken and nothing of the command is at work (or STALL seconds), sends the signals (TERM, or TERM,INT: one after the other) and exits as the command did, 128 + N if by a signal.
# interrupted.py prefix PART WHOLE (of Python with h5py) compares two files of results: the first must say that it is
# partial, the second not, and what every data set of the first has must begin that of the second. Prints the events.
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"))[0]


def threads_asleep(process):
    states = []
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/stat") as stat:
                states.append(stat.read().rsplit(")", 1)[1].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return all(state in "SZ" for state in states)


def wait_until_idle(process):  # many looks one after the other: what is handed from thread to thread is at work
    quiet, until = 0, time.monotonic() + 60
    while quiet < 8 and time.monotonic() < until:
        quiet = quiet + 1 if threads_asleep(process) else 0
        time.sleep(0.01)


def with_signals():  # a shell without job control starts commands with INT ignored
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def run(signals, size, name, command):
    with open(name, "rb") as file:
        data = file.read(int(size))
    fifo = "fifo" in command
    ours, theirs = (None, None) if fifo else os.pipe()[::-1]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if fifo else theirs,
        stdout=open("out", "wb"),
        stderr=open("err", "wb"),
        preexec_fn=with_signals,
    )
    if fifo:
        ours = os.open("fifo", os.O_WRONLY)
    else:
        os.close(theirs)
    while data:
        data = data[os.write(ours, data[:4096]) :]
    until = time.monotonic() + 60
    while unread(ours) > 0 and time.monotonic() < until:
        time.sleep(0.01)
    if "STALL" in os.environ:
        time.sleep(float(os.environ["STALL"]))
    else:
        wait_until_idle(child.pid)
    for word in signals.split(","):
        try:
            child.send_signal(getattr(signal, "SIG" + word))
        except ProcessLookupError:
            pass
    status = child.wait(timeout=120)
    os.close(ours)
    return 128 - status if status < 0 else status


def prefix(part_name, whole_name):
    import h5py
    import numpy

    part, whole = h5py.File(part_name, "r"), h5py.File(whole_name, "r")
    assert part.attrs["partial"] == 1, "it does not say that it is partial"
    assert "partial" not in whole.attrs, "the whole one says that it is partial"
    assert set(part.keys()) == set(whole.keys()), (list(part), list(whole))
    counts = set()
    for group in part:
        assert set(part[group].keys()) == set(whole[group].keys()), group
        offsets = part[group]["event_offset"][:]
        counts.add(len(offsets) - 1)
        assert numpy.array_equal(offsets, whole[group]["event_offset"][: len(offsets)]), group
        for name in part[group]:
            rows = part[group][name][:]
            assert name == "event_offset" or len(rows) == offsets[-1], (group, name)
            assert rows.tobytes() == whole[group][name][: len(rows)].tobytes(), (group, name)
        for name in part[group].attrs:
            if name != "inputs":
                assert numpy.array_equal(part[group].attrs[name], whole[group].attrs[name]), (group, name)
    assert len(counts) == 1, counts
    return counts.pop()


if sys.argv[1] == "run":
    sys.exit(run(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
print(prefix(sys.argv[2], sys.argv[3]))
