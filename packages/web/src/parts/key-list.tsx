import { KEYS } from "../keys.js"
import { areLettersOff, switchLetters } from "../state.js"
import { Dialog } from "./dialog.js"

const SHOWN: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
}

export function KeyList() {
  return (
    <Dialog title="Keys">
      <dl class="key-list">
        {KEYS.map(({ keys, does, where }) => (
          <div key={does}>
            <dt>
              {keys.length > 3 ? (
                <kbd>
                  {keys[0]}–{keys.at(-1)}
                </kbd>
              ) : (
                keys.map((key) => (
                  <span key={key}>
                    <kbd>{SHOWN[key] ?? key}</kbd>{" "}
                  </span>
                ))
              )}
            </dt>
            <dd>
              {does}
              {where !== "everywhere" && <span class="quiet"> · {where}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <label>
          <input
            type="checkbox"
            checked={areLettersOff.value}
            onChange={(event) => switchLetters(event.currentTarget.checked)}
          />{" "}
          single letters do nothing (arrows, Enter and Escape stay)
        </label>
      </p>
    </Dialog>
  )
}
