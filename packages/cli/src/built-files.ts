import { fileURLToPath } from "node:url"

/** Where the build puts the web UI. */
export const webFolder = (): string => fileURLToPath(new URL("../bundle/web", import.meta.url))

/** The module that answers in a thread of its own. */
export const answerScript = (): URL => new URL("../bundle/answer-worker.js", import.meta.url)
