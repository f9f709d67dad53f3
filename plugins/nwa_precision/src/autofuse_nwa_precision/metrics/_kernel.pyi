from typing import Any, Dict, List, Tuple

Piece = Tuple[int, int, Tuple[int, ...], Tuple[int, ...], Tuple[int, ...], Tuple[int, ...], int]
Side = Tuple[int, int, int, bool, int]
Options = Tuple[int, bool, bool, bool, bool, float, float, int]

def accumulate(pieces: List[Piece], a: Side, b: Side, options: Options) -> Dict[str, Any]: ...
def instruction_set() -> str: ...
