import type { Word } from "../command.js"
import { readArguments } from "./arguments.js"

/** Which test runner a command starts; `npm test` where the runner behind a script's name is not known. */
export function testRunnerOf(program: string, words: readonly Word[]): string | undefined {
  const own = Object.hasOwn(OWN_PROGRAM, program) ? OWN_PROGRAM[program] : undefined
  if (own !== undefined) return own
  const { operands, flags } = readArguments(
    words,
    "-C --prefix --filter -w --workspace -p --package -f --file -m --cwd --dir",
  )
  const [first = "", second = ""] = operands.map((word) => word.text)
  switch (program) {
    case "node":
    case "tsx":
      return flags.has("--test") ? "node:test" : undefined
    case "python":
    case "python3":
    case "py": {
      const at = words.findIndex((word) => word.text === "-m")
      const module = at === -1 ? undefined : words[at + 1]?.text
      if (module === "pytest" || module === "unittest" || module === "nose2" || module === "tox") return module
      return /(?:^|\/)manage\.py$/.test(first) && second === "test" ? "django test" : undefined
    }
    case "go":
      return first === "test" ? "go test" : undefined
    case "cargo":
      return first === "test" || first === "t" ? "cargo test" : first === "nextest" ? "cargo nextest" : undefined
    case "mvn":
    case "mvnw":
      return operands.some((word) => /^(?:[\w-]+:)?(?:test|verify|install|integration-test)$/.test(word.text))
        ? "maven surefire"
        : undefined
    case "gradle":
    case "gradlew":
      return operands.some((word) => /(?:^|:)(?:\w*[tT]est|check|build)$/.test(word.text)) ? "gradle" : undefined
    case "dotnet":
      return first === "test" ? "dotnet test" : undefined
    case "swift":
      return first === "test" ? "swift test" : undefined
    case "mix":
      return first === "test" ? "mix test" : undefined
    case "rails":
    case "rake":
      return /^(?:test|spec)\b/.test(first) ? "rake test" : undefined
    case "bun":
    case "deno":
      return first === "test" ? `${program} test` : scripted(first, second) ? "npm test" : undefined
    case "npm":
    case "pnpm":
    case "yarn":
      return /^(?:test|t|tst|it)$/.test(first) || scripted(first, second) || (program !== "npm" && isTestName(first))
        ? "npm test"
        : undefined
    case "make":
    case "just":
    case "task":
      return operands.some((word) => isTestName(word.text)) ? "make test" : undefined
    default:
      return undefined
  }
}

const scripted = (first: string, second: string): boolean =>
  /^(?:run|run-script|rum|urn)$/.test(first) && isTestName(second)
const isTestName = (name: string): boolean => /^(?:tests?|check|spec|e2e|unit)(?:[:_-]|$)|[:_-]tests?$/.test(name)

const OWN_PROGRAM: Readonly<Record<string, string>> = {
  pytest: "pytest",
  "py.test": "pytest",
  vitest: "vitest",
  jest: "jest",
  mocha: "mocha",
  ava: "ava",
  tap: "tap",
  rspec: "rspec",
  phpunit: "phpunit",
  tox: "tox",
  nox: "nox",
  nose2: "nose2",
  ctest: "ctest",
  bats: "bats",
  playwright: "playwright",
  cypress: "cypress",
  karma: "karma",
  gotestsum: "go test",
}
