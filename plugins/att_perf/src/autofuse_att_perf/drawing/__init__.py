"""perf_formula.svg: one self-contained drawing, tabs by CSS alone, the same bytes for the same input."""
