import { fenced, type Painter } from "@orangebox/text"
import { headOf } from "./context-head.js"
import { type ContextOptions, footerOf, pageOf } from "./context-page.js"
import type { ContextView } from "./context-view.js"

/** What a step saw, in lines: as many as the budget allows, and where to go on. */
export function contextText(view: ContextView, options: ContextOptions): string {
  const page = pageOf(view, options)
  const paint: Painter = options.color ?? ((text) => text)
  const [title, ...head] = headOf(view, paint)
  const lines = [paint(title!, "heading"), ...head]
  let heading = ""
  for (const [index, row] of page.rows.entries()) {
    if (row.heading !== heading) lines.push(paint(row.heading, "heading"))
    heading = row.heading
    lines.push(page.isCut && index === 0 ? page.texts[0]! : row.text(paint))
  }
  lines.push(paint(footerOf(view, page, options), "dim"))
  const text = lines.join("\n")
  return options.format === "markdown" ? fenced(text) : text
}
