import type { IncomingHttpHeaders } from "node:http"
import { InputError } from "@orangebox/contract"
import { recordedWord } from "@orangebox/text"

/** Whether a page of another site sent this. Browsers say so; programs that are none say nothing. */
export function checkOrigin(headers: IncomingHttpHeaders, host: string): void {
  const { origin, "sec-fetch-site": site } = headers
  const isOwn = origin === undefined || origin === `http://${host}`
  const isSame = site === undefined || site === "same-origin" || site === "none"
  if (isOwn && isSame) return
  throw new InputError("OTHER_ORIGIN", {
    what: `a page of another site asked${origin === undefined ? "" : `: ${recordedWord(origin, 80)}`}`,
    next: `Open http://${host} in the browser; nothing is answered to other pages`,
  })
}

/** Following a link to a page of ours is allowed from anywhere: the page holds no data. */
export const isNavigation = ({ "sec-fetch-mode": mode, "sec-fetch-dest": dest }: IncomingHttpHeaders): boolean =>
  mode === "navigate" && dest === "document"
