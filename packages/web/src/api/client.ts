// The only door to the data: the server this page came from, or the answers that were put into the page when it was exported.

/** What went wrong, as the server and the command line say it. */
export class ApiProblem extends Error {
  readonly code: string
  readonly what: string
  readonly where: string | null
  readonly next: string | null
  readonly status: number

  constructor(problem: { code: string; what: string; where?: string | null; next?: string | null; status?: number }) {
    super(problem.what)
    this.code = problem.code
    this.what = problem.what
    this.where = problem.where ?? null
    this.next = problem.next ?? null
    this.status = problem.status ?? 0
  }
}

const KEY_NAME = "orangebox-key"

let answers: Readonly<Record<string, unknown>> | null = null
let key: string | null = null

/** Whether this page was exported: one run, no server, nothing that changes. */
export const isExported = (): boolean => answers !== null

/** Takes the exported answers out of the page, where there are any. */
export function readExportedAnswers(): boolean {
  const slot = document.getElementById("answers")
  if (slot) answers = JSON.parse(slot.textContent ?? "{}")
  return answers !== null
}

/** The key of this server: from the one-time code in the address, which is wiped, or from before. False where there is none. */
export async function openSession(): Promise<boolean> {
  if (isExported()) return true
  const code = /^#k=([\w-]+)$/.exec(location.hash)?.[1]
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname + location.search)
    const answer = await fetch("/api/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    })
    if (answer.ok) {
      key = ((await answer.json()) as { key: string }).key
      keep(key)
      return true
    }
  }
  key = kept()
  return key !== null
}

/** Asks for one answer. Rejects with an `ApiProblem`, whatever went wrong. */
export async function ask<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  if (answers) {
    if (path in answers) return answers[path] as Answer
    throw new ApiProblem({
      code: "NOT_EXPORTED",
      what: "this is not in the exported page",
      next: "it is in the data folder the page was exported from",
    })
  }
  const response = await request(path, signal)
  return (await response.json()) as Answer
}

/** Bytes for an image. */
export async function askBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (answers) throw new ApiProblem({ code: "NOT_EXPORTED", what: "its bytes are not in the exported page" })
  return new Uint8Array(await (await request(path)).arrayBuffer())
}

export async function request(
  path: string,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(`/api/v1${path}`, {
      headers: { authorization: `Bearer ${key ?? ""}`, ...more },
      cache: "no-store",
      ...(signal ? { signal } : {}),
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiProblem({
      code: "NO_SERVER",
      what: "the server does not answer",
      next: "start it again with: orangebox ui",
    })
  }
  if (response.ok) return response
  throw await problemOf(response)
}

async function problemOf(response: Response): Promise<ApiProblem> {
  try {
    const { code, what, where, next } = (await response.json()) as {
      code: string
      what: string
      where: string | null
      next: string | null
    }
    if (typeof code === "string" && typeof what === "string")
      return new ApiProblem({ code, what, where, next, status: response.status })
  } catch {
    // A proxy or another server answered; its words are not ours to show.
  }
  return new ApiProblem({
    code: `HTTP_${response.status}`,
    what: `the server answered ${response.status}`,
    status: response.status,
  })
}

/** A browser may refuse to keep anything; then the key lasts as long as the page. */
function keep(value: string): void {
  try {
    localStorage.setItem(KEY_NAME, value)
  } catch {}
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY_NAME)
  } catch {
    return null
  }
}
