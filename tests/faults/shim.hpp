// How a program tells the preloaded shim which call is to fail. Null when it is not preloaded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {

// The nth call from now on of this name fails with `error`; 0: it comes short. `after`: once it was
// done. Disarmed by kiln_fault_fired, which tells whether it came to that.
[[gnu::weak, gnu::visibility("default")]] void kiln_fault_arm(const char* call,
                                                              int nth,
                                                              int error,
                                                              int after);
[[gnu::weak, gnu::visibility("default")]] int kiln_fault_fired();
}
