# SPDX-License-Identifier: Apache-2.0
"""One thing that is measured: a name, a call, and how its result is obtained for the check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.failure import Unavailable, sentence

SUBJECT = "subject"  # kiln
AGAIN = "again"  # a second copy of a subject, for the noise
PEER = "peer"
CEILING = "ceiling"  # what the machine can do at best, for the bytes or flops of the case
FLOOR = "floor"  # what any call costs: shown, never judged
ROLES = (SUBJECT, AGAIN, PEER, CEILING, FLOOR)


@dataclass
class Entry:
    name: str  # the same in every record: "aten"
    label: str  # for people: "ATen"
    role: str
    call: Callable[[], Any] | None
    # Runs the call once, on poisoned outputs where they are ours, and returns its tensors by name.
    result: Callable[[], Mapping[str, Any]] | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    again_of: str | None = None
    against: tuple[str, ...] = ()  # peers that a subject is judged against; none named: all
    error: str | None = None


Builder = Callable[[Any], Iterable[Entry]]


def missing(name: str, label: str, role: str, error: BaseException) -> Entry:
    """The place of an entry that cannot take part: tables show why."""
    return Entry(name, label, role, None, error=sentence(error))


def gather(builders: Mapping[str, tuple[str, str, Builder]], chosen: Iterable[str], case: Any) -> list[Entry]:
    """Entries of the chosen builders ({name: (label, role, builder)}) for a case, in that order.

    A builder that raises gives one entry with an error: a peer that is not installed, or that refuses a
    shape, is a finding and does not end the run.
    """
    entries: list[Entry] = []
    for name in chosen:
        label, role, build = builders[name]
        try:
            entries.extend(build(case))
        except Unavailable as error:
            entries.append(missing(name, label, role, error))
        except Exception as error:  # noqa: BLE001  (whatever a peer throws)
            entries.append(missing(name, label, role, error))
    return entries
