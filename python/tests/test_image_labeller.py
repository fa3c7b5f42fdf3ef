# SPDX-License-Identifier: Apache-2.0
"""Kept configurations, stacks of images, rows as they come, and what components are made into."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import threading

import numpy as np
import pytest
from scipy import ndimage
from test_image import images

import sluice
from sluice import image as module


def same_columns(a, b):
    assert list(a) == list(b)
    for name in a:
        assert np.array_equal(a[name], b[name], equal_nan=True), name


def test_labeller_is_label():
    settings = {"connectivity": 4, "min_area": 2, "border": "inside"}
    labeller = module.Labeller(**settings, features=("area", "box"))
    for image in images():
        labels, n = labeller.label(image)
        expected, m = module.label(image, **settings)
        assert n == m and (labels == expected).all()
        same_columns(labeller.components(image), module.components(image, **settings, features=("area", "box")))
    labels, columns = labeller.components(image, labels=True, dtype=np.uint16)
    assert labels.dtype == np.uint16 and (labels == expected).all() and columns.n_rows == m
    out = np.zeros(image.shape, np.int32)
    assert labeller.label(image, out=out)[0] is out and (out == expected).all()
    inverse = module.Labeller(inverse=True)
    assert inverse.label(np.array([[0, 1, 0]], np.uint8))[1] == 2


def test_labeller_tells_what_is_wrong_at_once():
    for bad in ({"connectivity": 5}, {"min_area": 9, "max_area": 3}, {"border": "x"}, {"algorithm": "x"}, {"features": ["x"]}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            module.Labeller(**bad)
    with pytest.raises(TypeError):
        module.Labeller(8)
    with pytest.raises(TypeError, match="foo"):
        module.Labeller(foo=1)
    with pytest.raises(TypeError, match="list of names"):
        module.Labeller(features="area")
    labeller = module.Labeller()
    for function in (labeller.label, labeller.components, labeller.batch, labeller.batch_components):
        with pytest.raises(TypeError, match="needs an image"):
            function()
    with pytest.raises(TypeError, match="'grey', which is not among"):
        labeller.components(np.eye(3, dtype=bool), grey=np.eye(3, dtype=np.uint8))


def test_devices():
    image = np.eye(3, dtype=np.uint8)
    assert module.label(image, device="cpu")[1] == 1
    for bad in ("gpu", "cuda" * 40):
        with pytest.raises(sluice.UsageError, match="device is to be 'cpu', 'cuda'"):
            module.label(image, device=bad)
    with pytest.raises(TypeError, match="device"):
        module.label(image, device=3)
    for there in ("cuda", "all", "cuda:all", "cuda:0"):
        try:
            assert module.label(image, device=there)[1] == 1
        except sluice.UnsupportedError as error:
            assert "device" in str(error)  # no GPU here, or a build without
    for bad in ("cuda:0,", "cuda:0,x", "all,0"):
        with pytest.raises((sluice.UsageError, sluice.UnsupportedError), match="device"):
            module.label(image, device=bad)
    assert "bittile" in module.algorithms("cuda") and "bittile" not in module.algorithms()
    with pytest.raises(sluice.UsageError, match="algorithms.'cuda'."):
        module.label(image, device="cuda", algorithm="bitrun")


@pytest.mark.parametrize("threads", [1, 3, 0])
def test_batch(threads):
    stack = (np.random.default_rng(2).random((37, 40, 50)) < 0.45).astype(np.uint8)
    labeller = module.Labeller(features=("area", "centroid"))
    labels, counts = labeller.batch(stack, threads=threads)
    assert labels.shape == stack.shape and labels.dtype == np.int32 and counts.dtype == np.int64
    columns = labeller.batch_components(stack, threads=threads)
    assert columns.n_events == len(stack) and isinstance(columns, module.Components)
    for i, image in enumerate(stack):
        expected, n = module.label(image)
        assert counts[i] == n and (labels[i] == expected).all()
        same_columns(columns.event(i), dict(module.components(image, features=("area", "centroid"))))
    # One after the other in any memory, and lists of any sizes, with nothing in some of them.
    out = np.zeros((37, 40, 60), np.uint16)
    assert labeller.batch(stack, out=out[:, :, 5:55], threads=threads)[0].base is out and (out[:, :, 5:55] == labels).all()
    several = [*images(), np.zeros((0, 5), bool), np.zeros((3, 3), np.uint8)]
    several = [one for one in several if one.dtype != np.float32]
    labels, counts = labeller.batch(several, threads=threads, dtype=np.uint32)
    pair = labeller.batch_components(several, threads=threads, labels=True)
    assert isinstance(labels, list) and list(counts) == list(np.diff(pair[1].offsets.astype(int)))
    for i, image in enumerate(several):
        expected, n = module.label(image)
        assert counts[i] == n and labels[i].dtype == np.uint32 and (labels[i] == expected).all() and (pair[0][i] == expected).all()
    assert labeller.batch(stack[:0])[0].shape == (0, 40, 50) and labeller.batch([])[0] == []
    assert labeller.batch_components([]).n_rows == 0


def test_batch_of_many_components_and_grey():
    stack = np.zeros((5, 200, 200), np.uint8)
    stack[:, ::2, ::2] = 7
    labeller = module.Labeller(features=("area", "grey"))
    grey = np.arange(stack.size, dtype=np.uint32).reshape(stack.shape)
    columns = labeller.batch_components(stack, grey=grey, threads=2)
    assert columns.n_rows == 5 * 10000 and (columns.mass == grey[stack > 0]).all()
    columns = module.Labeller(features=("grey",)).batch_components(stack)
    assert (columns.mass == 7).all()
    with pytest.raises(sluice.CapacityError):
        module.Labeller().batch([np.kron(np.ones((300, 300), np.uint8), np.array([[1, 0], [0, 0]], np.uint8))], dtype=np.uint16)


def test_batch_refuses():
    labeller = module.Labeller()
    stack = np.zeros((2, 3, 4), np.uint8)
    for bad in (np.zeros((3, 4), np.uint8), 7, np.zeros(3)):
        with pytest.raises(TypeError, match="3-D array or a list of images"):
            labeller.batch(bad)
    with pytest.raises(TypeError, match="2-D array of bool"):
        labeller.batch([np.zeros((3, 4), complex)])
    with pytest.raises(TypeError, match="out"):
        labeller.batch(stack, out=np.zeros((1, 3, 4), np.int32))
    with pytest.raises(TypeError, match="out"):
        labeller.batch(stack, out=np.zeros((2, 3, 5), np.int32))
    with pytest.raises(TypeError, match="exclude each other"):
        labeller.batch(stack, out=np.zeros((2, 3, 4), np.int32), dtype=np.int32)
    with pytest.raises(TypeError, match="labels=True"):
        labeller.batch_components(stack, dtype=np.int32)
    with pytest.raises(TypeError, match="images"):
        module.Labeller(features=("grey",)).batch_components(stack, grey=stack[:1])
    with pytest.raises(sluice.UsageError, match="threshold"):
        labeller.batch([stack[0], stack[0].astype(np.float32)])
    assert list(module.Labeller(threshold=1).batch([stack[0] + 1, stack[0].astype(np.float32)])[1]) == [1, 0]


def test_batch_refuses_label_images_that_overlap():
    """Each label image lies beside its own image, but not beside the others."""
    labeller = module.Labeller(features=("area", "grey"))
    stack = np.random.default_rng(1).integers(0, 2, (5, 20, 30), np.uint32)
    before, rows = stack.copy(), np.zeros((5 * 20, 30), np.int32)
    one = rows[:20]
    strided = np.lib.stride_tricks.as_strided
    for images, out in (
        (stack[:-1], stack[1:]),
        (stack[1:], stack[:-1]),
        (stack, strided(rows, stack.shape, (0, *one.strides))),
        (stack, strided(rows, stack.shape, (19 * 120, *one.strides))),
        (stack, [one] * 5),
        (list(stack), [one, rows[20:40], rows[40:60], rows[60:80], one[::-1]]),
    ):
        with pytest.raises(sluice.UsageError, match="overlap"):
            labeller.batch(images, out=out)
    grey = np.zeros((5, 20, 30), np.uint32)
    with pytest.raises(sluice.UsageError, match="overlap"):
        labeller.batch_components(stack, grey=grey, labels=True, out=grey[::-1])
    assert (stack == before).all() and not rows.any()
    expected = labeller.batch(stack)[0]
    apart = np.zeros((20, 5, 30), np.int32).transpose(1, 0, 2)  # rows of images alternate
    both = np.zeros((5, 40, 30), np.uint32)
    both[:, ::2] = stack
    for images, out in ((stack, apart), (stack, apart[::-1]), (both[:, ::2], np.zeros_like(rows).reshape(stack.shape)[:, ::-1])):
        assert (labeller.batch(images, out=out, threads=2)[0] == expected).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_batch_ends_with_ctrl_c(threads):
    stack = np.broadcast_to(np.zeros((1000, 1000), np.uint8), (20000, 1000, 1000))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        module.Labeller().batch_components(list(stack), threads=threads)
    timer.join()


def test_one_labeller_in_many_threads():
    image = np.random.default_rng(3).random((300, 300)) < 0.4
    labeller = module.Labeller()
    expected, right = module.label(image)[0], []

    def work():
        right.append(all((labeller.label(image)[0] == expected).all() for _ in range(10)))

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 12


# ---- rows ------------------------------------------------------------------------------------------------


def by_place(columns):
    """Rows as a set: the order is that of their ends."""
    return sorted(zip(*(np.asarray(column).tolist() for column in columns)))


@pytest.mark.parametrize("inverse", [False, True])
def test_rows_are_components(inverse):
    rng = np.random.default_rng(4)
    names = ("area", "box", "first", "sums", "euler", "perimeter")
    for image in images():
        stream = module.RowStream(image.shape[1], dtype=image.dtype, inverse=inverse, features=names)
        parts, at = [], 0
        while at < len(image):
            n = int(rng.integers(1, 40))
            parts.append(stream.push(image[at : at + n]))
            at = min(at + n, len(image))
            assert stream.n_rows == at
        parts.append(stream.finish())
        assert stream.n_rows == 0
        whole = module.components(image, inverse=inverse, features=names)
        assert by_place([np.concatenate([part[name] for part in parts]) for name in whole]) == by_place(whole.values())


def test_rows_with_values_of_their_own_and_many_ends():
    image = np.zeros((50, 401), np.uint8)
    image[::2, ::2] = 1
    grey = np.arange(image.size, dtype=np.float32).reshape(image.shape)
    stream = module.RowStream(401, grey_dtype=np.float32, features=["grey"])
    columns = stream.push(image, grey)
    assert columns.n_rows == 25 * 201 and (columns.mass == grey[image > 0]).all()  # the last row is empty
    assert stream.finish().n_rows == 0
    stream.push(image[:1], grey=grey[:1])
    assert stream.finish().n_rows == 201


def test_rows_refuse():
    stream = module.RowStream(4)
    for bad in (np.zeros((2, 5), np.uint8), np.zeros((2, 4), np.uint16)):
        with pytest.raises(TypeError, match=r"they are to be \(n, 4\) of uint8"):
            stream.push(bad)
    with pytest.raises(TypeError, match="2-D array"):
        stream.push(np.zeros(4, np.uint8))
    with pytest.raises(TypeError, match="grey_dtype"):
        stream.push(np.zeros((1, 4), np.uint8), np.zeros((1, 4), np.uint8))
    with pytest.raises(TypeError, match="needs rows"):
        stream.push()
    grey = module.RowStream(4, grey_dtype="uint16", features=["grey"])
    for bad in (None, np.zeros((1, 4), np.uint8), np.zeros((2, 4), np.uint16)):
        with pytest.raises(TypeError, match="grey"):
            grey.push(np.zeros((1, 4), np.uint8), bad)
    for bad in ({"width": 0}, {"width": 4, "connectivity": 5}, {"width": 4, "dtype": "int64"}, {"width": 4, "features": ["x"]}):
        with pytest.raises(sluice.UsageError, match=list(bad)[-1]):
            module.RowStream(**bad)
    with pytest.raises(TypeError):
        module.RowStream()


def test_rows_have_the_commands_checksum(tmp_path):
    image = (np.random.default_rng(5).random((200, 300)) < 0.45).astype(np.uint8)
    module.save(tmp_path / "image.pgm", image)
    command = [os.environ["SLUICE_COMMAND"], "label", str(tmp_path / "image.pgm"), "--stream", "--json", "-q"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    stream = module.RowStream(300, features=["area"])
    for at in range(0, 200, 17):
        stream.push(image[at : at + 17])
    stream.finish()
    assert f"{stream.checksum:016x}" == told["checksum"]


# ---- what components are made into -----------------------------------------------------------------------


def test_components_as_others_have_them():
    for image in images():
        columns = module.components(image, features=module.FEATURES, grey=(image != 0).astype(np.uint8))
        labels, n = module.label(image)
        assert columns.slices() == ndimage.find_objects(labels)
        table = columns.to_regionprops()
        from sluice.compat import skimage

        names = [name.rstrip("0123456789-") for name in table]
        expected = skimage.regionprops_table(labels, (image != 0).astype(np.uint8), dict.fromkeys(names))
        assert set(expected) == set(table)
        for name in expected:
            a, b = expected[name], table[name]
            if name == "orientation":
                apart = np.abs(expected["axis_major_length"] - expected["axis_minor_length"]) > 1e-3
                a, b = np.sin(2 * a[apart]), np.sin(2 * b[apart])
            assert np.allclose(a, b, rtol=1e-6, atol=1e-4), name
    few = module.components(image, features=("area",))
    assert list(few.to_regionprops()) == ["label", "num_pixels", "area"] and isinstance(copy.deepcopy(few), module.Components)
    with pytest.raises(sluice.UsageError, match="'box'"):
        few.slices()
    stack = module.Labeller(features=("area",)).batch_components(np.ones((2, 3, 3), bool))
    assert list(stack.to_regionprops()["event"]) == [0, 1] and list(stack.to_regionprops()["label"]) == [1, 1]


def test_remove_small_and_largest():
    image = np.array([[9, 9, 0, 0, 5], [0, 0, 0, 0, 0], [0, 7, 7, 7, 0]], np.uint8)
    assert module.remove_small(image, 2).sum() == 5 and module.remove_small(image, 3).sum() == 3
    assert module.remove_small(image, 2, threshold=8).sum() == 2
    assert (module.largest(image) == (image == 7)).all() and module.largest(image).dtype == bool
    assert module.largest(image[:1]).tolist() == [[True, True, False, False, False]]
    assert not module.largest(np.zeros((3, 3), bool)).any() and module.largest(np.zeros((0, 3), bool)).shape == (0, 3)
