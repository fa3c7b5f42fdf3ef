# SPDX-License-Identifier: Apache-2.0
"""A page for the browser, and for Prometheus, on what a program of yours has come to; and files of results on one.

    with sluice.live.Page("127.0.0.1:8080", "my run") as page, sluice.velo.open("run.mdf") as reader:
        tracks = 0
        for batch in reader:
            tracks += batch.tracks.n_rows
            if page.due():
                page.value("Tracks", tracks, counter=True, keep=True, metric="my_tracks_total")
                page.publish()

    page = sluice.live.show("tracks.h5")  # the page of `sluice serve`, until page.close()
    print(page.url)

What is put since the last ``publish`` becomes the page, all at once; the program never waits for who looks. Nothing can be
changed through it; addresses that other machines reach need ``anywhere=True`` and a ``token``. docs/howto/live-page.md tells the rest.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, Literal

from ._core import (
    UsageError,
    live_close,
    live_due,
    live_look,
    live_map,
    live_open,
    live_plot,
    live_publish,
    live_show,
    live_tell,
    live_text,
    live_url,
    live_value,
    live_wants,
)

if TYPE_CHECKING:
    import types

    import numpy.typing as npt

    from ._flow import Path

__all__ = ["Page", "State", "show"]

State = Literal["waiting", "running", "ending", "finished", "failed"]
_KEEP, _ALARM = 1, 2


class Page:
    """A page at ``address`` ("127.0.0.1:8080", "[::1]:8080"; port 0: any free one), with ``command`` and ``title`` in its head. Any thread may
    call it. An address that cannot be had is a ``FileError``, a wrong argument a ``UsageError``."""

    def __init__(
        self,
        address: str = "127.0.0.1:8080",
        command: str = "python",
        *,
        title: str = "",
        token: str | None = None,
        anywhere: bool = False,
        period: float = 1.0,
    ) -> None:
        self._lock = threading.RLock()
        self._page = live_open(address, command, title, token, anywhere, float(period))
        self.url: str = live_url(self._page)
        self._maps: dict[tuple[str, str], int] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def value(
        self,
        title: str,
        value: float,
        *,
        group: str = "Run",
        unit: str | None = None,
        label: tuple[str, str] | None = None,
        counter: bool = False,
        keep: bool = False,
        alarm: bool = False,
        metric: str | None = None,
        help: str | None = None,
    ) -> None:
        """A number. ``counter``: it only rises, and its rate is shown; ``keep``: with the last ten minutes; ``alarm``: above 0 something is wrong.
        With ``label``, as ("module", "12"), it is a cell of the group's table. ``metric``: its name for Prometheus; not a number: not known."""
        for word, allowed in ((metric, "[a-zA-Z_:][a-zA-Z0-9_:]*"), (label and label[0], "[a-zA-Z_][a-zA-Z0-9_]*")):
            if word is not None and not re.fullmatch(allowed, word):
                raise UsageError(f"{word!r} is no name of Prometheus: {allowed}")
        flags = (_KEEP if keep else 0) | (_ALARM if alarm else 0)
        name, own = label if label is not None else (None, None)
        with self._lock:
            live_value(self._page, group, title, float(value), unit, metric, help, name, own, counter, flags)

    def text(self, title: str, text: str, *, group: str = "Run", alarm: bool = False) -> None:
        """Words beside the numbers; with ``alarm`` marked if they are not empty."""
        with self._lock:
            live_text(self._page, group, title, text, _ALARM if alarm else 0)

    def histogram(
        self,
        title: str,
        counts: npt.ArrayLike,
        low: float,
        high: float,
        *,
        group: str = "Run",
        x: str = "",
        y: str = "entries",
        log: bool = False,
    ) -> None:
        """Up to 2048 counts, in bins of one width from ``low`` to ``high``."""
        import numpy as np

        array = np.asarray(counts)
        if array.ndim != 1:
            raise UsageError(f"counts are to be of one dimension, not {array.ndim}")
        if not np.all((array >= 0) & (array < 2.0**64)) or (array.dtype.kind == "f" and np.any(array != np.floor(array))):
            raise UsageError("counts are to be whole numbers from 0 on")
        with self._lock:
            live_plot(self._page, group, title, x, y, float(low), float(high), array.astype(np.uint64).tobytes(), log)

    def map(self, title: str, cells: npt.ArrayLike, *, group: str = "Run", x: str = "x", y: str = "y", unit: str = "") -> None:
        """A picture in false colour of whole numbers, row 0 at the bottom; sent to who looks at it alone."""
        import numpy as np

        array = np.asarray(cells)
        if array.ndim != 2:
            raise UsageError(f"cells are to be of two dimensions, not {array.ndim}")
        with self._lock:
            number = self._maps.setdefault((group, title), len(self._maps))
            some = np.ascontiguousarray(np.clip(np.nan_to_num(array), 0, 2**32 - 1), dtype=np.uint32).tobytes() if live_wants(self._page, number) else b""
            live_map(self._page, number, group, title, x, y, unit, array.shape[1], array.shape[0], some)

    def tell(self, line: str) -> None:
        """Something failed: a line on the page from the next snapshot on; the same again is counted."""
        with self._lock:
            live_tell(self._page, line)

    def due(self) -> bool:
        """Is it time for another snapshot?"""
        with self._lock:
            return live_due(self._page)

    def publish(self, state: State = "running") -> None:
        """What was put since the last time is what the page shows from now on."""
        with self._lock:
            live_publish(self._page, state)

    def close(self) -> None:
        """Ends it; once "finished" or "failed" was published who looks has up to 1.5 s to see that."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._lock:
            live_close(self._page)

    def _show(self, path: Path) -> None:
        live_show(self._page, path)
        self._thread = threading.Thread(target=self._look, name="sluice.live", daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            with self._lock:
                live_look(self._page)

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        if value is not None and self._thread is None:
            self.tell(f"{type(value).__name__}: {value}")
            self.publish("failed")
        self.close()


def show(path: Path, address: str = "127.0.0.1:8080", **options: Any) -> Page:
    """The page of a file of results, HDF5 or Arrow, as ``sluice serve`` shows it: read once, served until ``close()``. ``options`` are those of ``Page``."""
    page = Page(address, "show", title=str(path), **options)
    try:
        page._show(path)
    except BaseException:
        page.close()
        raise
    return page
