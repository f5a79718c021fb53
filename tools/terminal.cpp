// Progress bars and tables.
// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <kiln/error.hpp>

#include "tools/environment.hpp"

namespace kiln::cli {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::size_t kBarWidth = 24;

}  // namespace

void print(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::io_error,
                fmt::format("stdout cannot be written: {}", std::strerror(errno)));
  }
}

void remark(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

bool stderr_is_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

bool stdout_takes_colour() {
  const std::string no_colour = environment("NO_COLOR").value_or("");
  return isatty(STDOUT_FILENO) == 1 && no_colour.empty() &&
         environment("TERM").value_or("") != "dumb";
}

std::string coloured(std::string_view text, Colour colour, bool enabled) {
  if (!enabled) return std::string(text);
  switch (colour) {
    case Colour::none:
      return std::string(text);
    case Colour::green:
      return fmt::format("\x1b[32m{}\x1b[0m", text);
    case Colour::yellow:
      return fmt::format("\x1b[33m{}\x1b[0m", text);
    case Colour::red:
      return fmt::format("\x1b[31m{}\x1b[0m", text);
  }
  return std::string(text);
}

Progress::Progress(std::size_t total) : total_(total), enabled_(stderr_is_terminal() && total > 0) {
  draw();
}

Progress::~Progress() { clear(); }

void Progress::advance(std::string_view label) {
  ++done_;
  label_ = label;
  draw();
}

void Progress::say(std::string_view line) {
  clear();
  remark(line);
  draw();
}

void Progress::clear() const {
  if (enabled_) std::fwrite(kClearLine.data(), 1, kClearLine.size(), stderr);
}

void Progress::draw() const {
  if (!enabled_) return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  const std::size_t filled = std::min(kBarWidth, kBarWidth * done_ / total_);
  const double rate = passed.count() > 0 ? static_cast<double>(done_) / passed.count() : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  const std::string line = fmt::format("{}[{:#<{}}{:.<{}}] {}/{}  {:.1f}/s  {:.0f} s left  {}",
                                       kClearLine,
                                       "",
                                       filled,
                                       "",
                                       kBarWidth - filled,
                                       done_,
                                       total_,
                                       rate,
                                       left,
                                       label_.substr(0, 72));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

Table::Cell::Cell(std::string cell_text, Colour cell_colour)
    : text(std::move(cell_text)), colour(cell_colour) {}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

std::string Table::text(bool colour) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].text.size());
  }
  std::string out;
  const auto add_cell = [&](std::size_t i, std::string_view text, Colour cell_colour) {
    const std::size_t padding = widths[i] - text.size();
    if (columns_[i].right) out.append(padding, ' ');
    out += coloured(text, cell_colour, colour);
    if (i + 1 == columns_.size()) {
      out += '\n';
      return;
    }
    out.append((columns_[i].right ? 0 : padding) + 2, ' ');
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) add_cell(i, columns_[i].title, Colour::none);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) add_cell(i, row[i].text, row[i].colour);
  }
  return out;
}

std::string human_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  if (bytes < 1024.0 * 1024 * 1024) return fmt::format("{:.1f} MiB", bytes / (1024 * 1024));
  return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024 * 1024));
}

}  // namespace kiln::cli
