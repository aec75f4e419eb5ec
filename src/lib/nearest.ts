/** Suggestions for mistyped words. */

/**
 * Returns the known word that is nearest to a mistyped word. They differ in at most two changed, missing, added or swapped letters, and
 * in at most a third of the length of the mistyped word.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.min(2, Math.ceil(word.length / 3))
  const rated = known
    // The distance is never below the difference of the lengths, and takes much longer to compute.
    .filter((one) => Math.abs(one.length - word.length) <= maxDistance)
    .map((one) => ({ one, distance: distance(word, one) }))
    .filter((rating) => rating.distance <= maxDistance)
  return rated.toSorted((a, b) => a.distance - b.distance)[0]?.one
}

/** Number of letters to change, remove, add or swap with their neighbour (optimal string alignment). */
function distance(from: string, to: string): number {
  // `rows[i][j]` is the distance between the first i letters of `from` and the first j letters of `to`.
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= from.length; i++) {
    rows[i] = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      const changed = at(i - 1, j - 1) + (isSame ? 0 : 1)
      rows[i]?.push(Math.min(changed, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped))
    }
  }
  return at(from.length, to.length)
}
