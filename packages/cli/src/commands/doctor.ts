import type { Command } from "commander"
import type { Session } from "../session.js"
export function addDoctor(_program: Command, _session: Session): void {}
