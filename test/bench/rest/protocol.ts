/** The message of the benchmark's server to its parent when it is ready. */
export interface ServerReport {
  readonly port: number
  /** The port of the bare handler. */
  readonly barePort: number
  /** The pages that the benchmark requests from both servers. */
  readonly questions: readonly Question[]
  /** The path of the newest page of the address with the most rows. */
  readonly first: string
  /** The path of the page before the deep page; its response contains the cursor of the deep page. */
  readonly before: string
  /** The path of an equally deep page, by a cursor that no response has contained. */
  readonly foreign: string
}

/** The paths of one page on both servers. */
export interface Question {
  readonly gateway: string
  readonly bare: string
}
