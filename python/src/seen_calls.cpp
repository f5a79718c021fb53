// RMSNorm backward on tensors as they come: where all are as usual and a call like it was seen, it
// is checked, packed and launched without going through Python.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <kiln/error.hpp>

#include "python/src/bindings.hpp"
#include "python/src/rms_norm_backward_launch.hpp"
#include "python/src/tensor_exchange.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kiln::python {
namespace {

// What becomes of the weight gradient, as kiln.nn._launches numbers it.
constexpr int kReturned = 0;

std::optional<DType> type_of(const TensorView& tensor) {
  const nb::dlpack::dtype type = tensor.dtype;
  if (type.lanes != 1) return std::nullopt;
  const auto is = [&](nb::dlpack::dtype_code code, int bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits;
  };
  if (is(nb::dlpack::dtype_code::Float, 32)) return DType::f32;
  if (is(nb::dlpack::dtype_code::Float, 16)) return DType::f16;
  if (is(nb::dlpack::dtype_code::Bfloat, 16)) return DType::bf16;
  return std::nullopt;
}

std::int64_t elements(const TensorView& tensor) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
  return count;
}

bool contiguous(const TensorView& tensor) {
  std::int64_t expected = 1;
  for (std::int32_t i = tensor.ndim - 1; tensor.strides != nullptr && i >= 0; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

bool same_shape(const TensorView& a, const TensorView& b) {
  if (a.ndim != b.ndim) return false;
  for (std::int32_t i = 0; i < a.ndim; ++i) {
    if (a.shape[i] != b.shape[i]) return false;
  }
  return true;
}

template <class Pointer>
Pointer start(const TensorView& tensor) {
  return address<Pointer>(reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset);
}

// The tensors of one call.
struct Tensors {
  TensorView dy, x, rstd, w, dx, dw;

  // Dense tensors of one GPU, that fit one another; no empty ones.
  [[nodiscard]] bool usual(int becomes) const {
    for (const TensorView* t : {&dy, &x, &rstd, &w, &dx, &dw}) {
      if (t->device.device_type != nb::device::cuda::value ||
          t->device.device_id != x.device.device_id || !contiguous(*t))
        return false;
    }
    if (x.ndim < 1 || w.ndim != 1 || columns() < 1 || x.shape[x.ndim - 1] != columns())
      return false;
    if (rows() < 1 || rows() * columns() != elements(x)) return false;
    if (!same_shape(dy, x) || !same_shape(dx, x) || !same_shape(dw, w)) return false;
    const auto of_x = type_of(x), of_w = type_of(w);
    return of_x && of_w && type_of(dy) == of_x && type_of(dx) == of_x &&
           type_of(rstd) == DType::f32 &&
           type_of(dw) == (becomes == kReturned ? *of_w : DType::f32);
  }

  [[nodiscard]] std::int64_t columns() const { return w.shape[0]; }
  [[nodiscard]] std::int64_t rows() const { return elements(rstd); }

  [[nodiscard]] RmsNormBackward::Arguments arguments() const {
    return {.rows = rows(),
            .dy = start<const void*>(dy),
            .x = start<const void*>(x),
            .rstd = start<const float*>(rstd),
            .w = start<const void*>(w),
            .dx = start<void*>(dx),
            .dw = start<void*>(dw),
            .dy_stride = columns(),
            .x_stride = columns(),
            .dx_stride = columns()};
  }
};

class RmsNormBackwardCalls {
 public:
  RmsNormBackwardCalls(nb::handle type, nb::handle subclass) : exchange_(type, subclass) {}

  [[nodiscard]] bool usable() const { return exchange_.usable(); }

  void add(std::uintptr_t stream,
           int ordinal,
           std::int64_t n,
           const std::string& x,
           const std::string& w,
           int becomes,
           nb::object launch) {
    const auto type = [](const std::string& name) {
      if (const auto known = parse_dtype(name)) return *known;
      throw Error(ErrorCode::invalid_argument, "no type is called '" + name + "'");
    };
    auto& kept = nb::cast<PyRmsNormBackward&>(launch);
    const std::lock_guard lock(mutex_);
    calls_.insert_or_assign(Key{stream, ordinal, n, type(x), type(w), becomes},
                            Call{std::move(launch), &kept});
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
  }

  // False, with nothing launched, for a call that is not as usual or that nothing like was seen of.
  bool run(nb::handle grad_output,
           nb::handle input,
           nb::handle rstd,
           nb::handle weight,
           nb::handle dx,
           nb::handle dw,
           int becomes) {
    Tensors t;
    const auto read = [&](nb::handle object, TensorView& out) {
      const auto view = exchange_.read(object);
      if (view) out = *view;
      return view.has_value();
    };
    if (!read(grad_output, t.dy) || !read(input, t.x) || !read(rstd, t.rstd) ||
        !read(weight, t.w) || !read(dx, t.dx) || !read(dw, t.dw) || !t.usual(becomes))
      return false;
    const auto stream = exchange_.stream(t.x.device.device_id);
    if (!stream) return false;
    // Kept alive by this call: another thread may replace or clear it meanwhile.
    const Call call =
        find({*stream, t.x.device.device_id, t.columns(), *type_of(t.x), *type_of(t.w), becomes});
    return call.launch != nullptr && (*call.launch)->run(*stream, t.arguments());
  }

 private:
  struct Key {
    std::uintptr_t stream;
    int ordinal;
    std::int64_t n;
    DType x, w;
    int becomes;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = std::hash<std::uintptr_t>{}(key.stream);
      for (const std::int64_t part : {static_cast<std::int64_t>(key.ordinal),
                                      key.n,
                                      static_cast<std::int64_t>(key.x),
                                      static_cast<std::int64_t>(key.w),
                                      static_cast<std::int64_t>(key.becomes)})
        hash = hash * 31 + static_cast<std::size_t>(part);
      return hash;
    }
  };
  struct Call {
    nb::object owner;
    PyRmsNormBackward* launch = nullptr;
  };

  Call find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(key);
    return found == calls_.end() ? Call{} : found->second;
  }

  const TensorExchange exchange_;
  std::mutex mutex_;
  std::unordered_map<Key, Call, Hash> calls_;
};
using PyCalls = ProcessBound<RmsNormBackwardCalls>;

}  // namespace

void define_seen_calls(nb::module_& module) {
  nb::class_<PyCalls>(module, "RmsNormBackwardCalls")
      .def(
          "__init__",
          [](PyCalls* self, nb::handle tensor, nb::handle parameter) {
            new (self) PyCalls(std::in_place, tensor, parameter);
          },
          "tensor"_a,
          "parameter"_a)
      .def("usable", [](const PyCalls& self) { return self->usable(); })
      .def(
          "add",
          [](const PyCalls& self,
             std::uintptr_t stream,
             int ordinal,
             std::int64_t n,
             const std::string& x,
             const std::string& w,
             int becomes,
             nb::object launch) {
            self->add(stream, ordinal, n, x, w, becomes, std::move(launch));
          },
          "stream"_a,
          "ordinal"_a,
          "n"_a,
          "x"_a,
          "w"_a,
          "becomes"_a,
          "launch"_a)
      .def("clear", [](const PyCalls& self) { self->clear(); })
      .def(
          "__call__",
          [](const PyCalls& self,
             nb::handle grad_output,
             nb::handle input,
             nb::handle rstd,
             nb::handle weight,
             nb::handle dx,
             nb::handle dw,
             int becomes) { return self->run(grad_output, input, rstd, weight, dx, dw, becomes); },
          "grad_output"_a.none(),
          "input"_a.none(),
          "rstd"_a.none(),
          "weight"_a.none(),
          "dx"_a.none(),
          "dw"_a.none(),
          "becomes"_a);
}

}  // namespace kiln::python
