import { type DivergenceReport, reportText } from "@orangebox/replay"

/** The agent under test did not do what its recording shows. The message says where, with the nearest recorded call and the places that differ. */
export class TapeDivergence extends Error {
  override readonly name = "TapeDivergence"
  readonly report: DivergenceReport

  constructor(file: string, report: DivergenceReport, cause: unknown) {
    super(
      `the agent does not do what ${file} shows\n${reportText(report)}\nIf that is meant: ORANGEBOX_UPDATE_TAPES=1 records it anew`,
      { cause },
    )
    this.report = report
  }
}
