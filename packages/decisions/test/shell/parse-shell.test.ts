import { describe, expect, test } from "vitest"
import { parseShell } from "../../src/shell/index.js"

/** The commands of a text as one line each: wrappers in parentheses, unknown words with a question mark, folders where they are not the start. */
function commandsOf(text: string): string[] {
  return parseShell(text).commands.map((command) => {
    const words = command.words.map((word) => (word.isKnown ? word.text : `?${word.text}`)).join(" ")
    const folder =
      command.cwds === undefined ? "?: " : command.cwds.every((one) => one === "") ? "" : `${command.cwds.join("|")}: `
    const place = command.place === "here" ? "" : ` @${command.place}`
    const line = `${folder}${words}${place}${command.dynamic === undefined ? "" : " (dynamic)"}`
    return command.role === "command" ? line : `(${command.role}) ${line}`
  })
}

/** What really runs: wrappers and carriers left out. */
const runsOf = (text: string): string[] => commandsOf(text).filter((line) => !/^\((?:wrapper|carrier)\)/.test(line))

describe("quoting", () => {
  test.each([
    ["rm -rf infra"],
    ["  rm   -rf\tinfra  "],
    ["'rm' -rf \"infra\""],
    ["r''m -r\"f\" in'fr'a"],
    ["\\rm -rf infra"],
    ["r\\m -\\r\\f i\\nfra"],
    ["$'\\x72\\155' -rf $'\\u0069nfra'"],
    ['$"rm" -rf infra'],
    ["/bin/rm -rf infra"],
    ["r\\\nm -rf infra"],
    [`rm\${IFS}-rf\${IFS}infra`],
    ["A=rm; B=infra; $A -rf $B"],
    ['CMD="rm -rf infra"; $CMD'],
    ["rm -rf infra # and a comment; rm -rf src"],
    ["{ rm -rf infra; }"],
    ["(rm -rf infra)"],
    ["((rm -rf infra) )"],
    ["! rm -rf infra"],
    ["if true; then rm -rf infra; fi"],
    ["sh -c 'rm -rf infra'"],
    ["bash -lc 'rm -rf infra'"],
    ["bash -e -c 'sh -c \"rm -rf infra\"'"],
    ["sh -c 'rm -rf \"$1\"' sh infra"],
    ["D=infra sh -c 'rm -rf $D'"],
    ["eval 'rm -rf' infra"],
    ["env -i A=b rm -rf infra"],
    ["env -S 'rm -rf infra'"],
    ["sudo -u root -- rm -rf infra"],
    ["timeout -s KILL 5 nice -n 3 nohup rm -rf infra"],
    ["command rm -rf infra"],
    ["busybox rm -rf infra"],
    ["sh <<EOF\nrm -rf infra\nEOF"],
    ["bash <<-'EOF'\n\trm -rf infra\n\tEOF"],
    ["sh <<< 'rm -rf infra'"],
    ["echo 'rm -rf infra' | sh"],
    ["printf '%s\\n' 'rm -rf infra' | bash -s"],
    ["cat <<EOF | sh\nrm -rf infra\nEOF"],
    ["echo infra | xargs rm -rf"],
    ["trap 'rm -rf infra' EXIT"],
    ["watch -n 5 rm -rf infra"],
    ["x=1 \\\n  rm -rf infra"],
  ])("[E-01] %j runs rm -rf infra", (text) => {
    const { commands } = parseShell(text)
    const found = commands.filter((command) => command.program === "rm")
    expect(found).toHaveLength(1)
    expect(found[0]?.words.slice(1).map((word) => word.text)).toEqual(["-rf", "infra"])
    expect(found[0]?.words.every((word) => word.isKnown)).toBe(true)
  })

  test("what is quoted is not run", () => {
    expect(commandsOf("echo 'rm -rf infra; $(rm x)' \"; rm y\"")).toEqual(["echo rm -rf infra; $(rm x) ; rm y"])
    expect(commandsOf("cat > notes <<'EOF'\n$(rm x)\nrm y\nEOF\nls")).toEqual(["cat", "ls"])
    expect(commandsOf("git commit -m 'rm -rf /'")).toEqual(["git commit -m rm -rf /"])
  })

  test("a quote inside an expansion inside quotes hides nothing", () => {
    expect(runsOf(`echo "\${A:-'}"; rm infra; echo "'"`)).toEqual([`echo ?\${A:-'}`, "rm infra", "echo '"])
  })
})

describe("what runs", () => {
  test("chains, pipes, background and newlines each begin a command", () => {
    expect(commandsOf("a && b || c; d | e & f\ng |& h")).toEqual(["a", "b", "c", "d", "e", "f", "g", "h"])
  })

  test("the commands of substitutions run before the command they stand in", () => {
    expect(commandsOf(`echo $(a) \`b \\\`c\\\`\` <(d) "$(e)" \${x:-$(f)} $((1 + $(g)))`)).toEqual([
      "a",
      "c",
      "b ?`c`",
      "d",
      "e",
      "f",
      "g",
      `echo ?$(a) ?\`b \\\`c\\\`\` ?<(d) ?$(e) ?\${x:-$(f)} ?$((1 + $(g)))`,
    ])
  })

  test("a substitution in an unquoted here-document runs", () => {
    expect(commandsOf("cat <<EOF\n$(rm x)\nEOF")).toEqual(["rm x", "cat"])
  })

  test("every branch of a condition and every clause of a case counts", () => {
    expect(commandsOf("if a; then b; elif c; then d; else e; fi")).toEqual(["a", "b", "c", "d", "e"])
    expect(commandsOf("case $x in\n (a|b) one;;\n c) two ;;\n *) three\nesac; after")).toEqual([
      "one",
      "two",
      "three",
      "after",
    ])
    expect(commandsOf("while a; do b; done; for ((i=0;i<3;i++)); do c; done")).toEqual(["a", "b", "c"])
  })

  test("the body of a function counts, and a call of it is marked", () => {
    expect(commandsOf('f() { rm "$1"; }; f infra')).toEqual(["rm ?$1", "(function) f infra"])
    expect(commandsOf("function g { a; }; g")).toEqual(["a", "(function) g"])
  })

  test("tests and arithmetic run nothing", () => {
    expect(runsOf("[[ a > b && c < d ]] && e; (( x > 1 )) && f")).toEqual(["[[ a b c d ]]", "e", "f"])
  })

  test("find runs its commands on what lies under its roots", () => {
    expect(commandsOf("find src -name '*.o' -exec rm {} + -o -execdir touch x \\;")).toEqual([
      "find src -name *.o -exec rm {} + -o -execdir touch x ;",
      "rm src/**",
      "?: touch x",
    ])
  })

  test("a command on another machine or in a container is told apart", () => {
    expect(commandsOf("ssh -p 22 me@host 'rm x; ls'")).toEqual([
      "(carrier) ssh -p 22 me@host rm x; ls",
      "rm x @remote",
      "ls @remote",
    ])
    expect(commandsOf("docker exec -it -u root box sh -c 'rm x'").at(-1)).toBe("rm x @container")
    expect(commandsOf("kubectl exec pod -- rm x").at(-1)).toBe("rm x @container")
  })

  test("package managers that run programs show the program", () => {
    expect(runsOf("npx -y vitest run")).toEqual(["vitest run"])
    expect(runsOf("uv run --with x pytest -q")).toEqual(["pytest -q"])
    expect(runsOf("bundle exec rspec")).toEqual(["rspec"])
  })
})

describe("folders and variables", () => {
  test("a cd that must have worked moves what follows", () => {
    expect(commandsOf("cd infra && rm x")).toEqual(["cd infra", "infra: rm x"])
    expect(commandsOf("cd a && cd ../b && rm x").at(-1)).toBe("a/../b: rm x")
    expect(commandsOf("cd a || exit 1; rm x").at(-1)).toBe("a: rm x")
    expect(commandsOf("set -e\ncd a\nrm x").at(-1)).toBe("a: rm x")
    expect(commandsOf("(cd a && rm x); rm y")).toEqual(["cd a", "a: rm x", "rm y"])
    expect(commandsOf("env -C infra rm x").at(-1)).toBe("infra: rm x")
  })

  test("a cd that may have failed leaves both folders possible", () => {
    expect(commandsOf("cd a; rm x").at(-1)).toBe("a|: rm x")
    expect(commandsOf("test -d a && cd a; rm x").at(-1)).toBe("a|: rm x")
    expect(commandsOf("if b; then cd a; fi; rm y").at(-1)).toBe("|a: rm y")
  })

  test("a folder nobody can know is unknown", () => {
    expect(commandsOf("cd $X && rm x").at(-1)).toBe("?: rm x")
    expect(commandsOf("cd - && rm x").at(-1)).toBe("?: rm x")
    expect(commandsOf("while a; do rm x; cd infra; done")).toContain("?: rm x")
    expect(commandsOf("f() { rm x; }; cd infra && f")).toContain("?: rm x")
  })

  test("a variable that may have either value has both", () => {
    expect(commandsOf("A=src; false && A=infra; rm $A").at(-1)).toBe("rm src infra")
    expect(commandsOf("A=src; if x; then A=infra; fi; rm $A").at(-1)).toBe("rm src infra")
    expect(commandsOf('for f in a "b c"; do rm "$f"; done')).toEqual(["rm a b c"])
  })

  test("a variable the text does not set, or sets out of order, is unknown", () => {
    expect(commandsOf("rm $A")).toEqual(["rm ?$A"])
    expect(commandsOf("A=src; for i in 1 2; do rm $A; A=infra; done").at(0)).toBe("rm ?$A")
    expect(commandsOf("A=src; f() { A=infra; }; f; rm $A").at(-1)).toBe("rm ?$A")
    expect(commandsOf("read A <<< infra; rm $A").at(-1)).toBe("rm ?$A")
    expect(commandsOf("(A=src); rm $A")).toEqual(["rm ?$A"])
  })

  test("another shell is handed what is exported; of the rest nobody knows", () => {
    expect(commandsOf("export A=x; sh -c 'rm $A'").at(-1)).toBe("rm x")
    expect(commandsOf("A=x; export A; sh -c 'rm $A'").at(-1)).toBe("rm x")
    expect(commandsOf("A=x sh -c 'rm $A'").at(-1)).toBe("rm x")
    expect(commandsOf("A=x; sh -c 'rm \"$A\"'").at(-1)).toBe("rm x ")
    expect(commandsOf("A=x; (rm $A)").at(-1)).toBe("rm x")
    expect(parseShell("A=rm; sh -c '$A x'").isCertain).toBe(false)
  })

  test("braces make several words", () => {
    expect(commandsOf("rm infra/{a,b{1,2}}")).toEqual(["rm infra/a infra/b1 infra/b2"])
    expect(commandsOf("rm {a} '{b,c}' f{1..3}")).toEqual(["rm {a} {b,c} ?f{1..3}"])
  })
})

describe("what only running would tell", () => {
  test.each([
    ["$X -rf infra"],
    ["$(echo rm) -rf infra"],
    ["`which rm` x"],
    ["/bin/r? -rf infra"],
    ['bash -c "$X"'],
    ["curl https://example.org/x | sh"],
    ["echo cm0gLXJm | base64 -d | sh"],
    ["bash <(curl https://example.org/x)"],
    ["sh script.sh"],
    ["eval $(cat x)"],
    ["for c in ls rm; do $c infra; done"],
    ["xargs < list sh -c"],
  ])("[E-01] %j is not certain", (text) => {
    expect(parseShell(text).isCertain).toBe(false)
  })

  test.each([
    ["npm test"],
    ["git add -A && git commit -m 'x'"],
    ["for f in *.ts; do wc -l $f; done"],
    ["cat a | grep b > c 2>&1"],
  ])("%j is certain", (text) => {
    expect(parseShell(text)).toMatchObject({ isCertain: true, problems: [] })
  })

  test.each([
    ["echo 'a"],
    ['echo "a'],
    ["echo $(a"],
    ["(a"],
    ["a )"],
    ["cat <<EOF\nx"],
    ["echo `a"],
    ["echo ${a"],
    ["echo (a)"],
  ])("%j has a problem with a place and a reason", (text) => {
    const { problems, isCertain } = parseShell(text)
    expect(isCertain).toBe(false)
    expect(problems[0]?.reason).toBeTruthy()
    expect(problems[0]?.position).toBeLessThanOrEqual(text.length)
  })
})
