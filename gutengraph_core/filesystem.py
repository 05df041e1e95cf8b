"""Whether a data folder's file system can carry the stores: both map files into memory."""

from __future__ import annotations

import mmap
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gutengraph_core.errors import DataFolderError
from gutengraph_core.files import disk_errors

MOUNTINFO = Path("/proc/self/mountinfo")

_WINDOWS = {"9p", "drvfs"}
_SHARES = {
    "cifs": "a Windows share",
    "smb3": "a Windows share",
    "smbfs": "a Windows share",
    "vboxsf": "a VirtualBox shared folder",
    "prl_fs": "a Parallels shared folder",
    "fuse.vmhgfs-fuse": "a VMware shared folder",
    "fuse.sshfs": "a folder over SSH",
    "fuse.rclone": "cloud storage",
    "fuse.s3fs": "cloud storage",
    "fuse.gcsfuse": "cloud storage",
    "davfs": "a WebDAV share",
}
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo."""

    point: Path
    kind: str  # ext4, 9p, fuse.sshfs, …
    source: str


def check_data_folder(home: Path, *, mountinfo: Path = MOUNTINFO) -> Mount | None:
    """The mount that `home` lies on; None where the system does not tell (it is not Linux).

    Raises DataFolderError, with what to set instead, if files there cannot be mapped into memory: Windows'
    drives seen from WSL, some network shares, and whatever fails when it is tried.
    """
    mount = find_mount(home, mountinfo=mountinfo)
    if mount is not None:
        # A sandbox's own root can be 9p and still map files: there the trial decides.
        if mount.kind in _WINDOWS and mount.point != Path("/"):
            raise DataFolderError(
                f"{home} lies on {mount.point}, a drive of Windows ({mount.kind}), where files cannot be "
                "mapped into memory.",
                remedy="Set GUTENGRAPH_HOME to a folder inside Linux, for example ~/gutengraph.",
            )
        if mount.kind in _SHARES:
            raise DataFolderError(
                f"{home} lies on {mount.point}, {_SHARES[mount.kind]} ({mount.kind}), where files cannot be "
                "mapped into memory safely.",
                remedy="Set GUTENGRAPH_HOME to a folder on a local disk.",
            )
    _try_mapping(home, mount)
    return mount


def find_mount(path: Path, *, mountinfo: Path = MOUNTINFO) -> Mount | None:
    """The mount that a path lies on, or will lie on once it is made."""
    try:
        # Paths in it are bytes; undecodable ones must survive.
        lines = mountinfo.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    real = path.expanduser().resolve()
    best: Mount | None = None
    for line in lines:
        mount = _parse(line)
        if mount is None or not real.is_relative_to(mount.point):
            continue
        # Of two mounts at one place the later covers the earlier.
        if best is None or len(mount.point.parts) >= len(best.point.parts):
            best = mount
    return best


def _parse(line: str) -> Mount | None:
    """`36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw` (proc(5))."""
    left, separator, right = line.partition(" - ")
    fields, tail = left.split(" "), right.split(" ")
    if not separator or len(fields) < 6 or len(tail) < 2:
        return None
    return Mount(Path(_unescape(fields[4])), tail[0], _unescape(tail[1]))


def _unescape(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), text)


def _try_mapping(home: Path, mount: Mount | None) -> None:
    """Write through a shared mapping and read it back from the file."""
    with disk_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home, prefix=".mmap-probe-") as file:
            size = mmap.PAGESIZE
            file.write(b"\0" * size)
            file.flush()
            try:
                with mmap.mmap(file.fileno(), size) as mapped:
                    mapped[:4] = b"ahoy"
                    mapped.flush()
                read_back = os.pread(file.fileno(), 4, 0)
            except (OSError, ValueError) as error:
                raise _unmappable(home, mount, str(error)) from error
            if read_back != b"ahoy":
                raise _unmappable(home, mount, "what was written did not arrive")


def _unmappable(home: Path, mount: Mount | None, why: str) -> DataFolderError:
    place = f" on {mount.point} ({mount.kind})" if mount else ""
    return DataFolderError(
        f"Files in {home}{place} cannot be mapped into memory: {why}.",
        remedy="Set GUTENGRAPH_HOME to a folder on a local disk.",
    )
