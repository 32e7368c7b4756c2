import { useLayoutEffect, useState } from "preact/hooks"

/** Whether the page is being laid out for paper, which has no scrollbar and no buttons. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useLayoutEffect(() => {
    const query = matchMedia("print")
    const change = () => setPrinting(query.matches)
    query.addEventListener("change", change)
    return () => query.removeEventListener("change", change)
  }, [])
  return isPrinting
}
