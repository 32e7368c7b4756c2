import type { Word } from "../command.js"
import { readArguments } from "./arguments.js"

// A project's own scripts run whatever its files say. By the names everybody uses for building and testing they are taken at their word, as
// builds and test runs are; what `make push` or `npm run release` does is not in the command.

const MAKERS = new Set(["make", "just", "task", "rake", "ninja"])
const PACKAGE_RUNNERS = new Set(["npm", "pnpm", "yarn", "bun"])
/** Subcommands that run what the project's own files say, whatever else they are named for. */
const RUNS_PROJECT: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(["cargo", "dotnet", "swift"].map((program) => [program, /^run$/])),
  go: /^(?:run|generate)$/,
  ...Object.fromEntries(
    ["terraform", "tofu", "pulumi", "cdk"].map((program) => [program, /^(?:apply|destroy|up|deploy)$/]),
  ),
  // What is sent is the folder, after its own scripts have run.
  ...Object.fromEntries([...PACKAGE_RUNNERS].map((program) => [program, /^publish$/])),
  // Plugins of a build are bound to its phases; testing and packaging are taken at their word.
  ...Object.fromEntries(
    ["mvn", "mvnw"].map((program) => [
      program,
      /^(?:install|deploy|site|site-deploy|(?:exec|antrun|release)(?:-maven-plugin)?:.*)$/,
    ]),
  ),
}

/** What projects build, test, check and clean with; a suffix (`build:prod`, `test-unit`) is one of the same. */
const EVERYDAY =
  /^(?:all|audit|bench|build|bundle|check|ci|clean|compile|coverage|cover|dev|dist|docs?|e2e|fix|fmt|format|help|install|lint|package|prepare|pretty|prettier|preview|rebuild|serve|setup|start|storybook|stylelint|test|tests|tsc|typecheck|types?|unit|update|validate|verify|watch)(?:[:._-].*)?$/i

/** Subcommands of yarn, pnpm and bun; any other word is a script's name. */
const THEIR_OWN =
  /^(?:add|approve-builds|audit|bin|cache|ci|config|constraints|create|dedupe|deploy|dlx|doctor|env|exec|explain|fetch|global|help|i|import|info|init|install|install-test|it|licenses|link|list|ll|login|logout|ls|node|npm|outdated|owner|pack|patch|patch-commit|patch-remove|plugin|pm|policies|prune|publish|rb|rebuild|remove|repl|rm|root|search|server|set|setup|stage|start|store|t|tag|team|test|tst|un|uninstall|unlink|unplug|up|update|upgrade|upgrade-interactive|version|versions|view|whoami|why|workspace|workspaces|x)$/

/** Why a subcommand runs code of the project's, be it a test run beside that or not. */
export function projectCodeOf(program: string, words: readonly Word[]): string | undefined {
  const isTried = words.some(({ text }) => text === "--dry-run")
  const runs = !isTried && Object.hasOwn(RUNS_PROJECT, program) ? RUNS_PROJECT[program] : undefined
  const verb = runs && words.slice(1).find(({ text, isKnown }) => !isKnown || runs.test(text))
  return verb && `what ${program} ${verb.text} runs stands in the project's files`
}

/** Why a script of the project may run anything; undefined where the command names none, or one of the everyday kind. */
export function ownScriptOf(program: string, words: readonly Word[]): string | undefined {
  const script = scriptIn(program, words)
  if (script === undefined || (script.isKnown && EVERYDAY.test(script.text))) return undefined
  return `what the project's script ${script.text} runs is not in the command`
}

function scriptIn(program: string, words: readonly Word[]): Word | undefined {
  const operands = words.slice(1).filter(({ text }) => !text.startsWith("-"))
  if (MAKERS.has(program)) return operands.find(({ text }) => !/^[\w.]+[:?+]?=/.test(text))
  const [verb, name] = operands
  if (!PACKAGE_RUNNERS.has(program) || verb === undefined) return undefined
  if (verb.text === "run" || verb.text === "run-script") return name
  return program !== "npm" && !THEIR_OWN.test(verb.text) ? verb : undefined
}

/** Programs that do nothing but run tests. */
const TEST_PROGRAMS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "pytest vitest jest mocha ava tap rspec phpunit tox nox nose2 ctest bats playwright cypress karma"
      .split(" ")
      .map((name) => [name, name]),
  ),
  "py.test": "pytest",
  gotestsum: "go test",
}

/** Which operand, or module, of a program makes it a test run, and what the runner is called. */
const TEST_VERBS: Readonly<Record<string, readonly [verb: RegExp, runner: string]>> = {
  go: [/^test$/, "go test"],
  cargo: [/^(?:test|t)$/, "cargo test"],
  dotnet: [/^test$/, "dotnet test"],
  swift: [/^test$/, "swift test"],
  mix: [/^test$/, "mix test"],
  bun: [/^test$/, "bun test"],
  deno: [/^test$/, "deno test"],
  rails: [/^(?:test|spec)\b/, "rake test"],
  rake: [/^(?:test|spec)\b/, "rake test"],
  npm: [/^(?:test|t|tst|it)$/, "npm test"],
}
const TEST_NAME = /^(?:tests?|check|spec|e2e|unit)(?:[:_-]|$)|[:_-]tests?$/
/** Programs of which any operand may be the one that runs tests. */
const TEST_TARGETS: Readonly<Record<string, readonly [target: RegExp, runner: string]>> = {
  mvn: [/^(?:[\w-]+:)?(?:test|verify|install|integration-test)$/, "maven surefire"],
  mvnw: [/^(?:[\w-]+:)?(?:test|verify|install|integration-test)$/, "maven surefire"],
  gradle: [/(?:^|:)(?:\w*[tT]est|check|build)$/, "gradle"],
  gradlew: [/(?:^|:)(?:\w*[tT]est|check|build)$/, "gradle"],
  make: [TEST_NAME, "make test"],
  just: [TEST_NAME, "make test"],
  task: [TEST_NAME, "make test"],
}
const PYTHON = new Set(["python", "python3", "py"])

/** Which test runner a command starts; `npm test` where the runner behind a script's name is not known. */
export function testRunnerOf(program: string, words: readonly Word[]): string | undefined {
  if (Object.hasOwn(TEST_PROGRAMS, program)) return TEST_PROGRAMS[program]
  const values = "-C --prefix --filter -w --workspace -p --package -f --file -m --cwd --dir"
  const { operands, flags } = readArguments(words, values)
  const [first = "", second = ""] = operands.map((word) => word.text)
  if (program === "node" || program === "tsx") return flags.has("--test") ? "node:test" : undefined
  if (PYTHON.has(program)) {
    const module = words[words.findIndex((word) => word.text === "-m") + 1]?.text
    if (flags.has("-m") && /^(?:pytest|unittest|nose2|tox)$/.test(module ?? "")) return module
    return /(?:^|\/)manage\.py$/.test(first) && second === "test" ? "django test" : undefined
  }
  if (program === "cargo" && first === "nextest") return "cargo nextest"
  const [target, targetRunner] = (Object.hasOwn(TEST_TARGETS, program) && TEST_TARGETS[program]) || []
  if (target !== undefined && operands.some(({ text }) => target.test(text))) return targetRunner
  const [verb, runner] = (Object.hasOwn(TEST_VERBS, program) && TEST_VERBS[program]) || []
  if (verb?.test(first) === true) return runner
  if (!PACKAGE_RUNNERS.has(program) && program !== "deno") return undefined
  const isScript = /^(?:run|run-script|rum|urn)$/.test(first) && TEST_NAME.test(second)
  const isNamed = (program === "yarn" || program === "pnpm") && (TEST_NAME.test(first) || /^(?:t|tst|it)$/.test(first))
  return isScript || isNamed ? "npm test" : undefined
}
