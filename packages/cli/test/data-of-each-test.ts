import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

/** A folder of its own for each test of a file, gone after it, and what commands say of what was recorded there. */
export function dataOfEachTest() {
  let scratch: Scratch
  beforeEach(() => {
    scratch = scratchFolder()
  })
  afterEach(() => scratch.remove())
  const here = {
    get path(): string {
      return scratch.path
    },
    get data(): string {
      return join(scratch.path, "data")
    },
    /** Stdout and stderr of a command. */
    async said(...args: string[]): Promise<string> {
      const { stdout, stderr } = await orangeboxHere([...args, "--data", here.data])
      return `${stdout}${stderr}`
    },
    /** Its JSON document. */
    async document<T>(...args: string[]): Promise<T> {
      return jsonOf(await orangeboxHere([...args, "--json", "--data", here.data])) as T
    },
  }
  return here
}
