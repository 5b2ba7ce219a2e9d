"""A user's own recorded features, with groups, as a benchmark."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_fairness import FairnessError
from pytest_fairness.design.environment import EMOTIONS, GROUPS
from pytest_fairness.design.students import Student, StudentOutcomes, evaluate_groups
from pytest_fairness.extending import did_you_mean, largest_unpacked

if TYPE_CHECKING:
    from torch import Tensor

Array = npt.NDArray[Any]
_NEEDED = ("words", "voice")
_PER_SAMPLE = ("labels", "groups")
_BATCH = 1024


@dataclass(frozen=True)
class Recording:
    """Recorded samples of several groups."""

    features: Tensor
    """float32 [n, seq_len, dim]: all blocks, concatenated."""
    labels: Tensor
    """int64 [n]: indices in ``emotions``."""
    groups: tuple[str, ...]
    """The group of each sample."""
    emotions: tuple[str, ...]

    def evaluate(self, student: Student, *, verification: bool) -> dict[str, StudentOutcomes]:
        """Return the student's outcomes by group, samples in the recording's order."""
        import torch

        rows = {
            group: torch.tensor([index for index, rows_of_group in enumerate(self.groups) if rows_of_group == group])
            for group in dict.fromkeys(self.groups)
        }
        batches = {group: self._batches(rows_of_group) for group, rows_of_group in rows.items()}
        return evaluate_groups(student, batches, verification=verification)

    def _batches(self, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        for begin in range(0, len(rows), _BATCH):
            part = rows[begin : begin + _BATCH]
            yield self.features[part], self.labels[part]


def load_recording(
    path: Path | str, *, groups: Sequence[str] = GROUPS, emotions: Sequence[str] = EMOTIONS
) -> Recording:
    """Read a recording from a NumPy ``.npz`` or a ``.safetensors`` file; nothing in it is unpickled.

    It holds ``words`` and ``voice``, and any further blocks under names of their own (face, gesture): numbers
    [n, seq_len, size], with one n and one seq_len for all. ``labels`` [n] and ``groups`` [n] are names, or indices
    (from 0) in ``emotions`` and ``groups``; safetensors holds no text, so there they are indices. Each group has at
    least one sample.

    Args:
        path: The file.
        groups: The names of the groups.
        emotions: The names of the labels.

    Raises:
        FairnessError: Something is missing, of another shape, not finite or unknown.
    """
    path = Path(path)
    arrays = _read(path)
    if missing := [name for name in (*_NEEDED, *_PER_SAMPLE) if name not in arrays]:
        raise FairnessError(f"{path} has no {missing[0]!r}: it needs {', '.join((*_NEEDED, *_PER_SAMPLE))}")
    names = [*_NEEDED, *sorted(arrays.keys() - {*_NEEDED, *_PER_SAMPLE})]
    features = [_block(path, name, arrays[name], arrays["words"].shape) for name in names]
    n = len(features[0])
    labels = _indices(path, "labels", arrays["labels"], n, emotions)
    group_indices = _indices(path, "groups", arrays["groups"], n, groups)
    for index, group in enumerate(groups):
        if index not in group_indices:
            raise FairnessError(f"{path} has no sample of the group {group!r}: each of {', '.join(groups)} needs some")
    import torch

    return Recording(
        torch.from_numpy(np.concatenate(features, axis=2)),
        torch.from_numpy(labels),
        tuple(groups[index] for index in group_indices),
        tuple(emotions),
    )


def _read(path: Path) -> dict[str, Array]:
    if path.suffix not in (".npz", ".safetensors"):
        raise FairnessError(f"{path} ends in {path.suffix!r}: a recording is an .npz or a .safetensors file")
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        # Opened here: numpy leaves a file open that turns out to be no archive.
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            if sum(part.file_size for part in archive.infolist()) > largest_unpacked(path.stat().st_size):
                raise FairnessError(f"{path} is packed by more than a factor of 100: write it with numpy.savez")
            stream.seek(0)
            return dict(np.load(stream, allow_pickle=False))
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise FairnessError(f"{path} cannot be read ({reason:.120}): save plain arrays of numbers and texts") from None


def _block(path: Path, name: str, array: Array, first: tuple[int, ...]) -> npt.NDArray[np.float32]:
    shape = list(array.shape)
    if array.ndim != 3 or 0 in shape:
        raise FairnessError(f"{path}: {name!r} has shape {shape}: it must be [n, seq_len, size], none of them 0")
    if array.shape[:2] != first[:2]:
        raise FairnessError(
            f"{path}: {name!r} has shape {shape}: its n and seq_len must be {list(first[:2])} as in words"
        )
    if not np.issubdtype(array.dtype, np.floating) and not np.issubdtype(array.dtype, np.integer):
        raise FairnessError(f"{path}: {name!r} holds {array.dtype}: it must hold real numbers")
    with np.errstate(over="ignore"):
        values = array.astype(np.float32)
    if not np.isfinite(values).all():
        sample, step, feature = np.argwhere(~np.isfinite(values))[0].tolist()
        raise FairnessError(
            f"{path}: {name!r} is {array[sample, step, feature]} at sample {sample}, step {step}, feature {feature}: "
            "all must be finite as float32; leave such samples out"
        )
    return values


def _indices(path: Path, what: str, array: Array, n: int, names: Sequence[str]) -> npt.NDArray[np.int64]:
    if array.shape != (n,):
        raise FairnessError(f"{path}: {what!r} has shape {list(array.shape)}: it must be [{n}], one for each sample")
    if array.dtype.kind == "U":
        for name in dict.fromkeys(array.tolist()):
            if name not in names:
                raise FairnessError(f"{path}: {what!r} has {name!r:.60}: {did_you_mean(name[:60], names)}")
        return np.array([names.index(name) for name in array.tolist()], dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise FairnessError(f"{path}: {what!r} holds {array.dtype}: it must hold names, or places from 0")
    for number in np.unique(array).tolist():
        if not 0 <= number < len(names):
            raise FairnessError(f"{path}: {what!r} has {number}: places are 0 to {len(names) - 1} ({', '.join(names)})")
    return array.astype(np.int64)
