import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { safeHtml } from "@orangebox/text"

export interface SinglePage {
  /** Where the built script and style sheet lie. */
  readonly folder: string
  readonly title: string
  readonly runId: string
  /** What the page would have asked a server for, by path below `/api/v1`. */
  readonly answers: Readonly<Record<string, unknown>>
}

/**
 * One page that needs nothing beside itself: the same script and style sheet as the served one, and the answers to what it asks. Nothing but
 * these two may run or be loaded, by their hashes, and the answers are data that no browser executes.
 */
export function singlePage({ folder, title, runId, answers }: SinglePage): string {
  const script = assetText(folder, ".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--")
  const style = assetText(folder, ".css")
  const rules = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src blob: data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ")
  // In a script element only "<" can end it or open a comment, and JSON has another way to write it.
  const data = JSON.stringify(answers).replaceAll("<", "\\u003c")
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${safeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page draws itself with its own script, and this browser does not run it.</noscript>
<script type="application/json" id="answers" data-run="${safeHtml(runId)}">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`
}

function assetText(folder: string, ending: string): string {
  const assets = join(folder, "assets")
  return readFileSync(join(assets, readdirSync(assets).find((name) => name.endsWith(ending))!), "utf8")
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
