import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe finds wrong with the page as it is, one line each. */
export async function violationsOn(page: Page): Promise<string[]> {
  // The page's own rules keep scripts out; the debugger's door is not a script of the page.
  await page.evaluate(`if (!window.axe) { ${source} }`)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }
    const { violations } = await axe.run({ resultTypes: ["violations"] })
    return violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .map(({ html }) => html.slice(0, 160))
          .slice(0, 3)
          .join(" | ")}`,
    )
    interface Violation {
      id: string
      help: string
      nodes: { html: string }[]
    }
  })
}
