/** What a file has in any order, in that of its keys: read in passes, of which each has memory for so many places. */

/** Where something with a key is. */
export interface KeyedPlace {
  readonly key: string
  readonly offset: number
}

/** All places by their keys; each pass reads them again. A key that is there twice is given to `twice`. */
export async function* inOrder(
  read: () => AsyncIterable<KeyedPlace>,
  twice: (place: KeyedPlace) => never,
  most = usualPlaces,
): AsyncGenerator<KeyedPlace> {
  for (let after = ''; ; ) {
    const pass = createPass(twice, most)
    for await (const place of read()) if (place.key > after) pass.add(place)
    const { places, isLast } = pass.end()
    yield* places
    if (isLast) return
    after = places.at(-1)?.key ?? after
  }
}

/** Keeps the first places by their keys. */
function createPass(twice: (place: KeyedPlace) => never, most: number) {
  let places: KeyedPlace[] = []
  let last: string | undefined

  function add(place: KeyedPlace): void {
    if (last !== undefined && place.key > last) return
    places.push(place)
    if (places.length >= 2 * most) cut()
  }

  function sort(): void {
    places.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.offset - b.offset))
    for (const [i, place] of places.entries()) if (place.key === places[i - 1]?.key) twice(place)
  }

  function cut(): void {
    sort()
    if (places.length <= most) return
    places = places.slice(0, most)
    last = places.at(-1)?.key
  }

  return {
    add,
    end: () => {
      cut()
      return { places, isLast: last === undefined }
    },
  }
}

/** Twice as many are sorted in some ten milliseconds. */
const usualPlaces = 8_000
