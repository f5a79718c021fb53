// A tensor map: how the copy engine finds a tensor's boxes. Opaque: the driver encodes it on the
// host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace kiln
