// Imports between packages point up the list of DESIGN's data flow and go through the door; the recorder's tree holds nothing native; what
// providers call things is known to dialects alone.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

export const PACKAGE_ORDER = [
  "contract",
  "text",
  "redaction",
  "dialects",
  "runs",
  "journal",
  "recorder",
  "context",
  "decisions",
  "store",
  "collector",
  "query",
  "replay",
  "exchange",
  "reader",
  "proxy",
  "testing",
  "server",
  "web",
  "cli",
]

/** Packages whose middle is pure: no file, clock, socket or random source. */
const PURE = ["contract", "text", "redaction", "dialects", "runs", "context", "decisions", "query"]
const IMPURE_MODULES =
  /^node:(fs|net|http|https|http2|dgram|child_process|worker_threads|timers|cluster|dns|tls|os)(\/|$)/

export function checkImports(root = ".") {
  return [...findImports(root).flatMap(judge), ...nativeProblems(root), ...providerProblems(root)]
}

/** Words of providers' protocols: headers, members of requests and answers, variables. Only dialects speak them. */
const PROVIDER_WORDS =
  /\b(?:anthropic-(?:version|beta)|openai-beta|x-api-key|x-goog-api-key|(?:ANTHROPIC|OPENAI|GEMINI|GOOGLE)_[A-Z_]+|tool_use(?:_id)?|redacted_thinking|input_schema|cache_control|prompt_cache_\w+|stop_reason|function_call(?:_output)?|functionCall|functionResponse|functionDeclarations|function_declarations|systemInstruction|system_instruction|generationConfig|parametersJsonSchema|previous_response_id|max_output_tokens|max_completion_tokens|end_turn|api\.(?:anthropic|openai)\.com|generativelanguage|anthropic-messages|openai-chat|openai-responses)\b|=== "(?:anthropic|openai|gemini|gcp\.gemini)"/

/** Where another package may name them, and why. */
const MAY_NAME_PROVIDERS = [
  [/^dialects\//, "the place for it"],
  [/^exchange\/src\/formats\//, "what foreign formats call things"],
  [/^cli\/src\/demo\//, "an agent and a model server that speak one dialect with each other"],
  [/^cli\/src\/doctor\/wire-canary\.ts$/, "a scripted answer of one dialect"],
  [/^cli\/src\/commands\//, "help pages show users the variables they know"],
  [
    /^recorder\/src\/model-step\.ts$/,
    "the names by which an application's own request, in whatever shape, may call its parameters",
  ],
  [/^recorder\/src\/adapters\//, "what certain libraries hand to their hooks, not a protocol"],
  [/^proxy\/src\/clients\//, "what certain clients need, not a protocol"],
  [/^decisions\/src\/decision(?:s-of|-event)\.ts$/, "the published decision event names two providers"],
]

function providerProblems(root) {
  return sourcesOf(root).flatMap(({ file, path, text }) => {
    if (MAY_NAME_PROVIDERS.some(([allowed]) => allowed.test(path))) return []
    return text.split("\n").flatMap((line, at) => {
      if (/^\s*(?:\/\/|\/?\*)/.test(line)) return []
      const word = PROVIDER_WORDS.exec(line)?.[0]
      return word ? [`${file}:${at + 1}: ${word} belongs into a dialect`] : []
    })
  })
}

export function findImports(root) {
  return sourcesOf(root).flatMap(({ from, file, text }) =>
    specifiersOf(text).map((specifier) => ({ from, file, specifier })),
  )
}

function sourcesOf(root) {
  const sources = []
  for (const name of readdirSync(join(root, "packages"))) {
    const folder = join(root, "packages", name, "src")
    if (!existsSync(folder)) continue
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue
      const file = join(entry.parentPath ?? entry.path, entry.name)
      const path = relative(join(root, "packages"), file)
      sources.push({ from: name, file, path, text: readFileSync(file, "utf8") })
    }
  }
  return sources
}

export function specifiersOf(source) {
  const forms =
    /(?:\bfrom|(?:^|\n)\s*import)\s*["']([^"'\n]+)["']|\b(?:import|require|createRequire\(import\.meta\.url\))\(\s*["']([^"'\n]+)["']/g
  return [...source.matchAll(forms)].map((match) => match[1] ?? match[2])
}

function judge({ from, file, specifier }) {
  const problems = []
  const rank = PACKAGE_ORDER.indexOf(from)
  if (rank === -1) return [`${file}: packages/${from} is not in the order of packages`]
  const inner = /^@orangebox\/([^/]+)(\/.*)?$/.exec(specifier)
  if (inner) {
    const target = PACKAGE_ORDER.indexOf(inner[1])
    if (target === -1) problems.push(`${file}: ${specifier} is not one of our packages`)
    else if (target >= rank) problems.push(`${file}: imports ${specifier}, which stands below ${from}`)
    if (inner[2]) problems.push(`${file}: ${specifier} goes past the door of @orangebox/${inner[1]}`)
  }
  if (/^\.\.?\//.test(specifier) && specifier.includes("packages/"))
    problems.push(`${file}: ${specifier} reaches into another package`)
  if (PURE.includes(from) && IMPURE_MODULES.test(specifier))
    problems.push(`${file}: a pure package imports ${specifier}`)
  if (["contract", "journal", "recorder"].includes(from) && /async_hooks/.test(specifier)) {
    problems.push(`${file}: ambient context (${specifier}) has no place in the core`)
  }
  return problems
}

/** An application that only records must get nothing that is compiled or fetched. */
function nativeProblems(root) {
  const problems = []
  for (const name of packagesBehind(root, "@orangebox/recorder")) {
    const folder = join(root, "node_modules", name)
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const scripts = manifest.scripts ?? {}
    if (manifest.gypfile || scripts.install || scripts.postinstall || scripts.preinstall)
      problems.push(`${name} runs an install script`)
    const native = readdirSync(folder, { recursive: true }).find((path) => /\.node$|binding\.gyp$/.test(String(path)))
    if (native && !String(native).includes("node_modules")) problems.push(`${name} holds a native module: ${native}`)
  }
  return problems.map((problem) => `the recorder pulls in ${problem}`)
}

export function packagesBehind(root, start) {
  const found = new Set()
  const waiting = [start]
  while (waiting.length > 0) {
    const name = waiting.pop()
    if (found.has(name)) continue
    found.add(name)
    const manifest = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"))
    waiting.push(...Object.keys(manifest.dependencies ?? {}))
  }
  return found
}
