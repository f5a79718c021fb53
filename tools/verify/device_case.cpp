// Running a case on a device and judging what came back.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/device_case.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kiln/error.hpp>

namespace kiln::verify {

bool Verdict::passed() const noexcept {
  return damage.empty() && std::all_of(checks.begin(), checks.end(), [](const TensorCheck& check) {
           return check.passed();
         });
}

std::string Verdict::failures() const {
  std::string text;
  for (const TensorCheck& check : checks) {
    if (check.passed()) continue;
    text += fmt::format(
        "{}: {} of {} elements out of bounds; worst is element {}: {} where {} is expected, {:.3g} "
        "times the bound\n",
        check.name,
        check.wrong,
        check.elements,
        check.worst_element,
        check.worst_value,
        check.worst_expected,
        check.worst_ratio);
  }
  for (const std::string& line : damage) text += line + "\n";
  return text;
}

std::string first_difference(const Bits& left, const Bits& right) {
  if (left.size() != right.size()) return "the results have different tensors";
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto& [name, bytes] = left[i];
    const auto& other = right[i].second;
    if (bytes == other) continue;
    const auto at =
        std::mismatch(bytes.begin(), bytes.end(), other.begin(), other.end()).first - bytes.begin();
    return fmt::format("{} differs, first at byte {}", name, at);
  }
  return {};
}

DeviceCase::DeviceCase(const Driver& driver, Case& host) : driver_(driver), host_(host) {
  for (std::size_t i = 0; i < host.layouts().size(); ++i) {
    blocks_.emplace_back(driver, host.layouts()[i].total_bytes);
    blocks_.back().upload(host.images()[i]);
  }
}

Arguments DeviceCase::arguments() const {
  Arguments arguments;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Layout& layout = host_.layouts()[i];
    arguments.add(layout.rank == 0 ? scalar(layout.name, decode(layout, host_.images()[i]).at(0))
                                   : layout.tensor(blocks_[i].address()));
  }
  return arguments;
}

void DeviceCase::bind(const Prepared& prepared, int sm_limit) {
  // An output of bytes: poisoned with NaN, guard bands around it.
  const std::int64_t words = (prepared.plan().workspace_bytes + 3) / 4;
  workspace_layout_ =
      make_layout({"the workspace", DType::f32, {words}, Role::output, Fill::zero}, {});
  workspace_image_ = make_image(workspace_layout_, {});
  workspace_ = std::make_unique<Block>(driver_, workspace_layout_.total_bytes);
  workspace_->upload(workspace_image_);
  BindOptions options;
  options.workspace = Workspace{workspace_layout_.tensor(workspace_->address()).data,
                                prepared.plan().workspace_bytes,
                                nullptr};
  options.sm_limit = sm_limit;
  launch_ = prepared.bind(arguments(), options);
}

void DeviceCase::reset() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (host_.layouts()[i].role != Role::input) blocks_[i].upload(host_.images()[i]);
  }
  if (workspace_) workspace_->upload(workspace_image_);
}

void DeviceCase::run(const Stream& stream) {
  launch_.run(stream.get());
  stream.synchronize("running the kernel");
}

Verdict DeviceCase::check() {
  Verdict verdict;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Layout& layout = host_.layouts()[i];
    const std::vector<std::byte> after = blocks_[i].download();
    if (auto found = damage(layout, host_.images()[i], after))
      verdict.damage.push_back(*std::move(found));
    if (layout.role == Role::input) continue;
    verdict.bits.emplace_back(layout.name, element_bytes(layout, after));
    const std::vector<Expected>& expected = host_.expected();
    const auto match = std::find_if(expected.begin(), expected.end(), [&](const Expected& each) {
      return each.name == layout.name;
    });
    if (match == expected.end()) {
      throw Error(
          ErrorCode::internal,
          fmt::format("the reference of {} has no {}", host_.signature().text(), layout.name));
    }
    verdict.checks.push_back(compare(*match, decode(layout, after)));
  }
  if (workspace_) {
    if (auto found = damage(workspace_layout_, workspace_image_, workspace_->download())) {
      verdict.damage.push_back(*std::move(found));
    }
  }
  return verdict;
}

Bits DeviceCase::bits() const {
  Bits bits;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Layout& layout = host_.layouts()[i];
    if (layout.role == Role::input) continue;
    bits.emplace_back(layout.name, element_bytes(layout, blocks_[i].download()));
  }
  return bits;
}

Verdict run_and_check(DeviceCase& device_case,
                      const Prepared& prepared,
                      const Stream& stream,
                      int sm_limit) {
  device_case.bind(prepared, sm_limit);
  device_case.reset();
  device_case.run(stream);
  return device_case.check();
}

}  // namespace kiln::verify
