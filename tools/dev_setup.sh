# The parts of ./dev that install what is missing. Sourced by it, from the repository's root.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# What building and testing need; other verbs add theirs. Names are the same on Debian 12 and Ubuntu 24.04.
readonly packages=(g++ cmake ninja-build catch2 libcli11-dev libfmt-dev libspdlog-dev libssl-dev libzstd-dev
  nlohmann-json3-dev pkg-config python3-dev python3-venv)
# What the Python module is built and tested with. The same version of nanobind is in pyproject.toml.
readonly python_packages=('nanobind==2.12.0' 'pytest==8.4.2')
# NVRTC and cuda.h without a toolkit. Pinned: newer ones make PTX that a 580 driver refuses.
readonly cuda_wheels=('nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-runtime==13.0.*')

# Where setup puts what comes from Python's index.
readonly venv=build/venv

say() { printf '== %s\n' "$*" >&2; }

die() {
  printf 'dev: %s\n' "$@" >&2
  exit 1
}

# step WHAT ADVICE COMMAND...: runs the command; when it fails, says which one did and what to do.
step() {
  local what=$1 advice=$2 status=0 command
  shift 2
  command="$*"
  "$@" || status=$?
  ((status == 0)) && return 0
  printf '\ndev: %s failed (exit code %d)\n  command: %s\n  in:      %s\n  do this: %s\n' \
    "$what" "$status" "${command#quietly }" "$PWD" "$advice" >&2
  exit "$status"
}

# quietly COMMAND...: its output is shown only when it fails.
quietly() {
  local status=0
  mkdir -p build
  "$@" >build/setup.log 2>&1 </dev/null || status=$?
  ((status == 0)) || tail -n 40 build/setup.log >&2
  return "$status"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    printf 'neither root nor sudo: run this as root: %s\n' "$*" >&2
    return 1
  fi
}

# Installs those of the named packages that are missing.
need() {
  local missing=() package
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here: what is missing must be installed by hand; CMake will name it"
    return 0
  fi
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^.i' || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return 0
  say "installing ${missing[*]}"
  step "reading the package lists" "check the network and /etc/apt/sources.list*, then run this again" \
    quietly as_root apt-get update
  step "installing packages" "read apt's message above; Ubuntu needs the 'universe' component" \
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# venv_serves: the interpreter in the virtual environment starts, is new enough, and its headers are installed.
venv_serves() {
  "$venv/bin/python" - 2>/dev/null <<'PYTHON'
import os, sys, sysconfig
import pip
sys.exit(sys.version_info < (3, 10) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PYTHON
}

# need_venv: a virtual environment that serves. Only one that does not is replaced.
need_venv() {
  local python
  venv_serves && return 0
  for python in python3 /usr/bin/python3; do
    command -v "$python" >/dev/null || continue
    say "making a virtual environment in $venv ($("$python" --version))"
    quietly "$python" -m venv --clear "$venv" && venv_serves && return 0
  done
  die "no Python 3.10 or newer with its headers (Python.h) and the modules venv and pip" \
    "do this: install python3-dev and python3-venv, then run this again"
}

# absent NAME==VERSION...: prints those that the virtual environment lacks; a version may end in *.
absent() {
  "$venv/bin/python" - "$@" <<'PYTHON'
import sys
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
for wanted in sys.argv[1:]:
    name, _, pattern = wanted.partition("==")
    try:
        if fnmatch(version(name), pattern):
            continue
    except PackageNotFoundError:
        pass
    print(wanted)
PYTHON
}

# need_wheels NAME==VERSION...: installs what is absent.
need_wheels() {
  local text missing
  need_venv
  text=$(absent "$@") || die "$venv/bin/python could not list its packages; remove $venv, then run this again"
  [[ -z $text ]] && return 0
  mapfile -t missing <<<"$text"
  say "installing ${missing[*]} into $venv"
  step "installing Python packages" "check that pip reaches a package index (pip config list), then run this again" \
    quietly "$venv/bin/python" -m pip install --disable-pip-version-check "${missing[@]}"
}

# cuda.h and NVRTC: the system's toolkit when it will do, else NVIDIA's wheels.
need_cuda() {
  cmake -P cmake/find_cuda.cmake >/dev/null 2>&1 && return 0
  say "no CUDA toolkit >= 12.9: NVIDIA's wheels serve instead"
  need_wheels "${cuda_wheels[@]}"
  step "looking for cuda.h and NVRTC" "install NVIDIA's CUDA toolkit 12.9 or newer, or set CUDA_HOME" \
    cmake -P cmake/find_cuda.cmake
}

setup() {
  need "${packages[@]}"
  need_cuda
  need_wheels "${python_packages[@]}"
}
