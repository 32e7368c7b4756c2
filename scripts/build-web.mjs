// The web UI as files a browser loads: one page, one script, one style sheet, in packages/web/built. One script, so that `export --html` can put the very same into a single page.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { build } from "vite"

export async function buildWeb() {
  const root = resolve("packages/web")
  const outDir = resolve(root, "built")
  await build({
    configFile: false,
    root,
    logLevel: "error",
    base: "/",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    resolve: { alias: { "@orangebox/text": resolve("packages/text/dist/index.js") } },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      assetsDir: "assets",
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      cssCodeSplit: false,
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })
  const licenses = ["preact", "@preact/signals", "@preact/signals-core"].map((name) => {
    const folder = resolve("node_modules", name)
    const { version } = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"))
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    return `${name} ${version}\n\n${file === undefined ? "" : readFileSync(resolve(folder, file), "utf8").trim()}\n`
  })
  writeFileSync(resolve(outDir, "LICENSES-OF-OTHERS.txt"), licenses.join("\n---\n\n"))
}
