// The ends of the help texts: examples that can be pasted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::cli {

inline constexpr const char* kExamples = R"(Examples:
  kiln warm --recipe tools/recipes/models.json --arch sm_90a,sm_100a
  kiln explain rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a
  kiln run rms_norm_backward:n=4096,x=bf16,w=bf16 --rows 16384
  kiln why rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a
  kiln doctor --recipe tools/recipes/models.json --arch sm_90a

A signature is op:key=value,key=value. Exit codes: 0 done, 1 something failed, 2 wrong usage, 3 no GPU.
Data goes to stdout, progress and logs to stderr. KILN_CACHE_DIR names the cache folder.)";

inline constexpr const char* kWarmExamples = R"(Examples:
  kiln warm --recipe tools/recipes/models.json --arch native
  kiln warm --signature rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_80,sm_90a --jobs 4
  kiln warm --recipe model.json --arch sm_90a,sm_100a --pack model.kpack --json-lines

A recipe is JSON ({"version": 1, "entries": [{"signature": "..."}]}) or text with one signature a line; a value
may be a list of values and ranges: n={1024,2048..8192..2048},x={bf16,f16} stands for every combination.
Bad lines are named and make the exit code 1; good ones are done all the same. Interrupted, it goes on where
it stopped.)";

inline constexpr const char* kRunExamples = R"(Examples:
  kiln run rms_norm_backward:n=4096,x=bf16,w=bf16 --rows 16384
  kiln run --recipe tools/recipes/models.json
  kiln run grouped_gemm_forward:n=4096,k=2048 --rows 65536 --check-rows 500 --groups 64:zipf
  kiln run rms_norm_backward:n=2880,x=bf16,w=bf16 --rows 1000 --route composed --seed 7 --json)";

inline constexpr const char* kTuneExamples = R"(Examples:
  kiln tune rms_norm_backward:n=4096 --rows 16384 --store /etc/kiln/tuning.json
  kiln tune grouped_gemm_forward:n=4096,k=2048 --rows 65536 --groups 64:zipf --store /etc/kiln/tuning.json
  KILN_TUNING=/etc/kiln/tuning.json python train.py

A candidate must give the bits of the planner's kernel, and be faster by more than two measurements of that differ.
Exit code 1 when one of them is wrong.)";

inline constexpr const char* kWhyExamples = R"(Examples:
  kiln why rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a
  kiln why 3f9a0c77 81d2e6b4

With one signature: what was looked up, where, and what was found there instead; exit code 1 when it is not
found. With two of signature, digest (4 digits or more) or file: each field that differs, down to the line.)";

inline constexpr const char* kShowExamples = R"(Examples:
  kiln show 3f9a0c77
  kiln show rms_norm_backward:n=4096,x=bf16,w=bf16 --arch sm_90a --json)";

}  // namespace kiln::cli
