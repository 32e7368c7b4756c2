import { readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

const packages = readdirSync(new URL("packages", import.meta.url))

export default defineConfig({
  resolve: {
    // Tests read the sources, so a failing line is the line you edit; child processes in tests run the build.
    alias: Object.fromEntries(
      packages.map((name) => [
        `@orangebox/${name}`,
        new URL(`packages/${name}/src/index.ts`, import.meta.url).pathname,
      ]),
    ),
  },
  test: {
    globalSetup: ["packages/decisions/test/every-run-ledger.ts"],
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
})
