/** Does something with a list part by part, so that the JSON of a statement stays at a few megabytes; nothing for none. */
export async function inChunks<T>(
  list: readonly T[],
  work: (part: readonly T[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < list.length; at += rowsPerStatement) {
    await work(list.slice(at, at + rowsPerStatement))
  }
}

const rowsPerStatement = 10_000
