// The whole help in the form that help2man makes a page of: a heading ends in a colon, an example
// begins with a dollar sign, "*Name*" begins a section.
// SPDX-License-Identifier: Apache-2.0
#include "tools/manual.hpp"

#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace kiln::cli {
namespace {

constexpr std::string_view kSections = R"(*Exit status*
  0   done
  1   something failed: a kernel did not compile, a recipe has a bad line, verify found damage
  2   wrong usage
  3   a GPU is needed and there is none

*Environment*
  KILN_CACHE_DIR    the cache folder; default $XDG_CACHE_HOME/kiln, else ~/.cache/kiln
  KILN_CACHE_LAYERS   read-only folders and packs asked after it, separated by colons; each may end in ?sign=off, ?sign=warn or ?sign=require
  KILN_CACHE_MAX_BYTES   the folder is trimmed to this; default 2G; k, M, G, T; 0: no bound
  KILN_TRUSTED_KEYS   folder of the public keys whose packs are trusted
  KILN_DISABLE_JIT   1: compile nothing; kernels come from the cache or are composed
  KILN_STRICT   1: an environment that forces composed kernels is an error
  KILN_NVRTC   the libnvrtc file, or its folder
  KILN_LOG   trace, debug, info, warn (default), error or off; to stderr

*Files*
  FOLDER/v1/e   the kernels, one file each; copying, moving and removing them is safe at any time
  FOLDER/v1/bad   damaged kernels that were set aside, at most 32
  NAME.kpack   a pack: many kernels in one file that is never changed
  NAME.kpack?sign=require   a layer that has to be signed by a trusted key

)";

std::string_view plain_type(std::string_view type) { return type.substr(0, type.find(':')); }

void write_option(std::ostream& out, const CLI::Option& option) {
  if (option.get_group().empty()) return;  // hidden
  const bool positional = option.get_positional();
  std::string head = positional ? option.get_name(true) : option.get_name(false, true);
  if (option.get_lnames() == std::vector<std::string>{"help"} ||
      option.get_lnames() == std::vector<std::string>{"help-all"})
    return;
  if (!positional && option.get_type_size() > 0)
    head += " " + std::string(plain_type(option.get_type_name()));
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += "; default " + option.get_default_str();
  out << "  " << head << "   " << text << "\n";
}

void write_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options({})) write_option(out, *option);
  for (const CLI::App* group : app.get_subcommands({})) {
    if (group->get_name().empty()) write_options(out, *group);
  }
}

// Examples stand two blanks in, whatever explains them at the margin.
void write_footer(std::ostream& out, const std::string& footer) {
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Example")) continue;
    if (line.starts_with("  ")) {
      out << "  $ " << line.substr(2) << "\n";
    } else {
      out << (line.empty() ? "" : "  ") << line << "\n";
    }
  }
  out << "\n";
}

void write_verb(std::ostream& out, const CLI::App& verb) {
  std::string usage = "kiln " + verb.get_name();
  for (const CLI::Option* option : verb.get_options({})) {
    if (!option->get_positional() || option->get_group().empty()) continue;
    usage +=
        option->get_required() ? " " + option->get_name(true) : " [" + option->get_name(true) + "]";
  }
  out << usage << " [OPTIONS]:\n  " << verb.get_description() << ".\n\n";
  write_options(out, verb);
  out << "\n";
  write_footer(out, verb.get_footer());
}

}  // namespace

std::string manual(const CLI::App& app) {
  std::ostringstream out;
  out << "Usage: kiln VERB [OPTIONS]\n\n"
      << app.get_description()
      << " It compiles kernels into a cache without a GPU, checks and explains what is in the "
         "cache, "
         "and packs and signs it for machines that never compile. A signature is "
         "op:key=value,key=value. Every verb takes --help, and --json for one JSON document on "
         "stdout; progress and logs go to stderr.\n\n*Verbs*\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) write_verb(out, *verb);
  }
  out << kSections << "Examples:\n";
  std::istringstream lines(app.get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) out << "  $ " << line.substr(2) << "\n";
  }
  return out.str();
}

}  // namespace kiln::cli
