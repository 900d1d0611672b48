"""How the report looks: a style sheet for light and dark, and the frame of the page."""

from __future__ import annotations

STYLE = """\
:root{color-scheme:light dark;--paper:#fdfdfc;--ink:#1b1f24;--soft:#5d6673;--rule:#e3e5e8;
--wash:#f4f5f6;--s0:#4b5563;--s1:#0f6fc5;--s2:#c2540a;--s3:#0d8268;--s4:#8b46b8;--s5:#b0830a;
--s6:#b8336a;--s7:#3f7a1f;--better:#0f6fc5;--worse:#c2540a;--right:#0f6fc5;--other:#9aa3ae}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e8eb;--soft:#98a1ad;
--rule:#2b3037;--wash:#1c2025;--s0:#a3adba;--s1:#5aa9f2;--s2:#f0894a;--s3:#45c2a2;--s4:#c493e8;
--s5:#dfb443;--s6:#ee7ba6;--s7:#92c96f;--better:#5aa9f2;--worse:#f0894a;--right:#5aa9f2;
--other:#6d7681}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:64rem;margin:0 auto;padding:3rem 1.5rem 4rem}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.02em;margin:0 0 .4rem}
h2{font-size:1.35rem;letter-spacing:-.01em;margin:3.2rem 0 .3rem;padding-top:1.4rem;
border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:2.2rem 0 .5rem}
p{margin:.3rem 0 .8rem;max-width:46rem}
.soft,figcaption,caption{color:var(--soft);font-size:.9rem}
.lead{font-size:1.05rem;color:var(--soft)}
.tiles{display:flex;flex-wrap:wrap;gap:.8rem;margin:1.4rem 0 .4rem}
.tile{background:var(--wash);border-radius:.6rem;padding:.8rem 1.1rem;min-width:9.5rem}
.tile b{display:block;font-size:1.6rem;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:.85rem}
figure{margin:.6rem 0 1.6rem}
figcaption{max-width:46rem;margin-top:.3rem}
.scroll{overflow-x:auto;margin:.9rem 0 1.6rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.45rem}
th,td{text-align:right;padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--rule);
white-space:nowrap;vertical-align:top}
th:first-child,td:first-child{text-align:left}
thead th{color:var(--soft);font-weight:500;font-size:.85rem}
tbody th{font-weight:600}
td.wide,th.wide{white-space:normal;text-align:left;min-width:14rem}
td small,th small{color:var(--soft);font-weight:400;font-size:.85em}
tr.first td,tr.first th{background:var(--wash)}
tr.first th{padding-left:.5rem;border-radius:.3rem 0 0 .3rem}
.id{white-space:nowrap}
.up{color:var(--better);font-weight:600}.down{color:var(--worse);font-weight:600}
.bad{color:var(--worse)}
ul.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.4rem 0;
font-size:.9rem}
ul.legend i{display:inline-block;width:.8em;height:.8em;border-radius:.2em;margin-right:.45em;
background:var(--c)}
details{margin:.4rem 0 1.4rem}summary{cursor:pointer;color:var(--soft);font-size:.92rem}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
svg{display:block;width:100%;height:auto;max-width:60rem;overflow:visible}
svg text{font-size:13px;fill:var(--ink)}
svg .tick,svg .label{fill:var(--soft);font-size:12px}
svg .value{font-variant-numeric:tabular-nums;font-size:12.5px}svg .small{font-size:11px}
svg .name{paint-order:stroke;stroke:var(--paper);stroke-width:4px;font-weight:600}
svg .end{text-anchor:end}svg .middle{text-anchor:middle}
svg .grid{stroke:var(--rule);stroke-width:1}svg .axis,svg .zero{stroke:var(--soft);stroke-width:1}
svg .reference{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 4}
svg .whisker{stroke:currentColor;stroke-width:2}
svg .faint{stroke:currentColor;stroke-width:1.5;opacity:.45}
svg .dot{fill:currentColor;stroke:var(--paper);stroke-width:1.5}
svg .better{fill:var(--better)}svg .worse{fill:var(--worse)}svg .same{fill:var(--rule)}
svg rect.bar{rx:1.5px}
svg .area{fill-opacity:.3;stroke-width:1.5}
svg path.d0{fill:var(--right);stroke:var(--right)}svg path.d1{fill:var(--other);stroke:var(--other)}
svg .median{stroke-width:1.5;stroke-dasharray:4 3}
svg .median.d0{stroke:var(--right)}svg .median.d1{stroke:var(--other)}
svg text.d0{fill:var(--right);font-weight:600}svg text.d1{fill:var(--soft);font-weight:600}
footer{margin-top:3.5rem;color:var(--soft);font-size:.85rem}
@media print{main{padding:0}h2{break-before:auto}figure,table{break-inside:avoid}}
"""

# The colours of the series, once for shapes that are filled and once for lines.
SERIES_STYLE = "".join(
    f"svg g.s{number}{{color:var(--s{number})}}svg rect.s{number}{{fill:var(--s{number})}}\n"
    for number in range(8)
)

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
