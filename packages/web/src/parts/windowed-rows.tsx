import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { scrollToShow, windowOf } from "../model/window-of.js"
import { usePrinting } from "../use-printing.js"

interface Props {
  readonly total: number
  readonly rowHeight: number
  /** The row that must be seen and has the focus when the list has it. */
  readonly active: number
  readonly label: string
  readonly role: "treegrid" | "grid"
  readonly columns: number
  /** Of the first column, in pixels, where rows are numbered. */
  readonly numberWidth?: number
  readonly head: ComponentChildren
  /** A row at its place. The key says which element it takes: those that leave the screen are used again for those that come. */
  readonly children: (index: number, top: number, key: string) => ComponentChildren
  /** Stands behind all rows, as high as they are together. */
  readonly behind?: ComponentChildren
  /** Told which rows are on screen, for what is asked for by and by. */
  readonly onWindow?: (from: number, to: number) => void
  /** Told when the reader scrolls by hand. */
  readonly onScrolled?: (isAtEnd: boolean) => void
  readonly more?: ComponentChildren
}

/** Rows above and below what is seen that exist as well. */
const BEYOND = 8

/** Rows of fixed height of which only those exist that are seen, and the active one, which may have the focus. */
export function WindowedRows(props: Props) {
  const { total, rowHeight, active, label, role, columns, head, children, onWindow, onScrolled } = props
  const list = useRef<HTMLDivElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  const [height, setHeight] = useState(600)
  const shownActive = useRef(-1)
  const isOwnScroll = useRef(false)
  // Asked before the row that has the focus may make way for another.
  const hasFocus = list.current?.contains(document.activeElement) ?? false

  useLayoutEffect(() => {
    const element = list.current!
    const measure = () => setHeight(element.clientHeight || 600)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // A row that becomes active is brought into sight, once: after that the reader may scroll away from it.
  useLayoutEffect(() => {
    const element = list.current!
    if (active === shownActive.current || active < 0) return
    shownActive.current = active
    const top = scrollToShow(active, element.scrollTop, element.clientHeight, rowHeight)
    if (top !== null) {
      isOwnScroll.current = true
      element.scrollTop = top
      setScrollTop(top)
    }
  }, [active, rowHeight, total])

  // The focus goes along with the active row, also where another element has become that row.
  useLayoutEffect(() => {
    const focused = document.activeElement
    if (!hasFocus || (focused !== document.body && focused?.getAttribute("role") !== "row")) return
    const row = list.current!.querySelector<HTMLElement>('[tabindex="0"]')
    if (row !== focused) row?.focus({ preventScroll: true })
  })

  const isPrinting = usePrinting()
  const seen = isPrinting
    ? { from: 0, to: Math.min(total, 5000) }
    : windowOf(scrollTop, height, rowHeight, total, BEYOND)
  const elements = isPrinting ? total : Math.ceil(height / rowHeight) + 1 + 2 * BEYOND
  useLayoutEffect(() => onWindow?.(seen.from, seen.to), [seen.from, seen.to, onWindow])
  const indexes = Array.from({ length: seen.to - seen.from }, (_, at) => seen.from + at)
  if (active >= 0 && active < total && (active < seen.from || active >= seen.to)) indexes.push(active)

  // A row that was drawn by the same function is the same row: while one scrolls, only the rows that come into sight are made.
  const kept = useRef<{ by: Props["children"]; of: number; rows: Map<number, ComponentChildren> }>({
    ...{ by: children, of: elements, rows: new Map() },
  })
  if (kept.current.by !== children || kept.current.of !== elements)
    kept.current = { by: children, of: elements, rows: new Map() }
  for (const index of [...kept.current.rows.keys()])
    if (index < seen.from || index >= seen.to) kept.current.rows.delete(index)
  const drawnRow = (index: number): ComponentChildren => {
    const known = kept.current.rows.get(index)
    if (known !== undefined) return known
    // The active row exists also where it is out of sight, in an element of its own.
    const isSeen = index >= seen.from && index < seen.to
    const row = children(index, index * rowHeight, isSeen ? String(index % elements) : "active")
    if (isSeen) kept.current.rows.set(index, row)
    return row
  }

  return (
    <div
      class="tree"
      role={role}
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns}
      style={props.numberWidth ? { "--n": `${props.numberWidth}px` } : {}}
    >
      {head}
      <div
        class="rows"
        role="rowgroup"
        ref={list}
        tabIndex={-1}
        onScroll={(event) => {
          const { scrollTop: top, scrollHeight, clientHeight } = event.currentTarget
          setScrollTop(top)
          if (isOwnScroll.current) isOwnScroll.current = false
          else onScrolled?.(top + clientHeight >= scrollHeight - rowHeight)
        }}
      >
        <div class="rows-inside" role="presentation" style={{ height: `${total * rowHeight}px` }}>
          {props.behind}
          {indexes.map(drawnRow)}
        </div>
      </div>
      {props.more}
    </div>
  )
}
