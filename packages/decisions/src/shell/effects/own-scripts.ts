import type { Word } from "../command.js"

// A project's own scripts run whatever its files say. By the names everybody uses for building and testing they are taken at their word, as
// builds and test runs are; what `make push` or `npm run release` does is not in the command.

const MAKERS = new Set(["make", "gmake", "just", "task", "rake", "ninja", "ant"])
const PACKAGE_RUNNERS = new Set(["npm", "pnpm", "yarn", "bun", "composer"])
const RUN = new Set(["run", "run-script"])

/** What projects build, test, check and clean with; a suffix (`build:prod`, `test-unit`) is one of the same. */
const EVERYDAY =
  /^(?:all|audit|bench|build|bundle|check|ci|clean|compile|coverage|cover|dev|dist|docs?|e2e|fix|fmt|format|gen|generate|help|install|lint|package|prepare|pretty|prettier|preview|rebuild|serve|setup|start|storybook|stylelint|test|tests|tsc|typecheck|types?|unit|update|validate|verify|watch)(?:[:._-].*)?$/i

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
  if (COMPILED_RUNNERS.has(program)) return verb?.text === "run" ? (name ?? verb) : undefined
  if (!PACKAGE_RUNNERS.has(program) || verb === undefined) return undefined
  if (RUN.has(verb.text)) return name
  return program !== "npm" && program !== "composer" && !THEIR_OWN.test(verb.text) ? verb : undefined
}

/** They build a program of the project's and run it. */
const COMPILED_RUNNERS = new Set(["go", "cargo", "dotnet", "swift", "zig"])

/** Subcommands of yarn, pnpm and bun; any other word is a script's name. */
const THEIR_OWN =
  /^(?:add|approve-builds|audit|bin|cache|ci|config|constraints|create|dedupe|deploy|dlx|doctor|env|exec|explain|fetch|global|help|i|import|info|init|install|install-test|it|licenses|link|list|ll|login|logout|ls|node|npm|outdated|owner|pack|patch|patch-commit|patch-remove|plugin|pm|policies|prune|publish|rb|rebuild|remove|repl|rm|root|search|server|set|setup|stage|start|store|t|tag|team|test|tst|un|uninstall|unlink|unplug|up|update|upgrade|upgrade-interactive|version|versions|view|whoami|why|workspace|workspaces|x)$/
