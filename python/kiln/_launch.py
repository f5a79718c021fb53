"""A prepared kernel, and a launch of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

from kiln import _kiln, _streams, _tensors
from kiln._errors import from_code


class Launch:
    """Arguments packed once. Holds the tensors it was bound to.

    Runs of one launch share its workspace, so they must be ordered, as on one stream they are:
    `clone()` gives another stream its own. A launch that a CUDA graph captured must outlive the graph.
    """

    def __init__(self, launch: _kiln.Launch, prepared: Prepared, tensors: object, workspace: object) -> None:
        self._launch = launch
        self._run = launch.run
        self._prepared = prepared
        self._ordinal = prepared.device
        self._tensors = tensors
        self._workspace = workspace

    def run(self, stream: object = None) -> None:
        """Launches on a stream (torch's current one, or the legacy stream without torch). Waits for
        nothing and allocates nothing. Raises ServiceError when the driver refuses."""
        if stream is None:
            self._run(_streams.current_stream(self._ordinal))
        else:
            self._run(_streams.handle_of(stream))

    def rebind(self, **tensors: object) -> None:
        """New tensors for the same kernel: all of them, as for `Prepared.bind`. Raises RequestError,
        leaving the launch as it was."""
        self._launch.rebind(self._prepared._describe(tensors), self._ordinal)
        self._tensors = tensors

    def clone(self) -> Launch:
        """The same arguments with a workspace of its own."""
        return Launch(self._launch.clone(), self._prepared, self._tensors, None)

    @property
    def kernel_count(self) -> int:
        """Kernel launches a run makes."""
        return self._launch.kernel_count()


class Prepared:
    """A signature whose kernel is loaded on a device. `kiln.prepare` makes it.

    Attributes:
        signature: its canonical text.
        device: the ordinal of the device.
    """

    def __init__(self, prepared: _kiln.Prepared, signature: str) -> None:
        self._prepared = prepared
        self._roles = dict(_kiln.tensor_roles(signature))
        self.signature: str = signature
        self.device: int = prepared.ordinal()

    @property
    def plan(self) -> dict[str, Any]:
        """What runs and why: route, reason, and for each kernel its tile, stages, memory, origin."""
        plan: dict[str, Any] = json.loads(self._prepared.plan_json())
        return plan

    @property
    def roles(self) -> dict[str, str]:
        """The tensors that `bind` takes: "input", "output" or "in_out" by name."""
        return dict(self._roles)

    @property
    def workspace_bytes(self) -> int:
        """Of the memory that a launch needs; it need not be initialised."""
        return self._prepared.workspace_bytes()

    def bind(self, *, workspace: object = None, sm_limit: int = 0, **tensors: object) -> Launch:
        """Checks the tensors and packs a launch. Nothing is launched.

        The tensors are those of `roles`, and what they are is in the README of the op's family. Each is
        a torch tensor, one with __dlpack__, or a tuple (address, shape, strides in elements or None,
        "bf16", ordinal).

        `workspace`: 256-byte aligned memory of at least `workspace_bytes`; absent, the launch makes its
        own. `sm_limit`: use at most so many SMs; changes no bit of the result.
        Raises RequestError naming the tensor, what it is and what it must be.
        """
        if not isinstance(sm_limit, int) or not 0 <= sm_limit < 2**31:
            raise from_code(
                "invalid_argument", f"sm_limit is {sm_limit!r}; a number of SMs is needed, or 0 for all"
            )
        described = self._describe(tensors)
        memory = None
        if workspace is not None:
            memory = _tensors.memory_of("workspace", workspace, self.device)
        launch = self._prepared.bind(described, memory, sm_limit)
        return Launch(launch, self, tensors, workspace)

    def _describe(self, tensors: dict[str, object]) -> list[_tensors.TensorTuple]:
        return [
            _tensors.describe(name, tensor, written=self._roles.get(name, "input") != "input")
            for name, tensor in tensors.items()
            if tensor is not None
        ]

    def __repr__(self) -> str:
        return f"<kiln.Prepared {self.signature} on cuda:{self.device}>"
