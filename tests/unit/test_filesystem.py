"""A data folder on a file system that cannot map files is refused, with the way out in the message."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path

import pytest

from gutengraph_core.errors import DataFolderError
from gutengraph_core.filesystem import check_data_folder, find_mount

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /mnt/c rw,noatime - 9p C:\134 rw,dirsync,aname=drvfs;path=C:\;uid=1000
31 22 0:31 / /mnt/old rw - drvfs D: rw
32 22 0:32 / /srv/my\040share rw,relatime shared:9 master:2 - cifs //nas/books rw,vers=3.0
33 22 0:33 / /srv/far rw - fuse.sshfs me@host:/ rw
34 22 0:34 / /srv/net rw - nfs4 nas:/books rw
35 22 0:35 / /srv/net rw - tmpfs tmpfs rw
not a mount line
36 22 0:36 / /short - ext4
"""


@pytest.fixture
def mountinfo(tmp_path: Path) -> Path:
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        ("/home/me/data", "/", "ext4"),
        ("/mnt/c/Users/me/data", "/mnt/c", "9p"),
        ("/mnt/cellar", "/", "ext4"),
        ("/srv/my share/x", "/srv/my share", "cifs"),
        ("/srv/net/x", "/srv/net", "tmpfs"),
    ],
)
def test_the_mount_of_a_path(mountinfo: Path, path: str, point: str, kind: str) -> None:
    mount = find_mount(Path(path), mountinfo=mountinfo)
    assert mount is not None
    assert (str(mount.point), mount.kind) == (point, kind)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/mnt/c/Users/me/data", r"/mnt/c, a drive of Windows \(9p\).*folder inside Linux"),
        ("/mnt/old/data", r"a drive of Windows \(drvfs\)"),
        ("/srv/my share/data", r"a Windows share \(cifs\).*local disk"),
        ("/srv/far", r"a folder over SSH"),
    ],
)
def test_refused_by_kind_before_anything_is_written(mountinfo: Path, path: str, words: str) -> None:
    with pytest.raises(DataFolderError, match=words):
        check_data_folder(Path(path), mountinfo=mountinfo)
    assert not Path(path).exists()


def test_this_folder_is_fine_and_nothing_stays_behind(home: Path) -> None:
    mount = check_data_folder(home)
    assert home.is_dir()
    assert list(home.iterdir()) == []
    if Path("/proc/self/mountinfo").exists():
        assert mount is not None
        assert home.resolve().is_relative_to(mount.point)


def test_a_link_is_followed(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    home.symlink_to(target)
    info = tmp_path / "mountinfo"
    info.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {target} rw - 9p x rw\n")
    with pytest.raises(DataFolderError, match="drive of Windows"):
        check_data_folder(home, mountinfo=info)


def test_a_sandbox_whose_root_is_9p_is_judged_by_trial(home: Path, tmp_path: Path) -> None:
    info = tmp_path / "mountinfo"
    info.write_text("1 0 0:1 / / rw - 9p none rw\n")
    mount = check_data_folder(home, mountinfo=info)
    assert mount is not None
    assert mount.kind == "9p"


def test_where_the_system_does_not_tell(home: Path, tmp_path: Path) -> None:
    assert check_data_folder(home, mountinfo=tmp_path / "absent") is None


def test_mapping_fails(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Linux answers on a 9p mount without a cache."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(DataFolderError, match=r"cannot be mapped into memory.*Invalid argument.*local disk"):
        check_data_folder(home)
    assert list(home.iterdir()) == []


def test_mapping_loses_what_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pread", lambda *args: b"\0\0\0\0")
    with pytest.raises(DataFolderError, match="did not arrive"):
        check_data_folder(home)


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderError, match="cannot be written"):
        check_data_folder(tmp_path / "file" / "home")
