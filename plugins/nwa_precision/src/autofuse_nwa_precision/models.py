"""Which model of one run is which of the other: ids, and names with a time in them, are given anew in each run.

Only the folders of the dumps are known here: device, model name, model id.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

from autofuse_nwa_precision.dumps.index import ModelKey

__all__ = ["ModelPairs", "named"]


class ModelPairs:
    """Pairs the models of two runs: by name on the same device, the k-th id with the k-th if there are equally many."""

    def __init__(self, open_models: Iterable[ModelKey], close_models: Iterable[ModelKey]) -> None:
        left, right = set(open_models), set(close_models)
        self._devices = _paired_devices({key[0] for key in left}, {key[0] for key in right})
        self._to_close: Dict[ModelKey, ModelKey] = {}
        self._assumed: Set[ModelKey] = set()
        for ours, theirs in self._devices.items():
            self._pair_device(_of_device(left, ours), _of_device(right, theirs))
        self._close_rest = right - set(self._to_close.values())

    def counterpart(self, model: ModelKey, candidates: Iterable[ModelKey]) -> Optional[ModelKey]:
        """The close run's model for one of the open run; `candidates` are those that hold the operator."""
        known = self._to_close.get(model)
        if known is not None:
            return known
        device = self._devices.get(model[0])
        rest = [key for key in candidates if key in self._close_rest and key[0] == device]
        return rest[0] if len(rest) == 1 else None

    def assumption(self, model: ModelKey) -> str:
        """What was assumed to pair a model, in a sentence; "" where name and id, or being the only one, told."""
        if model not in self._assumed:
            return ""
        return (
            f"{named(model)} of the open run is taken for {named(self._to_close[model])} of the close run, by its order"
        )

    def _pair_device(self, ours: Set[ModelKey], theirs: Set[ModelKey]) -> None:
        """Models of one name first; then those whose names the other run does not have."""
        shared = {key[1] for key in ours} & {key[1] for key in theirs}
        for name in sorted(shared):
            self._pair([key for key in ours if key[1] == name], [key for key in theirs if key[1] == name])
        self._pair([key for key in ours if key[1] not in shared], [key for key in theirs if key[1] not in shared])

    def _pair(self, ours: Sequence[ModelKey], theirs: Sequence[ModelKey]) -> None:
        """The k-th with the k-th where there are equally many; else only those of the same name and id."""
        if len(ours) == len(theirs):
            pairs = list(zip(_in_order(ours), _in_order(theirs)))
        else:
            known = {key[1:]: key for key in theirs}
            pairs = [(key, known[key[1:]]) for key in ours if key[1:] in known]
        for key, other in pairs:
            self._to_close[key] = other
            same_device = key[0] == other[0] or len(self._devices) == 1
            if not (same_device and (key[1:] == other[1:] or len(ours) == 1)):
                self._assumed.add(key)


def named(model: ModelKey) -> str:
    """A model in a sentence."""
    device, name, number = model
    text = " ".join(part for part in (f"device {device}" if device else "", f"model {name}" if name else "") if part)
    return f"{text} {number}".strip() or "the folder itself"


def _paired_devices(ours: Set[str], theirs: Set[str]) -> Dict[str, str]:
    """Equal numbers; the k-th with the k-th where a run had other cards, or its folders do not name the only one."""
    if len(ours) == len(theirs) and (len(ours) == 1 or not ours & theirs):
        return dict(zip(sorted(ours, key=_number), sorted(theirs, key=_number)))
    return {device: device for device in ours & theirs}


def _of_device(models: Iterable[ModelKey], device: str) -> Set[ModelKey]:
    return {key for key in models if key[0] == device}


def _in_order(models: Iterable[ModelKey]) -> List[ModelKey]:
    return sorted(models, key=lambda key: (_number(key[2]), key))


def _number(text: str) -> Tuple[int, str]:
    """Numbers in their own order: 9 before 10."""
    return len(text), text
