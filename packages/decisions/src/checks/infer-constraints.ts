import type { CheckedConstraint } from "./constraint.js"

/** A constraint read out of a request, with the words it was read from. */
export interface InferredConstraint extends CheckedConstraint {
  readonly source: "inferred"
  readonly severity: "warn"
  readonly words: string
  readonly start: number
  readonly end: number
}

/** Requests carry whole files with them; what is asked stands at their beginning. */
const MAX_REQUEST = 20_000

/**
 * Constraints a request states in plain English words. A reading of language, so marked as inferred and never weighing more than a warning;
 * a phrase it does not know is no constraint.
 *
 *     inferConstraints("Fix the date bug. Don't touch infra, no emojis please.")
 *     // paths.deny infra/** terraform/** …, output.no_emoji
 */
export function inferConstraints(request: string): readonly InferredConstraint[] {
  // Typographic apostrophes are what phones and editors write. One for one, so offsets stay.
  const text = request.slice(0, MAX_REQUEST).replace(/[\u2018\u2019\u02bc]/g, "'")
  const found: InferredConstraint[] = []
  for (const [id, type, pattern, rule] of PHRASES) {
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const read = typeof rule === "string" ? rule : rule(match[1] ?? "")
      if (read === undefined || found.some((other) => other.rule === read)) continue
      const earlier = found.filter((other) => other.id.startsWith(`inferred.${id}`)).length
      found.push({
        id: `inferred.${id}${earlier === 0 ? "" : `.${earlier + 1}`}`,
        type,
        rule: read,
        severity: "warn",
        source: "inferred",
        words: match[0].trim(),
        start: match.index,
        end: match.index + match[0].length,
      })
    }
  }
  return found.sort((one, other) => one.start - other.start)
}

type Phrase = readonly [
  id: string,
  type: CheckedConstraint["type"],
  pattern: RegExp,
  rule: string | ((clause: string) => string | undefined),
]

const NOT = "(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|please no|avoid|without)"
const CHANGE =
  "(?:touch|touching|modify|modifying|change|changing|edit|editing|alter|altering|delete|deleting|remove|removing|rename|renaming)"
// The rest of the clause, dots inside of names included: bounded, so that no text makes the search slow.
const CLAUSE = "((?:[^.;!?\\n]|\\.(?=[\\w/*-])){1,240})"

const phrase = (source: string): RegExp => new RegExp(`\\b${source}`, "gi")

const PHRASES: readonly Phrase[] = [
  ["paths_deny", "scope", phrase(`${NOT} ${CHANGE} ${CLAUSE}`), denied],
  [
    "paths_only",
    "scope",
    phrase(
      `(?:only ${CHANGE}|${CHANGE} only|only (?:make|work)(?: changes)?|restrict (?:your )?changes|limit (?:your )?changes|stay)(?: (?:the )?(?:files?|code|things|changes))? (?:under|in|inside|within|to|below) ${CLAUSE}`,
    ),
    only,
  ],
  ["paths_only", "scope", phrase(`(?:only ${CHANGE}|${CHANGE} only) ${CLAUSE}`), onlyNamed],
  [
    "no_emoji",
    "style",
    /\b(?:no|without(?: any)?|(?:do not|don't|never) use(?: any)?|avoid(?: any| using)?) emojis?\b/gi,
    "output.no_emoji",
  ],
  [
    "json",
    "format",
    /\b(?:answer|respond|reply|output|return|result|response)(?: must be| should be| only| with| in| as| valid| a| single| just| strictly){0,5} json\b/gi,
    "output.json",
  ],
  [
    "max_chars",
    "format",
    /\b(?:at most|no more than|max(?:imum)?(?: of)?|under|fewer than|less than|up to) (\d{1,3}(?:[ ,_]?\d{3}){0,2}) ?(?:characters|chars)\b/gi,
    (count) => `output.max_chars ${count.replace(/[ ,_]/g, "")}`,
  ],
  [
    "no_dependencies",
    "scope",
    phrase(
      `(?:${NOT} (?:add|adding|install|installing|introduce|introducing)(?: any| new| more| extra| other| third-party){0,3}|no (?:new|additional|extra|more)(?: external| third-party)?) (?:dependenc(?:y|ies)|packages?|libraries)\\b`,
    ),
    'commands.deny "npm install *" "npm i *" "npm add" "pnpm add" "yarn add" "bun add" "pip install *" "pip3 install *" "uv add" "uv pip install *" "poetry add" "cargo add" "go get" "gem install" "composer require"',
  ],
  ["no_push", "safety", phrase(`${NOT} (?:git )?push(?:ing)?\\b`), 'commands.deny "git push"'],
  ["no_commit", "scope", phrase(`${NOT} (?:git )?commit(?:ting)?\\b`), 'commands.deny "git commit"'],
  [
    "no_pr",
    "scope",
    phrase(`${NOT} (?:open|opening|create|creating|make)(?: an?| any)? (?:pr|prs|pull requests?|merge requests?)\\b`),
    'commands.deny "gh pr create" "glab mr create"',
  ],
  [
    "no_deploy",
    "safety",
    phrase(`${NOT} (?:deploy|deploying|release|publish|publishing)\\b`),
    'commands.deny "npm publish" "cargo publish" "twine upload" "terraform apply" "kubectl apply" "helm upgrade" "helm install" "vercel deploy" "fly deploy" "wrangler deploy" "firebase deploy"',
  ],
  [
    "no_delete",
    "safety",
    phrase(`${NOT} (?:delete|deleting|remove|removing) (?:any |the |my |existing )?files?\\b`),
    'commands.deny rm rmdir unlink shred "git rm" "git clean"',
  ],
  [
    "no_network",
    "safety",
    phrase(
      `(?:${NOT} (?:use|using|access|accessing|go on|connect to) the (?:network|internet|web)|no (?:network|internet) access|work offline)\\b`,
    ),
    "network.deny",
  ],
  [
    "tests_run",
    "other",
    /\b(?:run|execute|rerun|re-run) (?:all )?(?:the |your |our |unit |existing |full |whole |entire )*(?:tests?|test suite|specs?)\b(?! yourself| manually)/gi,
    "tests.must_run",
  ],
  [
    "tests_pass",
    "other",
    /\b(?:make sure|ensure|verify|check|until)(?: that)? (?:all )?(?:the |our |existing )*(?:tests?|test suite|specs?) (?:still |all )?(?:pass|passes|succeed|are green|is green)\b/gi,
    "tests.must_pass",
  ],
  [
    "no_secrets",
    "safety",
    phrase(
      `${NOT} (?:print|printing|leak|leaking|expose|exposing|log|logging|reveal|exfiltrate|commit)(?: any| the)? (?:secrets?|credentials?|passwords?|api keys?|tokens?)\\b`,
    ),
    "secrets.none",
  ],
]

/** Words that name a part of a repository rather than a folder. */
const NAMED_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:infra|infrastructure)\b/i, "infra/** infrastructure/** terraform/** deploy/** k8s/**"],
  [
    /\b(?:ci|ci\/cd|pipelines?|workflows?)\b/i,
    ".github/** .gitlab-ci.yml .circleci/** Jenkinsfile azure-pipelines.yml",
  ],
  [
    /\b(?:the |existing |any )?tests?\b(?! pass)/i,
    "test/** tests/** **/__tests__/** **/*.test.* **/*.spec.* **/test_*.py **/*_test.go",
  ],
  [
    /\block ?files?\b/i,
    "**/package-lock.json **/yarn.lock **/pnpm-lock.yaml **/Cargo.lock **/poetry.lock **/uv.lock **/go.sum",
  ],
  [/\bdocs?\b|\bdocumentation\b/i, "docs/** doc/** **/*.md"],
  [/\bmigrations?\b/i, "**/migrations/**"],
]

// `src/`, `src/app.ts`, `./infra`, `.env`, `package.json`, `config/**`; prose with a slash such as "and/or" is no path.
const PATH =
  /[`"']?((?:\.{0,2}\/)?(?:[\w@.*-]+\/)+[\w@.*-]*|\.[\w-]+(?:\.[\w-]+)*|[\w-]+\.(?:[a-z]{1,4}\b|json|yaml|toml|lock|config)[\w.]*)[`"']?/gi
const NO_PATH =
  /^(?:and\/or|he\/she|yes\/no|ci\/cd|i\/o|e\.g\.?|i\.e\.?|etc\.?|n\/a|on\/off|read\/write|input\/output|client\/server)$/i

function pathsIn(clause: string): string[] {
  // "but you may edit src/" ends what is forbidden.
  const said = clause.split(/\b(?:but|except|unless|because|since|so that|instead|only|while)\b/i, 1)[0] as string
  const paths = [...said.matchAll(PATH)].map((match) => (match[1] as string).replace(/[.,:)]+$/, ""))
  return [...new Set(paths)].filter((path) => path.length > 1 && !NO_PATH.test(path) && !/^\.{1,2}\/?$/.test(path))
}

function denied(clause: string): string | undefined {
  const patterns = pathsIn(clause).map(asPattern)
  const said = clause.split(/\b(?:but|except|unless|because|since|so that|instead|only|while)\b/i, 1)[0] as string
  const prose = said.replace(PATH, " ")
  for (const [words, paths] of NAMED_PARTS) if (words.test(prose)) patterns.push(paths)
  const folder =
    /^(?:the |any |anything in |files (?:in|under) )*[`"']?([\w-]+)[`"']? (?:folder|directory|dir)\b/i.exec(said.trim())
  if (folder !== null) patterns.push(`${folder[1]}/**`)
  return patterns.length === 0 ? undefined : `paths.deny ${[...new Set(patterns)].join(" ")}`
}

function only(clause: string): string | undefined {
  const patterns = pathsIn(clause).map(asPattern)
  const folder = /^(?:the )?[`"']?([\w-]+)[`"']?(?: (?:folder|directory|dir)\b|[`"']?\s*$|[`"']?[,.])/i.exec(
    clause.trim(),
  )
  if (
    patterns.length === 0 &&
    folder !== null &&
    !/^(?:this|that|it|place|english|order|mind|scope)$/i.test(folder[1] as string)
  ) {
    patterns.push(`${folder[1]}/**`)
  }
  return patterns.length === 0 ? undefined : `paths.only ${[...new Set(patterns)].join(" ")}`
}

/** "Only touch src/": the path itself comes first. What comes later may be why, and not where. */
function onlyNamed(clause: string): string | undefined {
  const named = clause.replace(/^(?:the |this |these |our |my |files? |folders? )+/i, "")
  return named.search(PATH) === 0 ? only(clause) : undefined
}

/** A folder means all that is in it. */
function asPattern(path: string): string {
  const plain = path.replace(/^\.\//, "").replace(/\/+$/, "")
  const isFolder = path.endsWith("/") || !/\.[\w*]+$/.test(plain)
  const pattern = isFolder && !plain.includes("*") ? `${plain}/**` : plain
  return /^[\w@.*/-]+$/.test(pattern) ? pattern : JSON.stringify(pattern)
}
