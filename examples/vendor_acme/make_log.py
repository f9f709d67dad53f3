"""Writes logs/acme.log, the sample log of this example: five operators, two or three calls each, from two threads.

    python examples/vendor_acme/make_log.py

Between the messages stand lines of the application, as in real logs. Running it again gives the same bytes.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Generator, Iterator, List, Tuple

OPERATORS = ("acme_add_relu_0", "acme_mul_sum_1", "acme_cast_transpose_2", "acme_concat_3", "acme_softmax_4")
SHAPES = ((1024, 512), (4096, 64), (17, 3))
PID = 4242


def main() -> None:
    """Two threads, their lines interleaved."""
    chance = random.Random(20260101)
    threads = [(17, list(thread(OPERATORS[:3], chance))), (18, list(thread(OPERATORS[3:], chance)))]
    lines: List[str] = []
    time = 1767225600.0
    while any(messages for _, messages in threads):
        tid, messages = chance.choice([pair for pair in threads if pair[1]])
        time += chance.uniform(0.0005, 0.004)
        level, text = messages.pop(0)
        lines.append(f"{time:.3f} p{PID}.t{tid} {level} ACME> {text}")
        if chance.random() < 0.15:
            lines.append(f"step {len(lines)} loss {chance.random():.4f}")
    path = Path(__file__).resolve().parent / "logs" / "acme.log"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def thread(operators: Tuple[str, ...], chance: random.Random) -> Iterator[Tuple[str, str]]:
    """Level and text of all messages of one thread."""
    for shape in SHAPES:
        for operator in operators:
            if shape[0] > 17 or operator != "acme_concat_3":
                yield from call(operator, shape, chance)


def call(operator: str, shape: Tuple[int, int], chance: random.Random) -> Iterator[Tuple[str, str]]:
    """One call of the tuner: two schedule results with two groups and two or three candidates each."""
    yield "I", f"begin {operator}"
    costs = []
    for result in (0, 1):
        total = 0.0
        for group in (0, 1):
            total += yield from candidates(operator, f"0/{result}/{group}", shape, chance)
        yield "I", f"perf {operator} 0/{result} {total:.6f}"
        costs.append((total, result))
    if shape[0] == 17 and operator == "acme_softmax_4":
        yield "E", f"fail {operator}"
    yield "I", f"take {operator} 0/{min(costs)[1]}"
    yield "I", f"end {operator}"


def candidates(
    operator: str, group: str, shape: Tuple[int, int], chance: random.Random
) -> Generator[Tuple[str, str], None, float]:
    """The candidates of one group, then the choice; gives the cost of the chosen one."""
    tried = []
    for case in ("0", "1", "1R")[: chance.choice((2, 3))]:
        template = f"{group}/{case}"
        load, store, vector = (chance.uniform(1, 3) * shape[0] * shape[1] / 1000 for _ in range(3))
        cost = max(load, store, vector) + 27.01
        yield "I", f"shape {operator} {template} s0={shape[0]} s1={shape[1]}"
        for name, value in (
            ("tile_m", chance.choice((16, 32, 64))),
            ("block_dim", chance.choice((8, 24, 48))),
            ("ub_size", 196608),
            ("AIV_MTE2", f"{load:.6f}"),
            ("AIV_MTE3", f"{store:.6f}"),
            ("AIV_VEC", f"{vector:.6f}"),
        ):
            yield "I", f"try {operator} {template} {name}={value}"
        yield "I", f"cost {operator} {template} {cost:.6f}"
        yield "D", f"score {operator} {template} {chance.randrange(-5, 100)}"
        tried.append((cost, template))
    yield "I", f"pick {operator} {min(tried)[1]}"
    return min(tried)[0]


if __name__ == "__main__":
    main()
