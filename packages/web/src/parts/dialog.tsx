import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { dialog } from "../state.js"

/** A window over the page, closed by Escape; the browser keeps the focus inside and gives it back. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const shown = element.current!
    shown.showModal()
    return () => shown.close()
  }, [])
  const close = () => {
    dialog.value = null
  }
  return (
    <dialog ref={element} aria-label={title} onCancel={close} onClose={close}>
      <div class="dialog-head">
        <h2>{title}</h2>
        <button type="button" onClick={close} aria-label="close">
          ✕
        </button>
      </div>
      {children}
    </dialog>
  )
}
