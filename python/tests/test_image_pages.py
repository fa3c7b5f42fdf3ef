# SPDX-License-Identifier: Apache-2.0
"""Image files page by page, what is written of arrays, and labels in colours."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import threading
import time
import warnings
import zlib

import numpy as np
import pytest

import sluice
from sluice import image as module

TYPES = {
    ".npy": (bool, np.uint8, np.uint16, np.uint32, np.float32),
    ".tif": (bool, np.uint8, np.uint16, np.uint32, np.float32),
    ".png": (bool, np.uint8, np.uint16),
    ".pgm": (np.uint8, np.uint16),
    ".pbm": (bool,),
}


def pictures(dtype, n):
    rng = np.random.default_rng(1)
    return [rng.integers(0, 2 if dtype is bool else 250, rng.integers(5, 40, 2)).astype(dtype) for _ in range(n)]


@pytest.mark.parametrize("ending", TYPES)
def test_what_is_written_is_read(tmp_path, ending):
    for dtype in TYPES[ending]:
        path = tmp_path / f"one{ending}"
        for picture in pictures(dtype, 4):
            for given in (picture, picture[::2, 1::3], np.asfortranarray(picture)):
                module.save(path, given)
                (page,) = module.open(path)
                assert page.dtype == (np.uint8 if ending == ".npy" and dtype is bool else dtype)
                assert page.flags.writeable and page.flags.owndata and (page == given).all()


@pytest.mark.parametrize("ending", [".tif", ".npy", ".pgm", ".pbm"])
def test_pages(tmp_path, ending):
    dtype = TYPES[ending][0]
    several = pictures(np.uint16 if ending == ".tif" else dtype, 5)
    if ending == ".npy":
        several = [one.astype(np.uint8) for one in np.random.default_rng(2).integers(0, 9, (5, 7, 8))]
    path = tmp_path / f"several{ending}"
    module.save(path, several)
    with module.open(path) as pages:
        held = []
        for i, page in enumerate(pages):
            held.append(page)
            assert pages.n_read == i + 1 and pages.path == path
    assert len(held) == 5 and all((a == b).all() for a, b in zip(held, several))  # none was changed by a later one
    assert list(pages) == []
    if ending == ".npy":
        module.save(path, np.stack(several))
        assert (np.load(path) == np.stack(several)).all()


def test_labels_and_other_whole_numbers(tmp_path):
    labels, n = module.label(np.random.default_rng(3).random((60, 70)) < 0.4)
    for ending, dtype in ((".npy", np.uint32), (".tif", np.uint32), (".png", np.uint16), (".pgm", np.uint16)):
        module.save(tmp_path / f"labels{ending}", labels)
        (page,) = module.open(tmp_path / f"labels{ending}")
        assert page.dtype == dtype and (page == labels).all()
    module.save(tmp_path / "list.pgm", [[1, 2], [3, 4]])
    assert next(module.open(str(tmp_path / "list.pgm"))).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(sluice.UsageError, match="16 bits of .png"):
        module.save(tmp_path / "much.png", np.array([[70000]]))
    with pytest.raises(sluice.UsageError, match="from -1 to 5"):
        module.save(tmp_path / "negative.tif", np.array([[-1, 5]]))


def test_what_is_not_written(tmp_path):
    picture = np.zeros((4, 5), np.uint8)
    for path, bad, text in (
        ("a.png", picture.astype(np.float32), "f32|PNG|types"),
        ("a.pbm", picture, "PBM|bits"),
        ("a.jpg", picture, "jpg"),
        ("a.png", [picture, picture], "PNG|one"),
        ("a.npy", [picture, picture[1:]], "size"),
        ("a.tif", [], "no image"),
    ):
        with pytest.raises(sluice.UsageError, match=text):
            module.save(tmp_path / path, bad)
    for bad in (picture.astype(complex), picture.astype(float), np.zeros(3, np.uint8)):
        with pytest.raises(TypeError, match="2-D array"):
            module.save(tmp_path / "a.tif", bad)
    with pytest.raises(sluice.FileError):
        module.save(tmp_path / "none" / "a.tif", picture)
    assert list(tmp_path.iterdir()) == []  # what could not be completed is not there


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def test_damage_is_told(tmp_path):
    path = tmp_path / "damaged.pgm"
    module.save(path, pictures(np.uint8, 3))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    pages = module.open(path)
    assert len([next(pages), next(pages)]) == 2
    with pytest.raises(sluice.FormatError, match="damaged.pgm.*page 3"):
        next(pages)
    assert list(pages) == []
    # An image with transparency, which is not read.
    rows = b"".join(b"\0" + bytes([9, 9, 9, 255] * 4) for _ in range(3))
    header = struct.pack(">IIBBBBB", 4, 3, 8, 6, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    (tmp_path / "alpha.png").write_bytes(png)
    with pytest.warns(sluice.DamageWarning, match="alpha"):
        (page,) = module.open(tmp_path / "alpha.png")
    assert (page == 9).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sluice.DamageWarning):
            list(module.open(tmp_path / "alpha.png"))
    for data, kind in ((b"", sluice.FormatError), (b"no image at all", sluice.FormatError)):
        path.write_bytes(data)
        with pytest.raises(kind, match="damaged.pgm"):
            list(module.open(path))
    with pytest.raises(sluice.FileError):
        module.open(tmp_path / "none.tif")
    module.save(tmp_path / "large.tif", np.zeros((100, 100), np.uint16))
    with pytest.raises(sluice.UnsupportedError, match="large.tif"):
        list(module.open(tmp_path / "large.tif", max_bytes=1000))


def test_two_threads_on_one_file(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    opened, told = threading.Event(), []

    def write():
        with open(fifo, "wb") as file:
            file.write((b"P5 400 400 255\n" + bytes(160000)) * 2)
            file.flush()
            opened.wait(10)
            file.write(b"P5 2 2 255\nabcd")

    writer = threading.Thread(target=write)
    writer.start()
    pages = module.open(fifo)
    next(pages)
    reader = threading.Thread(target=lambda: told.extend(pages))
    reader.start()
    while pages.n_read < 2:
        time.sleep(0.01)
    time.sleep(0.05)
    for function in (pages.close, pages.__next__):
        with pytest.raises(RuntimeError, match="another thread"):
            function()
    opened.set()
    reader.join()
    writer.join()
    assert [page.shape for page in told] == [(400, 400), (2, 2)]


def test_preview(tmp_path):
    imread = pytest.importorskip("matplotlib.image").imread
    labels = np.arange(30 * 40, dtype=np.int32).reshape(30, 40) % 700
    colours = module.preview(labels)
    assert colours.shape == (30, 40, 3) and colours.dtype == np.uint8 and (colours[labels == 0] == 0).all()
    assert module.preview(labels, tmp_path / "any.name") is None
    with open(tmp_path / "any.name", "rb") as file:
        picture = np.round(imread(file, format="png") * 255).astype(np.uint8)
    assert (picture[:, :, :3] == colours).all()
    module.save(tmp_path / "mask.pgm", np.kron(np.eye(4), np.ones((3, 3))).astype(np.uint8))
    subprocess.run([os.environ["SLUICE_COMMAND"], "label", tmp_path / "mask.pgm", "--preview", tmp_path / "p.png", "-q"], check=True)
    made = module.preview(module.label(next(module.open(tmp_path / "mask.pgm")))[0])
    assert (np.round(imread(tmp_path / "p.png") * 255)[:, :, :3] == made).all()
    for bad in (labels.astype(float), labels[0]):
        with pytest.raises(TypeError, match="2-D array of integers"):
            module.preview(bad)


def test_ctrl_c_while_a_pipe_has_no_writer(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        module.open(fifo)
    timer.join()


@pytest.mark.parametrize("ending", [".npy", ".tif"])
def test_after_fork(tmp_path, ending):
    """What a child of fork() does with a file leaves the parent's place in it where it is."""
    pages = list(np.random.default_rng(1).integers(0, 250, (5, 70, 83), np.uint8))
    module.save(tmp_path / f"many{ending}", pages)
    reader = module.open(tmp_path / f"many{ending}")
    read = [next(reader)]
    child = os.fork()
    if child == 0:
        try:
            next(reader)
        except RuntimeError as error:
            reader.close()
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all((one == page).all() for one, page in zip([*read, *reader], pages, strict=True))
