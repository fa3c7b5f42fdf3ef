# SPDX-License-Identifier: Apache-2.0
"""Settings of the VELO's chain as objects: docs/formats/velo-config.md has their limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

__all__ = ["Config", "Fit", "Gec", "Track", "Vertex"]


def _of(default: Any, unit: str, doc: str) -> Any:
    return field(default=default, metadata={"unit": unit, "doc": doc})


class _Told:
    """What every setting is."""

    @classmethod
    def units(cls) -> dict[str, str]:
        """The unit of each setting by its name; "1" for a pure number."""
        told: Any = cls
        return {one.name: str(one.metadata["unit"]) for one in fields(told) if "unit" in one.metadata}

    @classmethod
    def docs(cls) -> dict[str, str]:
        """What each setting does, by its name."""
        told: Any = cls
        return {one.name: str(one.metadata["doc"]) for one in fields(told) if "doc" in one.metadata}


@dataclass(kw_only=True)
class Track(_Told):
    """The search for tracks. Scatter is the squared distance of a hit to the line through the two before it."""

    algorithm: str = _of("local", "1", "local, or a baseline: pair-fast, pair-best, triplet")
    strategy: str = _of("standard", "1", "layers of both halves together (standard), one after the other (split), of each module (full)")
    candidates: int = _of(2, "1", "partners nearest in phi that a seed tries")
    max_scatter_seeding_mm2: float = _of(0.05, "mm2", "scatter of a seed's third hit")
    max_scatter_extending_mm2: float = _of(0.1, "mm2", "scatter of a further hit")
    max_scatter_3hits_mm2: float = _of(0.0095, "mm2", "scatter of a track that ends with three hits")
    second_candidates: int = _of(5, "1", "candidates of the second pass, over the hits that are left; 0: there is none")
    second_seeding_mm2: float = _of(0.12, "mm2", "scatter of a seed's third hit in the second pass")
    second_extending_mm2: float = _of(0.17, "mm2", "scatter of a further hit in the second pass")
    second_3hits_mm2: float = _of(0.0095, "mm2", "scatter of a track of three hits in the second pass")
    missing_layer_mm2: float = _of(0.00072, "mm2", "added to the scatter of a track of three hits for each layer that it misses; 0: off")
    missing_r_low_mm: float = _of(9.0, "mm", "if its line is at least so far from the beam line there")
    missing_r_high_mm: float = _of(31.0, "mm", "if its line is at most so far from the beam line there")
    trim_mm2: float = _of(0.02, "mm2", "a track of five hits and more loses the most upstream one if it scatters more; 0: off")
    pickup_mm2: float = _of(0.025, "mm2", "squared distance of hits that a track picks up; 0: off")
    min_hits: int = _of(3, "1", "hits that a track has at least, those picked up counted")
    merge_slope: float = _of(0.001, "1", "largest difference of the slopes of two tracks that become one")
    merge_mm2: float = _of(0.02, "mm2", "squared distance of two tracks that become one; 0: off")
    max_layer_hits: int = _of(2000, "1", "no search in an event with more hits in a layer")
    max_event_hits: int = _of(0, "1", "no search in an event with more hits; 0: no limit")


@dataclass(kw_only=True)
class Fit(_Told):
    """The fit of tracks, and where the beam line is."""

    hit_sigma_mm: float = _of(0.0125, "mm", "resolution of a hit that is not known to be so many pixels")
    size_sigma_mm: list[float] = field(
        default_factory=lambda: [0.0131, 0.0115, 0.0148, 0.0208, 0.0325, 0.07],
        metadata={"unit": "mm", "doc": "resolution of hits of 1, 2, 3, 4, 5, 6 and more pixels"},
    )
    noise_constant: float = _of(1e-08, "1", "variance of a slope from scattering in a layer, at tx = ty = 0")
    noise_slope: float = _of(6e-06, "1", "... and for each tx2 + ty2")
    second_noise_slope: float = _of(8e-06, "1", "the same in the second pass, if chi2 is as expected")
    scatter_prior: float = _of(8.0, "1", "how slowly scattering follows chi2; 0: no second pass")
    beam_x_mm: float = _of(0.0, "mm", "the beam line, parallel to z, of search, fit and vertices")
    beam_y_mm: float = _of(0.0, "mm", "its y")
    end_z_mm: float = _of(770.0, "mm", "where the downstream state is given")


@dataclass(kw_only=True)
class Vertex(_Told):
    """The search for primary vertices."""

    z_min_mm: float = _of(-541.0, "mm", "vertices are looked for from here")
    z_max_mm: float = _of(307.0, "mm", "to here")
    bin_mm: float = _of(0.25, "mm", "width of a bin of the histogram, which has 1 to 4096")
    error_scale: float = _of(1.25, "1", "vertices take tracks' errors for so much larger")
    max_track_chi2: float = _of(10.0, "1", "chi2 of the distance between a track and the beam line, to be counted")
    max_track_sigma_z_mm: float = _of(1.5, "mm", "uncertainty of a track's z there, to be counted")
    min_peak_tracks: float = _of(2.0, "1", "integral of a peak, in tracks")
    max_dip_per_mm: float = _of(1.5, "1/mm", "density between two peaks that separates them")
    iterations: int = _of(7, "1", "of the fit, at most")
    max_fit_chi2: float = _of(16.0, "1", "chi2 of a track, to take part in the fit of a vertex")
    min_tracks: float = _of(4.0, "1", "tracks in a fit, at least")
    max_beam_distance2_mm2: float = _of(0.3, "mm2", "squared distance of a vertex from the beam line")
    min_separation2: float = _of(40.0, "1", "squared distance of two vertices in z over its variance; of nearer ones the smaller goes")


@dataclass(kw_only=True)
class Gec(_Told):
    """The global event cut, in clusters by the sizes of banks: an event with more is left out. 0: no limit."""

    max_velo: int = _of(0, "1", "clusters of the VELO")
    max_ut: int = _of(0, "1", "clusters of the UT")
    max_scifi: int = _of(0, "1", "clusters of the SciFi")
    max_ut_scifi: int = _of(0, "1", "clusters of the UT and the SciFi together")


@dataclass(kw_only=True)
class Config(_Told):
    """All settings, with the defaults of the preset "standard".

    >>> config = Config(track=Track(trim_mm2=0.01))
    >>> config.vertex.min_tracks = 5
    >>> Track.units()["trim_mm2"]
    'mm2'
    """

    banks: str = _of("auto", "1", "what hits are made of: auto, superpixels, retina")
    track: Track = field(default_factory=Track)
    fit: Fit = field(default_factory=Fit)
    vertex: Vertex = field(default_factory=Vertex)
    gec: Gec = field(default_factory=Gec)

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Config:
        """Of a mapping as ``sluice.velo.settings`` gives it."""
        return cls(
            banks=settings["banks"],
            track=Track(**settings["track"]),
            fit=Fit(**settings["fit"]),
            vertex=Vertex(**settings["vertex"]),
            gec=Gec(**settings["gec"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """As docs/formats/velo-config.md has it."""
        return asdict(self)
