import { useEffect, useRef } from "preact/hooks"
import { keyOf } from "./keys.js"
import { areLettersOff, dialog } from "./state.js"

/** Whether a key was used: anything but false. */
type OnKey = (key: string) => unknown

/** Hears keys while its part is on screen. A key that was used goes no further. */
export function useKeys(onKey: OnKey): void {
  const last = useRef(onKey)
  last.current = onKey
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.defaultPrevented || dialog.value !== null) return
      const target = event.target as HTMLElement | null
      const isTyping = target?.matches?.("input:not([type=checkbox]), textarea, select") ?? false
      const key = keyOf(event, isTyping, areLettersOff.value)
      if (key === null) return
      // Enter on a button or a link is theirs.
      if (key === "Enter" && target?.closest("button, a, summary")) return
      if (last.current(key) !== false) event.preventDefault()
    }
    document.addEventListener("keydown", hear)
    return () => document.removeEventListener("keydown", hear)
  }, [])
}
