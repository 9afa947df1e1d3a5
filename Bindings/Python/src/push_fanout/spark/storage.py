"""Files of the shared storage: a folder of a file system that all machines see, or a URI that
pyarrow knows (``hdfs://``, ``s3://``, ``gs://``)."""

from __future__ import annotations

import functools
import os
import posixpath
import uuid
from typing import Any

from ..arrow import pyarrow_module
from ..errors import Error


@functools.lru_cache(maxsize=16)
def _file_system(path: str) -> tuple[Any, str]:
    pa = pyarrow_module()
    import pyarrow.fs  # noqa: F401

    if "://" in path or path.startswith("file:"):
        if path.startswith(("s3a:", "s3n:")):
            raise Error(
                f"{path}: {path[:3]}:// is not supported, as pyarrow does not know it; name it "
                "s3://, which Spark reads with spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a."
                "S3AFileSystem",
                "PF_IO",
            )
        try:
            system, root = pa.fs.FileSystem.from_uri(path)
        except pa.ArrowInvalid as error:
            raise Error(f"{path}: {error}", "PF_IO") from None
    else:
        system, root = pa.fs.LocalFileSystem(), os.path.abspath(path)
    return system, root.rstrip("/")


class Storage:
    """A folder of the shared storage. Names are relative to it, with ``/``. A file appears under
    its name when it is complete."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if "://" not in self.path and not self.path.startswith("file:"):
            self.path = os.path.abspath(self.path)
        self._system, self._root = _file_system(self.path)

    def place(self, name: str = "") -> str:
        """What Spark and pyarrow call a file: its path, or its URI."""
        return f"{self.path.rstrip('/')}/{name}" if name else self.path

    def _full(self, name: str) -> str:
        return posixpath.join(self._root, name) if name else self._root

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            with self._system.open_input_stream(self._full(name)) as stream:
                content: bytes = stream.readall()
        except OSError as error:
            raise Error(f"{self.place(name)}: cannot be read: {error}", "PF_IO") from None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a file, which replaces another one of its name."""

        def fill(part: str) -> None:
            with self._system.open_output_stream(part) as stream:
                stream.write(content)

        self._appear(name, fill)

    def put(self, local: str, name: str) -> None:
        """Copies a file of the local disk."""
        import pyarrow.fs

        def fill(part: str) -> None:
            pyarrow.fs.copy_files(
                local, part, source_filesystem=pyarrow.fs.LocalFileSystem(),
                destination_filesystem=self._system,
            )  # fmt: skip

        self._appear(name, fill)

    def _appear(self, name: str, fill: Any) -> None:
        place = self._full(name)
        folder, base = posixpath.split(place)
        part = posixpath.join(folder, f".{base}.{uuid.uuid4().hex}.part")
        try:
            self._system.create_dir(folder, recursive=True)
            fill(part)
            self._system.move(part, place)
        except OSError as error:
            raise Error(f"{self.place(name)}: cannot be written: {error}", "PF_IO") from None

    def get(self, name: str, local: str) -> None:
        """Copies a file to the local disk."""
        import pyarrow.fs

        try:
            pyarrow.fs.copy_files(
                self._full(name), local, source_filesystem=self._system,
                destination_filesystem=pyarrow.fs.LocalFileSystem(),
            )  # fmt: skip
        except OSError as error:
            raise Error(f"{self.place(name)}: cannot be read: {error}", "PF_IO") from None

    def move(self, name: str, to: str) -> None:
        """Gives a file another name."""
        folder = posixpath.dirname(self._full(to))
        try:
            self._system.create_dir(folder, recursive=True)
            self._system.move(self._full(name), self._full(to))
        except OSError as error:
            raise Error(f"{self.place(to)}: cannot be written: {error}", "PF_IO") from None

    def read_table(self, name: str) -> Any:
        """A Parquet file as a table of Arrow."""
        pa = pyarrow_module()
        with self._system.open_input_file(self._full(name)) as file:
            return pa.parquet.read_table(file)

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return int(self._system.get_file_info(self._full(name)).size or 0)

    def exists(self, name: str = "") -> bool:
        """Whether there is a file or folder."""
        import pyarrow.fs

        found: bool = (
            self._system.get_file_info(self._full(name)).type != pyarrow.fs.FileType.NotFound
        )
        return found

    def is_folder(self) -> bool:
        """Whether it is there, and a folder."""
        import pyarrow.fs

        kind = self._system.get_file_info(self._full("")).type
        found: bool = kind == pyarrow.fs.FileType.Directory
        return found

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none if there is no folder."""
        import pyarrow.fs

        selector = pyarrow.fs.FileSelector(self._full(folder), allow_not_found=True)
        return sorted(info.base_name for info in self._system.get_file_info(selector))

    def remove(self, name: str) -> None:
        """Removes a file or a folder, if it is there."""
        import pyarrow.fs

        kind = self._system.get_file_info(self._full(name)).type
        if kind == pyarrow.fs.FileType.Directory:
            self._system.delete_dir(self._full(name))
        elif kind != pyarrow.fs.FileType.NotFound:
            self._system.delete_file(self._full(name))
