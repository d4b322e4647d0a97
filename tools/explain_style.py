"""The style sheet of the page that ``zeropoint explain --html`` writes."""

STYLE = """
:root { color-scheme: light; --line: #c9d1dc; --text: #1b2430; --quiet: #566274; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1410px; padding: 20px 24px 60px; background: #fff; color: var(--text);
  font: 14px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 17px; margin: 28px 0 10px; }
p { margin: 4px 0; } header p, small { color: var(--quiet); }
.totals { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0 12px; }
.totals div { border: 1px solid var(--line); border-radius: 6px; padding: 8px 14px; min-width: 130px; }
.totals dt { color: var(--quiet); } .totals dd { margin: 0; } .totals dt + dd { font-size: 20px; }
.totals dd + dd { color: var(--quiet); font-size: 12px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0 0 10px; padding: 0;
  font-size: 12.5px; }
.key { display: inline-block; width: 14px; height: 14px; border: 1px solid #66758a; border-radius: 3px;
  vertical-align: -2px; margin-right: 6px; }
.key.r-none, .key.r-free { background: #f3f5f8; } .key.bar { width: 6px; border: 0; border-radius: 0; }
.key.s-inserted { border-style: dashed; } .key.s-float { border-width: 2.5px; }
.graph { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
.graph svg { display: block; margin: 0 auto; font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas,
  monospace; }
svg .op > rect, svg .port > rect { stroke: #66758a; stroke-width: 1; fill: #fff; }
svg .first { font-size: 11px; font-weight: 600; fill: var(--text); }
svg .second { font-size: 10px; fill: #3c4757; }
svg .port > rect { fill: #fff; stroke: #9aa6b5; }
svg .edges path { fill: none; stroke: #7d8998; } svg marker path { fill: #7d8998; }
svg .edges text { font-size: 9px; fill: var(--quiet); }
.key.r-free, svg .r-free > rect { background: #f3f5f8; fill: #f3f5f8; }
.key.r-same-as-input, svg .r-same-as-input > rect { background: #d6e6fb; fill: #d6e6fb; }
.key.r-same-as-result, svg .r-same-as-result > rect { background: #cdeee2; fill: #cdeee2; }
.key.r-fixed, svg .r-fixed > rect { background: #fbeebb; fill: #fbeebb; }
.key.r-derived, svg .r-derived > rect { background: #e9dcf9; fill: #e9dcf9; }
.key.r-unsupported, svg .r-unsupported > rect { background: #fbd8d0; fill: #fbd8d0; }
svg .s-inserted > rect { stroke-dasharray: 5 3; } svg .s-float > rect { stroke-width: 2.5; }
svg .unmet > rect { stroke: #a3140c; stroke-width: 3; }
svg .op > rect.bar { stroke: none; }
.key.e-exact, svg .op > rect.e-exact { background: #7f8ea3; fill: #7f8ea3; }
.key.e-high, svg .op > rect.e-high { background: #1f7a4a; fill: #1f7a4a; }
.key.e-medium, svg .op > rect.e-medium { background: #d08700; fill: #d08700; }
.key.e-low, svg .op > rect.e-low { background: #b3261e; fill: #b3261e; }
svg a:hover .op > rect:first-of-type, svg a:focus .op > rect:first-of-type,
svg .op:target > rect:first-of-type { stroke: #0b57d0; stroke-width: 3; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; }
th, td { text-align: left; vertical-align: top; padding: 5px 7px; border-bottom: 1px solid #e4e8ee; }
thead th { border-bottom: 2px solid var(--line); color: var(--quiet); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.long { overflow-wrap: anywhere; min-width: 140px; }
td.whole { white-space: nowrap; }
td.why { overflow-wrap: anywhere; min-width: 220px; }
tr.s-inserted td, tr.s-inserted th { background: #f7f9fc; }
tr:target td, tr:target th { background: #fff6cf; }
details { color: var(--quiet); } summary { cursor: pointer; } a { color: #0b57d0; }
@media print { .graph { overflow: visible; } }
"""
