// The verbs, their options and their help.
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.hpp"

#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <kiln/service.hpp>

#include "tools/exit_code.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  kiln warm --recipe tools/recipes/models.json --arch sm_90a,sm_100a
  kiln explain rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a
  kiln run rms_norm_backward:n=4096,x=bf16,w=bf16 --rows 16384
  kiln doctor

A signature is op:key=value,key=value. Exit codes: 0 done, 1 something failed, 2 wrong usage, 3 no GPU.
Data goes to stdout, progress and logs to stderr. KILN_CACHE_DIR names the cache folder.)";

constexpr const char* kWarmExamples = R"(Examples:
  kiln warm --recipe tools/recipes/models.json --arch native
  kiln warm --signature rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_80,sm_90a --jobs 4

A recipe is JSON ({"version": 1, "entries": [{"signature": "..."}]}) or text with one signature a line.
Bad lines are named and make the exit code 1; good ones are done all the same. Interrupted, it goes on where
it stopped.)";

constexpr const char* kRunExamples = R"(Examples:
  kiln run rms_norm_backward:n=4096,x=bf16,w=bf16 --rows 16384
  kiln run --recipe tools/recipes/models.json
  kiln run rms_norm_backward:n=2880,x=bf16,w=bf16 --rows 1000 --route composed --seed 7 --json)";

constexpr const char* kSignature = "op:key=value,key=value";
constexpr const char* kArch = "sm_90a, 90a, 9.0 or native (the GPU of this machine)";

// Options live as long as the callback that uses them.
template <class Options>
struct Verb {
  CLI::App* app;
  std::shared_ptr<Options> options = std::make_shared<Options>();
};

class Parser {
 public:
  Parser() : app_("kiln turns a signature into a verified, cached, running GPU kernel.", "kiln") {
    app_.set_version_flag("--version", fmt::format("kiln {}", version()));
    app_.require_subcommand(1);
    app_.footer(kExamples);
    app_.get_formatter()->column_width(34);
    add_warm();
    add_plan("explain", "Say what would run for a signature, and why", explain);
    CLI::App* emitter = add_plan("emit", "Print the CUDA source for a signature", emit);
    emitter->get_option("--stage")->group("Options");
    add_cache("list", "List the kernels in the cache", list);
    add_cache("verify", "Read every kernel in the cache and check it", verify_cache);
    add_run();
    add_cache("doctor", "Check driver, NVRTC, cache folder and GPU, and say what to do", doctor);
    CLI::App* hidden = app_.add_subcommand("worker", "");
    hidden->group("");
    hidden->callback([this] { command_.run = worker; });
  }

  Command parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return answer(error);
    }
    return std::move(command_);
  }

 private:
  template <class Options>
  Verb<Options> add(const char* name, const char* what, int (*run)(const Options&)) {
    Verb<Options> verb{app_.add_subcommand(name, what)};
    verb.app->add_flag("--json", verb.options->json, "Print one JSON document");
    verb.app->callback([this, run, options = verb.options] {
      command_.json = options->json;
      command_.run = [run, options] { return run(*options); };
    });
    return verb;
  }

  void add_warm() {
    const Verb<WarmOptions> verb = add("warm", "Compile kernels into the cache", warm);
    WarmOptions& options = *verb.options;
    auto* sources = verb.app->add_option_group("What to compile (at least one)");
    sources->require_option(1, 0);
    sources->add_option("--recipe", options.recipes, "File with signatures; may be repeated")
        ->allow_extra_args(false);
    sources->add_option("--signature", options.signatures, kSignature)->allow_extra_args(false);
    add_archs(verb.app, options.archs);
    verb.app
        ->add_option(
            "--jobs", options.jobs, "Worker processes; default: as many as there are cores")
        ->check(CLI::Range(1, 1024));
    verb.app->add_flag("--summary", options.summary, "Leave out the table");
    verb.app->footer(kWarmExamples);
  }

  CLI::App* add_plan(const char* name, const char* what, int (*run)(const PlanOptions&)) {
    const Verb<PlanOptions> verb = add(name, what, run);
    PlanOptions& options = *verb.options;
    verb.app->add_option("signature", options.signature, kSignature)->required();
    verb.app->add_option("--arch", options.arch, kArch);
    verb.app->add_option("--stage", options.stage, "Which kernel of the plan, from 0")
        ->check(CLI::Range(0, 64))
        ->group("");
    verb.app->footer(fmt::format(
        "Example:\n  kiln {} rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a", name));
    return verb.app;
  }

  void add_cache(const char* name, const char* what, int (*run)(const CacheOptions&)) {
    const Verb<CacheOptions> verb = add(name, what, run);
    verb.app->footer(
        fmt::format("Example:\n  KILN_CACHE_DIR=/var/cache/kiln kiln {} --json", name));
  }

  void add_run() {
    const Verb<RunOptions> verb =
        add("run", "Run kernels on random data, check and time them", run);
    RunOptions& options = *verb.options;
    auto* sources = verb.app->add_option_group("What to run (at least one)");
    sources->require_option(1, 0);
    sources->add_option("signature", options.signature, kSignature);
    sources->add_option("--recipe", options.recipes, "File with signatures; may be repeated")
        ->allow_extra_args(false);
    const auto count = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
    verb.app
        ->add_option("--rows",
                     options.rows,
                     "Rows to check and time; default: 1031 to check, 400 MB to time")
        ->check(count);
    verb.app
        ->add_option("--check-rows", options.check_rows, "Rows to check, when fewer than --rows")
        ->check(count);
    verb.app->add_option("--route", options.route, "auto or composed")
        ->check(CLI::IsMember({"auto", "composed"}));
    verb.app->add_option("--repeat", options.repeat, "Further runs that must give the same bits")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    verb.app->add_option(
        "--seed", options.seed, "Of the random data; default: a fresh one, printed");
    verb.app->add_option("--device", options.device, "Ordinal of the GPU")
        ->check(CLI::Range(0, 1024));
    verb.app->add_option("--extra-stride", options.extra_stride, "Elements between rows")
        ->check(CLI::Range(0, 65536));
    verb.app->add_option("--misalign", options.misalign, "Elements every base is moved by")
        ->check(CLI::Range(0, 256));
    verb.app->add_flag("--no-time", options.no_time, "Check only");
    verb.app->footer(kRunExamples);
  }

  static void add_archs(CLI::App* app, std::vector<std::string>& archs) {
    app->add_option("--arch", archs, fmt::format("{}; several with commas", kArch))
        ->delimiter(',')
        ->allow_extra_args(false);
  }

  // CLI11's own exit codes are 105 and up; help and version are 0 and are data.
  Command answer(const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    const int code = app_.exit(error, out, problem);
    Command command;
    command.exit_code = code == 0 ? kDone : kUsage;
    command.text = code == 0 ? out.str() : "kiln: " + problem.str();
    return command;
  }

  CLI::App app_;
  Command command_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) { return Parser().parse(argc, argv); }

}  // namespace kiln::cli
