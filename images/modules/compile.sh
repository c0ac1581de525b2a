#!/bin/sh
# Hook of mmdebstrap in the tree that kernel modules are built in; $1 is the tree. The kernel is always named: dkms would
# take the one that runs (NVIDIA/open-gpu-kernel-modules#791). No key is here: modules are signed outside of the tree.
# Wants MODULE_ABI, MODULE_ARCH, MODULE_SOURCE (a .deb) and MODULE_RESULT (a folder), which gets *.ko, config and make.log.
set -eu
tree=$1

dpkg-deb --extract "$MODULE_SOURCE" "$tree"
set -- "$tree"/usr/src/*/dkms.conf
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
    echo "E: $MODULE_SOURCE holds no source for dkms: no single /usr/src/*/dkms.conf" >&2
    exit 1
fi
conf=${1#"$tree"}
# shellcheck disable=SC2016 # it is the shell in the tree that expands them
module=$(chroot "$tree" /bin/bash -c '. "$0" >/dev/null && echo "$PACKAGE_NAME/$PACKAGE_VERSION"' "$conf")
echo 'sign_file="/nonexistent"' >>"$tree/etc/dkms/framework.conf"
cp "$tree/usr/src/linux-headers-$MODULE_ABI/.config" "$MODULE_RESULT/config"

built=0
chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TZ=UTC \
    SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" KBUILD_BUILD_TIMESTAMP="@$SOURCE_DATE_EPOCH" \
    KBUILD_BUILD_USER=firstlight KBUILD_BUILD_HOST=firstlight KBUILD_BUILD_VERSION=1 \
    dkms build "$module" -k "$MODULE_ABI" -a "$MODULE_ARCH" --no-depmod || built=$?

place=$tree/var/lib/dkms/$module
for log in "$place/build/make.log" "$place/$MODULE_ABI/$MODULE_ARCH/log/make.log"; do
    [ ! -f "$log" ] || cp "$log" "$MODULE_RESULT/make.log"
done
[ "$built" -eq 0 ] || exit "$built"
cp "$place/$MODULE_ABI/$MODULE_ARCH/module/"*.ko "$MODULE_RESULT/"
