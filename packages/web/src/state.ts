import { signal } from "@preact/signals"
import { formatPlace, type Place, parsePlace } from "./address-bar.js"
import { isExported } from "./api/client.js"

/** Where the reader is. Everything on screen follows from it. */
export const place = signal<Place>({ screen: "runs" })

export function go(next: Place, how: "push" | "replace" = "push"): void {
  place.value = next
  // An exported page is one file: it has no addresses of its own, and a browser would refuse them.
  if (isExported()) return
  const address = formatPlace(next)
  if (address === location.pathname + location.search) return
  history[how === "push" ? "pushState" : "replaceState"](null, "", address)
}

/** Changes some words of the place one is at. Undefined takes a word away. */
export function change(words: Record<string, string | number | undefined>, how: "push" | "replace" = "replace"): void {
  const next = Object.fromEntries(
    Object.entries({ ...place.value, ...words }).filter(([, value]) => value !== undefined),
  )
  go(next as unknown as Place, how)
}

export function readAddress(): void {
  if (!isExported()) place.value = parsePlace(location.pathname, location.search)
}

// What the reader chose for this browser

export type Theme = "dark" | "light"
export const theme = signal<Theme>("dark")
export const areLettersOff = signal(false)

export function startTheme(): void {
  const chosen = recall("theme")
  const prefersLight = matchMedia("(prefers-color-scheme: light)")
  theme.value = chosen === "dark" || chosen === "light" ? chosen : prefersLight.matches ? "light" : "dark"
  prefersLight.addEventListener("change", ({ matches }) => {
    if (recall("theme") === null) theme.value = matches ? "light" : "dark"
  })
  // Paper is light, whatever the screen is.
  let onScreen: Theme = theme.value
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) onScreen = theme.value
    theme.value = matches ? "light" : onScreen
  })
  theme.subscribe((value) => {
    document.documentElement.dataset["theme"] = value
  })
  areLettersOff.value = recall("letters") === "off"
}

export function toggleTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark"
  remember("theme", theme.value)
}

export function switchLetters(off: boolean): void {
  areLettersOff.value = off
  remember("letters", off ? "off" : "on")
}

function recall(name: string): string | null {
  try {
    return localStorage.getItem(`orangebox-${name}`)
  } catch {
    return null
  }
}

function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`orangebox-${name}`, value)
  } catch {}
}

// What is said for a moment, and heard by who does not see it

export const said = signal("")
let silence: ReturnType<typeof setTimeout> | undefined

export function say(words: string): void {
  said.value = words
  clearTimeout(silence)
  silence = setTimeout(() => {
    said.value = ""
  }, 3000)
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(`${what} copied`)
  } catch {
    say(`the browser does not let this page copy; select ${what} and copy it yourself`)
  }
}

export type DialogName = "keys" | "fork" | "diff" | "why"
export const dialog = signal<DialogName | null>(null)
