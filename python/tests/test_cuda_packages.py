"""NVRTC and cuFFT of NVIDIA's PyPI packages are found, by this process and by the command line."""

import sys

import fourtune._library as library
import pytest


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A site-packages folder with files where those of the extras cu12 and cu13 lie."""
    for name in ("cuda_nvrtc/lib/libnvrtc.so.12", "cufft/lib/libcufft.so.11", "cu13/lib/libnvrtc.so.13"):
        path = tmp_path / "nvidia" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    return tmp_path / "nvidia"


def test_all_of_them_are_found_the_newest_first(packages):
    found = [path for path in library._packaged_cuda_libraries() if packages in path.parents]
    assert [path.name for path in found] == ["libnvrtc.so.13", "libnvrtc.so.12", "libcufft.so.11"]


def test_programs_search_their_folders_behind_those_of_the_user(packages, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/mine")
    folders = library.environment_with_cuda_libraries()["LD_LIBRARY_PATH"].split(":")
    ours = [folder for folder in folders if str(packages) in folder]
    assert folders[0] == "/opt/mine" and len(folders) == len(set(folders))
    assert ours == [str(packages / place) for place in ("cu13/lib", "cuda_nvrtc/lib", "cufft/lib")]


def test_without_packages_the_environment_stays(monkeypatch):
    monkeypatch.setattr(library, "_packaged_cuda_libraries", list)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert "LD_LIBRARY_PATH" not in library.environment_with_cuda_libraries()
