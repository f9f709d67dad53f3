"""What this plugin offers: the command verify-tiling, the two native runners, and a check for `autofuse doctor`.

Nothing is imported here but the spec types; the work is behind the factories.
"""

from autofuse.types import CommandSpec, DoctorSpec, RunnerSpec, hookimpl


@hookimpl
def autofuse_commands():  # type: ignore[no-untyped-def]
    """The command."""
    yield CommandSpec(
        "verify-tiling",
        "Compile generated tiling code, call it safely and check its ABI and results.",
        "autofuse_att_verify.cli:command",
        section="Tiling code",
    )


@hookimpl
def autofuse_native_runners():  # type: ignore[no-untyped-def]
    """Where libraries are loaded and called."""
    yield RunnerSpec("native", "A C++ program built with the plugin.", "autofuse_att_verify.runner:native_runner")
    yield RunnerSpec("python", "A Python process with ctypes.", "autofuse_att_verify.runner:python_runner")


@hookimpl
def autofuse_doctor_checks():  # type: ignore[no-untyped-def]
    """Whether the runner was built and the build tools are at hand."""
    yield DoctorSpec("verify-tiling", "Native runner, C++ compiler and CMake.", "autofuse_att_verify.doctor:check")
