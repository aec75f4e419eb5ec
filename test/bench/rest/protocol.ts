/** What the server of the benchmark tells, once it serves. */
export interface ServerReport {
  readonly port: number
  /** Of the bare handler. */
  readonly barePort: number
  /** The same pages, asked of both. */
  readonly questions: readonly Question[]
  /** Path of the newest page of the address with the most rows. */
  readonly first: string
  /** Path of the page before the one deep in the past: it ends with that one's cursor. */
  readonly before: string
  /** Path of a page as deep, by a cursor that no page ended with. */
  readonly foreign: string
}

/** The paths of one page. */
export interface Question {
  readonly ours: string
  readonly bare: string
}
