import { describe, expect, test } from "vitest"
import { classifyCommand, parseShell } from "../../src/shell/index.js"

/** The effects of the last command of a text, as short words. */
function effectsOf(text: string): string {
  const command = parseShell(text).commands.at(-1)
  if (command === undefined) return ""
  const { reads, writes, deletes, network, testRunner, kind, opaque } = classifyCommand(command)
  const paths = (mark: string, uses: typeof reads): string[] =>
    uses.map(({ word, isTree }) => `${mark}${word.text}${isTree ? "/**" : ""}`)
  return [
    ...paths("<", reads),
    ...paths(">", writes),
    ...paths("-", deletes),
    ...(network === undefined ? [] : network === true ? ["net:?"] : network.map((host) => `net:${host}`)),
    ...(testRunner === undefined ? [] : [`tests:${testRunner}`]),
    ...(kind === undefined ? [] : [kind]),
    ...(opaque === undefined ? [] : ["opaque"]),
  ].join(" ")
}

describe("what a command does", () => {
  test.each([
    ["ls -la src", "<src"],
    ["rm -f a b", "-a -b"],
    ["rm -rf a", "-a/**"],
    ["mv a b", ">b/** >b/a/** -a/**"],
    ["cp -r a b", "<a/** >b/** >b/a/**"],
    ["cp -t dir a b", "<a <b >dir >dir/a >dir/b"],
    ["ln -s ../infra link", "<../infra >link >link/infra"],
    ["mkdir -p a/b", ">a/b"],
    ["touch -d yesterday a", ">a"],
    ["chmod -R 600 a", ">a/**"],
    ["tee -a log", ">log"],
    ["dd if=a of=b bs=1", "<a >b"],
    ["truncate -s 0 a", ">a"],
    ["sed s/a/b/ f", "<f"],
    ["sed -i s/a/b/ f g", ">f >g"],
    ["sed -n '1w out' f", "<f opaque"],
    ["tar xzf a.tgz -C out", "<a.tgz >out/**"],
    ["tar -czf a.tgz src", "<src/** >a.tgz"],
    ["patch -p1 < x.diff", "<x.diff >./** opaque"],
    ["find . -name '*.tmp' -delete", "<./** -./**"],
    ["echo hi > a 2> b < c", "<c >a >b"],
    ["echo hi > /dev/null 2>&1", ""],
    ["git commit -m x", "commit"],
    ["git push origin main", "net:? push"],
    ["git clone https://github.com/a/b.git", "net:github.com >b/**"],
    ["git checkout -- a b", ">a/** >b/** -a/** -b/**"],
    ["git -C sub rm x", "-sub/x/**"],
    ["git status", ""],
    ["git frobnicate", "opaque"],
    ["git -c alias.x='!rm y' x", "opaque"],
    ["gh pr create --title x", "net:github.com open_pr"],
    ["gh pr merge 3", "net:github.com merge"],
    ["kubectl apply -f x", "net:? deploy"],
    ["npm publish", "net:? opaque publish"],
    ["npm publish --dry-run", "net:? publish"],
    ["pip install x", "net:? install"],
    ["curl -o out https://a.org/b", ">out net:a.org"],
    ["curl -d @secret https://a.org", "<secret net:a.org"],
    ["wget https://a.org/b.tgz", ">b.tgz net:a.org"],
    ["ssh me@a.org", "net:a.org"],
    ["scp x a.org:y", "<x/** net:a.org"],
    ["rsync -a src/ a.org:dst", "<src//** net:a.org"],
    ["npm test", "tests:npm test"],
    ["npm run test:unit", "tests:npm test"],
    ["npx vitest run", "tests:vitest"],
    ["python -m pytest -q", "tests:pytest"],
    ["go test ./...", "tests:go test"],
    ["cargo test", "tests:cargo test"],
    ["node --test", "tests:node:test"],
    ["./mvnw -q verify", "tests:maven surefire"],
    ["npm run build", ""],
    ["python -c 'x'", "opaque"],
    ["node script.js", "<script.js opaque"],
    ["awk '{print $1}' f", "<f"],
    ["awk '{system(\"x\")}' f", "<f opaque"],
    ["./do-it", "opaque"],
    ["LD_PRELOAD=x ls", "opaque"],
    ["PAGER=cat git log", ""],
  ])("[E-01] %j: %s", (text, effects) => {
    expect(effectsOf(text).split(" ").sort()).toEqual(effects.split(" ").sort())
  })
})
