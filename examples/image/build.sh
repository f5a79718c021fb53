#!/usr/bin/env bash
# Bakes kernels into a root folder and checks them there as a container would run: other root, no compiler, no GPU.
# SPDX-License-Identifier: Apache-2.0
#
# usage: build.sh KILN OUTPUT [RECIPE]
#   KILN    the program kiln
#   OUTPUT  a folder that does not exist yet; gets app.kpack, the keys and root/
#   RECIPE  default: recipe.txt beside this script
# Exits with 77 when this user may neither chroot nor make a user namespace.
set -euo pipefail

kiln=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
recipe=$(realpath "${3:-$here/recipe.txt}")
arch=sm_90a,sm_100a
mkdir "$2"
output=$(realpath "$2")
root=$output/root

unset KILN_CACHE_LAYERS KILN_DISABLE_JIT
export KILN_CACHE_DIR=$output/bake KILN_TRUSTED_KEYS=$output/keys

echo '== warming two architectures, without a GPU' >&2
"$kiln" warm --recipe "$recipe" --arch "$arch" --pack "$output/app.kpack" --summary

echo '== signing' >&2
"$kiln" keygen "$output/release.key"
"$kiln" sign "$output/app.kpack" --key "$output/release.key"
"$kiln" trust "$output/release.key.pub"

echo '== the image: the program, its libraries, the pack and the public key' >&2
mkdir -p "$root"/{opt/kiln/bin,tmp,dev,proc}
cp "$kiln" "$root/opt/kiln/bin/kiln"
cp "$output/app.kpack" "$recipe" "$root/opt/kiln/"
cp -r "$output/keys" "$root/opt/kiln/keys"
ldd "$kiln" | grep -o '/[^ )]*' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
# The bake folder is gone: what follows can only come from the pack.
rm -rf "$output/bake"

# in_image COMMAND...: in the image's root, with nothing of this environment.
in_image() {
  local enter=(chroot)
  if ((EUID != 0)) || ! chroot "$root" /opt/kiln/bin/kiln --version >/dev/null 2>&1; then
    enter=(unshare --user --map-root-user chroot)
    if ! "${enter[@]}" "$root" /opt/kiln/bin/kiln --version >/dev/null 2>&1; then
      echo 'skipped: neither chroot nor user namespaces are permitted here' >&2
      exit 77
    fi
  fi
  env -i PATH="$PATH" KILN_CACHE_DIR="${cache_dir:-/tmp/kiln}" KILN_CACHE_LAYERS='/opt/kiln/app.kpack?sign=require' \
    KILN_TRUSTED_KEYS=/opt/kiln/keys KILN_DISABLE_JIT=1 KILN_STRICT=1 "${enter[@]}" "$root" "$@"
}

echo '== in the image: every kernel is a hit, by KILN_DISABLE_JIT=1 and sign=require' >&2
in_image /opt/kiln/bin/kiln warm --recipe "/opt/kiln/$(basename "$recipe")" --arch "$arch" --json >"$output/hits.json"
grep -q '"failed": 0' "$output/hits.json"
grep -q '"nvrtc_loaded": false' "$output/hits.json"
in_image /opt/kiln/bin/kiln doctor --recipe "/opt/kiln/$(basename "$recipe")" --arch "$arch" >"$output/doctor.txt" ||
  { cat "$output/doctor.txt" >&2; exit 1; }

echo '== in the image: one changed byte in the pack, and nothing of it is used' >&2
printf 'X' | dd of="$root/opt/kiln/app.kpack" bs=1 seek=200 conv=notrunc status=none
if in_image /opt/kiln/bin/kiln warm --recipe "/opt/kiln/$(basename "$recipe")" --arch "$arch" --json >/dev/null 2>&1; then
  echo 'a tampered pack was used' >&2
  exit 1
fi
cp "$output/app.kpack" "$root/opt/kiln/app.kpack"
echo "done: $root" >&2
