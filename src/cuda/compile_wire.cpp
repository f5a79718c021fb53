// Requests and answers between a process and the one that compiles for it.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/compile_wire.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace kiln {
namespace {

class Fields {
 public:
  void add(std::string_view label, std::string_view value) {
    fields_.push_back({std::string(label), std::string(value)});
  }
  void add(std::string_view label, std::int64_t value) { add(label, fmt::to_string(value)); }
  [[nodiscard]] std::string bytes() const { return serialize(fields_); }

 private:
  std::vector<KeyField> fields_;
};

std::int64_t number(const KeyField& field) {
  std::int64_t value = 0;
  const char* end = field.value.data() + field.value.size();
  const auto [stop, failure] = std::from_chars(field.value.data(), end, value);
  if (failure != std::errc() || stop != end) {
    throw Error(ErrorCode::internal,
                fmt::format("a worker's message has {}=\"{}\"", field.label, field.value));
  }
  return value;
}

int small_number(const KeyField& field) { return static_cast<int>(number(field)); }

[[noreturn]] void unknown(const KeyField& field) {
  throw Error(ErrorCode::internal,
              fmt::format("a worker's message has a field \"{}\"", field.label));
}

void add_toolchain(Fields& fields, const Toolchain& id) {
  fields.add("major", id.major);
  fields.add("minor", id.minor);
  fields.add("nvrtc_id", id.nvrtc_id);
  fields.add("builtins_id", id.builtins_id);
}

bool take_toolchain(const KeyField& field, Toolchain& id) {
  if (field.label == "major") return id.major = small_number(field), true;
  if (field.label == "minor") return id.minor = small_number(field), true;
  if (field.label == "nvrtc_id") return id.nvrtc_id = field.value, true;
  if (field.label == "builtins_id") return id.builtins_id = field.value, true;
  return false;
}

void add_files(Fields& fields, const ToolchainFiles& files) {
  add_toolchain(fields, files.id);
  fields.add("nvrtc_path", files.nvrtc_path);
  fields.add("builtins_path", files.builtins_path);
}

bool take_request(const KeyField& field, OwnedRequest& owned) {
  if (field.label == "nvrtc_path") return owned.files.nvrtc_path = field.value, true;
  if (field.label == "builtins_path") return owned.files.builtins_path = field.value, true;
  if (field.label == "source") return owned.closure.source.text = field.value, true;
  if (field.label == "entry") return owned.closure.source.entry = field.value, true;
  if (field.label == "option") return owned.options.flags.push_back(field.value), true;
  if (field.label == "arch_major") return owned.arch.major = small_number(field), true;
  if (field.label == "arch_minor") return owned.arch.minor = small_number(field), true;
  if (field.label == "arch_suffix")
    return owned.arch.suffix = static_cast<char>(number(field)), true;
  if (field.label == "seed") return owned.seed = field.value, true;
  if (field.label == "load_only") return owned.load_only = number(field) != 0, true;
  if (field.label == "header_name" || field.label == "header_text")
    return owned.texts.push_back(field.value), true;
  return false;
}

bool take_cubin(const KeyField& field, Cubin& cubin) {
  if (field.label == "image") {
    const auto* bytes = reinterpret_cast<const std::byte*>(field.value.data());
    cubin.image.assign(bytes, bytes + field.value.size());
    return true;
  }
  if (field.label == "entry") return cubin.entry = field.value, true;
  if (field.label == "registers") return cubin.registers = small_number(field), true;
  if (field.label == "spill_bytes") return cubin.spill_bytes = number(field), true;
  if (field.label == "stack_bytes") return cubin.stack_bytes = number(field), true;
  if (field.label == "static_smem_bytes") return cubin.static_smem_bytes = number(field), true;
  return false;
}

// Only these are branched on by who asked for a compile.
ErrorCode code_from(std::string_view name) {
  if (name == to_string(ErrorCode::compile_failed)) return ErrorCode::compile_failed;
  if (name == to_string(ErrorCode::nvrtc_missing)) return ErrorCode::nvrtc_missing;
  return ErrorCode::internal;
}

}  // namespace

std::string load_message(const ToolchainFiles& files) {
  Fields fields;
  add_files(fields, files);
  fields.add("load_only", 1);
  return fields.bytes();
}

std::string compile_message(const ToolchainFiles& files, const CompileRequest& request) {
  Fields fields;
  add_files(fields, files);
  fields.add("source", request.closure.source.text);
  fields.add("entry", request.closure.source.entry);
  for (const EmbeddedFile& header : request.closure.headers) {
    fields.add("header_name", header.name);
    fields.add("header_text", header.text);
  }
  for (const std::string& flag : request.options.flags) fields.add("option", flag);
  fields.add("arch_major", request.arch.major);
  fields.add("arch_minor", request.arch.minor);
  fields.add("arch_suffix", request.arch.suffix);
  fields.add("seed", request.seed);
  return fields.bytes();
}

OwnedRequest request_from(std::string_view message) {
  OwnedRequest owned;
  for (const KeyField& field : deserialize_fields(message)) {
    if (!take_toolchain(field, owned.files.id) && !take_request(field, owned)) unknown(field);
  }
  if (owned.texts.size() % 2 != 0)
    throw Error(ErrorCode::internal, "a worker's message has a header without text");
  for (std::size_t i = 0; i < owned.texts.size(); i += 2) {
    owned.closure.headers.push_back({owned.texts[i], owned.texts[i + 1]});
  }
  return owned;
}

std::string answer_message(const CompileAnswer& answer) {
  Fields fields;
  const Cubin& cubin = answer.result.cubin;
  add_toolchain(fields, answer.id);
  fields.add("uncacheable", answer.uncacheable_reason);
  fields.add("image", {reinterpret_cast<const char*>(cubin.image.data()), cubin.image.size()});
  fields.add("entry", cubin.entry);
  fields.add("registers", cubin.registers);
  fields.add("spill_bytes", cubin.spill_bytes);
  fields.add("stack_bytes", cubin.stack_bytes);
  fields.add("static_smem_bytes", cubin.static_smem_bytes);
  fields.add("log", answer.result.log);
  fields.add("microseconds", static_cast<std::int64_t>(answer.result.ms * 1000));
  return fields.bytes();
}

std::string error_message(const Error& error) {
  Fields fields;
  fields.add("error", to_string(error.code));
  fields.add("detail", error.detail);
  return fields.bytes();
}

CompileAnswer answer_from(std::string_view message) {
  CompileAnswer answer;
  std::string error;
  std::string detail;
  for (KeyField& field : deserialize_fields(message)) {
    if (take_toolchain(field, answer.id) || take_cubin(field, answer.result.cubin)) continue;
    if (field.label == "error") {
      error = std::move(field.value);
    } else if (field.label == "detail") {
      detail = std::move(field.value);
    } else if (field.label == "uncacheable") {
      answer.uncacheable_reason = std::move(field.value);
    } else if (field.label == "log") {
      answer.result.log = std::move(field.value);
    } else if (field.label == "microseconds") {
      answer.result.ms = static_cast<double>(number(field)) / 1000;
    } else {
      unknown(field);
    }
  }
  if (!error.empty()) throw Error(code_from(error), detail);
  return answer;
}

}  // namespace kiln
