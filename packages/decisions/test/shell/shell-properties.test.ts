import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { classifyCommand, parseShell } from "../../src/shell/index.js"

/** One of the ways a shell lets the same word be written. */
const quotings: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `$'${word}'`,
  (word) => Array.from(word, (character) => `\\${character}`).join(""),
  (word) => Array.from(word, (character) => `'${character}'`).join(""),
  (word) => `${word.slice(0, 1)}""${word.slice(1)}`,
  (word) => `${word.slice(0, 2)}\\\n${word.slice(2)}`,
  (word) => `$'${Array.from(word, (character) => `\\x${character.charCodeAt(0).toString(16)}`).join("")}'`,
  (word) =>
    `$'${Array.from(word, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`).join("")}'`,
]
const quoted = (word: string): fc.Arbitrary<string> => fc.constantFrom(...quotings).map((quote) => quote(word))

/** `rm -rf infra`, written in one of very many ways. */
const removal = fc
  .tuple(quoted("rm"), quoted("-rf"), quoted("infra"), fc.constantFrom(" ", "  ", "\t", " \\\n "))
  .map((words) => words.slice(0, 3).join(words[3]))

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Ways to put a command into another so that it still runs. */
const nestings: readonly ((command: string) => string)[] = [
  (command) => `sh -c ${single(command)}`,
  (command) => `bash -lc ${single(command)}`,
  (command) => `eval ${single(command)}`,
  (command) => `(${command})`,
  (command) => `{ ${command}\n}`,
  (command) => `$(${command})`.replace(/^/, "echo "),
  (command) => `true && ${command}`,
  (command) => `false || ${command}`,
  (command) => `ls; ${command}`,
  (command) => `ls\n${command}`,
  (command) => `ls & ${command}`,
  (command) => `ls | ${command}`,
  (command) => `if true\nthen ${command}\nfi`,
  (command) => `while true\ndo ${command}\ndone`,
  (command) => `case x in y) ${command}\n;; esac`,
  (command) => `f() { ${command}\n}; f`,
  (command) => `sh <<'XEOFX'\n${command}\nXEOFX`,
  (command) => `sh <<< ${single(command)}`,
  (command) => `cat <<'YEOFY' | bash\n${command}\nYEOFY`,
  (command) => `sudo -n sh -c ${single(command)}`,
  (command) => `env X=y sh -c ${single(command)}`,
  (command) => `timeout 5 bash -c ${single(command)}`,
  (command) => `cat <(${command})`,
  (command) => `[ -d x ] && ${command}`,
  (command) => `! ${command}`,
  (command) => `time ${command}`,
  (command) => `: "$(${command})"`,
]

describe("evasion", () => {
  test("[E-01] however rm -rf infra is quoted, nested and chained, it is seen", () => {
    fc.assert(
      fc.property(removal, fc.array(fc.constantFrom(...nestings), { maxLength: 4 }), (command, wraps) => {
        // The same here-document inside itself would end at the first closing line, as it would for a shell.
        const text = [...new Set(wraps)].reduce((inner, wrap) => wrap(inner), command)
        const found = parseShell(text).commands.find(
          ({ program, words }) => program === "rm" && words.at(-1)?.text === "infra",
        )
        expect(found, text).toBeDefined()
        expect(classifyCommand(found!).deletes).toMatchObject([{ word: { text: "infra" }, isTree: true }])
      }),
      { numRuns: 1000 },
    )
  })

  test("[E-01] what stands in single quotes behind echo never runs", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("'") && !text.includes("\0")),
        (text) => {
          const { commands, isCertain } = parseShell(`echo '${text}'`)
          expect(commands.map(({ program }) => program)).toEqual(["echo"])
          expect(isCertain).toBe(true)
          expect(commands[0]?.words[1]?.text.replace(/^\.\/(?=~)/, "")).toBe(text)
        },
      ),
    )
  })
})

describe("robustness", () => {
  const shellish = fc
    .array(
      fc.constantFrom(
        ..."' \" ` $ ( ) { } [ ] < > << <<- <<< | || & && ; ;; \n \\ # $( ${ $(( )) `` A= $A rm sh -c eval if then fi for in do done case esac while function f() EOF * ? ~ , .. =".split(
          " ",
        ),
        " ",
        "\n",
        "\0",
        "\ud800",
        "é",
      ),
      { maxLength: 60 },
    )
    .map((pieces) => pieces.join(""))

  test("it never throws, and every range and problem lies in the text", () => {
    fc.assert(
      fc.property(fc.oneof(shellish, fc.string({ unit: "binary" })), (text) => {
        const { commands, problems } = parseShell(text)
        for (const command of commands) {
          expect(command.start).toBeGreaterThanOrEqual(0)
          expect(command.end).toBeLessThanOrEqual(text.length)
          classifyCommand(command)
        }
        for (const { position } of problems) expect(position).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 1500 },
    )
  })

  // Each would be slow, deep or endless for a careless reader; all of them end, and say so where they were cut.
  test.each([
    ["opening quotes", "'".repeat(100_001)],
    ["opening parentheses", "(".repeat(200_000)],
    ["opening substitutions", "$(".repeat(100_000)],
    ["arithmetic that never ends", "$((".repeat(60_000)],
    ["double parentheses", "((".repeat(100_000)],
    ["nested expansions in quotes", `"\${A:-`.repeat(40_000)],
    ["nested braces", `echo ${"{a,".repeat(30_000)}`],
    ["brace products", `echo ${"{a,b}".repeat(5_000)}`],
    ["backticks", "`".repeat(200_000)],
    ["extended patterns", "x@(".repeat(80_000)],
    ["here-documents", "cat <<A <<B <<C\n".repeat(15_000)],
    ["wrappers", `${"sudo ".repeat(40_000)}rm x`],
    ["variables that double", `A=x;${"A=$A$A;".repeat(5_000)}rm $A`],
    ["nested evals", `eval ${"eval ".repeat(40_000)}rm x`],
    ["many subshells with variables", "A=1;(B=2);".repeat(20_000)],
    ["many folders", "cd a;".repeat(40_000)],
    ["many cases", "case x in a) ".repeat(15_000)],
    ["redirections without files", "> ".repeat(100_000)],
    ["a very long word", "a".repeat(250_000)],
  ])("%s are survived", (_, text) => {
    const { commands, problems, isCertain } = parseShell(text)
    expect(commands.length).toBeLessThanOrEqual(20_001)
    expect(problems.length).toBeLessThanOrEqual(100)
    expect(typeof isCertain).toBe("boolean")
  })

  test("a text beyond the limit is read to the limit and says so", () => {
    const reading = parseShell(`${"ls;".repeat(100_000)}rm x`)
    expect(reading.isCertain).toBe(false)
    expect(reading.problems.at(-1)?.reason).toContain("characters were read")
  })
})
