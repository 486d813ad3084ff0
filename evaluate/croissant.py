"""Croissant 1.0: a data set described in JSON-LD, with the fields of its vocabulary for responsible AI.

MLCommons, *Croissant Format Specification* 1.0 and *Croissant RAI Specification* 1.0 (2024). ``mlcroissant validate``
and sites that host data read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from importlib.metadata import metadata
from typing import NamedTuple

from crib_env.distribution import __version__

_TERMS = """citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset
jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source subField
transform"""
_CONTEXT = {  # as the specification prescribes it
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}


class File(NamedTuple):
    """A file of a data set."""

    path: str
    """From the folder of the description."""
    media_type: str
    sha256: str


class Column(NamedTuple):
    """A column of every file."""

    about: str
    kind: str
    """A type of schema.org, such as ``"Integer"``."""


class Responsible(NamedTuple):
    """What a user has to know, in the words of the vocabulary for responsible AI."""

    collection: str
    uses: str
    limitations: str
    biases: str


def description(
    name: str,
    about: str,
    published: date,
    files: Iterable[File],
    columns: Mapping[str, Column],
    responsible: Responsible,
) -> dict[str, object]:
    """The content of ``croissant.json``.

    Args:
        files: all files, described by the columns if there are any.
        columns: by name; none for files that are not tables.
        responsible: where it comes from, and what to mind.
    """
    address = (metadata("crib-env").get_all("Project-URL") or [""])[0].partition(", ")[2]
    found = list(files)
    objects = [
        {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path,
            "contentUrl": file.path,
            "encodingFormat": file.media_type,
            "sha256": file.sha256,
        }
        for file in found
    ]
    tables = [_table(file, columns, number) for number, file in enumerate(found)] if columns else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": name,
        "description": about,
        "url": address,
        "license": "https://spdx.org/licenses/MIT",
        "version": __version__,
        "datePublished": published.isoformat(),
        "creator": {"@type": "Organization", "name": "The crib_env authors", "url": address},
        "citeAs": f"@software{{crib_env, title={{crib_env: two-player cribbage for reinforcement learning}}, "
        f"author={{{{The crib_env authors}}}}, version={{{__version__}}}, url={{{address}}}}}",
        "rai:dataCollection": responsible.collection,
        "rai:dataCollectionType": ["Simulations"],
        "rai:dataUseCases": responsible.uses,
        "rai:dataLimitations": responsible.limitations,
        "rai:dataBiases": responsible.biases,
        "rai:personalSensitiveInformation": "None. No person took part, and nothing is about persons.",
        "rai:dataSocialImpact": "None is known. Cribbage is also played for small stakes; nothing here advises to.",
        "rai:dataReleaseMaintenancePlan": "A version never changes; what changes it is the next version.",
        "distribution": objects,
        "recordSet": tables,
    }


def _table(file: File, columns: Mapping[str, Column], number: int) -> dict[str, object]:
    """The records of a file."""
    table = f"records-{number}"
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": f"The rows of {file.path}",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table}/{name}",
                "name": name,
                "description": column.about,
                "dataType": f"sc:{column.kind}",
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": name}},
            }
            for name, column in columns.items()
        ],
    }
