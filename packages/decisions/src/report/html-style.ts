/** The style of the report: one file, both colour schemes, printable. */
export const REPORT_STYLE = `
:root{--bg:#fbfaf8;--ink:#1d1b19;--dim:#6f6a64;--line:#e2ded8;--card:#fff;--orange:#c2500a;--pass:#1a7f37;--warn:#9a6700;--fail:#c1272d;--unknown:#6f6a64;--add:#e6f4ea;--del:#fce8e8;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{--bg:#16140f;--ink:#ece8e1;--dim:#a09a90;--line:#37332c;--card:#1f1c17;--orange:#ff8a3d;--pass:#4cc26d;--warn:#e0b341;--fail:#ff6b6b;--unknown:#a09a90;--add:#16301d;--del:#3a1a1c}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 20px 80px}
header{border-top:6px solid var(--orange);padding-top:18px}
h1{font-size:24px;margin:0 0 4px;display:flex;gap:12px;align-items:center;flex-wrap:wrap}
h2{font-size:17px;margin:36px 0 10px;border-bottom:1px solid var(--line);padding-bottom:6px}
.dim{color:var(--dim)}.mono,pre,code{font-family:var(--mono);font-size:13px}
.request{margin:14px 0;padding:12px 14px;background:var(--card);border:1px solid var(--line);border-left:4px solid var(--orange);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
.asked{list-style:none;margin:0 0 14px;padding:0;color:var(--dim);overflow-wrap:anywhere}
.badge{display:inline-block;min-width:64px;text-align:center;padding:1px 9px;border-radius:99px;border:1px solid currentColor;font-size:12.5px;font-weight:600;line-height:20px}
.pass{color:var(--pass)}.warn{color:var(--warn)}.fail{color:var(--fail)}.unknown{color:var(--unknown)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:10px;margin:14px 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px}
.card b{display:block;font-size:12px;color:var(--dim);font-weight:500}
.item{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin:8px 0;overflow-wrap:anywhere}
.item p{margin:4px 0}
table{border-collapse:collapse;width:100%;table-layout:fixed}
th,td{text-align:left;vertical-align:top;padding:5px 8px;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-size:12px;color:var(--dim);font-weight:500}
.time{width:90px;text-align:right;font-variant-numeric:tabular-nums}.no{width:76px}.type{width:100px}.verdict{width:104px}
details{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:8px 0}
summary{cursor:pointer;padding:8px 14px;overflow-wrap:anywhere}
pre{margin:0;padding:8px 0;border-top:1px solid var(--line);white-space:pre-wrap;overflow-wrap:anywhere;max-height:640px;overflow:auto}
pre span{display:block;padding:0 14px;min-height:1.5em}
.add{background:var(--add)}.del{background:var(--del)}.hunk{color:var(--dim)}
@media print{pre{max-height:none}details{break-inside:avoid}}
`
