import { hash } from "node:crypto"
import { safeHtml } from "./safe-text.js"

/**
 * A page that needs nothing else and does nothing: no script, no font, no network. Its policy forbids everything but its one style sheet,
 * told by its hash, so that even recorded text which slipped through the escaping could load and run nothing.
 * @param page `body` is HTML, in which every recorded text went through `safeHtml`; `title` is text
 */
export function htmlPage({ title, style, body }: { title: string; style: string; body: string }): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${safeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`
}
