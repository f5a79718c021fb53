// DLPack's table of C functions.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/tensor_exchange.hpp"

namespace nb = nanobind;

namespace kiln::python {

// The layout that DLPack fixes for major version 1: functions return 0, or -1 with a Python
// exception set.
struct ExchangeTable {
  std::uint32_t major, minor;
  const ExchangeTable* previous;  // of an older major version
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*view_of_object)(void* object, TensorView* out);
  int (*current_stream)(std::int32_t device_type, std::int32_t ordinal, void** out);
};

namespace {

constexpr std::uint32_t kMajor = 1;

const ExchangeTable* table_of(nb::handle type) {
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  constexpr const char* kName = "dlpack_exchange_api";
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), kName) == 0) return nullptr;
  const auto* table = static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  while (table != nullptr && table->major != kMajor) table = table->previous;
  const bool whole =
      table != nullptr && table->view_of_object != nullptr && table->current_stream != nullptr;
  return whole ? table : nullptr;
}

}  // namespace

TensorExchange::TensorExchange(nb::handle type, nb::handle subclass)
    : types_{nb::borrow(type), nb::borrow(subclass)}, table_(table_of(type)) {}

std::optional<TensorView> TensorExchange::read(nb::handle object) const noexcept {
  const nb::handle type = object.type();
  if (table_ == nullptr || (!type.is(types_[0]) && !type.is(types_[1]))) return std::nullopt;
  TensorView view;
  if (table_->view_of_object(object.ptr(), &view) == 0) return view;
  PyErr_Clear();
  return std::nullopt;
}

std::optional<std::uintptr_t> TensorExchange::stream(int ordinal) const noexcept {
  void* stream = nullptr;
  if (table_ != nullptr && table_->current_stream(nb::device::cuda::value, ordinal, &stream) == 0) {
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  PyErr_Clear();
  return std::nullopt;
}

}  // namespace kiln::python
