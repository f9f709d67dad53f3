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
    "Contents": "目录",
    "Without JavaScript only the first {} of {} rows are shown.": "未启用 JavaScript，仅显示前 {} 行，共 {} 行。",
    "Filter": "筛选",
    "previous page": "上一页",
    "next page": "下一页",
    "rows per page": "每页行数",
    "choose columns": "选择列",
    "columns {} of {}": "列 {} / {}",
    "all": "全部",
    "usual": "常用",
    "rows {}–{} of {}": "第 {}–{} 行，共 {} 行",
    "(of {})": "（总 {}）",
    "no row matches": "无匹配行",
    "copy": "复制",
    "Log": "日志",
    "copy {}": "复制 {}",
    "copied {}": "已复制 {}",
    "the first {} of {} rows are printed; filter to print others": "仅打印前 {} 行，共 {} 行；请先筛选",
    "no data": "无数据",
    "no value": "无值",
    "sum": "合计",
    "logarithmic": "对数",
    "without a bar or point (nan, infinite or beyond 1e300): {}": "未绘出的值（nan、无穷或超过 1e300）：{}",
    "the first {} of {} are drawn, the table has all": "绘出前 {} 项，共 {} 项，表中有全部",
    "each cell is the mean of up to {} × {} values": "每格为至多 {} × {} 个值的均值",
}


_ENGLISH = {
    "filter help": 'All words must occur. Column:word, Column=text, Column>100 ask one column; "two words" are one.',
}
_CHINESE["filter help"] = '各词均须出现。列名:词、列名=文本、列名>100 只看该列；"两个 词" 视为一个。'


class _Words(Dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def words(lang: str) -> Dict[str, str]:
    """Word → word in `lang` (`en` or `zh`); a word without translation gives itself."""
    return _Words(_CHINESE if lang == "zh" else _ENGLISH)
