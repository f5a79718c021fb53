// The whole help in the form that help2man makes a page of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kiln::cli {

[[nodiscard]] std::string manual(const CLI::App& app);

}  // namespace kiln::cli
