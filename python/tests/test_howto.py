# SPDX-License-Identifier: Apache-2.0
"""docs/howto/python.md: its blocks run one after the other, and print what stands under them. Text shown elsewhere imports."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import warnings

import pytest

import sluice

PAGE = pathlib.Path(__file__).parents[2] / "docs/howto/python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def blocks():
    return [(match[1], match[2] or "") for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


def run(some):
    """Runs blocks in one namespace; the first whose output is not what it says is an AssertionError."""
    names: dict[str, object] = {}
    for number, (code, expected) in enumerate(some):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"python.md, block {number}", "exec"), names)
        assert printed.getvalue() == expected, f"block {number}:\n{code}"


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sluice.DamageWarning)
        run(blocks())
    assert len(blocks()) >= 7 and sum(bool(expected) for _, expected in blocks()) >= 7


def test_a_wrong_number_is_noticed():
    with pytest.raises(AssertionError, match="block 1"):
        run([("x = 1\n", ""), ("print(x)\n", "2\n")])
