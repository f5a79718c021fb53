// Find or compile one kernel: the store first, then this digest's lock, the store again, the
// compiler.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/obtain.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <kiln/error.hpp>

#include "src/service/kept_source.hpp"

namespace kiln {
namespace {

std::string describe(const KernelRequest& request) {
  return fmt::format("kernel {} of '{}' for {} (digest {})",
                     request.closure.source.entry,
                     request.signature,
                     request.arch.text(),
                     request.digest().kernel_hex());
}

// The session's folder when there is one: an environment that was copied may name one that is gone.
std::string lock_folder(const std::string& wanted) {
  const std::size_t slash = wanted.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  return ::access(wanted.substr(0, slash).c_str(), W_OK | X_OK) == 0 ? wanted : std::string();
}

cache::StoreOptions store_options(const Options& options, Logger& log) {
  const Policy& policy = options.policy;
  return {.root = policy.cache_dir,
          .layers = policy.cache_layers,
          .log = [&log](LogLevel level, std::string_view text) { log.write(level, text); },
          .lock_dir = lock_folder(policy.lock_dir),
          .max_bytes = policy.cache_max_bytes,
          .trusted_keys = policy.trusted_keys,
          .telemetry = options.telemetry};
}

}  // namespace

Digest KernelRequest::digest() const {
  return kiln::digest(toolchain ? with_toolchain(key, toolchain->id) : key);
}

Cubins::Cubins(const Options& options,
               const Backends& backends,
               Logger& log,
               Toolchains& toolchains,
               Counts& counts)
    : options_(options),
      backends_(backends),
      log_(log),
      toolchains_(toolchains),
      counts_(counts),
      store_(backends.make_store(store_options(options, log))) {}

std::string Cubins::overridden() const {
  const std::vector<std::string>& variables = options_.policy.nvrtc_overrides;
  if (variables.empty()) return {};
  return fmt::format(
      "{} changes what NVRTC makes, so kernels are compiled without the cache; unset to use it",
      fmt::join(variables, ", "));
}

Obtained Cubins::hit(cache::Found found) {
  ++(found.from_layer ? counts_.layer_hits : counts_.cache_hits);
  return {.cubin = std::move(found.cubin),
          .origin = found.from_layer ? Origin::layer : Origin::cache};
}

Obtained Cubins::obtain(const KernelRequest& request) {
  const Policy& policy = options_.policy;
  if (!policy.cache_dir_reason.empty()) {
    log_.write_once(LogLevel::warn,
                    "no cache folder",
                    fmt::format("kernels are kept in memory only: {}", policy.cache_dir_reason));
  }
  if (!request.toolchain) {
    return obtain_of_any_toolchain(
        request, policy.disable_jit ? ErrorCode::jit_disabled : ErrorCode::nvrtc_missing);
  }
  if (const std::string reason = overridden(); !reason.empty()) {
    log_.write_once(LogLevel::warn, "overridden", reason);
    return compile(request);
  }

  const Key key = with_toolchain(request.key, request.toolchain->id);
  std::optional<cache::Found> found = store_->find(key);
  if (found) return hit(std::move(*found));
  const cache::EntryLock lock =
      store_->lock(key, std::chrono::milliseconds(options_.lock_wait_ms), found);
  if (found) return hit(std::move(*found));  // published while we waited: lock() looks again itself
  if (request.recalls) {
    recall_failure(request);
    recall_refusal(request);
  }
  try {
    Obtained compiled = compile(request);
    keep(request, compiled.cubin);
    return compiled;
  } catch (const Error& error) {
    if (error.code != ErrorCode::nvrtc_missing) throw;
    KernelRequest without = request;
    without.toolchain.reset();
    without.no_toolchain_reason = error.detail;
    return obtain_of_any_toolchain(without, ErrorCode::nvrtc_missing);
  }
}

Obtained Cubins::obtain_of_any_toolchain(const KernelRequest& request, ErrorCode missing) {
  std::vector<cache::Found> all = store_->find_any_toolchain(request.key);
  if (all.empty()) {
    throw Error(
        missing,
        fmt::format(
            "{} is not in the cache ({}), and {}. Warm the cache where compiling is possible: "
            "kiln warm --signature '{}' --arch {}",
            describe(request),
            store_->root().empty() ? std::string_view("none") : store_->root(),
            request.no_toolchain_reason,
            request.signature,
            request.arch.text()));
  }
  Obtained obtained = hit(std::move(all.front()));
  for (std::size_t i = 1; i < all.size(); ++i) obtained.others.push_back(std::move(all[i].cubin));
  return obtained;
}

Obtained Cubins::compile(const KernelRequest& request) {
  const std::shared_ptr<const Nvrtc> nvrtc = toolchains_.load(*request.toolchain);
  log_.write(LogLevel::debug, fmt::format("compiling {}", describe(request)));
  ++counts_.compiles;
  const Digest digest = request.digest();
  store_->count(&cache::Counters::compiles, &digest, request.signature);
  try {
    CompileResult result = backends_.compile(*nvrtc,
                                             {.closure = request.closure,
                                              .options = request.options,
                                              .arch = request.arch,
                                              .seed = request.digest().kernel_hex()});
    return {.cubin = std::move(result.cubin), .origin = Origin::compiled, .compile_ms = result.ms};
  } catch (const Error& error) {
    if (error.code != ErrorCode::compile_failed) throw;
    store_->count(&cache::Counters::compile_failures, &digest, error.detail);
    const bool lasting = dynamic_cast<const SourceRefused*>(&error) != nullptr;
    if (lasting && overridden().empty() && nvrtc->uncacheable_reason.empty())
      store_->remember_failure(with_toolchain(request.key, request.toolchain->id), error.detail);
    throw Error(error.code,
                fmt::format("{}: {}\n{}",
                            describe(request),
                            error.detail,
                            keep_source(request.closure.source, request.digest())));
  }
}

void Cubins::keep(const KernelRequest& request, const Cubin& cubin) {
  if (!overridden().empty()) return;
  const std::string reason = toolchains_.load(*request.toolchain)->uncacheable_reason;
  if (!reason.empty()) {
    log_.write_once(LogLevel::warn,
                    "uncacheable",
                    fmt::format("kernels are compiled without being cached: {}", reason));
    return;
  }
  store_->put(
      with_toolchain(request.key, request.toolchain->id), cubin, request.op, request.signature);
}

void Cubins::recall_failure(const KernelRequest& request) {
  const auto known = store_->failure(with_toolchain(request.key, request.toolchain->id));
  if (!known) return;
  throw Error(ErrorCode::compile_failed,
              fmt::format("{}: the compiler refused it minutes ago, and it is tried again in {} s "
                          "(`kiln warm` and KILN_STRICT=1 try at once): {}",
                          describe(request),
                          known->left.count(),
                          known->log));
}

void Cubins::recall_refusal(const KernelRequest& request) {
  if (request.driver.empty()) return;
  const auto known =
      store_->refusal(with_toolchain(request.key, request.toolchain->id), request.driver);
  if (!known) return;
  throw Error(ErrorCode::load_failed,
              fmt::format("{}: the driver refused it minutes ago, and it is tried again in {} s "
                          "(KILN_STRICT=1 tries at once): {}",
                          describe(request),
                          known->left.count(),
                          known->log));
}

void Cubins::remember_refusal(const KernelRequest& request, std::string_view why) {
  if (!request.toolchain || request.driver.empty() || !overridden().empty()) return;
  store_->remember_refusal(with_toolchain(request.key, request.toolchain->id), request.driver, why);
}

void Cubins::count_refusal(const KernelRequest& request, std::string_view why) {
  const Digest digest = request.digest();
  store_->count(&cache::Counters::load_refusals, &digest, why);
}

void Cubins::count_fallback(std::string_view why) {
  ++counts_.fallbacks;
  store_->count(&cache::Counters::fallbacks, nullptr, why);
}

Obtained Cubins::replace(const KernelRequest& request, std::string_view why) {
  store_->quarantine(with_toolchain(request.key, request.toolchain->id), why);
  if (request.recalls) recall_refusal(request);
  return compile(request);
}

}  // namespace kiln
