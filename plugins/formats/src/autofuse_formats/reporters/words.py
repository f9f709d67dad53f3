"""The few words that reporters add of their own, in English and Chinese; never keys, columns or statuses."""

from __future__ import annotations

from typing import Dict

__all__ = ["words"]

_CHINESE = {
    "(no rows)": "(无数据)",
    "Notes": "说明",
    "Provenance": "来源",
    "command": "命令",
    "input": "输入",
    "version": "版本",
    "no data": "无数据",
    "no value": "无值",
    "sum": "合计",
    "logarithmic": "对数",
    "without a bar or point (nan, infinite or beyond 1e300): {}": "未绘出的值（nan、无穷或超过 1e300）：{}",
    "the first {} of {} are drawn, the table has all": "绘出前 {} 项，共 {} 项，表中有全部",
    "each cell is the mean of up to {} × {} values": "每格为至多 {} × {} 个值的均值",
}


class _Words(Dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def words(lang: str) -> Dict[str, str]:
    """Word → word in `lang` (`en` or `zh`); a word without translation gives itself."""
    return _Words(_CHINESE if lang == "zh" else {})
