import { readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

const packages = readdirSync(new URL("packages", import.meta.url))

/**
 * Proofs by force: hundreds of killed processes, thousands of commands held against bash, all recorded traffic of the corpora,
 * every single event of a run lost, gigabytes of hostile files, and tables of agents that are recorded and replayed as processes, of which
 * the first stage keeps one story each.
 * `npm run test:slow`, the second stage of `.ci/run`.
 */
const SLOW = [
  "packages/journal/test/kill.test.ts",
  "packages/collector/test/kill.test.ts",
  "packages/decisions/test/shell/against-bash.test.ts",
  "packages/cli/test/canaries.test.ts",
  "packages/recorder/test/wire/corpora.test.ts",
  "packages/proxy/test/replay-cassettes.test.ts",
  "packages/replay/test/diff/known-change.test.ts",
  "packages/replay/test/diff/planted.test.ts",
  "packages/cli/test/agents/coding-agents.test.ts",
  "packages/cli/test/agents/agent-sdks.test.ts",
  "packages/cli/test/changed-agents.test.ts",
  "packages/cli/test/hostile-file.test.ts",
  "packages/cli/test/one-reading.test.ts",
  "packages/cli/test/disk.test.ts",
  "packages/cli/test/phoenix.test.ts",
  "packages/cli/test/ui/looks.test.ts",
  "packages/reader/test/diagnosis/corpora.test.ts",
  "packages/cli/test/sdk-replay.test.ts",
  "packages/cli/test/certificate.test.ts",
  "packages/cli/test/full-paths.test.ts",
  "packages/cli/test/replay-options.test.ts",
  "packages/cli/test/broken-answers.test.ts",
  "packages/cli/test/piped-stdout.test.ts",
  "packages/cli/test/run-family.test.ts",
  "packages/cli/test/fork-ends.test.ts",
  "packages/cli/test/another-machine.test.ts",
  "packages/cli/test/clients.test.ts",
  "packages/cli/test/serving/otlp.test.ts",
  "packages/cli/test/ui/large-and-live.test.ts",
  "packages/cli/test/ui/hostile.test.ts",
  "packages/cli/test/mcp-install.test.ts",
  "packages/cli/test/killed-faults.test.ts",
  "packages/cli/test/replay-workspace.test.ts",
  "packages/cli/test/calibrated.test.ts",
  "packages/store/test/killed.test.ts",
  "packages/store/test/bodies/processes.test.ts",
  "packages/journal/test/many-writers.test.ts",
]
/** With a real ClickHouse. `npm run test:fleet`, which installs it, the third stage of `.ci/run`. */
const FLEET = ["packages/*/test/fleet/**/*.test.ts"]
const ALL = ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"]
const stage = process.env.ORANGEBOX_TESTS

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
    setupFiles: ["scripts/test/random-seed.ts"],
    globalSetup: ["packages/decisions/test/every-run-ledger.ts"],
    include: stage === "slow" ? SLOW : stage === "fleet" ? FLEET : ALL,
    exclude: ["**/node_modules/**", ...(stage === "fast" ? [...SLOW, ...FLEET] : [])],
    // A busy machine is no failure: how long something takes is measured in bench/, never here.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: "forks",
    // On two cores vitest would run one file at a time; most files wait for processes they started.
    maxWorkers: 2,
  },
})
