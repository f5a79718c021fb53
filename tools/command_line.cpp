// The verbs, their options and their help.
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <kiln/described_op.hpp>
#include <kiln/service.hpp>

#include "tools/command_examples.hpp"
#include "tools/exit_code.hpp"
#include "tools/gpu_options.hpp"
#include "tools/manual.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kNamed = "Signature, digest or file";
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
    app_.set_help_all_flag("--help-all", "Print the help of every verb and exit");
    app_.require_subcommand(1);
    app_.footer(kExamples);
    app_.get_formatter()->column_width(34);
    add_warm();
    add_plan("explain", "Say what would run for a signature, and why", explain);
    CLI::App* emitter = add_plan("emit", "Print the CUDA source for a signature", emit);
    emitter->get_option("--stage")->group("Options");
    add_cache("list", "List the kernels in the cache", list);
    add_why("show", "Show what an entry holds", "DIGEST, file or signature", show);
    CLI::App* checker =
        add_cache("verify", "Read every kernel in the cache and check it", verify_cache);
    checker->get_option("--repair")->group("Options");
    add_why("why", "Say why a kernel is or is not found, or what two keys differ in", kNamed, why);
    add_gpu_verbs();
    add_upkeep();
    add_packs();
    CLI::App* physician = add_cache(
        "doctor", "Check driver, NVRTC, cache folder and GPU, and say what to do", doctor);
    physician->get_option("--recipe")->group("Options");
    physician->get_option("--arch")->group("Options");
    CLI::App* hidden = app_.add_subcommand("worker", "");
    hidden->group("");
    add_ops(hidden);
    const auto candidate = std::make_shared<std::string>();
    hidden->add_option("--candidate", *candidate, kCandidate);
    hidden->callback([this, candidate] {
      command_.run = [ops = ops_, candidate] {
        for (const std::string& file : *ops) (void)register_op_file(file);
        return worker(*candidate);
      };
    });
  }

  Command parse(int argc, const char* const* argv) {
    if (argc == 2 && std::string_view(argv[1]) == "--help-man") {  // for help2man alone
      command_.text = manual(app_);
      command_.exit_code = kDone;
      return std::move(command_);
    }
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
      command_.run = [run, options, ops = ops_] {
        for (const std::string& file : *ops) (void)register_op_file(file);
        return run(*options);
      };
    });
    return verb;
  }

  // Of every verb that reads signatures.
  void add_ops(CLI::App* app) {
    app->add_option("--ops", *ops_, "File that describes an op of your own; may be repeated")
        ->allow_extra_args(false);
  }

  void add_warm() {
    const Verb<WarmOptions> verb = add("warm", "Compile kernels into the cache", warm);
    WarmOptions& options = *verb.options;
    options.ops = ops_;
    auto* sources = verb.app->add_option_group("What to compile (at least one)");
    sources->require_option(1, 0);
    sources->add_option("--recipe", options.recipes, "File with signatures; may be repeated")
        ->allow_extra_args(false);
    sources->add_option("--signature", options.signatures, kSignature)->allow_extra_args(false);
    add_archs(verb.app, options.archs);
    add_ops(verb.app);
    verb.app
        ->add_option(
            "--jobs", options.jobs, "Worker processes; default: as many as there are cores")
        ->check(CLI::Range(1, 1024));
    verb.app->add_option("--time-limit", options.time_limit_s, "Seconds a kernel may take")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    verb.app
        ->add_option("--memory-limit",
                     options.memory_limit_mb,
                     "MiB of address space a worker process may have; 0: no limit")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30))
        ->capture_default_str();
    verb.app->add_option("--candidate", options.candidate, kCandidate);
    verb.app->add_option("--pack", options.pack, "Write the kernels asked for into this file");
    verb.app->add_flag("--dry-run", options.dry_run, "Say what would be compiled");
    verb.app->add_flag(
        "--json-lines", options.json_lines, "One JSON document a line, while it runs");
    verb.app->add_flag("--summary", options.summary, "Leave out the table");
    verb.app->footer(kWarmExamples);
  }

  CLI::App* add_plan(const char* name, const char* what, int (*run)(const PlanOptions&)) {
    const Verb<PlanOptions> verb = add(name, what, run);
    PlanOptions& options = *verb.options;
    verb.app->add_option("signature", options.signature, kSignature)->required();
    verb.app->add_option("--arch", options.arch, kArch);
    verb.app->add_option("--candidate", options.candidate, kCandidate);
    add_ops(verb.app);
    verb.app->add_option("--stage", options.stage, "Which kernel of the plan, from 0")
        ->check(CLI::Range(0, 64))
        ->group("");
    verb.app->footer(fmt::format(
        "Example:\n  kiln {} rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a", name));
    return verb.app;
  }

  // Options of one verb alone are hidden in the others.
  CLI::App* add_cache(const char* name, const char* what, int (*run)(const CacheOptions&)) {
    const Verb<CacheOptions> verb = add(name, what, run);
    CacheOptions& options = *verb.options;
    verb.app->add_flag("--repair", options.repair, "Set bad kernels of the folder aside")
        ->group("");
    verb.app->add_option("--recipe", options.recipes, "Say how much of it is in the cache")
        ->allow_extra_args(false)
        ->group("");
    add_archs(verb.app, options.archs);
    verb.app->get_option("--arch")->group("");
    verb.app->footer(
        fmt::format("Example:\n  KILN_CACHE_DIR=/var/cache/kiln kiln {} --json", name));
    return verb.app;
  }

  CLI::App* add_why(const char* name,
                    const char* what,
                    const char* named,
                    int (*run)(const WhyOptions&)) {
    const Verb<WhyOptions> verb = add(name, what, run);
    WhyOptions& options = *verb.options;
    verb.app->add_option("kernel", options.first, named)->required();
    if (std::string_view(name) == "why")
      verb.app->add_option("other", options.second, "What to compare it with");
    verb.app->add_option("--arch", options.arch, kArch);
    add_ops(verb.app);
    verb.app->footer(std::string_view(name) == "why" ? kWhyExamples : kShowExamples);
    return verb.app;
  }

  void add_upkeep() {
    const Verb<GcVerbOptions> collect =
        add("gc", "Remove kernels that are too old or too much, oldest use first", gc);
    collect.app
        ->add_option("--max-bytes", collect.options->max_bytes, "Default: KILN_CACHE_MAX_BYTES")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60));
    collect.app
        ->add_option("--max-days", collect.options->max_days, "Since the last use; default 90")
        ->check(CLI::Range(0, 36500));
    collect.app->add_flag("--dry-run", collect.options->dry_run, "Say what would go");
    collect.app->footer("Example:\n  kiln gc --max-bytes 1000000000 --max-days 30 --dry-run");
    const Verb<ClearOptions> empty = add("clear", "Remove every kernel of the cache folder", clear);
    empty.app->add_flag("--yes", empty.options->yes, "Do it");
    empty.app->footer("Example:\n  KILN_CACHE_DIR=/tmp/kiln kiln clear --yes");
    const Verb<StatsOptions> count = add("stats", "Count the outcomes of every process", stats);
    count.app->add_flag("--zero", count.options->zero, "Start anew after printing");
    count.app->footer("Example:\n  kiln stats --json --zero");
  }

  void add_packs() {
    const Verb<PackOptions> make = add("pack", "Write kernels into one file", pack);
    make.app->add_option("file", make.options->file, "out.kpack")->required();
    make.app
        ->add_option("--recipe", make.options->recipes, "Only what it asks for; may be repeated")
        ->allow_extra_args(false);
    make.app->add_option("--signature", make.options->signatures, kSignature)
        ->allow_extra_args(false);
    add_archs(make.app, make.options->archs);
    add_ops(make.app);
    make.app->footer("Example:\n  kiln pack model.kpack --recipe model.json --arch sm_90a,sm_100a");
    const Verb<PackOptions> open =
        add("unpack", "Put the kernels of a pack into the folder", unpack);
    open.app->add_option("file", open.options->file, "in.kpack")->required();
    open.app->add_flag("--require-signature",
                       open.options->require_signature,
                       "By a key in KILN_TRUSTED_KEYS, or nothing is done");
    open.app->footer("Example:\n  kiln unpack model.kpack --require-signature");
    const Verb<SignOptions> signer = add("sign", "Sign a pack (Ed25519)", sign);
    signer.app->add_option("file", signer.options->file, "model.kpack")->required();
    signer.app->add_option("--key", signer.options->key, "Private key, of `kiln keygen`")
        ->required();
    signer.app->footer("Example:\n  kiln sign model.kpack --key release.key");
    const Verb<SignOptions> maker = add("keygen", "Make a key pair for signing packs", keygen);
    maker.app->add_option("file", maker.options->file, "Private key; the public one gets .pub")
        ->required();
    maker.app->footer("Example:\n  kiln keygen release.key");
    const Verb<SignOptions> believer =
        add("trust", "Trust a public key: copy it to KILN_TRUSTED_KEYS", trust);
    believer.app->add_option("file", believer.options->file, "Public key")->required();
    believer.app->footer("Example:\n  KILN_TRUSTED_KEYS=/etc/kiln/keys kiln trust release.key.pub");
  }

  void add_gpu_verbs() {
    const Verb<RunOptions> runner =
        add("run", "Run kernels on random data, check and time them", run);
    add_run_options(*runner.app, *runner.options);
    add_ops(runner.app);
    const Verb<TuneOptions> tuner =
        add("tune", "Measure every candidate of a kernel, and keep the fastest", tune);
    add_tune_options(*tuner.app, *tuner.options);
    add_ops(tuner.app);
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
  std::shared_ptr<std::vector<std::string>> ops_ = std::make_shared<std::vector<std::string>>();
  Command command_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) { return Parser().parse(argc, argv); }

}  // namespace kiln::cli
