import type { ServerResponse } from 'node:http'

/** The answers under way: a gateway that stops closes their connections after them. */

/** What is watched. */
export interface Answers {
  /** Watches an answer that has not begun. */
  add(response: ServerResponse): void
  /**
   * From now on every answer that has not begun says `Connection: close`. A client that keeps its connection might
   * send the next request into it in the moment in which the server closes it, and would lose that request.
   */
  closeBehind(): void
}

/** Watches the answers of a server. */
export function watchAnswers(): Answers {
  const underWay = new Set<ServerResponse>()
  let isClosing = false

  return {
    add: (response) => {
      if (isClosing) return closeAfter(response)
      underWay.add(response)
      response.on('close', () => underWay.delete(response))
    },
    closeBehind: () => {
      isClosing = true
      for (const response of underWay) closeAfter(response)
      underWay.clear()
    },
  }
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
