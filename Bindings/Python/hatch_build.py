"""Gives the wheel the tag of its extension module: every CPython from 3.10 on, on this platform.
auditwheel then finds the oldest Linux that it runs on."""

import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):  # type: ignore[type-arg]
    """Sets the tag."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built."""
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        python = self.config.get("python", "cp310-abi3")
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{platform}"
