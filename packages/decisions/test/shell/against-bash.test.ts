import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parseShell, type SimpleCommand } from "../../src/shell/index.js"

// The real shell is the oracle: whatever bash runs, the reader must have said, or have said that it does not know. One seed, so that every
// run of the suite tests the same; leave it out to go hunting.

const BASH = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path))
let folder = ""
let texts = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "orangebox-shell-"))
  mkdirSync(join(folder, "bin"))
  mkdirSync(join(folder, "cwd"))
  if (BASH !== undefined) for (const name of ["bash", "sh"]) symlinkSync(BASH, join(folder, "bin", name))
})
// What a line started in the background may still write while the folder is emptied.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))

// Its words, each ended by a unit separator, in one write: calls may run at the same time. An exported function, which every bash below
// this one knows too, costs no process.
const PROBE = `() { local s= w; for w in "$@"; do s+="$w"$'\\037'; done; printf '%s\\036' "$s" >> "$CALLS"; }`

/** The words of every call of `probe` that bash made. */
function callsOf(text: string): string[][] {
  // A file of its own: what an earlier text left running in the background may still write to its.
  const calls = join(folder, `calls-${++texts}`)
  spawnSync(BASH!, ["--norc", "-c", text], {
    cwd: join(folder, "cwd"),
    env: { "BASH_FUNC_probe%%": PROBE, CALLS: calls, PATH: join(folder, "bin"), HOME: "/home/of/nobody" },
    timeout: 5_000,
    stdio: "ignore",
  })
  if (!existsSync(calls)) return []
  return readFileSync(calls, "utf8")
    .split("\x1e")
    .slice(0, -1)
    .map((record) => record.split("\x1f").slice(0, -1))
}

/** Whether a command as read stands for a call as made. One with a word that only running would tell stands for any. */
function standsFor(command: SimpleCommand, call: readonly string[]): boolean {
  const words = command.words.slice(1)
  const isOpen = words.some((word) => !word.isKnown || word.hasGlob || /^(?:\.\/)?~|^\.(?:\/|$)/.test(word.text))
  return (
    isOpen ||
    containsInOrder(
      words.map((word) => word.text),
      call,
    )
  )
}

/** A variable with several possible values puts all of them among the words, so a call may have fewer. */
function containsInOrder(words: readonly string[], call: readonly string[]): boolean {
  let at = 0
  for (const word of words) if (at < call.length && word === call[at]) at++
  return at === call.length
}

const isForeseen = (text: string, call: readonly string[]): boolean => {
  const { commands, isCertain } = parseShell(text)
  return !isCertain || commands.some((command) => command.program === "probe" && standsFor(command, call))
}

const word = fc.constantFrom(
  "a",
  "b c",
  "'d e'",
  '"f g"',
  "\\h",
  "$'\\x69\\n'",
  "$A",
  '"$A"',
  `\${A}`,
  `"\${A:-z}"`,
  `"\${B:-'}"`,
  "{j,k}",
  "{l}",
  "m#n",
  "#o",
  "$(probe sub)",
  '"$(probe "in quotes")"',
  "`probe tick`",
  "$((1 + 2))",
  "$( (probe nested) )",
  "''",
  "~",
  "p=q",
  "if",
  "}",
  "$1",
  "\\\n",
  "-x",
  "$'it\\'s'",
  "!",
)
const simple = fc
  .tuple(
    fc.constantFrom("", "A=v ", "! ", "'' ", "A='x y' "),
    fc.constantFrom("probe", "'probe'", "pr\\obe", 'pro"be"', "$P"),
    fc.array(word, { maxLength: 4 }),
  )
  .map(([before, program, words]) => `${before === "'' " ? "" : before}${[program, ...words].join(" ")}`)

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const { script } = fc.letrec<{ script: string; command: string }>((tie) => ({
  command: fc.oneof(
    { depthSize: "small" },
    simple,
    tie("script").map((inner) => `(${inner}\n)`),
    tie("script").map((inner) => `{ ${inner}\n}`),
    tie("script").map((inner) => `if true; then ${inner}\nelse probe no\nfi`),
    tie("script").map((inner) => `for x in 1 "2 3"; do ${inner}\nprobe each "$x"; done`),
    tie("script").map((inner) => `case a in (b|a) ${inner}\n;; *) probe other;; esac`),
    tie("script").map((inner) => `f() { ${inner}\n}; f`),
    tie("script").map((inner) => `eval ${single(inner)}`),
    tie("script").map((inner) => `sh -c ${single(inner)} zero one`),
    tie("script").map((inner) => `bash <<'END'\n${inner}\nEND\n`),
    tie("script").map((inner) => `bash <<< ${single(inner)}`),
    tie("script").map((inner) => `echo "\`${inner.replaceAll(/[\\`"]/g, "")}\`"`),
    tie("script").map((inner) => `[[ a < b ]] && { ${inner}\n}`),
    tie("script").map((inner) => `(( 1 < 2 )) && ${inner.split("\n", 1)[0]}`),
    fc.constantFrom(
      "A=w",
      "A=$A$A",
      "A+=u",
      "P=probe",
      "unset A",
      'A="1 2"',
      "false && A=never",
      "export A=ex",
      "set -- s t",
    ),
  ),
  script: fc
    .array(
      fc.tuple(tie("command"), fc.constantFrom("; ", " && ", " || ", "\n", " | ", " & ", " ;\n# comment ' \"\n")),
      { minLength: 1, maxLength: 3 },
    )
    .map((parts) =>
      parts
        .map(([command, joint]) => command + joint)
        .join("")
        .replace(/(?:&&|\|\||\|) $/, ""),
    ),
}))

describe.skipIf(BASH === undefined)("against bash", () => {
  test("the oracle sees what runs", () => {
    expect(callsOf("probe 'a b' c; sh -c 'probe d'; (bash <<< 'probe')")).toEqual([["a b", "c"], ["d"], []])
  })

  test("[E-01] whatever bash runs was foreseen, or the reading says that it is not certain", () => {
    let foreseen = 0
    fc.assert(
      fc.property(script, (body) => {
        const text = `P=probe; A=v; ${body}`
        const calls = callsOf(text)
        if (parseShell(text).isCertain) foreseen += calls.length
        expect(
          calls.find((call) => !isForeseen(text, call)),
          text,
        ).toBeUndefined()
      }),
      { seed: 7, numRuns: 120 },
    )
    // A reader that is never certain would pass too, and be of no use.
    expect(foreseen).toBeGreaterThan(30)
  })

  test("[E-01] text of shell characters at random hides nothing either", () => {
    const token = fc.constantFrom(
      ...`probe probe probe a b ; && || | & ( ) { } ' " \` $( ) \${A:- } $A A=1 \\ # $' <<< < > [[ ]] (( )) if then fi ! eval {x,y} * `.split(
        " ",
      ),
      "\n",
      "probe",
      "probe x\n",
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(token, fc.constantFrom(" ", " ", "")), { minLength: 1, maxLength: 14 }),
        (tokens) => {
          const text = tokens.flat().join("")
          const missed = callsOf(text).find((call) => !isForeseen(text, call))
          expect(missed, text).toBeUndefined()
        },
      ),
      { seed: 7, numRuns: 120 },
    )
  })
})
