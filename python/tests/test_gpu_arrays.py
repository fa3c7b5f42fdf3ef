# SPDX-License-Identifier: Apache-2.0
"""Images that are in the memory of a GPU: taken there if a device is asked for, refused in words if none is. Objects that only carry the
protocols are enough for what is refused; with a GPU and CuPy or PyTorch the labels are compared."""

from __future__ import annotations

import types

import numpy as np
import pytest

import sluice


def interface(**changed):
    made = {"shape": (4, 4), "typestr": "|u1", "data": (4096, False), "strides": None, "version": 3, **changed}
    return types.SimpleNamespace(__cuda_array_interface__=made)


def functions():
    return (sluice.image.label, sluice.image.components)


def test_without_a_device_it_is_refused():
    for function in (*functions(), sluice.image.otsu):
        with pytest.raises(sluice.UnsupportedError, match="image is in the memory of a GPU.*device='cuda'.*copy it to the host"):
            function(interface())


@pytest.mark.parametrize(
    "changed",
    [
        {"typestr": "<f8"},
        {"typestr": ">u2"},
        {"typestr": None},
        {"shape": (4,)},
        {"shape": (2, 2, 2)},
        {"shape": [4, 4]},
        {"shape": (-1, 4)},
        {"strides": (8, 2)},
        {"strides": (8,)},
        {"strides": 5},
        {"data": 4096},
        {"data": None},
        {"mask": interface()},
        {"stream": "x"},
        {"typestr": "<u4", "data": (4098, False)},
        {"typestr": "<u2", "strides": (9, 2)},
    ],
    ids=str,
)
def test_what_is_not_taken_on_a_device(changed):
    for function in functions():
        with pytest.raises(TypeError, match="2-D array of bool, uint8, uint16, uint32 or float32"):
            function(interface(**changed), device="cuda")
    with pytest.raises(TypeError, match="2-D array"):
        sluice.image.label(types.SimpleNamespace(__cuda_array_interface__=5), device="cuda")


def test_several_gpus_take_memory_of_the_host():
    with pytest.raises(sluice.UnsupportedError, match="memory of a GPU"):
        sluice.image.label(interface(), device="cuda:0,1")


def test_another_device_than_the_images():
    there = types.SimpleNamespace(__dlpack_device__=lambda: (2, 1), __dlpack__=lambda **_: None)
    for device in ("cuda", "cuda:0"):
        with pytest.raises(sluice.UsageError, match=f"image is in the memory of cuda:1, and device is '{device}'"):
            sluice.image.label(there, device=device)


def test_no_gpu(monkeypatch):
    try:
        sluice.image.label(np.eye(4, dtype=np.uint8), device="cuda")
    except sluice.UnsupportedError:
        for changed in ({}, {"stream": 1}):  # of the labeller; before that of who is waited for
            with pytest.raises(sluice.UnsupportedError):
                sluice.image.label(interface(**changed), device="cuda")
    else:
        pytest.skip("there is a GPU")


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_labels_are_the_processors(package):
    arrays = pytest.importorskip(package)
    try:
        sluice.image.label(np.eye(4, dtype=np.uint8), device="cuda")
    except sluice.UnsupportedError:
        pytest.skip("no GPU")
    make = arrays.asarray if package == "cupy" else lambda array: arrays.as_tensor(array).to("cuda")
    rng = np.random.default_rng(4)
    for dtype in (bool, np.uint8, np.float32) if package == "torch" else (bool, np.uint8, np.uint16, np.uint32, np.float32):
        image = (rng.random((300, 217)) < 0.4).astype(dtype)
        expected, n = sluice.image.label(image)
        columns = sluice.image.components(image)
        there = make(image)
        wrapped = types.SimpleNamespace(__cuda_array_interface__=there.__cuda_array_interface__, keep=there)
        for given, on_host in ((there, image), (wrapped, image), (there[20:, 5:90], image[20:, 5:90]), (there[::3], image[::3])):
            labels, m = sluice.image.label(given, device="cuda:0")
            want, n = sluice.image.label(on_host)
            assert m == n and (labels == want).all()
        found = sluice.image.components(there, device="cuda")
        assert found.checksum == columns.checksum
        with pytest.raises(sluice.UnsupportedError, match="device='cuda"):
            sluice.image.label(there)
    assert expected.any()
