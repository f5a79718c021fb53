# SPDX-License-Identifier: Apache-2.0
"""The record of a run: one JSON file with every sample, and nothing that names a host or a path.

    record      = {schema, what, started, finished, options, environment, stopwatch, ceilings, cases}
    case        = {name, op, shape, floor_bytes | flops, entries, clocks}
    entry       = {name, label, role, again_of?, against?, samples_us | error, detail?, exposed?}
    role        = "subject" (kiln) | "again" (its second copy) | "peer" | "ceiling" | "floor"

Samples stand in the order of the repetitions: equal indices in one case were taken in the same repetition.
Everything derived (medians, intervals, verdicts) is computed from the samples when it is shown.
History: 1, the first.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import socket
from pathlib import Path
from typing import Any

from bench.entry import ROLES, Entry
from bench.failure import BenchError

SCHEMA = 1
RESULTS = Path(__file__).resolve().parent / "results"
WHATS = ("norm", "gemm", "host")

_PATH = re.compile(r"(?<![\w./:])~?(?:/[\w.+@-]+)+/([\w.+@-]+)")
_NUMBERS = re.compile(r"\[\s+(-?[\d.eE+-]+(?:,\s+-?[\d.eE+-]+)*)\s+\]")


def utc_now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def start(what: str, options: dict[str, Any], environment: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "what": what,
        "started": utc_now(),
        "finished": None,
        "options": options,
        "environment": environment,
        "stopwatch": {},
        "ceilings": {},
        "cases": [],
    }


def entry_record(
    entry: Entry, samples_us: list[float] | None, error: str | None, exposed: bool
) -> dict[str, Any]:
    """One entry as the record holds it."""
    kept: dict[str, Any] = {"name": entry.name, "label": entry.label, "role": entry.role}
    if entry.again_of:
        kept["again_of"] = entry.again_of
    if entry.against:
        kept["against"] = list(entry.against)
    if error or not samples_us:
        kept["error"] = error or "no sample was taken"
    else:
        kept["samples_us"] = samples_us
    if exposed:
        kept["exposed"] = True
    if entry.detail:
        kept["detail"] = entry.detail
    return kept


def scrub(value: Any, host: str | None = None) -> Any:
    """The same value with absolute paths cut to their last part and this host's name removed."""
    host = socket.gethostname() if host is None else host
    if isinstance(value, dict):
        return {key: scrub(item, host) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrub(item, host) for item in value]
    if isinstance(value, str):
        value = _PATH.sub(r"…/\1", value)
        # A short name ("a", "gpu") would also be found inside words.
        return value.replace(host, "(host)") if len(host) > 4 and host != "localhost" else value
    return value


def render(record: dict[str, Any]) -> str:
    """JSON with a line a field, but lists of numbers on one line."""
    text = json.dumps(scrub(record), indent=1, ensure_ascii=False, allow_nan=False)
    return _NUMBERS.sub(lambda found: "[" + " ".join(found.group(1).split()) + "]", text) + "\n"


def write(record: dict[str, Any], path: Path) -> None:
    """Whole or not at all: a run that is cut short keeps the cases it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(render(record), encoding="utf-8")
    os.replace(temporary, path)


def path_for(record: dict[str, Any], out: str | None, results: Path = RESULTS) -> Path:
    """`out`, else results/<date>-<what>.json, else the same with -2, -3 …"""
    if out:
        return Path(out)
    stem = f"{record['started'][:10]}-{record['what']}"
    path, number = results / f"{stem}.json", 2
    while path.exists():
        path, number = results / f"{stem}-{number}.json", number + 1
    return path


def read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BenchError(f"{path} is not JSON: {error}") from error
    problem = complaint(record)
    if problem:
        raise BenchError(f"{path} is not a record of schema {SCHEMA}: {problem}")
    return record


def is_foreign(path: Path) -> bool:
    """Whether it is a JSON object without any schema, which something else wrote."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "schema" not in found


def complaint(record: Any) -> str | None:
    """Why this is no record, or nothing."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        return "its schema is another"
    if record.get("what") not in WHATS:
        return f"'what' is {record.get('what')!r}, not one of {', '.join(WHATS)}"
    for key in ("started", "environment", "cases", "options"):
        if key not in record:
            return f"it has no '{key}'"
    for case in record["cases"]:
        for entry in case.get("entries", ()):
            where = f"case {case.get('name')!r}, entry {entry.get('name')!r}"
            if entry.get("role") not in ROLES:
                return f"{where}: role {entry.get('role')!r}"
            if not entry.get("samples_us") and not entry.get("error"):
                return f"{where}: neither samples nor an error"
    return None
