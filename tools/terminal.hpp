// What a person sees: a progress bar on stderr, tables on stdout, colour only where it is wanted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

// Data, for stdout; throws Error{io_error} when it cannot be written.
void print(std::string_view text);
// A remark, for stderr.
void remark(std::string_view text);

[[nodiscard]] bool stderr_is_terminal() noexcept;
// Whether stdout takes colour: a terminal, not TERM=dumb, no NO_COLOR.
[[nodiscard]] bool stdout_takes_colour();

enum class Colour { none, green, yellow, red };
[[nodiscard]] std::string coloured(std::string_view text, Colour colour, bool enabled);

// "[######......] 12/54  3.4/s  now doing this", redrawn in place. Draws nothing when stderr is no
// terminal.
class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::string_view label);
  // A line that stays, above the bar.
  void say(std::string_view line);

 private:
  void draw() const;
  void clear() const;

  std::size_t total_;
  std::size_t done_ = 0;
  std::string label_;
  bool enabled_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Columns as wide as their widest cell; numbers to the right.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  struct Cell {
    Cell(std::string cell_text,
         Colour cell_colour = Colour::none);  // NOLINT: a cell is mostly just a text
    std::string text;
    Colour colour;
  };

  explicit Table(std::vector<Column> columns);
  void add(std::vector<Cell> row);
  [[nodiscard]] std::string text(bool colour) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "96.0 KiB"
[[nodiscard]] std::string human_bytes(double bytes);

}  // namespace kiln::cli
