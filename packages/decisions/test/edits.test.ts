import { applyPatch } from "diff"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readEdits } from "../src/edits/read-edits.js"

const edits = (args: unknown, path?: string, result: string | null = null) => readEdits(args, { path, result })

describe("[D-04] file edits are read from the arguments of edit tools", () => {
  test("an old and a new text, under any of their names", () => {
    for (const args of [
      { old_string: "a\nb", new_string: "a\nc\nd" },
      { oldString: "a\nb", newString: "a\nc\nd" },
      { old_str: "a\nb", new_str: "a\nc\nd", command: "str_replace" },
      { edits: [{ oldText: "a\nb", newText: "a\nc\nd" }] },
    ]) {
      expect(edits(args, "src/x.ts")).toMatchObject([
        {
          path: "src/x.ts",
          kind: "change",
          linesAdded: 2,
          linesRemoved: 1,
          diff: "--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n",
        },
      ])
    }
  })

  test("several replacements in one file are one edit", () => {
    const args = {
      edits: [
        { old_string: "a", new_string: "b" },
        { old_string: "c", new_string: "" },
      ],
    }
    expect(edits(args, "x")).toMatchObject([{ linesAdded: 1, linesRemoved: 2 }])
  })

  test("a whole file: its lines are added, what stood there before is unknown unless the tool says it is new", () => {
    expect(edits({ content: "one\ntwo\n" }, "x")).toMatchObject([
      { kind: "change", linesAdded: 2, linesRemoved: null, afterHash: expect.stringMatching(/^sha256:/) },
    ])
    expect(edits({ content: "one\n" }, "x", "File created successfully at: x")).toMatchObject([
      { kind: "create", linesRemoved: 0 },
    ])
    expect(edits({ command: "create", file_text: "one" }, "x")).toMatchObject([{ kind: "create", linesAdded: 1 }])
  })

  test("a patch envelope with an added, a changed, a moved and a deleted file", () => {
    const patch = `*** Begin Patch
*** Add File: src/new.ts
+export const a = 1
+
*** Update File: src/old.ts
*** Move to: src/moved.ts
@@ function f()
 const x = 1
-const y = 2
+const y = 3
+const z = 4
*** Delete File: src/gone.ts
*** End Patch`
    for (const args of [patch, { input: patch }, { patchText: patch }]) {
      expect(edits(args)).toMatchObject([
        { path: "src/new.ts", kind: "create", linesAdded: 2, linesRemoved: 0 },
        {
          path: "src/moved.ts",
          kind: "change",
          linesAdded: 2,
          linesRemoved: 1,
          diff: "--- a/src/old.ts\n+++ b/src/moved.ts\n@@ -1,2 +1,3 @@ function f()\n const x = 1\n-const y = 2\n+const y = 3\n+const z = 4\n",
        },
        { path: "src/gone.ts", kind: "delete" },
      ])
    }
  })

  test("a unified diff of several files", () => {
    const patch =
      "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\ndiff --git a/y b/y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+new\n"
    expect(edits({ patch })).toMatchObject([
      { path: "x", kind: "change", linesAdded: 2, linesRemoved: 1 },
      { path: "y", kind: "create", linesAdded: 1, linesRemoved: 0 },
    ])
  })

  test("SEARCH/REPLACE blocks of Cline and of Roo Code", () => {
    const cline = "------- SEARCH\nold line\n=======\nnew line\nmore\n+++++++ REPLACE\n"
    const roo = "<<<<<<< SEARCH\n:start_line:12\n-------\nold line\n=======\nnew line\nmore\n>>>>>>> REPLACE\n"
    for (const diff of [cline, roo]) expect(edits({ diff }, "x")).toMatchObject([{ linesAdded: 2, linesRemoved: 1 }])
  })

  test("files pushed in one call, text inserted at a line", () => {
    expect(
      edits({
        files: [
          { path: "a", content: "1" },
          { path: "b", content: "2\n3" },
        ],
      }),
    ).toMatchObject([
      { path: "a", linesAdded: 1 },
      { path: "b", linesAdded: 2 },
    ])
    expect(edits({ command: "insert", insert_line: 4, new_str: "x\ny" }, "f")).toMatchObject([
      { linesAdded: 2, linesRemoved: 0, diff: expect.stringContaining("@@ -4,0 +5,2 @@") },
    ])
  })

  test("a file name with a line break cannot add a line to the diff", () => {
    const [edit] = edits({ old_string: "a", new_string: "b" }, 'x\n+++ b/etc/passwd"')
    expect(edit!.diff.split("\n").slice(0, 2)).toEqual([
      '--- "a/x\\n+++ b/etc/passwd\\""',
      '+++ "b/x\\n+++ b/etc/passwd\\""',
    ])
  })

  test("the diff of a replacement turns the old text into the new one, and its counts are its lines", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "", "x y"), { maxLength: 12 })
      .map((lines) => lines.map((line) => `${line}\n`).join(""))
    fc.assert(
      fc.property(
        text.filter((before) => before !== ""),
        text,
        (before, after) => {
          const [edit] = edits({ old_string: before, new_string: after }, "f")
          const { diff, linesAdded, linesRemoved } = edit!
          if (before === after) expect([linesAdded, linesRemoved]).toEqual([0, 0])
          else expect(applyPatch(before, diff)).toBe(after)
          const count = (mark: string) =>
            diff
              .split("\n")
              .slice(2)
              .filter((line) => line.startsWith(mark)).length
          expect([linesAdded, linesRemoved]).toEqual([count("+"), count("-")])
        },
      ),
      { numRuns: 200 },
    )
  })

  test("two long texts with nothing in common take no longer than their length", () => {
    const before = Array.from({ length: 20_000 }, (_, at) => `old ${at}`).join("\n")
    const after = Array.from({ length: 20_000 }, (_, at) => `new ${at}`).join("\n")
    expect(edits({ old_string: before, new_string: after }, "f")).toMatchObject([
      { linesAdded: 20_000, linesRemoved: 20_000 },
    ])
  })
})
