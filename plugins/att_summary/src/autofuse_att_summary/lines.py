"""Reads matched log lines: what stands before the message (pid, tid, operator), and the message itself.

This is the standard-library twin of `native/att_lines.cpp`; both implement the same rules and the tests compare them.
The formats are those of the emitters of graph-autofusion (runtime tiling, INFO and above).
"""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import islice
from typing import Callable, NamedTuple, Optional, Sequence, Tuple

from autofuse.scan.lines import Wrapping

__all__ = ["Kind", "Message", "ParsedLine", "parse_line", "parse_wrapped", "parse_writer", "strip_ansi"]

LINE_LIMIT = 1022
"""Bytes of a plog line before its newline; longer text was cut there by the writer."""


class Kind(IntEnum):
    """What a message says; the numbers are those of the native parser."""

    IGNORED = -1
    MALFORMED = -2
    NONE = -3
    VALUE = 0
    SCORE = 2
    TEMPLATE_CHOICE = 3
    RESULT_CHOICE = 4
    RESULT_PERF = 5
    START = 6
    END = 7
    GROUP_BEGIN = 8
    GROUP_END = 9
    FAILED = 10
    INPUT = 11
    HARDWARE = 12
    FINAL = 13
    EMPTY_ERROR = 14
    MENTION = 15
    """Names a template and says nothing for the model; given out only when lines are not merged."""


class Message(NamedTuple):
    """A message: ids are -1 where it has none; `name` is empty for the objective; `text` is a number as logged."""

    kind: Kind
    graph: int = -1
    result: int = -1
    group: int = -1
    case: int = -1
    tag: bytes = b""
    name: bytes = b""
    text: bytes = b""


class ParsedLine(NamedTuple):
    """One line: the message and who wrote it; -1 where the line does not tell."""

    message: Message
    operator: bytes = b""
    pid: int = -1
    tid: int = -1
    start_graph: int = -1
    cut: bool = False


def parse_line(line: bytes) -> ParsedLine:
    """Reads one line without its line end and without terminal sequences."""
    positional = False
    partial_pid = -1
    for level in islice(_LEVEL.finditer(line), _TRIES):
        header = _PID.match(line, level.end())
        if header is None:
            continue
        place = _PLACE.match(line, header.end())
        if place is None:
            partial_pid = int(header.group(1))
            continue
        positional = True
        found = _body(line, place.end())
        if found is not None:
            message, operator = found
            graph = _FILE_GRAPH.search(place.group(1))
            return ParsedLine(
                message,
                operator,
                int(header.group(1)),
                int(place.group(2)),
                int(graph.group(1)) if graph else -1,
                len(line) - level.start() >= LINE_LIMIT,
            )
    bare = None if positional else _bare(line)
    return ParsedLine(bare[0], bare[1], partial_pid) if bare else ParsedLine(_NONE)


def parse_wrapped(line: bytes, wrappings: Sequence[Callable[[bytes], Optional[Wrapping]]]) -> ParsedLine:
    """As `parse_line`, but the first wrapping that knows what stands before a message says who wrote it."""
    for found in islice(_ANYWHERE.finditer(line), _TRIES):
        for wrapping in wrappings:
            read = wrapping(line[: found.start()])
            if read is not None and read.operator:
                message = _message(line, found.start())
                if message.kind != Kind.NONE:
                    pid, tid = (-1 if number is None else number for number in (read.pid, read.tid))
                    return ParsedLine(message, read.operator.encode("utf-8", "surrogateescape"), pid, tid)
    return parse_line(line)


def parse_writer(line: bytes) -> Optional[Tuple[int, int]]:
    """(pid, tid) of the first header on a line, -1 where it does not tell; None without a header."""
    for level in islice(_LEVEL.finditer(line), _TRIES):
        header = _PID.match(line, level.end())
        if header is not None:
            place = _PLACE.match(line, header.end())
            return int(header.group(1)), int(place.group(2)) if place else -1
    return None


def strip_ansi(line: bytes) -> bytes:
    """The line without terminal control sequences."""
    return _ANSI.sub(b"", line) if b"\x1b" in line else line


_TRIES = 64
"""Bound on repeated attempts within one line; keeps a hostile line linear."""

_NONE = Message(Kind.NONE)
_IGNORED = Message(Kind.IGNORED)
_MALFORMED = Message(Kind.MALFORMED)

_ANSI = re.compile(rb"\x1b(?:\[[ -?]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])?")
_LEVEL = re.compile(rb"\[(?:DEBUG|INFO|WARNING|WARN|ERROR|EVENT|TRACE|OPLOG)\]")
# ` MODULE(pid,pname):`; a process name may hold blanks and parentheses.
_ID = rb"[0-9]{1,18}"
_PID = re.compile(rb"[ \t]*\w+\([ \t]*(" + _ID + rb"),.{0,255}?\)[ \t]*:", re.ASCII | re.DOTALL)
# The time, `[file:line]`, `[status:…]` groups, the thread, `Func:`.
_PLACE = re.compile(
    rb"[^\[]{0,40}\[([^\]]{0,1023})\][ \t]*(?:\[[^\]]{0,254}\][ \t]*)*(" + _ID + rb")[ \t]+[^:\[ \t]+:", re.DOTALL
)
_FILE_GRAPH = re.compile(rb"asc_graph(" + _ID + rb")_")
_BLANKS = re.compile(rb"[ \t]*")
_ERROR = re.compile(rb"ErrorNo: [^)]*\)[ \t]*", re.DOTALL)

_GROUP = rb"graph(" + _ID + rb")_result(" + _ID + rb")_g(-?" + _ID + rb")"
_CAMEL = rb"AscGraph(" + _ID + rb")ScheduleResult(" + _ID + rb")G(-?" + _ID + rb")"
_CASE = rb"([A-Za-z]*)(" + _ID + rb")(?![0-9])"
_END = rb"(?=[. \t]|\Z)"
_NUMBER = re.compile(rb"[+-]?(?:(?i:nan|inf|infinity)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\Z", re.ASCII)
_TEMPLATE_OF_VALUE = re.compile(_GROUP + b"_" + _CASE + _END)
_CHOICE = re.compile(rb"[ \t]*(?:" + _CASE + rb"[ \t]*)?of " + _GROUP + rb"(?:_" + _CASE + rb")? is the best choice")
_RESULT = re.compile(rb"graph(" + _ID + rb")_result(" + _ID + rb") is the best choice")
_PERF = re.compile(rb"graph(" + _ID + rb")_result(" + _ID + rb") is ([^ \t]*)")
_SCORE_HEAD = re.compile(rb"[ \t]*" + _CASE + rb" of asc_graph")
_SCORE = re.compile(
    rb"(" + _ID + rb")_schedule_result(" + _ID + rb")_g(-?" + _ID + rb") score is (-?" + _ID + rb")" + _END
)
_SCORE_MAP = re.compile(_CASE + rb" of " + _GROUP)
_CAMEL_MENTION = re.compile(_CASE + rb" of " + _CAMEL)
_SET = re.compile(rb"[0-9A-Za-z_]+ for tiling case " + _CASE + rb" of " + _CAMEL)
_PERF_ID = re.compile(rb"\[" + _GROUP + b"_" + _CASE + rb"\]")
_INPUT = re.compile(_CASE + rb" of " + _CAMEL + rb"\.")
_GROUP_BEGIN = re.compile(_CAMEL + _END)


def _ids(match: re.Match[bytes], first: int = 1) -> Tuple[int, int, int]:
    return int(match.group(first)), int(match.group(first + 1)), int(match.group(first + 2))


def _value(line: bytes, at: int, name: bytes) -> Message:
    where = line.find(b" in ", at)
    if where < 0:
        return _MALFORMED
    text = line[at:where]
    template = _TEMPLATE_OF_VALUE.match(line, where + 4)
    if template is None or not _NUMBER.match(text):
        return _MALFORMED
    case = int(template.group(5))
    return Message(Kind.VALUE, *_ids(template), case, template.group(4), name, text)


def _prof(line: bytes, at: int) -> Message:
    at = _skip(line, at)
    if line.startswith(b"The value of ", at):
        verb = line.find(b" is ", at + 13)
        return _value(line, verb + 4, line[at + 13 : verb]) if verb > at + 13 else _MALFORMED
    if line.startswith(b"The objective value of the tiling data is ", at):
        return _value(line, at + 42, b"")
    if line.startswith(b"Among the templates, tiling case", at):
        return _template_choice(line, at + 32)
    if line.startswith(b"Among all schedule results, ", at):
        match = _RESULT.match(line, at + 28)
        return Message(Kind.RESULT_CHOICE, int(match.group(1)), int(match.group(2))) if match else _MALFORMED
    if not line.startswith(b"The score_map[", at):
        return _IGNORED
    of = line.find(b"tiling case ", at + 14)
    match = _SCORE_MAP.match(line, of + 12) if of >= 0 else None
    return _mention(match) if match else _IGNORED


def _mention(match: re.Match[bytes]) -> Message:
    return Message(Kind.MENTION, *_ids(match, 3), int(match.group(2)), match.group(1))


def _set_mention(line: bytes, at: int) -> Message:
    match = _SET.match(line, at)
    return _mention(match) if match else _NONE


def _id_mention(line: bytes, at: int) -> Message:
    match = _CAMEL_MENTION.match(line, at)
    return _mention(match) if match else _IGNORED


def _perf(line: bytes, at: int) -> Message:
    match = _PERF_ID.match(line, at)
    return Message(Kind.MENTION, *_ids(match), int(match.group(5)), match.group(4)) if match else _IGNORED


def _template_choice(line: bytes, at: int) -> Message:
    match = _CHOICE.match(line, at)
    if match is None or not (match.group(2) or match.group(7)):
        return _MALFORMED
    # Old producers write the case into the id; there it is the more exact one (it has the sub-case tag).
    tag, case = (match.group(6), match.group(7)) if match.group(7) else (match.group(1), match.group(2))
    return Message(Kind.TEMPLATE_CHOICE, *_ids(match, 3), int(case), tag)


def _result_performance(line: bytes, at: int) -> Message:
    match = _PERF.match(line, at)
    if match is None:
        return _MALFORMED
    text = match.group(3)
    text = text[:-1] if text.endswith(b".") else text
    if not _NUMBER.match(text):
        return _MALFORMED
    return Message(Kind.RESULT_PERF, int(match.group(1)), int(match.group(2)), text=text)


def _score(line: bytes, at: int) -> Message:
    head = _SCORE_HEAD.match(line, at)
    if head is None:
        return _NONE
    match = _SCORE.match(line, head.end())
    if match is None:
        return _MALFORMED
    return Message(Kind.SCORE, *_ids(match), int(head.group(2)), head.group(1), text=match.group(4))


def _input(line: bytes, at: int) -> Message:
    match = _INPUT.match(line, at)
    if match is None:
        return _MALFORMED
    rest = line[match.end() :]
    return Message(Kind.INPUT, *_ids(match, 3), int(match.group(2)), match.group(1), text=rest)


def _group_begin(line: bytes, at: int) -> Message:
    match = _GROUP_BEGIN.match(line, at)
    return Message(Kind.GROUP_BEGIN, *_ids(match)) if match else _MALFORMED


def _att(line: bytes, at: int) -> Message:
    at = _skip(line, at)
    return Message(Kind.FINAL, text=line[at:]) if line.startswith(b"[FINAL_TILING", at) else _IGNORED


def _ends_with(kind: Kind, line: bytes, at: int) -> Message:
    return Message(kind) if at >= len(line) or line[at] in b". \t" else _NONE


def _old_hardware(line: bytes, at: int) -> Message:
    return Message(Kind.HARDWARE, text=line[at:]) if line.startswith(b"core_num: ", at) else _NONE


_MESSAGES = (
    (b"[PROF]", _prof),
    (b"[ATT]", _att),
    (b"[PERF]", _perf),
    (b"[DFX]", lambda line, at: _IGNORED),
    (b"Set input params for tiling case ", _input),
    (b"Start GetTiling", lambda line, at: _ends_with(Kind.START, line, at)),
    (b"Start tiling for sched group ", _group_begin),
    (b"Set hardware params.", lambda line, at: Message(Kind.HARDWARE, text=line[at:])),
    (b"Set ", _set_mention),
    (b"The ub ratio for tiling_case_id ", _id_mention),
    (b"The optimal objection for tiling_case_id ", _id_mention),
    (b"End GetTiling", lambda line, at: _ends_with(Kind.END, line, at)),
    (b"End tiling for sched group", lambda line, at: Message(Kind.GROUP_END)),
    (b"GetTiling Failed", lambda line, at: Message(Kind.FAILED)),
    (
        b"The value of ",
        lambda line, at: _result_performance(line, at) if line.startswith(b"graph", at) else _NONE,
    ),
    (b"tiling case", _score),
    (b"Update best perf to ", lambda line, at: _IGNORED),
    (b"local buffer tiling success, input: ", _old_hardware),
)
_PREFIXES = tuple(prefix for prefix, _ in _MESSAGES)
_ANYWHERE = re.compile(b"|".join(re.escape(prefix) for prefix in _PREFIXES))


def _message(line: bytes, at: int) -> Message:
    if not line.startswith(_PREFIXES, at):
        return _NONE
    for prefix, read in _MESSAGES:
        if line.startswith(prefix, at):
            return read(line, at + len(prefix))
    return _NONE


def _skip(line: bytes, at: int) -> int:
    match = _BLANKS.match(line, at)
    return match.end() if match else at


def _body(line: bytes, at: int) -> Optional[Tuple[Message, bytes]]:
    """`[OP]message` right behind `Func:`: the name ends at the first `]` that a message follows."""
    at = _skip(line, at)
    error = _ERROR.match(line, at)
    if error is not None:
        at = error.end()
        if at == len(line):
            return Message(Kind.EMPTY_ERROR), b""
    if not line.startswith(b"[", at):
        return None
    close = line.find(b"]", at)
    while close >= 0:
        message = _message(line, _skip(line, close + 1))
        if message.kind != Kind.NONE and close > at + 1:
            return message, line[at + 1 : close]
        close = line.find(b"]", close + 1)
    return None


def _bare(line: bytes) -> Optional[Tuple[Message, bytes]]:
    close = line.find(b"]")
    tries = _TRIES
    while close >= 0 and tries > 0:
        message = _message(line, _skip(line, close + 1))
        if message.kind != Kind.NONE:
            operator = _bare_operator(line, close)
            if operator:
                return message, operator
            tries -= 1
        close = line.find(b"]", close + 1)
    return None


_SEVERITY = re.compile(rb"(?:DEBUG|INFO|WARNING|WARN|ERROR|EVENT|TRACE|OPLOG)\Z")
_SOURCE_PLACE = re.compile(rb".*\.(?i:c|cc|cpp|cxx|h|hh|hpp|inc|py):[0-9]+\Z", re.DOTALL)
_RANK = re.compile(rb"(?:rank|Rank|RANK)[:_]?[ \t]*" + _ID + rb"\Z")
_STAMP_CHARACTERS = re.compile(rb"[-0-9:.,/TZ+ ]+\Z")
_STAMP_PAIR = re.compile(rb"(?<=[0-9][0-9])[:-](?=[0-9][0-9])")


def _bare_operator(line: bytes, close: int) -> bytes:
    """The last bracket group before `close` that is no severity, file, rank or time."""
    while True:
        start = line.rfind(b"[", 0, close)
        if start < 0:
            return b""
        name = line[start + 1 : close]
        if _is_operator(name):
            return name
        close = start - 1
        while close >= 0 and line[close] in b" \t":
            close -= 1
        if close < 0 or line[close] != 0x5D:  # ]
            return b""


def _is_operator(name: bytes) -> bool:
    if not name or _SEVERITY.match(name) or _SOURCE_PLACE.match(name) or _RANK.match(name):
        return False
    return not (_STAMP_CHARACTERS.match(name) and _STAMP_PAIR.search(name))
