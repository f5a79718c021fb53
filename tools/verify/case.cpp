// Making the data of a problem.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/case.hpp"

#include <utility>

#include "tools/verify/element.hpp"
#include "tools/verify/groups.hpp"
#include "tools/verify/parallel.hpp"
#include "tools/verify/random.hpp"

namespace kiln::verify {
namespace {

// What the typed elements hold, so that rounding the inputs is no error of the kernel.
std::vector<double> stored_values(const TensorSpec& spec, std::int64_t count, std::uint64_t seed) {
  if (!spec.values.empty()) return spec.values;
  const std::uint64_t stream = stream_of(seed, spec.name);
  std::vector<double> values(static_cast<std::size_t>(count));
  parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(i)] = rounded(spec.type, sample(spec.fill, stream, i));
    }
  });
  return values;
}

}  // namespace

Case::Case(const Signature& signature, const CaseOptions& options)
    : signature_(signature),
      options_(options),
      problem_(make_problem(signature, options.rows, options.sizes)) {
  for (const TensorSpec& spec : problem_.tensors) {
    layouts_.push_back(make_layout(spec, options.layout));
    const bool given = spec.role != Role::output;
    images_.push_back(make_image(layouts_.back(),
                                 given
                                     ? stored_values(spec, layouts_.back().elements(), options.seed)
                                     : std::vector<double>{}));
  }
}

const std::vector<Expected>& Case::expected() {
  if (expected_) return *expected_;
  std::vector<HostTensor> given;
  for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
    const TensorSpec& spec = problem_.tensors[i];
    if (spec.role == Role::output) continue;
    given.push_back({spec.name, spec.shape, decode(layouts_[i], images_[i])});
  }
  expected_ = find_family(signature_.op).reference(signature_, options_.rows, given);
  return *expected_;
}

}  // namespace kiln::verify
