"""Takes the formula of a pipe apart into terms that add up to it: by graph node where the sources name contributions,
else by the top-level sum with common factors distributed one level.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from autofuse.types import Position

from autofuse_att_perf.builder import CAST_TYPES
from autofuse_att_perf.evaluate import divide
from autofuse_att_perf.tape import CType, Op, Tape, Value

__all__ = ["Decomposer", "Term"]


class Term(NamedTuple):
    """One summand of a pipe, in cycles."""

    kind: str
    """`node`, `fixed` (depends on nothing), `per-block` (depends on the number of blocks), `term`."""
    label: str
    """The node, or the C++ text of the term."""
    value: Optional[float]
    """None when a symbol is missing."""
    node: str = ""
    node_type: str = ""
    origin: Union[_Origin, str, None] = None
    """Where it stands in the sources, or the text of a [PERF] line."""
    at: Optional[Position] = None
    """Where the [PERF] line stands."""

    @property
    def formula(self) -> str:
        """The variables or the text that the value comes from."""
        return "" if self.origin is None else self.origin if isinstance(self.origin, str) else self.origin.formula

    @property
    def place(self) -> str:
        """`path:line`."""
        if self.at is not None:
            return f"{self.at.path}:{self.at.line}"
        return "" if self.origin is None or isinstance(self.origin, str) else self.origin.place


class _Origin:
    """Spells out formula and place when they are asked for; most runs only draw."""

    __slots__ = ("_parts", "_tape")

    def __init__(self, tape: Tape, parts: Union[int, List[_Part]]) -> None:
        self._tape = tape
        self._parts = parts

    @property
    def formula(self) -> str:
        parts = self.parts
        texts = [_text(self._tape, part, _FORMULA) for part in parts[:_SPELLED]]
        return " + ".join([*texts, "…"] if len(parts) > _SPELLED else texts)

    @property
    def place(self) -> str:
        return self._tape.place_of(self.parts[0].leaf)

    @property
    def parts(self) -> List[_Part]:
        """The summands; a slot stands for itself."""
        return [_Part(1, self._parts, (), ())] if isinstance(self._parts, int) else self._parts


class _Part(NamedTuple):
    """`sign * leaf * factors / divisors`; every entry is a slot."""

    sign: int
    leaf: int
    factors: Tuple[int, ...]
    divisors: Tuple[int, ...]


_CONTRIBUTION = "_contrib"
_OTHER_PIPE = re.compile(r"_(?:(?:AIC|AIV|AICORE)_[A-Z0-9]+|PIPE_[A-Z]+)\Z")
_CAST = re.compile(rf"(?:static_cast ?<[^<>()]*>|{'|'.join(CAST_TYPES)}|\(\w+\)) ?\(")
_BRACKET = re.compile(r"[()]")
_BLOCKS = "block_dim"
_NOTHING, _ONLY_BLOCKS, _OTHERS = 0, 1, 2
"""What a value depends on."""
_LABEL, _FORMULA, _SPELLED = 300, 4000, 50
"""Characters of an operand in a label and in a formula; summands of a formula that are spelled out."""
_MAX_PARTS = 20_000
"""Variables that add up variables can stand for exponentially many summands; such a pipe stays in one piece."""
_FIXED = ("", "")
_ADD, _CONST = int(Op.ADD), int(Op.CONST)
_SUMS = frozenset((Op.ADD, Op.SUB))
_PRODUCTS = frozenset((Op.MUL, Op.DIV))


class Decomposer:
    """Takes the pipes of one tape apart."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._splitter = _Splitter(tape)

    def terms(self, slot: int, pipe: str, values: Sequence[Optional[Value]]) -> List[Term]:
        """The terms of the pipe at `slot`, in the order of the source; `values` are those of all slots.

        Terms of one node are added up, and so are the fixed ones and the ones per block.
        """
        flat = self._flat_terms(slot, pipe, values)
        if flat is not None:
            return flat
        grouped: Dict[Tuple[str, ...], List[Tuple[_Part, Optional[float]]]] = {}
        for part in self._splitter.parts(slot):
            grouped.setdefault(self._group_of(part, pipe), []).append((part, _value(part, values)))
        return [_term(self.tape, key, members) for key, members in grouped.items()]

    def _flat_terms(self, slot: int, pipe: str, values: Sequence[Optional[Value]]) -> Optional[List[Term]]:
        """The terms of `a number + contributions of different nodes`, the usual form, without the general machinery."""
        tape = self.tape
        leaves = self._leaves(slot) if tape.program is None else tape.program.flat(slot)
        if leaves is None:
            return None
        found: Dict[Tuple[str, str], Term] = {}
        for leaf, name in leaves:
            key = _node_of(name, pipe) if name else _FIXED
            value = values[leaf]
            if key in found or value is None:
                return None
            node, node_type = key
            kind, label = ("node", node) if name else ("fixed", "fixed cost")
            found[key] = Term(kind, label, float(value), node, node_type, _Origin(tape, leaf))
        return list(found.values())

    def _leaves(self, slot: int) -> Optional[List[Tuple[int, str]]]:
        """(slot, name) of the summands, the name "" for a number; None for a sum of anything else."""
        tape = self.tape
        names, ops, left, right = tape.slot_names, tape.ops, tape.a, tape.b
        slot = self._splitter.through_names(slot)
        leaves = []
        while ops[slot] == _ADD:
            leaves.append(right[slot])
            slot = left[slot]
        leaves.append(slot)
        found = [(leaf, names.get(leaf, "")) for leaf in reversed(leaves)]
        plain = [(leaf, name if _CONTRIBUTION in name else "") for leaf, name in found]
        return plain if all(name or ops[leaf] == _CONST for leaf, name in plain) else None

    def _group_of(self, part: _Part, pipe: str) -> Tuple[str, ...]:
        """Kind, name and type; a fourth member keeps terms apart that only look the same."""
        name = self.tape.slot_names.get(part.leaf, "")
        if _CONTRIBUTION in name:
            return ("node", *_node_of(name, pipe))
        depends = self._splitter.dependence((part.leaf, *part.factors, *part.divisors))
        if depends == _OTHERS:
            text = _text(self.tape, part, _LABEL)
            return ("term", text, "", str(part) if "…" in text else "")
        return ("fixed" if depends == _NOTHING else "per-block", "", "")


def _term(tape: Tape, key: Tuple[str, ...], members: List[Tuple[_Part, Optional[float]]]) -> Term:
    kind, node, node_type = key[:3]
    total: Optional[float] = None
    for _, value in members:
        if value is None:
            total = None
            break
        total = value if total is None else total + value
    origin = _Origin(tape, [part for part, _ in members])
    return Term(kind, _LABELS.get(kind, node), total, node if kind == "node" else "", node_type, origin)


_LABELS = {"fixed": "fixed cost", "per-block": "per-block cost"}


@lru_cache(maxsize=65536)
def _node_of(name: str, pipe: str) -> Tuple[str, str]:
    """Node and type of `<node>_<Type>_<PIPE>[_core|_tail]_contrib`; node names hold underscores, so from the right."""
    head, mark, _ = name.rpartition(f"_{pipe}_")
    if not mark:
        head = name[: name.rindex(_CONTRIBUTION)]
        for part in ("_core", "_tail"):
            head = head[: -len(part)] if head.endswith(part) else head
        # A pipe may count what a node does on another one.
        other = _OTHER_PIPE.search(head)
        if other is None:
            return head, ""
        head = head[: other.start()]
    node, _, node_type = head.rpartition("_")
    return (node, node_type) if node else (head, "")


def _value(part: _Part, values: Sequence[Optional[Value]]) -> Optional[float]:
    value = values[part.leaf]
    if value is None:
        return None
    result = float(value)
    for slots, apply in ((part.factors, _multiply), (part.divisors, divide)):
        for slot in slots:
            other = values[slot]
            if other is None:
                return None
            result = apply(result, float(other))
    return result if part.sign > 0 else -result


def _multiply(a: float, b: float) -> float:
    return a * b


def _text(tape: Tape, part: _Part, limit: int) -> str:
    text = "-" if part.sign < 0 else ""
    text += " * ".join(_operand_text(tape, slot, limit) for slot in (part.leaf, *part.factors))
    return text + "".join(f" / {_operand_text(tape, slot, limit)}" for slot in part.divisors)


def _operand_text(tape: Tape, slot: int, limit: int) -> str:
    # The text of a conversion that C++ makes by itself is that of the whole expression that asks for it.
    while tape.ops[slot] == Op.CAST and not _is_written_cast(tape.text_of(slot, limit)):
        slot = tape.a[slot]
    name = tape.slot_names.get(slot)
    if name is not None:
        return name
    if tape.ops[slot] == Op.LOAD:
        return tape.symbols[tape.a[slot]]
    text = tape.text_of(slot, limit)
    return f"({text})" if tape.ops[slot] in _SUMS else text


def _is_written_cast(text: str) -> bool:
    """Whether all of `text` is one `static_cast<T>(…)`, `T(…)` or `(T)(…)`."""
    opening = _CAST.match(text)
    if opening is None or not text.endswith(")"):
        return False
    depth = 0
    for bracket in _BRACKET.finditer(text, opening.end() - 1):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end() == len(text)
    return False


class _Splitter:
    """Splits sums iteratively, so that hundreds of terms in one expression are no matter."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._facts: Optional[Tuple[List[int], List[bool]]] = None

    def parts(self, slot: int) -> List[_Part]:
        """The summands of `slot`, left to right."""
        whole = _Part(1, self.through_names(slot), (), ())
        parts: List[_Part] = []
        for part in self._split(whole):
            parts.append(part)
            if len(parts) > _MAX_PARTS:
                return [whole]
        return parts

    def dependence(self, slots: Sequence[int]) -> int:
        """What the values of `slots` depend on."""
        if all(self.tape.ops[slot] == Op.CONST for slot in slots):
            return _NOTHING
        dependence = self._known_facts()[0]
        return max(dependence[slot] for slot in slots)

    def _split(self, whole: _Part) -> Iterator[_Part]:
        pending = [(whole, False)]
        while pending:
            part, distributed = pending.pop()
            part = part._replace(leaf=self._resolve(part.leaf))
            op = self.tape.ops[part.leaf]
            if op in _SUMS or op == Op.NEG:
                pending.extend((piece, distributed) for piece in self._summands(part))
                continue
            spread = self._distribute(part) if op in _PRODUCTS else None
            if spread is None or (distributed and not self._holds_nodes(part.leaf)):
                yield part
            else:
                pending.append((spread, True))

    def _summands(self, part: _Part) -> List[_Part]:
        """The operands of a sum, last first (they are taken from the end of a list)."""
        tape, leaf = self.tape, part.leaf
        if tape.ops[leaf] == Op.NEG:
            return [part._replace(sign=-part.sign, leaf=tape.a[leaf])]
        sign = part.sign if tape.ops[leaf] == Op.ADD else -part.sign
        return [part._replace(sign=sign, leaf=tape.b[leaf]), part._replace(leaf=tape.a[leaf])]

    def _distribute(self, part: _Part) -> Optional[_Part]:
        """`(a + b) * c / d` as the sum `a + b` with factor c and divisor d; None when no factor is a sum."""
        factors, divisors = self._product(part.leaf)
        sums = [(self._count(slot), -index) for index, slot in enumerate(factors)]
        most, index = max(sums)
        if most < 2:
            return None
        chosen = factors.pop(-index)
        return _Part(part.sign, chosen, (*part.factors, *factors), (*part.divisors, *divisors))

    def _product(self, slot: int) -> Tuple[List[int], List[int]]:
        """Factors in source order, and divisors, of a chain of multiplications and divisions."""
        tape = self.tape
        factors: List[int] = []
        divisors: List[int] = []
        # Dividing integers cuts a remainder off, so only doubles are taken apart.
        while tape.ops[slot] in _PRODUCTS and tape.types[slot] == CType.F64:
            (factors if tape.ops[slot] == Op.MUL else divisors).append(self._resolve(tape.b[slot]))
            slot = self._resolve(tape.a[slot])
        factors.append(slot)
        return factors[::-1], divisors[::-1]

    def _count(self, slot: int) -> int:
        """Whether a factor is a sum: 2 for a sum of terms, 3 when it holds contributions, else 1."""
        if self.tape.ops[slot] not in _SUMS:
            return 1
        return 3 if self._holds_nodes(slot) else 2

    def _resolve(self, slot: int) -> int:
        """Follows conversions to double, and variables that only pass contributions on."""
        tape = self.tape
        while True:
            op = tape.ops[slot]
            if (op == Op.CAST and tape.types[slot] == CType.F64 and tape.types[tape.a[slot]] != CType.BOOL) or (
                op == Op.COPY and _CONTRIBUTION not in tape.slot_names[slot] and self._holds_nodes(slot)
            ):
                slot = tape.a[slot]
            else:
                return slot

    def through_names(self, slot: int) -> int:
        """`double AIV_MTE2 = …; return AIV_MTE2;` is the expression itself."""
        while self.tape.ops[slot] in (Op.COPY, Op.CAST) and _CONTRIBUTION not in self.tape.slot_names.get(slot, ""):
            slot = self.tape.a[slot]
        return slot

    def _holds_nodes(self, slot: int) -> bool:
        """Whether a contribution of a node stands somewhere below `slot`."""
        return self._known_facts()[1][slot]

    def _known_facts(self) -> Tuple[List[int], List[bool]]:
        if self._facts is None:
            self._facts = _facts(self.tape)
        return self._facts


def _facts(tape: Tape) -> Tuple[List[int], List[bool]]:
    """For each slot: what it depends on, and whether a contribution stands at or below it."""
    ranks = [_ONLY_BLOCKS if symbol == _BLOCKS else _OTHERS for symbol in tape.symbols]
    depends: List[int] = []
    nodes: List[bool] = []
    names = tape.slot_names
    for op, a, b, c in zip(tape.ops, tape.a, tape.b, tape.c):
        if op <= Op.LOAD:
            depends.append(ranks[a] if op == Op.LOAD else _NOTHING)
            nodes.append(False)
            continue
        rank, node = depends[a], nodes[a] or (op == Op.COPY and _CONTRIBUTION in names[len(depends)])
        for operand in (b, c):
            if operand >= 0:
                rank, node = max(rank, depends[operand]), node or nodes[operand]
        depends.append(rank)
        nodes.append(node)
    return depends, nodes
