# SPDX-License-Identifier: Apache-2.0
"""What ``Columns.to_pandas``, ``Columns.to_awkward`` and ``numpy.asarray`` of columns do; imported by their first call, as are the packages."""

from __future__ import annotations

import importlib
from typing import Any

from ._core import Columns


def _package(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{what}() needs the package {name}, which is not installed") from error


def to_records(columns: Columns, dtype: Any = None, copy: bool | None = None) -> Any:
    """What ``numpy.asarray(columns)`` is: a structured array, a record a row, of its own memory."""
    import numpy as np

    if copy is False:
        raise ValueError("records of columns are a copy: take the columns, or copy=True")
    views = columns.to_numpy()
    made = np.empty(columns.n_rows, [(name, view.dtype) for name, view in views.items()])
    for name, view in views.items():
        made[name] = view
    return made if dtype is None else made.astype(dtype)


def to_pandas(columns: Columns) -> Any:
    pandas = _package("pandas", "to_pandas")
    import numpy as np

    index = None
    if columns.jagged:
        event = np.repeat(np.arange(columns.n_events), np.diff(columns.offsets.astype(np.int64)))
        index = pandas.Index(event, name="event")
    frame = pandas.DataFrame(columns.to_numpy(), index=index, copy=False)
    frame.attrs["units"] = columns.units
    return frame


def to_awkward(columns: Columns) -> Any:
    awkward = _package("awkward", "to_awkward")
    record: dict[str, Any] = {
        "class": "RecordArray",
        "fields": list(columns.names),
        "contents": [
            {"class": "NumpyArray", "primitive": str(array.dtype), "form_key": name} for name, array in columns.to_numpy().items()
        ],
        "form_key": "rows",
    }
    buffers: dict[str, Any] = {f"{name}-data": array for name, array in columns.to_numpy().items()}
    if not columns.jagged:
        return awkward.from_buffers(record, columns.n_rows, buffers)
    form = {"class": "ListOffsetArray", "offsets": "u32", "content": record, "form_key": "events"}
    return awkward.from_buffers(form, columns.n_events, {**buffers, "events-offsets": columns.offsets})
